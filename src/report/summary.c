// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The summary in words. It states everything that makes the sums incomplete: what is missing and
 * why, what disagreed, and why a fallback was used.
 */
#include "report/summary.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/count.h"
#include "model/ram.h"
#include "report/report.h"
#include "write/grid.h"

static void write_bytes(struct line *l, uint64_t bytes)
{
	cell_put(l, cell_bytes(true, bytes), false);
}

static void write_source(struct line *l, enum pss_source source)
{
	static const char *const words[] = {
		[PSS_FROM_ROLLUP] = "PSS from smaps_rollup",
		[PSS_FROM_KERNEL] = "PSS from page tables",
		[PSS_FROM_BOTH] = "PSS from page tables and smaps_rollup",
		[PSS_FROM_NOTHING] = "PSS not read",
	};

	line_printf(l, "%s", words[source]);
}

static void write_reason(struct line *l, const char **before, size_t count, const char *reason)
{
	if (!count)
		return;
	line_printf(l, "%s%zu %s", *before, count, reason);
	*before = ", ";
}

/* --verify all: the counts add up to all processes. */
static void write_all_checks(struct line *l, const struct cross_check *c)
{
	const char *before = " (";

	line_printf(l, "; checked with smaps_rollup: %u agree", c->same);
	if (c->moved)
		line_printf(l, ", %u moved", c->moved);
	if (c->different)
		line_printf(l, ", %u different", c->different);
	if (c->gone + c->ended)
		line_printf(l, ", %u ended", c->gone + c->ended);
	if (!(c->self + c->denied + c->unread))
		return;
	line_printf(l, ", %u not checked", c->self + c->denied + c->unread);
	write_reason(l, &before, c->denied, "denied");
	write_reason(l, &before, c->unread, "not read");
	if (c->self)
		line_printf(l, "%szmem-bpf itself", before);
	line_printf(l, ")");
}

static void write_cross_check(struct line *l, const struct cross_check *c)
{
	if (c->done && c->all)
		write_all_checks(l, c);
	if (!c->done || c->all || !c->checked)
		return;
	line_printf(l, ", %u of %u spot %s", c->same, c->checked,
		    count_word(c->checked, "check agrees", "checks agree"));
	if (c->moved)
		line_printf(l, ", %u moved", c->moved);
	if (c->different)
		line_printf(l, ", %u different", c->different);
	if (c->gone)
		line_printf(l, ", %u gone", c->gone);
}

/*
 * The collection counts reasons over all processes, the total only processes that passed the
 * filters: do not print more reasons than are missing. The rest was not read, because the process
 * cannot be among the rows shown, has no memory, or the kernel cannot tell.
 */
static void write_missing(struct line *l, const struct result *r)
{
	const struct collection *c = &r->snapshot->collection;
	const struct {
		const char *word;
		uint32_t count;
	} reason[] = {{"denied", c->denied},
		      {"timeout", c->timeout},
		      {"raced", c->raced},
		      {"gone", c->gone}};
	size_t left = r->totals.pss_missing;
	const char *before = "; ";

	for (size_t i = 0; i < ARRAY_SIZE(reason); i++) {
		size_t n = reason[i].count < left ? reason[i].count : left;

		write_reason(l, &before, n, reason[i].word);
		left -= n;
	}
	write_reason(l, &before, left,
		     r->totals.pss_status == PSS_UNSUPPORTED ? "unsupported" : "not read");
}

/* Processes that have none: the first thing that one asks of such a row is why. */
static void write_no_memory(struct line *l, const struct totals *t)
{
	bool one = t->processes == 1;

	if (t->pss_status != PSS_KERNEL_THREAD && t->pss_status != PSS_GONE)
		return;
	if (!t->for_all)
		line_printf(l, " are kernel threads or have ended: they have no memory");
	else if (t->pss_status == PSS_KERNEL_THREAD)
		line_printf(l, one ? " is a kernel thread: it has no memory of its own"
				   : " are kernel threads: they have no memory of their own");
	else
		line_printf(l, one ? " has ended: it has no memory any more"
				   : " have ended: they have no memory any more");
}

