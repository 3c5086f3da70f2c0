// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs bpf/arguments.bpf.c: iterators over all processes write the command lines of those that have
 * their bit set. Longer ones come in several passes.
 */
#include "source/arguments_source.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/thread.h"
#include "load/bpf_load.h"
#include "model/zones.h"
#include "source/iterator.h"
#include "zmem/arguments.h"

#define SUBJECT "command lines"

/* At least the 8 pages of the kernel's own buffer. */
#define READ_SIZE (64 * 1024)

#define OWN_MAX	  4096

/* So many processes are worth a thread. */
#define READER_TARGETS 300

/* A process that is read. */
struct target {
	pid_t pid;
	uint64_t start_ns; /* 0: whichever has the pid */
	size_t number;	   /* among those asked for */
	char *text;
	size_t len, whole; /* bytes that are read; and all that are wanted, or there are */
	uint64_t execs;
	bool met, unread;
};

/* Reads what one iterator writes. */
struct arguments_reader {
	struct arguments_source *source;
	const struct target *only; /* NULL: all that are wanted */
	int error;
	char buf[READ_SIZE];
};

struct arguments_source {
	pthread_t loader;
	bool loading; /* in that thread */
	int loaded;
	struct diag diag; /* of loading */
	struct bpf_handle handle;
	struct zmem_arguments *ask;
	const struct source *from;
	const struct procfs *proc;
	uint64_t pfn_end; /* where the program found the direct map itself */
	/* Of a reading. */
	struct target *target;
	size_t targets, most;
	struct arguments_reader *reader[ZMEM_ARGUMENTS_READERS]; /* NULL: not needed yet */
	unsigned readers;					 /* so many at most */
	bool every_reader;					 /* even if they do not pay */
};

void arguments_source_close(struct arguments_source *s)
{
	if (!s)
		return;
	if (s->loading)
		pthread_join(s->loader, NULL);
	diag_clear(&s->diag);
	bpf_handle_close(&s->handle);
	for (unsigned i = 0; i < ZMEM_ARGUMENTS_READERS; i++)
		free(s->reader[i]);
	free(s);
}

static void free_targets(struct arguments_source *s)
{
	for (size_t i = 0; i < s->targets; i++)
		free(s->target[i].text);
	free(TAKE_PTR(s->target));
	s->targets = 0;
}

/* ---- reading ---- */

static int compare_targets(const void *a, const void *b, void *arg)
{
	const struct target *x = a, *y = b;

	(void)arg;
	return ORDER_OF(x->pid, y->pid);
}

static bool has_lower_pid(const void *item, const void *pid)
{
	return ((const struct target *)item)->pid < *(const __s32 *)pid;
}

/* No two readers have the same target. */
static int receive_text(const struct arguments_source *s,
			const struct zmem_arguments_record *record, const char *text)
{
	size_t i = count_before(s->target, s->targets, sizeof(*s->target), has_lower_pid,
				&record->pid);
	struct target *t = &s->target[i];
	size_t len = record->len;

	if (i == s->targets || t->pid != record->pid || t->unread ||
	    (t->start_ns && t->start_ns != record->start_boottime_ns))
		return 0;
	if (!t->met) {
		t->met = true;
		t->execs = record->execs;
		t->whole = record->whole < s->most ? record->whole : s->most;
		t->text = malloc(t->whole + 1);
		if (!t->text)
			return -ENOMEM;
	}
	/* It changed between two passes. */
	t->unread = record->unread || t->execs != record->execs || t->len != s->ask->skip;
	if (len > t->whole - t->len)
		len = t->whole - t->len;
	memcpy(t->text + t->len, text, len);
	t->len += len;
	t->text[t->len] = '\0';
	return 0;
}

/* Receives the whole records that are there. Returns the bytes of the last, which goes on. */
static ssize_t receive_records(struct arguments_reader *r, size_t len)
{
	struct zmem_arguments_record record;
	size_t used = 0;

	while (len - used >= sizeof(record)) {
		int err;

		memcpy(&record, r->buf + used, sizeof(record));
		if (record.len > ZMEM_ARGUMENTS_TEXT)
			return -EBADMSG;
		if (len - used - sizeof(record) < record.len)
			break;
		err = receive_text(r->source, &record, r->buf + used + sizeof(record));
		if (err < 0)
			return err;
		used += sizeof(record) + record.len;
	}
	memmove(r->buf, r->buf + used, len - used);
	return (ssize_t)(len - used);
}

