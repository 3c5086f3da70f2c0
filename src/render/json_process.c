// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows the keys of a process; refuses to know what they are part of. Adding one is for all. */
#include "render/json_process.h"

const struct json_limits json_limits_usual = {
	.user = SIZE_MAX,
	.name = SIZE_MAX,
	.name_hex = SIZE_MAX,
	.cmdline = 1024,
	.cmdline_hex = 256,
	.cgroup = 512,
	.unit = SIZE_MAX,
	.container = SIZE_MAX,
	.group = 1024,
	.group_hex = 256,
};

static const struct json_key counter_key[COUNTER_COUNT] = {
#define ZMEM_COUNTER(id, key, header, origin, bound, policy, help)                                 \
	[COUNTER_##id] = JSON_KEY_OF(#key "_bytes"),
#include "zmem/counters.def"
#undef ZMEM_COUNTER
};

static void put_counters(struct json_writer *w, counter_mask have, const uint64_t *value, int first,
			 int end)
{
	for (int c = first; c < end; c++) {
		json_key(w, counter_key[c]);
		json_known(w, have & COUNTER_BIT(c), value[c]);
	}
}

void json_sums(struct json_writer *w, const struct totals *t)
{
	json_begin(w, '{');
	put_counters(w, t->have, t->value, 0, COUNTERS_OF_PROCESS);
	JSON_KEY(w, "processes");
	json_u64(w, t->processes);
	JSON_KEY(w, "pss_missing_processes");
	json_u64(w, t->pss_missing);
	json_end(w, '}');
}

void json_totals(struct json_writer *w, const struct totals *t)
{
	JSON_KEY(w, "totals");
	json_sums(w, t);
}

static void put_names(struct json_writer *w, const struct process *p, const struct json_limits *max)
{
	JSON_KEY(w, "comm");
	if (json_string(w, p->comm) & JSON_REPAIRED) {
		JSON_KEY(w, "comm_hex");
		json_hex(w, p->comm, SIZE_MAX);
	}
	JSON_KEY(w, "name");
	if (json_string_max(w, p->name, max->name) & JSON_REPAIRED) {
		JSON_KEY(w, "name_hex");
		json_hex(w, p->name, max->name_hex);
	}
}

static void put_cmdline(struct json_writer *w, const struct process *p,
			const struct json_limits *max)
{
	unsigned flags;

	if (!p->cmdline)
		return;
	JSON_KEY(w, "cmdline");
	flags = json_string_max(w, p->cmdline, max->cmdline);
	JSON_KEY(w, "cmdline_truncated");
	json_bool(w, p->cmdline_truncated || flags & JSON_CUT);
	if (flags & JSON_REPAIRED) {
		JSON_KEY(w, "cmdline_hex");
		json_hex(w, p->cmdline, max->cmdline_hex);
	}
}

static void put_identity(struct json_writer *w, const struct process *p, uint64_t boot_ms,
			 const struct json_limits *max)
{
	JSON_KEY(w, "pid");
	json_i64(w, p->pid);
	JSON_KEY(w, "ppid");
	json_i64(w, p->ppid);
	JSON_KEY(w, "uid");
	json_u64(w, p->uid);
	JSON_KEY(w, "user");
	json_string_max(w, p->user, max->user);
	put_names(w, p, max);
	put_cmdline(w, p, max);
	JSON_KEY(w, "start_time_ms");
	json_known(w, boot_ms, boot_ms + p->start_ns / 1000000);
	JSON_KEY(w, "threads");
	json_u64(w, p->threads);
	JSON_KEY(w, "oom_score_adj");
	json_i64(w, p->oom_score_adj);
	JSON_KEY(w, "cgroup");
	json_string_max(w, p->cgroup, max->cgroup);
	JSON_KEY(w, "unit");
	json_string_max(w, p->unit, max->unit);
	JSON_KEY(w, "container");
	json_string_max(w, p->container, max->container);
}

static void put_sources(struct json_writer *w, const struct process *p)
{
	JSON_KEY(w, "counters_source");
	json_string(w, origin_name(p->counters_source));
	JSON_KEY(w, "pss_source");
	json_string(w, pss_source_name(p->pss_source));
	JSON_KEY(w, "pss_status");
	json_string(w, pss_status_name(p->pss_status));
	JSON_KEY(w, "swap_pss_status");
	json_string(w, pss_status_name(process_swap_pss_status(p)));
}

void json_process_keys(struct json_writer *w, const struct process *p, uint64_t boot_ms,
		       const struct json_limits *max)
{
	put_identity(w, p, boot_ms, max);
	JSON_KEY(w, "mm_id");
	json_known(w, p->mm_id, p->mm_id);
	JSON_KEY(w, "mm_owner");
	json_bool(w, p->mm_owner);
	put_sources(w, p);
	put_counters(w, p->have, p->value, 0, COUNTERS_OF_PROCESS);
}

void json_group_keys(struct json_writer *w, const struct column *key, const struct process *p,
		     const struct json_limits *max)
{
	const char *text = key->text(p);
	unsigned flags;

	JSON_KEY(w, "group");
	flags = json_string_max(w, text, max->group);
	JSON_KEY(w, "group_truncated");
	json_bool(w, flags & JSON_CUT);
	if (flags & JSON_REPAIRED) {
		JSON_KEY(w, "group_hex");
		json_hex(w, text, max->group_hex);
	}
	JSON_KEY(w, "procs");
	json_u64(w, p->procs);
	JSON_KEY(w, "pss_missing_processes");
	json_u64(w, p->pss_missing);
	JSON_KEY(w, "threads");
	json_u64(w, p->threads);
	put_sources(w, p);
	put_counters(w, p->have, p->value, 0, COUNTERS_OF_PROCESS);
	if (key->needs & NEEDS_CGROUP)
		put_counters(w, p->have, p->value, COUNTERS_OF_PROCESS, COUNTER_COUNT);
}
