# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What is installed and packaged: completions, manual pages, units, the Debian package.

# ---- completions: the tables that the program prints, in a script for the shell ----

COMPLETIONS := $(O)/completion/zmem-bpf.bash $(O)/completion/zmem-bpf.zsh

# Prints the tables of completions and of the manual. A cross build makes one for this machine first.
ifneq ($(CROSS),)
HERE_PROGRAM := $(O)/here/zmem-bpf-static
$(HERE_PROGRAM): FORCE
	$(Q)$(MAKE) --no-print-directory ARCH= STATIC=1 O=$(O)/here $@
else
HERE_PROGRAM := $(PROGRAM)
endif

$(COMPLETIONS): $(O)/completion/zmem-bpf.%: src/dist/completion/zmem-bpf.% $(HERE_PROGRAM)
	$(SAY) TABLES $@
	@mkdir -p $(@D)
	$(Q)$(HERE_PROGRAM) completion $* > $@.tables
	$(Q)sed -e '/^#tables#$$/ { r $@.tables' -e 'd }' $< > $@.tmp && mv $@.tmp $@

# ---- JSON schemas: of the fields that the program prints, and of documents.txt ----

DOCUMENTS := src/dist/documents.txt src/dist/documents.py
SCHEMAS   := $(patsubst %,$(O)/schema/%.schema.json,$(shell sed -n 's/^document \([^ ]*\) .*/\1/p' src/dist/documents.txt))

$(O)/schema/fields: $(HERE_PROGRAM)
	$(SAY) TABLES $@
	@mkdir -p $(@D)
	$(Q)$(HERE_PROGRAM) completion fields > $@.$$$$ && mv $@.$$$$ $@

$(SCHEMAS) &: $(DOCUMENTS) $(O)/schema/fields
	$(SAY) SCHEMAS $(O)/schema
	$(Q)src/dist/documents.py schemas $(O)/schema/fields $(O)/schema

# ---- manual pages: two are made of the tables that the program prints, one of findings ----

