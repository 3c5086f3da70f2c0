// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The report of grow: addresses become functions, stacks of the same functions become one, and the
 * counters of all targets are read once more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "grow/grow_internal.h"
#include "grow/names.h"
#include "model/wrappers.h"

/* The number of a frame, which is added if it is new. */
static int add_frame(struct grow_report *r, const struct code *code, const struct growth_frame *f,
		     uint32_t *ret)
{
	size_t known = r->merged.codes;
	int err = stack_table_code(&r->merged, code, ret);

	if (err == 0 && *ret >= known)
		r->frame[*ret] = *f;
	return err;
}

/* What is shown of a code: the frames of functions that were compiled in, and of its function. */
struct code_frames {
	uint32_t *number; /* the innermost first */
	size_t count;
};

/* The frame of a function, or of a line of that if there is a source. */
static int add_frame_of(struct grow_report *r, struct code *code, struct growth_frame *f,
			const char *source, uint64_t line, uint32_t *ret)
{
	int err = add_frame(r, code, f, ret);

	if (err < 0 || !source || !*source)
		return err;
	f->function = *ret;
	names_show_line(source, line, code, f);
	return add_frame(r, code, f, ret);
}

static int resolve(struct grow_report *r, const struct name_sources *from,
		   const struct found_name *found, const struct code *of, struct code_frames *ret)
{
	struct code code = *of;
	struct growth_frame f;
	int err = 0;

	ret->number = arena_zalloc(&r->arena, found->inlined_count + 1, sizeof(*ret->number));
	if (!ret->number)
		return -ENOMEM;
	for (size_t i = found->inlined_count; err == 0 && i-- > 0; code = *of) {
		const struct inlined *inlined = &found->inlined[i];

		names_show_inlined(from, inlined, &code, &f);
		err = add_frame_of(r, &code, &f, inlined->source, inlined->line,
				   &ret->number[ret->count++]);
	}
	if (err < 0)
		return err;
	names_show(from, found, &code, &f);
	return add_frame_of(r, &code, &f, found->source, found->line, &ret->number[ret->count++]);
}

/* Frames of the report, by the numbers of the merged table; of[] leads from codes to them. */
static int resolve_all(struct grow *g, struct grow_report *r, struct code_frames *of)
{
	const struct name_sources from = {&g->code,	 &g->stacks,	&g->jit,
					  g->debuginfod, &g->demangler, g->spec.lines};
	const size_t codes = g->stacks.codes;
	struct found_name *found = arena_zalloc(&r->arena, codes + 1, sizeof(*found));
	int err = found ? names_look_up(&from, &r->arena, found) : -ENOMEM;

	/* There may be a frame for a function, and one for its line. */
	if (err == 0)
		r->frame = arena_zalloc(&r->arena, 2 * names_count(found, codes) + 1,
					sizeof(*r->frame));
	if (err == 0 && !r->frame)
		err = -ENOMEM;
	for (size_t i = 0; err == 0 && i < codes; i++) {
		if (found[i].reason < GROWTH_OUT_REASONS)
			r->growth.names_left_out[found[i].reason]++;
		r->growth.lines_left_out += found[i].no_line;
		err = resolve(r, &from, &found[i], &g->stacks.code[i], &of[i]);
	}
	r->growth.frame = r->frame;
	r->growth.frame_count = r->merged.codes;
	if (err == 0)
		names_mark_interpreter(&r->growth);
	return err;
}

/* A runtime may have made its map, or another one, since its code was first seen. */
static int read_jit(struct grow *g)
{
	for (size_t i = 0; i < g->count; i++) {
		if (g->all[i]->jit)
			jit_maps_open(&g->jit, g->all[i]->jit, &g->all[i]->space);
	}
	return jit_maps_read(&g->jit, &g->stacks);
}

static int merge_stack(struct grow_report *r, const struct growth_stack *e,
		       const struct code_frames *of)
{
	uint32_t code[UNWIND_FRAMES], at, count = 0;
	bool truncated = e->truncated;
	int err;

	for (uint32_t i = 0; i < e->frames; i++) {
		const struct code_frames *f = &of[e->frame[i]];

		truncated |= f->count > UNWIND_FRAMES - count;
		for (size_t k = 0; k < f->count && count < UNWIND_FRAMES; k++)
			code[count++] = f->number[k];
	}
	err = stack_table_stack(&r->merged, code, count, truncated, &at);
	if (err == 0)
		growth_stack_add(&r->merged.stack[at], e);
	return err;
}

static int compare_stacks(const void *a, const void *b)
{
	const struct growth_stack *x = a, *y = b;
	int64_t p = growth_sum(x->net), q = growth_sum(y->net);

	return p != q ? ORDER_OF(q, p) : ORDER_OF(y->gross, x->gross);
}

static void list_stacks(struct grow_report *r)
{
	struct growth *out = &r->growth;

	out->stack = r->merged.stack;
	out->stacks = r->merged.stacks;
	for (size_t i = 0; i < out->stacks; i++) {
		struct growth_stack *s = &out->stack[i];

		s->resident = s->resident < s->gross ? s->resident : s->gross;
		for (int k = 0; k < GROWTH_COUNTERS; k++)
			out->accounted[k] += s->net[k];
	}
	if (out->stacks)
		qsort(out->stack, out->stacks, sizeof(*out->stack), compare_stacks);
}

/* The points so far, and this moment. */
static int list_points(struct grow *g, struct grow_report *r, uint64_t now)
{
	struct growth_point *copy;

	/* A process may have ended before the last point. */
	while (g->stop_us && g->points > 1 &&
	       g->point[g->points - 1].time_ms >=
		       g->start_ms + (int64_t)((now - g->start_us) / 1000))
		g->points--;
	grow_add_point(g, now);
	copy = arena_zalloc(&r->arena, g->points, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, g->point, g->points * sizeof(*copy));
	r->growth.point = copy;
	r->growth.points = g->points;
	return 0;
}

