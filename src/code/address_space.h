/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What code is where in a process: its executable mappings, and the files behind them, which are
 * found while the process runs. Nothing here opens, reads or asks a file of a process: helpers do.
 */
#ifndef ZMEM_CODE_ADDRESS_SPACE_H
#define ZMEM_CODE_ADDRESS_SPACE_H

#include <sys/types.h>

#include "code/code_reader.h"
#include "code/process_reader.h"
#include "model/growth.h"
#include "proc/procfs.h"

/* A file that some process maps. */
struct program_file {
	char *path;	  /* as its process sees it, without " (deleted)" */
	const char *name; /* its last component */
	uint64_t inode, device;
	bool is_library;	    /* an allocator or the C library: growth is not its doing */
	struct code_reader *reader; /* that has opened it; NULL: it is no program for us */
	struct elf_facts facts;
	bool has_debug; /* a separate file with debugging symbols */
	bool asked;	/* debuginfod, for that */
	bool no_lines;	/* they cost too much */
	/* Why it has no names; GROWTH_OUT_REASONS: it has, or there is nothing to say. */
	enum growth_out reason;
	/* Private: to open it again for a new helper. */
	int found_fd, root_fd;
	bool opened;
};

struct file_table {
	struct program_file **item;
	size_t count, capacity;
};

/* What was read of a process before its turn: by then it may be gone. */
struct code_ahead {
	pid_t pid; /* 0: nothing was read */
	int pid_fd, root_fd;
	pid_t own_pid;
	struct code_reader *reader;
	struct strbuf code;
};

/* What is asked. */
struct code_sources {
	const struct libdw *dw; /* NULL: nothing is unwound, and no lines are found */
	struct helpers helpers;
	struct file_table files;
	struct process_reader *processes;
	struct code_ahead ahead;
	struct code_reader **reader;
	size_t readers, capacity;
};

int code_sources_open(struct code_sources *c, const struct libdw *dw);
void code_sources_close(struct code_sources *c);
/* The reason for which an error of a reader leaves out a name. */
enum growth_out code_reason(int error);
/*
 * Makes sure that the reader of a file has it open. Returns 0 or a negative errno. A helper that
 * ends with the file is not given it again.
 */
int code_file_ready(struct code_sources *c, uint32_t file);

struct address_space {
	pid_t pid;
	uint32_t number; /* for the reader */
	int pid_fd, root_fd;
	pid_t own_pid;		    /* in its own pid namespace */
	struct code_reader *reader; /* of its user; NULL: its user is not known */
	struct code_space code;
	uint64_t code_hash; /* of the mappings that were read last; 0: none */
	/* What the reader has. */
	int sent_start;
	unsigned sent_generation;
	unsigned failures; /* helpers that ended with it */
	int unwound;	   /* 0, or why the last stacks were not */
	int error;	   /* of the last reading: 0 or a negative errno */
};

/*
 * Reads what the process maps now, for the next address_space_open() or address_space_update() of
 * this process. `s` may be closed, and still have its pid. On failure the earlier reading stays.
 */
void address_space_look_ahead(const struct address_space *s, struct code_sources *c);
/* Forgets what was read. */
void code_ahead_clear(struct code_ahead *a);

/*
 * Reads the mappings for the first time. Returns 0 or a negative errno: -ESRCH, and those of
 * helper_call(). `number`: its own among the open ones.
 */
int address_space_open(struct address_space *s, const struct procfs *proc, pid_t pid,
		       uint32_t number, struct code_sources *c);
/*
 * A child begins with what its parent maps, and with its user; for one that has ended before it
 * could be read.
 */
int address_space_inherit(struct address_space *s, const struct address_space *parent);
/*
 * Reads them again. If they are the same, `code` does not change, nor does its generation. On
 * failure the old ones stay.
 */
int address_space_update(struct address_space *s, struct code_sources *c);
/*
 * Makes sure that the reader of the process has the file open. Returns 0 or a negative errno; of a
 * file that is opened for another user's process, too, it may be -EACCES.
 */
int address_space_ready(const struct address_space *s, struct code_sources *c, uint32_t file);
/* See code_reader_unwind(). After an error, stacks without addresses. */
void address_space_unwind(struct address_space *s, struct code_sources *c,
			  const struct zmem_grow_stack *const *stack, size_t count,
			  struct unwound *ret);
void address_space_close(struct address_space *s);

#endif
