// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The state of a collector, as its steps ask for it. */
#include "collect/collector_state.h"

#include "base/clock.h"
#include "source/arguments_source.h"

/* The deadline of a smaps_rollup, beyond the time for its size. */
#define DEADLINE_MS 1000

bool collector_replays(const struct collector *c)
{
	return c->spec.recording;
}

enum collect_no_proc collector_no_proc(const struct collector *c)
{
	if (collector_replays(c) || c->proc.trusted)
		return COLLECT_PROC_USABLE;
	return c->proc.fd < 0 ? COLLECT_PROC_ABSENT : COLLECT_PROC_FOREIGN;
}

struct proc_pool *collector_pool(struct collector *c)
{
	if (!c->pool)
		c->pool = proc_pool_new(&c->proc, 0, DEADLINE_MS);
	if (c->pool && c->arguments)
		pool_set_arguments(c->pool, arguments_source_read, c->arguments);
	return c->pool;
}

void collector_note_alone(struct collector *c)
{
	if (c->pool && pool_alone(c->pool))
		c->notices |= COLLECT_NOTICE_ALONE;
}

void collector_phase_end(struct collector *c, enum collect_phase next, uint64_t *since)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);

	c->phase_us[c->phase] += now - *since;
	c->phase = next;
	*since = now;
}
