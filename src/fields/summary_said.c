// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is said of a result below its table: everything that makes the sums incomplete, with the
 * reasons; what disagreed; and why a fallback was used.
 */
#include "fields/summary_said.h"

#include "fields/define.h"
#include "fields/process_fields.h"
#include "fields/result_fields.h"
#include "model/ram.h"

#define ROW const struct reason_count *r = row
SAID(why, TEXT, value_text(r->why));
SAID(count, AMOUNT, value_unsigned(true, r->count));
static FIELDS(reasons, &field_count, &field_why);

#undef ROW
#define ROW const struct cross_check *r = row
FLAG(all, r->all);
SAID(checked, AMOUNT, value_unsigned(!r->all, r->checked));
SAID(same, AMOUNT, value_unsigned(true, r->same));
SAID(moved, AMOUNT, value_unsigned(true, r->moved));
SAID(different, AMOUNT, value_unsigned(true, r->different));
SAID(gone, AMOUNT, value_unsigned(true, r->gone));
SAID(ended, AMOUNT, value_unsigned(true, (uint64_t)r->gone + r->ended));
SAID(unchecked, AMOUNT, value_unsigned(true, (uint64_t)r->self + r->denied + r->unread));
SAID(denied, AMOUNT, value_unsigned(true, r->denied));
SAID(unread, AMOUNT, value_unsigned(true, r->unread));
FLAG(self, r->self);
SAID(ago, AMOUNT, value_unsigned(true, r->snapshots_ago));
static FIELDS(checks, &field_all, &field_checked, &field_same, &field_moved, &field_different,
	      &field_gone, &field_ended, &field_unchecked, &field_denied, &field_unread,
	      &field_self, &field_ago);

/* ---- values of the result ---- */

#undef ROW
#define ROW                                                                                        \
	const struct summary *r = row;                                                             \
	const struct result *res = r->result;                                                      \
	const struct snapshot *s = res->snapshot;                                                  \
	const struct collection *c = &s->collection;                                               \
	const struct totals *t = &res->totals;                                                     \
	(void)c, (void)t

/* Where nothing was asked for, the source says so. */
static bool pss_is_missing(const struct result *r)
{
	const struct collection *c = &r->snapshot->collection;

	return r->totals.pss_missing && (r->pss != PSS_FROM_NOTHING || c->denied || c->timeout ||
					 c->raced || r->totals.pss_status == PSS_UNSUPPORTED);
}

/* Of processes without memory, if all of them have that status. */
static struct value without_memory(const struct totals *t, enum pss_status status)
{
	return value_unsigned(!t->have && t->for_all && t->pss_status == status, t->processes);
}

static const char *const pss_words[] = {
	[PSS_FROM_ROLLUP] = "PSS from smaps_rollup",
	[PSS_FROM_KERNEL] = "PSS from page tables",
	[PSS_FROM_BOTH] = "PSS from page tables and smaps_rollup",
	[PSS_FROM_NOTHING] = "PSS not read",
};

FLAG(pss_is_missing, pss_is_missing(res));
SAID(with_pss, AMOUNT, value_unsigned(true, t->processes - t->pss_missing));
SAID(processes, AMOUNT, value_unsigned(true, t->processes));
SAID(groups, AMOUNT, value_unsigned(res->group && !res->tree, res->row_count + res->others_count));
SAID(pss, BYTES, value_bytes(t->have &COUNTER_BIT(COUNTER_PSS), t->value[COUNTER_PSS]));
SAID(ram, BYTES,
     value_bytes(meminfo_has(&s->system.meminfo, MEMINFO_TOTAL),
		 s->system.meminfo.value[MEMINFO_TOTAL]));
ROWS(missing, "missing", &reasons, struct reason_count, true, r->missing, MISSING_REASONS, "", 0);
FLAG(mixed,
     !t->have && !t->for_all && (t->pss_status == PSS_KERNEL_THREAD || t->pss_status == PSS_GONE));
SAID(threads, AMOUNT, without_memory(t, PSS_KERNEL_THREAD));
SAID(all_ended, AMOUNT, without_memory(t, PSS_GONE));
SAID(selection, TEXT, value_text(s->selection));

