PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
PEERS := .venv-peers
ONLY ?=
# What an older library breaks first: commands and options (typer, rich, click), programs (highspy, scipy, pyomo, SCIP,
# cvxpy), frames (pandas, polars, dask, pyarrow), budgets (scipy, scikit-learn), accounting, parties (mpyc), model files.
LOWEST_TESTS := tests/cli tests/methods tests/solvers tests/test_package.py tests/test_lower_bounds.py \
	tests/tables/test_frames.py tests/tables/test_frames_parts.py tests/tables/test_accounting.py \
	tests/tables/test_parties.py tests/studies/budgets/test_certified.py tests/studies/budgets/test_searches.py tests/studies/classifiers/test_models.py
# Old libraries say that they are old; only errors count here.
OLD_WARNINGS := -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -W ignore::FutureWarning

SPARK := .venv-spark

TOOLCHAINS := .toolchains

.PHONY: demo test toolchains spark lowest lint types contracts report notebooks docs bench packages constants clean

demo: $(VENV)/.installed
	$(BIN)/python -m mechdesign ogpm --eps 2

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n 2

# Tools that only tests of runtimes and packages need, and that npm has; without them those tests are skipped by name.
toolchains:
	npm install --silent --no-save --prefix $(TOOLCHAINS) typescript@5.9.3 prettier@3.10.1 eslint@9.39.5 kotlin-compiler@2.4.20

# Spark brings its own 400 MB, and only these tests need it: the oldest Spark that pyproject.toml allows.
spark: $(SPARK)/.installed
	$(SPARK)/bin/python -m pytest -q -p no:cacheprovider --noconftest tests/tables/test_frames_spark.py

lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -n 2 -m "not slow" $(OLD_WARNINGS) $(LOWEST_TESTS)
	$(LOWEST)/bin/python -m sphinx -q -W -b html docs build/docs-lowest

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

contracts: $(VENV)/.installed-dev
	$(BIN)/lint-imports

notebooks: $(VENV)/.installed-docs
	$(BIN)/python notebooks/execute.py --keep docs/notebooks/pages

docs: $(VENV)/.installed-docs
	rm -rf build/docs
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	$(BIN)/python docs/check_site.py build/docs

# the papers' numbers beside ours, those that are quick: a page
report: $(VENV)/.installed
	rm -rf build/report && mkdir -p build
	$(BIN)/python -m mechdesign reproduce --quick --quiet --out build/report

# writes the page of the site; ONLY="jrr frequency" writes these sections of it
bench: $(VENV)/.installed-test $(PEERS)/.installed
	$(BIN)/python -m benchmarks --page $(if $(ONLY),--only $(ONLY))

packages: $(VENV)/.installed-dev
	$(BIN)/python .ci/packages.py build/packages

constants: $(VENV)/.installed
	$(BIN)/python -m mechdesign constants --out CERTIFIED.md --force

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.installed-test: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@ $(VENV)/.installed-test $(VENV)/.installed

$(VENV)/.installed-docs: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@ $(VENV)/.installed

$(SPARK)/.installed: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv --clear $(SPARK)
	$(SPARK)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-lowest.txt --editable ".[spark]" pytest
	touch $@

$(LOWEST)/.installed: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-lowest.txt --editable ".[test,docs]"
	touch $@

$(PEERS)/.installed: benchmarks/peers/requirements.txt
	$(PYTHON) -m venv --clear $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) $(SPARK) $(PEERS) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
