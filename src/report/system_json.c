// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.system, version 2.0, as specified in src/dist/documents.txt. Values
 * that were not measured are null. Each top-level key and each device has its own line.
 */
#include "report/json.h"
#include "report/report.h"

static void put_ratio(struct json_writer *w, bool known, uint64_t larger, uint64_t smaller)
{
	uint64_t percent = 0;

	known = known && account_ratio(larger, smaller, &percent);
	json_known(w, "ratio_percent", known, percent);
}

static void put_across(struct json_writer *w, const struct system_info *s)
{
	const struct meminfo *m = &s->meminfo;

	json_newline(w);
	json_object(w, "across");
	json_meminfo(w, "available_bytes", m, MEMINFO_AVAILABLE);
	json_meminfo(w, "cached_bytes", m, MEMINFO_CACHED);
	json_meminfo(w, "buffers_bytes", m, MEMINFO_BUFFERS);
	json_meminfo(w, "mapped_bytes", m, MEMINFO_MAPPED);
	json_meminfo(w, "swap_cached_bytes", m, MEMINFO_SWAP_CACHED);
	json_meminfo(w, "vmalloc_used_bytes", m, MEMINFO_VMALLOC_USED);
	json_meminfo(w, "kernel_reclaimable_bytes", m, MEMINFO_KERNEL_RECLAIMABLE);
	json_known(w, "sockets_bytes", s->sockets.known, s->sockets.bytes);
	json_array(w, "unplaced");
	for (size_t i = 0; i < m->unplaced_count; i++) {
		json_begin_line(w, '{');
		json_string(w, "name", m->unplaced[i].name);
		json_u64(w, "bytes", m->unplaced[i].bytes);
		json_end(w, '}');
	}
	json_end(w, ']');
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
	unsigned flags;

	json_begin_line(w, '{');
	flags = json_string(w, "name", d->name);
	json_hex_if(w, "name_hex", flags, d->name, SIZE_MAX);
	json_bool(w, "name_truncated", d->name_cut);
	json_string(w, "kind", kind_name(d->kind));
	json_u64(w, "size_bytes", d->size);
	json_u64(w, "used_bytes", d->used);
	json_i64(w, "priority", d->priority);
	json_end(w, '}');
}

static void put_swap(struct json_writer *w, const struct system_report *r)
{
	const struct system_info *s = &r->balance->snapshot->system;
	int64_t rest = 0;
	bool rest_known = swap_rest(r, &rest);

	json_newline(w);
	json_object(w, "swap");
	json_meminfo(w, "total_bytes", &s->meminfo, MEMINFO_SWAP_TOTAL);
	json_meminfo(w, "free_bytes", &s->meminfo, MEMINFO_SWAP_FREE);
	json_known(w, "used_bytes", r->swap_used_known, r->swap_used);
	json_known(w, "swap_pss_bytes", r->swap_pss_known, r->swap_pss);
	json_known(w, "unattributed_bytes", r->unattributed_known, r->unattributed);
	json_known(w, "swap_shmem_bytes", r->swap_shmem_known, r->swap_shmem);
	json_known(w, "swap_cache_bytes", s->swap_cache.known, s->swap_cache.bytes);
	json_known_i64(w, "rest_bytes", rest_known, rest);
	json_known(w, "swap_ram_bytes", r->swap_ram_known, r->swap_ram);
	json_known(w, "swap_ram_files_bytes", s->files.swap_ram_known, s->files.swap_ram);
	json_end(w, '}');
	json_newline(w);
	if (!s->swaps_known) {
		json_null(w, "swap_devices");
		return;
	}
	json_array(w, "swap_devices");
	for (size_t i = 0; i < s->swap_count; i++)
		put_device(w, &s->swap[i]);
	json_end(w, ']');
}

