// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.snapshot, version 1.7, as specified in src/dist/zmem.snapshot.schema.json, with
 * the parts that other documents share (json.h). A new key raises the minor version, a renamed or
 * removed key raises the major version. Values that were not measured are null. Each top-level key
 * and each process has its own line, for head, grep and diff; there is no other white space.
 */
#include "report/json.h"

#include <limits.h>
#include <stdio.h>

#include "report/report.h"
#include "write/format.h"

void json_document_end(struct json_writer *w)
{
	json_end_lines(w, '}');
	strbuf_putc(w->out, '\n');
}

void json_timestamp(struct json_writer *w, int64_t time_ms)
{
	char time[FORMAT_MAX + 1];

	time[format_time(time, time_ms, TIME_JSON)] = '\0';
	json_string(w, "timestamp", time);
}

void json_boot_id(struct json_writer *w, const struct host_info *h)
{
	json_string(w, "boot_id", *h->boot_id ? h->boot_id : NULL);
}

void json_ndjson_schema(struct json_writer *w, const struct snapshot *s)
{
	json_string(w, "schema", "zmem.ndjson");
	json_string(w, "schema_version", "1.7");
	json_timestamp(w, s->time_ms);
	json_boot_id(w, &s->host);
}

static void put_host(struct json_writer *w, const struct host_info *h)
{
	json_object(w, "host");
	json_string(w, "name", h->name);
	json_boot_id(w, h);
	json_string(w, "kernel_release", h->kernel_release);
	json_string(w, "arch", h->arch);
	json_u64(w, "page_size_bytes", h->page_size);
	json_u64(w, "cpus", h->cpus);
	json_end(w, '}');
}

void json_document_begin(struct json_writer *w, const char *schema, const char *version,
			 const struct snapshot *s)
{
	json_begin(w, '{');
	json_newline(w);
	json_string(w, "schema", schema);
	json_newline(w);
	json_string(w, "schema_version", version);
	json_newline(w);
	json_object(w, "tool");
	json_string(w, "name", "zmem-bpf");
	json_string(w, "version", ZMEM_VERSION);
	json_end(w, '}');
	json_newline(w);
	json_timestamp(w, s->time_ms);
	json_newline(w);
	json_i64(w, "timestamp_ms", s->time_ms);
	json_newline(w);
	put_host(w, &s->host);
}

void json_source(struct json_writer *w, const struct result *r, size_t max)
{
	const char *pss = pss_source_name(r->pss);

	json_object(w, "source");
	json_string(w, "counters", origin_name(r->snapshot->counters_source));
	json_string(w, "pss", pss ? pss : "none");
	json_string_max(w, "fallback_reason", r->snapshot->fallback_reason, max);
	json_string_max(w, "pss_fallback_reason", r->snapshot->pss_fallback_reason, max);
	json_bool(w, "pinned", r->snapshot->pinned);
	json_end(w, '}');
}

static void put_cross_check(struct json_writer *w, const struct cross_check *c)
{
	if (!c->done) {
		json_null(w, "cross_check");
		return;
	}
	json_object(w, "cross_check");
	json_u64(w, "checked", c->checked);
	json_u64(w, "same", c->same);
	json_u64(w, "moved", c->moved);
	json_u64(w, "different", c->different);
	json_u64(w, "gone", c->gone);
	json_end(w, '}');
}

/* The first ones; an old recording does not have them. */
static void put_not_seen_pids(struct json_writer *w, const struct collection *c)
{
	if (!c->not_seen_known || (c->not_seen && !c->not_seen_pid[0])) {
		json_null(w, "not_seen_pids");
		return;
	}
	json_array(w, "not_seen_pids");
	for (size_t i = 0; i < NOT_SEEN_PIDS && c->not_seen_pid[i]; i++)
		json_put_i64(w, c->not_seen_pid[i]);
	json_end(w, ']');
}

static void put_left_out(struct json_writer *w, const struct collection *c)
{
	json_object(w, "cgroups_left_out");
	for (int b = 0; b < MEMCG_BOUNDS; b++) {
		json_key_name(w, memcg_bound_name(b));
		json_put_u64(w, c->cgroups_left_out[b]);
	}
	json_end(w, '}');
}

