// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/peak.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/peak_sample.h"
#include "model/process_list.h"
#include "proc/status.h"
#include "watch/peak_watch.h"

/* Between ticks: a part of the time so far, within bounds. */
#define TICK_PARTS 500
#define TICK_LEAST 10000
#define TICK_MOST  100000
/* PSS and samples take one part in so many of the time. */
#define COST_PARTS   20 /* PSS */
#define SAMPLE_PARTS 5
#define PSS_LEAST    50000   /* between walks */
#define PSS_SLOW     1000000 /* the same, if the sum has hardly grown */
#define PSS_MORE     50	     /* one part in so many is more than that */
#define PASSES	     8	     /* over /proc, for descendants */
#define THREAD_LAG   63	     /* pages that a thread holds back, before Linux 6.2 */

/* A part of the peak of a process that has ended since. */
struct held {
	pid_t pid;
	uint64_t start;
	uint64_t number; /* of the highest sum */
	int64_t most;
	__s64 pages[ZMEM_RSS_COUNT];
	char name[16];
};

struct row {
	struct peak_process p;
	uint64_t start;
};

struct pss_row {
	pid_t pid;
	uint64_t pss;
};

struct peak_meter {
	const struct procfs *proc;
	struct peak_watch *watch; /* NULL: samples */
	pid_t *added;		  /* what was asked for, without descendants */
	size_t addeds, added_room;
	struct source *source;	  /* of samples, or of PSS; NULL: none */
	struct snapshot snapshot; /* what it read last */
	uint64_t page;
	uint64_t start_us, stop_us;
	int error;
	/* exact */
	struct row *row;
	size_t rows, rows_room;
	struct held *held;
	size_t helds, held_room;
	uint64_t left_out; /* processes without a row */
	/* samples */
	struct peak_tree tree;
	struct peak_bytes now, most;
	uint64_t most_us, interval_us;
	uint32_t most_live;
	bool sampled;
	/* PSS */
	const char *pss_reason;
	struct process_list live;
	struct process *live_process;
	size_t live_count, live_room;
	struct pss_row *pss_row;
	size_t pss_rows, pss_room;
	uint64_t pss, pss_rss, pss_us, pss_next_us;
	uint64_t pss_tried_rss;
	bool pss_known;
	/* the curve */
	struct peak_point point[PEAK_POINTS];
	size_t points;
	uint64_t point_us; /* one for so much time */
	uint64_t point_most, point_end;
	struct peak_process *result;
};

/* ---- opening ---- */

static int open_samples(struct peak_meter *m, struct diag *diag)
{
	const struct source_request request = {
		.choice = SOURCE_PROC, .pin = PIN_NOT, .readers = 1, .continuous = true};

	return source_open(&request, m->proc, diag, &m->source);
}

static void open_pss(struct peak_meter *m)
{
	const struct source_request request = {.choice = SOURCE_BPF,
					       .pin = PIN_NOT,
					       .readers = 1,
					       .pss = true,
					       .continuous = true};
	cleanup(diag_clear) struct diag diag = {};

	if (source_open(&request, m->proc, &diag, &m->source) < 0) {
		m->source = NULL;
		m->pss_reason =
			"the kernel's page tables cannot be read (zmem-bpf doctor says why)";
	} else if (source_pss_refusal(m->source)) {
		m->pss_reason = "PSS does not come from the kernel (zmem-bpf doctor says why)";
	}
}

int peak_meter_open(enum source_choice choice, const struct procfs *proc, struct diag *diag,
		    struct peak_meter **ret)
{
	struct peak_meter *m = calloc(1, sizeof(*m));
	int r = -ENOTSUP;

	if (!m)
		return -ENOMEM;
	m->proc = proc;
	m->page = (uint64_t)sysconf(_SC_PAGESIZE);
	m->point_us = TICK_LEAST;
	if (choice != SOURCE_PROC)
		r = peak_watch_open(diag, &m->watch);
	if (r == 0)
		open_pss(m);
	else
		m->watch = NULL;
	if (r < 0 && choice != SOURCE_BPF) {
		m->pss_reason = "PSS is not read with samples";
		r = open_samples(m, diag);
	}
	if (r < 0)
		peak_meter_close(m);
	else
		*ret = m;
	return r;
}

