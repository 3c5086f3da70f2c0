// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs bpf/arguments.bpf.c: an iterator over all processes writes the command lines of those whose
 * bit is set. Longer ones come in several passes.
 */
#include "source/arguments_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "load/bpf_load.h"
#include "model/zones.h"
#include "source/iterator.h"
#include "zmem/arguments.h"

#define SUBJECT "command lines"

/* At least the 8 pages of the kernel's own buffer. */
#define READ_SIZE (64 * 1024)

#define OWN_MAX	  4096

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

struct arguments_source {
	struct bpf_handle handle;
	struct zmem_arguments *ask;
	const struct source *from;
	const struct procfs *proc;
	uint64_t pfn_end; /* where the program found the direct map itself */
	/* Of a reading. */
	struct target *target;
	size_t targets, most;
	char buf[READ_SIZE];
};

void arguments_source_close(struct arguments_source *s)
{
	if (!s)
		return;
	bpf_handle_close(&s->handle);
	free(s);
}

static void free_targets(struct arguments_source *s)
{
	for (size_t i = 0; i < s->targets; i++)
		free(s->target[i].text);
	free(TAKE_PTR(s->target));
	s->targets = 0;
}

/* ---- where the kernel has its memory ---- */

/* Has the program find the direct map, by a page of ours with known content. */
static int find_direct_map(struct arguments_source *s, size_t page_size)
{
	void *page =
		mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
		r = bpf_program_run(s->handle.fd[BPF_RUN]);
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

static void set_bit(struct arguments_source *s, pid_t pid)
{
	size_t bit = (size_t)pid % ZMEM_ARGUMENTS_PIDS;

	s->ask->wanted[bit / 64] |= 1ull << bit % 64;
}

static int receive_text(struct arguments_source *s, const struct zmem_arguments_record *record,
			const char *text)
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
static ssize_t receive_records(struct arguments_source *s, size_t len)
{
	struct zmem_arguments_record record;
	size_t used = 0;

	while (len - used >= sizeof(record)) {
		int r;

		memcpy(&record, s->buf + used, sizeof(record));
		if (record.len > ZMEM_ARGUMENTS_TEXT)
			return -EBADMSG;
		if (len - used - sizeof(record) < record.len)
			break;
		r = receive_text(s, &record, s->buf + used + sizeof(record));
		if (r < 0)
			return r;
		used += sizeof(record) + record.len;
	}
	memmove(s->buf, s->buf + used, len - used);
	return (ssize_t)(len - used);
}

static int run_pass(struct arguments_source *s, const struct target *only)
{
	union bpf_iter_link_info one = {};
	cleanup_close int fd = -1;
	ssize_t len = 0;

	if (only)
		one.task.tid = (__u32)only->pid;
	fd = iterator_open(s->handle.fd[BPF_ITER], only ? &one : NULL);
	if (fd < 0)
		return fd;
	for (;;) {
		ssize_t n = read(fd, s->buf + len, sizeof(s->buf) - (size_t)len);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : len ? -EBADMSG : 0;
		len = receive_records(s, (size_t)(len + n));
		if (len < 0)
			return (int)len;
	}
}

/* True if the process has more than was read, and did not end before this pass. */
static bool goes_on(const struct arguments_source *s, const struct target *t)
{
	return !t->unread && t->met && t->len < t->whole && t->len > s->ask->skip;
}

static int run_passes(struct arguments_source *s)
{
	const struct target *only = s->targets == 1 ? s->target : NULL;
	size_t left;
	int r;

	memset(s->ask->wanted, 0, sizeof(s->ask->wanted));
	for (size_t i = 0; i < s->targets; i++)
		set_bit(s, s->target[i].pid);
	s->ask->skip = 0;
	do {
		r = run_pass(s, only);
		memset(s->ask->wanted, 0, sizeof(s->ask->wanted));
		left = 0;
		for (size_t i = 0; i < s->targets; i++) {
			if (goes_on(s, &s->target[i])) {
				set_bit(s, s->target[i].pid);
				left++;
			}
		}
		s->ask->skip += ZMEM_ARGUMENTS_TEXT;
	} while (r == 0 && left);
	return r;
}

static int read_targets(struct arguments_source *s, size_t most)
{
	int r = follow_ram(s);

	s->most = most;
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

int arguments_source_open(const struct source *from, const struct procfs *proc, struct diag *diag,
			  struct arguments_source **ret)
{
	struct arguments_source *s;
	int r;

	/* Entries of other architectures were not tried. */
#ifndef __x86_64__
	diag_add(diag, SUBJECT, -ENOTSUP, NULL, "they are read from /proc on this architecture");
	return -ENOTSUP;
#endif
	s = calloc(1, sizeof(*s));
	r = s ? bpf_load_noted(SUBJECT, OBJECT_ARGUMENTS, LOADER_LIGHT, NULL, diag, &s->handle)
	      : -ENOMEM;

	if (r == 0) {
		s->ask = s->handle.answers;
		s->from = from;
		s->proc = proc;
		r = check_own(s);
		if (r < 0)
			diag_add(diag, SUBJECT, r, NULL,
				 "our own was not read from page tables as /proc has it");
	}
	if (r < 0)
		arguments_source_close(s);
	else
		*ret = s;
	return r;
}
