/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For tests: a tape that was recorded, through a file, to one that plays. */
#ifndef TESTS_TAPE_ROUND_H
#define TESTS_TAPE_ROUND_H

#include "base/strbuf.h"
#include "recording/recording.h"

struct round {
	struct strbuf file;
	struct recording recording;
	struct tape *tape; /* plays, turned to frame 1's "snapshot" */
};

/* A file of an empty "session" and of what is on the tape, as the one snapshot. */
static inline void round_write(struct strbuf *file, struct tape *taken)
{
	struct tape *session = tape_blank();

	assert_non_null(session);
	recording_begin(file, "1.2.3");
	tape_take_chapter(session, 0, "session", file);
	tape_take_chapter(taken, 1, "snapshot", file);
	recording_end(file, 2);
	assert_int_equal(strbuf_error(file), 0);
	tape_free(session);
}

static inline void round_play(struct round *r, struct tape *taken)
{
	char why[RECORDING_WHY];

	*r = (struct round){};
	round_write(&r->file, taken);
	tape_free(taken);
	assert_int_equal(recording_parse(r->file.data, r->file.len, &r->recording, why), 0);
	r->tape = tape_of(&r->recording);
	assert_non_null(r->tape);
	assert_int_equal(tape_turn_to(r->tape, 1, "snapshot"), 0);
}

static inline void round_done(struct round *r)
{
	tape_free(r->tape);
	recording_done(&r->recording);
	strbuf_done(&r->file);
}

#endif
