/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An event of a recording with what held the memory then. */
#ifndef ZMEM_MODEL_INCIDENT_H
#define ZMEM_MODEL_INCIDENT_H

#include "model/change.h"
#include "model/event.h"
#include "model/finding.h"
#include "model/overview.h"
#include "model/ram_change.h"

enum incident_key {
	INCIDENT_NAME,
	INCIDENT_UNIT,
	INCIDENT_CONTAINER,
	INCIDENT_ASKED, /* by incident.group_by; empty without it */
	INCIDENT_KEYS,
};

enum incident_window {
	INCIDENT_MINUTE,
	INCIDENT_TEN_MINUTES,
	INCIDENT_HOUR,
	INCIDENT_RECORDED, /* since the recording or the machine began, if an hour is not recorded
			    */
	INCIDENT_WINDOWS,
};

/* 0: INCIDENT_RECORDED. */
extern const int64_t incident_window_ms[INCIDENT_WINDOWS];
/* What the memory of a group is here: anonymous memory in RAM, and swap. */
#define INCIDENT_COUNTERS (COUNTER_BIT(COUNTER_RSS_ANON) | COUNTER_BIT(COUNTER_SWAP))

/* A cgroup that reached a limit between two snapshots. */
struct limit_events {
	const char *cgroup;
	uint64_t oom_kills, max, high; /* 0 also where the kernel does not count it (v1: high) */
	bool since_made; /* the snapshot before does not have it: they are those of all its time */
};

#define INCIDENT_LIMITS 32

/* A cgroup of which tasks waited for memory: at most so much of ten seconds. */
struct incident_stall {
	const char *cgroup, *kind, *name; /* "unit", "web.service" */
	uint64_t some, full;		  /* PSI, hundredths of a percent */
};

#define INCIDENT_STALLS 10

/* What the cgroup was charged at its limit, most first. */
enum incident_part {
	PART_PROCESSES, /* anonymous memory */
	PART_SHMEM,
	PART_FILES,
	PART_KERNEL,
	PART_SOCKETS,
	PART_SWAP,   /* if it was the limit of memory and swap */
	PART_OTHER,  /* freed before it was read, or a kind that memory.stat does not have */
	PART_UNREAD, /* the same, or memory of processes that were not read */
	INCIDENT_PARTS,
};

/* "tmpfs and shared memory" */
const char *incident_part_name(enum incident_part part);

struct incident_charge {
	enum incident_part part;
	uint64_t bytes;
};

struct incident_ram_part {
	const char *key, *title;
	uint64_t bytes;
};

/* Where the machine's RAM was: the parts of a snapshot's first lines (model/overview.h). */
struct incident_ram {
	struct incident_ram_part part[OVERVIEW_PARTS]; /* the largest first */
	size_t parts;				       /* 0: they are not known */
	int64_t time_ms;			       /* of the snapshot */
	uint64_t pool, locked;			       /* of huge pages; by mlock() */
	/*
	 * Processes that the kernel does not kill, with their anonymous memory and swap; of a
	 * cgroup without a process to kill, those in it.
	 */
	bool exempt_known;
	uint32_t processes;
	uint32_t exempt;
	uint64_t exempt_bytes;
};

/*
 * The kills that an event stands for: a group (memory.oom.group), of which it is the first one, or
 * kills of one program in one workload, of which it is the newest one or the newest group. Of
 * signals: those of one sender to one workload, one shortly after the other; it is the first one.
 */
struct burst {
	size_t kills;	 /* or signals; 0: another event stands for it */
	size_t calls;	 /* of the kernel: of each, one process was killed, or a group */
	size_t groups;	 /* calls that killed several */
	uint64_t missed; /* kills or signals before them that were only counted */
	uint64_t bytes;	 /* of the receivers of signals: anonymous memory and swap */
	int64_t since_ms, until_ms;
};

