// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is said of the machine above a table: of RAM, of swap, of limits, and of what holds most. */
#include "fields/head_said.h"

#include "fields/define.h"
#include "fields/result_fields.h"
#include "fields/system_fields.h"
#include "model/system.h"

#define ROW                                                                                        \
	const struct head *r = row;                                                                \
	const struct overview *o = &r->overview;                                                   \
	const struct system_info *s = &r->snapshot->system;                                        \
	(void)o, (void)s

SAID(total, BYTES, value_bytes(o->total, o->total));
SAID(used, BYTES, value_bytes(o->sums_known, o->sums.used));
SAID(freeable, BYTES, value_bytes(o->sums_known, o->sums.freeable));
SAID(free, BYTES, value_bytes(o->sums_known, o->sums.free));
SAID(some, RATIO, value_signed(s->pressure.known, s->pressure.some_avg10));
SAID(full, RATIO, value_signed(s->pressure.known, s->pressure.full_avg10));
static FIELDS(ram, &field_total, &field_used, &field_freeable, &field_free, &field_some,
	      &field_full);

SENTENCES(head_ram, &ram, NULL, "RAM {total~}",
	  ": used {used}, can be freed {freeable}, free {free}");
SENTENCES(head_pressure, &ram, NULL, "  memory PSI: [some {some} % full {full} %||not known]");

/* ---- swap ---- */

static bool swap_used(const struct head *h, uint64_t *ret)
{
	return meminfo_swap_used(&h->snapshot->system.meminfo, ret);
}

enum swap_part { OF_PROCESSES, OF_TMPFS, OF_OTHERS };

/* Tmpfs is known where the files of the machine were read; the rest is mostly shared memory. */
static struct value part_of_swap(const struct head *h, enum swap_part part)
{
	const struct machine_balance *b = &h->snapshot->balance;
	const struct machine_files *f = &h->snapshot->system.files;
	uint64_t used = 0, tmpfs = f->shmem_known ? f->swapped_tmpfs : 0;
	bool known =
		swap_used(h, &used) && b->swap_unattributed_known && b->swap_unattributed <= used;

	if (tmpfs > b->swap_unattributed)
		tmpfs = 0;
	return value_bytes(known, part == OF_PROCESSES ? used - b->swap_unattributed
				  : part == OF_TMPFS   ? tmpfs
						       : b->swap_unattributed - tmpfs);
}

static struct value swap_value(const struct head *h, bool whole)
{
	uint64_t used = 0;
	bool known = swap_used(h, &used);

	return value_bytes(known,
			   whole ? h->snapshot->system.meminfo.value[MEMINFO_SWAP_TOTAL] : used);
}

SAID(swap_total, BYTES, swap_value(r, true));
SAID(swap_used, BYTES, swap_value(r, false));
SAID(of_processes, BYTES, part_of_swap(r, OF_PROCESSES));
SAID(of_tmpfs, BYTES, part_of_swap(r, OF_TMPFS));
SAID(of_others, BYTES, part_of_swap(r, OF_OTHERS));
SAID(in, BYTES, value_bytes(r->rates, r->rates ? r->rates->in : 0));
SAID(out, BYTES, value_bytes(r->rates, r->rates ? r->rates->out : 0));
static FIELDS(swap, &field_swap_total, &field_swap_used, &field_of_processes, &field_of_tmpfs,
	      &field_of_others, &field_in, &field_out);

SENTENCES(head_swap, &swap, NULL, "Swap [{!swap_total}none||{swap_total}||not known]",
	  "{?swap_total}: used {swap_used}[ = processes {of_processes}[ + tmpfs {of_tmpfs+}]"
	  "[ + other {of_others+}]][, in {in}/s, out {out}/s]");

/* ---- in the page ---- */

static bool some_unread(const struct collection *c)
{
	return c->denied || c->timeout || c->raced;
}

