// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which functions pass memory on to many callers. */
#include "model/wrappers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/parse.h"

#define CALLERS 8
#define ROUNDS	3

/* Functions of a stack with its place directly above an allocator. */
enum function {
	PLACE,
	CALLER,
	NEXT, /* the caller of the caller, if there is one */
	USER, /* the caller, or the next one if the caller may be a wrapper, too */
	FUNCTIONS,
};

struct call {
	uint32_t function[FUNCTIONS]; /* numbers of frames */
	double bytes;
};

struct wrapper_search {
	struct growth *growth;
	/* For each frame that is a function: */
	double *total; /* bytes of its stacks */
	bool *many;    /* it has many callers */
	bool *found;   /* it is a wrapper */
	struct call *call;
	size_t calls;
};

/* By which functions calls are in groups, and in parts of these. */
struct grouping {
	enum function by, part;
};

struct group {
	size_t end; /* the number of the first call behind it */
	double bytes, largest;
	size_t named, large; /* parts with a name; of these, with 1 of 100 bytes or more */
};

/* Lines of a function are frames of their own. */
static uint32_t function_of(const struct growth *g, uint32_t number)
{
	return g->frame[number].source ? g->frame[number].function : number;
}

static double bytes_of(const struct growth_stack *s)
{
	return (double)s->gross + (double)s->allocated;
}

/* A function that is in a stack several times has its bytes once. */
static int add_totals(struct wrapper_search *w)
{
	const struct growth *g = w->growth;
	cleanup_free size_t *last = calloc(g->frame_count + 1, sizeof(*last));

	if (!last)
		return -ENOMEM;
	for (size_t i = 0; i < g->stacks; i++) {
		for (size_t k = 0; k < g->stack[i].frames; k++) {
			uint32_t function = function_of(g, g->stack[i].frame[k]);

			if (last[function] != i + 1)
				w->total[function] += bytes_of(&g->stack[i]);
			last[function] = i + 1;
		}
	}
	return 0;
}

/* ---- calls ---- */

/* The function further out than *at that is no allocator, and not the same one. */
static bool find_caller(const struct growth *g, const struct growth_stack *s, size_t *at,
			uint32_t *ret)
{
	const uint32_t function = function_of(g, s->frame[*at]);

	while (++*at < s->frames) {
		*ret = function_of(g, s->frame[*at]);
		if (*ret != function && !g->frame[*ret].allocator)
			return true;
	}
	return false;
}

/* With a ~ the name is that of the nearest symbol: it may stand for several functions. */
static bool may_be_wrapper(const struct growth_frame *f)
{
	struct text_part name = part_of(f->name ? f->name : "");

	return !part_cut_suffix(&name, "~") && f->name && f->module && !f->interpreter;
}

static bool find_call(const struct growth *g, const struct growth_stack *s, struct call *ret)
{
	size_t at = 0;

	while (at < s->frames && g->frame[s->frame[at]].allocator)
		at++;
	/* The stack of a block begins at the function that the allocator gave it to. */
	*ret = (struct call){.bytes = at ? bytes_of(s) : (double)s->allocated};
	if (at == s->frames || ret->bytes <= 0)
		return false;
	ret->function[PLACE] = function_of(g, s->frame[at]);
	if (!may_be_wrapper(&g->frame[ret->function[PLACE]]) ||
	    !find_caller(g, s, &at, &ret->function[CALLER]))
		return false;
	if (!find_caller(g, s, &at, &ret->function[NEXT]))
		ret->function[NEXT] = ret->function[CALLER];
	return true;
}

static int compare_calls(const void *a, const void *b, void *arg)
{
	const struct call *x = a, *y = b;
	const struct grouping *in = arg;

	return x->function[in->by] != y->function[in->by]
		       ? ORDER_OF(x->function[in->by], y->function[in->by])
		       : ORDER_OF(x->function[in->part], y->function[in->part]);
}

/* The group that begins with call number i. */
static struct group sum_group(const struct wrapper_search *w, struct grouping in, size_t i)
{
	const struct call *call = w->call;
	struct group ret = {.end = i};

	for (; ret.end < w->calls; ret.end++) {
		if (call[ret.end].function[in.by] != call[i].function[in.by])
			break;
		ret.bytes += call[ret.end].bytes;
	}
	while (i < ret.end) {
		uint32_t part = call[i].function[in.part];
		/* Without a name, several may be addresses of one function. */
		bool named = w->growth->frame[part].name;
		double bytes = 0;

		for (; i < ret.end && call[i].function[in.part] == part; i++)
			bytes += call[i].bytes;
		ret.named += named;
		ret.large += named && bytes * 100 >= ret.bytes;
		ret.largest = bytes > ret.largest ? bytes : ret.largest;
	}
	return ret;
}

static void find_many(struct wrapper_search *w, enum function by, enum function part)
{
	struct grouping in = {by, part};

	sort_items(w->call, w->calls, sizeof(*w->call), compare_calls, &in);
	for (size_t i = 0; i < w->calls;) {
		const struct group group = sum_group(w, in, i);

		w->many[w->call[i].function[by]] = group.named >= CALLERS;
		i = group.end;
	}
}

/* ---- wrappers ---- */

static void list_calls(struct wrapper_search *w)
{
	const struct growth *g = w->growth;

	w->calls = 0;
	for (size_t i = 0; i < g->stacks; i++)
		w->calls += find_call(g, &g->stack[i], &w->call[w->calls]);
	find_many(w, CALLER, NEXT);
	for (size_t i = 0; i < w->calls; i++) {
		uint32_t *function = w->call[i].function;

		function[USER] = function[w->many[function[CALLER]] ? NEXT : CALLER];
	}
	find_many(w, PLACE, CALLER);
}

static bool mark_wrappers(struct wrapper_search *w)
{
	struct grouping users = {PLACE, USER};
	const struct growth *g = w->growth;
	bool any = false;

	list_calls(w);
	sort_items(w->call, w->calls, sizeof(*w->call), compare_calls, &users);
	for (size_t i = 0; i < w->calls;) {
		const struct group group = sum_group(w, users, i);
		uint32_t place = w->call[i].function[PLACE];

		w->found[place] = w->many[place] && group.large >= CALLERS &&
				  group.largest * 2 <= group.bytes &&
				  group.bytes * 10 >= w->total[place] * 9;
		any |= w->found[place];
		i = group.end;
	}
	for (uint32_t i = 0; any && i < g->frame_count; i++) {
		if (w->found[function_of(g, i)])
			g->frame[i].allocator = g->frame[i].wrapper = true;
	}
	return any;
}

int growth_find_wrappers(struct growth *g)
{
	const size_t frames = g->frame_count + 1;
	cleanup_free double *total = calloc(frames, sizeof(*total));
	cleanup_free bool *many = calloc(frames, sizeof(*many));
	cleanup_free bool *found = calloc(frames, sizeof(*found));
	cleanup_free struct call *call = calloc(g->stacks + 1, sizeof(*call));
	struct wrapper_search w = {g, total, many, found, call, 0};
	int r = total && many && found && call ? add_totals(&w) : -ENOMEM;

	for (int i = 0; r == 0 && i < ROUNDS; i++) {
		if (!mark_wrappers(&w))
			break;
	}
	return r;
}
