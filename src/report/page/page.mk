# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The page of -F html and of serve, and the terminal description of top, as parts of the program.

# ---- the page of -F html: one file, packed ----

PAGE     := src/report/page
PAGE_CSS := $(addprefix $(PAGE)/,page.css parts.css)
PAGE_JS  := $(addprefix $(PAGE)/,format.js gauge.js data.js findings.js machine.js tree.js graph.js view.js rows.js table.js map.js page.js)
PAGE_OUT := $(O)/page/report
# The policy of the page allows this style and this script by their hashes. A hash covers the text between
# the tags, which begins with a newline. One licence line is enough for a file.
# $(call hash,FILE,VARIABLE): sets the shell's variable. basenc skips what sha256sum writes behind the hash.
hash = { echo && cat $(1); } > $(1).text && sha256sum < $(1).text > $(1).sum && tr a-f A-F < $(1).sum > $(1).hex && \
	basenc --base16 -di $(1).hex > $(1).hash && $(2)=$$(base64 $(1).hash)

PAGE_SED := -e '/^<!--live-->$$/d' -e '/^<!--first-->$$/d' -e '/^<!--events-->$$/d'

# The live page of serve has more in it and may fetch from its own server.
LIVE_CSS := $(PAGE_CSS) src/serve/page/live.css
LIVE_JS  := $(PAGE_JS) $(addprefix src/serve/page/,events.js chart.js refresh.js live.js)
LIVE_SED := -e '/^<!--events-->$$/d' -e "s|default-src 'none';|default-src 'none'; connect-src 'self';|" \
            -e 's|which fetches nothing|which asks this server alone|' \
            -e '/^<!--first-->$$/ { r $(PAGE_OUT)/bar.top' -e 'd }'

# The page of files has other data in the same places.
FILES_JS := $(addprefix $(PAGE)/,format.js gauge.js tree.js graph.js view.js rows.js table.js map.js files.js)
LIVE_FILES_JS := $(FILES_JS) $(addprefix src/serve/page/,refresh.js live_files.js)

# The page of incidents has a time line and events before the rest.
PAST_CSS := $(LIVE_CSS) $(PAGE)/incidents.css
PAST_JS  := $(PAGE_JS) src/serve/page/chart.js $(PAGE)/incidents.js
PAST_SED := -e '/^<!--live-->$$/d' -e '/^<!--first-->$$/d' -e '/^<!--events-->$$/ { r $(PAGE_OUT)/past.top' -e 'd }'

# The page of grow has a chart, the map and places.
GROW_CSS := $(PAGE_CSS) src/serve/page/live.css $(PAGE)/incidents.css
GROW_JS  := $(addprefix $(PAGE)/,format.js tree.js graph.js view.js) src/serve/page/chart.js $(PAGE)/grow.js

# The page of peak has no script: its curve is drawn when it is written.
PEAK_CSS := $(PAGE_CSS) $(PAGE)/peak.css

# Comments are left out: lines of //, and lines from /* to */; and empty lines and indentation.
no_comments = sed -e '/^[[:space:]]*\/\//d' -e '/^[[:space:]]*\/\*.*\*\/$$/d' -e '/^[[:space:]]*\/\*/,/\*\//d' \
	-e 's/^[[:space:]]*//' -e '/^$$/d'

# $(call make_page,STYLES,SCRIPTS,SED[,TEMPLATE]): a page of the template to stdout.
make_page = mkdir -p $(@D) && $(no_comments) $(1) > $@.style && $(no_comments) $(2) > $@.script && \
	$(call hash,$@.style,style) && $(call hash,$@.script,script) && \
	sed -e "s|STYLE_HASH|$$style|; s|SCRIPT_HASH|$$script|" $(3) \
		-e '/^<!--style-->$$/ { r $@.style' -e 'd }' \
		-e '/^<!--script-->$$/ { r $@.script' -e 'd }' $(or $(4),$(PAGE)/page.html)

$(PAGE_OUT)/page.html: $(PAGE)/page.html $(PAGE_CSS) $(PAGE_JS) $(PAGE)/page.mk
	$(SAY) PAGE $@
	$(Q)$(call make_page,$(PAGE_CSS),$(PAGE_JS),$(PAGE_SED)) > $@.tmp && mv $@.tmp $@

$(PAGE_OUT)/files.html: $(PAGE)/page.html $(PAGE_CSS) $(FILES_JS) $(PAGE)/page.mk
	$(SAY) PAGE $@
	$(Q)$(call make_page,$(PAGE_CSS),$(FILES_JS),$(PAGE_SED)) > $@.tmp && mv $@.tmp $@

