# `make demo` and `make test` need Python 3.11 or later and nothing else: each sets up what it needs in
# .venv by itself, with the exact versions and hashes of requirements.lock, and does so again only when
# pyproject.toml or the lock has changed.

PYTHON ?= python3
VENV := .venv
LOCK := requirements.lock
# What single commands install, each by itself, with what it depends on: tools.lock has the hashes.
TOOLS := uv==0.13.8 atheris==3.0.0 pip-audit==2.10.1 bump-my-version==1.8.1 cyclonedx-bom==7.5.0 twine==7.0.0
TOOL_LOCK := tools.lock
# Peers that share no environment with anything: AEPsych wants an old NumPy, and PyTorch first.
GPY := numpy==2.4.6 scipy==1.17.1 GPy==1.15.0 questplus==2023.1
TORCH := torch==2.13.0
AEPSYCH := numpy==1.26.4 aepsych==0.8.0

CARD_ARGS ?=
MACHINE ?= raspi3b
DEMO_ARGS ?=
TEST_ARGS ?=
ROOM ?=
STEPS ?=
ARM_ARGS ?=
BENCH_ARGS ?=
COUNT_ARGS ?=
FUZZ_TARGET ?= all
FUZZ_INPUTS ?= 1000000
TARGET ?= all
KILLS ?= 200
CRASH_ARGS ?=
AUDIT_ARGS ?= --strict
ALL ?=
SEEDS ?= 2000
YEARS ?=
FIRST ?= 0
BONE ?=
SBC_ARGS ?=
PART ?= release

BIN := $(VENV)/bin
# The levels, each with everything in the ones before it. The first has no SciPy in it: Numba loads
# SciPy where there is one, and the demonstration shows the memory the device needs.
HOST := $(VENV)/host.txt
TEST := $(VENV)/test.txt
DEV := $(VENV)/dev.txt
DOCS := $(VENV)/docs.txt

.DELETE_ON_ERROR:
.PHONY: help demo kernels test test-all test-arm test-card bench bench-instructions bench-peers aid fuzz sbc soak crash audit image card wheels version release
.PHONY: docs lint lock clean

help: ## say what there is to make
	@sed -n 's/^\([a-z-]*\):.*## /make \1#/p' $(MAKEFILE_LIST) | awk -F '#' '{ printf "%-23s %s\n", $$1, $$2 }'

# The emulated board needs what the tests need.
demo: $(if $(findstring emulated,$(DEMO_ARGS))$(findstring --fit,$(DEMO_ARGS)),set-up-test) kernels ## measure a simulated listener; options in DEMO_ARGS
	$(BIN)/gp-pta demo $(DEMO_ARGS)

# Whoever names what runs the kernels, say GP_PTA_KERNELS=jit for Numba, does not wait for this.
kernels: set-up-host ## make this machine's library of kernels, if it is not there
	@$(if $(GP_PTA_KERNELS),,$(BIN)/python -m device.image.kernels)

# Without the bytecode that pytest keeps, every worker would read and rewrite all tests anew.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest --dist loadgroup -n $$(getconf _NPROCESSORS_ONLN)

# One worker more than processors where many tests wait for a process, a port or a clock.
WORKERS := -n $$(($$(getconf _NPROCESSORS_ONLN) + 1))
# The methods to compare with have no library of kernels: Numba runs them, and their tests are a run of their own.
RESEARCH := tests/host/research
COMPILE_KERNELS := GP_PTA_KERNELS=jit $(BIN)/python -c 'from firmware_py.inference.kernel import prepare; prepare()'

ifeq ($(ROOM),research)
test: set-up-test
	@$(COMPILE_KERNELS)
	GP_PTA_KERNELS=jit $(PYTEST) $(RESEARCH) $(TEST_ARGS)
