// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Each stack becomes the path from its place on: stacks that only differ inside of the place are
 * one path. Paths in the order of their frames have those of one place side by side, and of these
 * those of one caller. If lines are known, the place is a line, and the callers are functions.
 */
#include "report/growth_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

/* ---- paths ---- */

/* Frames outside of the program's own: _start, and the C library that calls main. */
static bool is_outside(const struct growth_frame *f)
{
	return (f->allocator && !f->interpreter) ||
	       (f->name && (strcmp(f->name, "_start") == 0 || strcmp(f->name, "_start~") == 0));
}

static struct growth_stack path_of(const struct growth *g, const struct growth_stack *s)
{
	struct growth_stack r = *s;
	size_t first = 0;

	growth_place(g, s, &first);
	while (r.frames > first + 1 && is_outside(&g->frame[s->frame[r.frames - 1]]))
		r.frames--;
	r.frame += first;
	r.frames -= first;
	return r;
}

/*
 * Puts the frames of a path into a room of their own. Between functions that have names, their
 * interpreter says nothing; nor does what passes memory on, between a place and its callers.
 * Returns the room behind the frames.
 */
static uint32_t *copy_frames(const struct growth *g, const struct growth_rows_request *request,
			     struct growth_stack *path, uint32_t *room)
{
	bool all = request->all || (path->frames && g->frame[path->frame[0]].allocator);
	size_t count = 0;

	for (size_t i = 0; i < path->frames; i++) {
		uint32_t number = path->frame[i];
		const struct growth_frame *f = &g->frame[number];

		if (!all && (f->interpreter || (f->allocator && !request->paths)))
			continue;
		/* A caller is shown as its function, without a line. */
		room[count] = count && f->source ? f->function : number;
		count++;
	}
	path->frame = room;
	path->frames = count;
	return room + count;
}

static int compare_paths(const struct growth_stack *x, const struct growth_stack *y)
{
	for (size_t i = 0; i < x->frames && i < y->frames; i++) {
		if (x->frame[i] != y->frame[i])
			return ORDER_OF(x->frame[i], y->frame[i]);
	}
	return x->frames != y->frames ? ORDER_OF(x->frames, y->frames)
				      : x->truncated - y->truncated;
}

static int compare_items(const void *a, const void *b)
{
	const struct growth_row *x = a, *y = b;

	return compare_paths(&x->sum, &y->sum);
}

static int make_paths(const struct growth_rows_request *request, struct growth_row_list *l)
{
	const struct growth *g = l->growth;
	size_t frames = 1;
	uint32_t *room;

	for (size_t i = 0; i < g->stacks; i++)
		frames += g->stack[i].frames;
	l->item = calloc(g->stacks + 1, sizeof(*l->item));
	l->frame = room = calloc(frames, sizeof(*l->frame));
	if (!l->item || !room)
		return -ENOMEM;
	for (size_t i = 0; i < g->stacks; i++) {
		growth_stack_add(&l->all, &g->stack[i]);
		l->item[i].sum = path_of(g, &g->stack[i]);
		room = copy_frames(g, request, &l->item[i].sum, room);
	}
	qsort(l->item, g->stacks, sizeof(*l->item), compare_items);
	for (size_t i = 0; i < g->stacks; i++) {
		struct growth_row *last = l->rows ? &l->item[l->rows - 1] : NULL;

		if (last && compare_items(last, &l->item[i]) == 0)
			growth_stack_add(&last->sum, &l->item[i].sum);
		else
			l->item[l->rows++] = l->item[i];
		l->item[l->rows - 1].paths = 1;
	}
	return 0;
}

/* ---- places ---- */

struct paths {
	const struct growth_row *first;
	size_t count;
};

static bool is_same_place(const struct growth_stack *a, const struct growth_stack *b)
{
	return a->frames && b->frames ? a->frame[0] == b->frame[0] : a->frames == b->frames;
}

