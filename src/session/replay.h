/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The recording that a command reads, and the moments in it that options name. */
#ifndef ZMEM_SESSION_REPLAY_H
#define ZMEM_SESSION_REPLAY_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "recording/recording_file.h"
#include "session/moment.h"
#include "session/options.h"

/* The recording of diff and incidents where none is named. */
#define REPLAY_DIR_USUAL "/var/lib/zmem-bpf"

/*
 * The OOM kills of the last hour, by the kernel's count and the usual recording. *ret_today: those
 * since midnight in the recording; NULL: it is not asked for. False: there is none, or the caller
 * may not read it, which is no error; or there was no kill since boot.
 */
bool replay_recent_kills(struct recent_kills *ret, uint64_t *ret_today);

/* The recording of --replay. */
struct replay {
	const char *path;
	struct recording_reader *reader; /* NULL: there is none */
	uint32_t frames;
	uint32_t frame;	    /* the one that is shown: at first that of --at, or the last one */
	bool noted;	    /* that a frame cannot be read */
	int fd;		    /* the file or directory, -1: a pipe, which is read into memory */
	struct strbuf data; /* of a pipe */
};

/* Opens it with the rights of the caller. Returns 0, or an exit code after a message. */
int replay_open(struct replay *r, const char *path, bool quiet);
void replay_close(struct replay *r);
/*
 * Reads the moment of an option (session/moment.h), one that the recording has if clocks show it
 * twice; says so, and if the clock was set back over it. `after_ms`: the beginning of a range, of
 * which this is the end; MOMENT_LATEST: it is not. Returns 0, or an exit code after a message.
 */
int replay_moment(const struct replay *r, const struct options *o, const char *option,
		  const char *text, int64_t after_ms, struct moment *ret);
/* The same from --since to --until, without them all time. */
int replay_range(const struct replay *r, const struct options *o, struct moment *ret);
/*
 * Reads "event:N", where 1 is the newest event: *ret_event from 0. Returns 0; -EINVAL if it is no
 * such text; or an exit code after a message.
 */
int replay_event(const struct replay *r, const char *text, size_t *ret_event);
/* Says once, and why, that some frames cannot be read. */
void replay_note_lost(struct replay *r, bool quiet, const char *why);
/*
 * Gives the snapshot, of that frame, the census that is nearest to it: of the frames before it, and
 * with `later` also of those behind it. Only some of them are looked at, and those of another boot
 * are not. Returns 0 or -ENOMEM.
 */
int replay_find_census(struct replay *r, size_t frame, bool later, struct snapshot *s);
/*
 * Sums the processes that ended before each of these frames, since the one before it. `unbroken`:
 * only of those frames behind the last one that lacks them, or in front of which frames are
 * missing. Of many frames only the last ones are looked at. Returns 0 or -ENOMEM.
 */
int replay_sum_ended(struct replay *r, size_t first, size_t last, bool unbroken,
		     struct ended_sum *ret);
/* The frame of the moment of an event, or the one before it, from 0. False: there is none. */
bool replay_event_frame(const struct replay *r, size_t event, size_t *ret);

#endif
