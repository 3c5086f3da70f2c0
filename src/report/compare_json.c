// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.compare, version 1.0, as specified in src/dist/documents.txt. Each
 * top-level key and each cell has its own line.
 */
#include "report/json.h"
#include "report/report.h"

static void put_summary(struct json_writer *w, const struct comparison *c)
{
	struct compare_sums sums;

	compare_sum(c, &sums);
	json_newline(w);
	json_object(w, "summary");
	json_u64(w, "processes", sums.processes);
	json_u64(w, "cells", sums.cells);
	json_u64(w, "same", sums.verdict[COMPARE_SAME]);
	json_u64(w, "moved", sums.verdict[COMPARE_MOVED]);
	json_u64(w, "approximate", sums.verdict[COMPARE_APPROXIMATE]);
	json_u64(w, "gone", sums.verdict[COMPARE_GONE]);
	json_u64(w, "denied", sums.verdict[COMPARE_DENIED]);
	json_u64(w, "timeout", sums.verdict[COMPARE_TIMEOUT]);
	json_u64(w, "different", sums.verdict[COMPARE_DIFFERENT]);
	json_end(w, '}');
	json_newline(w);
	json_known(w, "bound_bytes", c->approximate, c->bound);
	json_newline(w);
	json_string(w, "bound_per", !c->approximate ? NULL : c->per_thread ? "thread" : "process");
}

static void put_cost(struct json_writer *w, const struct compare_cost *cost)
{
	json_newline(w);
	json_object(w, "cost");
	json_u64(w, "bpf_us", cost->bpf_us);
	json_u64(w, "proc_us", cost->proc_us);
	json_u64(w, "proc_files", cost->proc_files);
	json_known(w, "bpf_reads", cost->reads_known, cost->bpf_reads);
	json_known(w, "proc_reads", cost->reads_known, cost->proc_reads);
	json_end(w, '}');
}

static void put_system(struct json_writer *w, const struct result *result)
{
	const struct meminfo *m = &result->snapshot->system.meminfo;
	const struct machine_balance *balance = &result->snapshot->balance;
	bool known = balance->residual_known;

	json_newline(w);
	json_object(w, "system");
	json_meminfo(w, "anon_bytes", m, MEMINFO_ANON);
	json_known_i64(w, "pss_anon_bytes", known,
		       (int64_t)m->value[MEMINFO_ANON] - balance->anon_residual);
	json_known_i64(w, "anon_residual_bytes", known, balance->anon_residual);
	json_meminfo(w, "mapped_bytes", m, MEMINFO_MAPPED);
	json_known_i64(w, "pss_mapped_bytes", known,
		       (int64_t)m->value[MEMINFO_MAPPED] - balance->mapped_residual);
	json_known_i64(w, "mapped_residual_bytes", known, balance->mapped_residual);
	json_known(w, "swap_unattributed_bytes", balance->swap_unattributed_known,
		   balance->swap_unattributed);
	json_end(w, '}');
}

static void put_cell(struct json_writer *w, const struct process *p,
		     const struct compare_cell *cell)
{
	int64_t difference = 0;
	bool known = compare_difference(cell, &difference);

	json_begin_line(w, '{');
	json_i64(w, "pid", p->pid);
	json_string(w, "name", p->name);
	json_string(w, "counter", counter_table[cell->counter].key);
	json_known(w, "bpf_bytes", cell->bpf_known, cell->bpf);
	json_known(w, "proc_before_bytes", cell->proc_known, cell->proc_before);
	json_known(w, "proc_after_bytes", cell->proc_known, cell->proc_after);
	json_known_i64(w, "difference_bytes", known, difference);
	json_string(w, "verdict", compare_verdict_name(cell->verdict));
	json_end(w, '}');
}

void render_compare_json(struct strbuf *out, const struct compare_report *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;
	const struct comparison *c = r->comparison;

	json_document_begin(w, "zmem.compare", "1.0", r->balance->snapshot);
	put_summary(w, c);
	put_cost(w, &r->cost);
	put_system(w, r->balance);
	json_newline(w);
	json_array(w, "cells");
	for (size_t i = 0; i < c->count; i++) {
		for (size_t k = 0; k < c->row[i].count; k++) {
			const struct compare_cell *cell = &c->row[i].cell[k];

			if (compare_shown(cell, r->all))
				put_cell(w, c->row[i].process, cell);
		}
	}
	json_end_lines(w, ']');
	json_document_end(w);
}
