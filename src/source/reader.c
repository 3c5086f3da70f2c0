// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows iterators and whole records; what a record says is record_decode's business. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/array.h"
#include "base/thread.h"
#include "source/reader.h"
#include "zmem/setup.h"

/* At least the 8 pages of the kernel's own buffer, or records are split (kernel/bpf/bpf_iter.c). */
#define READ_SIZE (128 * 1024)

/* How often a process is read anew before its walk is given up. */
#define WALK_TRIES 3
/* Further visits to one process; at 32 Ki pages each that is 16 TiB. */
#define VISITS_MAX (128 * 1024)

/* What is shared by the readers of one collection. */
struct collection_state {
	const struct reader_from *from;
	const struct reader_target *target;
	pthread_mutex_t lock; /* for the target */
};

struct reader {
	struct collection_state *c;
	union zmem_question share;
	/* Whose walk is not done, or has to be done again. */
	struct zmem_pss_record *later;
	size_t later_count, later_capacity;
	int error;
	char buf[READ_SIZE];
};

static int deliver(struct reader *r, const void *record)
{
	int err;

	pthread_mutex_lock(&r->c->lock);
	err = record_decode_one(record, r->c->target->limits, r->c->target->snapshot);
	pthread_mutex_unlock(&r->c->lock);
	return err;
}

static int keep_for_later(struct reader *r, const struct zmem_pss_record *record)
{
	struct zmem_pss_record *later =
		grow_items(r->later, r->later_count, &r->later_capacity, 16, sizeof(*later));

	if (!later)
		return -ENOMEM;
	r->later = later;
	r->later[r->later_count++] = *record;
	return 0;
}

/* One record of the walk over all processes. */
static int receive_records(struct reader *r, const void *data, size_t size)
{
	struct zmem_pss_record record;

	if (size == sizeof(record)) {
		memcpy(&record, data, size);
		if (!(record.pages.flags & ZMEM_WALK_OFF) && !pages_consistent(&record))
			return keep_for_later(r, &record);
	}
	return deliver(r, data);
}

/* read(2) with a question; the kernel says EAGAIN where it passed very many tasks by. */
static ssize_t read_asking(int fd, void *buf, size_t len, union zmem_question question,
			   uint64_t cursor)
{
	ssize_t n;

	do {
		n = syscall(SYS_read, fd, buf, len, ZMEM_ASK, question.bits, cursor);
	} while (n < 0 && (errno == EAGAIN || errno == EINTR));
	return n < 0 ? -errno : n;
}

/* Takes each record that comes out of the iterator. */
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
			int err = receive_records(r, r->buf + used, (size_t)size);

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

/* Reads `pid`; its walk goes on at the cursor. No room for two: the kernel need not look further.
 */
static int visit(const struct reader_from *from, pid_t pid, uint64_t cursor,
		 struct zmem_pss_record *ret)
{
	const union zmem_question question = {.pid = pid};
	cleanup_close int fd =
		from->open_one ? from->open_one(from->state, pid) : from->open(from->state);
	struct zmem_pss_record record = {};
	ssize_t n = fd < 0 ? fd : read_asking(fd, &record, sizeof(record), question, cursor);

	if (n <= 0)
		return n < 0 ? (int)n : -ESRCH;
	if (record_size(&record, (size_t)n) != n || record.record.pid != pid)
		return -EBADMSG;
	*ret = record;
	return 0;
}

static bool has_pages(const struct zmem_pss_record *r)
{
	return r->record.valid & ZMEM_VALID_PAGES;
}

/* Brings the walk of `sum`, which has begun, to its end. */
static int go_on(const struct reader_from *from, struct zmem_pss_record *sum)
{
	struct zmem_pss_record part;

	for (int i = 0; i < VISITS_MAX && has_pages(sum) && sum->pages.cursor &&
			!(sum->pages.flags & ~(ZMEM_WALK_EXCLUSIVE | ZMEM_WALK_DRIFTED));
	     i++) {
		int r = visit(from, sum->record.pid, sum->pages.cursor, &part);

		if (r < 0)
			return r;
		pages_add(sum, &part);
	}
	return 0;
}