void peak_meter_close(struct peak_meter *m)
{
	if (!m)
		return;
	peak_watch_close(m->watch);
	if (m->source)
		source_close(m->source);
	snapshot_done(&m->snapshot);
	peak_tree_done(&m->tree);
	free(m->added);
	free(m->row);
	free(m->held);
	free(m->live_process);
	free(m->live.item);
	free(m->pss_row);
	free(m->result);
	free(m);
}

enum peak_method peak_meter_method(const struct peak_meter *m)
{
	return m->watch ? PEAK_EXACT : PEAK_SAMPLE;
}

bool peak_meter_each(const struct peak_meter *m)
{
	return m->watch && peak_watch_each(m->watch);
}

/* ---- processes ---- */

enum { NOT_KNOWN, NOT_OURS, OURS };

struct family {
	const struct procfs *proc;
	struct child {
		pid_t pid, ppid;
		int ours;
	} * child;
	size_t count, capacity;
};

static int add_child(void *arg, pid_t pid)
{
	struct family *f = arg;
	struct proc_stat stat;
	cleanup_close int fd = procfs_open_pid(f->proc, pid);

	if (fd < 0 || proc_stat_read(fd, "stat", &stat) < 0)
		return 0;
	if (!array_room(&f->child, f->count, &f->capacity, 256))
		return -ENOMEM;
	f->child[f->count++] = (struct child){.pid = pid, .ppid = stat.ppid};
	return 0;
}

/* Whether it descends from an added process, found once for all on the way up. */
static int find_out(const struct peak_meter *m, const struct family *f, struct child *child)
{
	struct child *c = child, *last = NULL;
	int ours = NOT_OURS;

	while (c && c->ours == NOT_KNOWN) {
		last = c;
		/* Pids are used again: a way up that comes back here does not count. */
		c->ours = NOT_OURS;
		if (bsearch(&c->ppid, m->added, m->addeds, sizeof(*m->added), compare_leading_pid))
			ours = OURS;
		c = ours == OURS ? NULL
				 : bsearch(&c->ppid, f->child, f->count, sizeof(*c),
					   compare_leading_pid);
	}
	if (c)
		ours = c->ours;
	for (c = ours == OURS && last ? child : NULL; c;) {
		c->ours = OURS;
		c = c == last ? NULL
			      : bsearch(&c->ppid, f->child, f->count, sizeof(*c),
					compare_leading_pid);
	}
	return ours;
}

int peak_meter_add_descendants(struct peak_meter *m)
{
	if (!m->watch || !m->addeds)
		return 0;
	qsort(m->added, m->addeds, sizeof(*m->added), compare_leading_pid);
	/* What these fork meanwhile is found by the next pass, until one finds none. */
	for (int pass = 0; pass < PASSES; pass++) {
		struct family f = {.proc = m->proc};
		uint64_t before = peak_watch_state(m->watch)->all;
		int r = procfs_each_pid(m->proc, add_child, &f);

		if (f.count)
			qsort(f.child, f.count, sizeof(*f.child), compare_leading_pid);
		for (size_t i = 0; r >= 0 && i < f.count; i++) {
			if (find_out(m, &f, &f.child[i]) == OURS)
				r = peak_watch_add(m->watch, f.child[i].pid, false);
			/* The report counts processes without room. */
			r = r == -ESRCH || r == -ENOSPC ? 0 : r;
		}
		free(f.child);
		if (r < 0 || peak_watch_state(m->watch)->all == before)
			return r < 0 ? r : 0;
	}
	return 0;
}

int peak_meter_add(struct peak_meter *m, pid_t pid, bool later)
{
	int r;

	if (!m->watch)
		return (kill(pid, 0) == 0 || errno == EPERM) ? peak_tree_add(&m->tree, pid)
							     : -ESRCH;
	if (!array_room(&m->added, m->addeds, &m->added_room, 64))
		return -ENOMEM;
	r = peak_watch_add(m->watch, pid, later);
	if (r == 0)
		m->added[m->addeds++] = pid;
	return r;
}

bool peak_meter_ended(const struct peak_meter *m)
{
	return m->watch ? peak_watch_state(m->watch)->visited == 0
			: m->sampled && peak_tree_ended(&m->tree);
}

uint64_t peak_meter_so_far(const struct peak_meter *m)
{
	return m->watch ? (uint64_t)peak_watch_state(m->watch)->most * m->page : m->most.rss;
}

