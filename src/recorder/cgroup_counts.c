// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "recorder/cgroup_counts.h"

#include <string.h>

bool cgroup_kills(const struct memcg *m, uint64_t *ret)
{
	*ret = m->oom_kills;
	return m->oom_kills_known;
}

bool cgroup_limit_hits(const struct memcg *m, uint64_t *ret)
{
	*ret = m->max + m->high;
	return m->max_known || m->high_known;
}

void cgroup_counts_take(struct cgroup_counts *counts, const struct snapshot *s, cgroup_count_of *of)
{
	arena_clear(&counts->arena);
	counts->count = 0;
	counts->item = arena_zalloc(&counts->arena, s->memcg_count + 1, sizeof(*counts->item));
	for (size_t i = 0; counts->item && i < s->memcg_count; i++) {
		const char *path = s->memcg[i].path;
		uint64_t times;

		if (!of(&s->memcg[i], &times))
			continue;
		path = arena_strndup(&counts->arena, path, strlen(path));
		if (path)
			counts->item[counts->count++] = (struct cgroup_count){path, times};
	}
}

uint64_t cgroup_counts_before(const struct cgroup_counts *counts, size_t *at, const char *path)
{
	while (*at < counts->count && strcmp(counts->item[*at].path, path) < 0)
		(*at)++;
	return *at < counts->count && strcmp(counts->item[*at].path, path) == 0
		       ? counts->item[*at].times
		       : 0;
}
