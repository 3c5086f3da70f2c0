/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A finding: something that is wrong with the memory of this machine now (model/finding.def). */
#ifndef ZMEM_MODEL_FINDING_H
#define ZMEM_MODEL_FINDING_H

#include "model/snapshot.h"

enum finding_key {
#define ZMEM_FINDING(id, ...) FINDING_##id,
#include "model/finding.def"
#undef ZMEM_FINDING
	FINDING_KEYS,
};

enum finding_level {
	FINDING_CRITICAL, /* something is lost, or stands still */
	FINDING_WARNING,
	FINDING_HINT, /* normal for many: it is worth a look if something else is wrong */
	FINDING_LEVELS,
};

/* "cgroup_limit"; "critical". */
const char *finding_key_name(enum finding_key key);
const char *finding_level_name(enum finding_level level);
/* Whether a finding with this key can have the level. */
bool finding_can_be(enum finding_key key, enum finding_level level);

/* Texts are borrowed from the snapshot, any bytes; NULL: none. The sentence says what is in it. */
struct finding {
	enum finding_key key;
	enum finding_level level;
	const char *kind, *name; /* "container", "web" */
	pid_t pid;		 /* 0: none */
	const char *cgroup;	 /* a path */
	const char *file;
	bool bytes_known;
	uint64_t bytes; /* how much it is about: larger ones come first */
	uint64_t of, left;
	uint64_t in, out; /* bytes in a second, or free */
	uint64_t count, others;
	bool waited_known;
	uint32_t waited; /* hundredths of a percent of the last ten seconds */
	uint64_t span_ms;
	int64_t last_ms; /* since the epoch */
	bool recorded, exact;
	bool memsw; /* `of` is a limit of memory and swap (cgroup v1) */
	const struct node_memory *full, *roomy;
	int32_t node[NODES_MAX];
	uint32_t nodes;
};

#define FINDINGS_MAX 32

struct findings {
	struct finding item[FINDINGS_MAX]; /* by level, then by bytes */
	size_t count;
	/* What was looked for, a bit for each key: all that it needs was measured. */
	uint64_t known;
	uint32_t subjects[FINDING_KEYS][FINDING_LEVELS]; /* also of those that have no room */
};

/* How many of the first ones have this level or a more urgent one. */
size_t findings_down_to(const struct findings *f, enum finding_level level);

#endif
