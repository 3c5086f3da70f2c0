// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fields of a comparison. */
#include "fields/compare_fields.h"

#include "fields/define.h"

/* ---- cells ---- */

/* Cells lie in the order of the rows, of which each has as many. */
static const struct process *process_of(const struct compare_report *of,
					const struct compare_cell *r)
{
	const struct compare_row *row = of->comparison->row;

	return row[(size_t)(r - row->cell) / row->count].process;
}

static struct value difference_of(const struct compare_cell *r)
{
	int64_t difference = 0;
	bool known = compare_difference(r, &difference);

	return value_signed(known, difference);
}

static bool is_shown(const void *row, const void *of)
{
	return compare_shown(row, ((const struct compare_report *)of)->all);
}

#define ROW	const struct compare_cell *r = row
#define COUNTER counter_table[r->counter]

COLUMN(pid, "pid", "    PID", NUMBER, value_signed(true, process_of(of, r)->pid), "process id",
       .flags = FIELD_KNOWN);
COLUMN(name, "name", "NAME", TEXT, value_text(process_of(of, r)->name),
       "null if it is not visible");
JSON_KNOWN(counter, "counter", TEXT, value_text(COUNTER.key), "what is compared");
COLUMN(heading, "counter", "COUNTER", TEXT, value_text(COUNTER.header), "what is compared");
COLUMN(bpf, "bpf_bytes", "BPF", BYTES, value_bytes(r->bpf_known, r->bpf), "the value of BPF");
COLUMN(before, "proc_before_bytes", "PROC", BYTES, value_bytes(r->proc_known, r->proc_before),
       "the value of /proc before that of BPF");
COLUMN(after, "proc_after_bytes", "PROC AFTER", BYTES, value_bytes(r->proc_known, r->proc_after),
       "equal to the value before if /proc was read once");
COLUMN(difference, "difference_bytes", "DIFFERENCE", CHANGE, difference_of(r),
       "the distance of the BPF value from the values of /proc");
COLUMN(verdict, "verdict", "VERDICT", TEXT, value_text(compare_verdict_name(r->verdict)),
       "whether the values agree", .flags = FIELD_KNOWN);
FIELDS(compare_columns, &field_pid, &field_heading, &field_bpf, &field_before, &field_after,
       &field_difference, &field_verdict, &field_name);
static FIELDS(cells, &field_pid, &field_name, &field_counter, &field_bpf, &field_before,
	      &field_after, &field_difference, &field_verdict);

/* ---- sums ---- */