static void write_groups(struct line *l, const struct result *r)
{
	size_t groups = r->row_count + r->others_count;

	if (r->group && !r->tree)
		line_printf(l, " in %zu %s", groups, count_word(groups, "group", "groups"));
}

static void write_pss(struct line *l, const struct result *r)
{
	const struct meminfo *m = &r->snapshot->system.meminfo;

	write_bytes(l, r->totals.value[COUNTER_PSS]);
	if (meminfo_has(m, MEMINFO_TOTAL)) {
		line_printf(l, " of ");
		write_bytes(l, m->value[MEMINFO_TOTAL]);
		line_printf(l, " RAM");
	}
}

static void write_count(struct line *l, const struct result *r)
{
	const struct collection *c = &r->snapshot->collection;
	const struct totals *t = &r->totals;
	bool known = t->have & COUNTER_BIT(COUNTER_PSS);
	/* No process has PSS, and write_source() says so. */
	bool unasked = r->pss == PSS_FROM_NOTHING && !c->denied && !c->timeout && !c->raced &&
		       t->pss_status != PSS_UNSUPPORTED;

	if (t->pss_missing && !unasked) {
		/* A process that shares its address space counts with the one that carries it. */
		line_printf(l, "PSS of %zu of %zu %s", t->processes - t->pss_missing, t->processes,
			    count_word(t->processes, "process", "processes"));
		write_groups(l, r);
		line_printf(l, known ? " is known: " : " is known");
		if (known)
			write_pss(l, r);
		write_missing(l, r);
	} else {
		line_printf(l, "%zu %s", t->processes,
			    count_word(t->processes, "process", "processes"));
		write_groups(l, r);
		if (known) {
			line_printf(l, t->processes == 1 ? " holds " : " hold ");
			write_pss(l, r);
		} else if (!t->have) {
			write_no_memory(l, t);
		}
	}
	if (r->snapshot->selection) {
		line_printf(l, "; the recording holds only ");
		line_text(l, r->snapshot->selection, 0);
	}
}

/* All memory cgroups: with what deleted ones hold, if a census found them. */
static void write_memcgs(struct line *l, const struct result *r)
{
	const struct ram *ram = r->snapshot->system.ram;
	size_t count = r->row_count + r->others_count;

	line_printf(l, "%zu memory %s", count, count_word(count, "cgroup", "cgroups"));
	if (ram && !ram->deleted_known && *ram->reason)
		line_printf(l, "; deleted ones are not known: %s", ram->reason);
	if (!ram || !ram->deleted_known || !ram->deleted_cgroups)
		return;
	line_printf(l, "; on this machine %" PRIu64 " deleted %s ", ram->deleted_cgroups,
		    count_word(ram->deleted_cgroups, "one holds", "ones hold"));
	write_bytes(l, ram->deleted_bytes);
}

/* Of an OOM kill. */
static void write_unread(struct line *l, const struct collection *c)
{
	uint32_t all = c->not_seen + c->earlier;

	line_printf(l, "; %sat this OOM kill there was no time for ",
		    c->not_seen || !c->not_seen_known ? "incomplete: " : "");
	if (all)
		line_printf(l, "%s%u %s", c->not_seen_known ? "" : "more than ", all,
			    count_word(all, "process", "processes"));
	else
		line_printf(l, "some processes");
	if (!c->earlier)
		return;
	line_printf(l, ": %u %s the values of the snapshot before", c->earlier,
		    count_word(c->earlier, "has", "have"));
	if (!c->not_seen_known)
		line_printf(l, ", the others are left out");
	else if (c->not_seen)
		line_printf(l, ", %u %s left out", c->not_seen,
			    count_word(c->not_seen, "is", "are"));
}

