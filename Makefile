# Each target does all its own set-up: a virtual environment in .venv, made anew when
# pyproject.toml changes and reused otherwise.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := $(VENV)/.demo
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable
RECORDS ?= 100000
TIER ?= all
# One thread for each of pytest's processes: more of them would wait for one another.
TESTS := OMP_NUM_THREADS=1 $(BIN)/pytest -q -n auto --dist worksteal
CODE := conftest.py src tests benchmarks reproductions audits
VECTORS := from numpy._core import _multiarray_umath as c; \
  print(*(name for name in c.__cpu_dispatch__ if c.__cpu_features__[name]))

# Bytecode is kept, whatever the environment says: tests start many processes that import the library.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: audit browser demo docs notebooks package test test-all lint quick machines faults format scale bench utility budgets streams score-coverage descriptions persons oracle goodness coverage reproduce peers peers-ebm peers-utility opacus opendp jax-privacy newcomer clean

demo: $(DEMO)
	@echo "Half a minute..."
	@$(BIN)/python -m discreet demo

# Every test function and every mutant at least once.
test: $(READY) lint
	@echo "Some eight minutes on two quiet cores; make test-all has what is left out here."
	$(TESTS) --tier fast

# All cases; writes tests/durations.txt, from which follows what make test runs. TIER=rest: what make test leaves out.
test-all: $(READY) $(if $(filter all,$(TIER)),lint)
	@echo "Some twenty minutes on two quiet cores; half of it with TIER=rest."
	$(TESTS) --tier $(TIER) --record

lint: $(READY)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/lint-imports --no-cache & imports=$$!; $(BIN)/mypy && wait $$imports

# One room: lint, types, doctests and the fast tier of its tests.
quick: $(READY)
	@test -e src/discreet/$(ROOM) || test -e src/discreet/$(ROOM).py || { echo "make quick ROOM=ledger: name a room of src/discreet"; exit 2; }
	$(BIN)/ruff check $(wildcard src/discreet/$(ROOM) src/discreet/$(ROOM).py tests/$(ROOM) tests/test_$(ROOM).py)
	$(BIN)/mypy
	$(TESTS) --tier fast $(wildcard src/discreet/$(ROOM) src/discreet/$(ROOM).py tests/$(ROOM) tests/test_$(ROOM).py)

format: $(READY)
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

bench: $(READY)
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/fits.py
	$(BIN)/python benchmarks/stream_speed.py
	$(BIN)/python benchmarks/service_load.py

# The site, in docs/site: pages, API reference, proof notes, and the gallery and the notebooks, which
# are run; then a look at it in Chromium, where that is installed.
docs: $(READY)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -j auto docs docs/site
	$(BIN)/pytest -q tests/test_site_browser.py
	@echo "docs/site/index.html"

# The notebooks as files, run anew, with what they print; make docs runs them for the site.
notebooks: $(READY)
	$(BIN)/python docs/notebooks/run.py

