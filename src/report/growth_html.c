// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes the page of grow: src/report/page/grow.html with its data. These have each name once, and
 * the stacks as trees of calls:
 *
 *	{"schema":"zmem.grow_page","schema_version":"1.0",
 *	 "tool", "timestamp", "host", "target", "accounted", "malloc", "history": as in zmem.grow
 *	 "resident_known":true,
 *	 "names":["main","serve (server.c:7)",…],
 *	 "calls":[TREE,TREE],	from the outermost functions on, and from the innermost ones on
 *	 "places":{"count":12,	rows of the table; names by their numbers
 *	  "left_out":0,		rows
 *	  "total":{"resident_bytes":0,…},
 *	  "rows":[{"resident_bytes":0,…,"frames":[1,0],"more":false,"paths":2,"joined":0,"why":null},…]}}
 *
 *	TREE: {"nodes":[[1,0],[1,1,4096],…],
 *	       "rest":[],	what nodes without a parent have that are left out
 *	       "left_out":12,	so many small nodes are part of their parents
 *	       "share":0.01}	each has less than that much percent of all
 *
 * A node is how far before it its parent is in the list (without one: how far the beginning is, and
 * one more), the number of its name, and what stacks that end there have, without the zeros at the
 * end: anon, file, shmem, swap, added, still, held, allocated, changes. The first four are the
 * growth of places that grew (growth_parts()).
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/growth.h"
#include "report/growth_rows.h"
#include "report/growth_text.h"
#include "report/json.h"
#include "report/page_parts.h"
#include "write/field_text.h"
#include "write/format.h"

#define NODES_MOST  15000 /* a screen has room for fewer */
#define PLACES_MOST 500
#define NAME_MOST   160 /* columns */

enum node_value {
	NODE_ADDED = GROWTH_COUNTERS, /* before it: growth, by counter */
	NODE_STILL,
	NODE_HELD,
	NODE_ALLOCATED,
	NODE_CHANGES,
	NODE_VALUES,
};

struct call_node {
	uint32_t parent; /* before it in the list; NO_PARENT */
	uint32_t frame;
	uint32_t number; /* in the page */
	bool kept;
	double weight; /* the largest share that it and all below it have of a value */
	uint64_t own[NODE_VALUES], all[NODE_VALUES];
};

#define NO_PARENT UINT32_MAX

struct call_tree {
	const struct growth *g;
	bool inward; /* from the outermost function on */
	struct call_node *node;
	size_t nodes, room;
	uint64_t rest[NODE_VALUES]; /* of nodes that are left out, and have no parent */
	size_t left_out;
	double left_share;
};

/* ---- the tree ---- */

/* The frame of a depth of the tree. Callers that are not known are one. */
static uint32_t frame_at(const struct call_tree *t, const struct growth_stack *s, size_t depth)
{
	size_t at = t->inward ? s->frames + s->truncated - 1 - depth : depth;

	return at < s->frames ? s->frame[at] : (uint32_t)t->g->frame_count;
}

static size_t depth_of(const struct growth_stack *s)
{
	return s->frames + s->truncated;
}

static int compare_paths(const void *a, const void *b, void *arg)
{
	const struct growth_stack *x = ((const struct growth_part *)a)->stack;
	const struct growth_stack *y = ((const struct growth_part *)b)->stack;

	for (size_t i = 0; i < depth_of(x) && i < depth_of(y); i++) {
		uint32_t p = frame_at(arg, x, i), q = frame_at(arg, y, i);

		if (p != q)
			return ORDER_OF(p, q);
	}
	return ORDER_OF(depth_of(x), depth_of(y));
}

/* The growth of a stack, by the counters that it made grow. */
static void split_growth(const struct growth_stack *s, uint64_t growth, uint64_t own[NODE_VALUES])
{
	uint64_t left = growth;
	double grown = 0;
	int last = 0;

	for (int i = 0; i < GROWTH_COUNTERS; i++) {
		grown += s->net[i] > 0 ? (double)s->net[i] : 0;
		last = s->net[i] > 0 ? i : last;
	}
	for (int i = 0; i < last; i++) {
		uint64_t part =
			s->net[i] > 0 ? (uint64_t)((double)growth * (double)s->net[i] / grown) : 0;

		part = part < left ? part : left;
		own[i] += part;
		left -= part;
	}
	own[last] += left;
}

