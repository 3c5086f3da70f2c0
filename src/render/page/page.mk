# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The page of -F html and of serve, and the terminal description of top, as parts of the program.

# ---- the page of -F html: one file, packed ----

PAGE     := src/render/page
PAGE_CSS := $(addprefix $(PAGE)/,page.css parts.css)
PAGE_JS  := $(addprefix $(PAGE)/,format.js data.js machine.js tree.js graph.js rows.js table.js page.js)
PAGE_OUT := $(O)/page/render
# The policy of the page allows this style and this script by their hashes. A hash covers the text between
# the tags, which begins with a newline. One licence line is enough for a file.
hash_of   = $$({ echo; cat $(1); } | sha256sum | cut -c 1-64 | tr a-f A-F | basenc --base16 -d | base64)

# The live page of serve has more in it and may fetch from its own server.
LIVE_CSS := $(PAGE_CSS) src/serve/page/live.css
LIVE_JS  := $(PAGE_JS) $(addprefix src/serve/page/,chart.js live.js)
LIVE_TOP := src/serve/page/live.html
LIVE_SED := -e "s|default-src 'none';|default-src 'none'; connect-src 'self';|" \
            -e 's|which fetches nothing|which asks this server alone|' \
            -e '/^<!--live-->$$/ { r $(PAGE_OUT)/live.top' -e 'd }'

# Comments are left out: lines of //, and lines from /* to */.
no_comments = sed -e '/^[[:space:]]*\/\//d' -e '/^[[:space:]]*\/\*.*\*\/$$/d' -e '/^[[:space:]]*\/\*/,/\*\//d'

# $(call make_page,STYLES,SCRIPTS,SED): a page of the template to stdout.
make_page = mkdir -p $(@D) && $(no_comments) $(1) > $@.style && $(no_comments) $(2) > $@.script && \
	sed -e "s|STYLE_HASH|$(call hash_of,$@.style)|; s|SCRIPT_HASH|$(call hash_of,$@.script)|" $(3) \
		-e '/^<!--style-->$$/ { r $@.style' -e 'd }' \
		-e '/^<!--script-->$$/ { r $@.script' -e 'd }' $(PAGE)/page.html

$(PAGE_OUT)/page.html: $(PAGE)/page.html $(PAGE_CSS) $(PAGE_JS) $(PAGE)/page.mk
	$(SAY) PAGE $@
	$(Q)$(call make_page,$(PAGE_CSS),$(PAGE_JS),-e '/^<!--live-->$$/d') > $@.tmp && mv $@.tmp $@

$(PAGE_OUT)/live.top: $(LIVE_TOP)
	@mkdir -p $(@D)
	$(Q)sed '/ SPDX-/d' $< > $@

$(PAGE_OUT)/live.html: $(PAGE)/page.html $(LIVE_CSS) $(LIVE_JS) $(PAGE_OUT)/live.top $(PAGE)/page.mk
	$(SAY) PAGE $@
	$(Q)$(call make_page,$(LIVE_CSS),$(LIVE_JS),$(LIVE_SED)) > $@.tmp && mv $@.tmp $@

# The parts before, between and after the marks.
PAGE_PARTS := head title body tail
$(PAGE_OUT)/head.inc $(PAGE_OUT)/live_head.inc: PART := s/<!--host-->.*//
$(PAGE_OUT)/title.inc $(PAGE_OUT)/live_title.inc: PART := s/.*<!--host-->//; s/<!--total-->.*//
$(PAGE_OUT)/body.inc $(PAGE_OUT)/live_body.inc: PART := s/.*<!--total-->//; s/<!--data-->.*//
$(PAGE_OUT)/tail.inc $(PAGE_OUT)/live_tail.inc: PART := s/.*<!--data-->//
$(PAGE_OUT)/live_policy.inc: PART := s/.*Content-Security-Policy" content="\([^"]*\)".*/\1/
PAGE_INC := $(PAGE_PARTS:%=$(PAGE_OUT)/%.inc)
LIVE_INC := $(PAGE_PARTS:%=$(PAGE_OUT)/live_%.inc) $(PAGE_OUT)/live_policy.inc
$(PAGE_INC): $(PAGE_OUT)/page.html
$(LIVE_INC): $(PAGE_OUT)/live.html
$(PAGE_INC) $(LIVE_INC):
	$(Q)sed -z '$(PART)' $< | $(pack) > $@.tmp && mv $@.tmp $@

$(B)/render/html.o: $(PAGE_INC) $(LIVE_INC)

# ---- the description that top uses for a terminal of an unknown type ----

$(O)/page/top/xterm.inc: $(PAGE)/page.mk
	@mkdir -p $(@D)
	$(Q)printf '"%s"\n' "$$(infocmp -0 -q -Q2 xterm-256color)" > $@.tmp && mv $@.tmp $@

$(B)/top/terminal.o: $(O)/page/top/xterm.inc
