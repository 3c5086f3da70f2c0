// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What top says of a process and of a group: their fields, and values of sentences alone. */
#include "fields/top_said.h"

#include "fields/define.h"
#include "fields/descriptor_fields.h"
#include "fields/process_fields.h"

#define ROW                                                                                        \
	const struct detail_said *r = row;                                                         \
	const struct process *p = r->row.process;                                                  \
	const struct process *c = r->charged.process;                                              \
	(void)p, (void)c

SAID(p, OBJECT, value_row(&r->row), .fields = &process_fields);
SAID(name, TEXT, value_text(r->name));
SAID(group, TEXT, value_text(p->pid ? NULL : r->group));
SAID(below, AMOUNT,
     value_signed(p->pid && p->kind == PROCESS_SUM, (int64_t)row_processes(&r->row) - 1));
FLAG(ended, r->ended);

/* Of its cgroup, which a process has no counters of. */
SAID(cgroup, OBJECT, value_row(&r->charged), .fields = &process_fields);
FLAG(is_charged, process_has(c, COUNTER_MEM_CURRENT) || process_has(c, COUNTER_MEM_LIMIT));
FLAG(above, c->memcg_above);
FLAG(shows_cmdline, r->shows_cmdline);
SAID(no_charge, TEXT, value_text(snapshot_is_kill(of) ? NO_CHARGE_AT_KILL : NULL));

SAID(least, BYTES, value_bytes(r->most, r->least));
SAID(most, BYTES, value_bytes(r->most, r->most));
SAID(history_ms, AMOUNT, value_signed(true, r->history_ms));
FLAG(no_pss, p->pss_status != PSS_OK && p->kind != PROCESS_SUM);
static struct value value_objects(const struct snapshot *s, const struct process *p)
{
	size_t count;
	const struct kernel_object *object = kernel_objects_of(&s->kernel, p->pid, &count);

	return value_rows(p->pid && count, object, count);
}

JSON_FIELD(kernel_objects, "kernel_objects", ROWS, value_objects(of, p), "",
	   .fields = &kernel_object_fields, .row_size = sizeof(struct kernel_object));
static FIELDS(detail, &field_p, &field_name, &field_group, &field_below, &field_ended,
	      &field_cgroup, &field_is_charged, &field_above, &field_shows_cmdline,
	      &field_no_charge, &field_least, &field_most, &field_history_ms, &field_no_pss,
	      &field_kernel_objects);

SENTENCES(detail_title, &detail, NULL,
	  "[{p.pid} ]{name}[  {p.procs} process{es} of one {group}][  with {below+} below it]"
	  "[{?ended}  has ended or is filtered out]");
SENTENCES(detail_facts, &detail, NULL, "{?p.pid}[user {p.user|64}||uid {p.uid}]", "parent {p.ppid}",
	  "{?p.pid}threads {p.threads}", "oom_score_adj {p.oom_score_adj}",
	  "started {p.start_time_ms}");
SENTENCES(
	detail_cgroup, &detail, NULL, "{?shows_cmdline}{p.cmdline}", "cgroup {p.cgroup}",
	"{?p.cgroup}{?is_charged}       charged {cgroup.mem_current_bytes~}"
	"[ of {cgroup.mem_limit_bytes}||, no limit]"
	"[; {?cgroup.limit_up}of a cgroup above {cgroup.mem_left_bytes} of "
	"{cgroup.nearest_limit_bytes} is left][, {?above}of a cgroup above][: {no_charge}]",
	"{?p.cgroup}       anon {cgroup.mem_anon_bytes}[  file {cgroup.mem_file_bytes}]"
	"[  shmem {cgroup.mem_shmem_bytes}][  kernel {cgroup.mem_kernel_bytes}]"
	"[  sockets {cgroup.mem_sock_bytes}][  swap {cgroup.mem_swap_bytes}]"
	"[  zswap {cgroup.mem_zswap_bytes}][  waited {cgroup.psi_some_10} % of 10 s]",
	"{?p.cgroup}       in a second {cgroup.refaults_per_s} refaults"
	"[, {cgroup.reclaimed_per_s} pages reclaimed][, at its limit {cgroup.limit_hits_per_s} times]"
	"[, above memory.high {cgroup.high_hits_per_s} times][: {cgroup.strain}]");
SENTENCES(detail_kernel, &detail, NULL,
	  "kernel memory by descriptors {p.kernel_bytes}: {kernel_objects*4: {kind}[ {bytes+}]"
	  "[ {mapped_bytes+} mapped] (descriptor {descriptor})}");
SENTENCES(detail_history, &detail, NULL, "{least} to {most}[ in {history_ms}]");
SENTENCES(detail_no_pss, &detail, NULL, "{?no_pss}no PSS: {p.pss_status}");
