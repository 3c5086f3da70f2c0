// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows iterators and whole records; what a record says is record_decode's business. */
#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "source/reader.h"
#include "source/replay.h"
#include "zmem/setup.h"

/* At least the 8 pages of the kernel's own buffer, or records are split (kernel/bpf/bpf_iter.c). */
#define READ_SIZE (128 * 1024)

/* How often a process is read anew before its walk is given up. */
#define WALK_TRIES 3
/* Further visits to one process; at 32 Ki pages each that is 16 TiB. */
#define VISITS_MAX (128 * 1024)

/* What is shared by the readers of one collection. */
struct collection_state {
	const struct light *light;
	const struct reader_target *target;
	int link_fd;
	pthread_mutex_t lock; /* for the target */
};

struct reader {
	struct collection_state *c;
	struct zmem_reader share;
	/* Whose walk is not done, or has to be done again. */
	struct zmem_pss_record *later;
	size_t later_count, later_capacity;
	int error;
	char buf[READ_SIZE];
};

/* One record, as it is final. */
static int hand_over(const struct reader_target *target, const void *record)
{
	replay_keep_record(target->tape, record);
	return record_decode_one(record, target->limits, target->snapshot);
}

static int deliver(struct reader *r, const void *record)
{
	int err;

	pthread_mutex_lock(&r->c->lock);
	err = hand_over(r->c->target, record);
	pthread_mutex_unlock(&r->c->lock);
	return err;
}

static int keep_for_later(struct reader *r, const struct zmem_pss_record *record)
{
	if (r->later_count == r->later_capacity) {
		size_t capacity = r->later_capacity ? 2 * r->later_capacity : 16;
		void *more = realloc(r->later, capacity * sizeof(*r->later));

		if (!more)
			return -ENOMEM;
		r->later = more;
		r->later_capacity = capacity;
	}
	r->later[r->later_count++] = *record;
	return 0;
}

/* One record of the walk over all processes. */
static int take(void *arg, const void *data, size_t size)
{
	struct reader *r = arg;
	struct zmem_pss_record record;

	if (size == sizeof(record)) {
		memcpy(&record, data, size);
		if (!(record.pages.flags & ZMEM_WALK_OFF) && !pages_vouched(&record))
			return keep_for_later(r, &record);
	}
	return deliver(r, data);
}

/* Calls fn for each record that comes out of the iterator. */
static int drain(int fd, char *buf, size_t room,
		 int (*fn)(void *arg, const void *data, size_t size), void *arg)
{
	size_t len = 0;

	for (;;) {
		ssize_t n = read(fd, buf + len, room - len);
		size_t used = 0;
		long size;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return len ? -EBADMSG : 0;
		len += (size_t)n;
		while ((size = record_size(buf + used, len - used)) > 0) {
			int r = fn(arg, buf + used, (size_t)size);

			if (r < 0)
				return r;
			used += (size_t)size;
		}
		if (size < 0)
			return (int)size;
		len -= used;
		memmove(buf, buf + used, len);
	}
}

/* ---- one process ---- */

struct one {
	struct zmem_pss_record record;
	bool found;
};

static int take_one(void *arg, const void *data, size_t size)
{
	struct one *one = arg;

	one->record = (struct zmem_pss_record){};
	memcpy(&one->record, data, size);
	one->found = true;
	return 0;
}

/* An iterator over `pid` (in our namespace) alone, which shows what the share says. */
static int open_one(const struct light *light, pid_t pid, const struct zmem_reader *share)
{
	union bpf_iter_link_info info = {.task.tid = (__u32)pid};
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));
	struct zmem_reader args = *share;
	cleanup_close int link_fd = -1;
	int r;

	if (light->reader_fd) {
		r = light_run(light->reader_fd, &args, sizeof(args));
		if (r)
			return r < 0 ? r : -EIO;
	}
	link_fd = bpf_link_create(light->iter_fd, 0, BPF_TRACE_ITER, &opts);
	return link_fd < 0 ? link_fd : bpf_iter_create(link_fd);
}

/* Reads `pid`; its walk goes on at the share's cursor. */
static int visit(const struct light *light, pid_t pid, const struct zmem_reader *share,
		 struct zmem_pss_record *ret)
{
	cleanup_close int fd = open_one(light, pid, share);
	char buf[8 * 1024]; /* for one record */
	struct one one = {};
	int r;

	if (fd < 0)
		return fd;
	r = drain(fd, buf, sizeof(buf), take_one, &one);
	if (r == 0 && !one.found)
		r = -ESRCH;
	if (r == 0)
		*ret = one.record;
	return r;
}

