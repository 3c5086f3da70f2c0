// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes and reads the values of a collector that are not its sources'. */
#include "collect/session_tape.h"

#include <limits.h>
#include <string.h>

#include "base/clock.h"

static const char *const pss_word[] = {
	[PSS_AUTO] = "auto", [PSS_KERNEL] = "kernel", [PSS_ROLLUP] = "rollup", [PSS_NONE] = "none"};

/* Unless told otherwise, PSS is replayed as it was recorded. */
void session_tape_play(struct collector *c)
{
	const char *pss = tape_next_string(c->proc.tape, "session/pss");
	uint64_t self = 0;

	tape_next_u64(c->proc.tape, "session/pid", &self);
	c->self = self <= INT_MAX ? (pid_t)self : 0;
	for (int i = 0; pss && c->spec.pss == PSS_AUTO && i <= PSS_NONE; i++) {
		if (strcmp(pss, pss_word[i]) == 0)
			c->spec.pss = (enum pss_choice)i;
	}
}

void session_tape_keep(const struct collector *c)
{
	tape_put_u64(c->proc.tape, "session/pid", (uint64_t)c->self);
	tape_put_string(c->proc.tape, "session/pss", pss_word[c->spec.pss]);
}

int64_t session_tape_time(const struct collector *c)
{
	uint64_t ms = 0;

	if (collector_replays(c)) {
		tape_next_u64(c->proc.tape, "time_ms", &ms);
		return ms <= INT64_MAX ? (int64_t)ms : 0;
	}
	ms = clock_us(CLOCK_REALTIME) / 1000;
	tape_put_u64(c->proc.tape, "time_ms", ms);
	return (int64_t)ms;
}

void session_tape_end(struct collector *c)
{
	uint64_t *duration = &c->snapshot.collection.duration_us;

	if (collector_replays(c)) {
		tape_next_u64(c->proc.tape, "duration_us", duration);
		return;
	}
	tape_put_u64(c->proc.tape, "duration_us", *duration);
	user_table_keep(c->users, &c->rows.chosen, c->proc.tape);
}
