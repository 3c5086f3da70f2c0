// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The words of the total line. They state everything that makes the sums incomplete: what is
 * missing and why, what disagreed, and why a fallback was used.
 */
#include "render/summary.h"

#include "base/array.h"
#include "render/grid.h"

static void write_source(struct line *l, enum pss_source source)
{
	switch (source) {
	case PSS_FROM_ROLLUP:
		line_printf(l, "; PSS from smaps_rollup");
		break;
	case PSS_FROM_KERNEL:
		line_printf(l, "; PSS from the kernel");
		break;
	case PSS_FROM_BOTH:
		line_printf(l, "; PSS from the kernel and smaps_rollup");
		break;
	case PSS_FROM_NOTHING:
		line_printf(l, "; PSS not read");
		break;
	}
}

static void write_cross_check(struct line *l, const struct cross_check *c)
{
	if (!c->done || !c->checked)
		return;
	line_printf(l, ", %u of %u checked agree with the kernel", c->same, c->checked);
	if (c->moved)
		line_printf(l, ", %u moved", c->moved);
	if (c->different)
		line_printf(l, ", %u different", c->different);
	if (c->gone)
		line_printf(l, ", %u gone", c->gone);
}

/*
 * The collection counts reasons over all processes, the total only processes that passed the
 * filters: do not print more reasons than are missing. The rest was not read, because the process
 * cannot be among the rows shown, has no memory, or the kernel cannot tell.
 */
static void write_missing(struct line *l, const struct result *r)
{
	const struct collection *c = &r->snapshot->collection;
	const struct {
		const char *word;
		uint32_t count;
	} reason[] = {{"denied", c->denied},
		      {"timeout", c->timeout},
		      {"raced", c->raced},
		      {"gone", c->gone}};
	size_t left = r->totals.pss_missing;
	const char *before = " (";

	/* No process has PSS, and write_source() said so. */
	if (!left || (r->pss == PSS_FROM_NOTHING && !c->denied && !c->timeout && !c->raced))
		return;
	line_printf(l, "; %zu without PSS", left);
	for (size_t i = 0; i < ARRAY_SIZE(reason); i++) {
		size_t n = reason[i].count < left ? reason[i].count : left;

		if (!n)
			continue;
		line_printf(l, "%s%zu %s", before, n, reason[i].word);
		before = ", ";
		left -= n;
	}
	if (left)
		line_printf(l, "%s%zu not read", before, left);
	line_printf(l, ")");
}

/*
 * Swap in use is a value of the machine, so it is shown only if no row is filtered out. It tells
 * when shared memory fills swap, which no process's SWAP shows.
 */
void summary_swap(struct line *l, const struct result *r)
{
	const struct machine_balance *balance = &r->snapshot->balance;
	uint64_t used, unattributed = balance->swap_unattributed;

	if (r->snapshot->collection.filtered ||
	    !meminfo_swap_used(&r->snapshot->system.meminfo, &used) || !used)
		return;
	line_printf(l, "; swap in use ");
	cell_put(l, cell_bytes(true, used), false);
	if (!balance->swap_unattributed_known || unattributed > used)
		return;
	line_printf(l, ": ");
	cell_put(l, cell_bytes(true, used - unattributed), false);
	line_printf(l, " of processes, ");
	cell_put(l, cell_bytes(true, unattributed), false);
	line_printf(l, " of %sshared memory, tmpfs and swap cache",
		    r->snapshot->collection.hidden ? "hidden processes, " : "");
}

void summary_write(struct line *l, const struct result *r)
{
	const struct snapshot *s = r->snapshot;

	line_printf(l, "total of %zu process%s", r->totals.processes,
		    r->totals.processes == 1 ? "" : "es");
	if (r->group)
		line_printf(l, " in %zu group%s", r->row_count + r->others_count,
			    r->row_count + r->others_count == 1 ? "" : "s");
	write_source(l, r->pss);
	write_cross_check(l, &s->collection.cross_check);
	write_missing(l, r);
	if (s->collection.hidden)
		line_printf(l, "; /proc hides other processes");
	if (s->counters_source == FROM_BPF)
		return;
	line_printf(l, "; counters from /proc");
	if (s->fallback_reason) {
		line_ascii(l, ": ", 2);
		line_text(l, s->fallback_reason, 0);
	}
}
