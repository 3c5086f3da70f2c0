// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Looks for what the sentences of fields/summary_said.c say of a result. */
#include "report/summary.h"

#include <string.h>

#include "base/array.h"
#include "fields/ended_fields.h"
#include "fields/summary_said.h"
#include "report/report.h"
#include "write/say.h"

/*
 * The collection counts reasons over all processes, the total only processes that passed the
 * filters: no more reasons than are missing. The rest was not read, because the process cannot be
 * among the rows shown, has no memory, or the kernel cannot tell.
 */
static void find_missing(const struct result *r, struct reason_count ret[MISSING_REASONS])
{
	const struct collection *c = &r->snapshot->collection;
	const struct reason_count all[MISSING_REASONS] = {
		{"denied", c->denied},
		{"timeout", c->timeout},
		{"raced", c->raced},
		{"gone", c->gone},
		{r->totals.pss_status == PSS_UNSUPPORTED ? "unsupported" : "not read", SIZE_MAX},
	};
	size_t left = r->totals.pss_missing;

	for (size_t i = 0; i < MISSING_REASONS; i++) {
		ret[i].why = all[i].why;
		ret[i].count = all[i].count < left ? all[i].count : left;
		left -= ret[i].count;
	}
}

/* Less than these parts of RAM is not worth a line. */
#define UNMAPPED_PART 32
#define LAZYFREE_PART 64

static uint64_t if_worth(const struct result *r, bool known, uint64_t bytes, uint64_t part)
{
	const struct meminfo *m = &r->snapshot->system.meminfo;

	known = known && meminfo_has(m, MEMINFO_TOTAL) && bytes >= m->value[MEMINFO_TOTAL] / part;
	return known ? bytes : 0;
}

static void find_freed(const struct result *r, struct summary *ret)
{
	for (int i = 0; i < PSS_STATUS_COUNT; i++)
		ret->freed[i].why = pss_status_name((enum pss_status)i);
	for (size_t i = 0; i < r->row_count; i++) {
		const struct process *p = r->rows[i].process;
		const enum pss_status why = process_status(p, VALUE_FREED);

		/* A process without memory has none to free. */
		if (why == PSS_OK || why == PSS_SKIPPED || !process_has(p, COUNTER_RSS))
			continue;
		ret->freed[why].count++;
		ret->freed_rows++;
	}
}

/* The usual order of cgroups. Many have no value of it. */
static bool is_by_strain(const struct result *r, const struct table_style *style)
{
	return r->memcgs && style->sorted && strcmp(style->sorted->key, "strain") == 0;
}

void summary_write(struct line *l, const struct result *r)
{
	struct summary summary = {.result = r};

	find_missing(r, summary.missing);
	say_first(l, &(struct said){.sentences = &summary_line, .row = &summary});
}

void summary_print(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	const struct totals *t = &r->totals;
	const struct snapshot *s = r->snapshot;
	const bool none = !(r->memcgs ? r->row_count : t->processes);
	struct summary summary = {.result = r, .machine = !style->head, .nothing = style->nothing};
	const struct said said = {.sentences = style->nothing && none ? &summary_nothing
					       : r->memcgs	      ? &summary_memcgs
								      : &summary_said,
				  .row = &summary};

	summary.by_strain = is_by_strain(r, style);
	find_missing(r, summary.missing);
	find_freed(r, &summary);
	/* Lazily freed memory looks used, and the kernel takes it when it needs it. */
	summary.lazyfree = if_worth(r, t->have & COUNTER_BIT(COUNTER_LAZYFREE),
				    t->value[COUNTER_LAZYFREE], LAZYFREE_PART);
	/* Memory that no row shows. */
	summary.shmem = if_worth(r,
				 !style->head && !s->collection.filtered && !s->collection.hidden &&
					 s->balance.shmem_not_in_pss_known,
				 s->balance.shmem_not_in_pss, UNMAPPED_PART);
	say_all(out, &said, 0, style->width);
}

void summary_print_ended(struct strbuf *out, const struct result *r,
			 const struct table_style *style)
{
	const struct ended_processes *ended = r->snapshot->system.ended;

	if (ended && !r->memcgs)
		say_all(out, &(struct said){&ended_line, ended, NULL, style->bytes}, 0,
			style->width);
}

static void find_unsorted(const struct result *r, const struct field *sorted, struct summary *ret)
{
	if (r->row_count < 2 || !r->totals.have)
		return;
	for (size_t i = 0; i < r->row_count; i++) {
		if (field_value(sorted, &r->rows[i], r->snapshot).known)
			return;
	}
	ret->unsorted = sorted->heading;
	if (field_is_counter(sorted) && sorted->counter < COUNTERS_OF_PROCESS)
		ret->unsorted_why =
			process_counter_status(r->rows[0].process, (enum counter)sorted->counter);
}

void summary_print_notes(struct strbuf *out, const struct result *r,
			 const struct table_style *style)
{
	const struct field *sorted = style->sorted;
	struct summary summary = {.result = r, .unsorted_why = PSS_OK};
	const struct said said = {.sentences = &summary_notes, .row = &summary};
	uint64_t used;

	summary.no_swap = sorted && process_field_of_swap(sorted) &&
			  meminfo_swap_used(&r->snapshot->system.meminfo, &used) && !used;
	if (sorted && !summary.no_swap && !is_by_strain(r, style))
		find_unsorted(r, sorted, &summary);
	say_all(out, &said, 0, style->width);
}