SAID(collection, OBJECT, value_row(&r->snapshot->collection), .fields = &collection_fields);
FLAG(unread, some_unread(&r->snapshot->collection));
ROWS(zram, "zram", &system_compressed, struct zram_device, true, s->zram, s->zram_count, "", 0);
SAID(zswap, OBJECT, value_row(s), .fields = &system_zswap);
static FIELDS(page, &field_collection, &field_unread, &field_used, &field_freeable, &field_free,
	      &field_some, &field_full, &field_swap_total, &field_swap_used, &field_zram,
	      &field_zswap);

const char *const page_keys[] = {"badge", "made", "pressure", "ram", "swap", "zram", "zswap"};
SENTENCES(
	page_said, &page, NULL,
	"[✗ {collection.cross_check.different+} different||{?collection.complete}✓ "
	"complete||! incomplete[{?unread}:[, {collection.denied+} denied]"
	"[, {collection.timeout+} timeout][, {collection.raced+} raced]]]",
	"collected in {collection.duration_us} · "
	"{collection.processes_seen} process{es} seen, {collection.kernel_threads} of them "
	"kernel thread{s}",
	"Memory pressure: some {some} %, full {full} %",
	"{used} used, {freeable} can be freed, {free} free",
	"[{!swap_total}No swap.||{swap_used} used||Swap: not known.]",
	"{zram; {name}: {stored_bytes} stored in {used_bytes} of RAM[, compressed {ratio_percent} : 1]}",
	"zswap: {zswap.stored_bytes+} stored in {zswap.pool_bytes} of RAM"
	"[, compressed {zswap.ratio_percent} : 1]");

/* ---- what holds most ---- */

#undef ROW
#define ROW const struct head_holder *r = row
SAID(name, TEXT, value_text(r->name));
SAID(bytes, BYTES, value_bytes(true, r->bytes));
static FIELDS(holder, &field_name, &field_bytes);

#undef ROW
#define ROW const struct head_holders *r = row
ROWS(holders, "holders", &holder, struct head_holder, true, r->item, r->count, "", 0);
FLAG(cgroups, r->cgroups);
static FIELDS(holders, &field_holders, &field_cgroups);

SENTENCES(head_holders_said, &holders, NULL, "[{?cgroups}cgroup ]{holders: {name} {bytes}}");

/* ---- in JSON ---- */

#define NAME_BYTES .max = {1024}, .max_hex = {1024}, .flags = FIELD_HEX

#undef ROW
#define ROW const struct head_holder *r = row
JSON_FIELD(holder_name, "name", TEXT, value_text(r->name),
	   "a program, a cgroup, or what the memory is for", NAME_BYTES);
JSON_KNOWN(holder_bytes, "bytes", BYTES, value_bytes(true, r->bytes), "what it holds");
static FIELDS(part_holders, &field_holder_name, &field_holder_bytes);

#undef ROW
#define ROW const struct head_part *r = row
JSON_KNOWN(part, "part", TEXT, value_text(r->key), "which one");
JSON_KNOWN(part_title, "title", TEXT, value_text(r->title), "what the table calls it");
JSON_KNOWN(part_bytes, "bytes", BYTES, value_bytes(true, r->bytes), "its size");
ROWS(part_holders, "holders", &part_holders, struct head_holder, r->holders_known, r->holder,
     r->holders,
     "what holds most of it. Of compressed memory, it may be more than the part. Null of processes "
     "if the recording has only some of them",
     0);
static FIELDS(parts, &field_part, &field_part_title, &field_part_bytes, &field_part_holders);

#undef ROW
#define ROW const struct head_limit *r = row
#define DETAIL(name, json, c, help)                                                                \
	JSON_FIELD(name, json, BYTES,                                                              \
		   value_bytes(memcg_has(r->memcg, c), memcg_detail(r->memcg, c)), help)
JSON_FIELD(limit_cgroup, "cgroup", TEXT, value_text(r->memcg->path), "its path", NAME_BYTES);
JSON_KNOWN(limit_bytes, "limit_bytes", BYTES, value_bytes(true, r->limit.limit), "its own limit");
JSON_KNOWN(left_bytes, "left_bytes", BYTES, value_bytes(true, r->limit.left),
	   "what can still be charged to it");
