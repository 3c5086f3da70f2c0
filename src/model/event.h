/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An event of a recording: the payload of PART_EVENT, a list of members. A member is its number
 * (u8, enum event_member), its length (u16) and its bytes: a u64, a text, or the levels of a kill.
 * Members of other numbers are skipped. All integers are little-endian.
 */
#ifndef ZMEM_MODEL_EVENT_H
#define ZMEM_MODEL_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

enum event_kind {
	EVENT_OOM_KILL = 1,
	EVENT_PRESSURE = 2, /* memory was short; its end is a part of its own (recording_file.h) */
	EVENT_SIGNAL = 3,   /* a process sent a signal that ends another one */
};

/* Numbers are part of the format. */
enum event_member {
	EVENT_KIND = 1,
	EVENT_PID = 2, /* of the victim; absent: not known */
	EVENT_UID = 3,
	EVENT_OOM_SCORE_ADJ = 4,
	/* Bytes, exact. */
	EVENT_RSS_ANON = 5,
	EVENT_RSS_FILE = 6,
	EVENT_RSS_SHMEM = 7,
	EVENT_SWAP = 8,
	EVENT_PGTABLES = 9,
	/* Bytes, without the parts per CPU. */
	EVENT_RSS_ANON_COUNT = 10,
	EVENT_RSS_FILE_COUNT = 11,
	EVENT_RSS_SHMEM_COUNT = 12,
	EVENT_SWAP_COUNT = 13,
	EVENT_LIMIT = 14,   /* of the victim's cgroup, bytes */
	EVENT_LISTED = 15,  /* processes that were read in the kernel */
	EVENT_LOST = 16,    /* without room in the ring */
	EVENT_MISSED = 17,  /* kills before, which were only counted */
	EVENT_TOOK_NS = 18, /* in the kernel */
	EVENT_TABLE = 19,   /* 1: the next frame is the machine at that moment, without PSS */
	EVENT_LATE = 20,    /* 1: not all processes were read in time */
	EVENT_ORDER = 21,   /* of the allocation that failed */
	EVENT_SOURCE = 22,  /* enum event_source: of the constraint */
	/* Of memory that was short: */
	EVENT_CAUSES = 23,     /* enum pressure_cause */
	EVENT_AVAILABLE = 24,  /* MemAvailable, bytes: at the beginning; of the end the least */
	EVENT_SWAP_FREE = 25,  /* likewise */
	EVENT_BEGAN = 26,      /* of the end: the time of the beginning, ms */
	EVENT_STALLED_US = 27, /* of the end: while some task waited for memory, since then */
	EVENT_REFAULTED = 28,  /* of the end: bytes that were read again, since then */
	EVENT_KILLS = 29,      /* of the end: OOM kills since then */
	EVENT_ENDED = 30,      /* of the end: the time of the last sign, ms */
	EVENT_LOG_READ = 31,   /* enum event_log */
	/* From here on texts. */
	EVENT_TEXTS = 32,
	EVENT_COMM = 32,
	EVENT_NAME = 33,
	EVENT_USER = 34,
	EVENT_CGROUP = 35,
	EVENT_UNIT = 36,
	EVENT_CONTAINER = 37,
	EVENT_CONSTRAINT = 38, /* "none" (the machine), "memcg", "cpuset", "memory_policy" */
	/* The cgroup that reached its limit; where tasks waited, the one that reached its limits
	   most. */
	EVENT_LIMIT_CGROUP = 39,
	EVENT_GFP = 40, /* the kind of the allocation that failed: "GFP_KERNEL" */
	EVENT_CONTAINER_ID = 41,
	EVENT_POD = 42,
	EVENT_NAMESPACE = 43,	  /* of the pod */
	EVENT_CGROUP_REASON = 44, /* why the victim's cgroup is not known */
	/* Of a signal; its receiver is the victim: */
	EVENT_SENDER_COMM = 45,
	EVENT_SENDER_NAME = 46,
	EVENT_SENDER_UNIT = 47,
	EVENT_SENDER_CONTAINER = 48,
	EVENT_ID = 49,		/* "20261124T031209Z-1" */
	EVENT_LIMIT_OWNER = 50, /* "pod NAME", "container NAME", "unit NAME" of that cgroup */
	EVENT_TEXTS_END = 51,
	/* From here on numbers again. */
	EVENT_MORE = 64,
	EVENT_SIGNAL_NUMBER = 64, /* 9 or 15 */
	EVENT_SENDER_PID = 65,	  /* absent: not known */
	EVENT_SENDER_UID = 66,
	EVENT_SIGNALS_MISSED = 67, /* signals before, which were only counted */
	EVENT_CALL = 72,     /* kills of one call of oom_kill_process() have the same number */
	EVENT_AT_LEVEL = 73, /* of its levels, the one that reached its limit */
	EVENT_V2 = 74,	     /* 1: cgroup v2: its second limit is of swap alone */
	EVENT_FILLED = 75,   /* processes in its frame with the values of the snapshot before */
	/* What was charged to that cgroup right after the kill, bytes (memory.stat). */
	EVENT_PART_ANON = 76,
	EVENT_PART_FILE = 77, /* page cache without shared memory and tmpfs */
	EVENT_PART_SHMEM = 78,
	EVENT_PART_KERNEL = 79,
	EVENT_PART_SLAB = 80,
	EVENT_PART_PAGETABLES = 81,
	EVENT_PART_SOCK = 82,
	EVENT_PART_SWAP = 83,
	EVENT_PARTS_MS = 84, /* when they were read */
	/* Of memory that was short: */
	EVENT_PLENTY = 85, /* 1: tasks waited while the machine had memory, as in a full cgroup */
	EVENT_MEMBERS = 86,
	EVENT_LEVELS = 128, /* struct event_level, from the victim's memory cgroup up */
};

