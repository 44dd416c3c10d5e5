# Everything sets itself up: a virtual environment in .venv from the hash-pinned lock, once.
PYTHON ?= python3
BIN := .venv/bin
MINOR := import sys; print("%d.%d" % sys.version_info[:2])
# The environment is made again if PYTHON=... was given and is of another version.
ifeq ($(origin PYTHON),command line)
OTHER := $(shell test ! -x $(BIN)/python || test "$$($(PYTHON) -c '$(MINOR)')" = "$$($(BIN)/python -c '$(MINOR)')" || echo other)
endif
STAMP := .venv/.installed
export DO_NOT_TRACK := 1

# What `make run benchmark=...` runs.
benchmark ?= ma_bench
EXPERIMENT.ma_bench := baselines
EXPERIMENT.mission_report := reports

.DEFAULT_GOAL := help
LOCAL := .venv/.local
.PHONY: help setup run local eee dvc-s3 smoke test slow coverage check docs packets validate report ui prefect cluster cluster-stop track lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP)  ## the environment in .venv, and no more

run: $(STAMP)  ## grade the baseline and the controls, without a key
	@test -n '$(EXPERIMENT.$(benchmark))' || \
	  { echo "make run knows benchmark=ma_bench and mission_report; others: staffbench run benchmark=..." >&2; exit 2; }
	$(BIN)/staffbench run +experiment=$(EXPERIMENT.$(benchmark))
	@echo
	$(BIN)/staffbench report benchmark=$(benchmark) > /dev/null
	@echo 'Commands that begin with staffbench need this once: . .venv/bin/activate'
	@echo 'Pages: results/$(benchmark)/site/index.html    MLflow: make ui'

local: $(LOCAL)  ## add a small model that runs on this machine (185 MB)

eee: .eee/.installed  ## the validator of Every Eval Ever, in .eee

dvc-s3: .dvc-s3/.installed  ## DVC with its S3 plugin, in .dvc-s3

smoke: $(LOCAL)  ## the whole pipeline with the small model of `make local`; no result
	$(BIN)/staffbench run +experiment=smoke
	@# As a judge. 4 says that items have no verdict: it can't grade.
	$(BIN)/staffbench run benchmark=smoke model=strong judge=smollm2 seeds=1 || test $$? -eq 4

test: $(STAMP)  ## the test suite; one layer of it: ARGS=tests/stages
	@# In the order of the files: by itself xdist starts those with few tests last, and the longest are among them.
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --durations=20 -m "not slow" $(ARGS)

slow: $(STAMP)  ## the tests that take minutes
	$(BIN)/python -m pytest -q -m slow $(ARGS)

coverage: $(STAMP)  ## the test suite, and how much of flows/ it runs
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder -m "not slow" --cov=flows --cov-report=term:skip-covered $(ARGS)

check: $(STAMP)  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

docs: $(STAMP)  ## the documentation as pages, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo 'Documentation: site/index.html'

packets: $(STAMP)  ## documents to packets
	$(BIN)/staffbench packets benchmark=$(benchmark)

validate: $(STAMP)  ## check scenarios, rubrics, evidence, controls, options
	$(BIN)/staffbench validate benchmark=$(benchmark)

report: $(STAMP)  ## leaderboards and site from stored verdicts
	$(BIN)/staffbench report benchmark=$(benchmark)

ui: $(STAMP)  ## MLflow's page on the project's runs
	$(BIN)/staffbench ui

prefect: $(STAMP)  ## keep Prefect's server and page running
	@echo 'In another terminal: export PREFECT_API_URL=http://127.0.0.1:$(or $(PORT),4200)/api'
	@echo 'If the port is in use, it may be running already; another port: make prefect PORT=N'
	DO_NOT_TRACK=1 PREFECT_HOME=$(CURDIR)/.prefect PREFECT_SERVER_ANALYTICS_ENABLED=false \
	  $(BIN)/prefect server start $(if $(PORT),--port $(PORT))

cluster: $(STAMP)  ## PostgreSQL, Prefect on it, a Dask scheduler, two workers
	@$(BIN)/python -m tests.support.cluster start $(ARGS)

cluster-stop: $(STAMP)  ## end what make cluster started
	@$(BIN)/python -m tests.support.cluster stop

track: $(STAMP)  ## put results of runs made outside DVC under its control
	$(BIN)/staffbench track benchmark=$(benchmark)

lock: $(STAMP)  ## pin what pyproject.toml names (ARGS=--upgrade: the newest)
	$(BIN)/uv pip compile --quiet $(ARGS) --universal --generate-hashes --no-emit-index-url --no-header \
	  --python-version 3.11 --extra dev pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --no-deps \
	  --python-version 3.11 requirements-local.in -o requirements-local.lock

clean:  ## remove the environment and what runs leave outside results/
	rm -rf .venv .prefect site .coverage .pytest_cache .ruff_cache .hypothesis .import_linter_cache dvc_plots

# uv installs the lock in a quarter of pip's time; pip brings uv itself, pinned by the same lock.
# Bytecode is compiled: without it every start would compile the imports of mlflow and prefect again.
$(STAMP): requirements.lock pyproject.toml $(OTHER:other=.another-python)
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "Python %d.%d: needs 3.11, 3.12 or 3.13 (make PYTHON=python3.12 ...)" % v)'
	@echo 'Setting up .venv (once) ...'
	@$(if $(OTHER),echo '.venv is of another Python; it is made again with $(PYTHON).' && rm -rf .venv,true)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@sed -n '/^uv==/,/^[^ ]*==/{/^uv==/p;/^ .*--hash/p;}' requirements.lock > .venv/uv.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r .venv/uv.txt
	@echo 'Installing packages takes a minute or two ...'
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --compile-bytecode --require-hashes requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $(STAMP)
	@echo 'Ready. Commands that begin with staffbench need this once: . .venv/bin/activate'

.PHONY: .another-python
.another-python:

.eee/.installed: $(STAMP)
	@$(BIN)/uv venv --quiet --allow-existing --python "$$(for p in $(BIN)/python python3.13 python3.12 \
	  ~/.pyenv/versions/3.1[23]*/bin/python; do \
	  $$p -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2> /dev/null && echo $$p && exit; done; echo 3.12)" .eee \
	  || { echo 'make eee needs Python 3.12 or newer: none is on the PATH, and none could be downloaded' >&2; exit 2; }
	@$(BIN)/uv pip install --quiet --python .eee/bin/python every-eval-ever==0.3.0
	@touch $@

.dvc-s3/.installed: $(STAMP)
	@$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .dvc-s3
	@$(BIN)/uv pip install --quiet --python .dvc-s3/bin/python dvc==$$($(BIN)/dvc --version) dvc-s3==3.3.0
	@touch $@

# Wheels only, and without dependencies: what is needed of them is in the lock already.
$(LOCAL): requirements-local.lock $(STAMP)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --only-binary :all: --require-hashes \
	  -r requirements-local.lock
	@touch $(LOCAL)
