/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording without an end, in a directory: segments, of which the oldest are removed. A segment
 * is a recording (recording_file.h) with an index, and its name is its number: 0000000001.zmem.
 *
 * A frame is appended by one write(), so what a killed writer leaves is readable up to the last
 * complete frame. Frames in a segment are in order of time: a clock that is set back begins another
 * segment. An OOM kill may be written behind a later frame, and begins no other segment. Times of
 * segments are in any order: recording_reader_find(). One process at a time writes to a directory:
 * it holds a lock of RING_LOCK, which only its owner may open.
 *
 * Other users can cause kills, as many as they like, so kills have a budget: a quarter of the bytes
 * to keep over the time to keep. Without it the last of several kills is written, and counts the
 * others. Signals that end processes use this budget, too, but only up to a quarter of it: the rest
 * is for kills.
 */
#ifndef ZMEM_RECORDING_RING_H
#define ZMEM_RECORDING_RING_H

#include "recording/recording_file.h"

#define RING_LOCK	   ".lock"
#define RING_SEGMENT_LEAST (10 * 60 * 1000)	 /* ms */
#define RING_SEGMENT_MOST  (24 * 60 * 60 * 1000) /* ms */
#define RING_SEGMENTS	   128			 /* about so many take the time to keep */
#define RING_PIECES	   16 /* of the bytes to keep; a segment is at most one */
#define RING_SYNC_MS	   60000
#define RING_EVENT_SYNC_MS 1000 /* from one sync of events to the next */
#define RING_CLOCK_MS	   1000 /* a clock that moved by more against the boot clock was set */
#define RING_KILLS_PART	   4	/* kills take at most such a part of the bytes to keep */
#define RING_BURST_PART	   32	/* and such a part at once */
#define RING_BURST_LEAST   (64 * 1024)
#define RING_FREE_PERCENT  5 /* of the file system stay free, RING_FREE_MOST bytes at most */
#define RING_FREE_MOST	   (UINT64_C(1) << 30)

struct ring_options {
	struct recording_options recording; /* with an interval */
	uint64_t keep_ms;		    /* of recorded time: pauses do not count */
	uint64_t keep_bytes;
};

struct ring_segment {
	uint32_t number;
	uint64_t bytes;
	bool has_frames;
	int64_t first_ms, last_ms; /* of its frames */
};

/* What the budget of kills has room for. */
enum ring_room {
	RING_ROOM_NONE,	 /* the kill is counted */
	RING_ROOM_EVENT, /* the event */
	RING_ROOM_ALL,	 /* and the frame of its moment, and one of those that survived */
};

struct recording_ring {
	struct ring_options options;
	int dir;
	int lock;	 /* the file that is locked; -1: it is not */
	int fd;		 /* of the segment in work; -1: none */
	uint32_t number; /* of the last segment */
	/* The segment in work. Times are ms since the epoch. */
	int64_t first_ms; /* of its first frame; until it has one, of its first event */
	int64_t last_ms;  /* of its newest frame or event */
	int64_t frame_ms; /* of its newest frame; INT64_MIN: it has none */
	int64_t boot_ms; /* when the machine booted, as the clock said at the last frame or event */
	int64_t synced_ms;
	uint64_t bytes;
	struct ring_segment *segment; /* finished, oldest first */
	size_t count, capacity;
	uint64_t frames;    /* that were written */
	uint64_t written;   /* bytes of frames and events, in all segments */
	uint64_t dropped;   /* that could not be written */
	bool unsynced;	    /* an event was not synced yet */
	bool of_kill;	    /* what is written now is a kill */
	uint64_t made_room; /* bytes of segments that were removed for kills, and not used yet */
	uint64_t removed_for_kills; /* segments */
	uint64_t wanted;	    /* bytes of the last write */
	bool in_vain;		    /* the last one that was removed for a kill did not help */
	uint64_t event_sync_ms;
	/* The budget of kills: bytes, less than 0 if the last one took more than there was. */
	int64_t budget;
	int64_t budget_ms;   /* since boot: when it was filled */
	uint64_t left_out;   /* kills that were not written, the last one included */
	time_t named_second; /* of the last event, and how many it had */
	unsigned named_count;
	struct event_record last_left_out;
	uint64_t signals_left_out; /* since the last one that was written */
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
 * Appends a frame, and removes the oldest segments. `of_kills`: it was taken because of kills, and
 * is of their budget. Returns 0 or a negative errno, and then the frame is dropped, and the next
 * one may succeed: -ENOSPC if the disk is full or nearly full.
 */
int recording_ring_append(struct recording_ring *g, const struct snapshot *s, bool of_kills);
/*
 * Appends an event, and names it (EVENT_ID). `boot_ms`: when the machine booted, as host_info has
 * it. Returns 0 or a negative errno.
 */
int recording_ring_event(struct recording_ring *g, int64_t boot_ms, struct event_record *e);
/* What a kill may take at this time, in ms since the machine booted. */
enum ring_room recording_ring_room(struct recording_ring *g, int64_t since_boot_ms);
/*
 * Appends a kill and, if `s` is not NULL, the frame of its moment, as far as the budget has room: a
 * frame that is left out is no longer promised by the event. A kill that was not written is counted
 * by a later one. On a full disk the oldest segments make room for it, but the newest one stays.
 * Returns 0, 1 if the budget had no room, or a negative errno.
 */
int recording_ring_kill(struct recording_ring *g, int64_t boot_ms, struct event_record *e,
			const struct snapshot *s);
/*
 * The same for a signal, alone: if it was not written, the next one counts it. Returns 0, 1 if the
 * budget had no room, or a negative errno.
 */
int recording_ring_signal(struct recording_ring *g, int64_t boot_ms, struct event_record *e);
/*
 * Syncs events that were not synced, unless it did within a second: then call it again. `now_ms` is
 * of a clock that is not set. Returns 0 or a negative errno.
 */
int recording_ring_sync_events(struct recording_ring *g, uint64_t now_ms);
/*
 * Whether what is written can be found: others may remove or rename files. Returns 0; 1 if the
 * segment in work was not there, and the next frame begins another one; -ENOENT if the directory
 * was removed; or a negative errno: -EBUSY if the lock was removed and another process writes.
 */
int recording_ring_check(struct recording_ring *g);
/* Ends the segment, syncs, unlocks. Also of a struct that is all {.dir = -1, .fd = -1}. */
void recording_ring_close(struct recording_ring *g);

#endif
