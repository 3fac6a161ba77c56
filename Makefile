# Every target sets up what it needs in .venv; only Python (3.10 or newer) and make must be there.

PYTHON ?= python3
VENV ?= .venv
LOWEST ?= .venv-lowest
JOBS ?= 2

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test test-all test-lowest regimes bench lint format clean

help:
	@echo "make demo    two mechanisms fall and settle: demo.html plays it"
	@echo "make test    style, tests, and the uncompiled tests"
	@echo "make test-all  the slow tests too, as continuous integration does"
	@echo "make test-lowest  a short test of each dependency, with the lowest versions that are allowed"
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

# uv chooses the lowest versions; it is installed there, too.
test-lowest:
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
		--editable '.[test]'
	$(LOWEST)/bin/uv pip list --python $(LOWEST)/bin/python
	$(LOWEST)/bin/python -m pytest -p no:cacheprovider tests/test_dependencies.py tests/test_extras.py

regimes: $(VENV)/.test
	DELASSUS_REGIMES=large $(BIN)/pytest -n $(JOBS) tests/regimes

lint: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: $(VENV)/.test
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) $(LOWEST) bench-results demo.html dist build .pytest_cache .ruff_cache .hypothesis
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
