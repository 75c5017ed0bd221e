# Everything a developer runs.  `make` alone lists the targets.
# Variables: PYTHON (the interpreter that .venv is made with), BUDGET (seconds of a campaign), ARGS (passed on to the
# command of the target).

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
ARGS   ?=
BUDGET ?= 120

# Folders outside the package that hold typed Python; each is checked from the day it has some.
TYPED := $(foreach folder,benchmarks tools,$(if $(wildcard $(folder)/*.py),$(folder)))

SPREAD := --numprocesses auto # tests run on all cores; tests/conftest.py says which stay together

.DEFAULT_GOAL := help
.PHONY: help setup campaign test lint format types bench mutation nightly java build bundle constraints clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv and install brokerlaw with its tools into it (again only when the pins changed)

$(STAMP): pyproject.toml constraints.txt tools/setup
	@tools/setup "$(PYTHON)" "$(VENV)"
	@touch $@

campaign: $(STAMP) java ## Run a campaign of two minutes on all cores, and say which report to open
	@n=1; while [ -e build/campaign-$$n ]; do n=$$((n + 1)); done; \
	$(BIN)/brokerlaw fuzz --time-budget $(BUDGET) --cases 100_000_000 --seed $$n --out build/campaign-$$n $(ARGS)

test: $(STAMP) ## Run the tests (ARGS="-k name" picks some)
	@tools/java17 || true # without one, what needs it is skipped
	$(BIN)/python -m pytest $(SPREAD) $(ARGS)

lint: $(STAMP) ## Check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP) ## Mend what lint can mend by itself
	$(BIN)/ruff check --fix --exit-zero --quiet .
	$(BIN)/ruff format .

types: $(STAMP) ## Check types, strictly
	$(BIN)/mypy brokerlaw tests $(TYPED)

bench: $(STAMP) ## Measure (ARGS=driver picks one benchmark)
	$(BIN)/python -m benchmarks $(or $(ARGS),all)

mutation: $(STAMP) ## Break the reference one token at a time: do the laws notice?
	PATH="$(CURDIR)/$(BIN):$$PATH" tools/mutation $(ARGS)

nightly: $(STAMP) ## The tests at length, then mutation and benchmarks
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest $(SPREAD) $(ARGS)
	$(MAKE) mutation bench ARGS=

java: ## Look for the Java 17 that Spark needs (as root on Debian: install it)
	@tools/java17

build: $(STAMP) ## Build the sdist, and the wheel from it, into dist/
	$(BIN)/python -m build --no-isolation

bundle: $(STAMP) ## Pack brokerlaw, and what it imports on executors, into dist/ for a Spark cluster
	$(BIN)/python tools/bundle.py dist

constraints: ## Renew constraints.txt from the newest versions that pyproject.toml allows
	@tools/constraints "$(PYTHON)" constraints.txt

clean: ## Remove .venv and everything that a run leaves behind
	rm -rf $(VENV) build dist brokerlaw.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
