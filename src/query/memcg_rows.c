// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows of all memory cgroups: groups of processes, and cgroups without processes. */
#include "query/memcg_rows.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "model/ram.h"
#include "query/filter.h"
#include "query/group.h"

/* As /proc/PID/cgroup shows the path of a removed cgroup. */
#define DELETED " (deleted)"

/* Adds the row of a cgroup, for which there is room. */
static struct process *add_memcg(struct sums *g, const char *path)
{
	const size_t at = g->rows.count++;
	struct row *row = &g->rows.item[at];
	struct sum nothing = SUM_EMPTY;

	*row = (struct row){.process = &g->item[at]};
	*row->process = (struct process){.uid = UID_NONE, .cgroup = path};
	sum_row(&nothing, &g->parts[at], row);
	row->process->charged = &g->charged[at];
	row->process->charged->have = 0;
	return row->process;
}

static int add_deleted(const struct census_cgroup *c, struct sums *g)
{
	static const enum counter counter[ZMEM_CHARGES] = {
		[ZMEM_CHARGE_ANON] = COUNTER_MEM_ANON,
		[ZMEM_CHARGE_FILE] = COUNTER_MEM_FILE,
		[ZMEM_CHARGE_SHMEM] = COUNTER_MEM_SHMEM,
		[ZMEM_CHARGE_KERNEL] = COUNTER_MEM_KERNEL,
	};
	char path[PATH_MAX + sizeof(DELETED)];
	int len = snprintf(path, sizeof(path), "%.*s" DELETED, PATH_MAX, c->path);
	const char *copy = arena_strndup(&g->text, path, (size_t)len);
	struct process *p;

	if (!copy)
		return -ENOMEM;
	p = add_memcg(g, copy);
	for (int i = 0; i < ZMEM_CHARGES; i++)
		process_set(p, counter[i], c->bytes[i]);
	process_set(p, COUNTER_MEM_CURRENT, census_cgroup_bytes(c));
	return 0;
}

/* In the order of groups: no path is last. */
static int compare_path(const char *a, const char *b)
{
	return a ? strcmp(a, b) : 1;
}

static bool is_chosen(const char *glob, const char *path)
{
	return path && (!glob || filter_matches_cgroup(glob, path));
}

int memcg_rows(const struct snapshot *s, const char *glob, struct process_list *processes,
	       struct sums *g)
{
	const struct ram *ram = s->system.ram;
	size_t deleted = ram ? ram->cgroups : 0, groups, at = 0;
	int r = group_rows_and_room(process_field("cgroup"), processes, s->memcg_count + deleted,
				    g);

	groups = r == 0 ? g->rows.count : 0;
	/* Both are sorted by path. */
	for (size_t i = 0; r == 0 && i < s->memcg_count; i++) {
		const char *path = s->memcg[i].path;

		while (at < groups && compare_path(g->item[at].cgroup, path) < 0)
			at++;
		if ((at < groups && compare_path(g->item[at].cgroup, path) == 0) ||
		    !s->memcg[i].current_known || !is_chosen(glob, path))
			continue;
		add_memcg(g, path)->controlled = true;
	}
	for (size_t i = 0; r == 0 && i < deleted; i++) {
		const struct census_cgroup *c = &ram->cgroup[i];

		if (c->deleted && is_chosen(glob, c->path))
			r = add_deleted(c, g);
	}
	return r;
}
