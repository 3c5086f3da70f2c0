// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes room for rows, and compares them with earlier ones. */
#include "fields/row.h"

#include <errno.h>
#include <stdlib.h>

void rows_done(struct rows *rows)
{
	free(rows->item);
	*rows = (struct rows){};
}

int rows_reserve(struct rows *rows, size_t count)
{
	/* Room for at least one: malloc(0) may return NULL. */
	size_t capacity = count + count / 4 + 1;
	struct row *item;

	rows->count = 0;
	if (count < rows->capacity)
		return 0;
	item = reallocarray(NULL, capacity, sizeof(*item));
	if (!item)
		return -ENOMEM;
	free(rows->item);
	*rows = (struct rows){.item = item, .capacity = capacity};
	return 0;
}

int rows_of(struct rows *rows, struct process *const *processes, size_t count)
{
	int r = rows_reserve(rows, count);

	for (size_t i = 0; r == 0 && i < count; i++)
		rows->item[rows->count++] = (struct row){.process = processes[i]};
	return r;
}

int rows_processes(const struct row *rows, size_t count, struct process_list *ret)
{
	int r = process_list_reserve(ret, count);

	for (size_t i = 0; r == 0 && i < count; i++)
		ret->item[ret->count++] = rows[i].process;
	return r;
}

bool counter_change(enum counter c, counter_mask have, const uint64_t *value,
		    counter_mask have_before, const uint64_t *before, int64_t *ret_bytes)
{
	uint64_t now = value[c], then = before[c];
	uint64_t amount = now > then ? now - then : then - now;

	if (!(have & have_before & COUNTER_BIT(c)) || amount > INT64_MAX)
		return false;
	*ret_bytes = now >= then ? (int64_t)amount : -(int64_t)amount;
	return true;
}

bool row_change(const struct row *r, enum counter c, int64_t *ret_bytes)
{
	return r->before && c < COUNTERS_OF_PROCESS &&
	       counter_change(c, r->process->have, r->process->value, r->before->have,
			      r->before->value, ret_bytes);
}

static bool add_counter(const struct process *p, enum counter c, uint64_t *sum)
{
	return process_has(p, c) && !__builtin_add_overflow(*sum, p->value[c], sum);
}

enum counter row_size(const struct process *p, uint64_t *ret_bytes)
{
	enum counter c = COUNTER_RSS_ANON;
	uint64_t sum = 0;

	if (!add_counter(p, COUNTER_RSS_ANON, &sum) || !add_counter(p, COUNTER_RSS_SHMEM, &sum)) {
		c = COUNTER_RSS;
		sum = 0;
		if (!add_counter(p, COUNTER_RSS, &sum))
			c = COUNTER_COUNT;
	}
	if (c != COUNTER_COUNT)
		add_counter(p, COUNTER_SWAP, &sum);
	*ret_bytes = c == COUNTER_COUNT ? 0 : sum;
	return c;
}

#define HOUR_MS 3.6e6
/* Fewer snapshots do not show that a row grows all the time. */
#define STEADY_LEAST 3

static bool exceeds(uint64_t net, uint32_t steps, uint64_t most, uint64_t back)
{
	return steps >= STEADY_LEAST && most <= net / 2 && back <= net / 2;
}

bool row_stands_out(const struct row_steps *s, int64_t grown)
{
	if (!grown)
		return !s->gained;
	return grown > 0 ? exceeds((uint64_t)grown, s->up, s->most_gained, s->lost)
			 : exceeds(-(uint64_t)grown, s->down, s->most_lost, s->gained);
}

bool row_growth(const struct row *r, int64_t *ret_bytes)
{
	double bytes;

	if (r->watched_ms < ROW_GROWTH_MS || !r->stands_out)
		return false;
	bytes = (double)r->grown * HOUR_MS / (double)r->watched_ms;
	*ret_bytes = bytes >= 0x1p63 ? INT64_MAX : bytes < -0x1p63 ? INT64_MIN : (int64_t)bytes;
	return true;
}

bool row_grows_steadily(const struct row *r, uint32_t page_size)
{
	return r->ticks >= STEADY_LEAST && 2 * r->grew_ticks > r->ticks &&
	       r->grown >= (int64_t)r->grew_ticks * page_size;
}
