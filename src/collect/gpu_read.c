// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/gpu_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "proc/drm.h"
#include "source/gpu_source.h"
#include "source/nvml_source.h"

struct gpu_reader {
	struct drm_drivers drivers;
	struct gpu_source *source;  /* NULL: each process is asked */
	struct nvml_source *nvidia; /* NULL: there is no such driver */
};

static bool has_drivers(const struct gpu_reader *g)
{
	return g->drivers.gpus || g->drivers.buffers || g->drivers.nvidia;
}

static struct drm_drivers find_drivers(const struct procfs *proc)
{
	static const char *const file[] = {"devices", "misc"};
	struct drm_drivers found = {};
	char text[16384];

	for (size_t i = 0; i < ARRAY_SIZE(file); i++) {
		ssize_t len = procfs_read(proc, file[i], text, sizeof(text));

		if (len > 0)
			drm_drivers_parse(text, (size_t)len, &found);
	}
	return found;
}

int gpu_reader_open(const struct procfs *proc, bool bpf, struct gpu_reader **ret)
{
	struct gpu_reader *g = calloc(1, sizeof(*g));
	int r = 0;

	if (!g)
		return -ENOMEM;
	if (proc->fd >= 0)
		g->drivers = find_drivers(proc);
	if (bpf && has_drivers(g))
		r = gpu_source_open(&g->source);
	if (!file_exhausted(r) && g->drivers.nvidia)
		r = nvml_source_open(&g->nvidia);
	if (file_exhausted(r)) {
		gpu_reader_close(g);
		return r;
	}
	*ret = g;
	return 0;
}

void gpu_reader_state(const struct gpu_reader *g, bool *ret_there, bool *ret_bpf)
{
	*ret_there = has_drivers(g);
	*ret_bpf = g->source;
}

ssize_t gpu_reader_try_nvidia(struct gpu_reader *g, const char **ret_why)
{
	const struct gpu_part *part;

	return g->nvidia ? nvml_source_read(g->nvidia, &part, ret_why) : -ENODEV;
}

void gpu_reader_close(struct gpu_reader *g)
{
	if (!g)
		return;
	gpu_source_close(g->source);
	nvml_source_close(g->nvidia);
	free(g);
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct process *a = *(struct process *const *)pa, *b = *(struct process *const *)pb;

	return ORDER_OF(a->pid, b->pid);
}

/* The processes to ask, of those with these pids: each once, in the order of pids. */
static size_t choose(const pid_t *pid, ssize_t pids, struct snapshot *s, struct process **row)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; pids < 0 && i < s->count; i++) {
		if (s->process[i].kind == PROCESS_USER)
			row[count++] = &s->process[i];
	}
	for (ssize_t i = 0; i < pids && count < s->count; i++) {
		struct process *p = snapshot_find(s, pid[i]);

		if (p && p->kind == PROCESS_USER)
			row[count++] = p;
	}
	if (count)
		qsort(row, count, sizeof(*row), compare_rows);
	for (size_t i = 0; i < count; i++) {
		if (!kept || row[kept - 1] != row[i])
			row[kept++] = row[i];
	}
	return kept;
}

static void set_status(struct process *p, enum pss_status why)
{
	p->status[VALUE_GPU] = p->status[VALUE_DMABUF] = why;
}

static void set_none(struct snapshot *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->process[i].kind != PROCESS_USER)
			continue;
		process_set(&s->process[i], COUNTER_GPU, 0);
		process_set(&s->process[i], COUNTER_DMABUF, 0);
	}
}

/* Both lists are in the order of pids. A share that is not known makes the sum unknown. */
static void set_sums(struct snapshot *s, const struct gpu_parts *parts)
{
	counter_mask unknown = 0;

	for (size_t i = 0; i < parts->count; i++) {
		const struct gpu_part *part = &parts->item[i];
		struct process *p = snapshot_find(s, part->pid);
		enum counter c = part->kind == GPU_DMABUF ? COUNTER_DMABUF : COUNTER_GPU;

		if (!i || parts->item[i - 1].pid != part->pid)
			unknown = 0;
		if (!p)
			continue;
		if (!part->resident_known)
			unknown |= COUNTER_BIT(c);
		else if (process_has(p, c))
			p->value[c] += part->share;
		p->have &= ~unknown;
	}
}

/*
 * Clients of NVIDIA's driver show no sizes. Replaces them by what the library says of the processes
 * that have such clients, and only of those: another process may have the pid by now, or the pid be
 * of another namespace. `part` is in the order of pids, and has room for all parts of the library.
 * Returns the new number of parts.
 */
static size_t ask_nvidia(struct gpu_reader *g, struct snapshot *s, struct gpu_part *part,
			 size_t count)
{
	const struct gpu_part *used;
	const char *why;
	size_t kept = 0, at = 0, end = count;
	ssize_t uses;

	for (size_t i = 0; i < count; i++)
		kept += !drm_is_nvidia(&part[i]);
	if (!g->nvidia || kept == count)
		return count;
	uses = nvml_source_read(g->nvidia, &used, &why);
	if (uses < 0) {
		s->gpu.reason = why;
		return count;
	}
	for (size_t i = 0; i < count; i++) {
		if (!drm_is_nvidia(&part[i]))
			continue;
		for (; at < (size_t)uses && used[at].pid <= part[i].pid; at++) {
			if (used[at].pid == part[i].pid)
				part[end++] = used[at];
		}
	}
	kept = 0;
	for (size_t i = 0; i < end; i++) {
		if (!drm_is_nvidia(&part[i]) || i >= count)
			part[kept++] = part[i];
	}
	return kept;
}

/* ---- dma-bufs of which no process has a descriptor ---- */

struct buffers {
	ssize_t count; /* below 0: not known */
	struct zmem_dmabuf *item;
};

/* Lists the dma-bufs that exist before descriptors are looked at. */
static struct buffers begin_buffers(struct gpu_reader *g, struct snapshot *s)
{
	const struct zmem_dmabuf *all;
	struct buffers b = {g->source ? gpu_source_buffers(g->source, &all) : -EOPNOTSUPP, NULL};

	if (b.count < 0)
		return b;
	b.item = arena_alloc(&s->arena, ((size_t)b.count + 1) * sizeof(*b.item));
	if (!b.item)
		b.count = -ENOMEM;
	else if (b.count)
		memcpy(b.item, all, (size_t)b.count * sizeof(*b.item));
	return b;
}

static struct zmem_dmabuf *find_buffer(const struct buffers *b, uint64_t inode)
{
	return bsearch(&inode, b->item, (size_t)b->count, sizeof(*b->item), compare_leading_u64);
}

/* Counts the buffers that existed before and still exist, and that no descriptor has shown. */
static void end_buffers(struct gpu_reader *g, const struct gpu_part *part, size_t parts,
			struct buffers *b, struct gpu_regions *sums)
{
	const struct zmem_dmabuf *now;
	struct zmem_dmabuf *found;
	ssize_t count = b->count < 0 ? b->count : gpu_source_buffers(g->source, &now);

	if (count < 0)
		return;
	for (size_t i = 0; i < parts; i++) {
		found = part[i].kind == GPU_DMABUF && part[i].has_id ? find_buffer(b, part[i].id)
								     : NULL;
		if (found)
			found->bytes = 0;
	}
	for (ssize_t i = 0; i < count; i++) {
		found = find_buffer(b, now[i].inode);
		if (!found || !found->bytes)
			continue;
		sums->unheld++;
		sums->unheld_bytes += found->bytes;
	}
	sums->unheld_known = true;
}

/* Copies the parts of all results, with their processes; frees those. Returns 0 or -ENOMEM. */
static int join(struct gpu_reader *g, struct snapshot *s, struct process *const *row,
		struct pool_result *result, size_t count, struct buffers *buffers)
{
	struct gpu_regions *sums = arena_alloc(&s->arena, sizeof(*sums));
	struct gpu_part *part;
	size_t parts = 0;

	for (size_t i = 0; i < count; i++)
		parts += result[i].gpus;
	part = arena_alloc(&s->arena, (parts + 1 + (g->nvidia ? NVML_USES : 0)) * sizeof(*part));
	parts = 0;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; part && k < result[i].gpus; k++) {
			part[parts] = result[i].gpu[k];
			part[parts++].pid = row[i]->pid;
		}
		free(result[i].gpu);
		if (result[i].status != PSS_OK) {
			row[i]->have &= ~COUNTERS_OF_GPU;
			set_status(row[i], result[i].status);
		}
		if (result[i].status != PSS_OK && result[i].status != PSS_GONE)
			buffers->count = -EACCES;
	}
	if (!part || !sums)
		return -ENOMEM;
	parts = ask_nvidia(g, s, part, parts);
	gpu_divide(part, &parts);
	gpu_sum_regions(part, parts, sums);
	end_buffers(g, part, parts, buffers, sums);
	s->gpu.item = part;
	s->gpu.count = parts;
	s->gpu.sums = sums;
	return 0;
}

int gpu_reader_read(struct gpu_reader *g, struct proc_pool *pool, struct snapshot *s)
{
	cleanup_free struct process **row = NULL;
	cleanup_free struct pool_result *result = NULL;
	const pid_t *pid = NULL;
	ssize_t pids = -ENOTSUP; /* below 0: all are asked */
	struct buffers buffers;
	size_t count;
	int r, error;

	s->gpu = (struct gpu_parts){};
	for (size_t i = 0; i < s->count; i++)
		set_status(&s->process[i], PSS_UNSUPPORTED);
	if (!has_drivers(g)) {
		s->gpu.reason = "this machine has no driver of a GPU (/proc/devices)";
		s->gpu.none = true;
		return 0;
	}
	row = calloc(s->count + 1, sizeof(*row));
	result = calloc(s->count + 1, sizeof(*result));
	if (!row || !result)
		return -ENOMEM;
	if (g->source)
		pids = gpu_source_read(g->source, &pid);
	if (file_exhausted((int)pids))
		return (int)pids;
	buffers = begin_buffers(g, s);
	if (file_exhausted((int)buffers.count))
		return (int)buffers.count;
	count = choose(pid, pids, s, row);
	set_none(s);
	error = pool_read(pool, POOL_GPU, true, row, count, result);
	r = join(g, s, row, result, count, &buffers);
	if (r < 0 || error < 0)
		return r < 0 ? r : error;
	set_sums(s, &s->gpu);
	return 0;
}
