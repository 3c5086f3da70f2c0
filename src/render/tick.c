// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The line of a tick. Knows what can be said of the time between two snapshots; no columns. */
#include "zmem/render.h"

#include <inttypes.h>

#include "render/format.h"
#include "render/line.h"

static void put_time(struct line *l, int64_t ms)
{
	char buf[FORMAT_MAX];
	size_t len = format_time(buf, ms, TIME_TABLE);

	line_ascii(l, len ? buf : "-", len ? len : 1);
}

static void put_cost(struct line *l, const struct own_cost *cost)
{
	char buf[FORMAT_MAX];

	if (!cost->known)
		return;
	line_printf(l, "; this costs %" PRIu64 ".%" PRIu64 " ms of CPU a tick and ",
		    cost->cpu_us / 1000, cost->cpu_us / 100 % 10);
	line_ascii(l, buf, format_size(buf, cost->resident_bytes));
}

static void put_changes(struct line *l, const struct change *c)
{
	line_printf(l, c->from_start ? ", changes since " : ", changes per second since ");
	put_time(l, c->since_ms);
	line_printf(l, "; %zu started, %zu ended, %zu changed", c->counts.started, c->counts.ended,
		    c->counts.changed);
}

void render_tick(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	struct line line = {.out = out, .color = style->color};
	const struct change *c = r->change;

	line.attr = ATTR_BOLD;
	put_time(&line, r->snapshot->time_ms);
	if (!c) {
		line_end(&line);
		return;
	}
	if (c->known)
		put_changes(&line, c);
	if (c->missed)
		line_printf(&line, "; %" PRIu64 " tick%s missed", c->missed,
			    c->missed == 1 ? "" : "s");
	put_cost(&line, &c->cost);
	line_end(&line);
}
