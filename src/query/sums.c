// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rows that stand for several processes: totals, groups of processes that have something in common,
 * and the tree, in which each process has the sums of all below it. What was not measured is not
 * guessed.
 */
#include "query/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- totals ---- */

/* A sum of rows, or of other sums (in a tree, from the leaves up). */
struct sum {
	struct totals totals;	/* so far; sum_end() sets `have` */
	counter_mask some, all; /* counters that some rows have, that all rows have */
	counter_mask with_pss;	/* that all rows with PSS have: page tables tell less than
				   smaps_rollup */
	counter_mask beyond;	/* sums that overflowed, or would count memory twice */
	counter_mask partial;	/* sums of which a row is a lower bound */
};

#define SUM_EMPTY ((struct sum){.all = ~(counter_mask)0, .with_pss = ~(counter_mask)0})

/*
 * Sums count, and processes: one for each address space (mm_owner). A process without memory does
 * not.
 */
bool totals_counts(const struct process *p)
{
	return p->kind == PROCESS_SUM || (p->kind == PROCESS_USER && (p->mm_owner || !p->mm_id));
}

static void add_value(struct sum *sum, int c, uint64_t value)
{
	uint64_t *total = &sum->totals.value[c];

	/* Processes share hugetlb pages, and nothing tells which: only one of them can have some.
	 */
	if (c == COUNTER_HUGETLB && value && *total)
		sum->beyond |= COUNTER_BIT(c);
	if (__builtin_add_overflow(*total, value, total))
		sum->beyond |= COUNTER_BIT(c);
}

/* Only counters of processes: cgroups may lie in one another, so their values have no sum. */
static void sum_add(struct sum *sum, const struct process *p)
{
	struct totals *t = &sum->totals;

	t->processes += process_count(p);
	if (!totals_counts(p))
		return;
	sum->some |= p->have;
	sum->all &= p->have;
	sum->partial |= p->partial;
	if (p->kind == PROCESS_SUM)
		sum->beyond |= ~p->have & COUNTER_BIT(COUNTER_HUGETLB);
	if (process_has(p, COUNTER_PSS))
		sum->with_pss &= p->have;
	if (p->kind == PROCESS_SUM)
		t->pss_missing += p->pss_missing;
	else
		t->pss_missing += !process_has(p, COUNTER_PSS);
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		if (process_has(p, c))
			add_value(sum, c, p->value[c]);
	}
}

static void sum_merge(struct sum *sum, const struct sum *more)
{
	sum->totals.processes += more->totals.processes;
	sum->totals.pss_missing += more->totals.pss_missing;
	sum->some |= more->some;
	sum->all &= more->all;
	sum->partial |= more->partial;
	sum->with_pss &= more->with_pss;
	sum->beyond |= more->beyond;
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++)
		add_value(sum, c, more->totals.value[c]);
}

static void sum_end(const struct sum *sum, bool pruned, struct totals *ret_totals)
{
	struct totals t = sum->totals;
	bool any_pss = sum->some & COUNTER_BIT(COUNTER_PSS);
	counter_mask whole = pruned || !any_pss ? sum->all : sum->with_pss;

	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		bool read = counter_table[c].origin != ORIGIN_KERNEL;
		/* A skipped counter may be known: without swap, SWAP_PSS is 0. */
		counter_mask known = read ? sum->some & whole : sum->some;

		/* The sum of nothing is 0. */
		if (known & ~sum->beyond & COUNTER_BIT(c) || !t.processes)
			t.have |= COUNTER_BIT(c);
		else
			t.value[c] = 0;
	}
	t.partial = t.have & (sum->partial | (t.processes ? ~sum->all : 0));
	*ret_totals = t;
}

/* Makes a row that stands for what was summed. */
static void sum_row(const struct sum *sum, struct process *p)
{
	struct totals t;

	sum_end(sum, false, &t);
	p->kind = PROCESS_SUM;
	p->procs = (uint32_t)t.processes;
	p->pss_missing = (uint32_t)t.pss_missing;
	p->have = t.have;
	p->partial = t.partial;
	memcpy(p->value, t.value, sizeof(p->value));
}

