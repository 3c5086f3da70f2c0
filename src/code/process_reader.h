/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What grow asks of a process that needs rights, and may wait: for its mmap_lock, for its exec, or
 * for the server of a file system. A helper asks, which keeps the capabilities for it and parses
 * nothing but /proc/PID/maps and the tables of mounts. It gives the descriptors of files on, for
 * the user of the process to open them (code_reader.h).
 */
#ifndef ZMEM_CODE_PROCESS_READER_H
#define ZMEM_CODE_PROCESS_READER_H

#include <stdint.h>

#include "base/strbuf.h"
#include "privilege/helper.h"

/* A mapping with code. */
struct code_mapping {
	uint64_t start, end, offset, inode;
	uint64_t device; /* major << 32 | minor */
	uint64_t shmem;	 /* 1: it is memory of the kernel's own mount */
	uint32_t name_len;
	uint32_t unused;
	/* The name follows, as the kernel writes it. */
};

struct process_reader {
	struct helper helper;
	struct strbuf code; /* the helper's copy has all mappings of the last process */
};

/* helper_done() ends it. */
void process_reader_init(struct process_reader *r, struct helpers *shared);

/*
 * These return 0 or a negative errno: -ESRCH if the process is gone, and those of helper_call().
 * `pid_fd`: of procfs_open_pid().
 *
 * Reads the mappings with code, for process_each_code(). *ret_root: an O_PATH descriptor of the
 * root of the process, -1 if there is none; the caller closes it also after an error.
 */
int process_read_code(struct process_reader *r, int pid_fd, struct strbuf *ret, int *ret_root);
/* Calls fn for each mapping, by address, until it returns other than 0, and returns that. */
int process_each_code(const struct strbuf *code,
		      int (*fn)(void *arg, const struct code_mapping *m, const char *name),
		      void *arg);
/*
 * Finds the file of a mapping: an O_PATH descriptor. `path`: below the root of the process; a file
 * with another inode there is another file. `root_fd` may be -1.
 */
int process_find_file(struct process_reader *r, int pid_fd, int root_fd,
		      const struct code_mapping *m, const char *path, int *ret);
/*
 * Opens such a file for reading with the rights of this process. Only if the process has another
 * root than we have, so that its user may lack the rights of the user who made the root, and the
 * file is on a file system that is mounted here, too, and is no server's. Else -EACCES.
 */
int process_open_file(struct process_reader *r, int pid_fd, int found, int *ret);
/*
 * The type of the file system of such a file, "" if it is not known. Returns 1 if no user and no
 * other machine answers for it, 0, or a negative errno.
 */
#define FILE_SYSTEM_MAX 32
int process_file_type(struct process_reader *r, int pid_fd, int found, char type[FILE_SYSTEM_MAX]);
/* How many of the pages around an address that one fault added are still in RAM or swap. */
struct fault_pages {
	uint64_t page; /* address / page size */
	uint32_t added, there;
};
int process_count_pages(struct process_reader *r, int pid_fd, struct fault_pages *item,
			size_t count);
/*
 * The first bytes of memory at an address, without a page fault: only if the page is in RAM.
 * Returns their number, 0 if there are none, or a negative errno.
 */
int process_read_memory(struct process_reader *r, int pid_fd, uint64_t address, void *ret,
			size_t len);

#endif
