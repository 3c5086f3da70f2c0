/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording without an end, in a directory: segments, of which the oldest are removed. A segment
 * is a recording (recording_file.h) with an index, and its name is its number: 0000000001.zmem.
 *
 * A frame is appended by one write(), so what a killed writer leaves is readable up to the last
 * complete frame. Frames in a segment are in order of time: a clock that is set begins another
 * segment. One process at a time writes to a directory (flock).
 */
#ifndef ZMEM_RECORDING_RING_H
#define ZMEM_RECORDING_RING_H

#include "recording/recording_file.h"

#define RING_SEGMENT_LEAST (10 * 60 * 1000)	 /* ms */
#define RING_SEGMENT_MOST  (24 * 60 * 60 * 1000) /* ms */
#define RING_SEGMENTS	   128			 /* about so many take the time to keep */
#define RING_PIECES	   16 /* of the bytes to keep; a segment is at most one */
#define RING_SYNC_MS	   60000
#define RING_FREE_PERCENT  5 /* of the file system stay free, RING_FREE_MOST bytes at most */
#define RING_FREE_MOST	   (UINT64_C(1) << 30)

/* ---- the names of segments ---- */

struct segment_name {
	char text[16]; /* 10 digits and ".zmem" */
};

struct segment_name segment_name(uint32_t number);
/* The numbers of the segments in a directory, ascending. Returns 0 or a negative errno. */
int segment_list(int dir, uint32_t **ret, size_t *ret_count);
/* Opens it to read, or returns a negative errno: -ELOOP for a link, -EINVAL if it is not a file. */
int segment_open(int dir, const struct segment_name *name);

/* ---- writing ---- */

struct ring_options {
	struct recording_options recording; /* with an interval */
	uint64_t keep_ms;		    /* of recorded time: pauses do not count */
	uint64_t keep_bytes;
};

struct ring_segment {
	uint32_t number;
	uint64_t bytes;
	uint64_t span_ms; /* from its first to its last frame */
};

struct recording_ring {
	struct ring_options options;
	int dir;	 /* locked */
	int fd;		 /* of the segment in work; -1: none */
	uint32_t number; /* of the last segment */
	int64_t first_ms, last_ms, synced_ms;
	uint64_t bytes;		      /* of the segment in work */
	struct ring_segment *segment; /* finished, oldest first */
	size_t count, capacity;
	uint64_t frames;  /* that were written */
	uint64_t dropped; /* that could not be written */
	struct strbuf out;
	struct recording_writer writer;
};

/*
 * Locks a directory, which must be ours and closed to the writing of others, and finds its
 * segments. Takes `dir` in any case. Returns 0 or a negative errno: -EBUSY if another process
 * writes to it, -EPERM if it is not ours alone.
 */
int recording_ring_open(struct recording_ring *g, int dir, const struct ring_options *o);
/*
 * Appends a frame, and removes the oldest segments. Returns 0 or a negative errno, and then the
 * frame is dropped, and the next one may succeed: -ENOSPC if the disk is full or nearly full.
 */
int recording_ring_append(struct recording_ring *g, const struct snapshot *s);
/*
 * Appends an event and, if `s` is not NULL, the frame of its moment, and syncs. Returns the same.
 */
int recording_ring_event(struct recording_ring *g, const struct event_record *e,
			 const struct snapshot *s);
/* What was appended survives a loss of power. Returns 0 or a negative errno. */
int recording_ring_sync(struct recording_ring *g);
/* Ends the segment, syncs, unlocks. Also of a struct that is all {.dir = -1, .fd = -1}. */
void recording_ring_close(struct recording_ring *g);

#endif