static bool has_pages(const struct zmem_pss_record *r)
{
	return r->record.valid & ZMEM_VALID_PAGES;
}

/* Brings the walk of `sum`, which has begun, to its end. */
static int go_on(const struct light *light, struct zmem_pss_record *sum)
{
	struct zmem_pss_record part;

	for (int i = 0; i < VISITS_MAX && has_pages(sum) && sum->pages.cursor &&
			!(sum->pages.flags & ~(ZMEM_WALK_EXCLUSIVE | ZMEM_WALK_DRIFTED));
	     i++) {
		struct zmem_reader rest = {.shares = 1, .cursor = sum->pages.cursor};
		int r = visit(light, sum->record.pid, &rest, &part);

		if (r < 0)
			return r;
		pages_add(sum, &part);
	}
	return 0;
}

/* Reads the process until its walk adds up, a few times at most; the newest reading counts. */
static int settle(const struct light *light, struct zmem_pss_record *record)
{
	const struct zmem_reader whole = {.shares = 1};
	int r = go_on(light, record);

	for (int i = 1; r == 0 && i < WALK_TRIES && has_pages(record) && !pages_vouched(record) &&
			!(record->pages.flags & ZMEM_WALK_OFF);
	     i++) {
		r = visit(light, record->record.pid, &whole, record);
		if (r == 0)
			r = go_on(light, record);
	}
	if (r == 0 && has_pages(record) && pages_close(record) && !pages_vouched(record))
		record->pages.flags |= ZMEM_WALK_ACCEPTED;
	return r;
}

static int forget_reader(const struct light *light)
{
	struct zmem_reader none = {};

	return light->reader_fd ? light_run(light->reader_fd, &none, sizeof(none)) : 0;
}

int reader_ask(const struct light *light, const struct zmem_reader *question, void *ret,
	       size_t size)
{
	cleanup_close int fd = open_one(light, getpid(), question);
	ssize_t n = fd < 0 ? fd : read(fd, ret, size);

	forget_reader(light);
	if (n < 0)
		return fd < 0 ? fd : -errno;
	return (size_t)n == size ? 0 : -EBADMSG;
}

int reader_visit(const struct light *light, pid_t pid, const struct reader_target *target)
{
	const struct zmem_reader whole = {.shares = 1};
	struct zmem_pss_record record;
	int r = visit(light, pid, &whole, &record);

	if (r == 0)
		r = settle(light, &record);
	forget_reader(light);
	if (r < 0)
		replay_keep_missing(target->tape, pid, r);
	return r < 0 ? r : hand_over(target, &record);
}

/* ---- all processes ---- */

static int read_share(struct reader *r)
{
	struct collection_state *c = r->c;
	cleanup_close int fd = -1;
	int err = 0;

	if (r->share.shares > 1)
		err = light_run(c->light->reader_fd, &r->share, sizeof(r->share));
	if (err)
		return err < 0 ? err : -EIO;
	fd = bpf_iter_create(c->link_fd);
	if (fd < 0)
		return fd;
	err = drain(fd, r->buf, sizeof(r->buf), take, r);
	for (size_t i = 0; err == 0 && i < r->later_count; i++) {
		err = settle(c->light, &r->later[i]);
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
	if (r->share.shares > 1 || r->later_count)
		forget_reader(r->c->light);
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
	r->share = (struct zmem_reader){.share = i, .shares = shares};
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

/* Reads as share 0 of `shares`, the others in threads of their own. */
static int collect_shares(struct collection_state *c, struct readers *kept, unsigned shares)
{
	pthread_t thread[READERS_MAX];
	bool started[READERS_MAX] = {};
	int r = 0;

	for (unsigned i = 0; i < shares; i++) {
		if (!reader_ready(kept, i, c, shares))
			r = -ENOMEM;
	}
	for (unsigned i = 1; r == 0 && i < shares; i++) {
		r = -pthread_create(&thread[i], NULL, reader_main, kept->reader[i]);
		started[i] = r == 0;
	}
	if (r == 0)
		reader_main(kept->reader[0]);
	for (unsigned i = 0; i < shares; i++) {
		if (started[i])
			pthread_join(thread[i], NULL);
		if (r == 0)
			r = kept->reader[i]->error;
	}
	return r;
}

int reader_collect(const struct light *light, int link_fd, unsigned readers, struct readers *kept,
		   const struct reader_target *target)
{
	struct collection_state c = {
		.light = light,
		.target = target,
		.link_fd = link_fd,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};

	if (readers < 1 || !light->reader_fd)
		readers = 1;
	return collect_shares(&c, kept, readers < READERS_MAX ? readers : READERS_MAX);
}
