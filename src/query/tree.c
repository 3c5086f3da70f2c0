// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes the tree of processes, without recursion: it may be as deep as there are processes. */
#include "query/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/group.h"

/* ---- rows that are folded ---- */

static int compare_folds(const void *pa, const void *pb)
{
	const struct fold *a = pa, *b = pb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return ORDER_OF(a->start_ns, b->start_ns);
}

static struct fold *find_fold(const struct folds *folds, const struct process *p)
{
	const struct fold wanted = {p->pid, p->start_ns};

	return folds->count
		       ? bsearch(&wanted, folds->item, folds->count, sizeof(wanted), compare_folds)
		       : NULL;
}

bool folds_has(const struct folds *folds, const struct process *p)
{
	return find_fold(folds, p);
}

int folds_add(struct folds *folds, const struct process *p)
{
	if (find_fold(folds, p))
		return 0;
	if (!array_room(&folds->item, folds->count, &folds->capacity, 16))
		return -ENOMEM;
	folds->item[folds->count++] = (struct fold){p->pid, p->start_ns};
	qsort(folds->item, folds->count, sizeof(*folds->item), compare_folds);
	return 0;
}

void folds_remove(struct folds *folds, const struct process *p)
{
	struct fold *fold = find_fold(folds, p);

	if (!fold)
		return;
	folds->count--;
	memmove(fold, fold + 1, (size_t)(folds->item + folds->count - fold) * sizeof(*fold));
}

void folds_prune(struct folds *folds, const struct snapshot *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < folds->count; i++) {
		const struct process *p = snapshot_find(s, folds->item[i].pid);

		if (p && p->start_ns == folds->item[i].start_ns)
			folds->item[kept++] = folds->item[i];
	}
	folds->count = kept;
}

void folds_done(struct folds *folds)
{
	free(folds->item);
	*folds = (struct folds){};
}

/* ---- the tree ---- */

#define NONE SIZE_MAX
/* Deeper rows are not indented further: no terminal is that wide. */
#define DEPTH_MAX 64

struct tree_node {
	size_t parent, child, next; /* indexes; child and next are in the order shown */
	struct sum sum;
	struct row row;
	bool shown;
	unsigned depth;
	const char *lead; /* the text before the names of its children */
};

struct tree {
	struct process **row; /* oldest first: parents before their children */
	size_t count;
	struct tree_node *node; /* of each row */
	size_t root;		/* the first one of them */
	struct process *item;
	struct sum_parts *parts; /* of each item */
	const struct folds *folds;
	struct rows *shown;
	bool of_groups; /* else of processes */
};

static int compare_age(const struct process *a, const struct process *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return ORDER_OF(a->pid, b->pid);
}

static int compare_row_age(const void *a, const void *b)
{
	return compare_age(*(struct process *const *)a, *(struct process *const *)b);
}

static int compare_sorted(const void *a, const void *b, void *arg)
{
	(void)arg;
	return compare_row_age(a, b);
}

static size_t find_row(const struct tree *t, const struct process *p)
{
	struct process *const *found;

	found = bsearch(&p, t->row, t->count, sizeof(*t->row), compare_row_age);
	return found ? (size_t)(found - t->row) : NONE;
}

/*
 * The nearest ancestor that is a row. A recording may hold a parent that is younger than its child:
 * the search ends there, so that it cannot run in a circle.
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

/* Room for so many rows. */
static int tree_begin(struct tree *t, size_t count, struct sums *sums)
{
	int r = sums_reserve(sums, count);

	if (r < 0)
		return r;
	if (!sums->node)
		sums->node = reallocarray(NULL, sums->capacity, sizeof(*sums->node));
	if (!sums->node)
		return -ENOMEM;
	*t = (struct tree){
		.node = sums->node, .item = sums->item, .parts = sums->parts, .shown = &sums->rows};
	return 0;
}

static int sort_by_age(struct tree *t, const struct process_list *processes, struct sums *sums)
{
	int r = process_list_reserve(&sums->sorted, processes->count);

	if (r < 0)
		return r;
	t->row = sums->sorted.item;
	t->count = processes->count;
	for (size_t i = 0; i < t->count; i++)
		t->row[i] = processes->item[i];
	sort_items(t->row, t->count, sizeof(*t->row), compare_sorted, NULL);
	return 0;
}

/* Begins with the youngest: a node is complete when it is added to its parent. */
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
		n->row = (struct row){.process = &t->item[i]};
		sum_row(&n->sum, &t->parts[i], &n->row);
		t->shown->item[i] = n->row;
	}
	t->shown->count = t->count;
}

/* Links the shown rows to their parents: the last row first, each to the front of the list. */
static void link_shown(struct tree *t)
{
	t->root = NONE;
	for (size_t k = 0; k < t->shown->count; k++)
		t->node[t->shown->item[k].process - t->item].shown = true;
	for (size_t k = t->shown->count; k-- > 0;) {
		size_t i = (size_t)(t->shown->item[k].process - t->item), *first;
		struct tree_node *n = &t->node[i];

		while (n->parent != NONE && !t->node[n->parent].shown)
			n->parent = t->node[n->parent].parent;
		first = n->parent == NONE ? &t->root : &t->node[n->parent].child;
		n->next = *first;
		*first = i;
	}
}

