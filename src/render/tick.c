// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The line before the table of a tick: its time, and what happened since the base of the deltas. */
#include <inttypes.h>

#include "render/grid.h"

static void put_cost(struct line *l, const struct own_cost *cost)
{
	if (!cost->known)
		return;
	line_printf(l, "; zmem-bpf uses %" PRIu64 ".%" PRIu64 " ms of CPU a tick and ",
		    cost->cpu_us / 1000, cost->cpu_us / 100 % 10);
	cell_put(l, cell_bytes(true, cost->resident_bytes), false);
}

static void put_deltas(struct line *l, const struct delta *c)
{
	line_printf(l, c->from_start ? ", changes since " : ", changes per second since ");
	cell_put(l, cell_number(CELL_TIME, true, c->since_ms), false);
	line_printf(l, "; %zu started, %zu ended, %zu changed", c->counts.started, c->counts.ended,
		    c->counts.changed);
}

void render_tick(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	struct line line = {.out = out, .color = style->color};
	const struct delta *c = r->delta;

	line.attr = ATTR_BOLD;
	cell_put(&line, cell_number(CELL_TIME, true, r->snapshot->time_ms), false);
	if (!c) {
		line_end(&line);
		return;
	}
	if (c->known)
		put_deltas(&line, c);
	if (c->missed)
		line_printf(&line, "; %" PRIu64 " tick%s missed", c->missed,
			    c->missed == 1 ? "" : "s");
	put_cost(&line, &c->cost);
	line_end(&line);
}
