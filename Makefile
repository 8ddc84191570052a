# Everything a user or contributor runs. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Tests at a time: each has a Kafka, a Spark and databases of its own (3 GB) and waits for them half of its time.
TEST_WORKERS ?= 3
DOCKER ?= docker
IMAGE ?= cdc-bridge:latest
IMAGE_OPTIONS ?=
VERSION ?= $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

.DEFAULT_GOAL := help
.PHONY: help install install-rig demo test equivalence types test-unit check format figures lock docs-config docs-metrics docs-types docs-connectors golden image image-test install-helm chart-schema \
	chart-apiserver-test clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Use
install: $(INSTALLED) ## Make .venv with the pinned dependencies and this project

demo: $(INSTALLED) ## Start Kafka, produce a workload, land it, compare: the whole bridge in one command
	$(BIN)/cdc-bridge demo

image: ## Build the container image (IMAGE=name:tag, IMAGE_OPTIONS=options of docker build)
	DOCKER_BUILDKIT=1 $(DOCKER) build --tag $(IMAGE) --build-arg VERSION=$(VERSION) \
		--build-arg REVISION=$$(git rev-parse HEAD) --build-arg CREATED=$$(git log -1 --format=%cI) $(IMAGE_OPTIONS) .

##@ Develop
test: $(INSTALLED) install-rig install-helm ## Run all tests, with coverage (TEST_WORKERS=number of files at a time)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder \
		--cov --cov-report=term:skip-covered --cov-fail-under=90

install-rig: ## Install the database servers that the tests need, where they are missing
	@tests/rig/install.sh

install-helm: ## Build the helm that the chart's tests need, once (needs Go)
	@tests/helm/install.sh >/dev/null

equivalence: $(INSTALLED) install-rig ## Compare mirror and database over a long random workload; prints the matrix
	CDC_BRIDGE_EQUIVALENCE=long $(BIN)/python -m pytest tests/integration/test_equivalence.py -q -s

types: $(INSTALLED) install-rig ## Carry every type in every mode of Debezium; writes docs/types.md
	CDC_BRIDGE_TYPES=all $(BIN)/python -m pytest tests/integration/test_types_postgres.py tests/integration/test_types_mariadb.py
	$(BIN)/python -m tests.rig.types_page docs/types.md

image-test: $(INSTALLED) ## Build the image and run it with a Kafka in containers (needs Docker)
	$(BIN)/python -m pytest tests/image -v

chart-apiserver-test: $(INSTALLED) install-helm ## Install the chart into a real kube-apiserver, built first: 20 minutes, once
	$(BIN)/python -m pytest tests/helm/against_api_server.py -v

test-unit: $(INSTALLED) ## Run the tests that need neither Java nor Kafka
	$(BIN)/python -m pytest tests/unit

check: $(INSTALLED) ## Lint, format check, strict types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED) ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

figures: $(INSTALLED) ## Measure the main job on this machine (several minutes)
	$(BIN)/python -m tests.bench.figures

docs-config: $(INSTALLED) ## Write docs/configuration.md from the settings
	$(BIN)/python -m streaming.settings_docs docs/configuration.md

chart-schema: $(INSTALLED) ## Write the chart's values.schema.json from the settings
	$(BIN)/python -m streaming.settings.json_schema helm/cdc-bridge

docs-metrics: $(INSTALLED) ## Write docs/metrics.md from the catalogue of metrics
	$(BIN)/python -m streaming.metrics.docs docs/metrics.md

docs-types: $(INSTALLED) ## Write docs/types.md from what make types has found
	$(BIN)/python -m tests.rig.types_page docs/types.md

docs-connectors: $(INSTALLED) ## Write docs/connectors.md from the golden traffic and its tests
	$(BIN)/python -m tests.golden.matrix docs/connectors.md

golden: $(INSTALLED) install-rig ## Record the golden traffic anew from real servers (several minutes)
	$(BIN)/python -m tests.golden.capture
	$(BIN)/python -m tests.golden.matrix docs/connectors.md

lock: ## Pin the dependencies anew, with hashes
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --upgrade --extra dev --extra delta --extra lineage --generate-hashes --no-emit-index-url \
		--no-emit-find-links --no-emit-trusted-host --allow-unsafe --strip-extras -o requirements.lock pyproject.toml
	$(BIN)/pip-compile --quiet --extra lineage --generate-hashes --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
		--allow-unsafe --strip-extras -c requirements.lock -o requirements-runtime.lock pyproject.toml

clean: ## Remove what the other targets made
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .coverage .coverage.* demo-output

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "cdc-bridge needs Python 3.11 or newer as '$(PYTHON)'. Install it, or say make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "'$(PYTHON)' cannot make virtual environments. On Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Installing the pinned dependencies into $(VENV): about 3 minutes the first time, most of it pyspark"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . \
		2> $(VENV)/install.log || { cat $(VENV)/install.log; exit 1; }
	@touch $@