/* ---- messages ---- */

static struct peak_bytes bytes_of(const struct peak_meter *m, const __s64 *pages)
{
	struct peak_bytes b;
	uint64_t part[ZMEM_RSS_COUNT];

	/* A page that one CPU counts off before another one has counted it on: for a moment. */
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		part[i] = pages[i] > 0 ? (uint64_t)pages[i] * m->page : 0;
	b.anon = part[ZMEM_RSS_ANON];
	b.file = part[ZMEM_RSS_FILE];
	b.shmem = part[ZMEM_RSS_SHMEM];
	b.swap = part[ZMEM_RSS_SWAP];
	b.rss = b.anon + b.file + b.shmem;
	return b;
}

static int compare_most(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return ORDER_OF(y->p.most, x->p.most);
}

static struct row *add_row(struct peak_meter *m)
{
	/* Without room, the rows with the lowest peaks are left out. */
	if (m->rows >= (size_t)2 * PEAK_PROCESSES) {
		qsort(m->row, m->rows, sizeof(*m->row), compare_most);
		m->left_out += m->rows - PEAK_PROCESSES;
		m->rows = PEAK_PROCESSES;
	}
	if (!array_room(&m->row, m->rows, &m->rows_room, 64))
		return NULL;
	m->row[m->rows] = (struct row){};
	return &m->row[m->rows++];
}

static int add_exit(struct peak_meter *m, const struct zmem_peak_message *msg)
{
	struct row *row = add_row(m);

	if (!row)
		return -ENOMEM;
	row->start = msg->start;
	row->p = (struct peak_process){.pid = msg->pid,
				       .ppid = msg->ppid,
				       .most = msg->most > 0 ? (uint64_t)msg->most * m->page : 0,
				       .shared = msg->shared,
				       .ended = true};
	memcpy(row->p.name, msg->comm, sizeof(row->p.name) - 1);
	return 0;
}

static int add_held(struct peak_meter *m, const struct zmem_peak_message *msg)
{
	uint64_t number = peak_watch_state(m->watch)->number;
	struct held *h;
	size_t kept = 0;

	if (msg->number != number)
		return 0;
	/* Parts of earlier highest sums do not belong to the peak. */
	if (m->helds && m->held[m->helds - 1].number != number) {
		for (size_t i = 0; i < m->helds; i++) {
			if (m->held[i].number == number)
				m->held[kept++] = m->held[i];
		}
		m->helds = kept;
	}
	if (!array_room(&m->held, m->helds, &m->held_room, 64))
		return -ENOMEM;
	h = &m->held[m->helds++];
	*h = (struct held){
		.pid = msg->pid, .start = msg->start, .number = number, .most = msg->most};
	memcpy(h->pages, msg->pages, sizeof(h->pages));
	memcpy(h->name, msg->comm, sizeof(h->name) - 1);
	return 0;
}

static int receive_message(void *arg, const struct zmem_peak_message *msg)
{
	struct peak_meter *m = arg;

	return msg->what == ZMEM_PEAK_EXIT ? add_exit(m, msg) : add_held(m, msg);
}

/* ---- the curve ---- */

static void join_points(struct peak_meter *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->points; i += 2) {
		struct peak_point p = m->point[i + 1 < m->points ? i + 1 : i];

		if (m->point[i].rss > p.rss)
			p.rss = m->point[i].rss;
		m->point[kept++] = p;
	}
	m->points = kept;
	m->point_us *= 2;
}

static void add_point(struct peak_meter *m, uint64_t now_us, uint64_t rss, bool last)
{
	uint64_t offset = now_us - m->start_us;

	if (rss > m->point_most)
		m->point_most = rss;
	if (!last && offset < m->point_end)
		return;
	if (m->points == PEAK_POINTS)
		join_points(m);
	m->point[m->points++] = (struct peak_point){offset, m->point_most};
	m->point_most = 0;
	m->point_end = offset + m->point_us;
}

/* ---- PSS ---- */

static int add_live(void *arg, const struct zmem_peak_process *process,
		    const struct zmem_peak_target *target)
{
	struct peak_meter *m = arg;

	(void)target;
	if (process->pid <= 0 || !process->mm)
		return 0;
	if (!array_room(&m->live_process, m->live_count, &m->live_room, 64))
		return -ENOMEM;
	m->live_process[m->live_count++] = (struct process){.pid = process->pid};
	return 0;
}