# Wheel and source distribution, checked, installed into an empty environment and tried.
package: $(READY)
	$(BIN)/python -m pip install --quiet build twine
	rm -rf dist && $(BIN)/python -m build --outdir dist . && $(BIN)/twine check --strict dist/*
	rm -rf .venv-package && $(PYTHON) -m venv .venv-package && .venv-package/bin/pip install --quiet "$$(ls dist/*.whl)[cli,pandas]"
	.venv-package/bin/discreet --version && .venv-package/bin/python -m discreet demo
	.venv-package/bin/python tests/support/page_code.py README.md

utility: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[dev,bench]'
	$(BIN)/python benchmarks/utility.py
	$(BIN)/python benchmarks/additive.py --ways

budgets: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[dev,bench]'
	$(BIN)/python benchmarks/budgets.py

# Peers of make utility, tuned on the test part: an hour or two; their figures are in peers/utility.json.
peers-utility: $(READY)
	$(BIN)/python benchmarks/peers/tune_peers.py

# The peer of additive models, half an hour; its figures are in peers/ebm.json.
peers-ebm: $(READY)
	$(BIN)/python benchmarks/peers/boost_ebm.py

# What it costs to protect persons and not rows; a quarter of an hour, with assist2015 in ../shared/data if it is there.
persons: $(READY)
	$(BIN)/python benchmarks/persons.py --page docs/several_rows_per_person.md

streams: $(READY)
	$(BIN)/python benchmarks/streams.py

descriptions: $(READY)
	$(BIN)/python benchmarks/descriptions.py

score-coverage: $(READY)
	$(BIN)/python benchmarks/score_coverage.py

reproduce: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[dev,plot]'
	$(BIN)/python -m reproductions

audit: $(READY)
	$(BIN)/python -m audits

# The tests as an old processor computes them, and as a shell runs them in the background:
# without vector instructions and fused products, and with interruptions ignored.
machines: $(READY)
	trap "" INT; OPENBLAS_CORETYPE=Nehalem \
	NPY_DISABLE_CPU_FEATURES="$$($(BIN)/python -c '$(VECTORS)')" \
	GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL \
	$(TESTS)

faults: $(READY)
	DISCREET_KILLS=500 DISCREET_CHARGES=200 $(BIN)/pytest -q tests/ledger/test_killed_fits.py tests/ledger/test_many_processes.py
	DISCREET_LOST_WORKERS=100 $(BIN)/pytest -q tests/estimators/test_cluster.py
	PYTHONPATH=src:tests $(BIN)/python tests/support/engines.py 1000
	PYTHONPATH=src:tests $(BIN)/python tests/support/doors.py $(RECORDS)
	PYTHONPATH=src:tests $(BIN)/python tests/support/refusals.py 100000
	PYTHONPATH=src:tests $(BIN)/python tests/support/lasso_neighbours.py 100000
	PYTHONPATH=src:tests $(BIN)/python tests/support/service_faults.py

# The page of the service, and the site if it is built, in Debian's Chromium, which is installed where that is allowed.
browser: $(READY)
	@command -v chromedriver > /dev/null || test "$$(id -u)" != 0 || { apt-get update -q && apt-get install -qy chromium chromium-driver; }
	$(BIN)/pytest -q tests/service/test_browser.py tests/test_site_browser.py

scale: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[dev,bench]'
	$(BIN)/python benchmarks/scale.py --rows 20000000
	$(BIN)/python benchmarks/cluster.py --peers

goodness: $(READY)
	$(BIN)/python benchmarks/goodness_of_fit.py --draws 1000000000 --law both

# How often confidence intervals cover; some minutes.
coverage: $(READY)
	$(BIN)/python benchmarks/interval_coverage.py --world logistic --draws 400 --many 4000000
	$(BIN)/python benchmarks/interval_coverage.py --world "least squares" --draws 600 --many 4000000 --epsilon 1 3
	$(BIN)/python benchmarks/interval_coverage.py --world counts --draws 200 --epsilon 1 3
	$(BIN)/python benchmarks/interval_coverage.py --world logistic --rows 2000 --draws 150 --epsilon 1 3 8

oracle: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[dev,oracle]'
	$(BIN)/pytest -q -m oracle tests

newcomer:
	$(PYTHON) tests/support/newcomer.py

peers: $(READY)
	$(BIN)/python benchmarks/peers/audit_diffprivlib.py

opacus: $(READY)
	$(BIN)/python benchmarks/peers/time_opacus.py

opendp: $(READY)
	$(BIN)/python benchmarks/peers/quantiles_opendp.py

jax-privacy: $(READY)
	$(BIN)/python benchmarks/peers/factors_jax_privacy.py

$(DEMO): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) for the demo (a minute, once)..."
	@$(INSTALL) '.[cli,plot]'
	@touch $@

$(READY): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) for tests and documentation (two minutes, once)..."
	@$(INSTALL) '.[dev,docs,plot]'
	@touch $@

clean:
	rm -rf $(VENV) benchmarks/peers/.venv benchmarks/peers/.venv-opacus benchmarks/peers/.venv-opendp benchmarks/peers/.venv-utility benchmarks/peers/.venv-ebm benchmarks/peers/.venv-jax-privacy .mypy_cache .pytest_cache .ruff_cache .hypothesis discreet-demo.png discreet-demo-cost.png
