// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Splits what iterators write into records; record_decode.c decodes them. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/thread.h"
#include "model/zones.h"
#include "source/reader.h"
#include "zmem/setup.h"

/* At least the 8 pages of the kernel's own buffer, or records are split (kernel/bpf/bpf_iter.c). */
#define READ_SIZE (128 * 1024)

/* Visits that found no room: five seconds of them in a row end the read. */
#define READ_TRIES    20000
#define READ_PAUSE_NS 200000

/* How often a process is read before its walk is given up. */
#define WALK_TRIES 3
/* The most further visits to one process; at 32 Ki pages each that is 16 TiB. */
#define VISITS_MAX (128 * 1024)

_Static_assert(SOURCE_READERS_MAX <= ZMEM_MEMO_LANES, "each reader has a lane");

/* Shared by the readers of one collection. */
struct collection_state {
	const struct readers *from;
	struct snapshot *snapshot;
	pthread_mutex_t lock; /* for the snapshot and what is below */
	/*
	 * Processes with an unfinished or inconsistent walk, for a reader that is done: one huge
	 * process does not leave the other readers idle.
	 */
	struct zmem_pss_record *later;
	size_t later_count, later_capacity, later_taken;
};

struct reader {
	struct collection_state *c;
	union zmem_question share;
	int error;
	char buf[READ_SIZE];
};

static int add_record(struct reader *r, const struct zmem_pss_record *record)
{
	int err;

	pthread_mutex_lock(&r->c->lock);
	err = record_decode_one(record, &r->c->from->limits, r->c->snapshot);
	pthread_mutex_unlock(&r->c->lock);
	return err;
}

static int queue_visit(struct collection_state *c, const struct zmem_pss_record *record)
{
	bool room;

	pthread_mutex_lock(&c->lock);
	room = array_room(&c->later, c->later_count, &c->later_capacity, 16);
	if (room)
		c->later[c->later_count++] = *record;
	if (record->pages.work > c->snapshot->walk_entries)
		c->snapshot->walk_entries = record->pages.work;
	pthread_mutex_unlock(&c->lock);
	return room ? 0 : -ENOMEM;
}

/* Returns false if no process is left. */
static bool next_visit(struct collection_state *c, struct zmem_pss_record *ret)
{
	bool there;

	pthread_mutex_lock(&c->lock);
	there = c->later_taken < c->later_count;
	if (there)
		*ret = c->later[c->later_taken++];
	pthread_mutex_unlock(&c->lock);
	return there;
}

static bool has_pages(const struct zmem_pss_record *r)
{
	return r->record.kind == ZMEM_PROCESS && (r->record.valid & ZMEM_VALID_PAGES);
}

/* Receives one record of the walk over all processes. */
static int receive_record(struct reader *r, const void *data)
{
	struct zmem_pss_record record;

	record_copy(data, &record);
	if (has_pages(&record) && !(record.pages.flags & ZMEM_WALK_OFF) &&
	    !ZMEM_OTHER_USERS(record.record.flags) && !pages_consistent(&record))
		return queue_visit(r->c, &record);
	return add_record(r, &record);
}

/*
 * read(2) with a question. The kernel returns EAGAIN where all rooms of bpf/room.bpf.h are taken,
 * each for the time of one visit, and after it skipped very many tasks.
 */
static ssize_t read_asking(int fd, void *buf, size_t len, union zmem_question question,
			   uint64_t cursor)
{
	const struct timespec pause = {.tv_nsec = READ_PAUSE_NS};
	ssize_t n;

	for (int tries = 0;;) {
		n = syscall(SYS_read, fd, buf, len, ZMEM_ASK, question.bits, cursor);
		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
		if (errno == EAGAIN && ++tries == READ_TRIES)
			return -EBUSY;
		if (errno == EAGAIN)
			nanosleep(&pause, NULL);
	}
	return n < 0 ? -errno : n;
}

/* Receives all records of the iterator. */
static int drain(struct reader *r, int fd)
{
	size_t len = 0;

	for (;;) {
		ssize_t n = read_asking(fd, r->buf + len, sizeof(r->buf) - len, r->share, 0);
		size_t used = 0;
		long size;

		if (n < 0)
			return (int)n;
		if (n == 0)
			return len ? -EBADMSG : 0;
		len += (size_t)n;
		while ((size = record_size(r->buf + used, len - used)) > 0) {
			int err = receive_record(r, r->buf + used);

			if (err < 0)
				return err;
			used += (size_t)size;
		}
		if (size < 0)
			return (int)size;
		len -= used;
		memmove(r->buf, r->buf + used, len);
	}
}

/* ---- one process ---- */

/* The question selects the process in an iterator over all. */
static int open_one(const struct readers *from, pid_t pid)
{
	if (from->open_one)
		return from->open_one(from->state, pid);
	return from->asks ? from->open(from->state) : -EOPNOTSUPP;
}

/*
 * Reads the first record. The kernel goes on until it has as many bytes as are asked for, and would
 * look for a second record.
 */
