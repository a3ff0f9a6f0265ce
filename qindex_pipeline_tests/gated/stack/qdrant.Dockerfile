# Stands in for the qdrant image where none can be pulled: it answers that it is ready, no more.
FROM python:3.11-slim
WORKDIR /qdrant
COPY qdrant-entrypoint.sh entrypoint.sh
RUN mkdir storage
ENTRYPOINT ["./entrypoint.sh"]