void totals_sum(struct process *const *rows, size_t count, bool pruned, struct totals *ret_totals)
{
	struct sum sum = SUM_EMPTY;

	for (size_t i = 0; i < count; i++)
		sum_add(&sum, rows[i]);
	sum_end(&sum, pruned, ret_totals);
}

/* ---- memory for such rows, used again and again ---- */

struct tree_node {
	size_t parent, child, next; /* indexes; child and next are in the order shown */
	struct sum sum;
	bool shown;
	unsigned depth;
	const char *lead; /* the text before the names of its children */
};

/* Items and nodes have the same capacity. */
static int make_larger(struct sums *sums, size_t count)
{
	struct process *item = reallocarray(NULL, count, sizeof(*item));

	if (!item)
		return -ENOMEM;
	free(sums->item);
	free(sums->node);
	sums->item = item;
	sums->node = NULL;
	sums->capacity = count;
	return 0;
}

/* Forgets what it has and makes room for `count` rows. Returns 0 or -ENOMEM. */
static int sums_reserve(struct sums *sums, size_t count, bool tree)
{
	int r;

	if (room_is_idle(sums->capacity, count, &sums->idle))
		sums_done(sums);
	arena_clear(&sums->text);
	r = rows_reserve(&sums->rows, count);
	if (r == 0 && count >= sums->capacity)
		r = make_larger(sums, count + count / 4 + 1);
	if (r < 0 || !tree)
		return r;
	if (!sums->node)
		sums->node = reallocarray(NULL, sums->capacity, sizeof(*sums->node));
	return sums->node ? rows_reserve(&sums->sorted, count) : -ENOMEM;
}

void sums_done(struct sums *sums)
{
	rows_done(&sums->rows);
	rows_done(&sums->sorted);
	free(sums->item);
	free(sums->node);
	arena_done(&sums->text);
	*sums = (struct sums){0};
}

/* ---- groups ---- */

/* The names of a process. A group has the names that all its processes have. */
static const struct {
	const char *key;
	size_t offset;
} names[] = {
	{"name", offsetof(struct process, name)},
	{"cmdline", offsetof(struct process, cmdline)},
	{"user", offsetof(struct process, user)},
	{"unit", offsetof(struct process, unit)},
	{"container", offsetof(struct process, container)},
	{"pod", offsetof(struct process, pod)},
	{"namespace", offsetof(struct process, space)},
	{"container_id", offsetof(struct process, container_id)},
	{"cgroup", offsetof(struct process, cgroup)},
};

static const char **name_of(struct process *p, size_t i)
{
	return (const char **)((char *)p + names[i].offset);
}

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return a == b ? 0 : strcmp(a, b);
}

/* The number identifies a user: two users may have no name. */
static int compare_key(const struct column *key, const struct process *a, const struct process *b)
{
	if (key->needs & NEEDS_USER)
		return (a->uid > b->uid) - (a->uid < b->uid);
	return compare_text(key->text(a), key->text(b));
}

static int compare_grouped(const void *pa, const void *pb, void *arg)
{
	const struct process *a = *(struct process *const *)pa, *b = *(struct process *const *)pb;
	int r = compare_key(arg, a, b);

	return r ? r : (a->pid > b->pid) - (a->pid < b->pid);
}

/* The length of the group's path in the process's cgroup. 0: none, or no path of the memcg. */
static size_t path_of(const struct column *key, const struct process *p)
{
	size_t len;

	if (!(key->needs & NEEDS_CGROUP) || !p->cgroup || !p->controlled || !key->text(p))
		return 0;
	len = strlen(p->cgroup);
	if (strcmp(key->key, "unit") == 0 && p->unit_path)
		return p->unit_path < len ? p->unit_path : len;
	if (strcmp(key->key, "container") == 0 && p->container_path)
		return p->container_path < len ? p->container_path : len;
	if (strcmp(key->key, "pod") == 0)
		return p->pod_path < len ? p->pod_path : 0;
	if (strcmp(key->key, "namespace") == 0)
		return 0;
	return len;
}

