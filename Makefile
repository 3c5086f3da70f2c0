# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make help` lists the targets.

# The machine it is for: arm64, or this one. For another one it is one file, next to what its
# distribution has to link with.
MACHINE := $(patsubst aarch64,arm64,$(shell uname -m))
ARCH    ?=
CROSS   := $(filter-out $(MACHINE),$(ARCH))

O      ?= build$(CROSS:%=/%)
# One spelling: files are known by the name they were built by. The path of the tree may have blanks.
override O := $(subst $(CURDIR)/,,$(abspath $(O)))
V      ?= 0
SAN    ?=
STATIC ?= 0
CC     := $(if $(filter default,$(origin CC)),gcc,$(CC))
CLANG  ?= clang
ifeq ($(CROSS),arm64)
TRIPLE  := aarch64-linux-gnu
SYSROOT := $(O)/sysroot
override CC     := $(if $(findstring clang,$(CC)),$(CC) --target=$(TRIPLE),$(TRIPLE)-gcc)
override STATIC := 1
else ifneq ($(CROSS),)
$(error ARCH=$(CROSS): there is arm64)
endif
# MSan: clang has it, gcc has not.
ifneq ($(findstring memory,$(SAN)),)
override CC := $(if $(findstring clang,$(CC)),$(CC),$(CLANG))
endif
PREFIX ?= /usr/local
DESTDIR ?=
VERSION := 0.2.0

# What is built differently lives apart, so that switching never mixes objects.
comma   := ,
VARIANT := $(if $(SAN),-san-$(subst $(comma),-,$(SAN)))$(if $(filter 1,$(STATIC)),-static)
B       := $(O)/obj$(VARIANT)
PROGRAM := $(O)/zmem-bpf$(VARIANT)

# A warning is an error for those who change the program, and not where a compiler of another year builds it.
# What it compiles is the same: objects are not built again for it.
WERROR ?= $(if $(filter check unit fuzz soak bench test% %-build,$(MAKECMDGOALS)),-Werror)
export WERROR

ifeq ($(V),1)
Q    :=
SAY  := @:
else
Q    := @
SAY  := @printf '  %-8s %s\n'
endif

# What was compiled before with these flags, also in another clone, is taken from ccache where it is installed.
CCACHE := $(shell command -v ccache)
export CCACHE_NOHASHDIR := 1

