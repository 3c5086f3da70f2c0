// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a session itself is asked for when it is played: who, when, how long. */
#include "cli/session_tape.h"

#include <limits.h>

#include "base/clock.h"

/* What a session asks for unless told otherwise is what the recorded one asked for. */
void session_tape_play(struct session *s)
{
	const char *pss = tape_next_string(s->proc.tape, "session/pss");
	uint64_t self = 0;

	tape_next_u64(s->proc.tape, "session/pid", &self);
	s->self = self <= INT_MAX ? (pid_t)self : 0;
	if (s->pss == PSS_AUTO && pss)
		options_pss_choice(pss, &s->pss);
}

void session_tape_keep(const struct session *s)
{
	tape_put_u64(s->proc.tape, "session/pid", (uint64_t)s->self);
	tape_put_string(s->proc.tape, "session/pss", options_pss_word(s->pss));
}

int64_t session_tape_time(const struct session *s)
{
	uint64_t ms = 0;

	if (session_replays(s)) {
		tape_next_u64(s->proc.tape, "time_ms", &ms);
		return ms <= INT64_MAX ? (int64_t)ms : 0;
	}
	ms = clock_us(CLOCK_REALTIME) / 1000;
	tape_put_u64(s->proc.tape, "time_ms", ms);
	return (int64_t)ms;
}

void session_tape_end(struct session *s)
{
	uint64_t *duration = &s->snapshot.collection.duration_us;

	if (session_replays(s)) {
		tape_next_u64(s->proc.tape, "duration_us", duration);
		return;
	}
	tape_put_u64(s->proc.tape, "duration_us", *duration);
	user_table_keep(s->users, &s->rows, s->proc.tape);
}
