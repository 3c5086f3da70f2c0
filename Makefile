# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make help` lists the targets.

# The machine it is for: arm64, or this one. For another one it is one file, next to what its
# distribution has to link with.
MACHINE := $(patsubst aarch64,arm64,$(shell uname -m))
ARCH    ?=
CROSS   := $(filter-out $(MACHINE),$(ARCH))

O      ?= build$(CROSS:%=/%)
# One spelling: files are known by the name they were built by.
override O := $(patsubst $(CURDIR)/%,%,$(abspath $(O)))
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
PREFIX ?= /usr/local
DESTDIR ?=
VERSION := 0.2.0

# What is built differently lives apart, so that switching never mixes objects.
comma   := ,
VARIANT := $(if $(SAN),-san-$(subst $(comma),-,$(SAN)))$(if $(filter 1,$(STATIC)),-static)
B       := $(O)/obj$(VARIANT)
PROGRAM := $(O)/zmem-bpf$(VARIANT)

ifeq ($(V),1)
Q    :=
SAY  := @:
else
Q    := @
SAY  := @printf '  %-8s %s\n'
endif

# bpftool is in sbin, which an ordinary user's PATH may lack.
BPFTOOL ?= $(or $(shell command -v bpftool),$(wildcard /usr/sbin/bpftool),bpftool)

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

# Frame pointers are for profiles (make flamegraph): 8 KB, and no time that can be measured.
CPPFLAGS_ALL := -D_GNU_SOURCE -DZMEM_VERSION='"$(VERSION)"' -Iinclude -Isrc -I$(O)/bpf -I$(O)/page $(CPPFLAGS)
CFLAGS_ALL   := -std=gnu17 -O2 -g -Wall -Wextra -Werror -Wno-missing-field-initializers \
                -fno-common -ffunction-sections -fdata-sections -fno-omit-frame-pointer \
                $(HARDENING) $(CFLAGS)
LDFLAGS_ALL  := -Wl,--gc-sections,-z,relro,-z,now,-z,noexecstack $(if $(filter 1,$(STATIC)),,-pie) $(LDFLAGS)
ifneq ($(SYSROOT),)
CPPFLAGS_ALL += -isystem $(SYSROOT)/usr/include -isystem $(SYSROOT)/usr/include/$(TRIPLE)
LDFLAGS_ALL  += -L$(SYSROOT)/usr/lib/$(TRIPLE)
endif
LDLIBS_ZIP   := -lz -lzstd
LDLIBS_BPF   := -lbpf -lelf $(LDLIBS_ZIP) -lcap
LDLIBS_TOP   := -lncursesw -ltinfo
ifneq ($(SAN),)
CFLAGS_ALL  += -fsanitize=$(SAN) -fno-sanitize-recover=all -O1
LDFLAGS_ALL += -fsanitize=$(SAN)
endif
ifeq ($(STATIC),1)
CPPFLAGS_ALL += -DZMEM_STATIC
LAYOUT       := src/static.ld
# At a random address, too: 5 KB more with relocations packed (which GNU ld had for x86 first), 80 KB else,
# and no time that can be measured (200 runs in pairs of --version, of a replay and of a snapshot). What
# finds unwind tables at run time is left out with them.
PACK_RELOCS  := $(if $(filter x86_64,$(or $(CROSS),$(MACHINE))),-Wl$(comma)-z$(comma)pack-relative-relocs)
LDFLAGS_ALL  += -static-pie -Wl,--no-eh-frame-hdr $(PACK_RELOCS) -Wl,-T,$(LAYOUT)
# One file to copy is small where no time goes.
COLD         := $(addprefix $(B)/,cli/% top/% recording/% compare/% render/compare_% render/maps_% render/system_%)
endif

# libmicrohttpd is loaded by serve (src/serve/microhttpd.c), which the static program cannot.
MODULES := base recording privilege proc model source enrich query compare collect render \
           cli top \
           $(if $(filter 1,$(STATIC)),,serve)