struct incident {
	unsigned number; /* 1: the newest, as in --at event:1; 0: a signal has none */
	const struct event_record *event;
	const struct event_record *end; /* of memory that was short; NULL: no end was recorded */
	const char *group_by; /* columns with commas between them; NULL: groups are programs */
	bool goes_on;	      /* without an end: it was not over when the recording ended */
	bool recorded_now;    /* the recording had not ended when it was read */
	const char *workload; /* of the victim (event_workload()) */
	/* The limit was lowered: what it was, and how long before the kill. 0: it was not. */
	uint64_t limit_before;
	int64_t limit_before_ms;
	struct burst burst;	       /* of a kill */
	const struct snapshot *during; /* at the event, or the last one before; NULL: no frame */
	/* Of a kill: it has the processes of that moment, or of so long before, without the victims
	 * since. */
	bool table_known;
	int64_t table_age_ms;
	/* What was wrong then; at a kill, which frees memory, in the snapshot before. NULL:
	 * likewise.
	 */
	const struct findings *findings;
	struct group_changes largest[INCIDENT_KEYS]; /* by size */
	bool grew_known[INCIDENT_WINDOWS];	     /* a snapshot is of that time */
	struct group_changes grew[INCIDENT_WINDOWS]; /* by group_by, largest growth first */
	int64_t recorded_ms;			     /* the time of INCIDENT_RECORDED */
	/* The same of the cgroup that reached its limit; without items of other events. */
	struct group_changes largest_inside, shmem_inside, grew_inside[INCIDENT_WINDOWS];
	/* Ten minutes before; the beginning of a recording that does not reach back. NULL: neither.
	 */
	const struct snapshot *baseline;
	struct limit_events limit[INCIDENT_LIMITS]; /* between the two snapshots */
	size_t limits;
	struct incident_stall stall[INCIDENT_STALLS]; /* of a shortage, the most first */
	size_t stalls;
	bool stalls_known; /* snapshots tell PSI of cgroups */
	/* Files of shared memory of its cgroup, else of the machine, the largest first. */
	struct shared_file file[SHARED_FILES_MAX];
	size_t files;
	int64_t files_ms;      /* when they were listed; 0: no list was recorded */
	bool files_of_machine; /* the kernel does not tell of which cgroup they are */
	struct incident_charge charge[INCIDENT_PARTS];
	size_t charges;		   /* 0: they are not known */
	struct incident_ram where; /* parts: unless a cgroup was short */
	/* What ended before the snapshot at the event, in a minute or a longer interval. */
	struct ended_processes ended;
	/* From the census nearest to that snapshot to the one nearest to the event. */
	struct ram_changes ram;
};

/* Fills up to `most` of them, most kills first. Returns how many there are. */
size_t incident_limit_events(const struct incident *i, struct limit_events *ret, size_t most);

static inline bool incident_is_pressure(const struct incident *i)
{
	return event_number(i->event, EVENT_KIND) == EVENT_PRESSURE;
}

/* Whether tasks waited while the machine had memory. */
static inline bool incident_is_plenty(const struct incident *i)
{
	return event_number(i->end ? i->end : i->event, EVENT_PLENTY);
}

/* The cgroup in which they waited; its processes may be gone at the end. NULL: not known. */
static inline const char *incident_waiting_cgroup(const struct incident *i)
{
	const char *end = i->end ? event_text(i->end, EVENT_LIMIT_CGROUP) : NULL;

	return end ? end : event_text(i->event, EVENT_LIMIT_CGROUP);
}

/* The cgroup with too little memory; NULL: the machine, or it is not known. */
static inline const char *incident_short_cgroup(const struct incident *i)
{
	if (!incident_is_pressure(i))
		return event_text(i->event, EVENT_LIMIT_CGROUP);
	return incident_is_plenty(i) ? incident_waiting_cgroup(i) : NULL;
}

/* Whether the event is a kill for the limit of a cgroup of which the path is known. */
static inline bool incident_is_of_cgroup(const struct incident *i)
{
	return event_number(i->event, EVENT_KIND) == EVENT_OOM_KILL &&
	       event_text(i->event, EVENT_LIMIT_CGROUP);
}

/* Whether the processes of that cgroup are known. */
static inline bool incident_has_inside(const struct incident *i)
{
	return i->during && incident_is_of_cgroup(i) && i->table_known;
}

/* What a group of largest_inside held in shared memory, bytes. */
uint64_t incident_shmem_of(const struct incident *i, const struct group_change *group);

/* Whether processes may have had more of it: they were not read. */
static inline bool incident_is_part(const struct incident *i, enum incident_part part)
{
	return part == PART_PROCESSES && !incident_has_inside(i);
}

/* Fills in where the RAM was. `just_before`: the snapshot before a kill; NULL: none. */
void incident_find_ram(struct incident *i, const struct snapshot *just_before);
/* Fills in what its cgroup was charged, once the snapshot is read. */
void incident_add_charges(struct incident *i);

/*
 * The path of a level of event_record.level, in *buf if it is made there. NULL: it is not known.
 */
const char *incident_level_path(const struct event_record *e, unsigned level, char buf[EVENT_TEXT]);

static inline bool incident_is_signal(const struct incident *i)
{
	return event_number(i->event, EVENT_KIND) == EVENT_SIGNAL;
}

static inline bool incident_is_unrecorded(const struct incident *i)
{
	return event_number(i->event, EVENT_KIND) == EVENT_UNRECORDED;
}

static inline bool incident_is_no_victim(const struct incident *i)
{
	return event_number(i->event, EVENT_KIND) == EVENT_NO_VICTIM;
}

/* How many processes there was no time for. False: they were not counted. */
bool incident_unread(const struct incident *i, uint32_t *ret);

#endif