static int list_live(struct peak_meter *m)
{
	int r;

	m->live_count = 0;
	r = peak_watch_each_process(m->watch, add_live, m);
	free(m->live.item);
	m->live.item = calloc(m->live_count + 1, sizeof(*m->live.item));
	if (!m->live.item)
		return -ENOMEM;
	for (size_t i = 0; i < m->live_count; i++)
		m->live.item[i] = &m->live_process[i];
	return r;
}

/* Keeps PSS of the highest sum that was met. */
static int store_highest_pss(struct peak_meter *m, uint64_t now_us)
{
	uint64_t pss = 0, rss = 0;
	bool whole = m->snapshot.count > 0;

	for (size_t i = 0; i < m->snapshot.count; i++) {
		const struct process *p = &m->snapshot.process[i];

		if (p->kind != PROCESS_USER || !p->mm_owner)
			continue;
		whole &= process_has(p, COUNTER_PSS);
		pss += process_has(p, COUNTER_PSS) ? process_value(p, COUNTER_PSS) : 0;
		rss += process_has(p, COUNTER_RSS) ? process_value(p, COUNTER_RSS) : 0;
	}
	if (!whole || rss <= m->pss_rss)
		return 0;
	m->pss_rows = 0;
	for (size_t i = 0; i < m->snapshot.count; i++) {
		const struct process *p = &m->snapshot.process[i];

		if (!process_has(p, COUNTER_PSS))
			continue;
		if (!array_room(&m->pss_row, m->pss_rows, &m->pss_room, 64))
			return -ENOMEM;
		m->pss_row[m->pss_rows++] = (struct pss_row){p->pid, process_value(p, COUNTER_PSS)};
	}
	m->pss = pss;
	m->pss_rss = rss;
	m->pss_us = now_us - m->start_us;
	m->pss_known = true;
	return 0;
}

static bool pss_is_due(const struct peak_meter *m, uint64_t now_us)
{
	const struct zmem_peak_state *s = peak_watch_state(m->watch);
	uint64_t rss = s->rss > 0 ? (uint64_t)s->rss * m->page : 0;
	uint64_t wait = rss > m->pss_tried_rss + m->pss_tried_rss / PSS_MORE ? 0 : PSS_SLOW;

	return m->source && !m->pss_reason && rss > m->pss_rss && rss > m->pss_tried_rss &&
	       now_us >= m->pss_next_us + wait;
}

static int read_pss(struct peak_meter *m)
{
	const struct zmem_peak_state *s = peak_watch_state(m->watch);
	uint64_t begin_us = clock_us(CLOCK_MONOTONIC), end_us, cost;
	int r;

	m->pss_tried_rss = s->rss > 0 ? (uint64_t)s->rss * m->page : 0;
	r = list_live(m);
	if (r == 0)
		r = source_collect_some(m->source, m->live.item, m->live_count, &m->snapshot);
	end_us = clock_us(CLOCK_MONOTONIC);
	cost = COST_PARTS * (end_us - begin_us);
	m->pss_next_us = end_us + (cost < PSS_LEAST ? PSS_LEAST : cost);
	if (r == -ENOMEM)
		return r;
	return r < 0 ? 0 : store_highest_pss(m, begin_us + (end_us - begin_us) / 2);
}

/* ---- ticks ---- */

void peak_meter_begin(struct peak_meter *m)
{
	m->start_us = clock_us(CLOCK_MONOTONIC);
	m->point_end = m->point_us;
}

static int sample(struct peak_meter *m, uint64_t *ret_wait_us)
{
	uint64_t begin_us = clock_us(CLOCK_MONOTONIC), end_us;
	uint32_t live = 0;
	int r = source_collect(m->source, &m->snapshot);

	if (r == 0)
		r = peak_tree_update(&m->tree, &m->snapshot, &m->now, &live);
	if (r < 0)
		return r;
	end_us = clock_us(CLOCK_MONOTONIC);
	if (m->now.rss > m->most.rss) {
		m->most = m->now;
		m->most_us = begin_us;
		m->most_live = live;
		for (size_t i = 0; i < m->tree.count; i++)
			m->tree.member[i].row.at = m->tree.member[i].now;
	}
	add_point(m, end_us, m->now.rss, false);
	m->interval_us = SAMPLE_PARTS * (end_us - begin_us);
	if (m->interval_us < TICK_LEAST)
		m->interval_us = TICK_LEAST;
	m->sampled = true;
	*ret_wait_us = m->interval_us;
	return 0;
}

