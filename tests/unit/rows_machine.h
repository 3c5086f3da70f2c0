/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A machine with any number of equal processes, for tests of rows. */
#ifndef TESTS_ROWS_MACHINE_H
#define TESTS_ROWS_MACHINE_H

#include <stdlib.h>
#include <string.h>

#include "query/order.h"

struct machine {
	struct snapshot snapshot;
	struct process_list list; /* its processes */
	struct rows rows;	  /* a row for each of them */
	struct order order;
};

static inline const struct field *column(const char *key)
{
	return process_field(key);
}

static inline struct machine machine_of(size_t count)
{
	struct machine made = {.order.keys = {{column("pss")}, 1}}, *m = &made;

	for (size_t i = 0; i < count; i++) {
		struct process *p = snapshot_add(&m->snapshot);

		assert_non_null(p);
		p->pid = (pid_t)i + 1;
		p->start_ns = i;
		p->name = "a";
		p->threads = 1;
		p->mm_owner = true;
		p->mm_id = (uint32_t)i + 1;
		p->pss_status = PSS_OK;
		p->pss_source = PSS_FROM_KERNEL;
		p->counters_source = FROM_BPF;
		process_set(p, COUNTER_RSS, 100);
		process_set(p, COUNTER_PSS, 10);
	}
	assert_int_equal(process_list_reserve(&m->list, count), 0);
	for (size_t i = 0; i < count; i++)
		m->list.item[m->list.count++] = &m->snapshot.process[i];
	assert_int_equal(rows_of(&m->rows, m->list.item, count), 0);
	return made;
}

static inline void machine_done(struct machine *m)
{
	process_list_done(&m->list);
	rows_done(&m->rows);
	snapshot_done(&m->snapshot);
}

static inline struct process *at(struct machine *m, pid_t pid)
{
	return &m->snapshot.process[pid - 1];
}

/* The row of at(), wherever it is. */
static inline struct row *row_at(struct machine *m, pid_t pid)
{
	size_t i = 0;

	while (i < m->rows.count && m->rows.item[i].process != at(m, pid))
		i++;
	assert_true(i < m->rows.count);
	return &m->rows.item[i];
}

#endif