/* A row without rows below it has nothing to fold. */
static bool is_folded(const struct tree *t, size_t i)
{
	return t->folds && t->node[i].child != NONE && folds_has(t->folds, &t->item[i]);
}

/* Draws the branch and the mark of a fold before the name, and sets the lead of the children. */
static int draw(struct tree *t, struct arena *arena, size_t i)
{
	struct tree_node *n = &t->node[i];
	const char **name = t->of_groups ? &t->item[i].joined : &t->item[i].name;
	const char *lead = n->parent == NONE ? "" : t->node[n->parent].lead, *branch = lead;

	n->lead = lead;
	n->depth = n->parent == NONE ? 0 : t->node[n->parent].depth + 1;
	if (n->parent != NONE && n->depth <= DEPTH_MAX) {
		branch = arena_join(arena, lead, n->next == NONE ? "└─ " : "├─ ", "");
		n->lead = n->child == NONE
				  ? ""
				  : arena_join(arena, lead, n->next == NONE ? "   " : "│  ", "");
	}
	if (branch && n->lead && is_folded(t, i)) {
		char mark[32];

		snprintf(mark, sizeof(mark), "[+%u] ", n->row.procs ? n->row.procs - 1 : 0);
		branch = arena_join(arena, branch, mark, "");
	}
	if (branch && n->lead)
		*name = arena_join(arena, branch, *name, "");
	return branch && n->lead && *name ? 0 : -ENOMEM;
}

static int walk(struct tree *t, struct arena *arena)
{
	size_t i = t->root;

	t->shown->count = 0;
	while (i != NONE) {
		int r = draw(t, arena, i);

		if (r < 0)
			return r;
		t->shown->item[t->shown->count++] = t->node[i].row;
		if (t->node[i].child != NONE && !is_folded(t, i)) {
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

/* Orders the rows, and hides those below `min`. */
static int show(struct tree *t, const struct order *o, uint64_t min, const struct snapshot *s,
		struct arena *text)
{
	if (min)
		order_at_least(o, min, t->shown);
	order_rows(o, s, t->shown);
	link_shown(t);
	return walk(t, text);
}

int tree_rows(const struct order *o, uint64_t min, const struct folds *folds,
	      const struct snapshot *s, const struct process_list *processes, struct sums *tree)
{
	struct tree t;
	int r = tree_begin(&t, processes->count, tree);

	if (r == 0)
		r = sort_by_age(&t, processes, tree);
	if (r < 0)
		return r;
	t.folds = folds;
	sum_up(&t, s);
	return show(&t, o, min, s, &tree->text);
}

/* ---- groups by several keys ---- */

/*
 * Adds the rows of the levels that begin with process `i`. `above`: the node of each level, as far
 * as the process before is of the same groups. Returns 0 or -ENOMEM.
 */
static int add_levels(struct tree *t, const struct field *key, const struct process_list *processes,
		      size_t i, size_t *end, size_t *above, struct sums *tree)
{
	for (size_t level = 0; level < group_key_count(key); level++) {
		struct tree_node *n = &t->node[t->count];
		int r;

		if (i < end[level])
			continue;
		end[level] = group_end(key, level + 1, processes, i);
		*n = (struct tree_node){.parent = level ? above[level - 1] : NONE,
					.child = NONE,
					.next = NONE,
					.row = {.process = &t->item[t->count]}};
		r = group_row(key, level + 1, tree, processes->item + i, end[level] - i, &n->row);
		if (r < 0)
			return r;
		n->row.process->joined = group_value(key, level, &tree->text, n->row.process);
		if (!n->row.process->joined)
			return -ENOMEM;
		above[level] = t->count;
		t->shown->item[t->count++] = n->row;
	}
	return 0;
}

int group_tree_rows(const struct field *key, const struct order *o, uint64_t min,
		    const struct snapshot *s, struct process_list *processes, struct sums *tree)
{
	size_t end[GROUP_KEYS_MAX] = {}, above[GROUP_KEYS_MAX];
	struct tree t;
	size_t count = 0;
	int r;

	group_sort(key, processes);
	for (size_t level = 1; level <= group_key_count(key); level++) {
		for (size_t i = 0; i < processes->count; i = group_end(key, level, processes, i))
			count++;
	}
	r = tree_begin(&t, count, tree);
	if (r < 0)
		return r;
	t.of_groups = true;
	for (size_t i = 0; i < processes->count && r == 0; i = end[group_key_count(key) - 1])
		r = add_levels(&t, key, processes, i, end, above, tree);
	t.shown->count = t.count;
	return r < 0 ? r : show(&t, o, min, s, &tree->text);
}