/*
 * Sets the cgroup of a group that is a unit, a container or a pod, so that its memcg can be read.
 * Several cgroups may have the same name, as two containers may: then the group has no cgroup.
 */
static int set_path(const struct column *key, struct arena *text, struct process *const *rows,
		    size_t count, struct process *sum)
{
	size_t len = path_of(key, rows[0]);

	sum->controlled = len > 0;
	for (size_t i = 1; i < count && sum->controlled; i++)
		sum->controlled = path_of(key, rows[i]) == len &&
				  memcmp(rows[i]->cgroup, rows[0]->cgroup, len) == 0;
	if (!sum->controlled)
		return 0;
	sum->cgroup = arena_strndup(text, rows[0]->cgroup, len);
	return sum->cgroup ? 0 : -ENOMEM;
}

static void keep_common(struct process *sum, struct process *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (compare_text(*name_of(sum, i), *name_of(p, i)) != 0)
			*name_of(sum, i) = NULL;
	}
	if (sum->uid != p->uid)
		sum->uid = UID_NONE;
	if (sum->counters_source != p->counters_source)
		sum->counters_source = FROM_NOWHERE;
}

/* A group has the status of the first process without PSS. */
static void set_status(struct process *sum, const struct process *p)
{
	if (!totals_counts(p))
		return;
	if (sum->pss_status == PSS_OK)
		sum->pss_status = p->pss_status;
	sum->pss_source = pss_source_join(sum->pss_source, p->pss_source);
}

/* A user without a name is shown by number, as ps does. */
static const char *uid_text(struct arena *text, uid_t uid)
{
	char buf[16];
	int len = snprintf(buf, sizeof(buf), "%u", uid);

	return arena_strndup(text, buf, (size_t)len);
}

static int make_group(const struct column *key, struct arena *text, struct process *const *rows,
		      size_t count, struct process *ret)
{
	struct sum sum = SUM_EMPTY;

	*ret = (struct process){.uid = rows[0]->uid,
				.counters_source = rows[0]->counters_source,
				.pss_status = PSS_OK};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		*name_of(ret, i) = *name_of(rows[0], i);
	for (size_t i = 0; i < count; i++) {
		sum_add(&sum, rows[i]);
		ret->threads += rows[i]->threads;
		keep_common(ret, rows[i]);
		set_status(ret, rows[i]);
	}
	sum_row(&sum, ret);
	if (key->needs & NEEDS_USER && !ret->user && !(ret->user = uid_text(text, ret->uid)))
		return -ENOMEM;
	return set_path(key, text, rows, count, ret);
}

bool group_possible(const struct column *key)
{
	/* Containers are grouped by name. */
	if (strcmp(key->key, "container_id") == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i].key, key->key) == 0)
			return true;
	}
	return false;
}

struct group_id group_id_of(const struct column *key, const struct process *p)
{
	return (struct group_id){key, key->text(p), p->uid};
}

bool group_has(const struct group_id *group, const struct process *p)
{
	if (!group->key)
		return true;
	if (group->key->needs & NEEDS_USER)
		return p->uid == group->uid;
	return compare_text(group->key->text(p), group->text) == 0;
}

static size_t group_end(const struct column *key, const struct rows *rows, size_t i)
{
	size_t end = i + 1;

	while (end < rows->count && compare_key(key, rows->item[i], rows->item[end]) == 0)
		end++;
	return end;
}