SAID(source, TEXT, value_text(pss_words[res->pss]));
SAID(check, OBJECT, value_row(c->cross_check.done ? &c->cross_check : NULL), .fields = &checks);
SAID(collection, OBJECT, value_row(c), .fields = &collection_fields);
FLAG(hidden, c->hidden);
FLAG(late, snapshot_is_cut(s) || c->earlier);
FLAG(late_left_out, c->not_seen || !c->not_seen_known);
SAID(late_count, AMOUNT, value_unsigned(c->not_seen_known, (uint64_t)c->not_seen + c->earlier));
SAID(late_least, AMOUNT, value_unsigned(!c->not_seen_known, (uint64_t)c->not_seen + c->earlier));
FLAG(late_unknown, !c->not_seen_known);
SAID(more_pids, AMOUNT,
     value_unsigned(c->not_seen > collection_pids(c), c->not_seen - collection_pids(c)));
FLAG(recorded, s->recorded);
FLAG(no_charge, snapshot_is_kill(s) && group_is_memcg(res->group));
FLAG(from_proc, s->counters_source != FROM_BPF);
SAID(fallback_reason, TEXT, value_text(s->fallback_reason));

SAID(lazyfree, BYTES, value_bytes(true, r->lazyfree));
SAID(hugetlb, BYTES,
     value_bytes(t->have &COUNTER_BIT(COUNTER_HUGETLB_PSS), t->value[COUNTER_HUGETLB_PSS]));
SAID(freed_rows, AMOUNT, value_unsigned(true, r->freed_rows));
ROWS(freed, "freed", &reasons, struct reason_count, true, r->freed, PSS_STATUS_COUNT, "", 0);
SAID(shmem, BYTES, value_bytes(true, r->shmem));

static struct value swap_used(const struct snapshot *s)
{
	uint64_t used = 0;
	bool known = meminfo_swap_used(&s->system.meminfo, &used);

	return value_bytes(known, used);
}

/* Of processes, and of none. */
static struct value part_of_swap(const struct snapshot *s, bool processes)
{
	struct value used = swap_used(s);
	const uint64_t rest = s->balance.swap_unattributed;

	return value_bytes(used.known && s->balance.swap_unattributed_known && rest <= used.bytes,
			   processes ? used.bytes - rest : rest);
}

SAID(swap, BYTES, swap_used(s));
FLAG(whole, r->machine && !c->filtered);
SAID(swap_of_processes, BYTES, part_of_swap(s, true));
SAID(swap_of_none, BYTES, part_of_swap(s, false));
FLAG(some_hidden, c->hidden || c->not_seen);

static const struct ram *counted_ram(const struct snapshot *s, bool deleted)
{
	return s->system.ram && s->system.ram->deleted_known == deleted ? s->system.ram : NULL;
}

SAID(memcgs, AMOUNT, value_unsigned(true, res->row_count + res->others_count));
SAID(deleted, AMOUNT,
     value_unsigned(counted_ram(s, true),
		    counted_ram(s, true) ? s->system.ram->deleted_cgroups : 0));
SAID(deleted_bytes, BYTES,
     value_bytes(counted_ram(s, true), counted_ram(s, true) ? s->system.ram->deleted_bytes : 0));
SAID(deleted_reason, TEXT,
     value_text(counted_ram(s, false) && *s->system.ram->reason ? s->system.ram->reason : NULL));
SAID(dying, AMOUNT,
     value_unsigned(res->group == process_field("cgroup") && !counted_ram(s, true),
		    c->cgroups_dying));
FLAG(no_swap, r->no_swap);
FLAG(by_strain, r->by_strain);
SAID(unsorted, TEXT, value_text(r->unsorted));
SAID(unsorted_why, TEXT,
     value_text(r->unsorted_why == PSS_OK ? NULL : pss_status_name(r->unsorted_why)));
SAID(no_group, TEXT,
     value_text(group_is_memcg(res->group) && !(res->group->flags & FIELD_JOINED) &&
				res->row_count == 1 && !res->others_count &&
				!res->group->group(res->rows[0].process)
			? res->group->key
			: NULL));
SAID(nothing, TEXT, value_text(r->nothing));

static FIELDS(summary, &field_pss_is_missing, &field_with_pss, &field_processes, &field_groups,
	      &field_pss, &field_ram, &field_missing, &field_mixed, &field_threads,
	      &field_all_ended, &field_selection, &field_source, &field_check, &field_collection,
	      &field_hidden, &field_late, &field_late_left_out, &field_late_count,
	      &field_late_least, &field_late_unknown, &field_more_pids, &field_recorded,
	      &field_no_charge, &field_from_proc, &field_fallback_reason, &field_lazyfree,
	      &field_hugetlb, &field_freed_rows, &field_freed, &field_shmem, &field_swap,
	      &field_whole, &field_swap_of_processes, &field_swap_of_none, &field_some_hidden,
	      &field_memcgs, &field_deleted, &field_deleted_bytes, &field_deleted_reason,
	      &field_dying, &field_no_swap, &field_by_strain, &field_unsorted, &field_unsorted_why,
	      &field_no_group, &field_nothing);

