/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes cached files of the records of bpf/files.bpf.c. Pure. */
#ifndef ZMEM_SOURCE_FILES_DECODE_H
#define ZMEM_SOURCE_FILES_DECODE_H

#include "model/files.h"
#include "proc/mounts.h"
#include "zmem/files.h"

struct files_decoder {
	struct file_set *set;
	const struct mounts *mounts;
	uint32_t page_size;
	/* The current file system: */
	bool kernel_mount; /* it is the kernel's own mount of shared memory */
	const char *fs;	   /* NULL before the first one */
	size_t first;	   /* its first file */
};

/*
 * Adds the records of one visit. Returns 0, -ENOMEM, or -EPROTO for records that the program never
 * writes.
 */
int files_decode(struct files_decoder *d, const struct zmem_file *record, size_t count);

#endif
