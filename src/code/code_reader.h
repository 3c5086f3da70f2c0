/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What files with code say: names, and tables for unwinding. They are opened and parsed by a helper
 * with the rights of the user of the process, so what the process has as a library or as symbols
 * names nothing that its user cannot read, costs a bounded time and a bounded memory, and can hang
 * only this helper. There is one helper for each user.
 */
#ifndef ZMEM_CODE_CODE_READER_H
#define ZMEM_CODE_CODE_READER_H

#include "code/code_space.h"
#include "code/function_search.h"
#include "code/libdw.h"
#include "code/symbols.h"
#include "code/unwind.h"
#include "privilege/helper.h"

/* What is asked, and what the request has. */
enum code_ask {
	CODE_OPEN,	 /* struct code_open and the path; the file, the root */
	CODE_DEBUG,	 /* uint32 file; the debug file */
	CODE_SPACE,	 /* struct code_space_part and images */
	CODE_FORGET,	 /* uint32 space */
	CODE_UNWIND,	 /* uint32 space, 0, and the stack */
	CODE_NAMES,	 /* struct code_names and uint64 addresses */
	CODE_PERF_MAP,	 /* struct code_perf_map; the root */
	CODE_PERF_NAMES, /* as CODE_NAMES, of a map */
	CODE_LINES,	 /* likewise, of a file: a name is a source, its start the line */
	CODE_FUNCTIONS,	 /* struct code_functions and names, each terminated */
	CODE_VERSION,	 /* uint32 file; the text */
};

struct code_reader;

/*
 * `dw` is NULL if nothing will be unwound and no line is wanted; it outlives the reader. Returns 0
 * or -ENOMEM. Nothing is started yet.
 */
int code_reader_new(const struct libdw *dw, uid_t uid, gid_t gid, struct helpers *shared,
		    struct code_reader **ret);
bool code_reader_is_of(const struct code_reader *r, uid_t uid, gid_t gid);
/*
 * Starts the helper if it does not run. The number changes when it is a new one, which has no files
 * and no images. Returns a number above 0, or a negative errno of helper_start().
 */
int code_reader_begin(struct code_reader *r);
void code_reader_free(struct code_reader *r);

/*
 * These return 0 or a negative errno, also those of helper_call(). `file` and `space` are numbers
 * of the caller's choice.
 *
 * Opens a file: `found` is an O_PATH descriptor, or if `opened` one for reading. `path` and
 * `root_fd` (-1: none) are for its debug file. *ret_debug: it has one. -EACCES: its user may not
 * read it. -ENOEXEC: it is no program.
 */
struct code_file_request {
	uint32_t file;
	int found, root_fd;
	bool opened;
	const char *path;
};
int code_reader_open(struct code_reader *r, const struct code_file_request *request,
		     struct elf_facts *ret, bool *ret_debug);
/* True if the helper that runs was asked to open that file, and has told whether it could. */
bool code_reader_has(const struct code_reader *r, uint32_t file);
/* Adds a debug file. -ENOEXEC: it is another file's. */
int code_reader_add_debug(struct code_reader *r, uint32_t file, int fd);
/* Sets the images of an address space. */
int code_reader_set_space(struct code_reader *r, uint32_t space, const struct code_space *images);
/*
 * Unwinds stacks in it: at most UNWIND_BATCH, and UNWIND_BYTES of unwind_size(). One of which no
 * frame is known has none.
 */
int code_reader_unwind(struct code_reader *r, uint32_t space,
		       const struct zmem_grow_stack *const *stack, size_t count,
		       struct unwound *ret);
void code_reader_forget_space(struct code_reader *r, uint32_t space);

/*
 * Names addresses: by CODE_NAMES, of a file; by CODE_LINES, with libdw, their lines: the name is
 * the path of the source, `start` the line; by CODE_PERF_NAMES, of a perf map as it is now, for
 * which they are in ascending order. fn is called for each one of which the function is known, in
 * ascending order of `i`; the name is terminated, "" if it has none, and valid during the call. It
 * returns 0 or a negative errno, which ends the call. -EFBIG: a budget was used up, and the other
 * addresses have no names.
 */
typedef int (*code_name_fn)(void *arg, size_t i, uint64_t start, const char *name);
int code_reader_name(struct code_reader *r, enum code_ask by, uint32_t number,
		     const uint64_t *address, size_t count, code_name_fn fn, void *arg);
#define CODE_FUNCTIONS_MAX 256 /* names of a request, and functions of its answer */
/*
 * Finds functions of these names (functions_find()). Returns how many, at most `cap`, or a negative
 * errno.
 */
int code_reader_functions(struct code_reader *r, uint32_t file, const struct function_names *names,
			  struct found_function *ret, size_t cap);
/* jemalloc_version() */
int code_reader_version(struct code_reader *r, uint32_t file, char ret[CODE_VERSION_MAX]);
/* Opens the perf map of a process, by its pid in its own namespace. -ENOENT: it has none. */
int code_reader_open_perf_map(struct code_reader *r, uint32_t map, int root_fd, pid_t own_pid);

#endif
