# One image for every Dagster process: code location, webserver, daemon, and the container of
# each run. The same image everywhere keeps their versions equal. `--target query` is a smaller
# one, which only asks.
ARG PYTHON_IMAGE=python:3.11-slim

FROM ${PYTHON_IMAGE} AS uv
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore \
    UV_CACHE_DIR=/var/cache/uv \
    UV_LINK_MODE=copy \
    VIRTUAL_ENV=/opt/venv
RUN python -m venv /opt/uv && /opt/uv/bin/pip install "uv==0.9.*" && python -m venv --without-pip /opt/venv
ENV PATH=/opt/venv/bin:/opt/uv/bin:$PATH
WORKDIR /build

FROM uv AS build-query
COPY requirements-query.lock ./
RUN --mount=type=cache,target=/var/cache/uv uv pip install --compile-bytecode -r requirements-query.lock
COPY pyproject.toml README.md LICENSE ./
COPY qindex_pipeline ./qindex_pipeline
RUN --mount=type=cache,target=/var/cache/uv uv pip install --compile-bytecode --no-deps .

# The page to ask on, and its JSON: no pipeline, no browser. QDRANT_URL names the index.
FROM ${PYTHON_IMAGE} AS query
RUN groupadd --gid 10001 qindex \
 && useradd --uid 10001 --gid 10001 --create-home --home-dir /app qindex
COPY --from=build-query /opt/venv /opt/venv
COPY deploy/entrypoint.sh /opt/qindex/
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1
WORKDIR /app
USER 10001:10001
EXPOSE 8765
ENTRYPOINT ["/opt/qindex/entrypoint.sh"]
CMD ["qindex", "serve", "--host", "0.0.0.0"]

FROM uv AS build
# Dependencies before code: an edit of the package reuses this layer.
COPY requirements-deploy.lock ./
RUN --mount=type=cache,target=/var/cache/uv uv pip install --compile-bytecode -r requirements-deploy.lock
COPY pyproject.toml README.md LICENSE ./
COPY qindex_pipeline ./qindex_pipeline
RUN --mount=type=cache,target=/var/cache/uv uv pip install --compile-bytecode --no-deps .

FROM ${PYTHON_IMAGE} AS runtime
LABEL org.opencontainers.image.title="qindex_pipeline" \
      org.opencontainers.image.description="An index of the questions that documentation answers" \
      org.opencontainers.image.licenses="MIT"
# Chromium shows the pages that only JavaScript fills; Playwright's node needs libatomic.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends chromium fonts-liberation libatomic1 \
 && rm -rf /var/lib/apt/lists/*
# A named volume takes the owner of the folder that it is first mounted over, so the folders of
# docker-compose.yml exist here and belong to the user that writes them.
RUN groupadd --gid 10001 qindex \
 && useradd --uid 10001 --gid 10001 --create-home qindex \
 && install --directory --owner=10001 --group=10001 /app/data /opt/dagster/home /opt/dagster/logs /run/qindex
COPY --from=build /opt/venv /opt/venv
COPY deploy/entrypoint.sh deploy/generate-secrets.sh /opt/dagster/
COPY deploy/dagster.yaml deploy/workspace.yaml /opt/dagster/home/
COPY sites.yaml /app/sites.yaml
# Our own documentation, the folder of the site that sites.yaml begins with.
COPY docs /app/docs
COPY questions /app/questions
# PATH: the run launcher starts a bare `dagster` in this image.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DAGSTER_HOME=/opt/dagster/home \
    DAGSTER_DISABLE_TELEMETRY=yes \
    QINDEX_DATA=/app/data \
    QINDEX_SITES=/app/sites.yaml \
    QINDEX_QUESTIONS=/app/questions \
    QINDEX_CHROMIUM=/usr/bin/chromium
WORKDIR /app
USER 10001:10001
EXPOSE 4000
ENTRYPOINT ["/opt/dagster/entrypoint.sh"]
CMD ["dagster", "code-server", "start", "-h", "0.0.0.0", "-p", "4000", "-m", "qindex_pipeline.definitions"]
