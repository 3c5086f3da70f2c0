// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes the labels of groups. Groups with the same label become one series, and their values are
 * added. A label never holds a pid or a command line.
 */
#include "report/metrics_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/report.h"
#include "write/metrics_writer.h"

#define LABEL_MAX 512 /* bytes, encoded */

/* Reserved labels: for a group without a name, and for all groups without a series of their own. */
#define NONE  "none"
#define OTHER "other"

/* True for a reserved label, also with underscores appended. */
static bool is_reserved(const char *label)
{
	static const char *const word[] = {NONE, OTHER};

	for (size_t i = 0; i < ARRAY_SIZE(word); i++) {
		size_t len = strlen(word[i]);

		if (strncmp(label, word[i], len) == 0 && !label[len + strspn(label + len, "_")])
			return true;
	}
	return false;
}

/*
 * Adds the value of a key. A name that looks like a reserved label, with or without underscores,
 * gets one more underscore.
 */
static void put_key(struct strbuf *text, const struct field *group, size_t i,
		    const struct process *p, bool numeric)
{
	const struct field *key = group ? group_key(group, i) : NULL;
	bool command = key && key->needs & NEEDS_CMDLINE;
	bool user = key && key->needs & NEEDS_USER && p->uid != UID_NONE;
	const char *name = command ? NULL : group ? group_key_text(group, i, p) : p->name;

	if (name && *name && !(user && numeric)) {
		size_t at = text->len;

		metrics_escape(text, name, LABEL_MAX);
		if (is_reserved(strbuf_str(text) + at))
			strbuf_putc(text, '_');
	} else if (user) {
		strbuf_putu(text, p->uid);
	} else {
		strbuf_puts(text, NONE);
	}
}

/* Adds the label of a row, and behind it those of its keys, if they are several. */
static void put_label(struct strbuf *text, const struct field *group, const struct process *p,
		      bool numeric)
{
	size_t keys = group ? group_key_count(group) : 1;

	for (size_t i = 0; i < keys; i++) {
		strbuf_puts(text, i ? GROUP_JOINT : "");
		put_key(text, group, i, p, numeric);
	}
	strbuf_putc(text, '\0');
	for (size_t i = 0; keys > 1 && i < keys; i++) {
		put_key(text, group, i, p, numeric);
		strbuf_putc(text, '\0');
	}
}

/* ---- rows of one label ---- */

struct labelled {
	const char *label;
	size_t labels; /* those of the keys stand behind it */
	const struct row *row;
	size_t rank;
};

/* Two groups of several keys may have one label, but not those of their keys. */
static int compare_all_labels(const struct labelled *a, const struct labelled *b)
{
	const char *x = a->label, *y = b->label;
	int r = 0;

	for (size_t i = 0; i < a->labels && !r; i++) {
		r = strcmp(x, y);
		x += strlen(x) + 1;
		y += strlen(y) + 1;
	}
	return r;
}

static int compare_labels(const void *pa, const void *pb)
{
	const struct labelled *a = pa, *b = pb;
	int r = compare_all_labels(a, b);

	return r ? r : (a->rank > b->rank) - (a->rank < b->rank);
}

static size_t end_of_label(const struct labelled *l, size_t count, size_t i)
{
	size_t end = i + 1;

	while (end < count && compare_all_labels(&l[i], &l[end]) == 0)
		end++;
	return end;
}

/*
 * Copies the counters of a cgroup, which belong to one row and have no sum. Those of a cgroup above
 * are left out: no label tells them from its own.
 */
static void add_memcg(const struct process *p, struct metric_group *g)
{
	if (p->charged && !p->memcg_above)
		g->charged = *p->charged;
}

/*
 * The names of a container and its pod, if the group cannot have those of another one later: a
 * changed label would be another series. The scope of a container has its id in its name.
 */
static void set_names(const struct field *group, const struct process *p, struct metric_group *g)
{
	enum cgroup_part part = group ? group->part : PART_NONE;
	bool unit =
		part == PART_UNIT && p->unit && p->container_id && strstr(p->unit, p->container_id);
	bool all = unit || part == PART_CONTAINER || part == PART_CGROUP;
	bool pod = all || part == PART_POD;

	if (all)
		g->container = name_of_pod_part(p->container);
	if (pod)
		g->pod = name_of_pod_part(p->pod);
	if (pod || part == PART_NAMESPACE)
		g->namespace = p->namespace;
}

