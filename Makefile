# The short way to everything; meson does the work.
#
#   make            build into build/
#   make demo       build and run examples/heat: 64 ranks with private globals
#   make check      all tests           make check-asan   ... under ASan, UBSan
#   make coverage   all tests, then which lines of lib they ran, by folder
#   make conformance   docs/conformance.md: each function of mpi.h
#   make bench      benchmarks          make check-tsan   ... under TSan
#   make check-nodes   all tests of MPI programs, in 2 and in 4 processes
#   make check-providers   tests in several processes, over each of libfabric's
#   make check-systems   all tests and the packages in bare Debian 12 and 13
#                        (SYSTEMS= names others)
#   make kills      jobs that are hit by signals, and a table of how they ended
#   make fuzz       fuzz targets, SECONDS each; TARGET= names some
#   make soak       messages and collectives at random, in each way for SECONDS
#   make habitats   jobs in strange surroundings, and the table of
#                   docs/reliability.md
#   make matrix     jobs whose calls of libfabric fail, and a table
#   make install    into $(PREFIX), default /usr/local; DESTDIR is honoured
#   make uninstall  removes what the last make install installed
#   make deb        Debian packages into build-deb/
#   make clean      removes the build directories
#   make format     formats all C files (needs clang-format 14)
#
# Each target first installs the Debian packages it needs that are missing.

SHELL := /bin/bash
BUILD ?= build
PREFIX ?= /usr/local
MESON ?= meson

# Without dpkg-dev meson would install into lib64, where Debian looks for nothing.
build_packages := gcc libc6-dev g++ meson ninja-build pkg-config dpkg-dev \
	libhwloc-dev libfabric-dev libpmix-dev libncurses-dev libdw-dev
check_packages := $(build_packages) binutils clang-format mandoc python3 \
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user gfortran \
	valgrind libc6-dbg openmpi-bin mpich libmpich-dev iproute2 \
	slurmctld slurmd slurm-client munge tmux cmake gdb openssh-client \
	openssh-server procps zsh autoconf automake autoconf-archive \
	environment-modules faketime
fuzz_packages := $(build_packages) clang llvm libclang-rt-14-dev
bench_packages := $(build_packages) binutils openmpi-bin libopenmpi-dev mpich \
	libmpich-dev

coverage_packages := $(check_packages) gcovr
deb_packages := $(build_packages) build-essential chrpath debhelper gfortran \
	lintian pkgconf valgrind

# How long make fuzz runs a target, and make soak a job.
SECONDS := 10

# How many tests run at a time: many of them sleep most of the time.
JOBS ?= $(shell echo $$((3 * $$(nproc))))

# One configured directory per kind of build.
setup = test -f $(1)/build.ninja || $(MESON) setup $(1) $(2)
release = $(BUILD)-release

.PHONY: all demo check check-asan check-tsan check-nodes check-providers \
	check-systems fuzz soak kills matrix habitats \
	coverage conformance bench release install uninstall deb clean format need-build \
	need-check need-fuzz need-coverage need-bench need-deb

all: need-build
	$(call setup,$(BUILD))
	$(MESON) compile -C $(BUILD)

demo: all
	VMPI_BUILD=$(abspath $(BUILD)) examples/heat/demo.sh

check: need-check
	$(call setup,$(BUILD))
	$(MESON) compile -C $(BUILD)
	$(MESON) test -C $(BUILD) --no-rebuild --print-errorlogs \
		--num-processes $(JOBS)

check-asan: need-check
	$(call setup,$(BUILD)-asan,-Db_sanitize=address$(,)undefined)
	$(MESON) compile -C $(BUILD)-asan
	$(MESON) test -C $(BUILD)-asan --no-rebuild --print-errorlogs \
		--timeout-multiplier 4 --no-suite lint

# The fuzz targets have one thread.
check-tsan: need-check
	$(call setup,$(BUILD)-tsan,-Db_sanitize=thread)
	$(MESON) compile -C $(BUILD)-tsan
	$(MESON) test -C $(BUILD)-tsan --no-rebuild --print-errorlogs \
		--timeout-multiplier 4 --no-suite lint --no-suite fuzz

# A test that fails is seen by make check; here the others still count.
coverage: need-coverage
	$(call setup,$(BUILD)-coverage,-Db_coverage=true)
	$(MESON) compile -C $(BUILD)-coverage
	find $(BUILD)-coverage -name '*.gcda' -delete
	-$(MESON) test -C $(BUILD)-coverage --no-rebuild --num-processes $(JOBS) \
		--timeout-multiplier 4 --no-suite lint
	.ci/coverage $(BUILD)-coverage

# SETUPS: some of those in t/across/meson.build; JOBS: how many tests at a time.
check-nodes: need-check
	$(call setup,$(BUILD))
	$(MESON) compile -C $(BUILD)
	t/across/matrix $(BUILD) $(SETUPS)