void json_collection(struct json_writer *w, const struct collection *c)
{
	json_object(w, "collection");
	json_bool(w, "complete", c->complete);
	json_u64(w, "duration_us", c->duration_us);
	json_u64(w, "processes_seen", c->seen);
	json_u64(w, "reported", c->reported);
	json_u64(w, "filtered", c->filtered);
	json_u64(w, "kernel_threads", c->kernel_threads);
	json_u64(w, "zombies", c->zombies);
	json_u64(w, "gone", c->gone);
	json_u64(w, "denied", c->denied);
	json_u64(w, "timeout", c->timeout);
	json_u64(w, "raced", c->raced);
	json_known(w, "not_seen", c->not_seen_known, c->not_seen);
	put_not_seen_pids(w, c);
	json_known(w, "shared_mm", !c->shared_mm_unknown, c->shared_mm);
	put_cross_check(w, &c->cross_check);
	put_left_out(w, c);
	json_end(w, '}');
}

void json_zram(struct json_writer *w, const struct zram_device *z)
{
	json_string(w, "name", z->name);
	json_u64(w, "stored_bytes", z->stat.stored);
	json_u64(w, "compressed_bytes", z->stat.compressed);
	json_u64(w, "used_bytes", z->stat.used);
}

static void put_zram(struct json_writer *w, const struct system_info *s)
{
	json_array(w, "zram");
	for (size_t i = 0; i < s->zram_count; i++) {
		json_begin(w, '{');
		json_zram(w, &s->zram[i]);
		json_end(w, '}');
	}
	json_end(w, ']');
}

static void put_activity(struct json_writer *w, const struct system_info *s)
{
	const struct memory_pressure *p = &s->pressure;

	json_known(w, "psi_some_avg10_hundredths", p->known, p->some_avg10);
	json_known(w, "psi_full_avg10_hundredths", p->known, p->full_avg10);
	json_known(w, "psi_some_total_us", p->known, p->some_total_us);
	json_known(w, "psi_full_total_us", p->known, p->full_total_us);
	json_known(w, "swapped_in_bytes", s->swapped.known, s->swapped.in);
	json_known(w, "swapped_out_bytes", s->swapped.known, s->swapped.out);
}

void json_system(struct json_writer *w, const struct result *r, bool with_zram)
{
	const struct meminfo *m = &r->snapshot->system.meminfo;
	const struct machine_balance *balance = &r->snapshot->balance;
	const struct machine_files *files = &r->snapshot->system.files;

	json_object(w, "system");
	json_meminfo(w, "memory_total_bytes", m, MEMINFO_TOTAL);
	json_meminfo(w, "memory_available_bytes", m, MEMINFO_AVAILABLE);
	json_meminfo(w, "anon_bytes", m, MEMINFO_ANON);
	json_meminfo(w, "mapped_bytes", m, MEMINFO_MAPPED);
	json_meminfo(w, "shmem_bytes", m, MEMINFO_SHMEM);
	json_meminfo(w, "swap_total_bytes", m, MEMINFO_SWAP_TOTAL);
	json_meminfo(w, "swap_free_bytes", m, MEMINFO_SWAP_FREE);
	json_known(w, "swap_unattributed_bytes", balance->swap_unattributed_known,
		   balance->swap_unattributed);
	json_known(w, "swap_tmpfs_bytes", files->shmem_known, files->swapped_tmpfs);
	json_known(w, "swap_shmem_unmapped_bytes", files->shmem_known, files->swapped_unmapped);
	json_known(w, "swap_cache_bytes", r->snapshot->system.swap_cache.known,
		   r->snapshot->system.swap_cache.bytes);
	json_known(w, "shmem_unmapped_bytes", balance->shmem_unmapped_known,
		   balance->shmem_unmapped);
	json_known_i64(w, "anon_residual_bytes", balance->residual_known, balance->anon_residual);
	json_known_i64(w, "mapped_residual_bytes", balance->residual_known,
		       balance->mapped_residual);
	json_meminfo(w, "zswap_pool_bytes", m, MEMINFO_ZSWAP_POOL);
	json_meminfo(w, "zswap_stored_bytes", m, MEMINFO_ZSWAP_STORED);
	put_activity(w, &r->snapshot->system);
	json_known(w, "max_map_count", r->snapshot->system.max_map_count,
		   r->snapshot->system.max_map_count);
	if (with_zram)
		put_zram(w, &r->snapshot->system);
	else
		json_null(w, "zram");
	json_end(w, '}');
}

