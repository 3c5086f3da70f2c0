// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.system, version 1.0; src/dist/zmem.system.schema.json says the same for
 * machines. What was not measured is null. One top-level key and one device a line.
 */
#include "base/array.h"
#include "render/json_account.h"
#include "render/json_head.h"
#include "zmem/render.h"

static void put_ratio(struct json_writer *w, bool known, uint64_t larger, uint64_t smaller)
{
	uint64_t percent;

	JSON_KEY(w, "ratio_percent");
	known = known && account_ratio(larger, smaller, &percent);
	json_known(w, known, known ? percent : 0);
}

/* A key and whose figure it has. */
struct entry {
	struct json_key key;
	enum meminfo_figure figure;
};

#define ENTRY(key, figure)                                                                         \
	{                                                                                          \
		JSON_KEY_OF(key), figure                                                           \
	}

static void put_figures(struct json_writer *w, const struct meminfo *m, const struct entry *e,
			size_t count)
{
	for (; count--; e++) {
		json_key(w, e->key);
		json_known(w, meminfo_has(m, e->figure), m->value[e->figure]);
	}
}

static void put_across(struct json_writer *w, const struct meminfo *m)
{
	static const struct entry across[] = {
		ENTRY("available_bytes", MEMINFO_AVAILABLE),
		ENTRY("cached_bytes", MEMINFO_CACHED),
		ENTRY("buffers_bytes", MEMINFO_BUFFERS),
		ENTRY("shmem_bytes", MEMINFO_SHMEM),
		ENTRY("swap_cached_bytes", MEMINFO_SWAP_CACHED),
		ENTRY("vmalloc_used_bytes", MEMINFO_VMALLOC_USED),
		ENTRY("kernel_reclaimable_bytes", MEMINFO_KERNEL_RECLAIMABLE),
	};

	json_newline(w);
	JSON_KEY(w, "across");
	json_begin(w, '{');
	put_figures(w, m, across, ARRAY_SIZE(across));
	json_end(w, '}');
}

static const char *kind_name(enum swap_kind kind)
{
	switch (kind) {
	case SWAP_PARTITION:
		return "partition";
	case SWAP_FILE:
		return "file";
	case SWAP_OTHER:
		break;
	}
	return NULL;
}

static void put_device(struct json_writer *w, const struct swap_device *d)
{
	json_newline(w);
	json_begin(w, '{');
	JSON_KEY(w, "name");
	if (json_string(w, d->name) & JSON_REPAIRED) {
		JSON_KEY(w, "name_hex");
		json_hex(w, d->name, SIZE_MAX);
	}
	JSON_KEY(w, "name_truncated");
	json_bool(w, d->name_cut);
	JSON_KEY(w, "kind");
	json_string(w, kind_name(d->kind));
	JSON_KEY(w, "size_bytes");
	json_u64(w, d->size);
	JSON_KEY(w, "used_bytes");
	json_u64(w, d->used);
	JSON_KEY(w, "priority");
	json_i64(w, d->priority);
	json_end(w, '}');
}

static void put_swap(struct json_writer *w, const struct system_report *r)
{
	static const struct entry figures[] = {
		ENTRY("total_bytes", MEMINFO_SWAP_TOTAL),
		ENTRY("free_bytes", MEMINFO_SWAP_FREE),
	};
	const struct system_info *s = &r->books->snapshot->system;

	json_newline(w);
	JSON_KEY(w, "swap");
	json_begin(w, '{');
	put_figures(w, &s->meminfo, figures, ARRAY_SIZE(figures));
	JSON_KEY(w, "used_bytes");
	json_known(w, r->swap_used_known, r->swap_used);
	JSON_KEY(w, "swap_pss_bytes");
	json_known(w, r->swap_pss_known, r->swap_pss);
	JSON_KEY(w, "unattributed_bytes");
	json_known(w, r->unattributed_known, r->unattributed);
	JSON_KEY(w, "swap_shmem_bytes");
	json_known(w, r->swap_shmem_known, r->swap_shmem);
	json_end(w, '}');
	json_newline(w);
	JSON_KEY(w, "swap_devices");
	if (!s->swaps_known) {
		json_null(w);
		return;
	}
	json_begin(w, '[');
	for (size_t i = 0; i < s->swap_count; i++)
		put_device(w, &s->swap[i]);
	json_end(w, ']');
}

