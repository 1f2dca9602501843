# SPDX-License-Identifier: BSD-3-Clause
# The targets that people call. All results are in build/; CMakePresets.json says what each folder there is for.
.DEFAULT_GOAL := help
.PHONY: help demo build test test-all test-busy fuzz bench bench-peers check docs install uninstall deb clean
MAKEFLAGS += --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
PACKAGES := @cmake/install_packages.sh
PHASE := @cmake/phase.sh

MPIS := openmpi mpich
BEDS := $(MPIS) simulated
SANITIZED := asan tsan
TESTED := command $(MPIS)
ALL_TESTED := command $(BEDS) $(SANITIZED) fuzz

# $(call configure,PRESET,OPTIONS) and $(call compile,PRESET). Tests are left out of a folder until a target needs them.
configure = mkdir -p build; cmake --preset $(1) -DSLUICE_PEERS=$(PEERS) $(2) >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
with_tests = -DSLUICE_TESTS=ON -DSLUICE_LONG_TESTS=$(LONG_TESTS)
LONG_TESTS ?= ON
# ON: also the benchmark programs that compare with other libraries, of those that are found; REQUIRED: of all of them.
PEERS ?= OFF
without_tests = $$([ -e build/$(1)/CMakeCache.txt ] || echo -DSLUICE_TESTS=OFF)
# All errors of a build are shown, not only the first.
compile = cmake --build build/$(1) -j $(JOBS) $(if $(filter-out undefined,$(origin VERBOSE)),--verbose) -- -k 0

help: ## Says what can be made
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

demo: ## Runs the main jobs: the coastlines of the world in place under a memory limit, a relaxation's memory two ways, a solver by FFTs that fits in place, hpcc under sluice run, an exchange over a wire that is hidden, and a flood that is bounded
	$(PACKAGES) build demo
	for folder in command openmpi; do $(call configure,$$folder,$(call without_tests,$$folder)); $(call compile,$$folder); done
	status=0
	examples/coastline/demo.sh build/demo || status=$$?
	examples/jacobi3d/demo.sh build/demo || status=$$?
	examples/fft3d/demo.sh build/demo || status=$$?
	examples/hpcc/demo.sh build/demo || status=$$?
	examples/planes/demo.sh || status=$$?
	examples/bands/demo.sh build/demo || status=$$?
	exit $$status

build: ## Builds the command and the libraries for Open MPI, MPICH and the simulator
	$(PACKAGES) build
	for folder in command $(BEDS); do
	    echo "== build/$$folder"
	    $(call configure,$$folder,$(call without_tests,$$folder))
	    $(call compile,$$folder)
	done

built-in-%:
	@$(call configure,$*,-DSLUICE_TESTS=OFF)
	$(call compile,$*)

tests-configured-in-%:
	@$(call configure,$*,$(with_tests))

tests-built-in-%:
	@$(call configure,$*,$(with_tests))
	$(call compile,$*)

# $(call build_tests,FOLDERS,VARIABLES OF MAKE)
define build_tests
$(PACKAGES) build demo test docs $(if $(filter asan fuzz,$(1)),check) $(if $(filter PEERS=ON PEERS=REQUIRED,$(2)),peer)
@mkdir -p build
cmake/phase.sh "configure" $(MAKE) -j $(JOBS) $(addprefix tests-configured-in-,$(1)) $(2)
for folder in $(1); do
    cmake/phase.sh "build $$folder" $(MAKE) tests-built-in-$$folder $(2)
done
endef

test: ## Builds Sluice with both MPIs and tests it: trust in a build in some minutes
	$(call build_tests,$(TESTED),LONG_TESTS=OFF)
	JOBS=$(JOBS) cmake/run_tests.sh quick $(TESTED)

test-all: ## All tests, those of make test among them: also the simulator, sanitizers, and what takes long
	$(call build_tests,$(ALL_TESTED),PEERS=$(PEERS:OFF=ON))
	JOBS=$(JOBS) cmake/run_tests.sh all $(ALL_TESTED)