static int read_iterator(struct arguments_reader *r)
{
	union bpf_iter_link_info one = {};
	cleanup_close int fd = -1;
	ssize_t len = 0;

	if (r->only)
		one.task.tid = (__u32)r->only->pid;
	fd = iterator_open(r->source->handle.fd[BPF_ITER], r->only ? &one : NULL);
	if (fd < 0)
		return fd;
	for (;;) {
		ssize_t n = read(fd, r->buf + len, sizeof(r->buf) - (size_t)len);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : len ? -EBADMSG : 0;
		len = receive_records(r, (size_t)(len + n));
		if (len < 0)
			return (int)len;
	}
}

static void *reader_main(void *arg)
{
	struct arguments_reader *r = arg;

	r->error = read_iterator(r);
	return NULL;
}

/* Each reader has an iterator over all processes, and reads its share of them. */
static int run_pass(struct arguments_source *s, const struct target *only, size_t wanted)
{
	pthread_t thread[ZMEM_ARGUMENTS_READERS];
	bool started[ZMEM_ARGUMENTS_READERS] = {};
	unsigned readers = 1;
	int r = 0;

	while (!only && readers < s->readers &&
	       (s->every_reader || readers * READER_TARGETS < wanted))
		readers++;
	s->ask->readers = readers;
	memset(s->ask->reader, 0, sizeof(s->ask->reader));
	for (unsigned i = 0; i < readers; i++) {
		if (!s->reader[i])
			s->reader[i] = malloc(sizeof(*s->reader[i]));
		if (!s->reader[i] && i == 0)
			return -ENOMEM;
		if (!s->reader[i])
			break;
		s->reader[i]->source = s;
		s->reader[i]->only = only;
		started[i] = i && thread_start(&thread[i], reader_main, s->reader[i]) == 0;
	}
	reader_main(s->reader[0]);
	for (unsigned i = 0; i < readers; i++) {
		if (started[i])
			pthread_join(thread[i], NULL);
		if ((started[i] || i == 0) && r == 0)
			r = s->reader[i]->error;
	}
	return r;
}

static void set_wanted(struct arguments_source *s, const struct target *t, bool on)
{
	__u64 *word = &s->ask->wanted[(__u32)t->pid % ZMEM_ARGUMENTS_PIDS / 64];
	__u64 bit = 1ull << t->pid % 64;

	*word = on ? *word | bit : *word & ~bit;
}

/* True if the process has more than was read, and did not end before this pass. */
static bool goes_on(const struct arguments_source *s, const struct target *t)
{
	return !t->unread && t->met && t->len < t->whole && t->len > s->ask->skip;
}

static int run_passes(struct arguments_source *s)
{
	const struct target *only = s->targets == 1 ? s->target : NULL;
	size_t left = s->targets;
	int r = 0;

	s->ask->skip = 0;
	for (size_t i = 0; i < s->targets; i++)
		set_wanted(s, &s->target[i], true);
	while (r == 0 && left) {
		r = run_pass(s, only, left);
		left = 0;
		for (size_t i = 0; i < s->targets; i++) {
			bool more = r == 0 && goes_on(s, &s->target[i]);

			set_wanted(s, &s->target[i], more);
			left += more;
		}
		s->ask->skip += ZMEM_ARGUMENTS_TEXT;
	}
	return r;
}

/* ---- where the kernel has its memory ---- */

/* Has the program find the direct map, by a page of ours with known content. */
static int find_direct_map(struct arguments_source *s, size_t page_size)
{
	void *page =
		mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct target own = {.pid = getpid()};
	int r;

	if (page == MAP_FAILED)
		return -errno;
	madvise(page, page_size, MADV_NOHUGEPAGE);
	mlock(page, page_size);
	r = getrandom(page, sizeof(s->ask->own_content), GRND_NONBLOCK) ==
			    sizeof(s->ask->own_content)
		    ? 0
		    : -EIO;
	s->ask->own_addr = (uintptr_t)page;
	memcpy(&s->ask->own_content, page, sizeof(s->ask->own_content));
	if (r == 0)
		r = run_pass(s, &own, 0);
	munmap(page, page_size);
	return r < 0 ? r : s->ask->at.top_shift ? 0 : -ENXIO;
}