static void add_values(const struct growth *g, const struct growth_part *of,
		       uint64_t own[NODE_VALUES])
{
	const struct growth_stack *s = of->stack;

	if (of->bytes > 0)
		split_growth(s, (uint64_t)of->bytes, own);
	own[NODE_ADDED] += s->gross;
	own[NODE_STILL] += g->resident_known ? s->resident : 0;
	own[NODE_HELD] += growth_held(s);
	own[NODE_ALLOCATED] += s->allocated;
	own[NODE_CHANGES] += s->changes;
}

static int add_node(struct call_tree *t, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	if (!array_room(&t->node, t->nodes, &t->room, 64))
		return -ENOMEM;
	t->node[t->nodes] = (struct call_node){.parent = parent, .frame = frame};
	*ret = (uint32_t)t->nodes++;
	return 0;
}

/* Stacks in the order of their frames: each begins as the one before does. */
static int add_stacks(struct call_tree *t, const struct growth_part *part)
{
	cleanup_free uint32_t *path = NULL;
	size_t deepest = 0, common = 0;
	int r = 0;

	for (size_t i = 0; i < t->g->stacks; i++)
		deepest = depth_of(part[i].stack) > deepest ? depth_of(part[i].stack) : deepest;
	path = calloc(deepest + 1, sizeof(*path));
	if (!path)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < t->g->stacks; i++) {
		const struct growth_stack *s = part[i].stack;
		size_t depth = depth_of(s), before = i ? depth_of(part[i - 1].stack) : 0;

		for (common = 0; common < depth && common < before; common++) {
			if (frame_at(t, s, common) != frame_at(t, part[i - 1].stack, common))
				break;
		}
		for (size_t k = common; r == 0 && k < depth; k++)
			r = add_node(t, k ? path[k - 1] : NO_PARENT, frame_at(t, s, k), &path[k]);
		if (r == 0 && depth)
			add_values(t->g, &part[i], t->node[path[depth - 1]].own);
	}
	return r;
}

static void weigh(struct call_tree *t)
{
	double whole[NODE_CHANGES] = {};

	for (size_t i = t->nodes; i-- > 0;) {
		struct call_node *n = &t->node[i];

		for (int k = 0; k < NODE_VALUES; k++) {
			n->all[k] += n->own[k];
			if (n->parent != NO_PARENT)
				t->node[n->parent].all[k] += n->all[k];
			if (k < NODE_CHANGES)
				whole[k] += (double)n->own[k];
		}
	}
	for (size_t i = 0; i < t->nodes; i++) {
		for (int k = 0; k < NODE_CHANGES; k++) {
			double share = whole[k] > 0 ? (double)t->node[i].all[k] / whole[k] : 0;

			t->node[i].weight = share > t->node[i].weight ? share : t->node[i].weight;
		}
	}
}

/* The heaviest first. A caller is before what it calls: it has no less, and was added before. */
static int compare_weight(const void *a, const void *b, void *arg)
{
	const uint32_t *x = a, *y = b;
	const struct call_node *node = arg;

	return node[*x].weight == node[*y].weight ? ORDER_OF(*x, *y)
						  : ORDER_OF(node[*y].weight, node[*x].weight);
}

/* What the smallest nodes have is their parents', or the rest. */
static int prune(struct call_tree *t)
{
	cleanup_free uint32_t *order = calloc(t->nodes + 1, sizeof(*order));
	uint32_t number = 0;

	if (!order)
		return -ENOMEM;
	weigh(t);
	for (size_t i = 0; i < t->nodes; i++)
		order[i] = (uint32_t)i;
	sort_items(order, t->nodes, sizeof(*order), compare_weight, t->node);
	for (size_t i = 0; i < t->nodes && i < NODES_MOST; i++)
		t->node[order[i]].kept = true;
	if (t->nodes > NODES_MOST) {
		t->left_out = t->nodes - NODES_MOST;
		t->left_share = 100 * t->node[order[NODES_MOST]].weight;
	}
	for (size_t i = t->nodes; i-- > 0;) {
		struct call_node *n = &t->node[i];

		uint64_t *to = n->parent == NO_PARENT ? t->rest : t->node[n->parent].own;

		for (int k = 0; !n->kept && k < NODE_VALUES; k++)
			to[k] += n->own[k];
	}
	for (size_t i = 0; i < t->nodes; i++)
		t->node[i].number = t->node[i].kept ? number++ : 0;
	return 0;
}

