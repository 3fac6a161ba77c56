# Every target sets up what it needs in .venv; only Python (3.10 or newer) and make must be there.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test test-all regimes bench lint format clean

help:
	@echo "make demo    two mechanisms fall and settle: demo.html plays it"
	@echo "make test    style, tests, and the uncompiled tests"
	@echo "make test-all  the slow tests too, as continuous integration does"
	@echo "make regimes  many generated cases of scales, spins, ranks and damaged files: an hour or more"
	@echo "make bench   all benchmarks, into bench-results/"
	@echo "make lint    only the style checks"
	@echo "make format  bring the sources into style"
	@echo "make clean   remove .venv and everything that was generated"

demo: $(VENV)/.bench
	@$(BIN)/delassus demo

bench: $(VENV)/.bench
	$(BIN)/delassus bench

test: lint
	$(BIN)/pytest -n $(JOBS) -m "not slow"
	DELASSUS_COMPILE=0 $(BIN)/pytest -n $(JOBS) -m "uncompiled and not slow"

test-all: test
	$(BIN)/pytest -n $(JOBS) -m slow

regimes: $(VENV)/.test
	DELASSUS_REGIMES=large $(BIN)/pytest -n $(JOBS) tests/regimes

lint: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: $(VENV)/.test
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) bench-results demo.html dist build .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	@echo "installing into $(VENV) ..."
	@$(PIP) --editable '.[bench]'
	@touch $@

# What tests need includes what benchmarks need.
$(VENV)/.test: pyproject.toml | $(BIN)/python
	@echo "installing into $(VENV) ..."
	@$(PIP) --editable '.[test]'
	@touch $(VENV)/.bench $@
