# Two commands do everything on a fresh machine that has Python >= 3.11 and make:
#   make demo   set up, then train and show a tree on the bundled Adult data
#   make test   set up, then lint, type-check and run the whole test suite
#   make quick  the fast part of the tests, in less than a minute
# Also: make check (lint and types only), make stress (all tests twice, in random order on a busy
# machine), make compat (what touches pandas, with pandas 2.2), make docs (the site, in build/site)
# and make clean; and in an environment of its own, because diffprivlib needs an older scikit-learn:
#   make reproduce   the paper's tables and figures on the bundled data (TARGET=all DATA=dir for more)
#   make bench       our version of diffprivlib's tree against the real one, and speed, as ratios to
#                    peers (DATA=dir for more datasets)

CANDIDATES := python3.11 python3.12 python3.13 python3.14 python3
PYTHON ?= $(shell for p in $(CANDIDATES); do $$p -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
BENCH := .venv-bench/bin
COMPAT := .venv-compat/bin

.PHONY: demo test quick stress check compat docs reproduce bench clean

demo: .venv/.installed
	@$(BIN)/privatree demo

test: check
	$(BIN)/python -m pytest -n 2 --dist worksteal

quick: .venv/.installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" --durations=3

# Six busy loops compete with the tests; they end with the target, and by themselves after two hours.
stress: .venv/.installed-dev
	@for i in 1 2 3 4 5 6; do timeout 7200 $(BIN)/python -c 'while True: pass' & loops="$$loops $$!"; done; \
	trap 'kill $$loops' EXIT; trap 'exit 130' INT TERM; \
	for seed in $(or $(SEEDS),1 2); do \
		$(BIN)/python -m pytest -n 2 --dist worksteal --random-order --random-order-seed=$$seed $(TESTS) || exit; \
	done

check: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

docs: .venv/.installed-dev
	$(BIN)/mkdocs build --strict

reproduce: .venv-bench/.installed
	$(BENCH)/privatree reproduce $(or $(TARGET),accuracy) $(if $(DATA),--data-dir $(DATA),--suite uci) -o $(or $(OUT),reproduction)

bench: .venv-bench/.installed
	$(BENCH)/python -m pytest tests/baselines/methods
	$(BENCH)/python benchmarks/random_tree_law.py
	$(BENCH)/python benchmarks/paper_tree_speed.py
	$(BENCH)/python benchmarks/predict_speed.py
	$(BENCH)/python benchmarks/latency.py
	$(BENCH)/python benchmarks/speed.py $(if $(DATA),--data-dir $(DATA))

# What needs the newest of everything is left out: the site, and what pages show.
compat: .venv-compat/.installed
	$(COMPAT)/python -m pytest -n 2 --dist worksteal --ignore tests/contract/test_docs.py \
		--ignore tests/report --ignore tests/statistical --ignore tests/mutants

.venv/bin/python .venv-bench/bin/python .venv-compat/bin/python:
	@test -n "$(PYTHON)" || { echo "privatree needs Python >= 3.11 with venv; set PYTHON=/path/to/python"; exit 2; }
	@echo "Setting up $(@:/bin/python=): this takes a minute."
	@$(PYTHON) -m venv $(@:/bin/python=)
	@$@ -m pip install --quiet --upgrade pip

.venv/.installed: pyproject.toml | .venv/bin/python
	@$(BIN)/python -m pip install --quiet --editable '.[cli]'
	@touch $@

.venv/.installed-dev: pyproject.toml | .venv/bin/python
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@$(BIN)/privatree demo --report /dev/null >/dev/null
	@touch $@ .venv/.installed

.venv-bench/.installed: pyproject.toml | .venv-bench/bin/python
	@$(BENCH)/python -m pip install --quiet --editable '.[bench]'
	@touch $@

.venv-compat/.installed: pyproject.toml | .venv-compat/bin/python
	@$(COMPAT)/python -m pip install --quiet --editable '.[dev]' 'pandas==2.2.*'
	@touch $@

clean:
	rm -rf .venv .venv-bench .venv-compat .mypy_cache .pytest_cache .ruff_cache build dist
