/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The messages between code_reader.c and the helper that answers them. */
#ifndef ZMEM_CODE_CODE_HELPER_H
#define ZMEM_CODE_CODE_HELPER_H

#include "code/code_reader.h"
#include "code/function_search.h"
#include "code/perf_map.h"
#include "code/unwind.h"
#include "privilege/helper.h"

struct code_open {
	uint32_t file;
	uint32_t opened; /* 1: the descriptor is for reading */
};

/* The answer to opening a file. */
struct code_opened {
	struct elf_facts facts;
	uint32_t debug; /* 1: there is a debug file */
	uint32_t unused;
};

struct code_space_part {
	uint32_t space;
	uint32_t first; /* number of the first image that follows; 0 begins anew */
	uint32_t generation;
	uint32_t unused;
};

/*
 * The helper keeps the names of the last request. `first`: the answer begins with this address, so
 * that a long one comes in parts; only the first part has addresses.
 */
struct code_names {
	uint32_t number; /* of the file or map */
	uint32_t first;
};

/* In the answer, for each address with a name or a start; the name follows, with its end. */
struct code_named {
	uint32_t i;
	uint32_t len; /* with the end */
	uint64_t start;
};

/* The first of an answer. */
struct code_names_head {
	uint32_t next; /* the address with which the next part begins */
	int32_t error; /* -EFBIG: a budget was used up */
};

struct code_functions {
	uint32_t file;
	uint32_t locals; /* struct function_names */
};

struct code_perf_map {
	uint32_t map;
	uint32_t owner; /* uid */
	int32_t own_pid;
	uint32_t unused;
};

#define CODE_SPACES 256
#define CODE_MAPS   512
#define CODE_FILES  65536

/* What the helper has. Zeroed memory, but for the first two, is its beginning. */
struct code_helper {
	const struct libdw *dw;
	bool everybody;		     /* only files that everybody may read */
	struct symbol_budget budget; /* left of that of BUDGET_US */
	uint64_t budget_us;	     /* when it was filled last; 0: never */
	struct code_files files;
	struct {
		struct code_space images;
		struct unwinder *unwinder;
	} space[CODE_SPACES];
	int perf_map[CODE_MAPS]; /* descriptor + 1 */
	struct code_name *name;	 /* of the last request for names */
	size_t names;
	int names_error;
	struct arena name_arena;
};

int code_helper_answer(void *state, struct helper_message *request, struct helper_message *ret);

#endif
