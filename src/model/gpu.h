/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory that processes use on GPUs, and buffers that devices share. One client of a GPU is one
 * open file of its device; several processes may hold it, by fork or because it was passed on. The
 * memory of a client is divided by the processes that hold it, as PSS is, so sums over processes
 * count it once.
 */
#ifndef ZMEM_MODEL_GPU_H
#define ZMEM_MODEL_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GPU_NAME 24

enum gpu_kind {
	GPU_CLIENT = 0, /* an open file of a DRM device */
	GPU_DMABUF = 1, /* an open buffer of dma-buf */
	GPU_NVML = 2,	/* all that a process uses of a device of NVIDIA */
	GPU_KINDS,
} __attribute__((packed));

/* Larger sizes are taken for unknown: sums of them would overflow. */
#define GPU_BYTES_MAX ((uint64_t)1 << 56)

/* "client", "dmabuf", "nvml": the words in JSON. */
const char *gpu_kind_name(enum gpu_kind kind);

/*
 * What one process holds of one client, in one of the regions of its device; or one buffer. A
 * client without a region has one part that has neither region nor sizes.
 */
struct gpu_part {
	pid_t pid;
	uint32_t holders;    /* processes that hold it */
	uint64_t id;	     /* of the client; of a dma-buf its inode */
	bool first;	     /* of its holders: sums over clients count this one */
	bool has_id;	     /* else it is another client than each other one */
	bool resident_known; /* false: its driver does not tell */
	bool shared_known;
	enum gpu_kind kind;
	uint64_t resident;     /* bytes; of a dma-buf its size */
	uint64_t shared;       /* the part of it in buffers that other clients hold, too: at most */
	uint64_t share;	       /* what the process counts: a part of `resident` */
	char driver[GPU_NAME]; /* of a dma-buf its exporter; empty: not known */
	char device[GPU_NAME]; /* "0000:03:00.0"; empty: none */
	char region[GPU_NAME]; /* "vram0", "gtt", "system"; empty: none */
};

/* The region of a GPU, over all clients. */
struct gpu_region {
	uint32_t clients;
	uint64_t resident; /* the sum; a buffer that several clients share counts for each */
	uint64_t least;	   /* the same with such buffers as often as they must be there */
	bool in_ram;	   /* it is memory of the machine, not of the device */
	char driver[GPU_NAME], device[GPU_NAME], region[GPU_NAME];
};

#define GPU_REGIONS 32

/* The sums of one device and region: `resident` and `least` count each client once. */
struct gpu_regions {
	uint32_t count;
	uint32_t silent;  /* clients of which no size is known */
	uint32_t buffers; /* dma-bufs that a process has open */
	uint64_t buffer_bytes;
	/* Others: a process maps them, a message holds them, or a driver. */
	bool unheld_known;
	uint32_t unheld;
	uint64_t unheld_bytes;
	struct gpu_region item[GPU_REGIONS];
};

/* All parts of a snapshot. */
struct gpu_parts {
	const struct gpu_part *item; /* in the order of pids */
	size_t count;
	/* Why nothing is known, or with `sums` not that of NVIDIA; NULL: it is known, or was not
	 * asked for. */
	const char *reason;
	const struct gpu_regions *sums; /* NULL: not known */
	bool none;			/* the machine has no driver of one, as the reason says */
};

/*
 * Removes what a process holds twice, counts the holders of each part, and divides it among them:
 * the shares add up to the whole. The parts are then in the order of pids.
 */
void gpu_divide(struct gpu_part *part, size_t *count);

/* Regions beyond GPU_REGIONS are left out. The parts were divided. */
void gpu_sum_regions(const struct gpu_part *part, size_t count, struct gpu_regions *ret);

/*
 * Whether a region is memory of the machine: system, gtt, cpu and memory are
 * (Documentation/gpu/drm-usage-stats.rst and the drivers).
 */
bool gpu_region_in_ram(const char *region);

/* The parts of a process. */
const struct gpu_part *gpu_parts_of(const struct gpu_parts *all, pid_t pid, size_t *ret_count);

#endif