void json_snapshot(struct json_writer *w, const struct result *r)
{
	json_newline(w);
	json_source(w, r, SIZE_MAX);
	json_newline(w);
	json_collection(w, &r->snapshot->collection);
	json_newline(w);
	json_system(w, r, true);
}

#define put_part(w, key, a, part) json_known_i64(w, key, account_has(a, part), (a)->value[part])

void json_account(struct json_writer *w, const struct account *a)
{
	json_newline(w);
	json_object(w, "memory");
	put_part(w, "total_bytes", a, ACCOUNT_TOTAL);
	put_part(w, "kernel_bytes", a, ACCOUNT_KERNEL);
	put_part(w, "user_bytes", a, ACCOUNT_USER);
	put_part(w, "cache_bytes", a, ACCOUNT_CACHE);
	put_part(w, "hugetlb_bytes", a, ACCOUNT_HUGETLB);
	put_part(w, "free_bytes", a, ACCOUNT_FREE);
	put_part(w, "unaccounted_bytes", a, ACCOUNT_UNACCOUNTED);
	json_end(w, '}');
	json_newline(w);
	json_object(w, "kernel");
	put_part(w, "slab_reclaimable_bytes", a, ACCOUNT_SLAB_RECLAIMABLE);
	put_part(w, "slab_unreclaimable_bytes", a, ACCOUNT_SLAB_UNRECLAIMABLE);
	put_part(w, "page_tables_bytes", a, ACCOUNT_PAGE_TABLES);
	put_part(w, "secondary_page_tables_bytes", a, ACCOUNT_SEC_PAGE_TABLES);
	put_part(w, "stacks_bytes", a, ACCOUNT_STACKS);
	put_part(w, "vmalloc_bytes", a, ACCOUNT_VMALLOC);
	put_part(w, "percpu_bytes", a, ACCOUNT_PERCPU);
	put_part(w, "compressed_swap_bytes", a, ACCOUNT_COMPRESSED_SWAP);
	put_part(w, "gpu_active_bytes", a, ACCOUNT_GPU_ACTIVE);
	put_part(w, "gpu_reclaim_bytes", a, ACCOUNT_GPU_RECLAIM);
	put_part(w, "other_bytes", a, ACCOUNT_OTHER);
	json_end(w, '}');
	json_newline(w);
	json_object(w, "user");
	put_part(w, "anon_bytes", a, ACCOUNT_ANON);
	put_part(w, "shmem_bytes", a, ACCOUNT_SHMEM);
	json_end(w, '}');
}

/* ---- processes, groups and sums ---- */

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
#define ZMEM_COUNT(id, key, header, origin, bound, policy, help) [COUNTER_##id] = JSON_KEY_OF(#key),
#define ZMEM_PERCENT(id, key, header, origin, bound, policy, help)                                 \
	[COUNTER_##id] = JSON_KEY_OF(#key),
#include "model/counters.def"
#undef ZMEM_COUNTER
};