SRC     := $(wildcard $(MODULES:%=src/%/*.c))
OBJ     := $(SRC:src/%.c=$(B)/%.o)
LIB     := $(MODULES:%=$(B)/lib%.a)
LIBOF    = $(patsubst %,$(B)/lib%.a,$(1))

.PHONY: all run test test-all test-kernels test-compilers fuzz soak check bench flamegraph deb install install-caps \
        uninstall clean help deps deps-all deps-cross deps-fuzz deps-deb deps-compilers \
        FORCE
all: $(PROGRAM)

help:
	@echo 'make              the program: $(O)/zmem-bpf'
	@echo 'make run          installs what is missing, builds, prints a snapshot (as root: exact, from the kernel)'
	@echo 'make test         installs what is missing, builds, runs the unit, live and cli tests'
	@echo 'make test-all     also Prometheus, Chromium, the package, other kernels in qemu, fuzzing and soak (short), sanitizers,'
	@echo '                  valgrind, other compilers'
	@echo 'make test-kernels installs what is missing, builds, runs the live tests on other kernels in qemu;'
	@echo '                  KERNELS="6.1 7.x+lockdown": these; KERNELS=all: one of each line there is'
	@echo 'make test-compilers'
	@echo '                  some tests of what each of COMPILERS="$(COMPILERS)" makes'
	@echo 'make fuzz         looks for inputs that break a parser; SECONDS=60 each'
	@echo 'make soak         snapshots in a loop, watch, serve and top on a busy machine (as root): nothing may grow; MINUTES=10'
	@echo 'make check        layer rules, format, file and function lengths'
	@echo 'make bench        beside other tools, in one table (as root); BENCH="w3 stall": some of it, BENCH=engine: ours alone'
	@echo 'make flamegraph   where the time of a run goes, as root: $(O)/flamegraph.svg; FLAMEGRAPH="--json --pss rollup"'
	@echo 'make deps         the packages that building and make test need (deps-all: test-all)'
	@echo 'make install      program, man page, completions, units, schemas, dashboard, examples; PREFIX=$(PREFIX) DESTDIR='
	@echo 'make install-caps the same, for the group zmem: its members see the whole machine, nobody else may run it'
	@echo 'make deb          a package for Debian: $(O)/zmem-bpf_$(VERSION)_ARCH.deb'
	@echo 'make uninstall    takes them away; the same PREFIX and DESTDIR'
	@echo 'make clean'
	@echo 'V=1 shows commands; O=DIR builds there; STATIC=1 builds one file without shared libraries;'
	@echo 'ARCH=arm64 builds one for aarch64: build/arm64/zmem-bpf-static (make deps-cross);'
	@echo 'SAN=address,undefined builds with sanitizers; CC=clang'

# ---- packages (Debian) ----

DEPS     := gcc clang make libbpf-dev libelf-dev zlib1g-dev libzstd-dev libcap-dev libncurses-dev libmicrohttpd-dev bpftool libcmocka-dev python3-jsonschema jq \
            procps smem smemstat tmux mandoc zsh systemd libcap2-bin linux-perf busybox-static
DEPS_DEB := build-essential debhelper lintian debootstrap
DEPS_CROSS := gcc-aarch64-linux-gnu libc6-dev-arm64-cross
DEPS_ALL := qemu-system-x86 qemu-system-arm cpio kmod xz-utils zstd valgrind clang-format git \
            python3-prometheus-client chromium

define install_missing
@missing=; for p in $(1); do \
	dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
if [ -n "$$missing" ]; then \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	echo "installing:$$missing"; \
	{ $$sudo apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing; } >/dev/null || \
	{ echo "make deps: could not install$$missing: install them by hand" >&2; exit 1; }; \
fi
endef

deps:
	$(call install_missing,$(DEPS))

deps-cross: deps
	$(call install_missing,$(DEPS_CROSS))

# libFuzzer
deps-fuzz:
	$(call install_missing,libclang-rt-dev)

deps-deb:
	$(call install_missing,$(DEPS_DEB))

# Debian's oldest and newest, and one between.
COMPILERS ?= clang-14 clang-16 clang-19 gcc-11
# Those that this Debian has: tests/run says which it had to leave out.
deps-compilers:
	$(call install_missing,$$(for c in $(COMPILERS); do apt-cache show $$c >/dev/null 2>&1 && echo $$c; done))

deps-all: deps deps-cross deps-fuzz deps-compilers deps-deb
	$(call install_missing,$(DEPS_ALL))

# What few runs need is in the program packed, as an array of bytes for base/unpack.h.
pack = gzip -9n | od -An -v -tu1 | sed 's/ *\([0-9]\+\)/\1,/g'

# ---- BPF: a program as an object for libbpf, packed, and as a light skeleton ----

BPF_NAMES := $(patsubst bpf/%.bpf.c,%,$(wildcard bpf/*.bpf.c))
BPF_OBJ   := $(BPF_NAMES:%=$(O)/bpf/%.bpf.o)
# As <bpf/bpf_tracing.h> calls them.
BPF_ARCH  := $(patsubst x86_64,x86,$(or $(CROSS),$(MACHINE)))
BPF_FLAGS := -g -O2 -target bpf -mcpu=v3 -D__bpf__ -D__TARGET_ARCH_$(BPF_ARCH) -Ivmlinux -Iinclude -Ibpf \
             -Wall -Wextra -Werror -Wno-unused-parameter
SKELETONS := $(BPF_NAMES:%=$(O)/bpf/%.lskel.h)

$(O)/bpf/%.raw.o: bpf/%.bpf.c
	$(SAY) BPF $<
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_FLAGS) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@

$(O)/bpf/%.bpf.o: $(O)/bpf/%.raw.o
	$(Q)$(BPFTOOL) gen object $@ $<

$(O)/bpf/%.inc: $(O)/bpf/%.bpf.o
	$(Q)< $< $(pack) > $@.tmp && mv $@.tmp $@

# The lines of the source are for the verifier's log, and a light skeleton has none to show: without
# them (line_info_len, in the header of .BTF.ext) and their text it is half as large.
$(O)/bpf/%.light.raw.o: $(O)/bpf/%.raw.o
	$(Q)cp $< $@.tmp
	$(Q)at=$$(readelf -SW $< | sed -n 's/.* \.BTF\.ext *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p') && \
		dd if=/dev/zero of=$@.tmp bs=1 count=4 seek=$$((0x$$at + 20)) conv=notrunc status=none && \
		mv $@.tmp $@

$(O)/bpf/%.light.o: $(O)/bpf/%.light.raw.o
	$(Q)$(BPFTOOL) gen object $@ $<

# That there are no lines is what it would say for each program.
$(O)/bpf/%.lskel.h: $(O)/bpf/%.light.o
	$(SAY) LSKEL $@
	$(Q)$(BPFTOOL) gen skeleton -L $< name $(*F) > $@.tmp 2> $@.err || { cat $@.err >&2; false; }
	$(Q)mv $@.tmp $@

.SECONDARY: $(BPF_OBJ) $(BPF_OBJ:.bpf.o=.raw.o) $(BPF_OBJ:.bpf.o=.light.raw.o) $(BPF_OBJ:.bpf.o=.light.o) \
	$(BPF_OBJ:.bpf.o=.inc) $(SKELETONS)
-include $(BPF_NAMES:%=$(O)/bpf/%.raw.d)

# Who includes which.
$(B)/source/skel_light.o: $(addprefix $(O)/bpf/,$(addsuffix .lskel.h,task_counters task_counters_probe task_pss))
$(B)/source/skel_libbpf.o: $(BPF_NAMES:%=$(O)/bpf/%.inc)

# ---- the page of -F html: one file, packed ----

PAGE     := src/render/page
PAGE_CSS := $(addprefix $(PAGE)/,page.css parts.css)
PAGE_JS  := $(addprefix $(PAGE)/,format.js data.js machine.js tree.js graph.js rows.js table.js page.js)
PAGE_OUT := $(O)/page/render
# What its policy allows is this style and this script: the hash of what stands between the tags, which
# begins with a newline. One licence line is enough for a file.
hash_of   = $$({ echo; cat $(1); } | sha256sum | cut -c 1-64 | tr a-f A-F | basenc --base16 -d | base64)

# What serve shows is the same with more in it, and may ask whom it came from.
LIVE_CSS := $(PAGE_CSS) src/serve/page/live.css
LIVE_JS  := $(PAGE_JS) $(addprefix src/serve/page/,chart.js live.js)
LIVE_TOP := src/serve/page/live.html
LIVE_SED := -e "s|default-src 'none';|default-src 'none'; connect-src 'self';|" \
            -e 's|which fetches nothing|which asks this server alone|' \
            -e '/^<!--live-->$$/ { r $(PAGE_OUT)/live.top' -e 'd }'

# $(call make_page,STYLES,SCRIPTS,SED): a page of the template to stdout.
make_page = mkdir -p $(@D) && sed '/ SPDX-/d' $(1) > $@.style && sed '/ SPDX-/d' $(2) > $@.script && \
	sed -e "s|STYLE_HASH|$(call hash_of,$@.style)|; s|SCRIPT_HASH|$(call hash_of,$@.script)|" $(3) \
		-e '/^<!--style-->$$/ { r $@.style' -e 'd }' \
		-e '/^<!--script-->$$/ { r $@.script' -e 'd }' $(PAGE)/page.html

$(PAGE_OUT)/page.html: $(PAGE)/page.html $(PAGE_CSS) $(PAGE_JS) Makefile
	$(SAY) PAGE $@
	$(Q)$(call make_page,$(PAGE_CSS),$(PAGE_JS),-e '/^<!--live-->$$/d') > $@.tmp && mv $@.tmp $@

$(PAGE_OUT)/live.top: $(LIVE_TOP)
	@mkdir -p $(@D)
	$(Q)sed '/ SPDX-/d' $< > $@

$(PAGE_OUT)/live.html: $(PAGE)/page.html $(LIVE_CSS) $(LIVE_JS) $(PAGE_OUT)/live.top Makefile
	$(SAY) PAGE $@
	$(Q)$(call make_page,$(LIVE_CSS),$(LIVE_JS),$(LIVE_SED)) > $@.tmp && mv $@.tmp $@

# What stands before, between and after the marks.
PAGE_PARTS := head body tail
$(PAGE_OUT)/head.inc $(PAGE_OUT)/live_head.inc: PART := s/<!--total-->.*//
$(PAGE_OUT)/body.inc $(PAGE_OUT)/live_body.inc: PART := s/.*<!--total-->//; s/<!--data-->.*//
$(PAGE_OUT)/tail.inc $(PAGE_OUT)/live_tail.inc: PART := s/.*<!--data-->//
$(PAGE_OUT)/live_policy.inc: PART := s/.*Content-Security-Policy" content="\([^"]*\)".*/\1/
PAGE_INC := $(PAGE_PARTS:%=$(PAGE_OUT)/%.inc)
LIVE_INC := $(PAGE_PARTS:%=$(PAGE_OUT)/live_%.inc) $(PAGE_OUT)/live_policy.inc
$(PAGE_INC): $(PAGE_OUT)/page.html
$(LIVE_INC): $(PAGE_OUT)/live.html
$(PAGE_INC) $(LIVE_INC):
	$(Q)sed -z '$(PART)' $< | $(pack) > $@.tmp && mv $@.tmp $@

$(B)/render/html.o: $(PAGE_INC)
$(B)/render/live.o: $(LIVE_INC)

# ---- the terminal that top takes one for that it does not know ----

$(O)/page/top/xterm.inc: Makefile
	@mkdir -p $(@D)
	$(Q)printf '"%s"\n' "$$(infocmp -0 -q -Q2 xterm-256color)" > $@.tmp && mv $@.tmp $@

$(B)/top/terminal.o: $(O)/page/top/xterm.inc

# ---- program ----

# Changes of flags rebuild.
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL)' | cmp -s - $@ || \
		echo '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL)' > $@

$(filter $(COLD),$(OBJ)): SMALL := -Os

# Installs nothing: packages of the suites that this machine is configured for.
SYSROOT_DEV := libbpf-dev libelf-dev zlib1g-dev libzstd-dev libcap-dev libncurses-dev
ifneq ($(SYSROOT),)
$(SYSROOT)/packages: tests/vm/packages.sh tests/vm/sysroot
	$(SAY) SYSROOT $(SYSROOT)
	$(Q)tests/vm/sysroot $(CROSS) $(SYSROOT) $(SYSROOT_DEV)

$(B)/flags: $(SYSROOT)/packages
endif

$(B)/%.o: src/%.c $(B)/flags
	$(SAY) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(SMALL) -MMD -MP -c $< -o $@

define module_lib
$(B)/lib$(1).a: $(filter $(B)/$(1)/%,$(OBJ))
	$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach m,$(MODULES),$(eval $(call module_lib,$(m))))

# A library uses those behind it; top and serve are commands of cli, and use it.
LINK_ORDER := cli top $(filter serve,$(MODULES)) cli render collect compare query enrich source proc recording model \
              privilege base

$(PROGRAM): $(B)/main.o $(LIB) $(LAYOUT)
	$(SAY) LINK $@
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $< $(call LIBOF,$(LINK_ORDER)) $(LDLIBS_BPF) $(LDLIBS_TOP) -lpthread -o $@

-include $(OBJ:.o=.d) $(B)/main.d

# ---- completions: the tables, in a shell's words ----

COMPLETIONS := $(O)/completion/zmem-bpf.bash $(O)/completion/zmem-bpf.zsh

# What prints them runs here.
ifneq ($(CROSS),)
COMPLETION := $(O)/here/obj-static/completion
$(COMPLETION): FORCE
	$(Q)$(MAKE) --no-print-directory ARCH= STATIC=1 O=$(O)/here $@
else
COMPLETION := $(B)/completion
endif

$(B)/completion: $(B)/completion.o $(LIB) $(LAYOUT)
	$(SAY) LINK $@
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $< $(call LIBOF,$(LINK_ORDER)) $(LDLIBS_BPF) $(LDLIBS_TOP) -lpthread -o $@

$(COMPLETIONS): $(O)/completion/zmem-bpf.%: src/dist/completion/zmem-bpf.% $(COMPLETION)
	$(SAY) TABLES $@
	@mkdir -p $(@D)
	$(Q)$(COMPLETION) $* > $@.tables
	$(Q)sed -e '/^#tables#$$/ { r $@.tables' -e 'd }' $< > $@.tmp && mv $@.tmp $@

-include $(B)/completion.d

run: deps
	@$(MAKE) --no-print-directory all
	@$(PROGRAM)

# ---- tests ----

# A unit test links only what its module may use: the layer rules as a linker error.
UNIT := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
UNIT_BIN := $(UNIT:%=$(B)/tests/%)

uses_base   := base
uses_recording := recording model base
uses_privilege := privilege base
uses_proc   := proc model base
uses_model  := model base
uses_query  := query model base
uses_compare := compare model base
uses_render := render compare query model base
# What it shows, without the terminal.
uses_top    := top render compare query model base
uses_source := source proc model privilege base
uses_enrich := enrich query proc model base
uses_collect := collect compare query enrich source proc recording model privilege base
uses_cli    := cli render collect compare query enrich source proc recording model privilege base
uses_serve  := serve $(uses_cli)
# tests/unit/test_<module>_<what>.c
module_of    = $(word 2,$(subst _, ,$(1)))

$(B)/tests/%.o: tests/unit/%.c $(B)/flags
	$(SAY) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -Itests/support -DTESTS_DIR='"$(CURDIR)/tests"' -MMD -MP -c $< -o $@

.SECONDEXPANSION:
$(UNIT_BIN): $(B)/tests/%: $(B)/tests/%.o $$(call LIBOF,$$(uses_$$(call module_of,$$*)))
	$(SAY) LINK $@
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $< $(call LIBOF,$(uses_$(call module_of,$*))) \
		$(if $(filter privilege source collect cli serve,$(call module_of,$*)),$(LDLIBS_BPF)) -lcmocka $(LDLIBS_ZIP) -lpthread -o $@

-include $(UNIT_BIN:=.d)
.SECONDARY: $(UNIT_BIN:=.o)

# To be preloaded into our own program.
$(O)/preload.so: tests/support/preload.c
$(O)/heap.so: tests/soak/heap.c
$(O)/preload.so $(O)/heap.so:
	$(SAY) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -static,$(TEST_FLAGS)) -fPIC -shared $< -o $@

