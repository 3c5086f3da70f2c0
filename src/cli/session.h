/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the options to a result: opens what is needed once, collects as often as asked.
 * collect → filter → PSS → cross-check → order → limit → names → totals.
 */
#ifndef ZMEM_CLI_SESSION_H
#define ZMEM_CLI_SESSION_H

#include "cli/options.h"
#include "cli/replay.h"
#include "query/delta.h"
#include "enrich/enrich.h"
#include "query/query.h"
#include "query/result.h"
#include "source/source.h"

enum phase {
	PHASE_LOAD,    /* opening the source */
	PHASE_COLLECT, /* reading all counters */
	PHASE_FILTER,
	PHASE_PSS, /* smaps_rollup */
	PHASE_CHECK,
	PHASE_NAMES,
	PHASE_RENDER,
	PHASE_COUNT,
};

struct session {
	const struct options *options;
	struct replay replay; /* with --replay */
	struct procfs proc;
	pid_t self;	       /* 0 with --replay */
	int pss;	       /* enum pss_choice */
	struct source *source; /* NULL with --replay */
	struct diag diag;
	struct proc_pool *pool; /* NULL until something is read through it */
	struct user_table *users;
	struct name_cache *names; /* of a command that stays, else NULL */
	struct snapshot snapshot;
	struct snapshot again[2]; /* some of it, to compare with */
	struct rows rows;	  /* processes */
	struct sums sums;	  /* what is made of them, with --group-by and --tree */
	struct rows all;	  /* rows before any was left out, of a command that stays */
	struct tracker *tracker;  /* and what they were; NULL: of one that does not */
	struct delta *delta;
	bool lazy_names; /* rows are named by rows_name() when they come in sight, not before, and
			    kept by whoever does that */
	struct column_list columns;
	const struct column *group; /* rows are groups that have it in common; NULL: processes */
	struct order order;
	struct filter filter;
	struct pattern *pattern;
	pid_t *pids;
	uid_t *uids;
	char *fallback_reason;
	bool warned_ptrace;   /* that CAP_SYS_PTRACE is missing */
	bool warned_cmdlines; /* that a recording holds no command lines */
	bool warned_missing;  /* which pids that were asked for are not there */
	bool warned_alone;    /* that there was no thread to watch from */
	int exit_code;	      /* EXIT_NOT_FOUND if something asked for was not there */
	uint64_t phase_us[PHASE_COUNT];
};

/* Returns 0, or an exit code after a message. session_close() in either case. */
int session_open(struct session *s, const struct options *o);
/* Whether it reads a recording (--replay). */
bool session_replays(const struct session *s);
/* Why /proc says nothing of processes, NULL if it does. */
const char *session_no_proc(const struct session *s);
/*
 * With a recording: the next collection has this frame, 1 to s->replay.frames. It has to be called
 * before each; session_open() has called it for the last frame, or for the first with
 * o->continuous. Returns 0, or an exit code after a message.
 */
int session_replay_frame(struct session *s, uint32_t frame);
/* Says that it is the last frame of several. */
void session_note_frame(const struct session *s);
/* Collects the counters and selects the rows. Returns 0, or an exit code after a message. */
int session_begin(struct session *s);
/*
 * Takes a snapshot. `fit`: no more rows than this are shown, 0 for all; the result borrows from the
 * session. Returns 0, or an exit code after a message.
 */
int session_collect(struct session *s, size_t fit, struct result *ret);
void session_close(struct session *s);

/* The workers, started at the first call. NULL without memory. */
struct proc_pool *session_pool(struct session *s);

#endif
