/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was tried and did not work, as data: libraries add notes, only src/app prints them.
 * The notes are told by doctor and -v, and the first becomes "fallback_reason" in every output.
 */
#ifndef ZMEM_DIAG_H
#define ZMEM_DIAG_H

#define DIAG_NOTES 16

struct diag_note {
	const char *subject; /* a literal: which source or step */
	int error;	     /* negative errno, 0 if there is none */
	char *reason;	     /* one line, owned */
	const char *hint;    /* a literal: what the user can do, NULL if nothing */
	char *log;	     /* many lines (the verifier's), owned, NULL if none */
};

struct diag {
	struct diag_note note[DIAG_NOTES];
	int count; /* further notes are dropped */
};

/* Adds a note; `why` is a printf format. Never fails: without memory the text is left out. */
__attribute__((format(printf, 5, 6))) void diag_add(struct diag *d, const char *subject, int error,
						    const char *hint, const char *reason, ...);

/* Hands the log to the newest note, which owns it from here on. */
void diag_attach_log(struct diag *d, char *log);

/* Takes back the newest note. */
void diag_drop(struct diag *d);

/* Frees what the notes own and empties the list. */
void diag_clear(struct diag *d);

#endif
