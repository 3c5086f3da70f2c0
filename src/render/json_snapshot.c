// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows the figures of a collection and of the machine; no processes. */
#include "render/json_snapshot.h"

void json_source(struct json_writer *w, const struct result *r, size_t max)
{
	const char *pss = pss_source_name(r->pss);

	JSON_KEY(w, "source");
	json_begin(w, '{');
	JSON_KEY(w, "counters");
	json_string(w, origin_name(r->snapshot->counters_source));
	JSON_KEY(w, "pss");
	json_string(w, pss ? pss : "none");
	JSON_KEY(w, "fallback_reason");
	json_string_max(w, r->snapshot->fallback_reason, max);
	JSON_KEY(w, "pss_fallback_reason");
	json_string_max(w, r->snapshot->pss_fallback_reason, max);
	JSON_KEY(w, "pinned");
	json_bool(w, r->snapshot->pinned);
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

void json_collection(struct json_writer *w, const struct collection *c)
{
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
	json_known(w, !c->shared_mm_unknown, c->shared_mm);
	put_cross_check(w, &c->cross_check);
	json_end(w, '}');
}

static void put_meminfo(struct json_writer *w, const struct meminfo *m, enum meminfo_figure f)
{
	json_known(w, meminfo_has(m, f), m->value[f]);
}

static void put_zram(struct json_writer *w, const struct system_info *s)
{
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

void json_system(struct json_writer *w, const struct result *r, bool with_zram)
{
	const struct system_info *s = &r->snapshot->system;
	const struct meminfo *m = &s->meminfo;
	const struct machine_balance *balance = &r->snapshot->balance;

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
	json_known(w, balance->swap_unattributed_known, balance->swap_unattributed);
	JSON_KEY(w, "anon_residual_bytes");
	json_known_i64(w, balance->residual_known, balance->anon_residual);
	JSON_KEY(w, "mapped_residual_bytes");
	json_known_i64(w, balance->residual_known, balance->mapped_residual);
	JSON_KEY(w, "zswap_pool_bytes");
	put_meminfo(w, m, MEMINFO_ZSWAP_POOL);
	JSON_KEY(w, "zswap_stored_bytes");
	put_meminfo(w, m, MEMINFO_ZSWAP_STORED);
	JSON_KEY(w, "zram");
	if (with_zram)
		put_zram(w, s);
	else
		json_null(w);
	json_end(w, '}');
}
