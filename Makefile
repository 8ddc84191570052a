# Everything a user or contributor runs. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Where there is no C compiler they are not made, and JSON is decoded and Kafka is read without them.
EXTENSIONS := connectors/debezium/avro_kernel/_kernel.abi3.so connectors/debezium/json_kernel/_kernel.abi3.so \
	connectors/kafka/reading/_messages.abi3.so
# Tests at a time: each has a Kafka, a Spark and databases of its own (3 GB) and waits for them half of its time.
TEST_WORKERS ?= 3
DOCKER ?= docker
IMAGE ?= cdc-bridge:latest
IMAGE_OPTIONS ?=
# From the git tags, as docs/how-to/release.md tells; read when a target needs it.
VERSION ?= $(shell $(BIN)/python -m setuptools_scm)
DIST ?= dist

.DEFAULT_GOAL := help
.PHONY: help install crash fuzz extensions avro-reader-fuzz json-reader-fuzz model model-mutants guarantee-mutants install-compiler install-rig demo services docs docs-cli docs-recording test onelake test-rig-containers equivalence types test-unit check format figures lock docs-config docs-metrics docs-types docs-equivalence docs-connectors golden image image-test dist release-check release-test install-helm install-prometheus monitoring docs-errors chart-schema \
	chart-apiserver-test chart-executors-test figures-scale-out bench bench-quick bench-latency bench-cores bench-profile bench-page bench-growth bench-growth-page load browser-test tutorial clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-21s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Use
install: $(INSTALLED) $(EXTENSIONS) ## Make .venv with the pinned dependencies and this project

demo: $(INSTALLED) ## Start Kafka, produce a workload, land it, compare: the whole bridge in one command
	$(BIN)/cdc-bridge demo

services: $(INSTALLED) ## Run Kafka and Kafka Connect with Debezium until Ctrl-C, as docs/tutorial.md needs them
	@$(BIN)/python -m tests.rig.services build/services.sh

image: $(INSTALLED) ## Build the container image (IMAGE=name:tag, IMAGE_OPTIONS=options of docker build)
	DOCKER_BUILDKIT=1 $(DOCKER) build --tag $(IMAGE) --build-arg VERSION=$(VERSION) \
		--build-arg REVISION=$$(git rev-parse HEAD) --build-arg CREATED=$$(git log -1 --format=%cI) $(IMAGE_OPTIONS) .

##@ Develop
test: $(INSTALLED) install-compiler $(EXTENSIONS) install-rig install-helm install-prometheus ## Run all tests, with coverage in build/coverage (TEST_WORKERS=files at a time)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder \
		--cov --cov-report=html:build/coverage --cov-fail-under=90

install-compiler: ## Install the C compiler that the tests need, where it is missing
	@tests/support/install_compiler.sh $(PYTHON)

install-rig: ## Install the database servers that the tests need, where they are missing
	@tests/rig/install.sh

browser-test: $(INSTALLED) ## Look at the status page in headless Chromium; leaves build/screenshots
	@tests/browser/install.sh
	$(BIN)/python -m pytest tests/browser/in_a_browser.py -v

tutorial: $(INSTALLED) ## Run docs/tutorial.md with its first step: packages, clone, install (Debian 12, as root; REPOSITORY=what to clone)
	env -u MAKEFLAGS -u MAKELEVEL REPOSITORY=$(or $(REPOSITORY),$(CURDIR)) CDC_BRIDGE_TUTORIAL=whole \
		$(BIN)/python -m pytest tests/docs/test_tutorial.py -v

install-helm: ## Build the helm that the chart's tests need, once (needs Go)
	@tests/helm/install.sh >/dev/null

install-prometheus: ## Fetch the Prometheus that the tests of alerts and dashboard run, once
	@tests/monitoring/install.sh >/dev/null

equivalence: $(INSTALLED) $(EXTENSIONS) install-rig ## Compare mirror and database over a long random workload; writes the table of docs/equivalence.md
	CDC_BRIDGE_EQUIVALENCE=long $(BIN)/python -m pytest tests/integration/test_equivalence.py tests/integration/test_equivalence_after_kills.py; \
		status=$$?; $(BIN)/python -m tests.rig.equivalence_report docs/equivalence.md; exit $$status

onelake: $(INSTALLED) ## Run the whole job on a hostile OneLake, for five seeds, zone and state there (20 minutes)
	CDC_BRIDGE_ONELAKE=long $(BIN)/python -m pytest tests/integration/test_onelake_job.py tests/integration/test_onelake_continuous.py -v -rP

test-rig-containers: $(INSTALLED) ## Run the tests of types and equivalence on databases in containers (needs Docker)
	$(BIN)/python -m tests.rig.images