else
test: set-up-test kernels ## run the quick tests on every processor, or those of a ROOM; options in TEST_ARGS
	@$(if $(ROOM),,$(COMPILE_KERNELS))
	$(PYTEST) $(WORKERS) $(addprefix tests/,$(ROOM)) $(TEST_ARGS)
	$(if $(GP_PTA_KERNELS)$(ROOM)$(TEST_ARGS),,GP_PTA_KERNELS=jit $(PYTEST) --under-numba --ignore $(RESEARCH))
endif

test-all: set-up-test kernels ## run every test, and go on where an earlier run ended; steps in STEPS
	$(BIN)/python -m tests.everything $(STEPS)

test-arm: set-up-test ## run what matters in emulated ARM systems; on Debian, as root or with sudo; options in ARM_ARGS
	tests/arm/run $(ARM_ARGS)

bench: set-up-dev kernels ## run the benchmarks; options in BENCH_ARGS
	$(BIN)/python -m pytest bench --benchmark-enable --benchmark-only --benchmark-sort=name \
	    --benchmark-columns=median,iqr,min,max,rounds $(BENCH_ARGS)

bench-instructions: set-up-dev kernels ## count the instructions of a trial; options in COUNT_ARGS
	GP_PTA_KERNELS=jit $(BIN)/python -m bench.counting.instructions $(COUNT_ARGS)

bench-peers: set-up-dev kernels $(VENV)/gpy.txt $(VENV)/aepsych.txt ## time GPy, questplus and AEPsych; downloads 1.5 GB
	$(BIN)/python -m bench.peers.compare quest_plus=$(VENV)/gpy/bin/python gpy=$(VENV)/gpy/bin/python \
	    aepsych=$(VENV)/aepsych/bin/python

fuzz: set-up-test kernels ## look for input that breaks something; options in FUZZ_TARGET, FUZZ_INPUTS
	$(call install-tool,atheris,$(BIN)/python)
	$(BIN)/python -m tests.fuzz.run $(FUZZ_TARGET) --inputs $(FUZZ_INPUTS)

crash: set-up-test kernels ## kill the firmware at random moments; how often in KILLS, options in CRASH_ARGS
	$(BIN)/python -m tests.firmware.crash --kills $(KILLS) $(CRASH_ARGS)

# In an environment of its own, so that nothing of it is in the others. --strict: a package nobody could
# be asked about is a fault too, and is named.
audit: set-up-created ## ask PyPI whether a locked version has a known hole
	$(PYTHON) -m venv $(VENV)/audit
	$(call install-tool,pip-audit,$(VENV)/audit/bin/python)
	$(VENV)/audit/bin/pip-audit $(AUDIT_ARGS) --disable-pip --require-hashes --requirement $(LOCK)

aid: ## get openMHA, the hearing aid that gp-pta tune plays through; 420 MB, on Debian
	device/hearing_aid/get_openmha.sh

soak: set-up-test kernels ## simulate whole devices to which anything happens; how many in SEEDS, YEARS of a clinic, from FIRST; by bone: BONE=1
	$(BIN)/python -m tests.simulation.soak --seeds $(SEEDS) --first $(FIRST) $(if $(YEARS),--years $(YEARS)) $(if $(BONE),--bone)

sbc: set-up-test kernels ## see whether the posteriors are calibrated; options in SBC_ARGS
	$(BIN)/python -m tests.inference.coverage $(SBC_ARGS)

image: set-up-test ## make images of the firmware without Numba; for one machine: TARGET=aarch64
	@mkdir -p build
	$(BIN)/gp-pta page -o build/operator.html --force
	$(BIN)/python -m device.image.build --target $(TARGET) --page build/operator.html

card: set-up-test ## make the device as one file for a memory card; needs Debian; options in CARD_ARGS
	@mkdir -p build
	$(BIN)/gp-pta page -o build/operator.html --force
	$(BIN)/python -m device.card.build --page build/operator.html $(CARD_ARGS)

test-card: card ## start that card in an emulated Pi and cut its power; ALL=1: all of it, and updates; MACHINE=virt
	$(BIN)/python -m pytest -n 0 tests/card --machine $(MACHINE) $(if $(ALL),,-m every_time) $(TEST_ARGS)

