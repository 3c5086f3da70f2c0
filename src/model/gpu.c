// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Divides the clients of GPUs among the processes that hold them, and adds them up. */
#include "model/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const char *gpu_kind_name(enum gpu_kind kind)
{
	static const char *const names[GPU_KINDS] = {
		[GPU_CLIENT] = "client", [GPU_DMABUF] = "dmabuf", [GPU_NVML] = "nvml"};

	return names[kind];
}

/* By what a part is known by: of which client it is, and in which region. */
static int compare_ids(const struct gpu_part *a, const struct gpu_part *b)
{
	int r = ORDER_OF(a->kind, b->kind);

	r = r ? r : strcmp(a->device, b->device);
	/* The inode of a dma-buf is enough. */
	if (!r && a->kind != GPU_DMABUF)
		r = strcmp(a->driver, b->driver);
	r = r ? r : ORDER_OF(a->has_id, b->has_id);
	return r ? r : ORDER_OF(a->id, b->id);
}

static int compare_parts(const void *pa, const void *pb)
{
	const struct gpu_part *a = pa, *b = pb;
	int r = compare_ids(a, b);

	r = r ? r : strcmp(a->region, b->region);
	return r ? r : ORDER_OF(a->pid, b->pid);
}

static int compare_pids(const void *pa, const void *pb)
{
	const struct gpu_part *a = pa, *b = pb;
	int r = ORDER_OF(a->pid, b->pid);

	return r ? r : compare_parts(a, b);
}

static bool is_same(const struct gpu_part *a, const struct gpu_part *b)
{
	return a->has_id && compare_ids(a, b) == 0 && strcmp(a->region, b->region) == 0;
}

/* Whether both are of one process. Parts without an id are one: dup() may have made them. */
static bool is_twice(const struct gpu_part *a, const struct gpu_part *b)
{
	return compare_parts(a, b) == 0 && (a->has_id || !(a->resident_known || b->resident_known));
}

/* The processes read it one after the other: the last one that has a size has it for all. */
static void divide(struct gpu_part *part, size_t holders)
{
	const struct gpu_part *known = &part[0];

	for (size_t i = 1; i < holders; i++) {
		if (part[i].resident_known)
			known = &part[i];
	}
	for (size_t i = 0; i < holders; i++) {
		struct gpu_part *p = &part[i];

		p->resident_known = known->resident_known;
		p->resident = known->resident;
		p->shared_known = known->shared_known;
		p->shared = known->shared;
		p->holders = (uint32_t)holders;
		p->first = !i;
		p->share = p->resident / holders + (i < p->resident % holders);
	}
}

void gpu_divide(struct gpu_part *part, size_t *count)
{
	size_t kept = 0;

	if (!*count)
		return;
	qsort(part, *count, sizeof(*part), compare_parts);
	for (size_t i = 0; i < *count; i++) {
		if (kept && is_twice(&part[kept - 1], &part[i])) {
			if (part[i].resident_known)
				part[kept - 1] = part[i];
			continue;
		}
		part[kept++] = part[i];
	}
	*count = kept;
	for (size_t i = 0, end; i < kept; i = end) {
		end = i + 1;
		while (end < kept && is_same(&part[i], &part[end]))
			end++;
		divide(part + i, end - i);
	}
	qsort(part, kept, sizeof(*part), compare_pids);
}

bool gpu_region_in_ram(const char *region)
{
	static const char *const words[] = {"system", "gtt", "cpu", "memory", "stolen-system"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t len = strlen(words[i]);

		/* i915 numbers them: system0. */
		if (strncmp(region, words[i], len) == 0 &&
		    !region[len + strspn(region + len, "0123456789")])
			return true;
	}
	return false;
}

static struct gpu_region *find_region(struct gpu_regions *all, const struct gpu_part *p)
{
	struct gpu_region *r;

	for (uint32_t i = 0; i < all->count; i++) {
		r = &all->item[i];
		if (strcmp(r->device, p->device) == 0 && strcmp(r->driver, p->driver) == 0 &&
		    strcmp(r->region, p->region) == 0)
			return r;
	}
	if (all->count == GPU_REGIONS)
		return NULL;
	r = &all->item[all->count++];
	*r = (struct gpu_region){.in_ram = gpu_region_in_ram(p->region)};
	memcpy(r->driver, p->driver, sizeof(r->driver));
	memcpy(r->device, p->device, sizeof(r->device));
	memcpy(r->region, p->region, sizeof(r->region));
	return r;
}

static void add_saturating(uint64_t *sum, uint64_t v)
{
	if (__builtin_add_overflow(*sum, v, sum))
		*sum = UINT64_MAX;
}

void gpu_sum_regions(const struct gpu_part *part, size_t count, struct gpu_regions *ret)
{
	uint64_t largest[GPU_REGIONS] = {};

	*ret = (struct gpu_regions){};
	for (size_t i = 0; i < count; i++) {
		const struct gpu_part *p = &part[i];
		uint64_t shared = p->shared_known && p->shared < p->resident ? p->shared
				  : p->shared_known			     ? p->resident
									     : 0;
		struct gpu_region *r;

		if (p->kind == GPU_DMABUF) {
			ret->buffers += p->first;
			add_saturating(&ret->buffer_bytes, p->share);
			continue;
		}
		if (!p->resident_known) {
			ret->silent += p->first;
			continue;
		}
		r = p->first ? find_region(ret, p) : NULL;
		if (!r)
			continue;
		r->clients++;
		add_saturating(&r->resident, p->resident);
		add_saturating(&r->least, p->resident - shared);
		if (shared > largest[r - ret->item])
			largest[r - ret->item] = shared;
	}
	/* All that is shared may be the same buffers, which the client with the most has. */
	for (uint32_t i = 0; i < ret->count; i++)
		add_saturating(&ret->item[i].least, largest[i]);
}

static bool is_before(const void *part, const void *pid)
{
	return ((const struct gpu_part *)part)->pid < *(const pid_t *)pid;
}

const struct gpu_part *gpu_parts_of(const struct gpu_parts *all, pid_t pid, size_t *ret_count)
{
	size_t low = count_before(all->item, all->count, sizeof(*all->item), is_before, &pid), end;

	for (end = low; end < all->count && all->item[end].pid == pid; end++)
		;
	*ret_count = end - low;
	return *ret_count ? &all->item[low] : NULL;
}
