# 'make' lists the targets. A machine needs Python 3.11 to 3.14 and make, nothing else.

PYTHON ?= python3
VENV ?= .venv
# The folder of data sets that are not downloaded, for the tests and the tables; './.ci/run' sets it, too.
ifneq ($(wildcard ../shared/data),)
export BOOSTBENCH_DATA ?= $(abspath ../shared/data)
endif

BIN := $(VENV)/bin
# For OpenMP, OpenBLAS and Accelerate of macOS.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 VECLIB_MAXIMUM_THREADS=1
# Overrides for the targets that run experiments, e.g. make table5 ARGS="profile=quick".
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo dist tables table2 table3 table4 table5 table6 $(addprefix mcboost,1 2 3 4 5 6 7 8) $(addprefix rpboost,4 6 7) figure2 figure3 figure4 figure5 $(addprefix mcfigure,1 2 3 4) report docs bench test coverage test-kernels test-oldest verify lint format clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1|/' \
	  | while IFS='|' read -r target text; do printf '  make %-12s %s\n' "$$target" "$$text"; done

demo: $(VENV)/installed-plots ## a part of a table and its picture, without a download
	$(BIN)/boostbench table demo results=demo $(ARGS)
	$(BIN)/boostbench figure demo results=demo

table2: $(VENV)/installed ## Table II of RandomBoost: toy data; runs missing fits
table3: $(VENV)/installed ## Table III: totally corrective against stage-wise RBoost^rank
table4: $(VENV)/installed ## Table IV: two classes, after 50, 100 and 1000 rounds
table5: $(VENV)/installed ## Table V: six algorithms on multi-class data; takes hours
table6: $(VENV)/installed ## Table VI: linear discriminants as weak learners
table2 table3 table4 table5 table6:
	$(BIN)/boostbench table randomboost$(@:table%=%) $(ARGS)

mcboost1: $(VENV)/installed ## Table I of MCBoost: nu, both losses; 50 splits each
mcboost2: $(VENV)/installed ## Table II: shrinkage eta
mcboost3: $(VENV)/installed ## Table III: letter by number of classes and of samples
mcboost4: $(VENV)/installed ## Table IV: CPU time of step 4 against MultiBoost
mcboost5: $(VENV)/installed ## Table V: eight algorithms on multi-class data; takes hours
mcboost6: $(VENV)/installed ## Table VI: time of predictions
mcboost7: $(VENV)/installed ## Table VII: MNIST by histograms of gradients
mcboost8: $(VENV)/installed ## Table VIII: 15 scenes; the features are our own
mcboost1 mcboost2 mcboost3 mcboost4 mcboost5 mcboost6 mcboost7 mcboost8:
	$(BIN)/boostbench table $@ $(ARGS)

rpboost4: $(VENV)/installed ## Table 12.4 of RpBoost: test patterns; 3 CPU minutes
rpboost6: $(VENV)/installed ## Table 12.6: UCI data; 20 CPU minutes
rpboost7: $(VENV)/installed ## Table 12.7: the best of all
rpboost4 rpboost6 rpboost7:
	$(BIN)/boostbench table rpboost12.$(@:rpboost%=%) $(ARGS)

figure2: $(VENV)/installed-plots ## Fig. 2 of RandomBoost: boundaries in two planes
figure3: $(VENV)/installed-plots ## Fig. 3: boundaries of six algorithms on toy data
figure4: $(VENV)/installed-plots ## Fig. 4: error curves of table5
figure5: $(VENV)/installed-plots ## Fig. 5: errors on MNIST, of randomboost_mnist
figure2 figure3 figure4 figure5:
	$(BIN)/boostbench figure randomboost$(@:figure%=%) $(ARGS)

mcfigure1: $(VENV)/installed-plots ## Fig. 1 of MCBoost: coefficient paths, exact and stage-wise
mcfigure2: $(VENV)/installed-plots ## Fig. 2: CPU time of step 4, of mcboost3
mcfigure3: $(VENV)/installed-plots ## Fig. 3: error curves of mcboost5
mcfigure4: $(VENV)/installed-plots ## Fig. 4: error curves of mcboost8
mcfigure1 mcfigure2 mcfigure3 mcfigure4:
	$(BIN)/boostbench figure $(@:mcfigure%=mcboost%) $(ARGS)