types: $(INSTALLED) install-rig ## Carry every type, as a column and as a key, in every mode of Debezium; RECORD=1 writes docs/types.md anew
	CDC_BRIDGE_TYPES=$(if $(RECORD),record,all) $(BIN)/python -m pytest tests/integration/test_types_postgres.py \
		tests/integration/test_types_mariadb.py tests/integration/test_types_keys.py
	$(if $(RECORD),$(BIN)/python -m tests.rig.types_page docs/types.md)

dist: $(INSTALLED) ## Build sdist and wheel of this commit into dist/, the same bytes each time
	@$(BIN)/python -m tests.release.packages $(DIST)

release-check: $(INSTALLED) ## Say what is missing before this commit can be tagged and released (RELEASE=0.2.0, AUDIT=options of pip-audit)
	@$(BIN)/python -m tests.release.check_release $(RELEASE) $(AUDIT)

release-test: $(INSTALLED) ## Install the wheel into an empty environment and run the demo there (fetches pyspark: 3 minutes)
	$(BIN)/python -m pytest tests/release/in_an_empty_environment.py -v

image-test: $(INSTALLED) install-helm ## Build the image and run it with a Kafka in containers (needs Docker)
	$(BIN)/python -m pytest tests/image -v

chart-apiserver-test: $(INSTALLED) install-helm ## Install the chart into a real kube-apiserver, built first: 20 minutes, once
	$(BIN)/python -m pytest tests/helm/against_api_server.py -v

chart-executors-test: $(INSTALLED) install-helm ## Let Spark ask that kube-apiserver for executors, and run them as the load needs
	$(BIN)/python -m pytest tests/helm/against_nodes.py -v

crash: $(INSTALLED) $(EXTENSIONS) ## Kill the commit path and the whole job, start again, compare: an hour (SEED=7 RUNS=1000 JOB_RUNS=100)
	$(BIN)/python -m tests.crash --seed $(or $(SEED),7) --runs $(or $(RUNS),1000) --job-runs $(or $(JOB_RUNS),100)

fuzz: $(INSTALLED) $(EXTENSIONS) ## Hand hostile records, schemas and files to every decoder for a while (SECONDS=3600)
	$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),3600)

extensions: $(EXTENSIONS) ## Build the readers of Avro, JSON and Kafka in place, where their C has changed (needs gcc and Python's headers)

avro-reader-fuzz: $(INSTALLED) ## Run the Avro reader on broken records under the C sanitizers (SECONDS=600; needs gcc)
	$(BIN)/python -m tests.avro_kernel.sanitizing $(or $(SECONDS),600)

json-reader-fuzz: $(INSTALLED) ## Run the JSON reader on broken records under the C sanitizers (SECONDS=600; needs gcc)
	$(BIN)/python -m tests.kernel.sanitizing $(or $(SECONDS),600)

model: $(INSTALLED) ## Explore the commit protocol's schedules within wide bounds (minutes; WORDS= of one exploration's name)
	$(BIN)/python -m tests.model long $(WORDS)

model-mutants: $(INSTALLED) ## Break the product in two dozen places and see the model notice each (minutes)
	$(BIN)/python -m tests.model.mutants $(WORDS)

guarantee-mutants: $(INSTALLED) ## Break one guarantee after the other and see its tests fail (minutes; SLOW=1: also with Spark and databases, an hour)
	$(BIN)/python -m tests.model.guarantee_mutants $(if $(SLOW),slow) $(WORDS)

test-unit: $(INSTALLED) install-compiler $(EXTENSIONS) ## Run the tests that need neither Java nor Kafka
	$(BIN)/python -m pytest tests/unit

docs: $(INSTALLED) ## Build the documentation as a site into build/site; broken links and anchors are errors
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

check: $(INSTALLED) $(EXTENSIONS) ## Lint, format, strict types, import rules, security of code and dependencies, documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive streaming connectors
	$(BIN)/python -m tests.security.audit requirements-runtime.lock
	@$(MAKE) --no-print-directory docs

format: $(INSTALLED) ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

figures: $(INSTALLED) $(EXTENSIONS) ## Measure the main job on this machine (several minutes)
	$(BIN)/python -m tests.bench.figures

figures-scale-out: $(INSTALLED) $(EXTENSIONS) ## Measure the main job on threads and on executors (several minutes)
	$(BIN)/python -m tests.bench.figures scale-out

bench: $(INSTALLED) $(EXTENSIONS) ## Measure limit, obvious job and bridge side by side (BENCH="names" RUNS=5): minutes each, all take hours
	$(BIN)/python -m tests.bench --runs $(or $(RUNS),5) $(BENCH)

bench-quick: $(INSTALLED) $(EXTENSIONS) ## Measure a few ratios in under 3 minutes; fails only below half of a target
	@$(BIN)/python -m tests.bench.quick

bench-latency: $(INSTALLED) $(EXTENSIONS) ## Measure the time from an event to its file (several minutes)
	$(BIN)/python -m tests.bench.latency