# A fuzz target, tests/fuzz/fuzz_<module>_<what>.c, links what its module may use. Without libFuzzer
# replay.c runs it over the corpus, as a test; with it, its own main (SAN has fuzzer-no-link).
FUZZ     := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN := $(FUZZ:%=$(B)/fuzz/%)
FUZZ_SAN := fuzzer-no-link,address,undefined
FUZZ_MAIN = $(if $(findstring fuzzer,$(SAN)),,$(B)/fuzz/replay.o)

$(B)/fuzz/%.o: tests/fuzz/%.c $(B)/flags
	$(SAY) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(FUZZ_BIN): $(B)/fuzz/%: $(B)/fuzz/%.o $$(FUZZ_MAIN) $$(call LIBOF,$$(uses_$$(call module_of,$$*)))
	$(SAY) LINK $@
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(if $(FUZZ_MAIN),,-fsanitize=fuzzer) $< $(FUZZ_MAIN) \
		$(call LIBOF,$(uses_$(call module_of,$*))) \
		$(if $(filter privilege source collect cli serve,$(call module_of,$*)),$(LDLIBS_BPF)) $(LDLIBS_ZIP) -lpthread -o $@

-include $(FUZZ_BIN:=.d) $(B)/fuzz/replay.d
.SECONDARY: $(FUZZ_BIN:=.o) $(B)/fuzz/replay.o

