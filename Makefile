# Every target sets up what it needs on a machine that has only Python 3.11 and pip.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.dev
PEERS := $(VENV)/.peers
DOCS := $(VENV)/.docs
# Processes that run tests side by side, each on one thread and in up to 4 GB: three keep two cores busy, as some wait.
WORKERS ?= 3
# After so many minutes the quickstart shows its page; the same command writes on.
MINUTES ?= 10

.PHONY: help setup quickstart docs paper test test-fast validate lint format clean constraints

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

setup: $(READY) ## Create .venv with the pinned dependencies

$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) not found; install Python 3.11 or say make PYTHON=/path/to/python3.11" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[local]'
	@touch $@

$(DEV): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

$(PEERS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,docs,peers]'
	@touch $@

$(DOCS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,docs]'
	@touch $@

quickstart: setup ## Write, sit and measure an exam on the Python reference in minutes; opens as runs/quickstart/report.html
	$(BIN)/ragexam run experiments/quickstart/config.yaml --minutes $(MINUTES)

paper: setup ## Draw the paper's tables and figures from the answers kept in experiments/; opens as paper/paper.html
	$(BIN)/python -m paper_figs.paper --out paper

docs: $(DOCS) ## Build the documentation as a site; opens as build/docs/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The longest files begin first, so that no worker waits at the end for another to finish one.
test: $(PEERS) ## Run all tests
	OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder \
		--durations=80 --durations-min=4 tests/golden tests/test_documents.py tests

test-fast: $(DEV) ## Run the tests that need no model and take seconds each
	$(BIN)/python -m pytest -m "not slow and not models and not validate"

validate: $(PEERS) ## Run the statistical validations that take minutes: coverage, calibration, two samplers
	OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m validate -n $(WORKERS) --durations=20

lint: $(DEV) ## Check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV) ## Mend style and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

constraints: $(PEERS) ## Write the installed versions to constraints.txt
	{ head -1 constraints.txt; $(BIN)/python -m pip freeze --exclude-editable | sed -E 's/\+cpu//'; } > constraints.new && mv constraints.new constraints.txt

clean: ## Remove the environment, caches and build output; runs/ stays
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
