/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Notes on steps that failed, as data: libraries add notes, and only the command line prints them.
 * doctor and -v show all notes, and the first becomes "fallback_reason" in every output.
 */
#ifndef ZMEM_BASE_DIAG_H
#define ZMEM_BASE_DIAG_H

#include <stddef.h>

#define DIAG_NOTES 16

struct diag_note {
	const char *subject; /* a literal: the source or step */
	int error;	     /* negative errno, 0 if there is none */
	char *reason;	     /* one line, owned */
	const char *hint;    /* a literal: what the user can do in any command; NULL if nothing */
	char *log;	     /* many lines (the verifier's), owned, NULL if none */
};

struct diag {
	struct diag_note note[DIAG_NOTES];
	int count;	  /* notes that are stored */
	int without_room; /* later notes, which are not stored */
};

/* Adds a note; `reason` is a printf format. Never fails: without memory the text is left out. */
__attribute__((format(printf, 5, 6))) void diag_add(struct diag *d, const char *subject, int error,
						    const char *hint, const char *reason, ...);

/*
 * Attaches a log to the newest note; diag_clear() frees it. It is freed at once if there is no
 * note, if the newest one is not stored, or if that one has a log.
 */
void diag_attach_log(struct diag *d, char *log);

/* The newest note, NULL without one. */
const struct diag_note *diag_newest(const struct diag *d);
/* The reason of a note, without one the words of the error; likewise of the newest note. */
const char *diag_why(const struct diag_note *n, int error);
const char *diag_reason(const struct diag *d, int error);
/* Likewise with the hint of the note: "reason (hint)". */
#define DIAG_TEXT 1024
void diag_text(char *buf, size_t size, const struct diag_note *n, int error);

/* Removes the newest note, if there is one. */
void diag_remove(struct diag *d);

/* Frees all notes. */
void diag_clear(struct diag *d);

#endif