static int make_tree(struct call_tree *t, struct growth_part *part)
{
	int r;

	sort_items(part, t->g->stacks, sizeof(*part), compare_paths, t);
	r = add_stacks(t, part);
	return r < 0 ? r : prune(t);
}

/* ---- the page ---- */

struct growth_page {
	const struct growth *g;
	struct growth_row_list places;
	struct call_tree calls[2];
	uint32_t *name; /* of frames, and of the callers that are not known: numbers in the page */
};

static int make_page(struct growth_page *p)
{
	const struct growth *g = p->g;
	cleanup_free struct growth_part *part = calloc(g->stacks + 1, sizeof(*part));
	int r;

	p->name = calloc(g->frame_count + 1, sizeof(*p->name));
	if (!part || !p->name)
		return -ENOMEM;
	growth_parts(g, part);
	r = growth_rows_make(g, &(struct growth_rows_request){}, &p->places);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(p->calls); i++) {
		p->calls[i] = (struct call_tree){.g = g, .inward = i == 0};
		r = make_tree(&p->calls[i], part);
	}
	return r;
}

static void page_done(struct growth_page *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->calls); i++)
		free(p->calls[i].node);
	growth_rows_done(&p->places);
	free(p->name);
}

/* The name of a frame, with its line. */
static void put_name(struct json_writer *w, const struct growth *g, uint32_t frame)
{
	cleanup(strbuf_done) struct strbuf whole = {}, text = {};
	const struct growth_frame *f;

	if (frame == g->frame_count) {
		json_put_string(w, "[truncated]");
		return;
	}
	f = &g->frame[frame];
	growth_put_frame(&whole, f);
	growth_put_short(&text, strbuf_str(&whole), NAME_MOST);
	if (f->source) {
		strbuf_puts(&text, " (");
		growth_put_line(&text, f);
		strbuf_puts(&text, ")");
	}
	json_put_string(w, strbuf_str(&text));
	strbuf_take_error(w->out, &whole);
	strbuf_take_error(w->out, &text);
}

/* Marks the frames that the page names, and names them. */
static void put_names(struct json_writer *w, struct growth_page *p)
{
	uint32_t names = 0;

	for (size_t k = 0; k < ARRAY_SIZE(p->calls); k++) {
		for (size_t i = 0; i < p->calls[k].nodes; i++) {
			if (p->calls[k].node[i].kept)
				p->name[p->calls[k].node[i].frame] = 1;
		}
	}
	for (size_t i = 0; i < p->places.rows && i < PLACES_MOST; i++) {
		const struct growth_stack *s = &p->places.row[i]->sum;

		for (size_t k = 0; k < s->frames; k++)
			p->name[s->frame[k]] = 1;
	}
	json_newline(w);
	json_array(w, "names");
	for (uint32_t i = 0; i <= p->g->frame_count; i++) {
		if (!p->name[i])
			continue;
		p->name[i] = names++;
		put_name(w, p->g, i);
	}
	json_end(w, ']');
}

/* Without the zeros at the end. */
static void put_own(struct json_writer *w, const uint64_t own[NODE_VALUES])
{
	int values = NODE_VALUES;

	while (values && !own[values - 1])
		values--;
	for (int k = 0; k < values; k++)
		json_put_u64(w, own[k]);
}

static void put_node(struct json_writer *w, const struct growth_page *p, const struct call_tree *t,
		     const struct call_node *n)
{
	json_begin(w, '[');
	json_put_u64(w, n->parent == NO_PARENT ? n->number + 1
					       : n->number - t->node[n->parent].number);
	json_put_u64(w, p->name[n->frame]);
	put_own(w, n->own);
	json_end(w, ']');
}

