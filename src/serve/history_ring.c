// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Stores the values of the last hour and writes them as JSON. A value not measured is null. */
#include "serve/history_ring.h"

#include <stdio.h>
#include <string.h>

#include "model/account.h"
#include "serve/group_tracker.h"
#include "write/json_writer.h"

enum history_value {
	RAM_USED,
	RAM_AVAILABLE,
	SWAP_USED,
	ALL_PSS,
};

static void set_value(struct history_point *p, enum history_value f, uint64_t *to, uint64_t v)
{
	*to = v;
	p->have |= 1u << f;
}

/* Keeps the HISTORY_GROUPS largest groups, sorted by size. */
static void add_group(struct history_point *p, const char *name, uint64_t bytes)
{
	size_t at = HISTORY_GROUPS;

	while (at && (!*p->group[at - 1].name || p->group[at - 1].bytes < bytes))
		at--;
	if (at == HISTORY_GROUPS)
		return;
	memmove(&p->group[at + 1], &p->group[at], (HISTORY_GROUPS - at - 1) * sizeof(p->group[0]));
	snprintf(p->group[at].name, HISTORY_NAME, "%s", name && *name ? name : "none");
	p->group[at].bytes = bytes;
}

void history_ring_add(struct history_ring *h, const struct result *r)
{
	struct history_point *p = &h->point[h->next];
	const struct meminfo *m = &r->snapshot->system.meminfo;
	struct account_sums sums;
	uint64_t used;

	*p = (struct history_point){.time_ms = r->snapshot->time_ms};
	if (meminfo_has(m, MEMINFO_AVAILABLE))
		set_value(p, RAM_AVAILABLE, &p->ram_available, m->value[MEMINFO_AVAILABLE]);
	if (account_sums(&r->snapshot->system, &sums))
		set_value(p, RAM_USED, &p->ram_used, sums.used);
	if (meminfo_swap_used(m, &used))
		set_value(p, SWAP_USED, &p->swap_used, used);
	if (r->totals.have & COUNTER_BIT(COUNTER_PSS))
		set_value(p, ALL_PSS, &p->pss, r->totals.value[COUNTER_PSS]);
	for (size_t i = 0; i < r->row_count; i++)
		add_group(p, r->group->group(r->rows[i].process), group_weight(r->rows[i].process));
	h->next = (h->next + 1) % HISTORY_POINTS;
	h->count += h->count < HISTORY_POINTS;
}

/* ---- JSON ---- */

static bool has_value(const struct history_point *p, enum history_value f)
{
	return p->have >> f & 1;
}

static void write_point(struct json_writer *w, const struct history_point *p)
{
	json_begin_line(w, '{');
	json_i64(w, "time_ms", p->time_ms);
	json_known(w, "ram_used_bytes", has_value(p, RAM_USED), p->ram_used);
	json_known(w, "ram_available_bytes", has_value(p, RAM_AVAILABLE), p->ram_available);
	json_known(w, "swap_used_bytes", has_value(p, SWAP_USED), p->swap_used);
	json_known(w, "pss_bytes", has_value(p, ALL_PSS), p->pss);
	json_array(w, "groups");
	for (size_t i = 0; i < HISTORY_GROUPS && *p->group[i].name; i++) {
		json_begin(w, '{');
		/* The name may be cut inside a UTF-8 character. */
		json_string(w, "name", p->group[i].name);
		json_u64(w, "bytes", p->group[i].bytes);
		json_end(w, '}');
	}
	json_end(w, ']');
	json_end(w, '}');
}

void history_ring_json(const struct history_ring *h, const struct kill_log *kills,
		       const char *unwatched, bool files, struct strbuf *out)
{
	struct json_writer w = {.out = out, .html = true};

	json_begin(&w, '{');
	json_u64(&w, "step_s", HISTORY_STEP_S);
	json_array(&w, "points");
	for (size_t i = 0; i < h->count; i++) {
		size_t at = (h->next + HISTORY_POINTS - h->count + i) % HISTORY_POINTS;

		write_point(&w, &h->point[at]);
	}
	json_end(&w, ']');
	JSON_KEY(&w, "events");
	if (*unwatched)
		json_put_null(&w);
	else
		kill_log_json(kills, &w);
	json_string(&w, "events_reason", *unwatched ? unwatched : NULL);
	json_bool(&w, "files", files);
	json_end(&w, '}');
	strbuf_putc(out, '\n');
}
