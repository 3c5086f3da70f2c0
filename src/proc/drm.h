/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/PID/fdinfo/FD of files of GPUs (Documentation/gpu/drm-usage-stats.rst) and of dma-bufs
 * (Documentation/filesystems/proc.rst, "DMA Buffer files").
 */
#ifndef ZMEM_PROC_DRM_H
#define ZMEM_PROC_DRM_H

#include "model/gpu.h"

/* Regions of one client; further ones are ignored. */
#define DRM_REGIONS 12

/*
 * The parts of a file: one for each region, or one without a size if its driver tells none. Units
 * and keys that are not known are ignored; of a key that is there twice the first one counts. The
 * amount in a region is drm-resident-REGION or, of older drivers, drm-memory-REGION. Returns their
 * number, at least 1: the file is what `kind` says.
 */
size_t drm_parse(enum gpu_kind kind, const char *text, size_t len,
		 struct gpu_part ret[DRM_REGIONS]);

/* What /proc/devices and /proc/misc say of drivers that make such files. */
struct drm_drivers {
	bool gpus;    /* devices of DRM, of either kind */
	bool buffers; /* others that make dma-bufs */
	bool nvidia;  /* that of NVIDIA: libnvidia-ml knows the sizes (source/nvml_source.h) */
};

/* A text of either file; adds to *ret. */
void drm_drivers_parse(const char *text, size_t len, struct drm_drivers *ret);

/* The parts of one process. */
struct drm_files {
	struct gpu_part *part; /* to be freed */
	size_t count, capacity;
};

/* Whether it is a client of NVIDIA's driver. The files of that driver tell no sizes. */
bool drm_is_nvidia(const struct gpu_part *p);

/*
 * Reads the files of /proc/PID that are such, by the links in PID/fd; others are not opened. What
 * dup() made is there once. Returns 0, or a negative errno, -E2BIG if they are more than
 * DRM_FILES_MAX: the files so far must be freed.
 */
#define DRM_FILES_MAX 4096
int drm_files_read(int pid_fd, struct drm_files *ret);

#endif
