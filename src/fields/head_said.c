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

/* ---- limits ---- */

SAID(percent, AMOUNT,
     value_signed(r->fullest.memcg,
		  r->fullest.memcg ? (int64_t)(100 * head_fullness(&r->fullest) + 0.5) : 0));
SAID(limit, BYTES, value_bytes(r->fullest.memcg, r->fullest.limit.limit));
SAID(path, TEXT, value_text(r->fullest.memcg ? r->fullest.memcg->path : NULL), .flags = FIELD_PATH);
SAID(kills, AMOUNT, value_unsigned(true, s->oom_kills.count));
SAID(today, AMOUNT, value_unsigned(r->kills_today, r->kills_today ? *r->kills_today : 0));
static FIELDS(limits, &field_percent, &field_limit, &field_path, &field_kills, &field_today);

#define LIMITS                                                                                     \
	"[Fullest cgroup: {percent} % of {limit} in {path|36}  ]"                                  \
	"[OOM kills since boot: {kills+}[, today: {today}]]"
SENTENCES(head_limits_said, &limits, NULL, LIMITS);

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
	      &field_zswap, &field_percent, &field_limit, &field_path, &field_kills, &field_today);

const char *const page_keys[] = {"badge", "made", "pressure", "ram",
				 "swap",  "zram", "zswap",    "limits"};
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
	"[, compressed {zswap.ratio_percent} : 1]",
	LIMITS);

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