int peak_meter_tick(struct peak_meter *m, uint64_t *ret_wait_us)
{
	uint64_t now_us = clock_us(CLOCK_MONOTONIC), wait = (now_us - m->start_us) / TICK_PARTS;
	int64_t recent;
	int r;

	if (!m->watch)
		return sample(m, ret_wait_us);
	recent = peak_watch_take_recent(m->watch);
	add_point(m, now_us, recent > 0 ? (uint64_t)recent * m->page : 0, false);
	r = peak_watch_read(m->watch, receive_message, m);
	if (r == 0 && pss_is_due(m, now_us))
		r = read_pss(m);
	*ret_wait_us = wait < TICK_LEAST ? TICK_LEAST : wait > TICK_MOST ? TICK_MOST : wait;
	return r;
}

/* ---- the end ---- */

static struct row *find_row(const struct peak_meter *m, pid_t pid, uint64_t start)
{
	for (size_t i = 0; i < m->rows; i++) {
		if (m->row[i].p.pid == pid && m->row[i].start == start)
			return &m->row[i];
	}
	return NULL;
}

static int add_part(struct peak_meter *m, const struct held *h)
{
	struct peak_bytes b = bytes_of(m, h->pages);
	struct row *row;

	if (!b.rss && !b.swap)
		return 0;
	row = find_row(m, h->pid, h->start);
	if (!row) {
		row = add_row(m);
		if (!row)
			return -ENOMEM;
		row->start = h->start;
		row->p.pid = h->pid;
		row->p.ended = true;
		row->p.most = h->most > 0 ? (uint64_t)h->most * m->page : 0;
		memcpy(row->p.name, h->name, sizeof(row->p.name));
	}
	/* A process that executes a program has two address spaces for a moment. */
	row->p.at.rss += b.rss;
	row->p.at.anon += b.anon;
	row->p.at.file += b.file;
	row->p.at.shmem += b.shmem;
	row->p.at.swap += b.swap;
	row->p.shared = false;
	return 0;
}

static int add_process_row(void *arg, const struct zmem_peak_process *process,
			   const struct zmem_peak_target *target)
{
	struct peak_meter *m = arg;
	struct row *row = add_row(m);
	int64_t most = target && target->most > process->most ? target->most : process->most;
	cleanup_close int fd = -1;
	struct proc_stat stat;

	if (!row)
		return -ENOMEM;
	row->start = process->start;
	row->p = (struct peak_process){.pid = process->pid,
				       .ppid = process->ppid,
				       .most = most > 0 ? (uint64_t)most * m->page : 0,
				       .shared = process->shared && !most};
	fd = process->pid > 0 ? procfs_open_pid(m->proc, process->pid) : -1;
	if (fd >= 0 && proc_stat_read(fd, "stat", &stat) == 0)
		memcpy(row->p.name, stat.comm, sizeof(row->p.name));
	else if (target)
		memcpy(row->p.name, target->comm, sizeof(row->p.name) - 1);
	return 0;
}

/* What has not changed since the highest sum is what it had then. */
static int add_target(void *arg, const struct zmem_peak_target *t)
{
	struct peak_meter *m = arg;
	bool changed = t->number == peak_watch_state(m->watch)->number;
	struct held h = {.pid = t->pid, .start = t->start, .most = t->most};

	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		h.pages[i] = changed ? t->at_high[i] : t->pages[i];
	memcpy(h.name, t->comm, sizeof(h.name) - 1);
	return add_part(m, &h);
}

