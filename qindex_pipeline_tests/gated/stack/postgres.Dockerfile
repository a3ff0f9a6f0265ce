# Stands in for the postgres image where none can be pulled: Debian's PostgreSQL, asked the same way.
FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends gosu postgresql \
 && rm -rf /var/lib/apt/lists/*
COPY postgres-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
RUN ln -s /usr/lib/postgresql/*/bin/pg_isready /usr/local/bin/
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