static void put_compressed(struct json_writer *w, const struct system_info *s)
{
	const struct meminfo *m = &s->meminfo;

	json_newline(w);
	json_array(w, "zram");
	for (size_t i = 0; i < s->zram_count; i++) {
		const struct zram_device *z = &s->zram[i];

		json_begin_line(w, '{');
		json_zram(w, z);
		put_ratio(w, true, z->stat.stored, z->stat.compressed);
		json_end(w, '}');
	}
	json_end(w, ']');
	json_newline(w);
	json_object(w, "zswap");
	json_meminfo(w, "pool_bytes", m, MEMINFO_ZSWAP_POOL);
	json_meminfo(w, "stored_bytes", m, MEMINFO_ZSWAP_STORED);
	put_ratio(w, meminfo_has(m, MEMINFO_ZSWAP_POOL) && meminfo_has(m, MEMINFO_ZSWAP_STORED),
		  m->value[MEMINFO_ZSWAP_STORED], m->value[MEMINFO_ZSWAP_POOL]);
	json_end(w, '}');
}

static void put_file_sum(struct json_writer *w, const char *listed, const char *residual,
			 const struct system_info *s, enum file_account account, bool known,
			 uint64_t sum)
{
	uint64_t kernel = 0;
	bool has = files_kernel_sum(&s->meminfo, account, &kernel);

	json_key_name(w, listed);
	json_put_known(w, known, sum);
	json_key_name(w, residual);
	json_put_known_i64(w, known && has, (int64_t)(kernel - sum));
}

static void put_files(struct json_writer *w, const struct system_info *s)
{
	const struct machine_files *f = &s->files;

	json_newline(w);
	json_object(w, "files");
	put_file_sum(w, "shmem_listed_bytes", "shmem_residual_bytes", s, FILE_IN_SHMEM,
		     f->shmem_known, f->shmem);
	put_file_sum(w, "cache_listed_bytes", "cache_residual_bytes", s, FILE_IN_CACHE,
		     f->cache_known, f->cache);
	json_object(w, "shmem_unmapped_bytes");
	for (int kind = 0; kind < FILE_KINDS; kind++) {
		if (!file_kind_is_shmem((enum file_kind)kind))
			continue;
		json_key_name(w, file_kind_name((enum file_kind)kind));
		json_put_known(w, f->shmem_known, f->unmapped[kind]);
	}
	json_end(w, '}');
	json_known(w, "shmem_swapped_bytes", f->shmem_known, f->shmem_swapped);
	json_known(w, "swap_tmpfs_bytes", f->shmem_known, f->swapped_tmpfs);
	json_known(w, "swap_shmem_unmapped_bytes", f->shmem_known, f->swapped_unmapped);
	json_end(w, '}');
}

static void put_balance(struct json_writer *w, const struct system_report *r)
{
	const struct snapshot *s = r->balance->snapshot;
	const struct meminfo *m = &s->system.meminfo;
	bool anon = r->pss_anon_known && meminfo_has(m, MEMINFO_ANON);
	bool mapped = r->pss_mapped_known && meminfo_has(m, MEMINFO_MAPPED);

	json_newline(w);
	json_object(w, "books");
	json_known(w, "pss_anon_bytes", r->pss_anon_known, r->pss_anon);
	json_known_i64(w, "anon_residual_bytes", anon,
		       (int64_t)(m->value[MEMINFO_ANON] - r->pss_anon));
	json_known(w, "pss_mapped_bytes", r->pss_mapped_known, r->pss_mapped);
	json_known_i64(w, "mapped_residual_bytes", mapped,
		       (int64_t)(m->value[MEMINFO_MAPPED] - r->pss_mapped));
	json_u64(w, "processes", r->processes);
	json_u64(w, "pss_missing_processes", r->pss_missing);
	json_u64(w, "denied_processes", s->collection.denied);
	json_bool(w, "hidden_processes", s->collection.hidden);
	json_end(w, '}');
}

void render_system_json(struct strbuf *out, const struct system_report *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;
	const struct snapshot *s = r->balance->snapshot;

	json_document_begin(w, "zmem.system", "2.0", s);
	json_account(w, &r->account);
	put_across(w, &s->system);
	put_swap(w, r);
	put_compressed(w, &s->system);
	put_files(w, &s->system);
	put_balance(w, r);
	json_document_end(w);
}