/* How the constraint is known. Numbers are part of the format. */
enum event_source {
	EVENT_FROM_LOG = 0,
	EVENT_FROM_COUNTS = 1, /* memory.events of the victim's cgroups */
	EVENT_FROM_KERNEL = 2, /* the call that killed */
};

/* A memory cgroup at the moment of a kill, bytes. */
#define EVENT_UNLIMITED UINT64_MAX
struct event_level {
	uint64_t usage, limit;
	uint64_t swap_usage, swap_limit; /* v1: of memory and swap */
};

#define EVENT_LEVELS_MOST 33

/* Whether the kernel's log has a line about the kill. Numbers are part of the format. */
enum event_log {
	EVENT_LOG_DENIED = 0, /* it could not be read */
	EVENT_LOG_OPEN = 1,
	EVENT_LOG_OTHER = 2, /* its line has another cgroup of the victim, and is not used */
};

/* Why memory was short. Bits are part of the format. */
enum pressure_cause {
	PRESSURE_STALL = 1 << 0,     /* tasks waited for memory (PSI) */
	PRESSURE_AVAILABLE = 1 << 1, /* little RAM was available */
	PRESSURE_SWAP = 1 << 2,	     /* little swap was free */
	PRESSURE_REFAULTS = 1 << 3,  /* much was read again; looked at without PSI */
};

#define EVENT_TEXT 512 /* bytes of a text, with its terminator; longer ones are cut */

struct event_record {
	int64_t time_ms;
	uint64_t have[2]; /* bit n of all: member n */
	uint64_t number[EVENT_MEMBERS];
	struct event_level level[EVENT_LEVELS_MOST];
	unsigned levels; /* 0: they were not read */
	char text[EVENT_TEXTS_END - EVENT_TEXTS][EVENT_TEXT];
};

static inline bool event_has(const struct event_record *e, enum event_member m)
{
	return e->have[m / 64] >> m % 64 & 1;
}

/* 0: it is absent. */
static inline uint64_t event_number(const struct event_record *e, enum event_member m)
{
	return event_has(e, m) ? e->number[m] : 0;
}

static inline void event_set(struct event_record *e, enum event_member m, uint64_t value)
{
	e->number[m] = value;
	e->have[m / 64] |= UINT64_C(1) << m % 64;
}

/* NULL: nothing is set. */
void event_set_text(struct event_record *e, enum event_member m, const char *text);
/* NULL if it is absent. */
const char *event_text(const struct event_record *e, enum event_member m);
/* The level that reached its limit; NULL: none, or it is not known. */
const struct event_level *event_level_at_limit(const struct event_record *e);
/*
 * Whether two kills, one after the other, are of one group: of one call that killed or, where that
 * is not known, of one burst for the limit of one cgroup.
 */
bool event_same_group(const struct event_record *before, const struct event_record *after);
/* Whether it was its limit of memory and swap (v1), while that of memory had room. */
bool event_limit_is_memsw(const struct event_record *e, const struct event_level *l);
/* The limit that was reached, and what was charged to it. */
static inline uint64_t event_limit_of(const struct event_record *e, const struct event_level *l)
{
	return event_limit_is_memsw(e, l) ? l->swap_limit : l->limit;
}
static inline uint64_t event_usage_of(const struct event_record *e, const struct event_level *l)
{
	return event_limit_is_memsw(e, l) ? l->swap_usage : l->usage;
}
/* Why it is not known which limit was reached. */
const char *event_no_constraint(const struct event_record *e);

void event_encode(const struct event_record *e, struct strbuf *out);
/* Returns 0 or -EBADMSG. Sets all but the time. */
int event_decode(const void *data, size_t len, struct event_record *ret);

#endif
