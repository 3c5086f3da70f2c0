// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loads the programs of mark_victim and signal_generate and reads their ring buffer. */
#include "watch/oom_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "load/bpf_diagnose.h"
#include "source/reader.h"
#include "load/bpf_load.h"
#include "watch/oom_messages.h"
#include "zmem/oom.h"

#define SUBJECT "OOM kills"
#define LINES	16

enum {
	LINK_KILL, /* holds the program, which holds its maps */
	/* Around oom_kill_process(), where that works. */
	LINK_BEGIN,
	LINK_END,
	LINK_SIGNALS, /* if they are watched */
	LINKS,
};

struct oom_watch {
	int link_fd[LINKS];
	int ring_fd;
	uint32_t *large;		  /* of ZMEM_OOM_LARGE_SLOTS */
	const struct zmem_oom_over *over; /* of ZMEM_SIGNALS_OVER; NULL: signals are not watched */
	struct {
		uint64_t count, pages;
	} told[ZMEM_SIGNALS_OVER]; /* of them */
	struct ring_buffer *ring;
	struct oom_messages messages;
	struct oom_kills before;     /* what the kernel had counted when it began */
	int log_fd;		     /* /dev/kmsg; -1: it may not be read */
	struct oom_line line[LINES]; /* a ring of the last lines about kills */
	unsigned lines;
	struct oom_request request; /* of the next line about a kill, if it has come */
	char group[OOM_CGROUP_MAX]; /* of which the log has counters: of the next line about a kill
				     */
	struct oom_no_victim no_victim;
};

static int receive_message(void *arg, void *data, size_t len)
{
	struct oom_watch *w = arg;

	oom_messages_add(&w->messages, data, len);
	return 0;
}

/* ---- opening ---- */

/* Without them it is the kernel's log that tells which limit was reached. */
static void attach_around(struct oom_watch *w, const struct bpf_handle *object)
{
	if (!object->fd[BPF_OOM_BEGIN] || !object->fd[BPF_OOM_END])
		return;
	/* A call that begins is never without its end. */
	w->link_fd[LINK_END] = bpf_raw_tracepoint_open(NULL, object->fd[BPF_OOM_END]);
	if (w->link_fd[LINK_END] >= 0)
		w->link_fd[LINK_BEGIN] = bpf_raw_tracepoint_open(NULL, object->fd[BPF_OOM_BEGIN]);
}

static int map_large(struct oom_watch *w, const struct bpf_handle *object)
{
	void *map = mmap(NULL, ZMEM_OOM_LARGE_SLOTS * sizeof(*w->large), PROT_READ | PROT_WRITE,
			 MAP_SHARED, object->fd[BPF_LARGE], 0);

	if (map == MAP_FAILED)
		return -errno;
	w->large = map;
	return 0;
}

static int map_over(struct oom_watch *w, const struct bpf_handle *object)
{
	void *map = mmap(NULL, ZMEM_SIGNALS_OVER * sizeof(*w->over), PROT_READ, MAP_SHARED,
			 object->fd[BPF_OVER], 0);

	if (map == MAP_FAILED)
		return -errno;
	w->over = map;
	return 0;
}

static void read_count(struct oom_kills *ret)
{
	char text[32768];

	if (file_read(AT_FDCWD, "/proc/vmstat", text, sizeof(text)) > 0)
		oom_kills_parse(text, ret);
}

static int attach(struct oom_watch *w, const struct bpf_handle *object, bool signals)
{
	int r = map_large(w, object);

	if (r < 0)
		return r;
	attach_around(w, object);
	/* Loading takes its time: kills meanwhile are not seen. */
	read_count(&w->before);
	w->link_fd[LINK_KILL] = bpf_raw_tracepoint_open(NULL, object->fd[BPF_ITER]);
	if (w->link_fd[LINK_KILL] < 0)
		return -errno;
	if (signals) {
		r = map_over(w, object);
		if (r < 0)
			return r;
		w->link_fd[LINK_SIGNALS] = bpf_raw_tracepoint_open(NULL, object->fd[BPF_SIGNALS]);
		if (w->link_fd[LINK_SIGNALS] < 0)
			return -errno;
	}
	w->ring_fd = fcntl(object->fd[BPF_RING], F_DUPFD_CLOEXEC, 0);
	if (w->ring_fd < 0)
		return -errno;
	w->ring = ring_buffer__new(w->ring_fd, receive_message, w, NULL);
	return w->ring ? 0 : -errno;
}

