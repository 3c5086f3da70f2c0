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
	EVENT_UNRECORDED = 4, /* OOM kills that the kernel counted while none was recorded */
	EVENT_NO_VICTIM = 5,  /* a cgroup was out of memory, and no process could be killed */
};

enum event_member {
#define ZMEM_EVENT(id, number, ...) EVENT_##id = number,
#include "model/event.def"
#undef ZMEM_EVENT
	/* Members from here up to the end are texts, and from EVENT_MORE on numbers again. */
	EVENT_TEXTS = 32,
	EVENT_TEXTS_END = 51,
	EVENT_MORE = 64,
	EVENT_MEMBERS = 91,
	EVENT_LEVELS = 128, /* struct event_level, from the victim's memory cgroup up */
};

/* How the constraint is known. Numbers are part of the format. */
enum event_source {
	EVENT_FROM_LOG = 0,
	EVENT_FROM_COUNTS = 1, /* memory.events of the victim's cgroups */
	EVENT_FROM_KERNEL = 2, /* the call that killed */
};

/* A memory cgroup at the moment of a kill, bytes; in recordings as it is here. */
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

#define EVENT_TEXT     512 /* bytes of a text, with its terminator; longer ones are cut */
#define EVENT_WORKLOAD (2 * EVENT_TEXT + 16)

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
 * Whether two kills, one after the other, are of one group (memory.oom.group): of one call that
 * killed or, where that is not known, of one burst for the limit of one cgroup. In recordings of
 * older versions it is not known whether there was a group.
 */
bool event_same_group(const struct event_record *before, const struct event_record *after);
/* Whether the limit of memory and swap (v1) was reached, while the limit of memory had room. */
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
