// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The counters of counters.def as a table. */
#include "model/counter.h"

#define ABOVE(x)   COUNTER_BIT(COUNTER_##x)
#define ABOVE_NONE 0

const struct counter_info counter_table[COUNTER_COUNT] = {
#define ZMEM_COUNTER(id_, key_, header_, origin_, bound_, policy_, help_)                          \
	[COUNTER_##id_] = {.key = #key_,                                                           \
			   .json_key = #key_ "_bytes",                                             \
			   .header = header_,                                                      \
			   .origin = ORIGIN_##origin_,                                             \
			   .bound = bound_,                                                        \
			   .policy = POLICY_##policy_,                                             \
			   .help = help_},
#include "model/counters.def"
#undef ZMEM_COUNTER
};