static int read_first(int fd, union zmem_question question, uint64_t cursor,
		      struct zmem_pss_record *ret)
{
	_Alignas(struct zmem_record) char data[RECORD_MAX];
	size_t len = 0, want = sizeof(struct zmem_pss_record);
	long size = 0;

	while (!size) {
		ssize_t n = read_asking(fd, data + len, want - len, question, cursor);

		if (n <= 0)
			return n < 0 ? (int)n : len ? -EBADMSG : -ESRCH;
		len += (size_t)n;
		size = record_size(data, len);
		/* The record of a newer program is longer. */
		if (!size && len == want)
			want = ((const struct zmem_record *)data)->size;
	}
	if (size < 0)
		return (int)size;
	record_copy(data, ret);
	return 0;
}

/* Reads `pid`; its walk continues at the cursor, with the memos of a lane or none. */
static int visit(const struct readers *from, pid_t pid, unsigned lane, uint64_t cursor,
		 struct zmem_pss_record *ret)
{
	const union zmem_question question = {.pid = pid, .lane = (uint8_t)lane};
	cleanup_close int fd = open_one(from, pid);
	struct zmem_pss_record record;
	int r = fd < 0 ? fd : read_first(fd, question, cursor, &record);

	if (r < 0)
		return r;
	if (record.record.pid != pid)
		return -EBADMSG;
	*ret = record;
	return 0;
}

/* Finishes a walk that has begun. */
static int finish_walk(const struct readers *from, unsigned lane, struct zmem_pss_record *sum)
{
	struct zmem_pss_record part;

	for (int i = 0; i < VISITS_MAX && has_pages(sum) && sum->pages.cursor &&
			!(sum->pages.flags & ~(ZMEM_WALK_EXCLUSIVE | ZMEM_WALK_DRIFTED));
	     i++) {
		int r = visit(from, sum->record.pid, lane, sum->pages.cursor, &part);

		if (r < 0)
			return r;
		pages_add(sum, &part);
	}
	return 0;
}

/*
 * Reads the process until its walk adds up, at most WALK_TRIES times; the newest reading counts.
 * Of a large process that keeps moving the second reading is close enough.
 * What did not add up is read again without memos.
 */
static int repeat_walk(const struct readers *from, unsigned lane, struct zmem_pss_record *record)
{
	int r = finish_walk(from, lane, record);

	for (int i = 1;
	     r == 0 && i < WALK_TRIES && has_pages(record) && !pages_consistent(record) &&
	     !(record->pages.flags & ZMEM_WALK_OFF) && !(i > 1 && pages_within_tolerance(record));
	     i++) {
		r = visit(from, record->record.pid, 0, 0, record);
		if (r == 0)
			r = finish_walk(from, 0, record);
	}
	if (r == 0 && has_pages(record) && pages_within_tolerance(record) &&
	    !pages_consistent(record))
		record->pages.flags |= ZMEM_WALK_ACCEPTED;
	return r;
}

int readers_read_answer(const struct readers *readers, void *ret, size_t size)
{
	cleanup_close int fd = open_one(readers, getpid());
	ssize_t n = fd < 0 ? fd : read_asking(fd, ret, size, (union zmem_question){}, 0);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EBADMSG;
}

int readers_own_rss(const struct readers *readers, int64_t *ret_pages)
{
	struct zmem_pss_record record;
	int r = visit(readers, getpid(), 0, 0, &record);

	if (r < 0)
		return r;
	if (!(record.record.valid & ZMEM_VALID_RSS))
		return -ENODATA;
	*ret_pages = (int64_t)pages_resident(&record);
	return 0;
}

int reader_try(int fd)
{
	struct zmem_pss_record record;
	int r = read_first(fd, (union zmem_question){}, 0, &record);

	return r == -ESRCH ? -EBADMSG : r;
}

int readers_revisit(void *state, pid_t pid, struct snapshot *snapshot)
{
	const struct readers *readers = state;
	struct zmem_pss_record record;
	int r = visit(readers, pid, 0, 0, &record);

	if (r == 0)
		r = repeat_walk(readers, 0, &record);
	return r < 0 ? r : record_decode_one(&record, &readers->limits, snapshot);
}

/* ---- all processes ---- */

static int read_share(struct reader *r)
{
	const struct readers *from = r->c->from;
	int fd = from->open(from->state), err = fd < 0 ? fd : drain(r, fd);
	struct zmem_pss_record record;

	/* Each visit opens one of its own. */
	close_fd(&fd);

	while (err == 0 && next_visit(r->c, &record)) {
		err = repeat_walk(from, r->share.lane, &record);
		if (err == -ESRCH) /* the process has ended meanwhile */
			err = 0;
		else if (err == 0)
			err = add_record(r, &record);
	}
	return err;
}

static void *reader_main(void *arg)
{
	struct reader *r = arg;

	r->error = read_share(r);
	return NULL;
}

/* A reader keeps its memory from collection to collection. */
static struct reader *reader_prepare(struct readers *kept, unsigned i, struct collection_state *c,
				     unsigned shares)
{
	struct reader *r = kept->reader[i];

	if (!r) {
		r = malloc(sizeof(*r));
		if (!r)
			return NULL;
		kept->reader[i] = r;
	}
	r->c = c;
	r->share = (union zmem_question){.share = (uint8_t)i, .shares = (uint8_t)shares};
	if (kept->set_memos && i < kept->memo_readers)
		r->share.lane = (uint8_t)(i + 1);
	r->error = 0;
	return r;
}

