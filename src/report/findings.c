// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fields/finding_said.h"
#include "write/field_text.h"

/* Lines go on below themselves. */
#define INDENT 4

static void put_sentence(struct line *l, const struct finding *f, enum said_sizes sizes)
{
	const struct said said = {&finding_said, f, NULL, sizes};

	line_printf(l, "%s: ", finding_title(f->key));
	say_sentence(l, &said, finding_said.text[f->key]);
}

static enum line_attr attr_of(const struct finding *f)
{
	return f->level == FINDING_CRITICAL  ? ATTR_RED
	       : f->level == FINDING_WARNING ? ATTR_YELLOW
					     : ATTR_BOLD;
}

void finding_put(struct line *l, const struct finding *f, enum said_sizes sizes)
{
	const struct said said = {&finding_said, f, NULL, sizes};

	l->attr = attr_of(f);
	line_printf(l, "%s:", finding_title(f->key));
	l->attr = ATTR_NORMAL;
	line_blanks(l, 1);
	say_sentence(l, &said, finding_said.text[f->key]);
}

void finding_put_run(struct line *l, const struct finding *f)
{
	const struct said said = {&finding_run, f, NULL, SIZES_SHORT};

	say_sentence(l, &said, finding_run.text[f->key]);
}

/* The title is in the first of the folded lines. */
void finding_print(struct strbuf *out, const struct finding *f, const struct table_style *style)
{
	cleanup(strbuf_done) struct strbuf text = {}, folded = {};
	struct line l = {.out = &text};
	const size_t title = strlen(finding_title(f->key)) + strlen(":");

	put_sentence(&l, f, style->bytes ? SIZES_EXACT : SIZES_SHORT);
	text_put_folded(&folded, strbuf_str(&text), INDENT, style->width);
	if (style->color && folded.len > title) {
		strbuf_puts(out, line_sgr[attr_of(f)]);
		strbuf_put(out, folded.data, title);
		strbuf_puts(out, "\033[0m");
		strbuf_put(out, folded.data + title, folded.len - title);
	} else {
		strbuf_put(out, folded.data, folded.len);
	}
	strbuf_take_error(out, &text);
	strbuf_take_error(out, &folded);
}

void findings_print(struct strbuf *out, const struct findings *all, enum finding_level least,
		    size_t most, const struct table_style *style)
{
	const size_t count = findings_down_to(all, least);
	size_t i;

	for (i = 0; i < count && i < most; i++)
		finding_print(out, &all->item[i], style);
	if (i < count)
		strbuf_printf(out, "and %zu more: zmem-bpf system -v\n", count - i);
}

void json_put_findings(struct json_writer *w, const struct findings *all, enum finding_level least)
{
	const size_t count = findings_down_to(all, least);

	json_begin(w, '[');
	for (size_t i = 0; i < count; i++) {
		cleanup(strbuf_done) struct strbuf text = {}, run = {};
		struct line l = {.out = &text}, arguments = {.out = &run};

		json_begin_line(w, '{');
		json_all(w, &finding_fields, &all->item[i], NULL, false);
		put_sentence(&l, &all->item[i], SIZES_SHORT);
		finding_put_run(&arguments, &all->item[i]);
		strbuf_take_error(w->out, &text);
		strbuf_take_error(w->out, &run);
		json_string(w, "text", strbuf_str(&text));
		json_string(w, "run", run.len ? strbuf_str(&run) : NULL);
		json_end(w, '}');
	}
	json_end_lines(w, ']');
}

void json_found(struct json_writer *w, const struct snapshot *s, const struct result *rows,
		enum finding_level least)
{
	cleanup_free struct findings *all = malloc(sizeof(*all));

	if (!all) {
		w->out->error = -ENOMEM;
		return;
	}
	findings_find(s, rows, all);
	json_newline(w);
	json_key_name(w, "findings");
	json_put_findings(w, all, least);
}

/* ---- what to type next ---- */

#define NEXT	  "next: "
#define NEXT_GAP  "   "
#define NEXT_MOST 4

/* Whether it is already there, followed by a blank or by the end. */
static bool is_said(struct strbuf *said, const char *command)
{
	const size_t len = strlen(command);

	for (const char *at = strbuf_str(said); (at = strstr(at, command)); at++) {
		if (at[len] == '\0' || strncmp(at + len, NEXT_GAP, strlen(NEXT_GAP)) == 0)
			return true;
	}
	return false;
}

void findings_print_next(struct strbuf *out, const struct findings *all, enum finding_level least,
			 const char *self, unsigned width)
{
	cleanup(strbuf_done) struct strbuf said = {};
	const size_t count = findings_down_to(all, least);
	size_t commands = 0;

	for (size_t i = 0; i < count && commands < NEXT_MOST; i++) {
		cleanup(strbuf_done) struct strbuf run = {};
		struct line l = {.out = &run};
		size_t before = said.len;

		strbuf_puts(&run, "zmem-bpf ");
		finding_put_run(&l, &all->item[i]);
		strbuf_take_error(out, &run);
		if (run.len == strlen("zmem-bpf ") || is_said(&said, strbuf_str(&run)) ||
		    (self && strcmp(strbuf_str(&run) + strlen("zmem-bpf "), self) == 0))
			continue;
		strbuf_printf(&said, "%s%s", commands ? NEXT_GAP : "", strbuf_str(&run));
		if (commands && width && strlen(NEXT) + said.len > width) {
			said.len = before;
			break;
		}
		commands++;
	}
	strbuf_take_error(out, &said);
	if (commands)
		strbuf_printf(out, NEXT "%.*s\n", (int)said.len, said.data);
}