static void write_not_seen(struct line *l, const struct snapshot *s)
{
	const struct collection *c = &s->collection;
	const char *before = c->not_seen == 1 ? ": pid " : ": pids ";

	if (snapshot_is_cut(s) || c->earlier) {
		write_unread(l, c);
		return;
	}
	if (!c->not_seen)
		return;
	line_printf(l, "; incomplete: /proc shows %u %s that BPF does not see", c->not_seen,
		    count_word(c->not_seen, "process", "processes"));
	for (size_t i = 0; i < NOT_SEEN_PIDS && c->not_seen_pid[i]; i++) {
		line_printf(l, "%s%d", before, c->not_seen_pid[i]);
		before = ", ";
	}
	if (c->not_seen_pid[0] && c->not_seen > NOT_SEEN_PIDS)
		line_printf(l, ", " TEXT_ELLIPSIS);
	if (!s->recorded)
		line_printf(l, " (--source proc shows %s)", count_word(c->not_seen, "it", "them"));
}

static void write_sources(struct line *l, const struct result *r)
{
	const struct snapshot *s = r->snapshot;

	write_source(l, r->pss);
	write_cross_check(l, &s->collection.cross_check);
	if (s->collection.hidden)
		line_printf(l, "; /proc hides other processes");
	write_not_seen(l, s);
	if (snapshot_is_kill(s) && group_is_memcg(r->group))
		line_printf(l, "; MEM_CURRENT is not known: " NO_CHARGE_AT_KILL);
	if (s->counters_source == FROM_BPF)
		return;
	line_printf(l, "; counters from /proc");
	if (s->fallback_reason) {
		line_ascii(l, ": ", 2);
		line_text(l, s->fallback_reason, 0);
	}
}

/*
 * Swap in use is a value of the machine, so it is shown only if no row is filtered out. It tells
 * when shared memory fills swap, which no process's SWAP shows.
 */
static void write_swap(struct line *l, const struct result *r)
{
	const struct machine_balance *balance = &r->snapshot->balance;
	uint64_t used, unattributed = balance->swap_unattributed;

	if (r->snapshot->collection.filtered ||
	    !meminfo_swap_used(&r->snapshot->system.meminfo, &used) || !used)
		return;
	line_printf(l, "swap in use ");
	write_bytes(l, used);
	if (!balance->swap_unattributed_known || unattributed > used)
		return;
	line_printf(l, " = ");
	write_bytes(l, used - unattributed);
	line_printf(l, " of processes + ");
	write_bytes(l, unattributed);
	line_printf(l, " of %sshmem, tmpfs and swap cache",
		    r->snapshot->collection.hidden || r->snapshot->collection.not_seen
			    ? "hidden processes, "
			    : "");
}

/* Less than this part of RAM is not worth a line. */
#define UNMAPPED_PART 32

/* Memory that no row shows: it is said only if it is much. */
static void write_shmem(struct line *l, const struct result *r)
{
	const struct snapshot *s = r->snapshot;
	const struct meminfo *m = &s->system.meminfo;

	if (s->collection.filtered || s->collection.hidden || !s->balance.shmem_not_in_pss_known ||
	    !meminfo_has(m, MEMINFO_TOTAL) ||
	    s->balance.shmem_not_in_pss < m->value[MEMINFO_TOTAL] / UNMAPPED_PART)
		return;
	line_printf(l, "shared memory and tmpfs in no PSS: ");
	write_bytes(l, s->balance.shmem_not_in_pss);
	line_printf(l, " (zmem-bpf files)");
}

/* Less in swap is not worth a line. */
#define SWAP_LEAST (16 << 20)

/* Swap in use while a node has room: what is bound to another node cannot go there. */
static void write_nodes(struct line *l, const struct result *r)
{
	const struct machine_nodes *all = &r->snapshot->system.nodes;
	const struct node_memory *full = NULL, *roomy = NULL;
	uint64_t used;

	if (!meminfo_swap_used(&r->snapshot->system.meminfo, &used) || used < SWAP_LEAST)
		return;
	for (uint32_t i = 0; i < all->count; i++) {
		const struct node_memory *n = &all->node[i];

		if (n->free >= n->total / 8 && (!roomy || n->free > roomy->free))
			roomy = n;
		else if (n->free < n->total / 32 || n->free < 2 * n->high)
			full = n;
	}
	if (!full || !roomy)
		return;
	write_bytes(l, used);
	line_printf(l, " are in swap while node %u has ", roomy->node);
	write_bytes(l, roomy->free);
	line_printf(l, " free; node %u has ", full->node);
	write_bytes(l, full->free);
	line_printf(l, " of ");
	write_bytes(l, full->total);
	line_printf(l, " (zmem-bpf system --by node)");
}

