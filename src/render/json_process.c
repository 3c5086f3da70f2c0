// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the JSON fields of processes, groups and sums, which all documents share. */
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
#include "model/counters.def"
#undef ZMEM_COUNTER
};

static void put_counters(struct json_writer *w, counter_mask have, const uint64_t *value, int first,
			 int end)
{
	for (int c = first; c < end; c++) {
		json_key(w, counter_key[c]);
		json_put_known(w, have & COUNTER_BIT(c), value[c]);
	}
}

void json_sums(struct json_writer *w, const char *key, const struct totals *t)
{
	json_key_name(w, key);
	json_begin(w, '{');
	put_counters(w, t->have, t->value, 0, COUNTERS_OF_PROCESS);
	json_u64(w, "processes", t->processes);
	json_u64(w, "pss_missing_processes", t->pss_missing);
	json_end(w, '}');
}

static void put_names(struct json_writer *w, const struct process *p, const struct json_limits *max)
{
	unsigned flags = json_string(w, "comm", p->comm);

	json_hex_if(w, "comm_hex", flags, p->comm, SIZE_MAX);
	flags = json_string_max(w, "name", p->name, max->name);
	json_hex_if(w, "name_hex", flags, p->name, max->name_hex);
}

static void put_cmdline(struct json_writer *w, const struct process *p,
			const struct json_limits *max)
{
	unsigned flags;

	if (!p->cmdline)
		return;
	flags = json_string_max(w, "cmdline", p->cmdline, max->cmdline);
	json_bool(w, "cmdline_truncated", p->cmdline_truncated || flags & JSON_CUT);
	json_hex_if(w, "cmdline_hex", flags, p->cmdline, max->cmdline_hex);
}

static void put_identity(struct json_writer *w, const struct process *p, uint64_t boot_ms,
			 const struct json_limits *max)
{
	json_i64(w, "pid", p->pid);
	json_i64(w, "ppid", p->ppid);
	json_u64(w, "uid", p->uid);
	json_string_max(w, "user", p->user, max->user);
	put_names(w, p, max);
	put_cmdline(w, p, max);
	json_known(w, "start_time_ms", boot_ms, boot_ms + p->start_ns / 1000000);
	json_u64(w, "threads", p->threads);
	json_i64(w, "oom_score_adj", p->oom_score_adj);
	json_string_max(w, "cgroup", p->cgroup, max->cgroup);
	json_string_max(w, "unit", p->unit, max->unit);
	json_string_max(w, "container", p->container, max->container);
}

static void put_sources(struct json_writer *w, const struct process *p)
{
	json_string(w, "counters_source", origin_name(p->counters_source));
	json_string(w, "pss_source", pss_source_name(p->pss_source));
	json_string(w, "pss_status", pss_status_name(p->pss_status));
	json_string(w, "swap_pss_status", pss_status_name(process_swap_pss_status(p)));
}

static void put_process(struct json_writer *w, const struct process *p, uint64_t boot_ms,
			const struct json_limits *max)
{
	put_identity(w, p, boot_ms, max);
	json_known(w, "mm_id", p->mm_id, p->mm_id);
	json_bool(w, "mm_owner", p->mm_owner);
	put_sources(w, p);
	put_counters(w, p->have, p->value, 0, COUNTERS_OF_PROCESS);
}

static void put_group(struct json_writer *w, const struct column *key, const struct process *p,
		      const struct json_limits *max)
{
	const char *text = key->text(p);
	unsigned flags = json_string_max(w, "group", text, max->group);

	json_bool(w, "group_truncated", flags & JSON_CUT);
	json_hex_if(w, "group_hex", flags, text, max->group_hex);
	json_u64(w, "procs", p->procs);
	json_u64(w, "pss_missing_processes", p->pss_missing);
	json_u64(w, "threads", p->threads);
	put_sources(w, p);
	put_counters(w, p->have, p->value, 0, COUNTERS_OF_PROCESS);
	if (key->needs & NEEDS_CGROUP)
		put_counters(w, p->have, p->value, COUNTERS_OF_PROCESS, COUNTER_COUNT);
}

void json_row(struct json_writer *w, const struct result *r, const struct process *p,
	      const struct json_limits *max)
{
	if (r->group)
		put_group(w, r->group, p, max);
	else
		put_process(w, p, r->snapshot->host.boot_ms, max);
}
