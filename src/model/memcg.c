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

/* In a second, a twentieth of its memory was read back; in hundredths of a percent. */
#define THRASHES_LEAST 500

/* How much of the memory is read back in a second, at most all. */
static uint32_t share_read_back(uint64_t refaults, uint64_t current, uint32_t page_size)
{
	double bytes = (double)refaults * page_size, all = (double)current;

	return bytes < all ? (uint32_t)(10000 * bytes / all) : bytes > 0 ? 10000 : 0;
}

/* At its limit, page cache is taken from it that it needs: there is none to spare. */
static bool needs_all(const struct memcg *m, uint32_t page_size)
{
	return memcg_has(m, COUNTER_LIMIT_HITS_S) && memcg_detail(m, COUNTER_LIMIT_HITS_S) &&
	       memcg_has(m, COUNTER_REFAULTS_S) &&
	       share_read_back(memcg_detail(m, COUNTER_REFAULTS_S), m->current, page_size) >=
		       THRASHES_LEAST;
}

/* What is used of a limit when all the page cache is dropped that was not used lately. */
static uint64_t used_of(const struct memcg *m, uint64_t charged, uint32_t page_size)
{
	uint64_t cache = 0;

	if (memcg_has(m, COUNTER_MEM_WORKING_SET) && !needs_all(m, page_size) &&
	    m->current > memcg_detail(m, COUNTER_MEM_WORKING_SET))
		cache = m->current - memcg_detail(m, COUNTER_MEM_WORKING_SET);
	return charged > cache ? charged - cache : 0;
}

static struct memcg_limit limit_of(const struct memcg *m, uint64_t limit, uint64_t charged,
				   uint32_t page_size, unsigned up)
{
	const uint64_t used = used_of(m, charged, page_size);

	return (struct memcg_limit){limit, limit > used ? limit - used : 0, up};
}

/* A cgroup has the lowest limit of those above it. */
static bool is_own(const struct memcg *m, const struct memcg *above)
{
	return m->limit_known && !(above && above->limit_known && above->limit <= m->limit);
}

bool memcg_memsw(const struct memcg *m, const struct memcg *above, uint64_t *ret_limit,
		 uint64_t *ret_charged)
{
	if (!memcg_has(m, COUNTER_MEM_MEMSW_LIMIT) || !memcg_has(m, COUNTER_MEM_MEMSW))
		return false;
	if (above && memcg_has(above, COUNTER_MEM_MEMSW_LIMIT) &&
	    memcg_detail(above, COUNTER_MEM_MEMSW_LIMIT) <=
		    memcg_detail(m, COUNTER_MEM_MEMSW_LIMIT))
		return false;
	*ret_limit = memcg_detail(m, COUNTER_MEM_MEMSW_LIMIT);
	*ret_charged = memcg_detail(m, COUNTER_MEM_MEMSW);
	return true;
}

bool memcg_has_own_limit(const struct memcg *item, size_t count, const struct memcg *m)
{
	struct text_part path = part_of(m->path);
	unsigned up = 0;

	return is_own(m, find_above(item, count, &path, &up));
}

/* The first of several with as much left is taken. */
static void take_nearer(struct memcg_limit limit, bool *known, struct memcg_limit *nearest)
{
	if (*known && limit.left >= nearest->left)
		return;
	*known = true;
	*nearest = limit;
}

bool memcg_nearest(const struct memcg *item, size_t count, const struct memcg *m,
		   uint32_t page_size, struct memcg_limit *ret)
{
	struct text_part path = part_of(m->path);
	bool known = false;

	for (unsigned up = 0; m;) {
		unsigned here = up;
		const struct memcg *above = find_above(item, count, &path, &up);
		uint64_t limit, charged;

		if (is_own(m, above) && m->current_known)
			take_nearer(limit_of(m, m->limit, m->current, page_size, here), &known,
				    ret);
		if (memcg_memsw(m, above, &limit, &charged))
			take_nearer(limit_of(m, limit, charged, page_size, here), &known, ret);
		m = above;
	}
	return known;
}

bool memcg_is_near(const struct memcg *m)
{
	const uint64_t high =
		memcg_has(m, COUNTER_MEM_HIGH) ? memcg_detail(m, COUNTER_MEM_HIGH) : 0;
	uint64_t limit, charged;

	if (memcg_memsw(m, NULL, &limit, &charged) && charged >= limit - limit / 8)
		return true;
	return m->current_known && ((m->limit_known && m->current >= m->limit - m->limit / 8) ||
				    (high && m->current >= high - high / 8));
}

