// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/memcg.h"

#include <stdlib.h>
#include <string.h>

/* `a` has a length: behind it the path may go on. */
static int compare_part(const void *pa, const void *pb)
{
	const struct text_part *a = pa;
	const struct memcg *b = pb;
	int r = strncmp(a->s, b->path, a->len);

	return r ? r : -(b->path[a->len] != '\0');
}

const struct memcg *memcg_find(const struct memcg *item, size_t count, struct text_part path)
{
	return count ? bsearch(&path, item, count, sizeof(*item), compare_part) : NULL;
}

/* The nearest cgroup above the path that is known. Cuts the path; *up counts the levels. */
static const struct memcg *find_above(const struct memcg *item, size_t count,
				      struct text_part *path, unsigned *up)
{
	const struct memcg *m = NULL;

	while (!m && path->len > 1) {
		while (path->len > 1 && path->s[path->len - 1] != '/')
			path->len--;
		/* Above "/a" is "/". */
		path->len -= path->len > 1;
		++*up;
		m = memcg_find(item, count, *path);
	}
	return m;
}

static uint64_t left_of(const struct memcg *m)
{
	uint64_t used = memcg_has(m, COUNTER_MEM_WORKING_SET)
				? memcg_detail(m, COUNTER_MEM_WORKING_SET)
				: m->current;

	return m->limit > used ? m->limit - used : 0;
}

bool memcg_nearest(const struct memcg *item, size_t count, const struct memcg *m,
		   struct memcg_limit *ret)
{
	struct text_part path = part_of(m->path);
	bool known = false;

	for (unsigned up = 0; m;) {
		unsigned here = up;
		const struct memcg *above = find_above(item, count, &path, &up);
		/* A cgroup has the lowest limit of those above it: is it its own? */
		bool own = m->limit_known &&
			   !(above && above->limit_known && above->limit <= m->limit);

		if (own && m->current_known && (!known || left_of(m) < ret->left)) {
			*ret = (struct memcg_limit){m->limit, left_of(m), here};
			known = true;
		}
		m = above;
	}
	return known;
}