MAN_COLUMNS  := $(O)/man/zmem-bpf-columns.7
MAN_FINDINGS := $(O)/man/zmem-bpf-findings.7
MAN_JSON     := $(O)/man/zmem-bpf-json.5
MAN_PAGES    := $(sort $(wildcard src/man/*.[1-9]) $(MAN_COLUMNS) $(MAN_FINDINGS) $(MAN_JSON))

$(MAN_COLUMNS): src/man/columns.sh $(HERE_PROGRAM)
	$(SAY) TABLES $@
	@mkdir -p $(@D)
	$(Q)src/man/columns.sh $(abspath $(HERE_PROGRAM)) > $@.$$$$ && mv $@.$$$$ $@

$(MAN_FINDINGS): src/man/findings.py src/model/finding.def
	$(SAY) TABLES $@
	@mkdir -p $(@D)
	$(Q)src/man/findings.py src/model/finding.def > $@.$$$$ && mv $@.$$$$ $@

$(MAN_JSON): src/man/zmem-bpf-json.5.in $(DOCUMENTS) $(O)/schema/fields
	$(SAY) TABLES $@
	@mkdir -p $(@D)
	$(Q)src/dist/documents.py page $(O)/schema/fields $< > $@.$$$$ && mv $@.$$$$ $@

# ---- install ----

AT   = $(DESTDIR)$(PREFIX)
DATA = $(AT)/share/zmem-bpf
# $(call man_here,PAGE): where it is installed.
man_here = $(AT)/share/man/man$(patsubst .%,%,$(suffix $(1)))/$(notdir $(1))
BASH = $(AT)/share/bash-completion/completions/zmem-bpf
ZSH  = $(DESTDIR)$(ZSHDIR)/_zmem-bpf

ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
UNITDIR ?= $(PREFIX)/lib/systemd/system
# The static program has no serve.
UNITS   := zmem-bpf-pin.service zmem-bpf-record.service $(if $(filter 1,$(STATIC)),,zmem-bpf.service)

# Of Python; Debian has its own place for packages.
PYDIR ?= $(PREFIX)/lib/python3/dist-packages

# $(call install_here,FILE,AS): with the paths that it has here; whole or not at all.
install_here = install -D -m 0644 /dev/null '$(2).new' && sed 's|/usr/local/|$(PREFIX)/|' '$(1)' > '$(2).new' && \
	mv '$(2).new' '$(2)' || { rm -f '$(2).new'; false; }

install: all $(COMPLETIONS) $(MAN_COLUMNS) $(MAN_FINDINGS) $(MAN_JSON) $(SCHEMAS)
	install -D -m 0755 '$(PROGRAM)' '$(AT)/bin/zmem-bpf'
	$(foreach p,$(MAN_PAGES),$(call install_here,$(p),$(call man_here,$(p))) &&) :
	install -D -m 0644 '$(O)/completion/zmem-bpf.bash' '$(BASH)'
	install -D -m 0644 '$(O)/completion/zmem-bpf.zsh' '$(ZSH)'
	$(foreach u,$(UNITS),$(call install_here,src/dist/systemd/$(u),$(DESTDIR)$(UNITDIR)/$(u)) &&) :
	install -D -m 0644 -t '$(DATA)' $(SCHEMAS)
	install -D -m 0644 -t '$(DATA)/grafana' $(wildcard src/dist/grafana/*.json)
	install -D -m 0644 -t '$(DATA)/examples' $(wildcard src/dist/examples/*.jq src/dist/examples/*.c)
	install -D -m 0644 -t '$(AT)/include/zmem' include/zmem/record.h include/zmem/setup.h include/zmem/read.h
	install -D -m 0644 -t '$(DESTDIR)$(PYDIR)' src/dist/python/zmem_bpf.py
	install -D -m 0644 -t '$(DATA)/prometheus' $(wildcard src/dist/prometheus/*.yml)
	install -D -m 0644 -t '$(DATA)/kubernetes' $(wildcard src/dist/kubernetes/*.yaml)
	@[ -n '$(DESTDIR)' ] || echo 'to load the BPF programs once in each boot, so that runs of root are faster: systemctl enable --now zmem-bpf-pin'

# Capabilities come last: until then a user who runs the program has no more rights.
install-caps: install
	@getent group zmem >/dev/null || { groupadd --system zmem && echo 'made the group zmem'; }
	chown root:zmem '$(AT)/bin/zmem-bpf'
	chmod 0750 '$(AT)/bin/zmem-bpf'
	setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep '$(AT)/bin/zmem-bpf'
	@echo 'to let a user see the memory of all processes: usermod -aG zmem USER'

# The group and directories that others use as well stay. The pin is removed, as the package does.
uninstall:
	@if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ] && [ -x '$(AT)/bin/zmem-bpf' ]; then '$(AT)/bin/zmem-bpf' pin --remove; fi
	rm -f '$(AT)/bin/zmem-bpf' $(foreach p,$(MAN_PAGES),'$(call man_here,$(p))') '$(BASH)' '$(ZSH)' \
		'$(DESTDIR)$(UNITDIR)/zmem-bpf.service' '$(DESTDIR)$(UNITDIR)/zmem-bpf-pin.service' \
		'$(DESTDIR)$(UNITDIR)/zmem-bpf-record.service'
	rm -f '$(DESTDIR)$(PYDIR)/zmem_bpf.py'
	rm -rf '$(DATA)' '$(AT)/include/zmem'

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
	$(Q)cd '$(DEB_DIR)' && env -i PATH="$$PATH" HOME="$$HOME" DEB_BUILD_PROFILES=nocheck DEB_BUILD_OPTIONS="nocheck parallel=$$(nproc)" \
		dpkg-buildpackage -b -us -uc > ../log 2>&1 || { tail -n 30 ../log >&2; false; }
	$(Q)lintian --fail-on error,warning '$(O)/deb/$(DEB)'_*.changes
	$(Q)mv '$(O)/deb/$(DEB)'_*.deb '$(O)'

# ---- release ----

RELEASE := $(O)/release
# The machines of its static programs: the compiler for aarch64 is one that builds on x86-64.
RELEASE_ARCH := $(MACHINE) $(if $(filter x86_64,$(MACHINE)),arm64)

# Static programs and the package, with their checksums: whole or not there.
release: deps deps-deb $(if $(filter x86_64,$(MACHINE)),deps-cross)
	$(Q)rm -rf '$(RELEASE)' '$(RELEASE).new' && mkdir -p '$(RELEASE).new'
	$(Q)$(foreach a,$(RELEASE_ARCH),$(MAKE) --no-print-directory STATIC=1 ARCH=$(a) O='$(RELEASE).new/$(a)' all && \
		'$(if $(filter-out $(MACHINE),$(a)),aarch64-linux-gnu-)strip' -R .eh_frame \
			-o '$(RELEASE).new/zmem-bpf-$(VERSION)-linux-$(a:arm64=aarch64)' '$(RELEASE).new/$(a)/zmem-bpf-static' && \
		rm -rf '$(RELEASE).new/$(a)' &&) :
	$(Q)$(MAKE) --no-print-directory O='$(RELEASE).new/deb' deb
	$(Q)mv '$(RELEASE).new/deb/$(DEB)'_*.deb '$(RELEASE).new' && rm -rf '$(RELEASE).new/deb'
	$(Q)cd '$(RELEASE).new' && sha256sum -- * > SHA256SUMS
	$(Q)mv '$(RELEASE).new' '$(RELEASE)'
	$(SAY) RELEASE '$(RELEASE)'

# ---- container image ----

image: all
	$(Q)python3 src/dist/image.py '$(PROGRAM)' '$(VERSION)' '$(O)/zmem-bpf_$(VERSION)_oci.tar'
