# Two commands do everything on a fresh machine that has Python >= 3.11 and make:
#   make demo   set up, then train and show a tree on the bundled Adult data
#   make test   set up, then lint, type-check and run the whole test suite
# Also: make check (lint and types only), make bench (speed, as ratios to peers), make clean.

CANDIDATES := python3.11 python3.12 python3.13 python3.14 python3
PYTHON ?= $(shell for p in $(CANDIDATES); do $$p -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin

.PHONY: demo test check bench clean

demo: .venv/.installed
	@echo "Training: the first time, some seconds go into compiling."
	@$(BIN)/privatree demo

test: check
	$(BIN)/python -m pytest -n 2

check: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.installed-dev
	$(BIN)/python benchmarks/paper_tree_speed.py
	$(BIN)/python benchmarks/predict_speed.py
	$(BIN)/python benchmarks/latency.py

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "privatree needs Python >= 3.11 with venv; set PYTHON=/path/to/python"; exit 2; }
	@echo "Setting up .venv: this takes a minute."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --upgrade pip

.venv/.installed: pyproject.toml | .venv/bin/python
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/.installed-dev: pyproject.toml | .venv/bin/python
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ .venv/.installed

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache build dist