static void put_calls(struct json_writer *w, const struct growth_page *p, const struct call_tree *t)
{
	json_begin_line(w, '{');
	json_array(w, "nodes");
	for (size_t i = 0; i < t->nodes; i++) {
		if (t->node[i].kept)
			put_node(w, p, t, &t->node[i]);
	}
	json_end(w, ']');
	json_array(w, "rest");
	put_own(w, t->rest);
	json_end(w, ']');
	json_u64(w, "left_out", t->left_out);
	JSON_KEY(w, "share");
	json_put_hundredths(w, (uint64_t)(100 * t->left_share) + (t->left_out > 0));
	json_end(w, '}');
}

static void put_sums(struct json_writer *w, const struct growth_page *p,
		     const struct growth_stack *sum)
{
	const struct growth_rows of = {.growth = p->g, .grown = p->places.grown};
	struct field_list list = {};
	struct field_error bad;

	field_list_parse(&list, &growth_columns,
			 "still,growth,error,added,copied,held,held_least,held_most,allocated,kind",
			 &bad);
	json_fields(w, &list, sum, &of, false);
	json_bool(w, "at_least", p->g->resident_known && growth_still_most(sum) > sum->resident);
}

static void put_place(struct json_writer *w, const struct growth_page *p,
		      const struct growth_row *row)
{
	json_begin_line(w, '{');
	put_sums(w, p, &row->sum);
	json_array(w, "frames");
	for (size_t i = 0; i < row->sum.frames; i++)
		json_put_u64(w, p->name[row->sum.frame[i]]);
	json_end(w, ']');
	json_bool(w, "more", row->sum.truncated);
	json_u64(w, "paths", row->paths);
	json_u64(w, "joined", row->joined);
	json_string(w, "why", row->why);
	json_end(w, '}');
}

static void put_places(struct json_writer *w, const struct growth_page *p)
{
	const struct growth_row_list *l = &p->places;

	json_newline(w);
	json_object(w, "places");
	json_u64(w, "count", l->places);
	json_u64(w, "left_out", l->rows > PLACES_MOST ? l->rows - PLACES_MOST : 0);
	json_object(w, "total");
	put_sums(w, p, &l->all);
	json_end(w, '}');
	json_array(w, "rows");
	for (size_t i = 0; i < l->rows && i < PLACES_MOST; i++)
		put_place(w, p, l->row[i]);
	json_end(w, ']');
	json_end(w, '}');
}

static void put_data(struct strbuf *out, const struct growth *g)
{
	const struct growth_rows of = {.growth = g};
	cleanup(page_done) struct growth_page page = {.g = g};
	struct json_writer w = {.out = out, .html = true};
	int r = make_page(&page);

	if (r < 0) {
		out->error = out->error ? out->error : r;
		return;
	}
	json_document_begin(&w, "zmem.grow_page", "1.0", g->snapshot);
	json_lines(&w, &growth_head, g, &of);
	json_newline(&w);
	json_bool(&w, "resident_known", g->resident_known);
	put_names(&w, &page);
	json_newline(&w);
	json_array(&w, "calls");
	for (size_t i = 0; i < ARRAY_SIZE(page.calls); i++)
		put_calls(&w, &page, &page.calls[i]);
	json_end(&w, ']');
	put_places(&w, &page);
	json_document_end(&w);
}

void render_growth_html(struct strbuf *out, const struct growth *g)
{
	char size[FORMAT_MAX];
	int64_t change = growth_sum(g->change);

	unpack(out, &grow_head);
	html_put_text(out, g->targets ? g->target[0].name : NULL);
	unpack(out, &grow_title);
	/* For readers without JavaScript. */
	strbuf_puts(out, "<p>");
	html_put_text(out, g->targets ? g->target[0].name : NULL);
	strbuf_puts(out, change < 0 ? ": -" : ": +");
	strbuf_put(out, size, format_size(size, (uint64_t)(change < 0 ? -change : change)));
	strbuf_puts(out, "</p>");
	unpack(out, &grow_body);
	put_data(out, g);
	unpack(out, &grow_tail);
}
