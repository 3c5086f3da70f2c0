/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where functions of given names are in an ELF file. */
#ifndef ZMEM_CODE_FUNCTION_SEARCH_H
#define ZMEM_CODE_FUNCTION_SEARCH_H

#include "code/probe_spot.h"
#include "code/symbols.h"

struct found_function {
	uint32_t i; /* of its name */
	uint32_t unused;
	uint64_t vaddr, size;
	struct probe_spot spot;
};

/*
 * Names that are looked for. Functions of those from `locals` on may be local: a linker makes
 * hidden ones local.
 */
struct function_names {
	const char *const *name;
	size_t count, locals;
};

/*
 * Finds functions in the open file, by .symtab or else .dynsym: those that it defines, in code of
 * this machine. One that begins inside of another function is left out: its symbol may be wrong,
 * and a breakpoint there would change an instruction. A name may be found more than once. Returns
 * how many, at most `cap`, or a negative errno: -ENOMEM; -EFBIG if the budget was not enough.
 */
int functions_find(int fd, const struct elf_facts *facts, const struct function_names *names,
		   struct symbol_budget *budget, struct found_function *ret, size_t cap);

#define CODE_VERSION_MAX 16
/*
 * The version of jemalloc that is in the open file: the beginning of "5.3.0-0-g54eaed1d…" in its
 * read-only data. Returns 0, or a negative errno: -ENOENT; -EFBIG as above.
 */
int jemalloc_version(int fd, struct symbol_budget *budget, char ret[CODE_VERSION_MAX]);

#endif
