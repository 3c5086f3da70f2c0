/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What both forms of record share: they measure, and complete a snapshot as it is recorded. */
#ifndef ZMEM_RECORDER_RECORDER_H
#define ZMEM_RECORDER_RECORDER_H

#include "recording/recording_file.h"
#include "session/options.h"
#include "session/output.h"
#include "session/session.h"
#include "watch/ended_watch.h"

struct recorder {
	struct options options; /* changed: the file is not the output of JSON */
	struct session session;
	struct output file;
	struct recording_writer writer;
	struct process_list all;   /* every process of a snapshot */
	struct ended_watch *ended; /* NULL: peaks of processes that ended are not kept */
	unsigned census_in;	   /* snapshots until one has a census; 0: the next one */
	int64_t census_ms;	   /* ram.taken_ms of the last one */
	int failed;		   /* the exit code, if a frame failed after the first */
	bool stalls;		   /* of --keep: memory is short: PSI of cgroups is read */
	bool selects;		   /* a filter is set: other processes are not recorded */
	char selection[256];
};

/* What is in the header of the recording. */
struct recording_options recorder_options(const struct options *o);
/* Opens what measures. Returns 0, or an exit code after a message. */
int recorder_open(struct recorder *r, const struct options *o);
/*
 * Processes that end from now on belong to the next snapshot; later, and once, those that ended
 * before. NULL: they are not known.
 */
void recorder_turn_ended(struct recorder *r);
const struct ended_processes *recorder_read_ended(struct recorder *r);
/* They were not recorded: they belong to the next snapshot. */
void recorder_keep_ended(struct recorder *r);
/* Takes a snapshot, with its memory cgroups, and a census now and then. Returns 0 or an exit code
 * after a message. */
int recorder_collect(struct recorder *r, struct result *ret);
/* A filter reads command lines: they are recorded only with -o +cmdline. */
void recorder_forget_cmdlines(struct recorder *r);
/* Completes the snapshot as it is recorded. Returns 0 or a negative errno. */
int recorder_complete(struct recorder *r);
void recorder_close(struct recorder *r);

#endif
