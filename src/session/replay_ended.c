// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which processes ended between two snapshots of a recording. */
#include "session/replay.h"

/* Each takes up to a millisecond to decode; with one every 10 s they are those of 27 hours. */
#define ENDED_FRAMES 10000

int replay_sum_ended(struct replay *r, size_t first, size_t last, bool unbroken,
		     struct ended_sum *ret)
{
	int err = 0;

	ended_sum_clear(ret);
	if (last >= ENDED_FRAMES && first <= last - ENDED_FRAMES)
		first = last - ENDED_FRAMES + 1;
	for (size_t i = first; err == 0 && i <= last && i < r->frames; i++) {
		const struct snapshot *s;
		char why[RECORDING_REASON];
		/* A frame that is lost has none. */
		const struct ended_processes *ended =
			recording_reader_frame(r->reader, i, &s, why) < 0 ? NULL : s->system.ended;

		if (unbroken && (!ended || recording_reader_gap(r->reader, i)))
			ended_sum_clear(ret);
		if (ended)
			err = ended_sum_add(ret, ended);
	}
	return err;
}