# Programs that tests run; static, so that they share no libc with anybody and run in guests.
TEST_BIN   := $(O)/mkmem $(O)/check_counters $(O)/deny_bpf $(O)/fleet $(O)/stuck $(O)/drop $(O)/thrash $(O)/ask $(O)/turns
BENCH_BIN  := $(O)/workload $(O)/victim $(O)/floor
TEST_FLAGS := -std=gnu17 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -Wno-missing-field-initializers -static

$(O)/mkmem: $(wildcard tests/support/mkmem*.[ch])
$(O)/check_counters: $(wildcard tests/live/check*.[ch])
$(O)/deny_bpf $(O)/fleet $(O)/stuck $(O)/drop $(O)/thrash $(O)/ask $(O)/turns: $(O)/%: tests/support/%.c
$(O)/guest_exit: tests/vm/guest_exit.c
$(O)/churn: tests/soak/churn.c
$(BENCH_BIN): $(O)/%: tests/bench/%.c $(wildcard tests/bench/*.h)
$(TEST_BIN) $(BENCH_BIN) $(O)/guest_exit $(O)/churn:
	$(SAY) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(TEST_FLAGS) $(filter %.c,$^) -lpthread -o $@

test: deps
	@$(MAKE) --no-print-directory test-build
	@O='$(O)' B='$(B)' PROGRAM='$(PROGRAM)' tests/run unit live cli

.PHONY: test-build
test-build: $(PROGRAM) $(COMPLETIONS) $(UNIT_BIN) $(FUZZ_BIN) $(TEST_BIN) $(BENCH_BIN) $(O)/preload.so $(B)/readers $(B)/pages $(B)/edit_recording
ifneq ($(STATIC),1)
	@$(MAKE) --no-print-directory STATIC=1 SAN= all
endif

# What guests run, of another machine as well.
GUEST_BIN := $(addprefix $(O)/,mkmem check_counters drop thrash ask guest_exit)
.PHONY: guest-build
guest-build: $(GUEST_BIN)
	@$(MAKE) --no-print-directory STATIC=1 SAN= all
ifeq ($(ARCH),)
	@$(MAKE) --no-print-directory ARCH=arm64 O=$(O)/arm64 SAN= guest-build
endif

test-all: deps-all
	@$(MAKE) --no-print-directory test-build guest-build
	@$(MAKE) --no-print-directory soak-build
	@$(MAKE) --no-print-directory fuzz-build
	@O='$(O)' B='$(B)' PROGRAM='$(PROGRAM)' FUZZ_SECONDS='$(or $(SECONDS),5)' \
		COMPILERS='$(COMPILERS)' tests/run metrics browser deb vm fuzz soak san valgrind compilers

# SECONDS is bash's own word: it goes by another name.
fuzz: deps deps-fuzz
	@$(MAKE) --no-print-directory fuzz-build
	@O='$(O)' FUZZ_SECONDS='$(or $(SECONDS),60)' tests/run fuzz

.PHONY: fuzz-build
fuzz-build:
	@$(MAKE) --no-print-directory CC=$(CLANG) SAN=$(FUZZ_SAN) STATIC=0 fuzz-bin

.PHONY: fuzz-bin
fuzz-bin: $(FUZZ_BIN)

# KERNELS as in tests/README.md; tests/vm/run has the default.
test-kernels: deps-all
	@$(MAKE) --no-print-directory guest-build
	@O='$(O)' KERNELS='$(KERNELS)' tests/run vm

test-compilers: deps deps-compilers
	@O='$(O)' B='$(B)' PROGRAM='$(PROGRAM)' COMPILERS='$(COMPILERS)' tests/run compilers

.PHONY: compilers-build
compilers-build: $(PROGRAM) $(UNIT_BIN) $(TEST_BIN) $(B)/readers
ifneq ($(STATIC),1)
	@$(MAKE) --no-print-directory STATIC=1 SAN= all
endif

check:
	@tests/check

# A live test that needs the library, for what the program decides by itself.
$(B)/readers: tests/live/readers.c $(call LIBOF,$(uses_source))
	$(SAY) LINK $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $^ $(call LIBOF,base) $(LDLIBS_BPF) -lpthread -o $@

# Recordings that no machine made.
$(B)/edit_recording: tests/support/edit_recording.c $(call LIBOF,$(uses_recording)) $(B)/flags
	$(SAY) LINK $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) -MMD -MP $< $(call LIBOF,$(uses_recording)) $(LDLIBS_ZIP) -o $@

-include $(B)/edit_recording.d

# Pages for the browser.
$(B)/pages: tests/browser/pages.c $(call LIBOF,$(uses_render)) $(B)/flags
	$(SAY) LINK $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) -Itests/support -MMD -MP $< $(call LIBOF,$(uses_render)) \
		-lz -o $@

-include $(B)/pages.d

# A command that stays, for hours.
$(B)/soak $(B)/soak_watch: $(B)/%: tests/soak/%.c tests/soak/measure.h $(call LIBOF,$(uses_cli)) $(B)/flags
	$(SAY) LINK $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) -Itests/fuzz -Wl,--wrap=secure_loaded $< \
		$(call LIBOF,$(uses_cli)) $(LDLIBS_BPF) -lpthread -o $@

soak: deps
	@$(MAKE) --no-print-directory soak-build
	@O='$(O)' B='$(B)' PROGRAM='$(PROGRAM)' SOAK_MINUTES='$(or $(MINUTES),10)' tests/run soak

.PHONY: soak-build
soak-build: $(PROGRAM) $(B)/soak $(B)/soak_watch $(O)/heap.so $(O)/churn $(O)/fleet
ifneq ($(STATIC),1)
	@$(MAKE) --no-print-directory STATIC=1 SAN= all
endif

$(O)/bench: $(wildcard tests/bench/bench*.c tests/bench/*.h) $(call LIBOF,render query $(uses_source))
	$(SAY) LINK $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(filter-out %.h,$^) $(call LIBOF,base) \
		$(LDLIBS_BPF) -lpthread -o $@

$(O)/recording: tests/bench/recording.c $(call LIBOF,$(uses_serve)) $(B)/flags
	$(SAY) LINK $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $< $(call LIBOF,$(uses_serve)) $(LDLIBS_BPF) \
		-lpthread -o $@

bench: deps
	@$(MAKE) --no-print-directory bench-build
	@O='$(O)' PROGRAM='$(O)/zmem-bpf' tests/bench/run $(BENCH)

# Of the program with shared libraries: of a static one perf knows less.
flamegraph: deps
	@$(MAKE) --no-print-directory STATIC=0 all $(O)/workload
	@O='$(O)' PROGRAM='$(O)/zmem-bpf' tests/bench/profile $(FLAMEGRAPH)

.PHONY: bench-build
bench-build: $(O)/bench $(BENCH_BIN)
	@$(MAKE) --no-print-directory STATIC=1 all
	@$(MAKE) --no-print-directory STATIC=0 all

# ---- install ----

AT   = $(DESTDIR)$(PREFIX)
DATA = $(AT)/share/zmem-bpf
MAN  = $(AT)/share/man/man8/zmem-bpf.8
BASH = $(AT)/share/bash-completion/completions/zmem-bpf
ZSH  = $(DESTDIR)$(ZSHDIR)/_zmem-bpf

ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
UNITDIR ?= $(PREFIX)/lib/systemd/system
# The static program has no serve.
UNITS   := zmem-bpf-pin.service $(if $(filter 1,$(STATIC)),,zmem-bpf.service)

# $(call install_here,FILE,AS): with the paths that it has here.
install_here = sed 's|/usr/local/|$(PREFIX)/|' '$(1)' | install -D -m 0644 /dev/stdin '$(2)'

install: all $(COMPLETIONS)
	install -D -m 0755 '$(PROGRAM)' '$(AT)/sbin/zmem-bpf'
	$(call install_here,src/dist/zmem-bpf.8,$(MAN))
	install -D -m 0644 '$(O)/completion/zmem-bpf.bash' '$(BASH)'
	install -D -m 0644 '$(O)/completion/zmem-bpf.zsh' '$(ZSH)'
	$(foreach u,$(UNITS),$(call install_here,src/dist/systemd/$(u),$(DESTDIR)$(UNITDIR)/$(u)) &&) :
	install -D -m 0644 -t '$(DATA)' $(wildcard src/dist/*.schema.json)
	install -D -m 0644 -t '$(DATA)/grafana' $(wildcard src/dist/grafana/*.json)
	install -D -m 0644 -t '$(DATA)/examples' $(wildcard src/dist/examples/*.jq)
	install -D -m 0644 -t '$(DATA)/prometheus' $(wildcard src/dist/prometheus/*.yml)

# Capabilities come last: until then whoever runs it has his own rights.
install-caps: install
	@getent group zmem >/dev/null || { groupadd --system zmem && echo 'made the group zmem'; }
	chown root:zmem '$(AT)/sbin/zmem-bpf'
	chmod 0750 '$(AT)/sbin/zmem-bpf'
	setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep '$(AT)/sbin/zmem-bpf'
	@echo 'for who is to see the memory of all processes: usermod -aG zmem USER'

# Directories that others use as well stay, and the group.
uninstall:
	rm -f '$(AT)/sbin/zmem-bpf' '$(MAN)' '$(BASH)' '$(ZSH)' \
		'$(DESTDIR)$(UNITDIR)/zmem-bpf.service' '$(DESTDIR)$(UNITDIR)/zmem-bpf-pin.service'
	rm -rf '$(DATA)'

# ---- Debian package ----

DEB     := zmem-bpf_$(VERSION)
DEB_DIR := $(O)/deb/zmem-bpf-$(VERSION)
DEB_BY  := the zmem-bpf authors <zmem-bpf@users.noreply.invalid>

# In a copy, since a package's debian/ belongs into the root; unit tests are run only where nobody has
# built and tested before.
deb: deps deps-deb
	$(SAY) DEB '$(O)/$(DEB)_*.deb'
	$(Q)rm -rf '$(O)/deb' && mkdir -p '$(DEB_DIR)'
	$(Q)cp -a LICENSE Makefile README.md bpf include src tests vmlinux '$(DEB_DIR)'
	$(Q)mv '$(DEB_DIR)/src/dist/debian' '$(DEB_DIR)'
	$(Q)mkdir '$(DEB_DIR)/debian/source' && echo '3.0 (native)' > '$(DEB_DIR)/debian/source/format'
	$(Q)printf 'zmem-bpf (%s) unstable; urgency=medium\n\n  * See README.md.\n\n -- %s  %s\n' '$(VERSION)' \
		'$(DEB_BY)' "$$(git log -1 --format=%cD 2>/dev/null || date -R)" > '$(DEB_DIR)/debian/changelog'
	$(Q)cd '$(DEB_DIR)' && env -i PATH="$$PATH" HOME="$$HOME" DEB_BUILD_OPTIONS="nocheck parallel=$$(nproc)" \
		dpkg-buildpackage -b -us -uc > ../log 2>&1 || { tail -n 30 ../log >&2; false; }
	$(Q)lintian --fail-on error,warning '$(O)/deb/$(DEB)'_*.changes
	$(Q)mv '$(O)/deb/$(DEB)'_*.deb '$(O)'

clean:
	rm -rf $(O)

FORCE:
