// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "source/gpu_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "load/bpf_load.h"
#include "source/iterator.h"
#include "zmem/files.h"

struct gpu_source {
	struct bpf_handle handle;
	pid_t *pid;
	size_t count, capacity;
	struct bpf_handle buffers_handle; /* closed before Linux 6.16 */
	struct zmem_dmabuf *buffer;
	size_t buffers, buffers_capacity;
};

int gpu_source_open(struct gpu_source **ret)
{
	struct gpu_source *g = calloc(1, sizeof(*g));
	int r = g ? bpf_load(OBJECT_GPU, LOADER_EITHER, NULL, &g->handle, NULL) : -ENOMEM;

	if (r < 0) {
		free(g);
		return r;
	}
	r = bpf_load(OBJECT_DMABUF, LOADER_LIGHT, NULL, &g->buffers_handle, NULL);
	if (file_exhausted(r)) {
		gpu_source_close(g);
		return r;
	}
	*ret = g;
	return 0;
}

void gpu_source_close(struct gpu_source *g)
{
	if (!g)
		return;
	bpf_handle_close(&g->handle);
	bpf_handle_close(&g->buffers_handle);
	free(g->pid);
	free(g->buffer);
	free(g);
}

static int add_pid(void *arg, const void *record)
{
	struct gpu_source *g = arg;
	pid_t pid = ((const struct zmem_gpu_holder *)record)->pid;

	/* The files of a process follow each other. */
	if (g->count && g->pid[g->count - 1] == pid)
		return 0;
	if (!array_room(&g->pid, g->count, &g->capacity, 64))
		return -ENOMEM;
	g->pid[g->count++] = pid;
	return 0;
}

ssize_t gpu_source_read(struct gpu_source *g, const pid_t **ret)
{
	cleanup_close int fd = iterator_open(g->handle.fd[BPF_OPEN_FILES], NULL);
	ssize_t n = fd;

	g->count = 0;
	if (fd >= 0)
		n = iterator_read(fd, sizeof(struct zmem_gpu_holder), add_pid, g);
	*ret = g->pid;
	return n < 0 ? n : (ssize_t)g->count;
}

static int add_buffer(void *arg, const void *record)
{
	struct gpu_source *g = arg;

	if (!array_room(&g->buffer, g->buffers, &g->buffers_capacity, 64))
		return -ENOMEM;
	memcpy(&g->buffer[g->buffers++], record, sizeof(*g->buffer));
	return 0;
}

ssize_t gpu_source_buffers(struct gpu_source *g, const struct zmem_dmabuf **ret)
{
	int program = g->buffers_handle.fd[BPF_ITER];
	cleanup_close int fd = program ? iterator_open(program, NULL) : -EOPNOTSUPP;
	ssize_t n = fd;

	g->buffers = 0;
	if (fd >= 0)
		n = iterator_read(fd, sizeof(*g->buffer), add_buffer, g);
	if (n < 0)
		return n;
	if (g->buffers)
		qsort(g->buffer, g->buffers, sizeof(*g->buffer), compare_leading_u64);
	*ret = g->buffer;
	return (ssize_t)g->buffers;
}
