# `make demo` and `make test` set everything up themselves: Python >= 3.11, pip, make; uv if present.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
export DAGSTER_DISABLE_TELEMETRY := yes
# Debug output of a library must not end up in the demo.
export CRAWL4AI_NO_CLOUD_NOTICE := 1

.PHONY: demo test dev up down logs lint types check lock clean

demo: $(VENV)/.runtime ## index our own documentation and ask it
	QINDEX_DATA=.demo/data QINDEX_SITES=.demo/sites.yaml \
		$(BIN)/python -m qindex_pipeline.demo docs docs/demo_questions.jsonl

test: $(VENV)/.dev ## run the tests
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

dev: $(VENV)/.runtime ## Dagster's UI on http://127.0.0.1:3000
	mkdir -p .dagster && cp deploy/local/dagster.yaml .dagster/dagster.yaml
	DAGSTER_HOME=$(CURDIR)/.dagster $(BIN)/dagster dev -w workspace.yaml -h 127.0.0.1 -p 3000

up: ## the deployment on this machine: build, start, wait until it is healthy
	docker compose up -d --build --wait

down: ## stop it; volumes stay
	docker compose down

logs: ## follow what it writes
	docker compose logs --follow --tail 100

lint: $(VENV)/.dev ## style, format, layering
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/hadolint Dockerfile
	$(BIN)/dagster definitions validate -m qindex_pipeline.definitions

types: $(VENV)/.dev ## static types
	$(BIN)/pyright

check: lint types test

lock: ## resolve the lock files anew (needs uv)
	uv pip compile pyproject.toml --extra pipeline --universal --no-emit-index-url -q \
		-o requirements.lock
	uv pip compile pyproject.toml --universal --no-emit-index-url -q \
		-c requirements.lock -o requirements-query.lock
	uv pip compile pyproject.toml --extra dev --universal --no-emit-index-url -q \
		-c requirements.lock -o requirements-dev.lock
	uv pip compile pyproject.toml --extra pipeline --extra s3 --extra k8s --universal --no-emit-index-url -q \
		-c requirements-dev.lock -o requirements-deploy.lock

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=python3.11"; exit 1; }
ifdef UV
	uv venv -q --python $(PYTHON) $(VENV)
else
	$(PYTHON) -m venv $(VENV)
endif

ifdef UV
INSTALL := uv pip install -q --compile-bytecode --python $(BIN)/python
else
INSTALL := $(BIN)/python -m pip install -q --disable-pip-version-check
endif

$(VENV)/.runtime: $(VENV)/bin/python requirements.lock pyproject.toml
	$(INSTALL) -r requirements.lock
	$(INSTALL) --no-deps -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements-dev.lock
	$(INSTALL) -r requirements-dev.lock
	@touch $@

clean: ## remove the environment and the demo's data
	rm -rf $(VENV) .demo .dagster
