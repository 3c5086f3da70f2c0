// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loads the program of mark_victim and reads its ring buffer. */
#include "source/oom_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "load/bpf_diagnose.h"
#include "source/oom_messages.h"
#include "source/reader.h"
#include "source/source_internal.h"
#include "zmem/oom.h"

#define LINES 16

struct oom_watch {
	int link_fd; /* holds the program, which holds its maps */
	int ring_fd;
	struct ring_buffer *ring;
	struct oom_messages messages;
	int log_fd;		     /* /dev/kmsg; -1: it may not be read */
	struct oom_line line[LINES]; /* a ring of the last lines about kills */
	unsigned lines;
	struct oom_request
		request; /* of the line that came last; it belongs to the next line about a kill */
};

static int receive(void *arg, void *data, size_t len)
{
	struct oom_watch *w = arg;

	oom_messages_add(&w->messages, data, len);
	return 0;
}

/* ---- opening ---- */

static int attach(struct oom_watch *w, const struct bpf_handle *object)
{
	w->link_fd = bpf_raw_tracepoint_open(NULL, object->fd[BPF_ITER]);
	if (w->link_fd < 0)
		return -errno;
	w->ring_fd = fcntl(object->fd[BPF_RING], F_DUPFD_CLOEXEC, 0);
	if (w->ring_fd < 0)
		return -errno;
	w->ring = ring_buffer__new(w->ring_fd, receive, w, NULL);
	return w->ring ? 0 : -errno;
}

static int open_object(struct oom_watch *w, enum bpf_object_id id, enum zmem_oom_scope scope,
		       struct diag *diag)
{
	cleanup(bpf_handle_close) struct bpf_handle object = {};
	uint64_t argument = scope;
	int r = bpf_source_load("OOM kills", id, LOADER_LIBBPF, 0, diag, &object);

	if (r < 0)
		return r;
	r = bpf_handle_run(object.fd[BPF_OOM_SETUP], &argument, sizeof(argument));
	if (r == 0)
		r = attach(w, &object);
	if (r)
		bpf_diagnose_note(diag, "OOM kills", "attaching to mark_victim", r < 0 ? r : -ENXIO,
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

int oom_watch_open(enum zmem_oom_scope scope, struct diag *diag, struct oom_watch **ret)
{
	static const enum bpf_object_id id[] = {OBJECT_OOM, OBJECT_OOM_PROBE, OBJECT_OOM_OLD};
	int r = -ENOTSUP;

	for (size_t i = 0; i < ARRAY_SIZE(id); i++) {
		struct oom_watch *w = calloc(1, sizeof(*w));

		if (!w)
			return -ENOMEM;
		w->link_fd = w->ring_fd = w->log_fd = -1;
		r = open_object(w, id[i], scope, diag);
		if (r == 0) {
			open_log(w);
			*ret = w;
			return 0;
		}
		oom_watch_close(w);
	}
	return r;
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
	close_fd(&w->link_fd);
	close_fd(&w->ring_fd);
	close_fd(&w->log_fd);
	oom_messages_done(&w->messages);
	free(w);
}

/* ---- the kernel's log ---- */

/* Reads the lines about new kills. The kernel writes them before it calls mark_victim. */
static void read_log(struct oom_watch *w)
{
	char record[8192]; /* CONSOLE_EXT_LOG_MAX, and more */
	ssize_t len;

	if (w->log_fd < 0)
		return;
	/* EPIPE: lines were overwritten before they were read. */
	while ((len = read(w->log_fd, record, sizeof(record))) > 0 ||
	       (len < 0 && (errno == EPIPE || errno == EINTR))) {
		if (len <= 0)
			continue;
		oom_request_parse(record, (size_t)len, &w->request);
		if (oom_line_parse(record, (size_t)len, &w->line[w->lines % LINES]) < 0)
			continue;
		w->line[w->lines++ % LINES].request = w->request;
		w->request = (struct oom_request){};
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
