# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests, fuzzing, soak and benchmarks.

# ---- tests ----

# A unit test links only what its module may use: the layer rules as a linker error.
UNIT := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
UNIT_BIN := $(UNIT:%=$(B)/tests/%)

uses_base      := base
uses_privilege := privilege base
uses_proc      := proc model base
uses_load      := load privilege base
uses_model     := model base
uses_fields    := fields model base
uses_findings  := findings fields model base
uses_query     := query fields model base
uses_source    := source load proc model privilege base
uses_watch     := watch source load proc model privilege base
uses_enrich    := enrich query fields proc model privilege base
uses_recording := recording model base
uses_check     := check enrich query fields source load proc model privilege base
uses_collect   := collect check enrich query fields watch source load proc recording model privilege base
uses_demangle  := demangle privilege base
uses_code      := code demangle proc model privilege base
uses_heap      := heap $(uses_code) watch source load
uses_grow      := grow heap code demangle watch source load proc model privilege base
uses_write     := write fields model base
uses_report    := report findings write check query fields model base
uses_session   := session report findings write $(uses_collect)
# What it shows, without the terminal.
uses_top       := top report findings write check query fields model base
uses_serve     := serve session report findings write $(uses_collect)
uses_incidents := incidents $(uses_session)
uses_recorder  := recorder $(uses_session)
uses_doctor    := doctor serve grow $(uses_session)
uses_command   := command doctor recorder incidents serve top session report findings write grow heap code demangle $(uses_collect)
# Tests that count system calls, or say how long they take.
links_test_enrich_memcg := -Wl,--wrap=openat
links_test_enrich_pool  := -Wl,--wrap=clock_gettime
# One that is given the answers of helpers.
links_fuzz_code_answers := -Wl,--wrap=helper_start,--wrap=helper_call,--wrap=helper_call_file,--wrap=helper_done
# tests/unit/test_<module>_<what>.c
module_of    = $(word 2,$(subst _, ,$(1)))

$(B)/tests/%.o: tests/unit/%.c $(B)/flags
	$(SAY) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -Itests/support -DTESTS_DIR='"tests"' -MMD -MP -c $< -o $@

.SECONDEXPANSION:
$(UNIT_BIN): $(B)/tests/%: $(B)/tests/%.o $$(call LIBOF,$$(uses_$$(call module_of,$$*)))
	$(SAY) LINK $@
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(links_$*) $< $(call LIBOF,$(uses_$(call module_of,$*))) \
		$(if $(filter privilege load source watch enrich check collect demangle code heap grow session serve command,$(call module_of,$*)),$(LDLIBS_BPF)) \
		$(if $(filter command,$(call module_of,$*)),$(LDLIBS_TOP)) -lcmocka $(LDLIBS_ZIP) -lm -lpthread -o $@

-include $(UNIT_BIN:=.d)
.SECONDARY: $(UNIT_BIN:=.o)

# To be preloaded into our own program.
$(O)/preload.so: tests/support/preload.c
$(O)/heap.so: tests/soak/heap.c
$(O)/preload.so $(O)/heap.so:
	$(SAY) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -static,$(TEST_FLAGS)) -Iinclude -fPIC -shared $< -o $@

# A fuzz target, tests/fuzz/fuzz_<module>_<what>.c, links what its module may use. Without libFuzzer
# replay.c runs it over the corpus, as a test; with it, its own main (SAN has fuzzer-no-link).
FUZZ     := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN := $(FUZZ:%=$(B)/fuzz/%)
FUZZ_SAN := fuzzer-no-link,address,undefined
FUZZ_MAIN = $(if $(findstring fuzzer,$(SAN)),,$(B)/fuzz/replay.o)

$(B)/fuzz/%.o: tests/fuzz/%.c $(B)/flags
	$(SAY) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(FUZZ_BIN): $(B)/fuzz/%: $(B)/fuzz/%.o $$(FUZZ_MAIN) $$(call LIBOF,$$(uses_$$(call module_of,$$*)))
	$(SAY) LINK $@
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(links_$*) $(if $(FUZZ_MAIN),,-fsanitize=fuzzer) $< $(FUZZ_MAIN) \
		$(call LIBOF,$(uses_$(call module_of,$*))) \
		$(if $(filter privilege load source watch collect demangle code heap grow session serve command,$(call module_of,$*)),$(LDLIBS_BPF)) \
		$(if $(filter command,$(call module_of,$*)),$(LDLIBS_TOP)) $(LDLIBS_ZIP) -lpthread -o $@