static void put_compressed(struct json_writer *w, const struct system_info *s)
{
	static const struct entry figures[] = {
		ENTRY("pool_bytes", MEMINFO_ZSWAP_POOL),
		ENTRY("stored_bytes", MEMINFO_ZSWAP_STORED),
	};
	const struct meminfo *m = &s->meminfo;

	json_newline(w);
	JSON_KEY(w, "zram");
	json_begin(w, '[');
	for (size_t i = 0; i < s->zram_count; i++) {
		const struct zram_stat *z = &s->zram[i].stat;

		json_newline(w);
		json_begin(w, '{');
		JSON_KEY(w, "name");
		json_string(w, s->zram[i].name);
		JSON_KEY(w, "stored_bytes");
		json_u64(w, z->stored);
		JSON_KEY(w, "compressed_bytes");
		json_u64(w, z->compressed);
		JSON_KEY(w, "used_bytes");
		json_u64(w, z->used);
		put_ratio(w, true, z->stored, z->compressed);
		json_end(w, '}');
	}
	json_end(w, ']');
	json_newline(w);
	JSON_KEY(w, "zswap");
	json_begin(w, '{');
	put_figures(w, m, figures, ARRAY_SIZE(figures));
	put_ratio(w, meminfo_has(m, MEMINFO_ZSWAP_POOL) && meminfo_has(m, MEMINFO_ZSWAP_STORED),
		  m->value[MEMINFO_ZSWAP_STORED], m->value[MEMINFO_ZSWAP_POOL]);
	json_end(w, '}');
}

static void put_books(struct json_writer *w, const struct system_report *r)
{
	const struct snapshot *s = r->books->snapshot;
	const struct meminfo *m = &s->system.meminfo;
	bool anon = r->pss_anon_known && meminfo_has(m, MEMINFO_ANON);
	bool mapped = r->pss_mapped_known && meminfo_has(m, MEMINFO_MAPPED);

	json_newline(w);
	JSON_KEY(w, "books");
	json_begin(w, '{');
	JSON_KEY(w, "pss_anon_bytes");
	json_known(w, r->pss_anon_known, r->pss_anon);
	JSON_KEY(w, "anon_residual_bytes");
	json_known_i64(w, anon, (int64_t)(m->value[MEMINFO_ANON] - r->pss_anon));
	JSON_KEY(w, "pss_mapped_bytes");
	json_known(w, r->pss_mapped_known, r->pss_mapped);
	JSON_KEY(w, "mapped_residual_bytes");
	json_known_i64(w, mapped, (int64_t)(m->value[MEMINFO_MAPPED] - r->pss_mapped));
	JSON_KEY(w, "processes");
	json_u64(w, r->processes);
	JSON_KEY(w, "pss_missing_processes");
	json_u64(w, r->pss_missing);
	JSON_KEY(w, "denied_processes");
	json_u64(w, s->collection.denied);
	JSON_KEY(w, "hidden_processes");
	json_bool(w, s->collection.hidden);
	json_end(w, '}');
}

void render_system_json(struct strbuf *out, const struct system_report *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;
	const struct snapshot *s = r->books->snapshot;

	json_begin(w, '{');
	json_head(w, "zmem.system", "1.0", s->time_ms);
	json_host(w, &s->host);
	json_account(w, &r->account);
	put_across(w, &s->system.meminfo);
	put_swap(w, r);
	put_compressed(w, &s->system);
	put_books(w, r);
	strbuf_putc(out, '\n');
	json_end(w, '}');
	strbuf_putc(out, '\n');
}