/* ---- sentences ---- */

#define PSS "{pss}[ of {ram} RAM]"
/* A process that shares its address space counts with the one that carries it. */
#define COUNT                                                                                      \
	"[{?pss_is_missing}PSS of {with_pss} of {processes} process{es}[ in {groups} group{s}] "   \
	"is known[: " PSS "]; {missing: {count+} {why}}"                                           \
	"||{processes} process{es}[ in {groups} group{s}]"                                         \
	"[{?processes} {holds/hold} " PSS                                                          \
	"||{?mixed} are kernel threads or have ended: they have no memory"                         \
	"||{?threads} {is a kernel thread/are kernel threads}: {it has/they have} no memory of "   \
	"{its/their} own"                                                                          \
	"||{?all_ended} {has/have} ended: {it has/they have} no memory any more]]"                 \
	"[; the recording holds only {selection}]"
#define CHECKS                                                                                     \
	"[; {?check.all}checked with smaps_rollup: {check.same} agree[, {check.moved+} moved]"     \
	"[, {check.different+} different][, {check.ended+} ended][, {check.unchecked+} not "       \
	"checked ([, {check.denied+} denied][, {check.unread+} not read]"                          \
	"[, {?check.self}zmem-bpf itself])]"                                                       \
	"||, {check.same} of {check.checked+} spot check{s} {agrees/agree}[, {check.moved+} "      \
	"moved][, {check.different+} different][, {check.gone+} gone][ ({check.ago+} snapshot{s} ago)]]"
#define NOT_SEEN                                                                                   \
	"[; {?late}[{?late_left_out}incomplete: ]at this OOM kill there was no time for "          \
	"[{late_count+} process{es}||more than {late_least+} process{es}||some processes]"         \
	"[: {collection.earlier+} {has/have} the values of the snapshot before"                    \
	"[, {?late_unknown}the others are left out||, {collection.not_seen+} {is/are} left out]]"  \
	"||; incomplete: /proc shows {collection.not_seen+} process{es} that BPF does not see"     \
	"[: pid{s} {collection.not_seen_pids}[, {more_pids} more]]"                                \
	"[ {!recorded}{?collection.not_seen}(--source proc shows {it/them})]]"
#define SOURCES                                                                                    \
	"{source}" CHECKS "[; {?hidden}/proc hides other processes]" NOT_SEEN                      \
	"[; {?no_charge}MEM_CURRENT is not known: " NO_CHARGE_AT_KILL "]"                          \
	"[; {?from_proc}counters from /proc[: {fallback_reason}]]"

SENTENCES(summary_line, &summary, NULL, COUNT "; " SOURCES);
/*
 * Swap in use is a value of the machine: where rows are filtered out it is not shown. It tells when
 * shared memory fills swap, which no process's SWAP shows.
 */
SENTENCES(summary_said, &summary, NULL, COUNT,
	  "of it {lazyfree+} are lazily freed: the kernel takes them when it needs memory",
	  "and {hugetlb+} in pages of hugetlb, which PSS leaves out",
	  "FREED of {freed_rows+} row{s} is not known: {freed: {count+} {why}}", SOURCES,
	  "shared memory and tmpfs in no PSS: {shmem+} (zmem-bpf files)",
	  "{?whole}swap in use {swap+}[ = {swap_of_processes} of processes + {swap_of_none} of "
	  "[{?some_hidden}hidden processes, ]shmem, tmpfs and swap cache]");
SENTENCES(summary_memcgs, &summary, NULL,
	  "{memcgs} memory cgroup{s}[{?by_strain}: first what hurts, then by the nearest limit]"
	  "[; deleted ones are not known: {deleted_reason}"
	  "||; on this machine {deleted+} deleted {one holds/ones hold} {deleted_bytes}]");
SENTENCES(summary_nothing, &summary, NULL, "{nothing}");
/* Lines that explain equal rows. */
SENTENCES(summary_notes, &summary, NULL,
	  "deleted cgroups that the kernel keeps: {dying+} (zmem-bpf system --by cgroup says what "
	  "they hold)",
	  "{?no_swap}no swap is in use",
	  "the rows are sorted by {unsorted}, which none of them has[: {unsorted_why}]",
	  "no {no_group} was found");