DETAIL(limit_anon, "anon_bytes", COUNTER_MEM_ANON, "as MEM_ANON of zmem-bpf-columns(7)");
DETAIL(limit_shmem, "shmem_bytes", COUNTER_MEM_SHMEM, "likewise MEM_SHMEM");
DETAIL(limit_kernel, "kernel_bytes", COUNTER_MEM_KERNEL, "likewise MEM_KERNEL");
static FIELDS(limited, &field_limit_cgroup, &field_limit_bytes, &field_left_bytes,
	      &field_limit_anon, &field_limit_shmem, &field_limit_kernel);

#undef ROW
#define ROW const struct node_memory *r = row
JSON_KNOWN(node, "node", NUMBER, value_signed(true, r->node), "its number");
JSON_KNOWN(node_total, "total_bytes", BYTES, value_bytes(true, r->total), "its RAM");
JSON_KNOWN(node_free, "free_bytes", BYTES, value_bytes(true, r->free), "what is free of it");
static FIELDS(nodes, &field_node, &field_node_total, &field_node_free);

#undef ROW
#define ROW                                                                                        \
	const struct head_all *all = row;                                                          \
	const struct head *r = all->head;                                                          \
	const struct overview *o = &r->overview;                                                   \
	const struct system_info *s = &r->snapshot->system;                                        \
	(void)o, (void)s

JSON_FIELD(total_bytes, "total_bytes", BYTES, value_bytes(o->total, o->total), "all RAM");
JSON_FIELD(used_bytes, "used_bytes", BYTES, value_bytes(o->sums_known, o->sums.used),
	   "what is neither free nor can be freed");
JSON_FIELD(freeable_bytes, "freeable_bytes", BYTES, value_bytes(o->sums_known, o->sums.freeable),
	   "what the kernel can free without swapping");
JSON_FIELD(free_bytes, "free_bytes", BYTES, value_bytes(o->sums_known, o->sums.free),
	   "what is free: the three add up to total_bytes");
ROWS(head_parts, "parts", &parts, struct head_part, true, all->part, all->parts,
     "the parts of RAM, which add up to total_bytes, the largest first. Empty if they are not known",
     FIELD_KNOWN);
ROWS(head_cgroups, "cgroups", &limited, struct head_limit, true, all->limit, all->limits,
     "the memory cgroups with the fullest limits of their own, the fullest first. Empty if cgroups "
     "were not read, or if the recording has only some processes",
     FIELD_KNOWN);
ROWS(head_nodes, "nodes", &nodes, struct node_memory, s->nodes.count, s->nodes.node, s->nodes.count,
     "the NUMA nodes with RAM. Null unless there are several and swap is in use", 0);
JSON_FIELD(head_some, "psi_some_avg10_hundredths", AMOUNT,
	   value_unsigned(s->pressure.known, s->pressure.some_avg10),
	   "memory pressure, as in system of zmem.snapshot");
JSON_FIELD(head_full, "psi_full_avg10_hundredths", AMOUNT,
	   value_unsigned(s->pressure.known, s->pressure.full_avg10), "likewise");
JSON_FIELD(head_kills, "oom_kills", AMOUNT, value_unsigned(s->oom_kills.known, s->oom_kills.count),
	   "processes that OOM kills ended since boot");
JSON_FIELD(head_today, "oom_kills_today", AMOUNT,
	   value_unsigned(r->kills_today, r->kills_today ? *r->kills_today : 0),
	   "OOM kills of today in the recording of this machine. Null if it was not read");
FIELDS(head_fields, &field_total_bytes, &field_used_bytes, &field_freeable_bytes, &field_free_bytes,
       &field_head_parts, &field_head_cgroups, &field_head_nodes, &field_head_some,
       &field_head_full, &field_head_kills, &field_head_today);