#undef ROW
#define ROW const struct compare_sums *r = row
#define VERDICT(name, json, verdict_, help)                                                        \
	JSON_KNOWN(name, json, AMOUNT, value_unsigned(true, r->verdict[COMPARE_##verdict_]), help)

JSON_KNOWN(processes, "processes", AMOUNT, value_unsigned(true, r->processes),
	   "processes that were compared");
JSON_KNOWN(count, "cells", AMOUNT, value_unsigned(true, r->cells),
	   "values: each counter of each process");
VERDICT(same, "same", SAME, "values that are equal");
VERDICT(moved, "moved", MOVED, "values that changed while they were read");
VERDICT(approximate, "approximate", APPROXIMATE, "values within bound_bytes");
VERDICT(gone, "gone", GONE, "values of processes that have ended");
VERDICT(denied, "denied", DENIED, "values that one side may not read");
VERDICT(timeout, "timeout", TIMEOUT, "values of processes that are stuck");
VERDICT(different, "different", DIFFERENT, "values with a difference that nothing explains");
static FIELDS(sums, &field_processes, &field_count, &field_same, &field_moved, &field_approximate,
	      &field_gone, &field_denied, &field_timeout, &field_different);

/* ---- cost ---- */

#undef ROW
#define ROW const struct compare_cost *r = row

JSON_KNOWN(bpf_us, "bpf_us", AMOUNT, value_unsigned(true, r->bpf_us), "microseconds of BPF");
JSON_KNOWN(proc_us, "proc_us", AMOUNT, value_unsigned(true, r->proc_us), "microseconds of /proc");
JSON_KNOWN(proc_files, "proc_files", AMOUNT, value_unsigned(true, r->proc_files),
	   "files of /proc that were opened");
JSON_FIELD(bpf_reads, "bpf_reads", AMOUNT, value_unsigned(r->reads_known, r->bpf_reads),
	   "the number of read calls. Null if the kernel does not count them");
JSON_FIELD(proc_reads, "proc_reads", AMOUNT, value_unsigned(r->reads_known, r->proc_reads),
	   "likewise");
static FIELDS(cost, &field_bpf_us, &field_proc_us, &field_proc_files, &field_bpf_reads,
	      &field_proc_reads);

/* ---- the machine ---- */

#undef ROW
#define ROW                                                                                        \
	const struct snapshot *r = row;                                                            \
	const struct machine_balance *b = &r->balance;                                             \
	(void)b
#define MACHINE(id)	  r->system.meminfo.value[MEMINFO_##id]
#define MEMINFO(id)	  value_bytes(meminfo_has(&r->system.meminfo, MEMINFO_##id), MACHINE(id))
#define SUM(id, residual) value_bytes(b->residual_known, MACHINE(id) - (uint64_t)b->residual)

JSON_FIELD(anon, "anon_bytes", BYTES, MEMINFO(ANON), "AnonPages");
JSON_FIELD(pss_anon, "pss_anon_bytes", BYTES, SUM(ANON, anon_residual),
	   "the sum over all processes");
JSON_FIELD(anon_residual, "anon_residual_bytes", CHANGE,
	   value_signed(b->residual_known, b->anon_residual), "the machine's value less the sum");
JSON_FIELD(mapped, "mapped_bytes", BYTES, MEMINFO(MAPPED), "Mapped");
JSON_FIELD(pss_mapped, "pss_mapped_bytes", BYTES, SUM(MAPPED, mapped_residual),
	   "the sum of pss_file and pss_shmem over all processes");
JSON_FIELD(mapped_residual, "mapped_residual_bytes", CHANGE,
	   value_signed(b->residual_known, b->mapped_residual), "the machine's value less the sum");
JSON_FIELD(unattributed, "swap_unattributed_bytes", BYTES,
	   value_bytes(b->swap_unattributed_known, b->swap_unattributed),
	   "swap in use that is in no swap_pss_bytes of a process");
static FIELDS(machine, &field_anon, &field_pss_anon, &field_anon_residual, &field_mapped,
	      &field_pss_mapped, &field_mapped_residual, &field_unattributed);

/* ---- the document ---- */

#undef ROW
#define ROW                                                                                        \
	const struct compare_report *r = row;                                                      \
	const struct comparison *c = r->comparison;                                                \
	(void)c

OBJECT(summary, "summary", &sums, &r->sums,
       "the number of cells with each verdict, and of all; also of those that are not shown");
JSON_FIELD(bound, "bound_bytes", BYTES, value_bytes(c->approximate, c->bound),
	   "the maximum error of /proc/PID/status on this kernel. Null if it is exact");
JSON_FIELD(bound_per, "bound_per", TEXT,
	   value_text(!c->approximate ? NULL
		      : c->per_thread ? "thread"
				      : "process"),
	   "bound_bytes is the error for each process or for each thread");
OBJECT(cost, "cost", &cost, &r->cost, "the cost of reading all processes once");
OBJECT(system, "system", &machine, r->snapshot, "the machine");
ROWS(cells, "cells", &cells, struct compare_cell, true, c->count ? c->row->cell : NULL,
     c->count ? c->count * c->row->count : 0, "the values that differ; with -a all of them",
     FIELD_KNOWN | FIELD_LINES | FIELD_END_LINE, .shown = is_shown);
FIELDS(compare_document, &field_summary, &field_bound, &field_bound_per, &field_cost, &field_system,
       &field_cells);

SENTENCES(
	compare_said, &compare_document, NULL,
	"one reading: BPF {cost.bpf_us}[, {cost.bpf_reads} read{s}]; /proc {cost.proc_us}, "
	"{cost.proc_files} file{s}[, {cost.proc_reads} read{s}]",
	"machine: [AnonPages {system.anon_bytes}, all PSS_ANON {system.pss_anon_bytes}, left over "
	"{system.anon_residual_bytes}; Mapped {system.mapped_bytes}, all PSS_FILE and PSS_SHMEM "
	"{system.pss_mapped_bytes}, left over {system.mapped_residual_bytes}"
	"||totals not compared: the PSS of some processes is missing]",
	"/proc/PID/status is approximate on this kernel: its counters lag by up to {bound_bytes} "
	"for each {bound_per}");
SENTENCES(compare_verdict, &compare_document, NULL,
	  "{summary.processes} process{es}, {summary.cells} value{s}: {summary.same} same"
	  "[, {summary.moved+} moved][, {summary.approximate+} approximate][, {summary.gone+} gone]"
	  "[, {summary.denied+} denied][, {summary.timeout+} timeout]"
	  "[; {summary.different+} DIFFERENT||; no unexplained difference]");