/* Less memory on a node is not worth a line. */
#define AWAY_LEAST (16 << 20)

static uint64_t away_of(const struct process *p, uint64_t *ret_all)
{
	uint64_t away = 0;

	*ret_all = 0;
	for (uint32_t i = 0; p->nodes && p->cpu_nodes && i < p->nodes->count; i++) {
		const struct node_share *n = &p->nodes->node[i];

		*ret_all += n->pss;
		away += p->cpu_nodes >> n->node & 1 ? 0 : n->pss;
	}
	return away;
}

static void write_node_numbers(struct line *l, uint32_t nodes)
{
	const char *before = nodes & (nodes - 1) ? "s " : " ";

	for (unsigned n = 0; n < NODES_MAX; n++) {
		if (nodes >> n & 1) {
			line_printf(l, "%s%u", before, n);
			before = ", ";
		}
	}
}

/* Processes with most of their memory on nodes other than those of their CPUs. */
static void write_away(struct line *l, const struct result *r)
{
	const struct snapshot *s = r->snapshot;
	const struct process *worst = NULL;
	uint64_t most = 0, all = 0, size;
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		uint64_t away = away_of(&s->process[i], &size);

		if (away < AWAY_LEAST || away <= size / 2)
			continue;
		count++;
		if (away > most) {
			worst = &s->process[i];
			most = away;
			all = size;
		}
	}
	if (!worst)
		return;
	line_printf(l, "pid %d (", worst->pid);
	line_text(l, worst->name ? worst->name : worst->comm, 0);
	line_printf(l, ") runs on node");
	write_node_numbers(l, worst->cpu_nodes);
	line_printf(l, " alone and has ");
	write_bytes(l, most);
	line_printf(l, " of ");
	write_bytes(l, all);
	line_printf(l, " on other nodes");
	if (count > 1)
		line_printf(l, "; so %s %zu more %s", count_word(count - 1, "does", "do"),
			    count - 1,
			    count_word(count - 1, "process with most of its memory",
				       "processes with most of theirs"));
}

/* Less than this part of RAM is not worth a line. */
#define LAZYFREE_PART 64

/* It looks used, and the kernel takes it when it needs it. */
static void write_lazyfree(struct line *l, const struct result *r)
{
	const struct meminfo *m = &r->snapshot->system.meminfo;
	const struct totals *t = &r->totals;

	if (!(t->have & COUNTER_BIT(COUNTER_LAZYFREE)) || !meminfo_has(m, MEMINFO_TOTAL) ||
	    t->value[COUNTER_LAZYFREE] < m->value[MEMINFO_TOTAL] / LAZYFREE_PART)
		return;
	line_printf(l, "of it ");
	write_bytes(l, t->value[COUNTER_LAZYFREE]);
	line_printf(l, " are lazily freed: the kernel takes them when it needs memory");
}

/* Likewise: it is not part of PSS. */
static void write_hugetlb(struct line *l, const struct result *r)
{
	const struct totals *t = &r->totals;

	if (!(t->have & COUNTER_BIT(COUNTER_HUGETLB_PSS)) || !t->value[COUNTER_HUGETLB_PSS])
		return;
	line_printf(l, "and ");
	write_bytes(l, t->value[COUNTER_HUGETLB_PSS]);
	line_printf(l, " in pages of hugetlb, which PSS leaves out");
}

/* "FREED of 4 rows is not known: 3 raced, 1 another_reference". */
static void write_freed(struct line *l, const struct result *r)
{
	size_t count[PSS_STATUS_COUNT] = {}, all = 0;

	for (size_t i = 0; i < r->row_count; i++) {
		const struct process *p = r->rows[i].process;

		const enum pss_status why = process_status(p, VALUE_FREED);

		/* One without memory has none to free. */
		if (why == PSS_OK || why == PSS_SKIPPED || !process_has(p, COUNTER_RSS))
			continue;
		count[why]++;
		all++;
	}
	if (!all)
		return;
	line_printf(l, "FREED of %zu row%s is not known:", all, all == 1 ? "" : "s");
	for (int i = 0; i < PSS_STATUS_COUNT; i++) {
		if (!count[i])
			continue;
		all -= count[i];
		line_printf(l, " %zu %s%s", count[i], pss_status_name((enum pss_status)i),
			    all ? "," : "");
	}
}

