// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/finder.h"

#include "findings/findings.h"
#include "serve/selection.h"

/* Clients may ask for many snapshots a second: growth is counted in longer steps. */
#define STEP_MS 5000

void finder_init(struct finder *f, uint64_t seed)
{
	delta_set_init(&f->deltas, seed, false);
}

void finder_done(struct finder *f)
{
	delta_set_done(&f->deltas);
}

/* Also after the clock was set back. */
static bool is_due(const struct finder *f, const struct snapshot *s)
{
	return s->time_ms < f->kept_ms || s->time_ms - f->kept_ms >= STEP_MS;
}

void finder_update(struct finder *f, struct snapshot *s)
{
	const struct query query = {.order = {.keys = {{process_field("pss")}, 1}},
				    .deltas = &f->deltas};
	struct selection v = {};
	int r;

	delta_set_begin(&f->deltas, &query, false);
	r = selection_query(&v, s, &query);
	/* Texts are borrowed from the snapshot itself. */
	findings_find(s, r < 0 ? NULL : &v.result, &f->found);
	if (r == 0 && is_due(f, s) &&
	    delta_set_update(&f->deltas, &query, &v.snapshot, &v.rows, &v.result.totals) == 0)
		f->kept_ms = s->time_ms;
	selection_done(&v);
}