bool cgroup_holds(const char *cgroup, const char *path)
{
	const size_t len = strlen(cgroup);

	return strncmp(cgroup, path, len) == 0 && (!path[len] || path[len] == '/' || len == 1);
}

static void set_charge(struct charges *to, enum counter c, bool known, uint64_t value)
{
	if (!known)
		return;
	to->value[(int)c - COUNTERS_OF_PROCESS] = value;
	to->have |= CHARGE_BIT(c);
}

void memcg_charges(const struct memcg *m, struct charges *to)
{
	set_charge(to, COUNTER_MEM_CURRENT, m->current_known, m->current);
	set_charge(to, COUNTER_MEM_LIMIT, m->limit_known, m->limit);
	for (int c = COUNTER_MEM_HIGH; c < COUNTER_COUNT; c++)
		set_charge(to, c, memcg_has(m, c), m->detail[c - COUNTER_MEM_HIGH]);
	set_charge(to, COUNTER_LIMIT_HITS, m->max_known, m->max);
	set_charge(to, COUNTER_HIGH_HITS, m->high_known, m->high);
}

/* ---- what hurts ---- */

/* Tasks waited for this part of the last 10 s, in hundredths of a percent. */
#define WAITS_LEAST 1000
static uint64_t value_or_0(const struct charges *c, enum counter counter)
{
	return charges_have(c, counter) ? charge_value(c, counter) : 0;
}

/* The kernel slows its tasks: for up to two seconds, so a short time may have no hit. */
static bool is_slowed(const struct charges *c)
{
	return value_or_0(c, COUNTER_HIGH_HITS_S) ||
	       (value_or_0(c, COUNTER_HIGH_HITS) && charges_have(c, COUNTER_MEM_HIGH) &&
		value_or_0(c, COUNTER_MEM_CURRENT) > charge_value(c, COUNTER_MEM_HIGH));
}

enum memcg_strain memcg_strain(const struct charges *c, uint32_t page_size, uint32_t *ret_degree)
{
	const bool timed = charges_have(c, COUNTER_PSI_SOME_10);
	const uint32_t waited = (uint32_t)value_or_0(c, COUNTER_PSI_SOME_10);
	const uint32_t back = share_read_back(value_or_0(c, COUNTER_REFAULTS_S),
					      value_or_0(c, COUNTER_MEM_CURRENT), page_size);
	const bool waits = waited >= WAITS_LEAST;
	/* A fast disk, or a reader that does much else, makes tasks wait little. */
	const bool thrashes =
		back >= THRASHES_LEAST && (waits || !timed || value_or_0(c, COUNTER_LIMIT_HITS_S));

	*ret_degree = waited;
	if (!timed && !charges_have(c, COUNTER_REFAULTS_S))
		return STRAIN_UNKNOWN;
	if (waits && is_slowed(c))
		return STRAIN_THROTTLED;
	if (!thrashes)
		return waits ? STRAIN_WAITS : STRAIN_NONE;
	*ret_degree = back > waited ? back : waited;
	return STRAIN_THRASHES;
}

const char *memcg_strain_name(enum memcg_strain strain)
{
	static const char *const name[] = {[STRAIN_NONE] = "none",
					   [STRAIN_WAITS] = "waits",
					   [STRAIN_THRASHES] = "thrashes",
					   [STRAIN_THROTTLED] = "throttled"};

	return name[strain];
}

/* ---- the owner of a cgroup ---- */

/* The path up to a length; 0: all of it. */
static bool is_path(const char *path, const char *of, uint16_t len)
{
	size_t n = strlen(path);

	return n == (len ? len : strlen(of)) && strncmp(path, of, n) == 0;
}

const char *cgroup_owner(const struct snapshot *s, const char *path, const char **ret_name)
{
	const char *kind = "cgroup";

	*ret_name = path;
	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (!p->cgroup || !p->controlled || !cgroup_holds(path, p->cgroup))
			continue;
		if (p->container && is_path(path, p->cgroup, p->container_path)) {
			kind = "container";
			*ret_name = p->container;
			/* Another process of it may have its name, and not only its id. */
			if (p->container_status == CONTAINER_NAMED)
				break;
		} else if (p->pod && p->pod_path && is_path(path, p->cgroup, p->pod_path)) {
			*ret_name = p->pod;
			return "pod";
		} else if (p->unit && !p->container && is_path(path, p->cgroup, p->unit_path)) {
			*ret_name = p->unit;
			return "unit";
		}
	}
	return kind;
}