-include $(FUZZ_BIN:=.d) $(B)/fuzz/replay.d
.SECONDARY: $(FUZZ_BIN:=.o) $(B)/fuzz/replay.o

# Programs that tests run; static, so that they share no libc with other processes and run in guests.
TEST_BIN   := $(O)/mkmem $(O)/recount $(O)/check_counters $(O)/deny_bpf $(O)/fleet $(O)/stuck $(O)/drop $(O)/thrash $(O)/eat $(O)/fill $(O)/ask $(O)/turns $(O)/growlab $(O)/peaklab $(O)/jitlab $(O)/malloclab $(O)/malloclab-static
BENCH_BIN  := $(O)/workload $(O)/victim $(O)/floor
TEST_FLAGS := -std=gnu17 -D_GNU_SOURCE -O2 -g -Wall -Wextra $(WERROR) -Wno-missing-field-initializers -static

$(O)/mkmem: $(wildcard tests/support/mkmem*.[ch])
$(O)/check_counters: $(wildcard tests/live/check*.[ch])
$(O)/recount $(O)/deny_bpf $(O)/stuck $(O)/drop $(O)/thrash $(O)/eat $(O)/fill $(O)/ask $(O)/turns $(O)/peaklab: $(O)/%: tests/support/%.c
# As distributions build: with shared libraries, without frame pointers and debugging symbols.
$(O)/growlab: tests/support/growlab.c
$(O)/jitlab: tests/support/jitlab.c
$(O)/malloclab $(O)/malloclab-static: tests/support/malloclab.c
$(O)/growlab $(O)/jitlab $(O)/malloclab: TEST_FLAGS := $(filter-out -static -g,$(TEST_FLAGS)) -fomit-frame-pointer
# For guests, which have neither shared libraries nor libdw.
$(O)/growlab-static: tests/support/growlab.c
$(O)/growlab-static: TEST_FLAGS := $(TEST_FLAGS) -fno-omit-frame-pointer
$(O)/ask: $(wildcard include/zmem/*.h)
$(O)/guest_exit: tests/vm/guest_exit.c
$(O)/load_objects: tests/support/load_objects.c src/load/kernel_members.c src/base/file.c src/base/parse.c src/static.c $(BPF_OBJ) $(B)/flags
$(O)/static_parts: tests/support/static_parts.c src/static.c $(B)/flags
$(O)/churn: tests/soak/churn.c
$(O)/fleet: tests/bench/workload.c tests/bench/workloads.h
$(BENCH_BIN): $(O)/%: tests/bench/%.c $(wildcard tests/bench/*.h)
$(TEST_BIN) $(BENCH_BIN) $(O)/guest_exit $(O)/churn $(O)/growlab-static:
	$(SAY) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(TEST_FLAGS) $(filter %.c,$^) -lpthread -o $@
$(O)/load_objects $(O)/static_parts:
	$(SAY) CC $@
	$(Q)$(CC) $(TEST_FLAGS) $(CPPFLAGS_ALL) $(filter %.c,$^) $(filter -L%,$(LDFLAGS_ALL)) $(LDLIBS_BPF) -o $@

# T='cli/filters live/races' runs these alone, JOBS=1 one after the other.
T ?= unit live cli
test: deps-test
	@$(MAKE) --no-print-directory test-build
	@exec env O='$(O)' B='$(B)' PROGRAM='$(PROGRAM)' tests/run $(T)

unit: deps-unit
	@$(MAKE) --no-print-directory unit-build
	@exec env O='$(O)' B='$(B)' PROGRAM='$(PROGRAM)' tests/run unit

.PHONY: unit-build
unit-build: $(UNIT_BIN) $(FUZZ_BIN) $(SCHEMAS)

.PHONY: test-build
test-build: $(PROGRAM) $(COMPLETIONS) $(SCHEMAS) $(MAN_FINDINGS) $(MAN_JSON) $(UNIT_BIN) $(FUZZ_BIN) $(TEST_BIN) $(BENCH_BIN) $(O)/preload.so $(O)/static_parts $(B)/readers $(B)/samples $(B)/arguments $(B)/pages \
            $(B)/edit_recording $(O)/load_objects
ifneq ($(STATIC),1)
	@$(MAKE) --no-print-directory STATIC=1 SAN= all
endif

# What tests/run runs with these sanitizers.
.PHONY: thread-build memory-build
thread-build: $(PROGRAM) $(B)/tests/test_enrich_pool $(B)/readers $(O)/fleet $(O)/mkmem
memory-build: $(PROGRAM) $(UNIT_BIN) $(FUZZ_BIN) $(SCHEMAS) $(O)/mkmem

# What guests run, of another machine as well.
GUEST_BIN := $(addprefix $(O)/,mkmem recount check_counters drop thrash eat fill ask guest_exit workload growlab-static peaklab load_objects)
# Of the machine's own kind, where it has a compiler of C++.
LEAVELAB := $(if $(filter $(shell uname -m),$(if $(filter arm64,$(ARCH)),aarch64,x86_64)),$(if $(shell command -v c++),$(addprefix $(O)/,leavelab-static ownlab-static)))
$(O)/leavelab-static $(O)/ownlab-static: tests/support/leavelab.cc
	$(SAY) CXX $@
	$(Q)c++ -std=c++17 -O2 -Wall -Wextra $(WERROR) -fno-omit-frame-pointer -static $(if $(findstring ownlab,$@),-DOWN) $< -o $@

.PHONY: guest-build guest-build-arm64
guest-build: $(GUEST_BIN) $(LEAVELAB)
	@$(MAKE) --no-print-directory STATIC=1 SAN= all
guest-build-arm64:
	@$(MAKE) --no-print-directory ARCH=arm64 O=$(O)/arm64 SAN= guest-build

# Of the sanitizers only what finds faults for its minutes; the other guests, places and variants are for test-all.
test-gate: deps-gate
	@$(MAKE) --no-print-directory test-build guest-build guest-build-arm64
	@exec env O='$(O)' B='$(B)' PROGRAM='$(PROGRAM)' KERNELS='5.10,6.1,6.12 7.x,6.12,6.1' VM_PART=gate DEB_PART='package boot' \
		SANS=address,undefined SAN_PART=unit PLACES=docker tests/run metrics browser deb vm san places

test-all: deps-all check
	@$(MAKE) --no-print-directory test-build guest-build guest-build-arm64
	@$(MAKE) --no-print-directory soak-build
	@$(MAKE) --no-print-directory fuzz-build
	@exec env O='$(O)' B='$(B)' PROGRAM='$(PROGRAM)' FUZZ_SECONDS='$(or $(SECONDS),5)' FLAKY=fail \
		COMPILERS='$(COMPILERS)' tests/run

# SECONDS is bash's own word: it goes by another name.
fuzz: deps deps-fuzz
	@$(MAKE) --no-print-directory fuzz-build
	@exec env O='$(O)' FUZZ_SECONDS='$(or $(SECONDS),60)' tests/run fuzz

.PHONY: fuzz-build
fuzz-build:
	@$(MAKE) --no-print-directory CC=$(CLANG) SAN=$(FUZZ_SAN) STATIC=0 fuzz-bin

.PHONY: fuzz-bin
fuzz-bin: $(FUZZ_BIN)

# KERNELS as in tests/README.md; tests/vm/run has the default.
test-kernels: deps-all
	@$(MAKE) --no-print-directory guest-build guest-build-arm64
	@exec env O='$(O)' KERNELS='$(KERNELS)' tests/run vm
ifeq ($(KERNELS),all)
	@O='$(O)' tests/vm/table > '$(O)/kernels.md' && tests/support/insert.py src/doc/kernels.md 'make test-kernels' < '$(O)/kernels.md'
endif

test-compilers: deps-unit deps-compilers
	@exec env O='$(O)' B='$(B)' PROGRAM='$(PROGRAM)' COMPILERS='$(COMPILERS)' tests/run compilers

.PHONY: compilers-build
compilers-build: $(PROGRAM) $(UNIT_BIN:=.o) $(TEST_BIN) $(O)/load_objects
ifneq ($(STATIC),1)
	@$(MAKE) --no-print-directory STATIC=1 SAN= all
endif

check: objects
	@B='$(B)' tests/check

# Live tests that need the library, for what the program decides by itself.
$(B)/samples: LDFLAGS_ALL += -Wl,--wrap=bpf_program_run
$(B)/readers $(B)/samples $(B)/arguments: $(B)/%: tests/live/%.c $(call LIBOF,$(uses_source))
	$(SAY) LINK $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $^ $(call LIBOF,base) $(LDLIBS_BPF) -lpthread -o $@

# Recordings that no machine made.
$(B)/edit_recording: tests/support/edit_recording.c $(call LIBOF,$(uses_recording)) $(B)/flags
	$(SAY) LINK $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) -MMD -MP $< $(call LIBOF,$(uses_recording)) $(LDLIBS_ZIP) -o $@

-include $(B)/edit_recording.d

# Pages for the browser.
$(B)/pages: tests/browser/pages.c $(call LIBOF,$(uses_report)) $(B)/flags
	$(SAY) LINK $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) -Itests/support -MMD -MP $< $(call LIBOF,$(uses_report)) \
		$(LDLIBS_ZIP) -o $@

-include $(B)/pages.d

# A command that stays, for hours.
$(B)/soak $(B)/soak_watch: $(B)/%: tests/soak/%.c $(wildcard tests/soak/*.h) $(call LIBOF,$(uses_command)) $(B)/flags
	$(SAY) LINK $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) -Itests/fuzz -Wl,--wrap=secure_loaded $< \
		$(call LIBOF,$(uses_command)) $(LDLIBS_BPF) $(LDLIBS_TOP) -lpthread -o $@

soak: deps-test
	@$(MAKE) --no-print-directory soak-build
	@exec env O='$(O)' B='$(B)' PROGRAM='$(PROGRAM)' SOAK_MINUTES='$(or $(MINUTES),10)' tests/run soak

.PHONY: soak-build
soak-build: $(PROGRAM) $(B)/soak $(B)/soak_watch $(O)/heap.so $(O)/churn $(O)/fleet
ifneq ($(STATIC),1)
	@$(MAKE) --no-print-directory STATIC=1 SAN= all
endif

$(O)/bench: $(wildcard tests/bench/bench*.c tests/bench/*.h) $(call LIBOF,report write check query fields $(uses_source))
	$(SAY) LINK $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(filter-out %.h,$^) $(call LIBOF,base) \
		$(LDLIBS_BPF) -lpthread -o $@

$(O)/week: tests/bench/week.c $(call LIBOF,$(uses_recording)) $(B)/flags
	$(SAY) LINK $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $< $(call LIBOF,$(uses_recording)) $(LDLIBS_ZIP) -o $@

bench: deps-test
	@$(MAKE) --no-print-directory bench-build
	@exec env O='$(O)' PROGRAM='$(O)/zmem-bpf' tests/bench/run $(BENCH)

# Of the program with shared libraries: of a static one perf knows less.
pictures: deps-all
	@$(MAKE) --no-print-directory all
	@# A pid namespace of its own: other programs of the machine are not in the pictures.
	@unshare --pid --fork --mount-proc env O='$(O)' PROGRAM='$(PROGRAM)' /usr/bin/python3 tests/support/pictures.py

flamegraph: deps-test
	@$(MAKE) --no-print-directory STATIC=0 all $(O)/workload
	@exec env O='$(O)' PROGRAM='$(O)/zmem-bpf' tests/bench/profile $(FLAMEGRAPH)

.PHONY: bench-build
bench-build: $(O)/bench $(O)/week $(O)/fleet $(O)/churn $(BENCH_BIN)
	@$(MAKE) --no-print-directory STATIC=1 all
	@$(MAKE) --no-print-directory STATIC=0 all
