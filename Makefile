# Every target installs what it needs; a second call costs nothing.
.DEFAULT_GOAL := help
SHELL := /bin/bash
UV_VERSION := 0.13.8
# 3.11 or 3.12; results of one do not count for the other (decision 23)
PYTHON ?= 3.11
VENV := .venv
BIN := $(VENV)/bin
TOOLS := .tools
UV := $(shell command -v uv 2>/dev/null || echo $(TOOLS)/bin/uv)
# What packages are built with, where they are published as source alone, is locked as well
INSTALL := $(UV) pip install -q --python $(BIN)/python --build-constraints requirements/build.lock --require-build-hashes
export DAGSTER_HOME ?= $(CURDIR)/.state/dagster
PYTEST_WORKERS ?= 6
# Files in the order that tests/conftest.py gives them. Compiled once: half of a collection is else pytest's rewriting.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -n $(PYTEST_WORKERS) --dist loadfile --no-loadscope-reorder
BENCHMARKS := cached command_line report tracking registry one_asset touched_files many_configs thousand_steps step_overhead changes gc mono_import decoding extract_best mbr comet batches scale throughput forecasts

.PHONY: help install install-dev install-signing install-tracking demo check-demo test test-all check-wheel simulate mutants defects ci-environments graph lint types \
    ui ui-deployed images release bench gpu-check docs pictures golden lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(VENV)/.main ## create .venv with the locked dependencies

install-dev: $(VENV)/.dev ## the same with what tests, lint and types need

install-signing: $(VENV)/.signing ## the same as install, with what signs models

install-tracking: $(VENV)/.tracking ## the same as install, with TensorBoard and wandb

demo: install ## train the English-Esperanto demo through every stage and show its scores
	@$(BIN)/translations train en-eo.demo --yes
	@$(BIN)/translations results en-eo.demo
	@echo
	@echo "To translate:     echo 'The big dog sees a cat.' | $(BIN)/translations translate en-eo.demo"
	@echo "To open the UI:   make ui"

check-demo: demo install-dev ## the same, and fail when a model of it translates worse than it can
	@$(BIN)/python -m tests.demo_scores

test: install-dev ## run all tests but the slow ones, or those that TESTS='...' names
	@$(PYTEST) $(or $(TESTS),-m "not slow")

test-all: install-dev ## run all tests, or those that TESTS='...' names
	@$(PYTEST) $(TESTS)

check-wheel: $(UV) ## install the wheel alone with pip, and train the demo with it: PYTHON=3.12
	@tests/check_wheel.sh $(UV) $(PYTHON)

simulate: install-dev ## carry out many simulated schedules of runs, faults and people: SCHEDULES=100000
	@$(BIN)/python -m tests.simulation.simulate --schedules $(or $(SCHEDULES),2000)

mutants: install-dev ## plant a hundred small defects, one at a time, and show which of them no test notices
	@$(BIN)/python -m tests.mutants

defects: install-dev ## plant the written defects, one at a time, and show which of them the tests of their files do not notice
	@$(BIN)/python -m tests.mutants.defects

ci-environments: install-dev ## make what tests need besides, once, and print the variables that name it
	@$(BIN)/python -m tests.environments

graph: install-dev ## build the graph of every training config and show how it differs from its golden summary
	@$(BIN)/pytest -q tests/golden

lint: install-dev ## check style, formatting, the layers and how docstrings begin
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m tests.docstrings

types: install-dev ## check the types
	@$(BIN)/mypy

ui: install ## open Dagster's UI on http://127.0.0.1:3000
	@env -u DAGSTER_MODULE_NAME $(BIN)/python -m translations_assets.ui -w workspace.yaml # it refuses both at once

ui-deployed: install-dev ## open it as on a cluster: PostgreSQL, a bucket's stand-in; thrown away at its end
	@$(BIN)/python -m deploy.local

images: install ## build and push the images of a cluster: REGISTRY=europe-docker.pkg.dev/my-project/translations
	@$(BIN)/python -m deploy.images $(or $(REGISTRY),$(error say REGISTRY=...)) --push

release: docs ## build wheel, documentation and bill of materials into dist/; with REGISTRY=..., push the images, too
	@rm -rf dist && mkdir dist
	@$(UV) build -q --wheel --build-constraints requirements/build.lock --require-hashes -o dist .
	@tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@315532800 -czf dist/docs.tar.gz site
	@$(BIN)/python -m deploy.release dist/bill-of-materials.json
	@$(if $(REGISTRY),$(BIN)/python -m deploy.images $(REGISTRY) --push)
	@ls -l dist

bench: demo install-dev ## print the figures of the benchmarks (finishes the demo first)
	@for words in $(BENCHMARKS) "kills --times 8"; do echo "== $$words"; $(BIN)/python -m benchmarks.$$words || exit 1; done

gpu-check: install-dev ## train and translate on this machine's GPUs for some minutes, and print how fast and how busy they are
	@$(BIN)/python -m benchmarks.gpu_check $(if $(PRICE),--price $(PRICE) --currency $(or $(CURRENCY),USD))

pictures: demo install-dev ## take the documentation's pictures anew, into docs/images (with make ci-environments)
	@$(BIN)/python -m benchmarks.pictures

docs: install-dev ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "site/index.html"

golden: install-dev ## renew the golden files of the tests
	@$(BIN)/python -m tests.golden.renew

# Resolved from 3.10 on, since the notes of who requires what are part of keys (decision 23); then what only 3.10 needs
# is taken out. The wheel asks for what laptop.lock pins (hatch_build.py).
COMPILE = $(UV) pip compile -q --universal --generate-hashes --no-emit-index-url --no-header
OF_KEYS = $(COMPILE) --python-version 3.10 --overrides requirements/overrides.txt
EXTRAS := --group ja-ko --group cluster
lock: $(UV) ## renew the locks after a change of the dependencies in pyproject.toml
	$(OF_KEYS) --group main --group opustrainer $(EXTRAS) -o requirements/main.lock
	$(COMPILE) --python-version 3.11 --group main -c requirements/main.lock -o requirements/laptop.lock
	$(OF_KEYS) --group main --group opustrainer $(EXTRAS) --group dev --group tracking --group signing \
	    -c requirements/main.lock -o requirements/dev.lock
	$(OF_KEYS) --group main --group opustrainer $(EXTRAS) --group tracking -c requirements/main.lock \
	    -o requirements/tracking.lock
	$(OF_KEYS) --group main --group opustrainer $(EXTRAS) --group signing -c requirements/main.lock \
	    -o requirements/signing.lock
	$(OF_KEYS) --group worker -c requirements/main.lock -o requirements/worker.lock
	for name in main dev signing tracking worker; do lock=requirements/$$name.lock; \
	    awk "/^[a-z]/ { old = /< '3[.]11'/ && !/[>=]= '3[.]1/ } !old" $$lock > $$lock.new && mv $$lock.new $$lock || exit 1; done
	$(COMPILE) --python-version 3.10 --group build -c requirements/main.lock -o requirements/build.lock
	$(COMPILE) --python-version 3.10 --group opuscleaner --overrides requirements/opuscleaner.overrides.txt \
	    -o requirements/opuscleaner.lock
	for name in bicleaner monocleaner; do $(COMPILE) --python-version 3.10 --project requirements/classifiers \
	    --group requirements/classifiers/pyproject.toml:$$name -o requirements/$$name.lock || exit 1; done
	$(COMPILE) --python-version 3.10 --group cuda -o requirements/cuda.lock
	$(COMPILE) --python-version 3.11 --group s3-server -o tests/store/s3-server.lock

clean: ## remove the environment and the caches; what was trained, in .state, stays
	rm -rf $(VENV) $(TOOLS) .mypy_cache .ruff_cache .pytest_cache build dist site *.egg-info
	find pipeline translations_assets tests benchmarks corpora -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.main: requirements/main.lock requirements/build.lock pyproject.toml | $(UV)
	@command -v cc >/dev/null || { echo "error: a C compiler is missing, which the package eflomal needs." \
	    "On Debian or Ubuntu: apt-get install gcc libc6-dev"; exit 1; }
	@test -x $(BIN)/python || $(UV) venv -q --python $(PYTHON) $(VENV) \
	    || { echo "error: no Python $(PYTHON) was found, and none could be fetched. Install one."; exit 1; }
	@$(BIN)/python -c 'import os, sys, sysconfig; \
	    os.path.exists(sysconfig.get_path("include") + "/Python.h") or sys.exit("error: Python.h is missing, which" \
	    " the package eflomal needs. On Debian or Ubuntu: apt-get install python%d.%d-dev" % sys.version_info[:2])'
	@echo "Installing the locked dependencies (Marian alone has 600 MB) …" >&2
	@$(INSTALL) --compile-bytecode --require-hashes --no-deps -r requirements/main.lock
	@$(INSTALL) --no-deps -e .
	@$(BIN)/python -m translations_assets.instance.home
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.main
	@$(INSTALL) --compile-bytecode --require-hashes --no-deps -r requirements/dev.lock
	@touch $@

$(VENV)/.signing: requirements/signing.lock $(VENV)/.main
	@$(INSTALL) --compile-bytecode --require-hashes --no-deps -r requirements/signing.lock
	@touch $@

$(VENV)/.tracking: requirements/tracking.lock $(VENV)/.main
	@$(INSTALL) --compile-bytecode --require-hashes --no-deps -r requirements/tracking.lock
	@touch $@

$(TOOLS)/bin/uv:
	@python3 -m pip --version >/dev/null 2>&1 || { echo "error: neither uv nor pip was found." \
	    "On Debian or Ubuntu: apt-get install python3-pip"; exit 1; }
	@python3 -m pip install -q --target $(TOOLS) uv==$(UV_VERSION)