void summary_write(struct line *l, const struct result *r)
{
	write_count(l, r);
	line_printf(l, "; ");
	write_sources(l, r);
}

/* Folds the text from `begin` on in place. */
static void fold(struct strbuf *out, size_t begin, unsigned width)
{
	for (;;) {
		size_t len = out->len - begin, n = text_fold(out->data + begin, len, width);

		if (n == len)
			return;
		out->data[begin + n] = '\n';
		begin += n + 1;
	}
}

/* A chunk of the output is not passed on within a line of this length. */
#define LINE_MAX_BYTES 4096

/* Writes with `write`, or `text`. */
static void print(struct strbuf *out, const struct result *r, unsigned width,
		  void (*write)(struct line *l, const struct result *r), const char *text)
{
	struct line line = {.out = out};
	size_t begin;

	if (!strbuf_reserve(out, LINE_MAX_BYTES))
		return;
	begin = out->len;
	if (write)
		write(&line, r);
	else
		line_text(&line, text, 0);
	if (out->error || out->len == begin)
		return;
	fold(out, begin, width);
	strbuf_putc(out, '\n');
}

void summary_print(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	if (style->nothing && !(r->memcgs ? r->row_count : r->totals.processes)) {
		print(out, r, style->width, NULL, style->nothing);
		return;
	}
	if (r->memcgs) {
		print(out, r, style->width, write_memcgs, NULL);
		return;
	}
	print(out, r, style->width, write_count, NULL);
	print(out, r, style->width, write_lazyfree, NULL);
	print(out, r, style->width, write_hugetlb, NULL);
	print(out, r, style->width, write_freed, NULL);
	print(out, r, style->width, write_sources, NULL);
	print(out, r, style->width, write_away, NULL);
	print(out, r, style->width, write_nodes, NULL);
	if (style->head)
		return;
	print(out, r, style->width, write_shmem, NULL);
	print(out, r, style->width, write_swap, NULL);
}

/* "the rows are sorted by MAPS, which none of them has: unsupported" */
static void print_unsorted(struct strbuf *out, const struct result *r, const struct field *sorted)
{
	enum pss_status why = PSS_OK;

	if (r->row_count < 2 || !r->totals.have)
		return;
	for (size_t i = 0; i < r->row_count; i++) {
		if (field_value(sorted, &r->rows[i], r->snapshot).known)
			return;
	}
	if (field_is_counter(sorted) && sorted->counter < COUNTERS_OF_PROCESS)
		why = process_counter_status(r->rows[0].process, (enum counter)sorted->counter);
	strbuf_printf(out, "the rows are sorted by %s, which none of them has%s%s\n",
		      sorted->heading, why == PSS_OK ? "" : ": ",
		      why == PSS_OK ? "" : pss_status_name(why));
}

void summary_print_notes(struct strbuf *out, const struct result *r, const struct field *sorted)
{
	uint64_t dying = r->snapshot->collection.cgroups_dying, used;

	const struct ram *ram = r->snapshot->system.ram;

	if (r->group == process_field("cgroup") && dying && !(ram && ram->deleted_known))
		strbuf_printf(out,
			      "deleted cgroups that the kernel keeps: %" PRIu64
			      " (zmem-bpf system --by cgroup says what they hold)\n",
			      dying);
	if (sorted && process_field_of_swap(sorted) &&
	    meminfo_swap_used(&r->snapshot->system.meminfo, &used) && !used)
		strbuf_puts(out, "no swap is in use\n");
	else if (sorted)
		print_unsorted(out, r, sorted);
	if (group_is_memcg(r->group) && !(r->group->flags & FIELD_JOINED) && r->row_count == 1 &&
	    !r->others_count && !r->group->group(r->rows[0].process))
		strbuf_printf(out, "no %s was found\n", r->group->key);
}
