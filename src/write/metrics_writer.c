// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes families of metrics in two formats, which differ in the name of a counter or info family,
 * in UNIT and in the end marker.
 */
#include "write/metrics_writer.h"

#include "write/json_writer.h"
#include "write/text.h"

static const char *const type_word[] = {
	[METRIC_GAUGE] = "gauge", [METRIC_COUNTER] = "counter", [METRIC_INFO] = "info"};
static const char *const suffix[] = {
	[METRIC_GAUGE] = "", [METRIC_COUNTER] = "_total", [METRIC_INFO] = "_info"};

void metrics_family(struct metrics_writer *w, const struct metric_family *family)
{
	w->family = family;
	w->described = false;
}

static void put_metadata(struct metrics_writer *w, const char *keyword, const char *value)
{
	const struct metric_family *f = w->family;

	strbuf_puts(w->out, "# ");
	strbuf_puts(w->out, keyword);
	strbuf_putc(w->out, ' ');
	strbuf_puts(w->out, f->name);
	/* OpenMetrics names the family, Prometheus its samples. */
	if (!w->open_metrics)
		strbuf_puts(w->out, suffix[f->type]);
	strbuf_putc(w->out, ' ');
	strbuf_puts(w->out, value);
	strbuf_putc(w->out, '\n');
}

static void describe(struct metrics_writer *w)
{
	const struct metric_family *f = w->family;
	/* Prometheus text 0.0.4 has no type info. */
	bool plain = !w->open_metrics && f->type == METRIC_INFO;

	put_metadata(w, "HELP", f->help);
	put_metadata(w, "TYPE", plain ? type_word[METRIC_GAUGE] : type_word[f->type]);
	if (w->open_metrics && f->unit)
		put_metadata(w, "UNIT", f->unit);
	w->described = true;
}

void metrics_sample(struct metrics_writer *w)
{
	if (!w->described)
		describe(w);
	strbuf_puts(w->out, w->family->name);
	strbuf_puts(w->out, suffix[w->family->type]);
	w->labelled = false;
}

static void begin_label(struct metrics_writer *w, const char *key)
{
	strbuf_putc(w->out, w->labelled ? ',' : '{');
	strbuf_puts(w->out, key);
	strbuf_puts(w->out, "=\"");
	w->labelled = true;
}

void metrics_label(struct metrics_writer *w, const char *key, const char *escaped)
{
	begin_label(w, key);
	strbuf_puts(w->out, escaped);
	strbuf_putc(w->out, '"');
}

void metrics_label_text(struct metrics_writer *w, const char *key, const char *text)
{
	begin_label(w, key);
	metrics_escape(w->out, text, SIZE_MAX);
	strbuf_putc(w->out, '"');
}

static void begin_value(struct metrics_writer *w)
{
	strbuf_puts(w->out, w->labelled ? "} " : " ");
}

void metrics_u64(struct metrics_writer *w, uint64_t v)
{
	begin_value(w);
	strbuf_putu(w->out, v);
	strbuf_putc(w->out, '\n');
}

void metrics_i64(struct metrics_writer *w, int64_t v)
{
	begin_value(w);
	strbuf_puti(w->out, v);
	strbuf_putc(w->out, '\n');
}

void metrics_fixed(struct metrics_writer *w, uint64_t v, uint64_t scale)
{
	begin_value(w);
	strbuf_putu(w->out, v / scale);
	strbuf_putc(w->out, '.');
	while (scale > 1) {
		scale /= 10;
		strbuf_putc(w->out, (char)('0' + v / scale % 10));
	}
	strbuf_putc(w->out, '\n');
}

void metrics_end(struct metrics_writer *w)
{
	if (w->open_metrics)
		strbuf_puts(w->out, "# EOF\n");
}

void metrics_known(struct metrics_writer *w, bool known, uint64_t v)
{
	if (!known || v > JSON_INTEGER_MAX)
		return;
	metrics_sample(w);
	metrics_u64(w, v);
}

/* NULL: the character needs no escape. */
static const char *escape_of(uint32_t c)
{
	switch (c) {
	case '\\':
		return "\\\\";
	case '"':
		return "\\\"";
	case '\n':
		return "\\n";
	default:
		return text_safe(c) ? NULL : TEXT_REPLACEMENT;
	}
}

void metrics_escape(struct strbuf *out, const char *s, size_t max)
{
	text_put_mapped(out, s, max, escape_of);
}
