/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Everything that is read of a machine, by key, in the order it was read. Whoever reads takes it
 * down here, if it is being recorded; played back, the tape answers the same questions: the first
 * one about a key with the first reading, the second with the second, and when there are no more,
 * with the last one again. It knows nothing of what a reading means.
 *
 * Keys are paths where it is a file of /proc ("812/smaps_rollup", "meminfo"), else what the one who
 * reads calls it ("812/record", "host/name").
 *
 * Not for several threads at once.
 */
#ifndef ZMEM_TAPE_H
#define ZMEM_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TAPE_KEY_MAX 63

struct tape_key {
	char text[TAPE_KEY_MAX + 1];
};

struct tape;
struct recording;
struct strbuf;

struct tape_reading {
	int error;	  /* negative errno: it could not be read, and there is no data */
	const char *data; /* terminated behind `len`; lives as long as the recording */
	size_t len;
};

/* An empty tape to record on. NULL without memory. */
struct tape *tape_blank(void);
/*
 * One to play a recording, which must outlive it. It has to be turned to a chapter first. NULL
 * without memory.
 */
struct tape *tape_of(const struct recording *recording);
void tape_free(struct tape *tape);

/* Both are false for NULL: a machine that is read and not recorded. */
bool tape_playing(const struct tape *tape);
bool tape_recording(const struct tape *tape);

/* ---- recording; nothing happens unless the tape is being recorded ---- */

/* Takes a reading down; `error` as in struct tape_reading. tape_take_chapter() tells what went
 * wrong. */
void tape_put(struct tape *tape, const char *key, int error, const void *data, size_t len);
/* The result of a function that returns a length or a negative errno. */
void tape_put_text(struct tape *tape, const char *key, const char *text, ssize_t len_or_error);
void tape_put_string(struct tape *tape, const char *key, const char *text);
void tape_put_u64(struct tape *tape, const char *key, uint64_t value);
/* Processes; sorts them. Returns 0 or -ENOMEM. */
int tape_put_pids(struct tape *tape, const char *key, pid_t *pids, size_t count);
/*
 * Appends what was taken down since the last time to a recording that is written
 * (recording_begin()), and forgets it. Errors stay in the strbuf.
 */
void tape_take_chapter(struct tape *tape, uint32_t frame, const char *name, struct strbuf *out);

/* ---- playing ---- */

/* To the beginning of a chapter. Returns 0, -ENOENT or -ENOMEM. */
int tape_turn_to(struct tape *tape, uint32_t frame, const char *name);

enum tape_answer {
	TAPE_NONE,  /* that was never read */
	TAPE_AGAIN, /* there are no more: the last one */
	TAPE_NEXT,
};

enum tape_answer tape_next(struct tape *tape, const char *key, struct tape_reading *ret);
/* Whether the next answer will be TAPE_NEXT. */
bool tape_has_next(const struct tape *tape, const char *key);
/* As if it were read from a file into buf: returns the length, or a negative errno, or -ENOENT. */
ssize_t tape_next_text(struct tape *tape, const char *key, char *buf, size_t cap);
/* The next reading as a string that lives as long as the recording, NULL if there is none. */
const char *tape_next_string(struct tape *tape, const char *key);
/* False if there is none, or no number in it. */
bool tape_next_u64(struct tape *tape, const char *key, uint64_t *ret);
/*
 * Calls fn for each process of the next list until it returns other than 0. Returns that, 0, or a
 * negative errno: -ENOENT if there is none, -EBADMSG for what is no list.
 */
int tape_next_pids(struct tape *tape, const char *key, int (*fn)(void *arg, pid_t pid), void *arg);
/* Calls fn for each reading whose key begins with `prefix`, in the order of the keys. */
void tape_each(struct tape *tape, const char *prefix,
	       void (*fn)(void *arg, const char *key, const struct tape_reading *reading),
	       void *arg);

#endif