wheels: set-up-test ## make wheels for every machine, in dist, and try the one for this machine
	$(BIN)/python -m device.image.wheels

# What makes a release, in an environment of its own.
RELEASE_TOOLS := bump-my-version cyclonedx-bom twine
$(VENV)/release.txt: $(TOOL_LOCK) $(VENV)/created
	@$(PYTHON) -m venv --clear $(@:.txt=)
	@$(foreach tool,$(RELEASE_TOOLS),$(call install-tool,$(tool),$(@:.txt=)/bin/python) &&) touch $@

version: set-up-release ## write the version of a release, or the next one: PART=minor, PART=patch
	$(VENV)/release/bin/bump-my-version bump --current-version $$($(PYTHON) -c 'import firmware_py as f; print(f.__version__)') $(PART)

release: set-up-docs kernels set-up-release ## make all of a release, check and try it, in dist
	$(BIN)/python -m device.release.build --tools $(VENV)/release/bin

# The index of how easy a file is to maintain goes to 100, by its lines, words, branches and comments.
lint: set-up-dev ## check style, format, types, imports, and how easy a file is to maintain
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/radon mi --show firmware_py device host_tools | awk -F '[()]' ' \
	    $$2 + 0 < 20 { print "allowed is a maintainability of 20 and more: " $$0; low = 1 } \
	    END { exit low || !NR }'
	$(BIN)/mypy

# Every page is read anew, and every example run: a warning that was told once would not be told again.
docs: set-up-docs kernels ## make one site of the pages and the docstrings, in build/docs, with examples that are run
	@rm -rf build/docs build/gallery
	$(BIN)/python -m sphinx --quiet --fresh-env --fail-on-warning -c docs . build/docs
	$(BIN)/python docs/check_site.py build/docs

clean: ## remove what was made here, .venv too
	rm -rf $(VENV) firmware_py/inference/kernels.so build dist .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- .venv -----------------------------------------------------------------------------------------

# Of two that begin at once one sets up, and the other waits; what is done by then is not done again.
UNDER_LOCK := $(PYTHON) -c 'import fcntl, os, sys; here = os.open(".", os.O_RDONLY); \
    os.set_inheritable(here, True); fcntl.flock(here, fcntl.LOCK_EX); os.execvp(sys.argv[1], sys.argv[1:])'

.PHONY: set-up-created set-up-host set-up-test set-up-dev set-up-docs set-up-release
set-up-created:
	@$(UNDER_LOCK) $(MAKE) --silent --no-print-directory $(VENV)/created
set-up-host set-up-test set-up-dev set-up-docs set-up-release:
	@$(UNDER_LOCK) $(MAKE) --silent --no-print-directory $(@:set-up-%=$(VENV)/%.txt)

PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --no-input --no-deps
# Only wheels: what a source archive asks for while it is built is in no lock.
LOCKED := --only-binary :all: --require-hashes
# uv installs in seconds what takes pip a minute.
UV_INSTALL := VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --no-config --system-certs --compile-bytecode --no-deps $(LOCKED)
# Install one of the tools for a Python.
install-tool = awk -v tool='\# tool: $(1)' '/^\# tool/ { wanted = $$0 == tool } wanted' $(TOOL_LOCK) > $(VENV)/$(1).lock && \
    $(2) -m pip install --quiet --disable-pip-version-check --no-input --no-deps $(LOCKED) -r $(VENV)/$(1).lock

# The lock is ordered by level, so a level is its top, down to where the next one begins. The copy
# that was installed stays in .venv as the mark that it was.
$(HOST): LEVEL_END := /^\# level: test/,$$d
$(TEST): LEVEL_END := /^\# level: dev/,$$d
$(DEV): LEVEL_END := /^\# level: docs/,$$d
$(DOCS): LEVEL_END :=

$(HOST): $(VENV)/created pyproject.toml $(LOCK)
$(TEST): $(HOST)
$(DEV): $(TEST)
$(DOCS): $(DEV)