bench-cores: $(INSTALLED) $(EXTENSIONS) ## Measure the bridge on one core and on two, the broker on others where there are more (RUNS=5)
	$(BIN)/python -m tests.bench.cores --runs $(or $(RUNS),5)

bench-profile: $(INSTALLED) $(EXTENSIONS) ## Profile the bridge's Java and Python; writes budget and flame graph of docs/performance.md (RUNS=3, NATIVE=1: with C frames)
	$(BIN)/python -m tests.bench.profile --runs $(or $(RUNS),3) $(if $(NATIVE),--native)
	$(BIN)/python -m tests.bench.profile_page docs/performance.md docs/assets/profile.svg

bench-page: $(INSTALLED) ## Write figures and chart of docs/performance.md from what make bench has found
	$(BIN)/python -m tests.bench.page docs/performance.md docs/assets/performance.svg

bench-growth: $(INSTALLED) $(EXTENSIONS) ## Measure a batch's time and memory by tables, partitions, columns, rows and ledger (GROWTH="names"): an hour
	$(BIN)/python -m tests.bench.growth $(GROWTH) --ledger-folder /dev/shm

bench-growth-page: $(INSTALLED) ## Write growth and capacity of docs/performance.md from what make bench-growth has found
	$(BIN)/python -m tests.bench.growth_page docs/performance.md docs/assets/growth.svg

load: $(INSTALLED) $(EXTENSIONS) ## Load the bridge: a long ledger, 500 tables, a backlog of 10 million, 80 % with restarts (LOAD=some of them)
	$(BIN)/python -m tests.load $(LOAD) --ledger-folder /dev/shm

docs-config: $(INSTALLED) ## Write docs/configuration.md from the settings
	$(BIN)/python -m streaming.settings_docs docs/configuration.md

chart-schema: $(INSTALLED) ## Write the chart's values.schema.json from the settings
	$(BIN)/python -m streaming.settings.json_schema helm/cdc-bridge

docs-metrics: $(INSTALLED) ## Write docs/metrics.md from the catalogue of metrics
	$(BIN)/python -m streaming.metrics.docs docs/metrics.md

docs-errors: $(INSTALLED) ## Write docs/errors.md from the classes of errors
	$(BIN)/python -m streaming.errors_docs docs/errors.md

monitoring: $(INSTALLED) ## Write the chart's alerts and dashboard from streaming/monitoring
	$(BIN)/python -m streaming.monitoring helm/cdc-bridge/files

docs-cli: $(INSTALLED) ## Write docs/reference/cli.md from the commands
	$(BIN)/python -m tests.docs.cli_reference docs/reference/cli.md

docs-recording: $(INSTALLED) ## Record make demo in a terminal of its own; writes docs/assets/demo.svg
	$(BIN)/python -m tests.docs.recording docs/assets/demo.svg

docs-types: $(INSTALLED) ## Write docs/types.md from what make types has found
	$(BIN)/python -m tests.rig.types_page docs/types.md

docs-equivalence: $(INSTALLED) ## Write the table of docs/equivalence.md from what make equivalence has found
	$(BIN)/python -m tests.rig.equivalence_report docs/equivalence.md

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
	rm -rf $(VENV) $(EXTENSIONS) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .coverage .coverage.* demo-output

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "cdc-bridge needs Python 3.11 or newer as '$(PYTHON)'. Install it, or say make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "'$(PYTHON)' cannot make virtual environments. On Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Installing the pinned dependencies into $(VENV): about 3 minutes the first time, most of it pyspark, of whose setup.py an"
	@echo "older pip says DEPRECATION: that is harmless. Nothing else is printed until it is done"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . \
		2> $(VENV)/install.log || { cat $(VENV)/install.log; exit 1; }
	@$(BIN)/python -m pip check --disable-pip-version-check > $(VENV)/install.log || { cat $(VENV)/install.log; exit 1; }
	@touch $@

# A pattern, here of "connectors", is how one recipe makes several files by one run.
$(subst connectors/,%/,$(EXTENSIONS)): %/debezium/avro_kernel/kernel.c %/debezium/avro_kernel/kernel.h \
		%/debezium/json_kernel/kernel.c %/debezium/json_kernel/kernel.h \
		%/kafka/reading/messages.c %/kafka/reading/messages.h kernel_build.py setup.py | $(INSTALLED)
	@rm -rf $(EXTENSIONS) build/lib.* build/temp.* && mkdir -p build
	@$(BIN)/python setup.py --quiet build_ext --inplace --force > build/extensions.log 2>&1; ls $(EXTENSIONS) > /dev/null 2>&1 && touch $(EXTENSIONS) || \
		{ cat build/extensions.log; echo "Not all extension modules can be built (see above): without them JSON is decoded at half the speed, Avro at a fiftieth, and Kafka's records are read at a fifth. On Debian or Ubuntu: apt-get install gcc libc6-dev python3-dev"; }
