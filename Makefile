# make demo | test | test-slow | test-all | test-nightly | test-machines | fuzz | sanitize | mutants | lint | explorer | bench | docs: each creates .venv with pinned dependencies first, and does nothing twice.
# On Linux, torch comes with CUDA unless pip is pointed at PyTorch's index of CPU builds.

PYTHON ?= python3
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq install --no-compile --constraint constraints.txt
NATIVE := $(wildcard native/CMakeLists.txt native/*.cpp native/*/*.cpp native/*/*.hpp)
# What builds both distributions; cmake only where the system has none. From this version on pip knows dependency groups.
BUILD := "pip>=25.1" hatchling scikit-build-core nanobind ninja $(shell command -v cmake >/dev/null || echo cmake)
# Where the system has no C++ compiler, that of the package index serves (clang, 100 MB; it takes three times as long).
ifeq ($(shell command -v c++ || command -v g++ || command -v clang++),)
BUILD += ziglang
ZIG := $(addprefix $(BIN)/zig-,cc c++ ar ranlib)
export CC := $(CURDIR)/$(BIN)/zig-cc
export CXX := $(CURDIR)/$(BIN)/zig-c++
export CMAKE_ARGS := -DCMAKE_AR=$(CURDIR)/$(BIN)/zig-ar -DCMAKE_RANLIB=$(CURDIR)/$(BIN)/zig-ranlib
endif

# Modules are compiled once and kept, whatever the environment says: tests and processes that they start would compile all
# they import each time, PyTorch included.
export PYTHONDONTWRITEBYTECODE :=

# Three tiers of tests, of five, twenty and ninety minutes on two cores; CONTRIBUTING.md says which holds what.
.PHONY: demo test test-slow test-all test-nightly test-machines fuzz sanitize mutants lint lint-explorer explorer bench docs clean
.DELETE_ON_ERROR:

demo: $(VENV)/.installed $(VENV)/.kernels
	$(BIN)/reluscope demo

test: $(VENV)/.installed-dev $(VENV)/.kernels
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --hypothesis-profile ci

# What test-all has besides; .ci/run has both, one after the other.
test-slow: $(VENV)/.installed-dev $(VENV)/.kernels
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --hypothesis-profile ci -m "slow and not nightly"

test-all: $(VENV)/.installed-dev $(VENV)/.installed-docs $(VENV)/.kernels
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --hypothesis-profile ci -m "not nightly"

# The sample that this tier looks at changes with the date; make test-nightly SEED=20270131 repeats one, and
# NIGHTLY="--only examples fuzzer" runs some of its parts.
SEED ?= $(shell date +%Y%m%d)
test-nightly: $(VENV)/.installed-dev $(VENV)/.kernels
	OMP_NUM_THREADS=1 $(BIN)/python tests/nightly.py --seed $(SEED) --workers $(WORKERS) $(NIGHTLY)

# The tests as other processors, users and countries see them: make test-machines MACHINES="--combined"
test-machines: $(VENV)/.installed-dev $(VENV)/.kernels
	PYTHONPATH=tests $(BIN)/python -m machines $(MACHINES)

# Random networks and questions against an oracle in fractions: make fuzz FUZZ="--cases 10000 --kinds properties --seed 7"
FUZZ ?= --seconds 600 --jobs $(WORKERS)
fuzz: $(VENV)/.installed-dev $(VENV)/.kernels
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python -m fuzzer $(FUZZ)

# The tests of the kernels on kernels that check every access to memory (g++ or clang, Linux).
sanitize: $(VENV)/.installed-dev $(VENV)/.kernels
	$(BIN)/python tests/sanitized.py

# Small faults planted one at a time in a copy, to see whether tests notice: make mutants MUTANTS="--sample 50 --seed 1"
mutants: $(VENV)/.installed-dev $(VENV)/.kernels
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python -m mutants $(MUTANTS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory lint-explorer; \
	  else echo "There is no npm: the explorer's JavaScript was not looked at."; fi

# Only whoever changes src/reluscope/explorer/web needs node: what it makes is kept in the repository.
explorer: node_modules/.installed
	node scripts/bundle_explorer.js

lint-explorer: node_modules/.installed
	npm run --silent lint
	npm run --silent check
	npm test --silent

node_modules/.installed: package.json package-lock.json
	npm ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@

bench: $(VENV)/.installed-dev $(VENV)/.kernels
	@if [ -f benchmarks/__main__.py ]; then $(BIN)/python -m benchmarks; else echo "There are no benchmarks yet."; fi

# The site, in docs/_build/html. Scripts that have not changed are not run again, unless the library has.
docs: $(VENV)/.installed-docs $(VENV)/.kernels
	@echo "Building the site; the first time its scripts are run, which takes about two minutes."
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --jobs $(WORKERS) \
	  --doctree-dir docs/_build/doctrees docs docs/_build/html
	@echo "The site is docs/_build/html/index.html."

# The kernels are compiled in place, beside their sources.
clean:
	rm -rf $(VENV) node_modules build dist docs/_build docs/auto docs/project docs/reference src/reluscope/_kernels.*[!i] \
	  $(addprefix native/,CMakeCache.txt CMakeFiles cmake_install.cmake build.ninja .ninja_deps .ninja_log .skbuild-info.json .cmake *.a)

# Stamps: an environment is brought up to date when the lists of dependencies change, and at no other time.
# Build backends come first and pinned, because both distributions are installed without build isolation, studies/ with
# the other one, which it asks for by version.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "reluscope needs Python 3.11 or newer; $(PYTHON) is older: run make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# CMake calls tools by one name each. For any processor of the kind, as other compilers do.
$(BIN)/zig-%: $(VENV)/.created
	@printf '#!/bin/sh\nexec "%s" -m ziglang %s "$$@"\n' "$(CURDIR)/$(BIN)/python" \
	  "$*$(if $(filter c%,$*), -mcpu=baseline)" >$@
	@chmod +x $@

$(VENV)/.installed: $(VENV)/.created $(ZIG) pyproject.toml studies/pyproject.toml constraints.txt
	@echo "Installing pinned dependencies into $(VENV); the first time takes some minutes."
	@$(PIP) $(BUILD)
	@$(PIP) --no-build-isolation --editable '.[onnx]' --editable studies
	@touch $@ $(VENV)/.kernels

# Everything at once: finding out what fits together takes a while each time.
$(VENV)/.installed-dev: $(VENV)/.created $(ZIG) pyproject.toml studies/pyproject.toml constraints.txt
	@echo "Installing pinned dependencies and tools into $(VENV); the first time takes some minutes."
	@$(PIP) $(BUILD)
	@$(PIP) --no-build-isolation --editable '.[onnx,plotly,dask]' --editable studies --group dev
	@touch $(VENV)/.installed $@ $(VENV)/.kernels

$(VENV)/.installed-docs: $(VENV)/.created pyproject.toml studies/pyproject.toml constraints.txt
	@echo "Installing what makes the site into $(VENV)."
	@$(PIP) $(BUILD)
	@$(PIP) --no-build-isolation --editable '.[docs]' --editable studies
	@touch $(VENV)/.installed $@ $(VENV)/.kernels

# Compiled again when their source has changed.
$(VENV)/.kernels: $(NATIVE) $(ZIG)
	@echo "Compiling the kernels in native/."
	@$(PIP) --no-build-isolation --no-deps --editable .
	@touch $@