$(HOST) $(TEST) $(DEV) $(DOCS):
	@sed '$(LEVEL_END)' $(LOCK) > $@.part
	@$(UV_INSTALL) -r $@.part || { echo 'uv could not: pip does it, in minutes.'; $(PIP_INSTALL) $(LOCKED) -r $@.part; }
	@$(if $(filter $@,$(HOST)),GP_PTA_KERNELS=jit $(PIP_INSTALL) --quiet --no-build-isolation --editable .)
	@$(if $(filter $@,$(HOST)),$(BIN)/python -m compileall -q firmware_py device host_tools)
	@mv $@.part $@

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo 'gp-pta needs Python 3.11 or later, and "$(PYTHON)" is not that.' \
	        'If there is another: make PYTHON=python3.12 ...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo '"$(PYTHON)" cannot make a virtual environment: its venv or ensurepip module is missing.' \
	        'On Debian and its relatives: apt install python3-venv' >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)
	@$(call install-tool,uv,$(BIN)/python) || echo 'uv cannot be had here: pip sets up, in minutes.'
	@touch $@

# Environments of peers, inside .venv; the index of PyTorch has builds without CUDA.
TORCH_INDEX ?=
$(VENV)/gpy.txt: $(VENV)/created
	$(PYTHON) -m venv --clear $(@:.txt=)
	$(@:.txt=)/bin/python -m pip install --quiet --disable-pip-version-check $(GPY)
	@touch $@

$(VENV)/aepsych.txt: $(VENV)/created
	$(PYTHON) -m venv --clear $(@:.txt=)
	$(@:.txt=)/bin/python -m pip install --quiet --disable-pip-version-check \
	    $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $(TORCH)
	$(@:.txt=)/bin/python -m pip install --quiet --disable-pip-version-check $(AEPSYCH)
	@touch $@

# A .venv whose interpreter has gone is made again.
ifneq ($(shell $(BIN)/python -c 'print(1)' 2>/dev/null),1)
.PHONY: $(VENV)/created
endif

# --- the lock --------------------------------------------------------------------------------------

COMPILE = $(BIN)/uv pip compile --no-config --quiet --system-certs --universal --python-version 3.11 \
    --fork-strategy fewest --generate-hashes --no-header --no-annotate
RESOLVE = $(COMPILE) pyproject.toml $(VENV)/build.in

lock: $(VENV)/created ## find the newest versions pyproject.toml allows and write the lock
	$(BIN)/python -c 'import tomllib; \
	    print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
	    > $(VENV)/build.in
	$(RESOLVE) --upgrade --extra dev --extra docs --output-file $(VENV)/docs.lock
	$(RESOLVE) --upgrade --extra dev --constraints $(VENV)/docs.lock --output-file $(VENV)/dev.lock
	$(RESOLVE) --upgrade --extra test --constraints $(VENV)/docs.lock --output-file $(VENV)/test.lock
	$(RESOLVE) --upgrade --extra host --extra kernels --constraints $(VENV)/docs.lock --output-file $(VENV)/host.lock
	cd $(VENV) && awk ' \
	    FNR == 1 { level = FILENAME; sub(/\.lock$$/, "", level); print "# level: " level } \
	    /^[a-z0-9]/ { wanted = !($$0 in seen); seen[$$0] } \
	    wanted' host.lock test.lock dev.lock docs.lock > lock.part
	{ echo '# Written by "make lock" from pyproject.toml: what "make" installs, each level after the one it'; \
	  echo '# builds on. The first level also has the build backend.'; cat $(VENV)/lock.part; } > $(LOCK)
	{ echo '# Written by "make lock" from the Makefile: what single commands install, each by itself.'; \
	  for tool in $(TOOLS); do echo "# tool: $${tool%%=*}"; echo "$$tool" | $(COMPILE) --upgrade - || exit 1; done; \
	} > $(VENV)/tools.part
	mv $(VENV)/tools.part $(TOOL_LOCK)
