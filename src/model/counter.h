/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counters of counters.def as an enum and a table. */
#ifndef ZMEM_COUNTER_H
#define ZMEM_COUNTER_H

#include <stdint.h>

enum counter {
#define ZMEM_COUNTER(id, key, header, origin, bound, policy, help) COUNTER_##id,
#include "model/counters.def"
#undef ZMEM_COUNTER
	COUNTER_COUNT,
};

/* The number of counters of a process; those behind belong to a cgroup. */
#define COUNTERS_OF_PROCESS ((int)COUNTER_MEM_CURRENT)

/* A set of counters. */
typedef uint32_t counter_mask;
#define COUNTER_BIT(c) ((counter_mask)1 << (c))

_Static_assert(COUNTER_COUNT <= 32, "counter_mask is too small");

/* The origin of a counter, as in counters.def. */
enum counter_origin {
	ORIGIN_KERNEL,
	ORIGIN_ROLLUP,
	ORIGIN_DERIVED,
	ORIGIN_MEMCG,
};

/* What compare compares a counter with. */
enum compare_policy {
	POLICY_NONE,
	POLICY_STATUS,
	POLICY_PER_CPU,
	POLICY_ROLLUP,
	POLICY_SHARE,
};

struct counter_info {
	const char *key;      /* "rss_anon" */
	const char *json_key; /* "rss_anon_bytes" */
	const char *header;
	enum counter_origin origin;
	counter_mask bound; /* counters that add up to its upper bound; 0: none */
	enum compare_policy policy;
	const char *help;
};

extern const struct counter_info counter_table[COUNTER_COUNT];

#endif