/* Loads it, if need be without the programs around oom_kill_process(), which the compiler may have
 * merged with another function. */
static int load_object(enum bpf_object_id id, struct diag *diag, struct bpf_handle *ret)
{
	static const char *const around[] = {"oom_call_begin", "oom_call_end", NULL};
	const struct bpf_sizes sizes = {.without = around};
	int r = bpf_load_noted(SUBJECT, id, LOADER_LIBBPF, NULL, diag, ret);

	if (r == 0 || r == -ENOMEM)
		return r;
	diag_remove(diag);
	return bpf_load_noted(SUBJECT, id, LOADER_LIBBPF, &sizes, diag, ret);
}

static int open_object(struct oom_watch *w, enum bpf_object_id id, enum zmem_oom_scope scope,
		       bool signals, struct diag *diag)
{
	cleanup(bpf_handle_close) struct bpf_handle object = {};
	uint64_t argument[] = {scope, ZMEM_SIGNAL_LEAST / reader_limits().page_size};
	int r = load_object(id, diag, &object);

	if (r < 0)
		return r;
	r = bpf_handle_run(object.fd[BPF_OOM_SETUP], argument, sizeof(argument));
	if (r == 0)
		r = attach(w, &object, signals);
	if (r)
		bpf_diagnose_note(diag, SUBJECT, "attaching to mark_victim", r < 0 ? r : -ENXIO,
				  NULL);
	return r > 0 ? -ENXIO : r;
}

/* From now on: what is in the log already is about earlier kills. */
static void open_log(struct oom_watch *w)
{
	w->log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (w->log_fd >= 0)
		lseek(w->log_fd, 0, SEEK_END);
}

int oom_watch_open(enum zmem_oom_scope scope, bool signals, struct diag *diag,
		   struct oom_watch **ret)
{
	static const enum bpf_object_id id[] = {OBJECT_OOM, OBJECT_OOM_PROBE, OBJECT_OOM_OLD};
	int r = -ENOTSUP;

	for (size_t i = 0; i < ARRAY_SIZE(id); i++) {
		struct oom_watch *w = calloc(1, sizeof(*w));

		if (!w)
			return -ENOMEM;
		w->ring_fd = w->log_fd = -1;
		for (int l = 0; l < LINKS; l++)
			w->link_fd[l] = -1;
		r = open_object(w, id[i], scope, signals, diag);
		if (r == 0) {
			open_log(w);
			*ret = w;
			return 0;
		}
		oom_watch_close(w);
	}
	return r;
}

struct oom_kills oom_watch_before(const struct oom_watch *w)
{
	return w->before;
}

bool oom_watch_reads_log(const struct oom_watch *w)
{
	return w->log_fd >= 0;
}

int oom_watch_fd(const struct oom_watch *w)
{
	return ring_buffer__epoll_fd(w->ring);
}

void oom_watch_close(struct oom_watch *w)
{
	if (!w)
		return;
	ring_buffer__free(w->ring);
	for (int i = 0; i < LINKS; i++)
		close_fd(&w->link_fd[i]);
	if (w->large)
		munmap(w->large, ZMEM_OOM_LARGE_SLOTS * sizeof(*w->large));
	if (w->over)
		munmap((void *)w->over, ZMEM_SIGNALS_OVER * sizeof(*w->over));
	close_fd(&w->ring_fd);
	close_fd(&w->log_fd);
	oom_messages_done(&w->messages);
	free(w);
}

/* ---- large processes ---- */

struct large {
	uint64_t bytes;
	pid_t pid;
};

static int by_bytes(const void *pa, const void *pb)
{
	const struct large *a = pa, *b = pb;

	return ORDER_OF(b->bytes, a->bytes);
}

void oom_watch_note_large(struct oom_watch *w, const struct snapshot *s)
{
	static const enum counter held[] = {COUNTER_RSS_ANON, COUNTER_RSS_SHMEM, COUNTER_SWAP};
	cleanup_free struct large *list = NULL;

	memset(w->large, 0, ZMEM_OOM_LARGE_SLOTS * sizeof(*w->large));
	/* So few processes are all read. */
	if (s->count > ZMEM_OOM_LARGE)
		list = calloc(s->count, sizeof(*list));
	for (size_t i = 0; list && i < s->count; i++) {
		list[i].pid = s->process[i].pid;
		for (size_t c = 0; c < ARRAY_SIZE(held); c++)
			list[i].bytes += process_has(&s->process[i], held[c])
						 ? process_value(&s->process[i], held[c])
						 : 0;
	}
	if (list)
		qsort(list, s->count, sizeof(*list), by_bytes);
	/* If two have the same slot, the larger one stays. */
	for (size_t i = 0; list && i < ZMEM_OOM_LARGE; i++) {
		uint32_t *slot = &w->large[(uint32_t)list[i].pid % ZMEM_OOM_LARGE_SLOTS];

		if (!*slot)
			*slot = (uint32_t)list[i].pid;
	}
}

/* ---- the kernel's log ---- */

/* The kernel may write lines as fast as they are read. */
#define RECORDS_AT_ONCE 65536

static void read_record(struct oom_watch *w, const char *record, size_t len)
{
	if (oom_line_no_victim(record, len)) {
		w->no_victim.times++;
		memcpy(w->no_victim.cgroup, w->group, sizeof(w->group));
	}
	oom_group_parse(record, len, w->group);
	oom_request_parse(record, len, &w->request);
	if (oom_line_parse(record, len, &w->line[w->lines % LINES]) < 0)
		return;
	w->line[w->lines++ % LINES].request = w->request;
	w->request = (struct oom_request){};
}

/* Reads the lines about new kills. The kernel writes them before it calls mark_victim. */
static void read_log(struct oom_watch *w)
{
	char record[8192]; /* CONSOLE_EXT_LOG_MAX, and more */
	ssize_t len;

	if (w->log_fd < 0)
		return;
	/* EPIPE: lines were overwritten before they were read. */
	for (unsigned i = 0; i < RECORDS_AT_ONCE; i++) {
		len = read(w->log_fd, record, sizeof(record));
		if (len > 0)
			read_record(w, record, (size_t)len);
		else if (len == 0 || (errno != EPIPE && errno != EINTR))
			break;
	}
}

static void find_line(const struct oom_watch *w, struct oom_kill *kill)
{
	for (unsigned i = 0; i < LINES && i < w->lines; i++) {
		const struct oom_line *line = &w->line[(w->lines - 1 - i) % LINES];

		if (!line->pid || (line->pid != kill->kernel_pid && line->pid != kill->kernel_tid))
			continue;
		kill->line_known = true;
		kill->line = *line;
		return;
	}
}

/* ---- kills ---- */

int oom_watch_next(struct oom_watch *w, struct oom_kill *ret, struct snapshot *snapshot)
{
	int r;

	/* RAM may have been added. */
	w->messages.limits = reader_limits();
	ring_buffer__consume(w->ring);
	read_log(w);
	r = oom_messages_next(&w->messages, ret, snapshot);
	ret->listed = (uint32_t)snapshot->count;
	if (r == 1)
		find_line(w, ret);
	if (r == 1 && snapshot_finish(snapshot) < 0)
		return -ENOMEM;
	return r;
}

int oom_watch_next_signal(struct oom_watch *w, struct oom_kill *ret, struct snapshot *snapshot)
{
	int r = oom_messages_next_signal(&w->messages, ret, snapshot);

	return r == 1 && snapshot_finish(snapshot) < 0 ? -ENOMEM : r;
}

bool oom_watch_take_no_victim(struct oom_watch *w, struct oom_no_victim *ret)
{
	*ret = w->no_victim;
	w->no_victim = (struct oom_no_victim){};
	return ret->times;
}

bool oom_watch_next_over(struct oom_watch *w, struct oom_over *ret)
{
	const uint32_t page = reader_limits().page_size;

	for (size_t i = 0; w->over && i < ZMEM_SIGNALS_OVER; i++) {
		const struct zmem_oom_over now = w->over[i];

		if (now.count == w->told[i].count)
			continue;
		*ret = (struct oom_over){
			.signal = (int)now.signal,
			.sender = (pid_t)now.sender,
			.cgroup_number = now.cgroup,
			.count = now.count - w->told[i].count,
			.bytes = (now.pages - w->told[i].pages) * page,
			.boottime_ns = now.boottime_ns,
		};
		w->told[i].count = now.count;
		w->told[i].pages = now.pages;
		return true;
	}
	return false;
}