/* The labels of the keys stand behind that of the group. */
static void set_keys(const struct field *group, struct metric_group *g)
{
	const char *value = g->label;

	for (size_t i = 0; i < group_key_count(group); i++) {
		value += strlen(value) + 1;
		g->key[i] = (struct metric_key){group_key(group, i)->key, value};
	}
}

/* Sums rows of one label into the item of the first of them. */
static void merge(const struct field *group, const struct labelled *l, size_t count,
		  struct row *rows, struct metric_group *item)
{
	struct metric_group *g = &item[l[0].rank];

	for (size_t i = 0; i < count; i++)
		rows[i] = *l[i].row;
	g->label = l[0].label;
	if (group && group->flags & FIELD_JOINED)
		set_keys(group, g);
	totals_sum(rows, count, false, &g->sum);
	if (count > 1)
		return;
	add_memcg(rows[0].process, g);
	if (!g->key[0].name)
		set_names(group, rows[0].process, g);
}

static int merge_rows(const struct result *r, size_t count, bool numeric, struct metric_groups *g)
{
	cleanup_free struct labelled *l = calloc(count + 1, sizeof(*l));
	cleanup_free struct row *rows = calloc(count + 1, sizeof(*rows));
	size_t labels =
		r->group && group_key_count(r->group) > 1 ? 1 + group_key_count(r->group) : 1;
	const char *label;

	if (!l || !rows)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		put_label(&g->text, r->group, r->rows[i].process, numeric);
	if (strbuf_error(&g->text))
		return strbuf_error(&g->text);
	label = strbuf_str(&g->text);
	for (size_t i = 0; i < count; i++) {
		l[i] = (struct labelled){label, labels, &r->rows[i], i};
		for (size_t n = 0; n < labels; n++)
			label += strlen(label) + 1;
	}
	qsort(l, count, sizeof(*l), compare_labels);
	for (size_t i = 0, end; i < count; i = end) {
		end = end_of_label(l, count, i);
		merge(r->group, l + i, end - i, rows, g->item);
	}
	/* Closes the gaps that merged rows left. */
	for (size_t i = 0; i < count; i++) {
		if (g->item[i].label)
			g->item[g->count++] = g->item[i];
	}
	return 0;
}

/* ---- all others ---- */

static struct row row_of(const struct totals *t, struct process *p)
{
	*p = (struct process){
		.kind = PROCESS_SUM, .have = t->have, .nodes = t->nodes.count ? &t->nodes : NULL};
	memcpy(p->value, t->value, sizeof(p->value));
	return (struct row){.process = p,
			    .procs = (uint32_t)t->processes,
			    .pss_missing = (uint32_t)t->pss_missing};
}

static void add_others(const struct result *r, size_t taken, struct metric_groups *g)
{
	struct totals tail;
	struct process sums[2];
	struct row both[2];

	if (taken == r->row_count && !r->others_count)
		return;
	totals_sum(r->rows + taken, r->row_count - taken, false, &tail);
	both[0] = row_of(&tail, &sums[0]);
	both[1] = row_of(&r->others, &sums[1]);
	/* A merged row may have left its values there. */
	g->item[g->count] = (struct metric_group){.label = OTHER};
	totals_sum(both + (taken == r->row_count), (taken < r->row_count) + (r->others_count > 0),
		   false, &g->item[g->count++].sum);
}

void metric_groups_done(struct metric_groups *g)
{
	free(g->item);
	strbuf_done(&g->text);
	*g = (struct metric_groups){0};
}

int metric_groups_make(const struct result *r, size_t max, bool numeric, struct metric_groups *ret)
{
	size_t count = r->row_count < max ? r->row_count : max;
	cleanup(metric_groups_done) struct metric_groups g = {
		.item = calloc(count + 1, sizeof(*g.item))};
	int error;

	if (!g.item)
		return -ENOMEM;
	error = merge_rows(r, count, numeric, &g);
	if (error)
		return error;
	add_others(r, count, &g);
	*ret = g;
	g = (struct metric_groups){0};
	return 0;
}