int group_rows(const struct column *key, struct rows *rows, struct sums *g)
{
	int r = sums_reserve(g, rows->count, false);

	if (r < 0)
		return r;
	sort_items(rows->item, rows->count, sizeof(*rows->item), compare_grouped, (void *)key);
	for (size_t i = 0, end; i < rows->count; i = end) {
		struct process *sum = &g->item[g->rows.count];

		end = group_end(key, rows, i);
		r = make_group(key, &g->text, rows->item + i, end - i, sum);
		if (r < 0)
			return r;
		g->rows.item[g->rows.count++] = sum;
	}
	return 0;
}

/* ---- rows of a tree that are folded ---- */

static int compare_fold(const struct fold *a, const struct fold *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The index of the row's fold, or where it would be. */
static size_t find_fold(const struct folds *folds, const struct process *p, bool *ret_found)
{
	const struct fold wanted = {p->pid, p->start_ns};
	size_t low = 0, high = folds->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_fold(&folds->item[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_found = low < folds->count && compare_fold(&folds->item[low], &wanted) == 0;
	return low;
}

bool folds_has(const struct folds *folds, const struct process *p)
{
	bool found;

	find_fold(folds, p, &found);
	return found;
}

int folds_add(struct folds *folds, const struct process *p)
{
	size_t capacity = folds->capacity ? folds->capacity * 2 : 16, at;
	struct fold *item;
	bool found;

	at = find_fold(folds, p, &found);
	if (found)
		return 0;
	if (folds->count == folds->capacity) {
		item = reallocarray(folds->item, capacity, sizeof(*item));
		if (!item)
			return -ENOMEM;
		folds->item = item;
		folds->capacity = capacity;
	}
	memmove(&folds->item[at + 1], &folds->item[at], (folds->count - at) * sizeof(*folds->item));
	folds->item[at] = (struct fold){p->pid, p->start_ns};
	folds->count++;
	return 0;
}

void folds_remove(struct folds *folds, const struct process *p)
{
	bool found;
	size_t at = find_fold(folds, p, &found);

	if (!found)
		return;
	folds->count--;
	memmove(&folds->item[at], &folds->item[at + 1], (folds->count - at) * sizeof(*folds->item));
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

/* ---- the tree, without recursion: it may be as deep as there are processes ---- */

#define NONE SIZE_MAX
/* Deeper rows are not indented further: no terminal is that wide. */
#define DEPTH_MAX 64

struct tree {
	struct process **row; /* oldest first: parents before their children */
	size_t count;
	struct tree_node *node; /* of each row */
	size_t root;		/* the first one of them */
	struct process *item;
	const struct folds *folds;
	struct rows *shown;
};

static int compare_age(const struct process *a, const struct process *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
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

static int tree_begin(struct tree *t, const struct rows *rows, struct sums *sums)
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
		/* The earlier values are of the process alone, not of all below it. */
		t->item[i].before = NULL;
		sum_row(&n->sum, &t->item[i]);
		t->shown->item[i] = &t->item[i];
	}
	t->shown->count = t->count;
}

/* Links the shown rows to their parents: the last row first, each to the front of the list. */
static void link_shown(struct tree *t)
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

/* A row without rows below it has nothing to fold. */
static bool is_folded(const struct tree *t, size_t i)
{
	return t->folds && t->node[i].child != NONE && folds_has(t->folds, &t->item[i]);
}

/* Draws the branch and the mark of a fold before the name, and sets the lead of the children. */
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
	if (branch && n->lead && is_folded(t, i)) {
		char mark[32];

		snprintf(mark, sizeof(mark), "[+%u] ", p->procs ? p->procs - 1 : 0);
		branch = join(arena, branch, mark);
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

int tree_rows(const struct order *o, uint64_t min, const struct folds *folds,
	      const struct snapshot *s, const struct rows *rows, struct sums *tree)
{
	struct tree t;
	int r = tree_begin(&t, rows, tree);

	if (r < 0)
		return r;
	t.folds = folds;
	sum_up(&t, s);
	if (min)
		order_at_least(o, min, t.shown);
	order_rows(o, s, t.shown);
	link_shown(&t);
	return walk(&t, &tree->text);
}