static int list_targets(const struct grow *g, struct grow_report *r)
{
	struct growth *out = &r->growth;

	out->target = arena_zalloc(&r->arena, g->count + 1, sizeof(*out->target));
	if (!out->target)
		return -ENOMEM;
	for (size_t i = 0; i < g->count; i++)
		out->target[out->targets++] = (struct growth_target){
			.pid = g->all[i]->space.pid,
			.name = arena_strndup(&r->arena, g->all[i]->name, strlen(g->all[i]->name)),
			.ended = !g->all[i]->live,
			.execs = g->all[i]->execs,
		};
	return 0;
}

/* What changed without a stack, and no later change carried it. Below 0: stacks stand for more. */
static int add_skipped(struct grow *g, const struct grow_sums *all)
{
	uint32_t later;

	if (all->copied > g->copied && grow_label_stack(g, "[no later stack]", &later) == 0) {
		grow_add_pages(g, later, ZMEM_GROW_COPIED, (int64_t)(all->copied - g->copied));
		g->copied = all->copied;
	}
	for (uint32_t i = 0; i < ZMEM_RSS_COUNT; i++) {
		int64_t pages = all->skipped[i] - g->skipped[i];
		uint32_t stack;
		int r;

		if (!pages)
			continue;
		r = grow_label_stack(g, "[no later stack]", &stack);
		/* Too many other labels: the sum of the stacks shows it. */
		if (r < 0)
			return r == -ENOSPC ? 0 : r;
		grow_add_pages(g, stack, i, pages);
		g->skipped[i] = all->skipped[i];
	}
	return 0;
}

/* The counters of all targets, read once more. */
static int add_counters(struct grow *g, struct growth *out)
{
	struct grow_sums all = g->past;
	int r = 0;

	for (size_t i = 0; i < g->count; i++) {
		const struct grow_process *p = g->all[i];
		struct grow_sums sums;

		if (!p->live)
			continue;
		r = grow_watch_visit(g->watch, p->space.pid, false);
		if (r == 0)
			r = grow_watch_sums(g->watch, p->target, &sums);
		if (r < 0)
			return r;
		grow_add_sums(&all, &sums);
	}
	for (uint32_t i = 0; i < ZMEM_RSS_COUNT; i++) {
		out->begin[grow_counter(i)] = all.begin[i] * g->page_size;
		out->change[grow_counter(i)] = (all.end[i] - all.begin[i]) * g->page_size;
	}
	out->events = all.events;
	out->no_room = g->no_room + all.lost_processes;
	out->lost = all.lost_messages + g->unstored;
	out->sampled = all.events - all.taken - all.lost_messages;
	out->sampled_bytes = g->sampled_pages * g->page_size;
	/* Before the end, the next change carries it. */
	return g->stop_us ? add_skipped(g, &all) : 0;
}

static void add_resident(void *arg, uint32_t stack, uint64_t bytes)
{
	struct grow *g = arg;

	g->stacks.stack[stack].resident += bytes;
}

/*
 * Which of the pages that were added are still there: in processes that have ended, none. Returns
 * false if that is not known. *ret_least: there may be more.
 */
static bool check_resident(struct grow *g, bool *ret_least)
{
	bool known = grow_watch_addresses(g->watch), lives = false;

	*ret_least = false;
	for (size_t i = 0; i < g->stacks.stacks; i++) {
		g->stacks.stack[i].resident = 0;
		*ret_least |= g->stacks.stack[i].unaddressed > 0;
	}
	for (size_t i = 0; i < g->count; i++) {
		struct grow_process *p = g->all[i];
		int r = p->live ? touched_check(&p->touched, &p->space, g->code.processes,
						add_resident, g)
				: -ESRCH;

		if (r == -ESRCH)
			continue;
		lives = true;
		known &= r == 0;
		*ret_least |= p->touched.dropped;
	}
	return known && lives;
}

int grow_make_report(struct grow *g, struct grow_report *ret)
{
	cleanup_free struct code_frames *of = NULL;
	struct growth *out = &ret->growth;
	uint64_t now = g->stop_us ? g->stop_us : clock_us(CLOCK_MONOTONIC);
	int r;

	*ret = (struct grow_report){};
	out->start_ms = g->start_ms;
	out->duration_us = now - g->start_us;
	out->mode = g->spec.mode;
	out->each = grow_watch_each(g->watch);
	out->copied_known = g->copied_known;
	out->recent_us = now - (g->report_us ? g->report_us : g->start_us);
	out->resident_known = check_resident(g, &out->resident_least);
	r = add_counters(g, out);
	if (r == 0 && g->heap)
		r = heap_report(g->heap, &g->stacks, &out->heap);
	/* Blocks without a stack, or without memory for them. */
	out->heap.at_least |= g->unstored || g->heap_error;
	of = calloc(g->stacks.codes + 1, sizeof(*of));
	if (r == 0)
		r = read_jit(g);
	if (r == 0)
		r = of ? resolve_all(g, ret, of) : -ENOMEM;
	for (size_t i = 0; r == 0 && i < g->stacks.stacks; i++) {
		r = merge_stack(ret, &g->stacks.stack[i], of);
		g->stacks.stack[i].recent = 0;
	}
	g->report_us = now;
	if (r == 0)
		r = list_points(g, ret, now);
	list_stacks(ret);
	if (r == 0)
		r = growth_find_wrappers(out);
	return r < 0 ? r : list_targets(g, ret);
}

void grow_report_done(struct grow_report *r)
{
	stack_table_done(&r->merged);
	arena_done(&r->arena);
}