TIMES ?= 20
test-busy: ## Each quick test TIMES=20 times beside four busy processes; takes hours
	$(call build_tests,$(TESTED),LONG_TESTS=OFF)
	status=0
	for folder in $(TESTED); do cmake/run_beside_busy.sh $(TIMES) build/$$folder -L quick || status=$$?; done
	exit $$status

# One build folder and its tests, for example test-in-mpich-clang: hosted CI runs them side by side.
test-in-%:
	$(PACKAGES) build demo test docs $(if $(findstring clang,$*)$(filter asan fuzz,$*),check)
	@mkdir -p build
	cmake/phase.sh "build command" $(MAKE) $(if $(filter command,$*),tests-)built-in-command
	$(if $(filter command,$*),,cmake/phase.sh "build $*" $(MAKE) tests-built-in-$*)
	JOBS=$(JOBS) cmake/run_tests.sh all $*

MINUTES ?= 60
fuzz: ## Fuzzers of what reads files and texts, MINUTES=60 for each; inputs and faults stay in build/fuzz/found
	$(PACKAGES) build test check
	$(call configure,fuzz)
	$(call compile,fuzz)
	status=0
	for fuzzer in build/fuzz/fuzz/fuzz-*; do
	    folder=build/fuzz/found/$${fuzzer##*/fuzz-}
	    tests/fuzz/fuzz.sh $$fuzzer $$folder -max_total_time=$$(($(MINUTES) * 60)) 2>&1 | tail -n 20 || status=$$?
	done
	exit $$status

bench: ## Measures each subject of docs/results against what people use today; takes hours
	@$(MAKE) build PEERS=ON
	$(MAKE) bench-peers
	for name in redistribute inplace alltoall ft fluctuation overlap flood registration overhead madre; do
	    build/bin/sluice bench $$name
	done
	bench/plots/tables.sh transpose build/transposes node

bench-peers: ## Measures what Zoltan, PETSc, p4est and MPI_Alltoallv need to redistribute: the table of the README
	$(PACKAGES) build peer
	for folder in command openmpi; do
	    $(call configure,$$folder,$(call without_tests,$$folder) -DSLUICE_PEERS=ON)
	    $(call compile,$$folder)
	done
	build/bin/sluice bench redistribute --mpi openmpi --ranks 4 --case random,rebalance --block 16000 --mib 40 --pairs 3 \
	    --method token,alltoallv_warm,zoltan_migrate,petsc_sf,p4est_transfer

check: ## Formatting, faults of scripts, warnings of GCC and Clang as errors, clang-tidy
	$(PACKAGES) build demo test check
	@mkdir -p build
	cmake/phase.sh "files" cmake/check_files.sh
	cmake/phase.sh "format" cmake/check_format.sh
	cmake/phase.sh "scripts" cmake/check_scripts.sh
	cmake/phase.sh "GCC, warnings as errors" $(MAKE) tests-built-in-openmpi
	$(call configure,clang,-DSLUICE_TESTS=OFF)
	cmake/phase.sh "Clang, warnings as errors, and clang-tidy" cmake/check_tidy.sh build/clang $(JOBS)

docs: ## The reference and the guide as HTML, in build/docs
	$(PACKAGES) build docs
	$(call configure,command,$(call without_tests,command))
	cmake --build build/command --target docs
	echo "build/docs/html/index.html"

install: build ## Installs the libraries and the command below PREFIX (/usr/local)
	@for folder in command $(MPIS); do cmake --install build/$$folder --prefix $(PREFIX); done

uninstall: ## Removes what make install has put below PREFIX
	cmake/uninstall.sh $(addprefix build/,command $(MPIS))

deb: ## Debian packages, in build/packages
	$(PACKAGES) build
	for folder in command $(MPIS); do $(call configure,$$folder,$(call without_tests,$$folder)); $(call compile,$$folder); done
	cmake/make_packages.sh build/packages

clean: ## Removes build/
	rm -rf build
