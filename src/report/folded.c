// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Folded stacks for flame-graph programs: "user;unit;program;pid;kind BYTES", or "group;kind
 * BYTES". The kinds are the parts of PSS and swap_pss. They do not overlap, so the lines of a kind
 * sum to its total. A part that was not measured has no line, because the format has no null.
 */
#include "report/folded.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "report/report.h"
#include "write/text.h"

static const struct {
	const char *name;
	enum counter counter;
} kind[] = {
	{"anon", COUNTER_PSS_ANON},
	{"file", COUNTER_PSS_FILE},
	{"shmem", COUNTER_PSS_SHMEM},
	{"swap", COUNTER_SWAP_PSS},
};

/* Characters of Unicode's White_Space, at which some readers split words. */
static bool is_blank(uint32_t c)
{
	return c == ' ' || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
	       c == 0x202f || c == 0x205f || c == 0x3000;
}

/* A semicolon ends a frame, a blank ends the stack, a newline ends the line. */
static const char *map_char(uint32_t c)
{
	if (c == ';')
		return ":";
	return is_blank(c) || !text_safe(c) ? "_" : NULL;
}

void folded_put_frame(struct strbuf *out, const char *s)
{
	text_put_mapped(out, s && *s ? s : "-", SIZE_MAX, map_char);
}

static void put_frame(struct strbuf *out, const char *s)
{
	folded_put_frame(out, s);
	strbuf_putc(out, ';');
}

static void put_frames(struct strbuf *out, const struct field *group, const struct process *p,
		       bool numeric)
{
	for (size_t i = 0; group && i < group_key_count(group); i++)
		put_frame(out, group_key_text(group, i, p));
	if (group)
		return;
	if (p->user && *p->user && !numeric)
		put_frame(out, p->user);
	else
		strbuf_printf(out, "%u;", p->uid);
	put_frame(out, p->unit);
	put_frame(out, p->name);
	strbuf_printf(out, "%d;", p->pid);
}

/* Writes a line for each kind above 0. */
static void put_kinds(struct strbuf *out, struct strbuf *frames, counter_mask have,
		      const uint64_t *value)
{
	/* Checked first, so that no line is written without its frames. */
	strbuf_take_error(out, frames);
	for (size_t i = 0; i < ARRAY_SIZE(kind); i++) {
		if (!(have & COUNTER_BIT(kind[i].counter)) || !value[kind[i].counter])
			continue;
		strbuf_puts(out, strbuf_str(frames));
		strbuf_puts(out, kind[i].name);
		strbuf_putc(out, ' ');
		strbuf_putu(out, value[kind[i].counter]);
		strbuf_putc(out, '\n');
	}
}

void render_folded(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	cleanup(strbuf_done) struct strbuf frames = {};

	for (size_t i = 0; !style->only_total && i < r->row_count; i++) {
		const struct process *p = r->rows[i].process;

		if (!totals_counts(p))
			continue;
		strbuf_clear(&frames);
		put_frames(&frames, r->group, p, style->numeric);
		put_kinds(out, &frames, p->have, p->value);
	}
	strbuf_clear(&frames);
	if (style->only_total) {
		strbuf_printf(&frames, "(%zu_processes);", r->totals.processes);
		put_kinds(out, &frames, r->totals.have, r->totals.value);
	} else if (r->others_count) {
		strbuf_printf(&frames, "(%zu_more);", r->others_count);
		put_kinds(out, &frames, r->others.have, r->others.value);
	}
}