static void put_counters(struct json_writer *w, counter_mask have, const uint64_t *value, int first,
			 int end)
{
	for (int c = first; c < end; c++) {
		json_key(w, counter_key[c]);
		if (counter_table[c].is_percent && have & COUNTER_BIT(c))
			json_put_hundredths(w, value[c]);
		else
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

/* The names without those of the pod before them, which have keys of their own. */
static void put_container(struct json_writer *w, const struct process *p,
			  const struct json_limits *max)
{
	json_string_max(w, "container", name_of_pod_part(p->container), max->container);
	json_string(w, "container_id", p->container_id);
	json_string(w, "container_status", container_status_name(p->container_status));
	json_string_max(w, "pod", name_of_pod_part(p->pod), max->container);
	json_string_max(w, "namespace", p->space, max->container);
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
	put_container(w, p, max);
}

static void put_sources(struct json_writer *w, const struct process *p)
{
	json_string(w, "counters_source", origin_name(p->counters_source));
	json_string(w, "pss_source", pss_source_name(p->pss_source));
	json_string(w, "pss_status", pss_status_name(p->pss_status));
	json_string(w, "swap_pss_status", pss_status_name(process_swap_pss_status(p)));
	json_string(w, "swap_ram_status", pss_status_name(process_swap_ram_status(p)));
}

static void put_process(struct json_writer *w, const struct process *p, uint64_t boot_ms,
			const struct json_limits *max)
{
	put_identity(w, p, boot_ms, max);
	json_known(w, "mm_id", p->mm_id, p->mm_id);
	json_bool(w, "mm_owner", p->mm_owner);
	put_sources(w, p);
	json_key_name(w, "exe_deleted");
	if (p->exe == EXE_UNKNOWN)
		json_put_null(w);
	else
		json_put_bool(w, p->exe == EXE_DELETED);
	put_counters(w, p->have, p->value, 0, COUNTERS_OF_PROCESS);
}

/* The cgroup above that has these memory counters, if it is not the group's own. */
static void put_memcg_above(struct json_writer *w, const struct process *p,
			    const struct json_limits *max)
{
	char path[PATH_MAX];
	bool above = p->cgroup && p->memcg_above;

	if (above)
		snprintf(path, sizeof(path), "%.*s", p->memcg_above, p->cgroup);
	json_string_max(w, "mem_cgroup", above ? path : NULL, max->cgroup);
}

static void put_group(struct json_writer *w, const struct result *r, const struct row *row,
		      const struct json_limits *max)
{
	const struct process *p = row->process;
	const struct column *key = r->group;
	const char *text = key->text(p);
	unsigned flags = json_string_max(w, "group", text, max->group);

	json_bool(w, "group_truncated", flags & JSON_CUT);
	json_hex_if(w, "group_hex", flags, text, max->group_hex);
	if (key->needs & NEEDS_CGROUP) {
		json_string_max(w, "container", name_of_pod_part(p->container), max->container);
		json_string(w, "container_id", p->container_id);
		json_string_max(w, "pod", name_of_pod_part(p->pod), max->container);
		json_string_max(w, "namespace", p->space, max->container);
	}
	json_u64(w, "procs", row->procs);
	json_u64(w, "pss_missing_processes", row->pss_missing);
	json_u64(w, "threads", p->threads);
	put_sources(w, p);
	put_counters(w, p->have, p->value, 0, COUNTERS_OF_PROCESS);
	if (key->needs & NEEDS_CGROUP) {
		put_counters(w, p->have, p->value, COUNTERS_OF_PROCESS, COUNTER_COUNT);
		put_memcg_above(w, p, max);
		json_string(w, "mem_current_reason",
			    snapshot_is_kill(r->snapshot) ? NO_CHARGE_AT_KILL : NULL);
	}
}

void json_row(struct json_writer *w, const struct result *r, const struct row *row,
	      const struct json_limits *max)
{
	if (r->group)
		put_group(w, r, row, max);
	else
		put_process(w, row->process, r->snapshot->host.boot_ms, max);
}

/* ---- the document ---- */

void render_json(struct strbuf *out, const struct result *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;

	json_document_begin(w, "zmem.snapshot", "1.7", r->snapshot);
	json_snapshot(w, r);
	json_newline(w);
	json_sums(w, "totals", &r->totals);
	json_newline(w);
	if (r->group) {
		json_string(w, "group_by", r->group->key);
		json_newline(w);
	}
	json_key_name(w, r->group ? "groups" : "processes");
	json_begin(w, '[');
	for (size_t i = 0; i < r->row_count; i++) {
		json_begin_line(w, '{');
		json_row(w, r, &r->rows[i], &json_limits_usual);
		json_end(w, '}');
	}
	json_end_lines(w, ']');
	json_document_end(w);
}
