# Two commands do everything on a fresh machine that has Python >= 3.11 and make:
#   make demo   set up, then train and show a tree on the bundled Adult data
#   make test   set up, then lint, type-check and run the whole test suite
#   make quick  lint, types and the fast part of the tests, in less than a minute
# Also: make check (make lint, types, layers and spelling), make coverage, make stress (all tests
# twice, in random order on a busy machine), make compat (what touches pandas, with pandas 2.2),
# make oldest (the fast tests with the oldest dependencies), make docs (the site, in build/site),
# make tables (the figures of benchmarks/results into docs), make wheel (in dist), make lock (new
# versions in requirements) and make clean. CONSTRAINTS=requirements/dev.txt installs the versions
# that continuous integration has; otherwise the newest are taken.
# In an environment of its own, because diffprivlib needs an older scikit-learn:
#   make reproduce   the paper's tables and figures on the bundled data (TARGET=all DATA=dir for more)
#   make bench       our version of diffprivlib's tree against the real one, and speed, as ratios to
#                    peers (DATA=dir for more datasets)

CANDIDATES := python3.11 python3.12 python3.13 python3.14 python3
PYTHON ?= $(shell for p in $(CANDIDATES); do $$p -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := .venv/$(SCRIPTS)
BENCH := .venv-bench/$(SCRIPTS)
COMPAT := .venv-compat/$(SCRIPTS)
OLDEST := .venv-oldest/$(SCRIPTS)
INSTALL := -m pip install --quiet $(addprefix --constraint ,$(CONSTRAINTS))
COMPILE := -m uv pip compile pyproject.toml --extra dev --python-version 3.11 --no-annotate --quiet \
	--custom-compile-command "make lock" --upgrade

.PHONY: demo test quick fast coverage stress check lint types layers spelling compat oldest docs tables \
	wheel lock reproduce bench clean

demo: .venv/.installed
	@$(BIN)/privatree demo

test: check
	$(BIN)/python -m pytest -n 2 --dist worksteal

quick: lint
	@$(MAKE) --no-print-directory -j 2 types fast

fast: .venv/.installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" --durations=3

# Six busy loops compete with the tests; they end with the target, and by themselves after two hours.
stress: .venv/.installed-dev
	@for i in 1 2 3 4 5 6; do timeout 7200 $(BIN)/python -c 'while True: pass' & loops="$$loops $$!"; done; \
	trap 'kill $$loops' EXIT; trap 'exit 130' INT TERM; \
	for seed in $(or $(SEEDS),1 2); do \
		$(BIN)/python -m pytest -n 2 --dist worksteal --random-order --random-order-seed=$$seed $(TESTS) || exit; \
	done

# Not seen: what tests start in processes of their own. Left out: compiled kernels (pyproject.toml).
coverage: .venv/.installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report term

check: lint types layers spelling

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.installed-dev
	$(BIN)/mypy

layers: .venv/.installed-dev
	$(BIN)/lint-imports --no-cache --no-logo

spelling: .venv/.installed-dev
	$(BIN)/codespell

docs: .venv/.installed-dev
	$(BIN)/mkdocs build --strict

tables: .venv/.installed-dev
	$(BIN)/python scripts/benchmark_tables.py

wheel: .venv/pyvenv.cfg
	@$(BIN)/python $(INSTALL) build
	$(BIN)/python -m build --outdir dist .

# dev.txt: the newest of everything, for every Python and system. oldest.txt: the lower bounds.
lock: .venv/pyvenv.cfg
	@$(BIN)/python -m pip install --quiet --upgrade uv
	$(BIN)/python $(COMPILE) --universal --output-file requirements/dev.txt
	$(BIN)/python $(COMPILE) --resolution lowest-direct --output-file requirements/oldest.txt

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

# Old versions use what newer ones of their own dependencies call deprecated: that is not ours to see.
oldest: .venv-oldest/.installed
	$(OLDEST)/python -m pytest -n 2 --dist worksteal -m "not slow" \
		-W ignore::DeprecationWarning -W ignore::FutureWarning

.venv/pyvenv.cfg .venv-bench/pyvenv.cfg .venv-compat/pyvenv.cfg .venv-oldest/pyvenv.cfg:
	@test -n "$(PYTHON)" || { echo "privatree needs Python >= 3.11 with venv; set PYTHON=/path/to/python"; exit 2; }
	@echo "Setting up $(@D): this takes a minute."
	@$(PYTHON) -m venv $(@D)
	@$(@D)/$(SCRIPTS)/python -m pip install --quiet --upgrade pip

.venv/.installed: pyproject.toml | .venv/pyvenv.cfg
	@$(BIN)/python $(INSTALL) --editable '.[cli]'
	@touch $@

.venv/.installed-dev: pyproject.toml | .venv/pyvenv.cfg
	@$(BIN)/python $(INSTALL) --editable '.[dev]'
	@$(BIN)/privatree demo --report .venv/demo.html >.venv/demo.txt
	@touch $@ .venv/.installed

.venv-bench/.installed: pyproject.toml | .venv-bench/pyvenv.cfg
	@$(BENCH)/python $(INSTALL) --editable '.[bench]'
	@touch $@

.venv-compat/.installed: pyproject.toml | .venv-compat/pyvenv.cfg
	@$(COMPAT)/python $(INSTALL) --editable '.[dev]' 'pandas==2.2.*'
	@touch $@

.venv-oldest/.installed: pyproject.toml requirements/oldest.txt | .venv-oldest/pyvenv.cfg
	@$(OLDEST)/python -m pip install --quiet --constraint requirements/oldest.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv .venv-bench .venv-compat .venv-oldest .mypy_cache .pytest_cache .ruff_cache build dist
