# One image for every Dagster process: code location, webserver, daemon, and the container of
# each run. The same image everywhere keeps their versions equal.
ARG PYTHON_IMAGE=python:3.11-slim

FROM ${PYTHON_IMAGE} AS build
ENV PIP_CACHE_DIR=/var/cache/pip \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
WORKDIR /build
# Dependencies before code: an edit of the package reuses this layer.
COPY requirements.lock ./
RUN --mount=type=cache,target=/var/cache/pip pip install -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY qindex_pipeline ./qindex_pipeline
RUN --mount=type=cache,target=/var/cache/pip pip install --no-deps .

FROM ${PYTHON_IMAGE} AS runtime
LABEL org.opencontainers.image.title="qindex_pipeline" \
      org.opencontainers.image.licenses="MIT"
# A named volume takes the owner of the folder that it is first mounted over, so the folders of
# docker-compose.yml exist here and belong to the user that writes them.
RUN groupadd --gid 10001 qindex \
 && useradd --uid 10001 --gid 10001 --create-home qindex \
 && install --directory --owner=10001 --group=10001 /app/data /opt/dagster/home /opt/dagster/logs
COPY --from=build /opt/venv /opt/venv
COPY deploy/dagster.yaml deploy/workspace.yaml /opt/dagster/home/
COPY sites.yaml /app/sites.yaml
# Our own documentation, the folder of the site that sites.yaml begins with.
COPY docs /app/docs
# PATH: the run launcher starts a bare `dagster` in this image.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DAGSTER_HOME=/opt/dagster/home \
    DAGSTER_DISABLE_TELEMETRY=yes \
    QINDEX_DATA=/app/data \
    QINDEX_SITES=/app/sites.yaml
WORKDIR /app
USER 10001:10001
EXPOSE 4000
CMD ["dagster", "code-server", "start", "-h", "0.0.0.0", "-p", "4000", "-m", "qindex_pipeline.definitions"]
