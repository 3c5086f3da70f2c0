// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/ended.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

uint64_t ended_count(const struct ended_processes *e)
{
	uint64_t count = e->others;

	for (uint32_t i = 0; i < e->count; i++)
		count += e->row[i].count;
	return count;
}

static int compare_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_name(const struct ended_row *a, const struct ended_row *b)
{
	int order = strcmp(a->name, b->name);

	return order ? order : compare_texts(a->cgroup, b->cgroup);
}

static int by_name_of(const void *a, const void *b)
{
	return by_name(a, b);
}

static int by_peak(const void *pa, const void *pb)
{
	const struct ended_row *a = pa, *b = pb;

	if (a->peak != b->peak)
		return ORDER_OF(b->peak, a->peak);
	if (a->count != b->count)
		return ORDER_OF(b->count, a->count);
	return by_name(a, b);
}

/* Where the row is, or belongs. */
static size_t find_place(const struct ended_sum *s, const struct ended_row *row)
{
	size_t first = 0, end = s->count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (by_name(&s->row[middle], row) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static int insert_row(struct ended_sum *s, size_t at, const struct ended_row *row)
{
	struct ended_row new = *row;

	if (!array_room(&s->row, s->count, &s->room, ENDED_MAX))
		return -ENOMEM;
	new.name = arena_strndup(&s->arena, row->name, strlen(row->name));
	if (row->cgroup)
		new.cgroup = arena_strndup(&s->arena, row->cgroup, strlen(row->cgroup));
	if (!new.name || (row->cgroup && !new.cgroup))
		return -ENOMEM;
	memmove(&s->row[at + 1], &s->row[at], (s->count - at) * sizeof(new));
	s->row[at] = new;
	s->count++;
	return 0;
}

int ended_sum_row(struct ended_sum *s, const struct ended_row *row)
{
	size_t at = find_place(s, row);

	if (at == s->count || by_name(&s->row[at], row) != 0)
		return insert_row(s, at, row);
	s->row[at].count += row->count;
	if (row->peak > s->row[at].peak)
		s->row[at].peak = row->peak;
	return 0;
}

static void add_others(struct ended_processes *all, uint64_t count, uint64_t peak)
{
	all->others += count;
	if (peak > all->others_peak)
		all->others_peak = peak;
}

void ended_sum_others(struct ended_sum *s, uint64_t count, uint64_t peak)
{
	add_others(&s->all, count, peak);
}

int ended_sum_add(struct ended_sum *s, const struct ended_processes *e)
{
	int r = 0;

	s->all.over_ms += e->over_ms;
	s->all.missed += e->missed;
	ended_sum_others(s, e->others, e->others_peak);
	for (uint32_t i = 0; r == 0 && i < e->count; i++)
		r = ended_sum_row(s, &e->row[i]);
	return r;
}

void ended_sum_end(struct ended_sum *s, struct ended_processes *ret)
{
	*ret = s->all;
	if (s->count)
		qsort(s->row, s->count, sizeof(*s->row), by_peak);
	for (size_t i = 0; i < s->count; i++) {
		if (i < ENDED_MAX)
			ret->row[ret->count++] = s->row[i];
		else
			add_others(ret, s->row[i].count, s->row[i].peak);
	}
	/* The order in which rows are found. */
	if (s->count)
		qsort(s->row, s->count, sizeof(*s->row), by_name_of);
}

void ended_sum_clear(struct ended_sum *s)
{
	s->count = 0;
	s->all = (struct ended_processes){};
	arena_clear(&s->arena);
}

void ended_sum_done(struct ended_sum *s)
{
	free(s->row);
	arena_done(&s->arena);
	*s = (struct ended_sum){};
}
