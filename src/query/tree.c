// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Processes under their parents, each with the sums of all below it. Knows who stands below whom;
 * refuses to recurse, since a tree may be as deep as there are processes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/tree.h"

#define NONE SIZE_MAX
/* Beyond, nothing is indented further: no terminal is that wide, and a chain of forks is long. */
#define DEPTH_MAX 64

struct tree {
	struct process **row; /* oldest first: parents before their children */
	size_t count;
	struct tree_node *node; /* of each row */
	size_t root;		/* the first one of them */
	struct process *item;
	struct rows *shown;
};

static int compare_age(const struct process *a, const struct process *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int compare_rows(const void *a, const void *b)
{
	return compare_age(*(struct process *const *)a, *(struct process *const *)b);
}

static int compare_sorted(const void *a, const void *b, void *arg)
{
	(void)arg;
	return compare_rows(a, b);
}

static size_t find_row(const struct tree *t, const struct process *p)
{
	struct process *const *found;

	found = bsearch(&p, t->row, t->count, sizeof(*t->row), compare_rows);
	return found ? (size_t)(found - t->row) : NONE;
}

/*
 * The next one above that is a row. Nobody is younger than its parent, and a recording that says so
 * must not lead us in a circle.
 */
static size_t parent_of(const struct tree *t, const struct snapshot *s, const struct process *p)
{
	const struct process *up = p;
	size_t i;

	while (up->ppid) {
		const struct process *parent = snapshot_find(s, up->ppid);

		if (!parent || compare_age(parent, up) >= 0)
			return NONE;
		up = parent;
		i = find_row(t, up);
		if (i != NONE)
			return i;
	}
	return NONE;
}

static int tree_start(struct tree *t, const struct rows *rows, struct sums *sums)
{
	int r = sums_reserve(sums, rows->count, true);

	if (r < 0)
		return r;
	*t = (struct tree){
		.row = sums->sorted.item,
		.count = rows->count,
		.node = sums->node,
		.item = sums->item,
		.shown = &sums->rows,
	};
	for (size_t i = 0; i < t->count; i++)
		t->row[i] = rows->item[i];
	sort_items(t->row, t->count, sizeof(*t->row), compare_sorted, NULL);
	return 0;
}

/* From the youngest: when a node is added to its parent, all below it are in it. */
static void sum_up(struct tree *t, const struct snapshot *s)
{
	for (size_t i = 0; i < t->count; i++)
		t->node[i] = (struct tree_node){.child = NONE, .next = NONE, .sum = SUM_EMPTY};
	for (size_t i = t->count; i-- > 0;) {
		struct tree_node *n = &t->node[i];

		sum_add(&n->sum, t->row[i]);
		n->parent = parent_of(t, s, t->row[i]);
		if (n->parent != NONE)
			sum_merge(&t->node[n->parent].sum, &n->sum);
		t->item[i] = *t->row[i];
		/* What it was alone says nothing of all below it. */
		t->item[i].before = NULL;
		sum_row(&n->sum, &t->item[i]);
		t->shown->item[i] = &t->item[i];
	}
	t->shown->count = t->count;
}

/* Hangs those that are to be shown below their parents: the last one first, each to the front. */
static void hang(struct tree *t)
{
	t->root = NONE;
	for (size_t k = 0; k < t->shown->count; k++)
		t->node[t->shown->item[k] - t->item].shown = true;
	for (size_t k = t->shown->count; k-- > 0;) {
		size_t i = (size_t)(t->shown->item[k] - t->item), *first;
		struct tree_node *n = &t->node[i];

		while (n->parent != NONE && !t->node[n->parent].shown)
			n->parent = t->node[n->parent].parent;
		first = n->parent == NONE ? &t->root : &t->node[n->parent].child;
		n->next = *first;
		*first = i;
	}
}

static const char *join(struct arena *arena, const char *a, const char *b)
{
	size_t first = strlen(a), second = strlen(b);
	char *s = arena_alloc(arena, first + second + 1);

	if (!s)
		return NULL;
	memcpy(s, a, first);
	memcpy(s + first, b, second + 1);
	return s;
}

/* Draws its branch before its name, and keeps what its children's begin with. */
static int draw(struct tree *t, struct arena *arena, size_t i)
{
	struct tree_node *n = &t->node[i];
	struct process *p = &t->item[i];
	const char *lead = n->parent == NONE ? "" : t->node[n->parent].lead, *branch = lead;

	n->lead = lead;
	n->depth = n->parent == NONE ? 0 : t->node[n->parent].depth + 1;
	if (n->parent != NONE && n->depth <= DEPTH_MAX) {
		branch = join(arena, lead, n->next == NONE ? "└─ " : "├─ ");
		n->lead =
			n->child == NONE ? "" : join(arena, lead, n->next == NONE ? "   " : "│  ");
	}
	if (branch && n->lead)
		p->name = join(arena, branch, p->name);
	return branch && n->lead && p->name ? 0 : -ENOMEM;
}

static int walk(struct tree *t, struct arena *arena)
{
	size_t i = t->root;

	t->shown->count = 0;
	while (i != NONE) {
		int r = draw(t, arena, i);

		if (r < 0)
			return r;
		t->shown->item[t->shown->count++] = &t->item[i];
		if (t->node[i].child != NONE) {
			i = t->node[i].child;
			continue;
		}
		while (i != NONE && t->node[i].next == NONE)
			i = t->node[i].parent;
		if (i != NONE)
			i = t->node[i].next;
	}
	return 0;
}

int tree_rows(const struct order *o, uint64_t min, const struct snapshot *s,
	      const struct rows *rows, struct sums *tree)
{
	struct tree t;
	int r = tree_start(&t, rows, tree);

	if (r < 0)
		return r;
	sum_up(&t, s);
	if (min)
		order_at_least(o, min, t.shown);
	order_rows(o, s, t.shown);
	hang(&t);
	return walk(&t, &tree->text);
}