/* By what the commonest callers are chosen: what rows are sorted by, else what was added. */
static double weight_of(const struct growth_row_list *l, const struct field *key,
			const struct growth_stack *s)
{
	struct value v = {};

	if (key)
		v = field_value(key, s, &(struct growth_rows){.growth = l->growth, .grown = 1});
	else
		return (double)s->gross;
	if (!v.known)
		return 0;
	if (key->type == FIELD_BYTES)
		return (double)v.bytes;
	if (key->type == FIELD_PERCENT)
		return v.percent;
	return v.number > 0 ? (double)v.number : 0;
}

static double weight_of_all(const struct growth_row_list *l, const struct field *key,
			    struct paths paths)
{
	double sum = 0;

	for (size_t i = 0; i < paths.count; i++)
		sum += weight_of(l, key, &paths.first[i].sum);
	return sum;
}

/* Finds those of the paths with the same first `depth` frames that have the heaviest next one. */
static struct paths heaviest(const struct growth_row_list *l, const struct field *key,
			     struct paths of, size_t depth, double *ret_weight)
{
	struct paths best = {};

	*ret_weight = -1;
	for (size_t i = 0, end; i < of.count; i = end) {
		const struct growth_stack *s = &of.first[i].sum;
		struct paths next = {&of.first[i], 0};
		double weight;

		for (end = i + 1; end < of.count && s->frames > depth; end++) {
			if (of.first[end].sum.frame[depth] != s->frame[depth])
				break;
		}
		next.count = end - i;
		weight = weight_of_all(l, key, next);
		if (weight > *ret_weight) {
			best = next;
			*ret_weight = weight;
		}
	}
	return best;
}

/*
 * The place of the paths, its commonest caller, and the callers of that as long as most of the row
 * comes from there.
 */
static struct growth_stack commonest(const struct growth_row_list *l, const struct field *key,
				     struct paths paths)
{
	struct growth_stack ret = paths.first->sum;
	double whole = weight_of_all(l, key, paths), weight;
	size_t depth = ret.frames > 0;
	bool more = true;

	/* Nothing has this weight, as with processes that have ended: growth decides. */
	if (whole <= 0) {
		key = fields_find(&growth_columns, "growth", 6);
		whole = weight_of_all(l, key, paths);
	}
	if (whole <= 0) {
		key = NULL;
		whole = weight_of_all(l, key, paths);
	}
	for (;;) {
		struct paths next = heaviest(l, key, paths, depth, &weight);

		if (depth > 1 && weight * 2 < whole)
			break;
		paths = next;
		if (paths.first->sum.frames == depth) {
			more = paths.first->sum.truncated;
			break;
		}
		depth++;
	}
	ret.frame = paths.first->sum.frame;
	ret.frames = depth;
	ret.truncated = more;
	return ret;
}

static void join_places(struct growth_row_list *l, const struct field *key)
{
	size_t rows = 0;

	for (size_t i = 0, end; i < l->rows; i = end) {
		struct growth_row row = {};

		for (end = i; end < l->rows; end++) {
			if (!is_same_place(&l->item[i].sum, &l->item[end].sum))
				break;
			growth_stack_add(&row.sum, &l->item[end].sum);
		}
		row.paths = end - i;
		if (end > i + 1) {
			const struct growth_stack path =
				commonest(l, key, (struct paths){&l->item[i], end - i});

			row.sum.frame = path.frame;
			row.sum.frames = path.frames;
			row.sum.truncated = path.truncated;
		} else {
			row = l->item[i];
		}
		l->item[rows++] = row;
	}
	l->rows = rows;
}

/* ---- order ---- */

/*
 * True if the error of the growth is larger than the growth. For blocks: their bounds are too far
 * apart, and the growth of memory does not confirm them either.
 */
static bool is_unsure(const struct growth *g, const struct growth_stack *s)
{
	struct growth_bounds held = growth_held_bounds(g, s);
	int64_t net = growth_sum(s->net);
	uint64_t size = (uint64_t)(net < 0 ? -net : net);
	bool grew = net > 0 && growth_error(s->variance) < size;

	if (!g->heap.known)
		return growth_error(s->variance) > size;
	return held.most - held.least > 2 * growth_held(s) && !grew;
}

