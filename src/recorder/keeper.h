/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What record --keep repeats until it is ended: it writes frames (keeper.c), episodes of short
 * memory with denser frames (keeper_episodes.c), kills and signals (keeper_kills.c), and kills that
 * nothing recorded (keeper_absence.c). Functions that return int return 0 or an exit code after a
 * message.
 */
#ifndef ZMEM_RECORDER_KEEPER_H
#define ZMEM_RECORDER_KEEPER_H

#include "collect/oom_moment.h"
#include "collect/shared_read.h"
#include "recorder/cgroup_counts.h"
#include "recorder/keeper_day.h"
#include "recorder/recorder.h"
#include "recording/recording_ring.h"
#include "session/background.h"
#include "session/ticker.h"
#include "watch/pressure_watch.h"

/* While memory is short there is a frame each second. */
#define DENSE_MS 1000

/* Memory is short, or was until a while ago. */
struct episode {
	bool on;
	uint64_t began_us, short_us; /* CLOCK_MONOTONIC; short: at the last sign */
	int64_t began_ms, short_ms;
	unsigned causes; /* enum pressure_cause */
	struct pressure_look first, last;
	uint64_t available_least, swap_free_least;
	uint64_t kills;
	bool plenty;		     /* tasks waited, and the machine was not short */
	unsigned looks;		     /* with a sign */
	bool written;		     /* its beginning */
	struct cgroup_counts limits; /* at the beginning */
};

/* Those that are only counted have the names of a signal of the same sender to the same cgroup. */
#define SIGNALS_KEPT 8

/* What the kernel had counted when the last snapshot was taken, which may be of a recorder before.
 */
struct absence {
	bool known;
	int64_t time_ms; /* 0: there is none */
	char boot_id[37];
	uint64_t kills;		      /* with those that were recorded behind it */
	uint64_t counted;	      /* without them */
	struct cgroup_counts cgroups; /* kills of each, likewise */
	struct oom_kills now;	      /* when this recorder began, at now_ms; 0: it has a frame */
	int64_t now_ms;
};

/* What the kernel's log says again and again is an event a minute. */
struct no_victim {
	struct oom_no_victim now; /* since the last event */
	int64_t first_ms;
	uint64_t written_us; /* CLOCK_MONOTONIC: of the last event; 0: there is none */
};

/* What --keep says, in its own units. */
struct kept_text {
	int time_len; /* of options.keep */
	const char *size;
};

struct keeper {
	struct recorder recorder;
	struct ring_options ring_options;
	struct recording_ring ring;
	struct ticker ticker;
	struct background background;
	struct kept_text kept;
	const char *path;
	struct oom_watch *oom; /* NULL: kills are not watched */
	struct oom_moment moment;
	struct absence absence;
	struct no_victim no_victim;
	struct event_record *signal; /* the last signals, in a ring, and the cgroup of each */
	uint64_t signal_cgroup[SIGNALS_KEPT];
	size_t signals;
	struct shared_reader shared;
	bool killed;	      /* kills were recorded since the last snapshot */
	bool made_room;	      /* it was said that kills take the room of the oldest files */
	uint64_t survived_us; /* CLOCK_MONOTONIC: of the last snapshot because of kills */
	unsigned dense;	      /* %; 0: the interval is the same always */
	struct pressure_watch pressure;
	struct episode episode;
	uint64_t due_us;      /* CLOCK_MONOTONIC: of the next frame */
	int error;	      /* why the last frame was not written */
	uint64_t first_bytes; /* of the first frame, which stands alone */
	bool estimated;
	struct keeper_sums lost; /* of these members, what the ring does not count */
	struct keeper_day day;
};

/* ---- the ring ---- */

/* Opens the ring of files in the directory, which is made if it is missing. */
int keeper_open_ring(struct keeper *k);
/*
 * Sees that what was recorded is there. If others took the directory away, it is made anew, or
 * recording ends.
 */
int keeper_check_ring(struct keeper *k);
/*
 * Records a frame. `due`: it is not there because of kills alone. Without a first frame there is no
 * recording.
 */
int keeper_record_frame(struct keeper *k, bool due);
/* With filters, files of others are not recorded. */
void keeper_list_files(struct keeper *k, bool worth, const char *cgroup, struct snapshot *s);
/* What happened survives a loss of power, before a snapshot is taken, which takes a while. */
void keeper_sync_events(struct keeper *k);
/* A disk that is full, or a file that cannot be made, is said once, and when it is over. */
void keeper_report_written(struct keeper *k, int r);
void keeper_report_room(struct keeper *k);
/* Once a day, how much was written, and whether anything was lost. */
void keeper_report_day(struct keeper *k);
/* When the machine booted, as the clock says. */
int64_t keeper_boot_ms(void);
void keeper_close(struct keeper *k);

/* ---- episodes ---- */

/* With a longer interval, memory is looked at each second. */
unsigned keeper_tick_ms(struct keeper *k);
void keeper_watch_pressure(struct keeper *k);
/*
 * To be called each second, and when the trigger tells of a stall. Whether a frame is due.
 */
bool keeper_is_due(struct keeper *k, bool stalled);

/* ---- kills and signals ---- */

/* Records the kills that have come: they were before what is seen from now on. */
void keeper_record_kills(struct keeper *k);
/* The last snapshot of the recording, and what the kernel had counted when kills were watched. */
void keeper_read_last(struct keeper *k);
/* Behind a frame: kills that nothing recorded, if the kernel has counted any. */
void keeper_record_unrecorded(struct keeper *k);
/* Records the signals that have come, behind the kills, and those that were only counted. */
void keeper_record_signals(struct keeper *k);
/* Behind a frame: that the kernel found no process to kill before it, by its log. */
void keeper_record_no_victim(struct keeper *k);
/* Whether a snapshot with the PSS of survivors of kills is taken now: at most one a second. */
bool keeper_takes_survivors(struct keeper *k);

#endif