/* What the other processes with the mm of p hold back. */
static struct held_back held_by_others(const struct snapshot *s, const struct process *p)
{
	struct held_back others = {};

	for (size_t i = 0; i < s->count; i++) {
		const struct process *q = &s->process[i];

		if (q == p || q->mm_key != p->mm_key)
			continue;
		others.users += q->threads - (q->leader_exited && q->threads);
		for (int k = 0; k < ZMEM_RSS_COUNT; k++)
			others.pages[k] += q->rss_delta[k];
	}
	return others;
}

/*
 * Until 6.1 each process with an mm holds back a part of its counters, so the walk of one of them
 * cannot be confirmed by its own counters. Reads them again, now that the parts of the others are
 * known.
 */
static int visit_sharers(const struct readers *from, struct snapshot *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct process *p = &s->process[i];
		struct held_back others;
		struct zmem_pss_record record;
		int r = 0;

		if (!p->other_users || process_has(p, COUNTER_PSS))
			continue;
		others = held_by_others(s, p);
		for (int k = 0; k < WALK_TRIES && r == 0 && !process_has(p, COUNTER_PSS); k++) {
			r = visit(from, p->pid, 0, 0, &record);
			if (r == 0)
				r = finish_walk(from, 0, &record);
			if (r == 0)
				record_decode_shared(&record, &others, &from->limits, p);
		}
		if (r < 0 && r != -ESRCH)
			return r;
	}
	return 0;
}

void readers_done(struct readers *readers)
{
	for (unsigned i = 0; i < SOURCE_READERS_MAX; i++) {
		free(readers->reader[i]);
		readers->reader[i] = NULL;
	}
}

/*
 * Reads share 0 in this thread and each other share in a thread of its own. Shares without a thread
 * (pids.max, RLIMIT_NPROC) are read here as well.
 */
static int collect_shares(struct collection_state *c, struct readers *kept, unsigned shares)
{
	pthread_t thread[SOURCE_READERS_MAX];
	bool started[SOURCE_READERS_MAX] = {};
	uint32_t begun = 0;
	int r = 0;

	for (unsigned i = 0; i < shares; i++) {
		if (!reader_prepare(kept, i, c, shares))
			r = -ENOMEM;
	}
	for (unsigned i = 1; r == 0 && i < shares; i++) {
		started[i] = thread_start(&thread[i], reader_main, kept->reader[i]) == 0;
		begun += started[i];
	}
	for (unsigned i = 0; r == 0 && i < shares; i++) {
		if (!started[i])
			reader_main(kept->reader[i]);
	}
	for (unsigned i = 0; i < shares; i++) {
		if (started[i])
			pthread_join(thread[i], NULL);
		if (r == 0)
			r = kept->reader[i]->error;
	}
	c->snapshot->threads_begun = begun;
	return r;
}

static size_t count_unknown(const struct snapshot *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++)
		count += s->process[i].pages_unknown;
	return count;
}

int readers_collect(void *state, unsigned count, struct snapshot *snapshot)
{
	struct readers *readers = state;
	struct collection_state c = {
		.from = readers,
		.snapshot = snapshot,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	int r;

	readers->follow_ram(state);
	if (count < 1 || !readers->asks)
		count = 1;
	if (count > SOURCE_READERS_MAX)
		count = SOURCE_READERS_MAX;
	if (readers->set_memos)
		readers->set_memos(readers->state, count);
	r = collect_shares(&c, readers, count);
	free(c.later);
	if (readers->set_memos)
		readers->set_memos(readers->state, 0);
	if (r == 0 && readers->asks)
		r = visit_sharers(readers, snapshot);
	readers->unknown = count_unknown(snapshot);
	return r;
}

const char *readers_pss_refusal(const void *state)
{
	const struct readers *readers = state;

	return readers->pss_refusal;
}

/*
 * The size of RAM (totalram_pages()) changes after the zone has grown, with each 4 MiB that go
 * online (mm/memory_hotplug.c, online_pages()).
 */
void readers_look_at_ram(struct readers *readers, const struct procfs *proc)
{
	uint64_t ram_before = readers->limits.ram_bytes;
	struct zones zones;

	readers->limits = reader_limits();
	if (!readers->asks || (readers->pfn_end && readers->limits.ram_bytes == ram_before &&
			       readers->unknown == readers->unknown_at_look))
		return;
	readers->unknown_at_look = readers->unknown;
	zones_read(proc->fd, &zones);
	readers->pfn_end = zones.end;
}

struct decode_limits reader_limits(void)
{
	struct decode_limits limits = {.page_size = (uint32_t)sysconf(_SC_PAGESIZE)};
	struct sysinfo info;

	if (sysinfo(&info) == 0)
		limits.ram_bytes = (uint64_t)info.totalram * info.mem_unit;
	return limits;
}
