/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What code is where in a process: its executable mappings, and the files behind them, which are
 * opened while the process runs, through its own root and with the rights of its user.
 */
#ifndef ZMEM_GROW_ADDRESS_SPACE_H
#define ZMEM_GROW_ADDRESS_SPACE_H

#include <sys/types.h>

#include "grow/symbols.h"
#include "proc/procfs.h"

#define NO_FILE UINT32_MAX

/* A file that some process maps. */
struct program_file {
	char *path;	  /* as its process sees it, without " (deleted)" */
	const char *name; /* its last component */
	uint64_t inode, device;
	int fd;	      /* -1: it could not be opened, or is no ELF file */
	int debug_fd; /* -1: there is no separate file with debugging symbols */
	struct elf_facts facts;
	struct symbols *symbols; /* NULL before the first use */
	bool tried;		 /* to read the symbols */
	bool is_library;	 /* an allocator or the C library: growth is not its doing */
};

struct file_table {
	struct program_file **item;
	size_t count, capacity;
};

void file_table_done(struct file_table *t);
/* The function that contains the address; NULL if none is known. */
const char *file_symbol(struct program_file *f, uint64_t vaddr, uint64_t *ret_start);

/* A part of a file that is mapped as code. */
struct image {
	uint64_t start, end;
	uint64_t base; /* start - base is the address in the file's own terms */
	uint64_t low;  /* where the first segment of the file is mapped */
	uint32_t file; /* NO_FILE: memory without a file */
	bool jit;      /* the program has made this code */
};

struct address_space {
	pid_t pid;
	const struct procfs *proc;
	int pid_fd, root_fd;   /* of /proc/PID and /proc/PID/root */
	uint64_t shmem_device; /* of memory without a path, as in /proc/PID/maps; 0: not known */
	struct image *image;   /* by address */
	size_t count, capacity;
	unsigned generation; /* grows when the images change */
};

/* Reads the mappings for the first time. Returns 0 or a negative errno: -ESRCH. */
int address_space_open(struct address_space *s, const struct procfs *proc, pid_t pid,
		       struct file_table *files);
/* A child begins with what its parent maps; for one that has ended before it could be read. */
int address_space_inherit(struct address_space *s, const struct address_space *parent);
/* Reads them again. On failure the old ones stay. */
int address_space_update(struct address_space *s, struct file_table *files);
/* The image that contains the address, NULL if none does. */
const struct image *address_space_find(const struct address_space *s, uint64_t address);
/*
 * Opens /tmp/perf-PID.map of the process, below its root, with its pid in its own namespace and
 * with the rights of its user: a regular file with one name, of that user or of root. Returns a
 * descriptor or a negative errno.
 */
int address_space_open_perf_map(const struct address_space *s);
/* Opens /proc/PID/NAME, "mem" or "pagemap", for reading. Returns a descriptor or a negative errno.
 */
int address_space_open_own(const struct address_space *s, const char *name);
void address_space_close(struct address_space *s);

#endif