static int finish_exact(struct peak_meter *m, struct peak *ret)
{
	const struct zmem_peak_state *s = peak_watch_state(m->watch);
	struct zmem_peak_high high;
	int64_t recent = peak_watch_take_recent(m->watch);
	int r;

	ret->missed = peak_watch_missed(m->watch);
	peak_watch_stop(m->watch);
	add_point(m, m->stop_us, recent > 0 ? (uint64_t)recent * m->page : 0, true);
	r = peak_watch_read(m->watch, receive_message, m);
	if (r == 0)
		r = peak_watch_each_process(m->watch, add_process_row, m);
	for (size_t i = 0; r == 0 && i < m->helds; i++) {
		if (m->held[i].number == s->number)
			r = add_part(m, &m->held[i]);
	}
	if (r == 0)
		r = peak_watch_each_target(m->watch, add_target, m);
	high = peak_watch_high(m->watch);
	ret->at = bytes_of(m, high.pages);
	ret->at.rss = high.rss > 0 ? (uint64_t)high.rss * m->page : 0;
	/* The parts were read a moment after the sum. */
	ret->at.anon = ret->at.file + ret->at.shmem < ret->at.rss
			       ? ret->at.rss - ret->at.file - ret->at.shmem
			       : 0;
	ret->offset_us = high.time / 1000 > m->start_us ? high.time / 1000 - m->start_us : 0;
	ret->held_by = high.processes;
	ret->error_known = true;
	ret->error = peak_watch_each(m->watch) ? 0 : (uint64_t)high.threads * THREAD_LAG * m->page;
	ret->all = s->all;
	ret->no_room = s->no_room;
	ret->lost = s->lost;
	ret->still = s->processes;
	return r;
}

static int finish_samples(struct peak_meter *m, struct peak *ret)
{
	uint64_t unused;
	int r = sample(m, &unused);

	if (r < 0)
		return r;
	add_point(m, m->stop_us, m->now.rss, true);
	ret->at = m->most;
	ret->offset_us = m->most_us > m->start_us ? m->most_us - m->start_us : 0;
	ret->held_by = m->most_live;
	ret->interval_us = m->interval_us;
	ret->unseen = !m->most.rss;
	ret->all = m->tree.count;
	for (size_t i = 0; i < m->tree.count; i++) {
		struct row *row = add_row(m);

		if (!row)
			return -ENOMEM;
		row->p = m->tree.member[i].row;
		row->p.shared = !row->p.most;
		ret->still += !row->p.ended;
	}
	return 0;
}

static int compare_result(const void *a, const void *b)
{
	const struct peak_process *x = a, *y = b;

	if (x->at.rss != y->at.rss)
		return ORDER_OF(y->at.rss, x->at.rss);
	return x->most != y->most ? ORDER_OF(y->most, x->most) : ORDER_OF(x->pid, y->pid);
}

static void set_pss(const struct peak_meter *m, struct peak_process *p)
{
	for (size_t i = 0; p->at.rss && !p->pss_known && i < m->pss_rows; i++) {
		if (m->pss_row[i].pid != p->pid)
			continue;
		p->pss = m->pss_row[i].pss;
		p->pss_known = true;
	}
}

int peak_meter_finish(struct peak_meter *m, struct peak *ret)
{
	int64_t real_us;
	int r;

	m->stop_us = clock_us(CLOCK_MONOTONIC);
	real_us = (int64_t)clock_us(CLOCK_REALTIME);
	*ret = (struct peak){.exit_code = -1, .method = peak_meter_method(m)};
	r = m->watch ? finish_exact(m, ret) : finish_samples(m, ret);
	m->result = calloc(m->rows + 1, sizeof(*m->result));
	if (r < 0 || !m->result)
		return r < 0 ? r : -ENOMEM;
	for (size_t i = 0; i < m->rows; i++) {
		m->result[i] = m->row[i].p;
		set_pss(m, &m->result[i]);
	}
	qsort(m->result, m->rows, sizeof(*m->result), compare_result);
	ret->process = m->result;
	ret->processes = m->rows < PEAK_PROCESSES ? m->rows : PEAK_PROCESSES;
	ret->duration_us = m->stop_us - m->start_us;
	ret->time_ms = (real_us - (int64_t)(ret->duration_us - ret->offset_us)) / 1000;
	ret->pss_known = m->pss_known;
	ret->pss = m->pss;
	ret->pss_rss = m->pss_rss;
	ret->pss_offset_us = m->pss_us;
	ret->pss_reason = m->pss_known	  ? NULL
			  : m->pss_reason ? m->pss_reason
					  : "it ended before PSS could be read";
	ret->point = m->point;
	ret->points = m->points;
	return 0;
}