tables: $(VENV)/installed-tables ## all tables and figures; shows the remaining CPU hours
	$(BIN)/python scripts/tables.py $(ARGS)

report: $(VENV)/installed-plots ## all results on one page, results/report.html
	$(BIN)/boostbench report $(ARGS)

docs: $(VENV)/installed-docs ## the site in docs/_build/html, with examples and results
	env $(ONE_THREAD) $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet \
	  --conf-dir docs --doctree-dir docs/_build/doctrees . docs/_build/html
	env $(ONE_THREAD) $(BIN)/boostbench report
	cp results/report.html docs/_build/html/results/report.html
	@echo "written: docs/_build/html/index.html"

bench: $(VENV)/installed-bench ## speed as ratios, one core; needs the papers' data
	$(BIN)/python scripts/bench_rounds.py
	$(BIN)/python scripts/bench_projections.py
	$(BIN)/python scripts/bench_peers.py
	$(BIN)/python scripts/bench_small.py
	$(BIN)/python scripts/bench_coefficients.py
	$(BIN)/python scripts/bench_rpboost.py
	$(BIN)/python scripts/bench_predictions.py
	$(BIN)/python scripts/bench_kernel_ensembles.py --largest
	$(BIN)/python scripts/bench_lpboost.py --largest
	$(BIN)/python scripts/bench_lp_family.py --largest
	$(BIN)/python scripts/bench_ladder.py --largest
	$(BIN)/python scripts/bench_scaling.py --largest
	$(BIN)/python scripts/bench_large.py

# One process per core and one thread per process.
test: lint ## install, lint, run all tests
	env -u PYTHONDONTWRITEBYTECODE $(ONE_THREAD) \
	  $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal

coverage: $(VENV)/installed-dev ## the share of lines that the tests run
	env $(ONE_THREAD) $(BIN)/python -m coverage run -m pytest --numprocesses=auto --dist=worksteal
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

test-kernels: $(VENV)/installed-dev ## the numeric tests with the kernels of other processors
	scripts/test_kernels.sh $(BIN)/python

test-oldest: ## the tests with the lowest versions of all libraries
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --constraint tests/oldest.txt --editable '.[dev]'
	env $(ONE_THREAD) \
	  .venv-oldest/bin/python -m pytest --numprocesses=auto --dist=worksteal

dist: $(VENV)/installed ## a wheel, an sdist and the results, checked and installed
	rm -rf dist
	$(BIN)/python -m pip install --quiet build twine
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv --clear dist/venv
	dist/venv/bin/python -m pip install --quiet dist/*.whl
	$(BIN)/boostbench results pack dist/results-$$($(BIN)/boostbench --version | cut -d' ' -f2).tar
	cd dist && venv/bin/boostbench run data=wine algo=mcboost results=try
	cd dist/try && BOOSTBENCH_INSTALLED=installed ../venv/bin/boostbench results install ../results-*.tar && \
	  BOOSTBENCH_INSTALLED=installed ../venv/bin/boostbench check demo
	rm -rf dist/venv dist/try

lint: $(VENV)/installed-dev ## check style, formatting and language
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/check_language.py

format: $(VENV)/installed-dev ## correct style and formatting
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Continuous integration runs this after the tests: published numbers, fitted again.
verify: $(VENV)/installed ## two minutes of refits: does the code give the records?
	env $(ONE_THREAD) $(BIN)/boostbench verify --budget 2m $(ARGS)

clean: ## remove the virtual environment and caches, not results
	rm -rf $(VENV) .venv-oldest .pytest_cache .ruff_cache
	rm -rf docs/_build docs/generated
	find . -name __pycache__ -prune -exec rm -rf {} +

# Stamps: installed again whenever the dependencies change.
$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-plots: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[plots]'
	@touch $@ $(VENV)/installed

# Some tables need descriptors of images.
$(VENV)/installed-tables: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[plots,images]'
	@touch $@ $(VENV)/installed $(VENV)/installed-plots

$(VENV)/installed-bench: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@ $(VENV)/installed

$(VENV)/installed-docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@ $(VENV)/installed

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/installed

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' \
	  || { echo "boostbench needs Python 3.11 to 3.14; name one: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
