# Two commands on a fresh machine with Python and make: `make train` and `make test`. Both set everything up
# first, and the second time that costs a fraction of a second.

VENV := .venv
PY := $(VENV)/bin/python
# Written last, so that an interrupted set-up is taken up again. Holds the folder it was made in: a copied or
# moved environment still points at the old one.
STAMP := $(VENV)/.installed
ARGS ?=

export PIP_DISABLE_PIP_VERSION_CHECK := 1

VERSION_OF := -c 'import sys; print(sys.version)'
CANDIDATES := $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python3.10 python)
SUPPORTED := -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 14))'

# "ok" if the environment starts, belongs to this folder, and is of the PYTHON asked for, if one was.
STATE := $(shell test "$$(cat $(STAMP) 2>/dev/null)" = "$(CURDIR)" && $(PY) -c 'import pip' 2>/dev/null \
	$(if $(PYTHON),&& test "$$($(PYTHON) $(VERSION_OF) 2>/dev/null)" = "$$($(PY) $(VERSION_OF))") && echo ok)

.DEFAULT_GOAL := help
.PHONY: help setup train test test-all check bench clean FORCE

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo '  ARGS="..." is handed on to the command; PYTHON=... chooses the interpreter of the environment.'

setup: $(STAMP) ## Python environment in .venv, and Pokémon Showdown in its cache folder
	@$(PY) -m elitefurretai install

train: setup ## set up, then run the main job
	$(PY) -m elitefurretai demo $(ARGS)

test: setup check ## set up, check, then run the tests
	$(PY) -m pytest $(ARGS)

test-all: setup check ## the same with the slow tests
	$(PY) -m pytest -m "" $(ARGS)

check: $(STAMP) ## lint, format, types, directions of imports
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy elitefurretai $(wildcard benchmarks)
	$(PY) -m pytest -q unit_tests/test_imports.py

bench: setup ## our speed against that of others: one JSON object, also in benchmarks/results.json
	@$(PY) -m benchmarks $(ARGS)

clean: ## remove the environment and what tools left behind (not checkpoints, not the Showdown cache)
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage htmlcov
	find elitefurretai unit_tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

ifneq ($(STATE),ok)
$(STAMP): FORCE
endif

# An environment that is there but does not work (interrupted, another Python, a moved folder) is made anew.
$(STAMP): setup.cfg pyproject.toml constraints.txt
	@if [ "$(STATE)" != ok ]; then \
		python=; \
		for candidate in $(CANDIDATES); do \
			if $$candidate $(SUPPORTED) 2>/dev/null; then python=$$candidate; break; fi; \
		done; \
		if [ -z "$$python" ]; then \
			echo "error: no Python 3.10 to 3.13 found (tried: $(CANDIDATES)); install one, or name it: make setup PYTHON=/path/to/python3.12" >&2; \
			exit 2; \
		fi; \
		echo "making $(VENV) with $$($$python --version)"; \
		rm -rf $(VENV); \
		if ! $$python -m venv $(VENV); then \
			rm -rf $(VENV); \
			echo "error: $$python cannot make a virtual environment; install its venv module (on Debian and Ubuntu: apt install python3-venv) and run make again" >&2; \
			exit 2; \
		fi; \
	fi
	$(PY) -m pip install -c constraints.txt -e '.[dev]'
	@printf '%s' "$(CURDIR)" > $@