# PROVIDERS: "net 'tcp;ofi_rxm'"; JOBS: how many tests at a time.
check-providers: need-check
	$(call setup,$(BUILD))
	$(MESON) compile -C $(BUILD)
	.ci/providers $(BUILD) $(PROVIDERS)

# SYSTEMS: releases of Debian; TARGET: others than check and deb.
check-systems:
	@.ci/need debootstrap
	.ci/systems $(BUILD)-systems $(SYSTEMS)

# N: how many; SEED repeats them; PROVIDER: the only one.  Logs of what goes wrong
# are in $(BUILD)/kills.
kills: need-build
	$(call setup,$(BUILD))
	$(MESON) compile -C $(BUILD)
	mkdir -p $(BUILD)/kills
	VMPI_BUILD=$(abspath $(BUILD)) LOGS=$(abspath $(BUILD)/kills) \
		LIMIT_MS=2000 t/run/60-kills.t $(or $(N),200)

# TARGET: some of t/fuzz/*.c, "wire elf"; RUNS: the most executions of each.
fuzz: need-fuzz
	test -f $(BUILD)-fuzz/build.ninja || CC=clang CXX=clang++ $(MESON) \
		setup $(BUILD)-fuzz -Dfuzzer=true -Db_lundef=false \
		-Doptimization=1 -Db_sanitize=address$(,)undefined
	$(MESON) compile -C $(BUILD)-fuzz fuzz
	RUNS=$(RUNS) t/fuzz/all $(BUILD)-fuzz $(SECONDS) $(TARGET)

# NODES, WORKERS: "1 2"; RANKS; SEED: of a course that is to be repeated.
soak: all
	SOAK_SECONDS=$(SECONDS) SOAK_NODES="$(NODES)" SOAK_SEED=$(SEED) \
		SOAK_WORKERS="$(WORKERS)" SOAK_RANKS=$(RANKS) \
		VMPI_BUILD=$(abspath $(BUILD)) t/run/63-soak.t

# PROVIDER and SITE: the only ones; JOBS: how many jobs at a time.  Logs of what
# goes wrong are in $(BUILD)/matrix.
matrix: need-build
	$(call setup,$(BUILD))
	$(MESON) compile -C $(BUILD)
	VMPI_BUILD=$(abspath $(BUILD)) t/run/matrix $(BUILD)/matrix

# Needs root for most.  JOBS: how many jobs at a time; results and logs are in
# $(BUILD)/habitats.
habitats: need-check
	$(call setup,$(BUILD))
	$(MESON) compile -C $(BUILD)
	VMPI_BUILD=$(abspath $(BUILD)) t/habitats/run $(BUILD)/habitats \
		>$(BUILD)/habitats.table
	t/habitats/page $(BUILD)/habitats.table docs/reliability.md

conformance:
	.ci/conformance

bench: need-bench
	$(call setup,$(BUILD)-bench,-Dbuildtype=release -Dtests=false)
	$(MESON) compile -C $(BUILD)-bench
	VMPI_BUILD=$(abspath $(BUILD)-bench) bench/run $(BENCH)

# As it is installed: the compiler sees more without assertions.
release: need-build
	$(call setup,$(release),-Dasserts=disabled -Dtests=false \
		--prefix=$(PREFIX))
	$(MESON) compile -C $(release)

# Where an older installation has a file, meson does not make a link.
install: release
	$(MESON) configure $(release) -Dprefix=$(PREFIX)
	rm -rf "$(DESTDIR)$(PREFIX)/lib/vmpi/compat"
	$(MESON) install -C $(release)

installed = $(release)/meson-logs/install-log.txt

uninstall:
	@test -f $(installed) || { echo "$(installed), which lists what make" \
		"install installed, is missing: install it again first"; exit 2; }
	ninja -C $(release) uninstall
	rm $(installed)

# dpkg-buildpackage writes beside the source: it gets a copy.
deb: need-deb
	rm -rf $(BUILD)-deb
	mkdir -p $(BUILD)-deb/source
	git ls-files -z | xargs -0 cp --parents -t $(BUILD)-deb/source
	cd $(BUILD)-deb/source && dpkg-buildpackage -b -us -uc
	cd $(BUILD)-deb && lintian --fail-on error,warning vmpi_*.changes

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-coverage \
		$(BUILD)-bench $(BUILD)-fuzz $(BUILD)-deb $(release)

format:
	find include lib bin t examples bench -name '*.[ch]' | sort | \
		grep -vxFf <(awk '!/^\#/ && NF { print $$1 }' \
			t/lint/format.except) | xargs clang-format-14 -i

need-build:
	@.ci/need $(build_packages)
need-check:
	@.ci/need $(check_packages)
need-fuzz:
	@.ci/need $(fuzz_packages)
need-coverage:
	@.ci/need $(coverage_packages)
need-bench:
	@.ci/need $(bench_packages)
need-deb:
	@.ci/need $(deb_packages)

, := ,
