// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "enrich/memcg_rates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"

/* Two readings of one snapshot are no time apart. */
#define APART_LEAST_US 100000
#define KEPT_US	       (UINT64_C(600) * 1000000)

static const struct {
	enum counter total, rate;
} rates[] = {
	{COUNTER_REFAULTS, COUNTER_REFAULTS_S},
	{COUNTER_RECLAIMED, COUNTER_RECLAIMED_S},
	{COUNTER_LIMIT_HITS, COUNTER_LIMIT_HITS_S},
	{COUNTER_HIGH_HITS, COUNTER_HIGH_HITS_S},
};

#define RATES ARRAY_SIZE(rates)

struct memcg_before {
	const char *path;
	uint64_t us; /* CLOCK_MONOTONIC */
	bool known[RATES], rate_known[RATES];
	uint64_t value[RATES], rate[RATES];
};

static bool read_total(const struct memcg *m, size_t i, uint64_t *ret)
{
	switch (rates[i].total) {
	case COUNTER_LIMIT_HITS:
		*ret = m->max;
		return m->max_known;
	case COUNTER_HIGH_HITS:
		*ret = m->high;
		return m->high_known;
	default:
		*ret = memcg_detail(m, rates[i].total);
		return memcg_has(m, rates[i].total);
	}
}

/* Rounds up: one in a minute is not none. */
static uint64_t per_second(uint64_t count, uint64_t us)
{
	unsigned __int128 sum = (unsigned __int128)count * 1000000 + us - 1;

	return (uint64_t)(sum / us);
}

/* The values of this reading, with the rates since the one before. NULL: there is none. */
static struct memcg_before values_of(const struct memcg *m, const struct memcg_before *before)
{
	struct memcg_before now = {.us = m->read_us};

	for (size_t i = 0; i < RATES; i++) {
		now.known[i] = read_total(m, i, &now.value[i]);
		/* A cgroup with the path of a removed one begins at 0. */
		if (!before || !now.known[i] || !before->known[i] ||
		    now.value[i] < before->value[i])
			continue;
		now.rate_known[i] = true;
		now.rate[i] = per_second(now.value[i] - before->value[i], now.us - before->us);
	}
	return now;
}

static void set_rates(const struct memcg_before *b, struct memcg *m)
{
	for (size_t i = 0; i < RATES; i++) {
		if (b->rate_known[i])
			memcg_set_detail(m, rates[i].rate, b->rate[i]);
	}
}

static bool is_recent(const struct memcg_before *b, uint64_t now_us)
{
	return now_us < b->us + KEPT_US;
}

/* Both lists are in the order of paths. */
static int merge(const struct memcg_rates *r, struct memcg *item, size_t count, uint64_t now_us,
		 struct arena *paths, struct memcg_before *to, size_t *ret_count)
{
	size_t at = 0, n = 0, i = 0;

	while (i < count || at < r->count) {
		const struct memcg_before *before = at < r->count ? &r->item[at] : NULL;
		int order = i == count ? 1 : !before ? -1 : strcmp(item[i].path, before->path);
		struct memcg *m = order <= 0 ? &item[i] : NULL;
		const char *path = m ? m->path : before->path;

		at += order >= 0;
		i += order <= 0;
		if (order < 0)
			before = NULL;
		if (m && !m->current_known)
			m = NULL;
		if (m && !(before && m->read_us < before->us + APART_LEAST_US))
			to[n] = values_of(m, before);
		else if (before && is_recent(before, now_us))
			to[n] = *before;
		else
			continue;
		if (m)
			set_rates(&to[n], m);
		to[n].path = arena_strndup(paths, path, strlen(path));
		if (!to[n++].path)
			return -ENOMEM;
	}
	*ret_count = n;
	return 0;
}

/* The other list, with room for so many. It is kept: a series allocates nothing. */
static struct memcg_before *make_room(struct memcg_rates *r, size_t count)
{
	struct memcg_before *to = r->spare;

	if (count <= r->spare_capacity && to)
		return to;
	to = realloc(to, count * sizeof(*to));
	if (to) {
		r->spare = to;
		r->spare_capacity = count;
	}
	return to;
}

static void exchange(struct memcg_rates *r, size_t kept)
{
	struct memcg_before *item = r->item;
	size_t capacity = r->capacity;
	struct arena paths = r->paths;

	r->item = r->spare;
	r->count = kept;
	r->capacity = r->spare_capacity;
	r->paths = r->spare_paths;
	r->spare = item;
	r->spare_capacity = capacity;
	r->spare_paths = paths;
}

int memcg_rates_update(struct memcg_rates *r, struct memcg *item, size_t count)
{
	struct memcg_before *to = make_room(r, r->count + count + 1);
	uint64_t now_us = 0;
	size_t kept = 0;
	int error;

	for (size_t i = 0; i < count; i++)
		now_us = item[i].read_us > now_us ? item[i].read_us : now_us;
	arena_clear(&r->spare_paths);
	error = to ? merge(r, item, count, now_us, &r->spare_paths, to, &kept) : -ENOMEM;
	exchange(r, error < 0 ? 0 : kept);
	return error;
}

void memcg_rates_done(struct memcg_rates *r)
{
	free(r->item);
	free(r->spare);
	arena_done(&r->paths);
	arena_done(&r->spare_paths);
	*r = (struct memcg_rates){};
}
