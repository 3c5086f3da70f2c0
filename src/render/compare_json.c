// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.compare, version 1.0; src/dist/zmem.compare.schema.json says the same for
 * machines. One top-level key and one cell a line.
 */
#include "render/json_head.h"
#include "zmem/render.h"

static void put_summary(struct json_writer *w, const struct comparison *c)
{
	static const struct json_key key[COMPARE_VERDICTS] = {
		[COMPARE_SAME] = JSON_KEY_OF("same"),
		[COMPARE_MOVED] = JSON_KEY_OF("moved"),
		[COMPARE_APPROXIMATE] = JSON_KEY_OF("approximate"),
		[COMPARE_GONE] = JSON_KEY_OF("gone"),
		[COMPARE_DENIED] = JSON_KEY_OF("denied"),
		[COMPARE_TIMEOUT] = JSON_KEY_OF("timeout"),
		[COMPARE_DIFFERENT] = JSON_KEY_OF("different"),
	};
	struct compare_sums sums;

	compare_sum(c, &sums);
	json_newline(w);
	JSON_KEY(w, "summary");
	json_begin(w, '{');
	JSON_KEY(w, "processes");
	json_u64(w, sums.processes);
	JSON_KEY(w, "cells");
	json_u64(w, sums.cells);
	for (int i = 0; i < COMPARE_VERDICTS; i++) {
		json_key(w, key[i]);
		json_u64(w, sums.verdict[i]);
	}
	json_end(w, '}');
	json_newline(w);
	JSON_KEY(w, "bound_bytes");
	json_known_i64(w, c->approximate, (int64_t)c->bound);
	json_newline(w);
	JSON_KEY(w, "bound_per");
	json_string(w, !c->approximate ? NULL : c->per_thread ? "thread" : "process");
}

static void put_cost(struct json_writer *w, const struct compare_cost *cost)
{
	json_newline(w);
	JSON_KEY(w, "cost");
	json_begin(w, '{');
	JSON_KEY(w, "bpf_us");
	json_u64(w, cost->bpf_us);
	JSON_KEY(w, "proc_us");
	json_u64(w, cost->proc_us);
	JSON_KEY(w, "proc_files");
	json_u64(w, cost->proc_files);
	JSON_KEY(w, "bpf_reads");
	json_known_i64(w, cost->reads_known, (int64_t)cost->bpf_reads);
	JSON_KEY(w, "proc_reads");
	json_known_i64(w, cost->reads_known, (int64_t)cost->proc_reads);
	json_end(w, '}');
}

static void put_figure(struct json_writer *w, const struct meminfo *m, enum meminfo_figure f)
{
	json_known_i64(w, meminfo_has(m, f), (int64_t)m->value[f]);
}

static void put_system(struct json_writer *w, const struct result *books)
{
	const struct meminfo *m = &books->snapshot->system.meminfo;
	const struct machine_balance *balance = &books->snapshot->balance;
	bool known = balance->residual_known;

	json_newline(w);
	JSON_KEY(w, "system");
	json_begin(w, '{');
	JSON_KEY(w, "anon_bytes");
	put_figure(w, m, MEMINFO_ANON);
	JSON_KEY(w, "pss_anon_bytes");
	json_known_i64(w, known, (int64_t)m->value[MEMINFO_ANON] - balance->anon_residual);
	JSON_KEY(w, "anon_residual_bytes");
	json_known_i64(w, known, balance->anon_residual);
	JSON_KEY(w, "mapped_bytes");
	put_figure(w, m, MEMINFO_MAPPED);
	JSON_KEY(w, "pss_mapped_bytes");
	json_known_i64(w, known, (int64_t)m->value[MEMINFO_MAPPED] - balance->mapped_residual);
	JSON_KEY(w, "mapped_residual_bytes");
	json_known_i64(w, known, balance->mapped_residual);
	JSON_KEY(w, "swap_unattributed_bytes");
	json_known_i64(w, balance->swap_unattributed_known, (int64_t)balance->swap_unattributed);
	json_end(w, '}');
}

static void put_cell(struct json_writer *w, const struct process *p,
		     const struct compare_cell *cell)
{
	int64_t difference = 0;
	bool known = compare_difference(cell, &difference);

	json_newline(w);
	json_begin(w, '{');
	JSON_KEY(w, "pid");
	json_i64(w, p->pid);
	JSON_KEY(w, "name");
	json_string(w, p->name);
	JSON_KEY(w, "counter");
	json_string(w, counter_table[cell->counter].key);
	JSON_KEY(w, "bpf_bytes");
	json_known_i64(w, cell->bpf_known, (int64_t)cell->bpf);
	JSON_KEY(w, "proc_before_bytes");
	json_known_i64(w, cell->proc_known, (int64_t)cell->proc_before);
	JSON_KEY(w, "proc_after_bytes");
	json_known_i64(w, cell->proc_known, (int64_t)cell->proc_after);
	JSON_KEY(w, "difference_bytes");
	json_known_i64(w, known, difference);
	JSON_KEY(w, "verdict");
	json_string(w, compare_verdict_name(cell->verdict));
	json_end(w, '}');
}

void render_compare_json(struct strbuf *out, const struct compare_report *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;
	const struct snapshot *s = r->books->snapshot;
	const struct comparison *c = r->comparison;

	json_begin(w, '{');
	json_head(w, "zmem.compare", "1.0", s->time_ms);
	json_host(w, &s->host);
	put_summary(w, c);
	put_cost(w, &r->cost);
	put_system(w, r->books);
	json_newline(w);
	JSON_KEY(w, "cells");
	json_begin(w, '[');
	for (size_t i = 0; i < c->count; i++) {
		for (size_t k = 0; k < c->row[i].count; k++) {
			const struct compare_cell *cell = &c->row[i].cell[k];

			if (compare_shown(cell, r->all))
				put_cell(w, c->row[i].process, cell);
		}
	}
	strbuf_putc(out, '\n');
	json_end(w, ']');
	strbuf_putc(out, '\n');
	json_end(w, '}');
	strbuf_putc(out, '\n');
}
