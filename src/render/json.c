// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.snapshot, version 1.1; src/dist/zmem.snapshot.schema.json says the same for
 * machines. Adding a key is a minor version, renaming or removing one a major. What was not
 * measured is null. One top-level key a line and one process a line, so that head, grep and diff
 * are of use; no other white space.
 */
#include "zmem/render.h"

#include "render/json_head.h"
#include "render/json_writer.h"

/* What strings may take, encoded (for the hex forms: bytes in), so that a line has a bound. */
#define CMDLINE_MAX	1024
#define CMDLINE_HEX_MAX 256
#define CGROUP_MAX	512

/* Keys of the counters as json_key_text() wants them. */
static const struct {
	const char *text;
	size_t len;
} counter_key[COUNTER_COUNT] = {
#define ZMEM_COUNTER(id, key, header, origin, bound, policy, help)                                 \
	[COUNTER_##id] = {JSON_KEY_TEXT(#key "_bytes"), sizeof(JSON_KEY_TEXT(#key "_bytes")) - 1},
#include "zmem/counters.def"
#undef ZMEM_COUNTER
};

static void put_known(struct json_writer *w, bool known, uint64_t v)
{
	if (known)
		json_u64(w, v);
	else
		json_null(w);
}

static void put_counters(struct json_writer *w, counter_mask have, const uint64_t *value)
{
	for (int c = 0; c < COUNTER_COUNT; c++) {
		json_key_text(w, counter_key[c].text, counter_key[c].len);
		put_known(w, have & COUNTER_BIT(c), value[c]);
	}
}

static const char *origin_name(enum origin origin)
{
	switch (origin) {
	case FROM_BPF:
		return "bpf";
	case FROM_PROC:
		return "proc";
	case FROM_NOWHERE:
		break;
	}
	return NULL;
}

static const char *engine_name(enum pss_engine engine)
{
	switch (engine) {
	case PSS_ENGINE_ROLLUP:
		return "smaps_rollup";
	case PSS_ENGINE_KERNEL:
		return "kernel";
	case PSS_ENGINE_MIXED:
		return "mixed";
	case PSS_ENGINE_NONE:
		break;
	}
	return "none";
}

static void put_source(struct json_writer *w, const struct result *r)
{
	json_newline(w);
	JSON_KEY(w, "source");
	json_begin(w, '{');
	JSON_KEY(w, "counters");
	json_string(w, origin_name(r->snapshot->counters_source));
	JSON_KEY(w, "pss");
	json_string(w, engine_name(r->pss));
	JSON_KEY(w, "fallback_reason");
	json_string(w, r->snapshot->fallback_reason);
	JSON_KEY(w, "pss_fallback_reason");
	json_string(w, r->snapshot->pss_fallback_reason);
	json_end(w, '}');
}

static void put_cross_check(struct json_writer *w, const struct cross_check *c)
{
	JSON_KEY(w, "cross_check");
	if (!c->done) {
		json_null(w);
		return;
	}
	json_begin(w, '{');
	JSON_KEY(w, "checked");
	json_u64(w, c->checked);
	JSON_KEY(w, "same");
	json_u64(w, c->same);
	JSON_KEY(w, "moved");
	json_u64(w, c->moved);
	JSON_KEY(w, "different");
	json_u64(w, c->different);
	JSON_KEY(w, "gone");
	json_u64(w, c->gone);
	json_end(w, '}');
}

static void put_collection(struct json_writer *w, const struct collection *c)
{
	json_newline(w);
	JSON_KEY(w, "collection");
	json_begin(w, '{');
	JSON_KEY(w, "complete");
	json_bool(w, c->complete);
	JSON_KEY(w, "duration_us");
	json_u64(w, c->duration_us);
	JSON_KEY(w, "processes_seen");
	json_u64(w, c->seen);
	JSON_KEY(w, "reported");
	json_u64(w, c->reported);
	JSON_KEY(w, "filtered");
	json_u64(w, c->filtered);
	JSON_KEY(w, "kernel_threads");
	json_u64(w, c->kernel_threads);
	JSON_KEY(w, "zombies");
	json_u64(w, c->zombies);
	JSON_KEY(w, "gone");
	json_u64(w, c->gone);
	JSON_KEY(w, "denied");
	json_u64(w, c->denied);
	JSON_KEY(w, "timeout");
	json_u64(w, c->timeout);
	JSON_KEY(w, "raced");
	json_u64(w, c->raced);
	JSON_KEY(w, "shared_mm");
	if (c->shared_mm_unknown)
		json_null(w);
	else
		json_u64(w, c->shared_mm);
	put_cross_check(w, &c->cross_check);
	json_end(w, '}');
}

static void put_meminfo(struct json_writer *w, const struct meminfo *m, enum meminfo_figure f)
{
	put_known(w, m->have & (uint32_t)1 << f, m->value[f]);
}

static void put_zram(struct json_writer *w, const struct system_info *s)
{
	JSON_KEY(w, "zram");
	json_begin(w, '[');
	for (size_t i = 0; i < s->zram_count; i++) {
		const struct zram_device *z = &s->zram[i];

		json_begin(w, '{');
		JSON_KEY(w, "name");
		json_string(w, z->name);
		JSON_KEY(w, "stored_bytes");
		json_u64(w, z->stat.stored);
		JSON_KEY(w, "compressed_bytes");
		json_u64(w, z->stat.compressed);
		JSON_KEY(w, "used_bytes");
		json_u64(w, z->stat.used);
		json_end(w, '}');
	}
	json_end(w, ']');
}

static void put_residual(struct json_writer *w, const struct result *r, int64_t v)
{
	if (r->residual_known)
		json_i64(w, v);
	else
		json_null(w);
}

static void put_system(struct json_writer *w, const struct result *r)
{
	const struct system_info *s = &r->snapshot->system;
	const struct meminfo *m = &s->meminfo;

	json_newline(w);
	JSON_KEY(w, "system");
	json_begin(w, '{');
	JSON_KEY(w, "memory_total_bytes");
	put_meminfo(w, m, MEMINFO_TOTAL);
	JSON_KEY(w, "memory_available_bytes");
	put_meminfo(w, m, MEMINFO_AVAILABLE);
	JSON_KEY(w, "anon_bytes");
	put_meminfo(w, m, MEMINFO_ANON);
	JSON_KEY(w, "mapped_bytes");
	put_meminfo(w, m, MEMINFO_MAPPED);
	JSON_KEY(w, "shmem_bytes");
	put_meminfo(w, m, MEMINFO_SHMEM);
	JSON_KEY(w, "swap_total_bytes");
	put_meminfo(w, m, MEMINFO_SWAP_TOTAL);
	JSON_KEY(w, "swap_free_bytes");
	put_meminfo(w, m, MEMINFO_SWAP_FREE);
	JSON_KEY(w, "swap_unattributed_bytes");
	put_known(w, r->swap_unattributed_known, r->swap_unattributed);
	JSON_KEY(w, "anon_residual_bytes");
	put_residual(w, r, r->anon_residual);
	JSON_KEY(w, "mapped_residual_bytes");
	put_residual(w, r, r->mapped_residual);
	JSON_KEY(w, "zswap_pool_bytes");
	put_meminfo(w, m, MEMINFO_ZSWAP_POOL);
	JSON_KEY(w, "zswap_stored_bytes");
	put_meminfo(w, m, MEMINFO_ZSWAP_STORED);
	put_zram(w, s);
	json_end(w, '}');
}

static void put_totals(struct json_writer *w, const struct totals *t)
{
	json_newline(w);
	JSON_KEY(w, "totals");
	json_begin(w, '{');
	put_counters(w, t->have, t->value);
	JSON_KEY(w, "processes");
	json_u64(w, t->processes);
	JSON_KEY(w, "pss_missing_processes");
	json_u64(w, t->pss_missing);
	json_end(w, '}');
}

static void put_names(struct json_writer *w, const struct process *p)
{
	JSON_KEY(w, "comm");
	if (json_string(w, p->comm) & JSON_REPAIRED) {
		JSON_KEY(w, "comm_hex");
		json_hex(w, p->comm, SIZE_MAX);
	}
	JSON_KEY(w, "name");
	if (json_string(w, p->name) & JSON_REPAIRED) {
		JSON_KEY(w, "name_hex");
		json_hex(w, p->name, SIZE_MAX);
	}
}

static void put_cmdline(struct json_writer *w, const struct process *p)
{
	unsigned flags;

	if (!p->cmdline)
		return;
	JSON_KEY(w, "cmdline");
	flags = json_string_max(w, p->cmdline, CMDLINE_MAX);
	JSON_KEY(w, "cmdline_truncated");
	json_bool(w, p->cmdline_truncated || flags & JSON_CUT);
	if (flags & JSON_REPAIRED) {
		JSON_KEY(w, "cmdline_hex");
		json_hex(w, p->cmdline, CMDLINE_HEX_MAX);
	}
}

static void put_identity(struct json_writer *w, const struct process *p, uint64_t boot_ms)
{
	JSON_KEY(w, "pid");
	json_i64(w, p->pid);
	JSON_KEY(w, "ppid");
	json_i64(w, p->ppid);
	JSON_KEY(w, "uid");
	json_u64(w, p->uid);
	JSON_KEY(w, "user");
	json_string(w, p->user);
	put_names(w, p);
	put_cmdline(w, p);
	JSON_KEY(w, "start_time_ms");
	put_known(w, boot_ms, boot_ms + p->start_ns / 1000000);
	JSON_KEY(w, "threads");
	json_u64(w, p->threads);
	JSON_KEY(w, "oom_score_adj");
	json_i64(w, p->oom_score_adj);
	JSON_KEY(w, "cgroup");
	json_string_max(w, p->cgroup, CGROUP_MAX);
	JSON_KEY(w, "unit");
	json_string(w, p->unit);
	JSON_KEY(w, "container");
	json_string(w, p->container);
}

static void put_process(struct json_writer *w, const struct process *p, uint64_t boot_ms)
{
	json_newline(w);
	json_begin(w, '{');
	put_identity(w, p, boot_ms);
	JSON_KEY(w, "mm_id");
	put_known(w, p->mm_id, p->mm_id);
	JSON_KEY(w, "mm_owner");
	json_bool(w, p->mm_owner);
	JSON_KEY(w, "counters_source");
	json_string(w, origin_name(p->counters_source));
	JSON_KEY(w, "pss_source");
	json_string(w, pss_source_name(p->pss_source));
	JSON_KEY(w, "pss_status");
	json_string(w, pss_status_name(p->pss_status));
	JSON_KEY(w, "swap_pss_status");
	json_string(w, pss_status_name(process_swap_pss_status(p)));
	put_counters(w, p->have, p->value);
	json_end(w, '}');
}

void render_json(struct strbuf *out, const struct result *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;
	const struct snapshot *s = r->snapshot;

	json_begin(w, '{');
	json_head(w, "zmem.snapshot", "1.1", s->time_ms);
	json_host(w, &s->host);
	put_source(w, r);
	put_collection(w, &s->collection);
	put_system(w, r);
	put_totals(w, &r->totals);
	json_newline(w);
	JSON_KEY(w, "processes");
	json_begin(w, '[');
	for (size_t i = 0; i < r->row_count; i++)
		put_process(w, r->rows[i], s->host.boot_ms);
	strbuf_putc(out, '\n');
	json_end(w, ']');
	strbuf_putc(out, '\n');
	json_end(w, '}');
	strbuf_putc(out, '\n');
}