/* RAM may have been added since the last reading. */
static int follow_ram(struct arguments_source *s)
{
	cleanup_free struct zones *zones = NULL;
	const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct zmem_layout layout = {};

	if (source_layout(s->from, &layout) == 0) {
		layout.page_bits = (unsigned)__builtin_ctzl(page_size);
		s->ask->at = layout;
		return 0;
	}
	zones = calloc(1, sizeof(*zones));
	if (!zones)
		return -ENOMEM;
	zones_read(s->proc->fd, zones);
	if (!zones->end)
		return -ENODATA;
	if (zones->end == s->pfn_end)
		return 0;
	s->ask->at = (struct zmem_layout){
		.pfn_end = zones->end,
		.phys_mask = zones_phys_mask(zones->end, page_size),
		.page_bits = (unsigned)__builtin_ctzl(page_size),
	};
	s->pfn_end = zones->end;
	return find_direct_map(s, page_size);
}

/* As they are in most snapshots. */
static bool are_sorted(const struct target *t, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (t[i].pid <= t[i - 1].pid)
			return false;
	}
	return true;
}

static int read_targets(struct arguments_source *s, size_t most)
{
	int r = follow_ram(s);

	s->most = most;
	if (!are_sorted(s->target, s->targets))
		sort_items(s->target, s->targets, sizeof(*s->target), compare_targets, NULL);
	return r < 0 ? r : run_passes(s);
}

int arguments_source_read(void *source, struct process *const *process, size_t count, size_t most,
			  void (*fn)(void *arg, size_t i, char *text, size_t len), void *arg)
{
	struct arguments_source *s = source;
	int r;

	s->target = calloc(count + 1, sizeof(*s->target));
	if (!s->target)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		s->target[s->targets++] = (struct target){
			.pid = process[i]->pid, .start_ns = process[i]->start_ns, .number = i};
	}
	r = read_targets(s, most);
	for (size_t i = 0; r == 0 && i < count; i++) {
		struct target *t = &s->target[i];

		if (t->met && !t->unread && t->len == t->whole)
			fn(arg, t->number, TAKE_PTR(t->text), t->len);
	}
	free_targets(s);
	return r;
}

/* ---- opening ---- */

/* Whether it reads of this process what /proc has. */
static int check_own(struct arguments_source *s)
{
	char own[OWN_MAX];
	ssize_t len = procfs_read(s->proc, "self/cmdline", own, sizeof(own));
	const struct target *t;
	int r;

	if (len <= 0)
		return len < 0 ? (int)len : -ENODATA;
	s->target = calloc(1, sizeof(*s->target));
	if (!s->target)
		return -ENOMEM;
	s->targets = 1;
	t = s->target;
	s->target->pid = getpid();
	r = read_targets(s, (size_t)len);
	if (r == 0 &&
	    (!t->met || t->unread || t->len != (size_t)len || memcmp(t->text, own, t->len) != 0))
		r = -ENOTSUP;
	free_targets(s);
	return r;
}

static void *load_main(void *arg)
{
	struct arguments_source *s = arg;

	/* Without a bound of its own: that of another thread has the same signal (load_limit.c). */
	s->loaded = bpf_load_noted(SUBJECT, OBJECT_ARGUMENTS, LOADER_LIGHT,
				   &(struct bpf_sizes){.unbounded = true}, &s->diag, &s->handle);
	return NULL;
}

struct arguments_source *arguments_source_begin(void)
{
	struct arguments_source *s = calloc(1, sizeof(*s));

	/* Entries of other architectures were not tried. */
#ifdef __x86_64__
	if (s)
		s->loading = thread_start(&s->loader, load_main, s) == 0;
#endif
	return s;
}

static int finish_loading(struct arguments_source *s, struct diag *diag)
{
	const struct diag_note *note;

#ifndef __x86_64__
	diag_add(diag, SUBJECT, -ENOTSUP, NULL, "they are read from /proc on this architecture");
	return -ENOTSUP;
#endif
	if (s->loading)
		pthread_join(s->loader, NULL);
	else
		load_main(s);
	s->loading = false;
	note = diag_newest(&s->diag);
	if (note)
		diag_add(diag, note->subject, note->error, note->hint, "%s", note->reason);
	return s->loaded;
}

int arguments_source_open(struct arguments_source *s, const struct source *from,
			  const struct procfs *proc, unsigned readers, struct diag *diag)
{
	int r = finish_loading(s, diag);

	if (r < 0)
		return r;
	s->ask = s->handle.answers;
	s->from = from;
	s->proc = proc;
	s->every_reader = readers != 0;
	if (!readers)
		readers = thread_count(ZMEM_ARGUMENTS_READERS);
	s->readers = readers < ZMEM_ARGUMENTS_READERS ? readers : ZMEM_ARGUMENTS_READERS;
	r = check_own(s);
	if (r < 0)
		diag_add(diag, SUBJECT, r, NULL,
			 "our own was not read from page tables as /proc has it");
	return r;
}