/* The allocator has given it nothing, where that was asked. */
static bool has_no_block(const struct growth *g, const struct growth_stack *s)
{
	return g->heap.known && !s->allocated && growth_held(s) == 0;
}

/* Two or more rows that say little become one. */
static void join_rows(struct growth_row_list *l,
		      bool (*says_little)(const struct growth *g, const struct growth_stack *s),
		      const char *why)
{
	struct growth_row sum = {.why = why};
	size_t rows = 0;

	for (size_t i = 0; i < l->rows; i++)
		sum.joined += !l->item[i].joined && says_little(l->growth, &l->item[i].sum);
	if (sum.joined < 2)
		return;
	for (size_t i = 0; i < l->rows; i++) {
		if (!l->item[i].joined && says_little(l->growth, &l->item[i].sum))
			growth_stack_add(&sum.sum, &l->item[i].sum);
		else
			l->item[rows++] = l->item[i];
	}
	l->item[rows++] = sum;
	l->rows = rows;
}

struct row_order {
	const struct growth_rows_request *request;
	const struct field *usual, *still;
	struct growth_rows of;
};

/* By the most that may still be there: pages without an address would hide a leak. */
static int compare_key(const struct row_order *o, const struct field *f,
		       const struct growth_stack *x, const struct growth_stack *y)
{
	if (f == o->still && o->of.growth->resident_known)
		return ORDER_OF(growth_still_most(y), growth_still_most(x));
	return field_compare(f, field_value(f, x, &o->of), field_value(f, y, &o->of));
}

/* What is equal by the keys: by growth, then by what was added, then by what was copied. */
static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct row_order *o = arg;
	const struct growth_stack *x = &(*(struct growth_row *const *)a)->sum;
	const struct growth_stack *y = &(*(struct growth_row *const *)b)->sum;
	const struct field_list *keys = o->request->keys;
	int64_t p = growth_sum(x->net), q = growth_sum(y->net);
	int r = 0;

	for (size_t i = 0; keys && r == 0 && i < keys->count; i++)
		r = compare_key(o, keys->item[i], x, y);
	if (r == 0 && !(keys && keys->count))
		r = compare_key(o, o->usual, x, y);
	if (r == 0)
		r = ORDER_OF(q, p);
	if (r == 0)
		r = ORDER_OF(y->gross, x->gross);
	if (r == 0)
		r = ORDER_OF(y->copied, x->copied);
	if (r == 0)
		r = compare_paths(x, y);
	return o->request->reverse ? -r : r;
}

int growth_rows_make(const struct growth *g, const struct growth_rows_request *request,
		     struct growth_row_list *ret)
{
	struct row_order order = {
		.request = request,
		.usual = growth_usual_key(g),
		.still = fields_find(&growth_columns, "still", 5),
		.of.growth = g,
	};
	const struct field_list *keys = request->keys;
	int r;

	*ret = (struct growth_row_list){.growth = g};
	r = make_paths(request, ret);
	if (r == 0 && !request->paths)
		join_places(ret, keys && keys->count ? keys->item[0] : order.usual);
	ret->places = ret->rows;
	join_rows(ret, is_unsure, "places with an error larger than they are");
	join_rows(ret, has_no_block,
		  g->heap.mean_most > 1 ? "places without a sampled block"
					: "places without a block");
	for (size_t i = 0; i < ret->rows; i++) {
		int64_t net = growth_sum(ret->item[i].sum.net);

		ret->grown += net > 0 ? net : 0;
	}
	order.of.grown = ret->grown ? ret->grown : 1;
	ret->row = calloc(ret->rows + 1, sizeof(*ret->row));
	if (r < 0 || !ret->row)
		return -ENOMEM;
	for (size_t i = 0; i < ret->rows; i++)
		ret->row[i] = &ret->item[i];
	sort_items(ret->row, ret->rows, sizeof(*ret->row), compare_rows, &order);
	return 0;
}

void growth_rows_done(struct growth_row_list *l)
{
	free(l->row);
	free(l->item);
	free(l->frame);
}