/* Reads the process until its walk adds up, a few times at most; the newest reading counts. */
static int settle(const struct reader_from *from, struct zmem_pss_record *record)
{
	int r = go_on(from, record);

	for (int i = 1; r == 0 && i < WALK_TRIES && has_pages(record) &&
			!pages_consistent(record) && !(record->pages.flags & ZMEM_WALK_OFF);
	     i++) {
		r = visit(from, record->record.pid, 0, record);
		if (r == 0)
			r = go_on(from, record);
	}
	if (r == 0 && has_pages(record) && pages_within_tolerance(record) &&
	    !pages_consistent(record))
		record->pages.flags |= ZMEM_WALK_ACCEPTED;
	return r;
}

int reader_take(const struct reader_from *from, void *ret, size_t size)
{
	cleanup_close int fd = from->open_one(from->state, getpid());
	ssize_t n = fd < 0 ? fd : read_asking(fd, ret, size, (union zmem_question){}, 0);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EBADMSG;
}

int reader_try(int fd)
{
	struct zmem_pss_record record;
	ssize_t n = read_asking(fd, &record, sizeof(record), (union zmem_question){}, 0);

	if (n < 0)
		return (int)n;
	return record_size(&record, (size_t)n) > 0 ? 0 : -EBADMSG;
}

int reader_visit(const struct reader_from *from, pid_t pid, const struct reader_target *target)
{
	struct zmem_pss_record record;
	int r = visit(from, pid, 0, &record);

	if (r == 0)
		r = settle(from, &record);
	return r < 0 ? r : record_decode_one(&record, target->limits, target->snapshot);
}

/* ---- all processes ---- */

static int read_share(struct reader *r)
{
	const struct reader_from *from = r->c->from;
	cleanup_close int fd = from->open(from->state);
	int err = fd < 0 ? fd : drain(r, fd);

	for (size_t i = 0; err == 0 && i < r->later_count; i++) {
		err = settle(from, &r->later[i]);
		if (err == -ESRCH) /* it has ended since, as it could have before */
			err = 0;
		else if (err == 0)
			err = deliver(r, &r->later[i]);
	}
	return err;
}

static void *reader_main(void *arg)
{
	struct reader *r = arg;

	r->error = read_share(r);
	return NULL;
}

/* What is kept of one from collection to collection: its memory. */
static struct reader *reader_ready(struct readers *kept, unsigned i, struct collection_state *c,
				   unsigned shares)
{
	struct reader *r = kept->reader[i];

	if (!r) {
		r = malloc(sizeof(*r));
		if (!r)
			return NULL;
		r->later = NULL;
		r->later_capacity = 0;
		kept->reader[i] = r;
	}
	r->c = c;
	r->share = (union zmem_question){.share = (uint16_t)i, .shares = (uint16_t)shares};
	r->later_count = 0;
	r->error = 0;
	return r;
}

void readers_done(struct readers *kept)
{
	for (unsigned i = 0; i < READERS_MAX; i++) {
		if (kept->reader[i])
			free(kept->reader[i]->later);
		free(kept->reader[i]);
		kept->reader[i] = NULL;
	}
}

/*
 * Reads as share 0 of `shares`, the others in threads of their own; what there are no threads for
 * (pids.max, RLIMIT_NPROC) is read here, too.
 */
static int collect_shares(struct collection_state *c, struct readers *kept, unsigned shares)
{
	pthread_t thread[READERS_MAX];
	bool started[READERS_MAX] = {};
	int r = 0;

	for (unsigned i = 0; i < shares; i++) {
		if (!reader_ready(kept, i, c, shares))
			r = -ENOMEM;
	}
	for (unsigned i = 1; r == 0 && i < shares; i++)
		started[i] = thread_start(&thread[i], reader_main, kept->reader[i]) == 0;
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
	return r;
}

int reader_collect(const struct reader_from *from, unsigned readers, struct readers *kept,
		   const struct reader_target *target)
{
	struct collection_state c = {
		.from = from,
		.target = target,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};

	if (readers < 1 || !from->asks)
		readers = 1;
	return collect_shares(&c, kept, readers < READERS_MAX ? readers : READERS_MAX);
}

struct decode_limits reader_limits(void)
{
	struct decode_limits limits = {.page_size = (uint32_t)sysconf(_SC_PAGESIZE)};
	struct sysinfo info;

	if (sysinfo(&info) == 0)
		limits.ram_bytes = (uint64_t)info.totalram * info.mem_unit;
	return limits;
}