$(PAGE_OUT)/past.top: $(PAGE)/incidents.html
$(PAGE_OUT)/live.top: src/serve/page/live.html
$(PAGE_OUT)/bar.top: src/serve/page/bar.html
$(PAGE_OUT)/live.top $(PAGE_OUT)/bar.top $(PAGE_OUT)/past.top:
	@mkdir -p $(@D)
	$(Q)sed '/ SPDX-/d' $< > $@

$(PAGE_OUT)/live.html: $(PAGE)/page.html $(LIVE_CSS) $(LIVE_JS) $(PAGE_OUT)/live.top $(PAGE_OUT)/bar.top $(PAGE)/page.mk
	$(SAY) PAGE $@
	$(Q)$(call make_page,$(LIVE_CSS),$(LIVE_JS),$(LIVE_SED) -e '/^<!--live-->$$/ { r $(PAGE_OUT)/live.top' -e 'd }') > $@.tmp && mv $@.tmp $@

$(PAGE_OUT)/live_files.html: $(PAGE)/page.html $(LIVE_CSS) $(LIVE_FILES_JS) $(PAGE_OUT)/bar.top $(PAGE)/page.mk
	$(SAY) PAGE $@
	$(Q)$(call make_page,$(LIVE_CSS),$(LIVE_FILES_JS),$(LIVE_SED) -e '/^<!--live-->$$/d') > $@.tmp && mv $@.tmp $@

$(PAGE_OUT)/past.html: $(PAGE)/page.html $(PAST_CSS) $(PAST_JS) $(PAGE_OUT)/past.top $(PAGE)/page.mk
	$(SAY) PAGE $@
	$(Q)$(call make_page,$(PAST_CSS),$(PAST_JS),$(PAST_SED)) > $@.tmp && mv $@.tmp $@

$(PAGE_OUT)/grow.html: $(PAGE)/grow.html $(GROW_CSS) $(GROW_JS) $(PAGE)/page.mk
	$(SAY) PAGE $@
	$(Q)$(call make_page,$(GROW_CSS),$(GROW_JS),,$(PAGE)/grow.html) > $@.tmp && mv $@.tmp $@

$(PAGE_OUT)/peak.html: $(PAGE)/peak.html $(PEAK_CSS) $(PAGE)/page.mk
	$(SAY) PAGE $@
	$(Q)$(call make_page,$(PEAK_CSS),/dev/null,,$(PAGE)/peak.html) > $@.tmp && mv $@.tmp $@

# The parts before, between and after the marks, and the policy, each as PAGE_PART. What a page has in common with
# another is there once: behind "@".
PAGES := page past@page grow@past peak@grow files@page live@past live_files@files
PAGE_PARTS := head title body tail
part_head := s/<!--host-->.*//
part_title := s/.*<!--host-->//; s/<!--total-->.*//
part_body := s/.*<!--total-->//; s/<!--data-->.*//
part_tail := s/.*<!--data-->//
part_policy := s/.*Content-Security-Policy" content="\([^"]*\)".*/\1/
# $(call page_items,PAGE,BASE): for pack.py.
page_items = $(foreach p,$(PAGE_PARTS),$(1)_$(p)=$(PAGE_OUT)/$(1)_$(p).part@$(2:%=%_$(p)))
PAGE_ITEMS := $(foreach p,$(PAGES),$(call page_items,$(firstword $(subst @, ,$(p))),$(word 2,$(subst @, ,$(p))))) \
              $(foreach p,live_policy live_files_policy,$(p)=$(PAGE_OUT)/$(p).part)
part_files = $(foreach i,$(PAGE_ITEMS),$(firstword $(subst @, ,$(lastword $(subst =, ,$(i))))))

define parts_of
$(PAGE_OUT)/$(1)_%.part: $(PAGE_OUT)/$(1).html
	$$(Q)sed -z '$$(part_$$*)' $$< > $$@.tmp && mv $$@.tmp $$@
endef
$(foreach p,$(PAGES),$(eval $(call parts_of,$(firstword $(subst @, ,$(p))))))

$(PAGE_OUT)/parts.inc: $(part_files) src/base/pack.py
	$(Q)src/base/pack.py $@.tmp $(PAGE_ITEMS) && mv $@.tmp $@

$(B)/report/page_parts.o: $(PAGE_OUT)/parts.inc

# ---- the description that top uses for a terminal of an unknown type ----

$(O)/page/top/xterm.inc: $(PAGE)/page.mk
	@mkdir -p $(@D)
	$(Q)text=$$(infocmp -0 -q -Q2 xterm-256color) && printf '"%s"\n' "$$text" > $@.tmp && mv $@.tmp $@

$(B)/top/terminal.o: $(O)/page/top/xterm.inc
