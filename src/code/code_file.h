/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file with code, as the helper of its user has it (code_reader.h): opened, with its symbols. All
 * of these functions can hang, for the file may be on the file system of any user.
 */
#ifndef ZMEM_CODE_CODE_FILE_H
#define ZMEM_CODE_CODE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "code/functions.h"
#include "code/lines.h"

struct code_file {
	int fd;	      /* -1: it is not open */
	int debug_fd; /* -1: there is no separate file with debugging symbols */
	struct elf_facts facts;
	struct known_names {
		/* Addresses that were asked for, in ascending order, and what was found. */
		struct code_name *item;
		size_t count;
	} symbols, lines;
	struct arena names;
};

#define CODE_FILE_CLOSED                                                                           \
	{                                                                                          \
		.fd = -1, .debug_fd = -1                                                           \
	}

/*
 * Opens what is behind an O_PATH descriptor: only a regular file, for to open a FIFO or a device is
 * to use it. `everybody`: only if everybody may read it. Returns a descriptor or a negative errno.
 */
int code_open_found(int found, bool everybody);
/*
 * An O_PATH descriptor of what is below the root of a process, from which no link leads out; or
 * -ENOENT. `root_fd` may be -1.
 */
int code_find_below(int root_fd, const char *path, unsigned flags);
/*
 * Reads the facts of an open file, which it takes also on failure, and looks for its debug file:
 * below `root_fd` (-1: nowhere) by the build id, and by the link from `path`; below our root by the
 * build id. Returns 0 or a negative errno: -ENOEXEC.
 */
int code_file_open(struct code_file *f, int fd, const char *path, int root_fd, bool everybody);
/* Adds a debug file from elsewhere, which it takes. Returns 0 or -ENOEXEC: it is another file's. */
int code_file_add_debug(struct code_file *f, int fd);
/*
 * Names addresses, which are in any order and have no name, until the file is closed, as
 * functions_name() does; those that were looked up before cost nothing. Returns 0, -ENOMEM, or
 * -EFBIG if the budget was not enough.
 */
int code_file_look_up(struct code_file *f, struct code_name *wanted, size_t count,
		      struct symbol_budget *budget);
/* Likewise their lines, as lines_find() does. Returns 0 or -ENOMEM. */
int code_file_find_lines(struct code_file *f, const struct libdw *dw, struct code_name *wanted,
			 size_t count);
void code_file_close(struct code_file *f);

/*
 * Opens /tmp/perf-PID.map below the root of a process, by its pid in its own namespace: a regular
 * file with one name, of its user or of root. Returns a descriptor or a negative errno.
 */
int code_open_perf_map(int root_fd, pid_t own_pid, uid_t owner, bool everybody);

#endif
