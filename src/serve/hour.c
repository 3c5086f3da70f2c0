// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows which figures are kept and what became of them when they were not measured: nothing. */
#include "serve/hour.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

enum figure {
	RAM_USED,
	RAM_AVAILABLE,
	SWAP_USED,
	ALL_PSS,
};

static void set(struct hour_point *p, enum figure f, uint64_t *to, uint64_t v)
{
	*to = v;
	p->have |= 1u << f;
}

static uint64_t weight(const struct process *p)
{
	return (process_has(p, COUNTER_PSS) ? p->value[COUNTER_PSS] : p->value[COUNTER_RSS]) +
	       (process_has(p, COUNTER_SWAP_PSS) ? p->value[COUNTER_SWAP_PSS]
						 : p->value[COUNTER_SWAP]);
}

/* Keeps the largest sorted, the first HOUR_GROUPS of them. */
static void add_group(struct hour_point *p, const char *name, uint64_t bytes)
{
	size_t at = HOUR_GROUPS;

	while (at && (!*p->group[at - 1].name || p->group[at - 1].bytes < bytes))
		at--;
	if (at == HOUR_GROUPS)
		return;
	memmove(&p->group[at + 1], &p->group[at], (HOUR_GROUPS - at - 1) * sizeof(p->group[0]));
	snprintf(p->group[at].name, HOUR_NAME, "%s", *name ? name : "none");
	p->group[at].bytes = bytes;
}

void hour_add(struct hour *h, const struct result *r)
{
	struct hour_point *p = &h->point[h->next];
	const struct meminfo *m = &r->snapshot->system.meminfo;
	uint64_t total = m->value[MEMINFO_TOTAL], available = m->value[MEMINFO_AVAILABLE], used;

	*p = (struct hour_point){.time_ms = r->snapshot->time_ms};
	if (meminfo_has(m, MEMINFO_AVAILABLE))
		set(p, RAM_AVAILABLE, &p->ram_available, available);
	if (meminfo_has(m, MEMINFO_AVAILABLE) && meminfo_has(m, MEMINFO_TOTAL) &&
	    available <= total)
		set(p, RAM_USED, &p->ram_used, total - available);
	if (meminfo_swap_used(m, &used))
		set(p, SWAP_USED, &p->swap_used, used);
	if (r->totals.have & COUNTER_BIT(COUNTER_PSS))
		set(p, ALL_PSS, &p->pss, r->totals.value[COUNTER_PSS]);
	for (size_t i = 0; i < r->row_count; i++) {
		const char *name = r->group->text(r->rows[i]);

		add_group(p, name ? name : "none", weight(r->rows[i]));
	}
	h->next = (h->next + 1) % HOUR_POINTS;
	h->count += h->count < HOUR_POINTS;
}

/* ---- JSON ---- */

/* A name whose end may be half a character. */
static void put_name(struct strbuf *out, const char *s)
{
	size_t len = strlen(s);

	strbuf_putc(out, '"');
	for (size_t i = 0, n; i < len; i += n) {
		uint32_t c;

		n = utf8_decode(s + i, len - i, &c);
		if (n && utf8_printable(c) && c != '"' && c != '\\' && c != '<')
			strbuf_put(out, s + i, n);
		else if (n && c < 0x10000)
			strbuf_printf(out, "\\u%04" PRIx32, c);
		else
			strbuf_puts(out, "\xef\xbf\xbd");
		n = n ? n : 1;
	}
	strbuf_putc(out, '"');
}

static void put_figure(struct strbuf *out, const struct hour_point *p, enum figure f,
		       const char *key, uint64_t v)
{
	strbuf_printf(out, ",\"%s\":", key);
	if (p->have >> f & 1)
		strbuf_putu(out, v);
	else
		strbuf_puts(out, "null");
}

static void put_point(struct strbuf *out, const struct hour_point *p)
{
	strbuf_printf(out, "{\"time_ms\":%" PRId64, p->time_ms);
	put_figure(out, p, RAM_USED, "ram_used_bytes", p->ram_used);
	put_figure(out, p, RAM_AVAILABLE, "ram_available_bytes", p->ram_available);
	put_figure(out, p, SWAP_USED, "swap_used_bytes", p->swap_used);
	put_figure(out, p, ALL_PSS, "pss_bytes", p->pss);
	strbuf_puts(out, ",\"groups\":[");
	for (size_t i = 0; i < HOUR_GROUPS && *p->group[i].name; i++) {
		strbuf_puts(out, i ? ",{\"name\":" : "{\"name\":");
		put_name(out, p->group[i].name);
		strbuf_printf(out, ",\"bytes\":%" PRIu64 "}", p->group[i].bytes);
	}
	strbuf_puts(out, "]}");
}

void hour_json(const struct hour *h, struct strbuf *out)
{
	strbuf_printf(out, "{\"step_s\":%d,\"points\":[", HOUR_STEP_S);
	for (size_t i = 0; i < h->count; i++) {
		size_t at = (h->next + HOUR_POINTS - h->count + i) % HOUR_POINTS;

		strbuf_puts(out, i ? ",\n" : "\n");
		put_point(out, &h->point[at]);
	}
	strbuf_puts(out, "]}\n");
}