# bpftool is in sbin, which an ordinary user's PATH may lack. Up to 24.04, the one of Ubuntu there is a script that looks for
# the bpftool of the running kernel, and any does.
BPFTOOL ?= $(or $(lastword $(sort $(wildcard /usr/lib/linux-tools/*/bpftool))),$(shell command -v bpftool),\
             $(wildcard /usr/sbin/bpftool),bpftool)

# An overflow ends the program: a canary in each frame with an array, checked calls of libc, no table of
# functions that can be written, no address known beforehand. Level 3, for sizes that are known when it
# runs, where compiler and libc have it. Sanitizers have checks of their own; -O0 and a level in CFLAGS or
# CPPFLAGS (of a distribution) exclude ours.
FORTIFY   := $(shell printf '\043include <features.h>' | $(CC) -O2 -Werror -U_FORTIFY_SOURCE \
             -D_FORTIFY_SOURCE=3 -x c -E - >/dev/null 2>&1 && echo 3 || echo 2)
HARDENING := -fstack-protector-strong -fPIE
ifeq ($(SAN)$(findstring -O0,$(CFLAGS))$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),)
HARDENING += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(FORTIFY)
endif

# The headers of ncurses see that wide characters are there by a macro of glibc, which musl has not.
# Frame pointers are for profiles (make flamegraph): 8 KB, and no time that can be measured.
CPPFLAGS_ALL := -D_GNU_SOURCE -DNCURSES_WIDECHAR=1 -DZMEM_VERSION='"$(VERSION)"' -Iinclude -Isrc -I$(O)/bpf -I$(O)/page $(CPPFLAGS)
CFLAGS_ALL   := -std=gnu17 -O2 -g -Wall -Wextra $(WERROR) -Wno-missing-field-initializers -Wformat-security \
                -fno-common -ffunction-sections -fdata-sections -fno-omit-frame-pointer \
                $(HARDENING) $(CFLAGS)
LDFLAGS_ALL  := -Wl,--gc-sections,-z,relro,-z,now,-z,noexecstack $(if $(filter 1,$(STATIC)),,-pie) $(LDFLAGS)
ifneq ($(SYSROOT),)
CPPFLAGS_ALL += -isystem $(SYSROOT)/usr/include -isystem $(SYSROOT)/usr/include/$(TRIPLE)
LDFLAGS_ALL  += -L$(SYSROOT)/usr/lib/$(TRIPLE)
endif
LDLIBS_ZIP   := -lz -lzstd
LDLIBS_BPF   := -lbpf -lelf $(LDLIBS_ZIP) -lcap -lm
LDLIBS_TOP   := -lncursesw -ltinfo
ifneq ($(SAN),)
CFLAGS_ALL  += -fsanitize=$(SAN) -fno-sanitize-recover=all -O1
LDFLAGS_ALL += -fsanitize=$(SAN)
endif
ifneq ($(findstring memory,$(SAN)),)
CFLAGS_ALL  += -fsanitize-memory-track-origins -fsanitize-memory-param-retval -include tests/support/msan.h
endif
ifeq ($(STATIC),1)
CPPFLAGS_ALL += -DZMEM_STATIC
LAYOUT       := src/static.ld
# At a random address, too: 5 KB more with relocations packed (which GNU ld had for x86 first), 80 KB else,
# and no time that can be measured (200 runs in pairs of --version, of a replay and of a snapshot). What
# finds unwind tables at run time is left out with them.
# libdw unwinds, and is loaded elsewhere. Debian has it as an archive; what it unpacks files with is not asked for.
LIBDW        := $(if $(SYSROOT),libdw.a,$(wildcard $(shell $(CC) -print-file-name=libdw.a)))
CPPFLAGS_ALL += $(if $(LIBDW),-DZMEM_STATIC_LIBDW)
LDLIBS_DW    := $(if $(LIBDW),-ldw)
PACK_RELOCS  := $(if $(filter x86_64,$(or $(CROSS),$(MACHINE))),-Wl$(comma)-z$(comma)pack-relative-relocs)
LDFLAGS_ALL  += -static-pie -Wl,--no-eh-frame-hdr $(PACK_RELOCS) -Wl,-T,$(LAYOUT)
# One file to copy is small where no time goes.
COLD         := $(addprefix $(B)/,session/% command/% incidents/% recorder/% doctor/% top/% recording/% check/% demangle/% code/% heap/% grow/% watch/% load/bpf_% load/load_% privilege/% proc/mounts% \
                collect/% enrich/container% enrich/machine% enrich/memcg% model/ram% \
                findings/% model/finding% report/compare_% report/files_% report/findings% report/folded% report/growth% report/head% report/html% report/incidents% report/maps_% \
                $(addprefix fields/,change% compare% descriptor% ended% file% finding% gpu% growth% head% incident% map% notice% peak% summary% system% top%) \
                $(addprefix model/,account% change% ended% event% files% growth% incident% maps% memcg% overview% sample% zones%) \
                query/change% query/files% query/query_parse% report/incidents% report/diff% report/metrics% report/page% report/peak% report/system_% source/census% source/files_% source/freed_% source/grow% \
                source/held% source/holders_% source/nvml_% source/pages_% source/pin% source/source% source/swap_% write/metrics_%)
endif

# libmicrohttpd is loaded by serve (src/serve/microhttpd.c), which the static program cannot.
MODULES := base privilege proc load model fields findings query source watch enrich recording check collect demangle code heap grow write report \
           session top $(if $(filter 1,$(STATIC)),,serve) incidents recorder doctor command
SRC     := $(wildcard $(MODULES:%=src/%/*.c))
OBJ     := $(SRC:src/%.c=$(B)/%.o)
LIB     := $(MODULES:%=$(B)/lib%.a)
# In place of parts of the libraries, which come behind.
STATIC_PARTS := $(if $(filter 1,$(STATIC)),$(B)/static.o)
LIBOF    = $(patsubst %,$(B)/lib%.a,$(1))

.PHONY: all run test unit test-gate test-all test-kernels test-compilers fuzz soak check bench flamegraph pictures deb release image install install-caps \
        uninstall clean help deps deps-unit deps-test deps-gate deps-all deps-cross deps-fuzz deps-deb deps-compilers \
        FORCE
all: $(PROGRAM)

help:
	@echo 'make              the program: $(O)/zmem-bpf'
	@echo 'make run          installs what building needs, builds, prints a snapshot (as root: exact, from the kernel)'
	@echo 'make test         installs what is missing, builds, runs the unit, live and cli tests, JOBS at once;'
	@echo '                  T="cli/filters live/races": these alone'
	@echo 'make unit         the unit tests alone, in seconds'
	@echo 'make test-gate    what .ci/run does beside make test and make check: Prometheus, Chromium, the package, two other kernels'
	@echo '                  in qemu, sanitizers for the unit tests, the programs for aarch64, a container'
	@echo 'make test-all     everything: make check, ten kernels, fuzzing and soak (short), unit, cli and live with sanitizers,'
	@echo '                  other compilers'
	@echo 'make test-kernels installs what is missing, builds, runs the live tests on other kernels in qemu;'
	@echo '                  KERNELS="6.1 7.x+lockdown": these; KERNELS=all: one of each line there is'
	@echo 'make test-compilers'
	@echo '                  each of COMPILERS="$(COMPILERS)" builds it without a warning, and its BPF programs load'
	@echo 'make fuzz         looks for inputs that break a parser; SECONDS=60 each'
	@echo 'make soak         snapshots in a loop, watch, serve and top on a busy machine (as root): nothing may grow; MINUTES=10'
	@echo 'make check        layers, format, licence lines'
	@echo 'make bench        beside other tools, in one table (as root); BENCH="w3 stall": some of it, BENCH=engine: ours alone'
	@echo 'make flamegraph   where the time of a run goes, as root: $(O)/flamegraph.svg; FLAMEGRAPH="--json --pss rollup"'
	@echo 'make pictures     the pictures of README.md, from the real program (as root)'
	@echo 'make deps         installs the packages that building needs (deps-test, deps-gate, deps-all: what the tests need)'
	@echo 'make install      program, manual pages, completions, units, schemas, dashboard, examples; PREFIX=$(PREFIX) DESTDIR='
	@echo 'make install-caps the same, for the group zmem: its members see the whole machine, nobody else may run it'
	@echo 'make deb          a package for Debian: $(O)/zmem-bpf_$(VERSION)_ARCH.deb'
	@echo 'make release      static programs for x86-64 and aarch64, the package, and SHA256SUMS: $(O)/release'
	@echo 'make image        a container image, an OCI layout: $(O)/zmem-bpf_$(VERSION)_oci.tar'
	@echo 'make uninstall    takes them away; the same PREFIX and DESTDIR'
	@echo 'make clean'
	@echo 'V=1 shows commands; O=DIR builds there; STATIC=1 builds one file without shared libraries;'
	@echo 'ARCH=arm64 builds one for aarch64: build/arm64/zmem-bpf-static (make deps-cross);'
	@echo 'SAN=address,undefined builds with sanitizers, SAN=memory with that of clang; CC=clang'

# ---- packages (Debian) ----

# What building needs, what the unit tests need besides, and what other tests use, which are skipped without it. On Ubuntu,
# bpftool is a package since 25.10.
BPFTOOL_IN = $(if $(filter ubuntu2204 ubuntu2404,$(shell . /etc/os-release && echo "$$ID$$VERSION_ID" | tr -d .)),linux-tools-generic,bpftool)
DEPS       = gcc clang python3 make $(BPFTOOL_IN) libbpf-dev libelf-dev libdw-dev zlib1g-dev libzstd-dev libcap-dev libncurses-dev \
             libmicrohttpd-dev libcap2-bin
DEPS_UNIT := libcmocka-dev python3-jsonschema jq
DEPS_TEST := libdebuginfod-dev python3-yaml procps smem smemstat tmux mandoc musl-tools libjemalloc2 zsh systemd linux-perf dwz \
             busybox-static podman crun
# The packages of DEPS where there is no dpkg.
DEPS_FEDORA := gcc clang python3 make bpftool libbpf-devel elfutils-libelf-devel elfutils-devel zlib-devel libzstd-devel libcap-devel \
               ncurses-devel libmicrohttpd-devel
DEPS_ARCH   := gcc clang python make bpf libbpf libelf zlib zstd libcap ncurses libmicrohttpd
DEPS_DEB := build-essential debhelper lintian debootstrap
DEPS_CROSS := gcc-aarch64-linux-gnu libc6-dev-arm64-cross
DEPS_GATE := $(if $(shell command -v rustc),,rustc) $(if $(shell command -v kubectl),,kubernetes-client) ccache qemu-system-x86 cpio kmod libmimalloc2.0 libtcmalloc-minimal4 xz-utils zstd clang-format git python3-prometheus-client chromium
DEPS_ALL := qemu-system-arm valgrind locales

# $(call install_missing,PACKAGES,TEXT): with TEXT, which says what happens else, it is no error if they cannot be installed.
define install_missing
@command -v dpkg-query >/dev/null || { \
	echo 'this system has no dpkg; if the build fails, install these packages:'; \
	echo '  Fedora: $(DEPS_FEDORA)'; echo '  Arch:   $(DEPS_ARCH)'; exit 0; }; \
missing=; for p in $(1); do \
	dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
if [ -n "$$missing" ]; then \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	echo "installing:$$missing"; \
	{ { [ -z "$$sudo" ] || command -v sudo >/dev/null; } && $$sudo apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing; } >/dev/null || \
	{ echo "make deps: these packages could not be installed$(if $(2), ($(2)))." >&2; \
	  echo "Run this as root: apt-get update && apt-get install --no-install-recommends$$missing" >&2; \
	  $(if $(2),true,exit 1); }; \
fi
endef

deps:
	$(call install_missing,$(DEPS))

deps-unit: deps
	$(call install_missing,$(DEPS_UNIT))

deps-test: deps-unit
	$(call install_missing,$(DEPS_TEST),the tests that use them are skipped)

deps-cross: deps
	$(call install_missing,$(DEPS_CROSS))

# libFuzzer and the sanitizers of clang
deps-fuzz:
	$(call install_missing,libclang-rt-dev)

deps-deb:
	$(call install_missing,$(DEPS_DEB))

# Debian's oldest and newest clang, and an older gcc; deb/fresh.sh takes the newest that there are.
COMPILERS ?= clang-14 clang-19 gcc-11 musl-gcc
# Those that this Debian has: tests/run says which it had to leave out.
deps-compilers:
	$(call install_missing,$$(for c in $(COMPILERS:musl-gcc=musl-tools); do apt-cache show $$c >/dev/null 2>&1 && echo $$c; done))

deps-gate: deps-test deps-deb deps-cross
	$(call install_missing,$(DEPS_GATE))

deps-all: deps-gate deps-fuzz deps-compilers
	$(call install_missing,$(DEPS_ALL))

# ---- BPF: a program as an object for libbpf, and as a light skeleton ----

# NAME_probe reads by probe reads, for kernels without bpf_rdonly_cast() (before 6.2); NAME_old uses only
# what kernels from 5.8 on have. NAME_memos counts what many processes share once (bpf/memo.bpf.h); where that does
# not pay, the smaller one loads in less time. Those for older kernels are one.
BPF_NAMES := $(patsubst bpf/%.bpf.c,%,$(wildcard bpf/*.bpf.c)) task_counters_probe task_counters_old ended_old \
             task_pss_memos task_pss_probe task_pss_old oom_kill_probe oom_kill_old grow_probe \
             peak_probe census_old descriptors_old
BPF_OBJ   := $(BPF_NAMES:%=$(O)/bpf/%.bpf.o)
# As <bpf/bpf_tracing.h> calls them.
BPF_ARCH  := $(patsubst x86_64,x86,$(or $(CROSS),$(MACHINE)))
BPF_FLAGS := -g -O2 -target bpf -mcpu=v3 -D__bpf__ -D__TARGET_ARCH_$(BPF_ARCH) -Ivmlinux -Iinclude -Ibpf \
             -Wall -Wextra $(WERROR) -Wno-unused-parameter
SKELETONS := $(BPF_NAMES:%=$(O)/bpf/%.lskel.h)

define compile_bpf
	$(SAY) BPF $@
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CLANG) $(BPF_FLAGS) $(1) -MMD -MP -MT $@ -MF $(@:.raw.o=.d) -c $< -o $@.lines
	$(Q)src/load/strip_lines.py $@.lines && mv $@.lines $@
endef

$(O)/bpf/%.raw.o: bpf/%.bpf.c src/load/strip_lines.py
	$(call compile_bpf)
$(O)/bpf/%_memos.raw.o: bpf/%.bpf.c src/load/strip_lines.py
	$(call compile_bpf,-DZMEM_MEMOS)
$(O)/bpf/%_probe.raw.o: bpf/%.bpf.c src/load/strip_lines.py
	$(call compile_bpf,-DZMEM_PROBE_READS)
$(O)/bpf/%_old.raw.o: bpf/%.bpf.c src/load/strip_lines.py
	$(call compile_bpf,-DZMEM_PROBE_READS -DZMEM_OLD)

$(O)/bpf/%.bpf.o: $(O)/bpf/%.raw.o
	$(Q)$(BPFTOOL) gen object $@ $<

$(O)/bpf/%.lskel.h: $(O)/bpf/%.bpf.o
	$(SAY) LSKEL $@
	$(Q)$(BPFTOOL) gen skeleton -L $< name $(*F) > $@.tmp 2> $@.err || { cat $@.err >&2; false; }
	$(Q)mv $@.tmp $@

# Without its bytes, which are in NAME.light.bytes.
$(O)/bpf/%.light.h: $(O)/bpf/%.lskel.h src/load/light.py
	$(Q)src/load/light.py $* $< $@ $(@:.h=.bytes)

# What the program has of them: objects (elf) and bytes of light skeletons. Those of an ordinary run, which takes
# no time to unpack them, are as they are. Each other one, behind "@", refers to what has most in common with it.
LIGHT      := $(filter-out %_old oom_kill% grow% peak_probe waits ended,$(BPF_NAMES))
BPF_PACKED := task_pss_light task_counters_light \
              task_pss_elf@task_pss_light task_counters_elf@task_counters_light \
              task_pss_memos_light@task_pss_light task_pss_memos_elf@task_pss_elf task_pss_probe_light@task_pss_memos_light \
              task_counters_probe_light@task_pss_probe_light task_counters_probe_elf@task_counters_probe_light \
              task_pss_old_elf@task_pss_probe_light task_counters_old_elf@task_pss_old_elf \
              swap_light@task_pss_light freed_light@swap_light held_light@freed_light pages_light@freed_light holders_light@swap_light holders_elf@holders_light \
              files_light@holders_light files_elf@files_light \
              gpu_light@holders_light gpu_elf@gpu_light dmabuf_light@gpu_light descriptors_light@holders_light descriptors_elf@descriptors_light descriptors_old_elf@descriptors_elf \
              census_light@task_pss_light census_elf@census_light census_old_elf@census_elf \
              oom_kill_probe_elf@task_counters_probe_elf oom_kill_elf@oom_kill_probe_elf \
              oom_kill_old_elf@oom_kill_probe_elf grow_elf@task_pss_elf grow_probe_elf@grow_elf \
              peak_light@swap_light peak_elf@peak_light peak_probe_elf@peak_elf waits_elf@oom_kill_old_elf \
              ended_elf@oom_kill_elf ended_old_elf@oom_kill_old_elf \
              arguments_light@task_pss_light
bpf_name = $(firstword $(subst @, ,$(1)))
bpf_file = $(patsubst %_elf,$(O)/bpf/%.bpf.o,$(patsubst %_light,$(O)/bpf/%.light.bytes,$(bpf_name)))

$(O)/bpf/packed.inc: $(BPF_OBJ) $(LIGHT:%=$(O)/bpf/%.light.h) src/base/pack.py Makefile
	$(SAY) PACK $@
	$(Q)src/base/pack.py $@.tmp $(foreach i,$(BPF_PACKED),$(call bpf_name,$i)=$(call bpf_file,$i)$(i:$(call bpf_name,$i)%=%))
	$(Q)mv $@.tmp $@

.SECONDARY: $(BPF_OBJ) $(BPF_OBJ:.bpf.o=.raw.o) $(SKELETONS) $(LIGHT:%=$(O)/bpf/%.light.h)
-include $(BPF_NAMES:%=$(O)/bpf/%.d)

$(B)/load/bpf_load.o: $(O)/bpf/packed.inc

# ---- the program that loads libnvidia-ml (src/nvml.c), for any glibc ----

# Linked with libraries that have the names alone: those of the machine that builds have versions, which an
# older glibc may lack.
NVML_LOADER := $(if $(filter x86,$(BPF_ARCH)),/lib64/ld-linux-x86-64.so.2,/lib/ld-linux-aarch64.so.1)
NVML_LIBC   := __libc_start_main abort memcpy memset read writev
NVML_LIBDL  := dlopen dlsym dlerror

$(O)/bpf/nvml: src/nvml.c src/source/nvml_protocol.h src/privilege/helper.h Makefile
	$(SAY) CC $@
	@mkdir -p $(@D)
	$(Q)printf 'void %s(void){}\n' $(NVML_LIBC) | $(CC) -w -fno-builtin -shared -nostdlib -fPIC -Wl,-soname,libc.so.6 -x c - -o $@.libc.so
	$(Q)printf 'void %s(void){}\n' $(NVML_LIBDL) | $(CC) -w -shared -nostdlib -fPIC -Wl,-soname,libdl.so.2 -x c - -o $@.libdl.so
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu17 -Os -Wall -Wextra $(WERROR) -Isrc -fPIE -fno-stack-protector -U_FORTIFY_SOURCE \
		-pie -nodefaultlibs -s -Wl,--dynamic-linker=$(NVML_LOADER),-z,noseparate-code,-z,noexecstack,--build-id=none \
		$< $@.libc.so $@.libdl.so -o $@

$(O)/bpf/nvml.inc: $(O)/bpf/nvml src/base/pack.py
	$(SAY) PACK $@
	$(Q)src/base/pack.py $@.tmp nvml_program=$<@
	$(Q)mv $@.tmp $@

$(B)/source/nvml_source.o: $(O)/bpf/nvml.inc

include src/report/page/page.mk

# ---- program ----

# Changes of flags rebuild.
FLAGS := $(CC) $(CPPFLAGS_ALL) $(filter-out -Werror,$(CFLAGS_ALL)) $(LDFLAGS_ALL)
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@

$(filter $(COLD),$(OBJ)): SMALL := -Os

# Installs nothing: packages of the suites that this machine is configured for.
SYSROOT_DEV := libbpf-dev libelf-dev libdw-dev zlib1g-dev libzstd-dev libcap-dev libncurses-dev
ifneq ($(SYSROOT),)
$(SYSROOT)/packages: tests/vm/packages.sh tests/vm/sysroot
	$(SAY) SYSROOT $(SYSROOT)
	$(Q)tests/vm/sysroot $(CROSS) $(SYSROOT) $(SYSROOT_DEV)

$(B)/flags: $(SYSROOT)/packages
endif

$(B)/%.o: src/%.c $(B)/flags
	$(SAY) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(SMALL) -MMD -MP -c $< -o $@

define module_lib
$(B)/lib$(1).a: $(filter $(B)/$(1)/%,$(OBJ))
	$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach m,$(MODULES),$(eval $(call module_lib,$(m))))

# A library uses those behind it.
LINK_ORDER := command doctor recorder incidents $(filter serve,$(MODULES)) top session report write grow heap code demangle collect check \
              enrich query findings fields watch source load proc recording model privilege base

$(PROGRAM): $(B)/main.o $(STATIC_PARTS) $(LIB) $(LAYOUT)
	$(SAY) LINK '$@$(if $(filter 1,$(STATIC)),$(if $(LIBDW),, (there is no libdw.a: grow has --stack fp alone)))'
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $< $(STATIC_PARTS) $(call LIBOF,$(LINK_ORDER)) $(LDLIBS_DW) $(LDLIBS_BPF) $(LDLIBS_TOP) \
		$(if $(filter 1,$(STATIC)),-Wl$(comma)-Map=$@.map) -lpthread -o $@

.PHONY: objects
objects: $(OBJ) $(B)/main.o

-include $(OBJ:.o=.d) $(B)/main.d $(STATIC_PARTS:.o=.d)

run: deps
	@$(MAKE) --no-print-directory all
	@$(PROGRAM)

include src/dist/dist.mk
include tests/tests.mk

clean:
	rm -rf $(O)

FORCE:
