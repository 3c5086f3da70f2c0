// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Splits what an iterator writes into records; reader.c does so where their sizes differ. */
#include "source/iterator.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

int iterator_link(int prog_fd, union bpf_iter_link_info *only)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = only, .iter_info_len = sizeof(*only));

	return bpf_link_create(prog_fd, 0, BPF_TRACE_ITER, only ? &opts : NULL);
}

int iterator_open(int prog_fd, union bpf_iter_link_info *only)
{
	cleanup_close int link_fd = iterator_link(prog_fd, only);

	return link_fd < 0 ? link_fd : bpf_iter_create(link_fd);
}

ssize_t iterator_visit(int prog_fd, pid_t pid, void *buf, size_t cap)
{
	union bpf_iter_link_info only = {.task.pid = (__u32)pid};
	cleanup_close int iter = iterator_open(prog_fd, &only);
	size_t len = 0;
	ssize_t n;

	if (iter < 0)
		return iter;
	/* To the end: only then all threads were visited. */
	while (len < cap && (n = read(iter, (char *)buf + len, cap - len)) > 0)
		len += (size_t)n;
	return (ssize_t)len;
}

ssize_t iterator_read(int fd, size_t size, int (*fn)(void *arg, const void *record), void *arg)
{
	_Alignas(8) char buf[32 * 1024];
	size_t len = 0, used;
	ssize_t count = 0;

	for (;;) {
		ssize_t n = read(fd, buf + len, sizeof(buf) - len);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return len ? -EBADMSG : count;
		len += (size_t)n;
		for (used = 0; len - used >= size; used += size, count++) {
			int r = fn(arg, buf + used);

			if (r < 0)
				return r;
		}
		len -= used;
		memmove(buf, buf + used, len);
	}
}

static int ignore_record(void *arg, const void *record)
{
	(void)arg;
	(void)record;
	return 0;
}

int iterator_run(int link_fd)
{
	cleanup_close int fd = bpf_iter_create(link_fd);
	ssize_t r = fd < 0 ? fd : iterator_read(fd, 1, ignore_record, NULL);

	return r < 0 ? (int)r : 0;
}
