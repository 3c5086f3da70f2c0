/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of allocators, and where to probe them. It reads nothing. */
#ifndef ZMEM_HEAP_ALLOCATORS_H
#define ZMEM_HEAP_ALLOCATORS_H

#include <stddef.h>

#include "code/function_search.h"
#include "heap/probe_helper.h"

/* Names of functions that are looked for in files. */
struct function_names allocator_names(void);

/* An allocator that only passes on to another one: its calls would be counted twice. */
bool allocator_is_wrapper(const char *file_name);
/* A Python with allocators of which only a part can be probed: none of them is. */
bool allocator_is_inlined(const struct found_function *found, size_t count);
/*
 * The functions that allocate and are not probed, because they throw exceptions. Returns their
 * number.
 */
#define ALLOCATOR_THROWS_MAX 16
size_t allocator_not_probed(const struct found_function *found, size_t count,
			    const char *ret[ALLOCATOR_THROWS_MAX]);
/*
 * The places to probe in a file. `found`: where its functions of these names are, in any order.
 * Returns their number; 0: it is no allocator.
 */
size_t allocator_places(const struct elf_facts *facts, const struct found_function *found,
			size_t count, struct probe_place ret[PROBES_MAX]);

/* What a file with such functions is. */
struct allocator {
	char name[48];			/* several are joined: "jemalloc and glibc" */
	char version[CODE_VERSION_MAX]; /* of jemalloc; "": it is not known */
	const char *path;		/* of the file */
	size_t functions;		/* that are probed */
};

/* Sets the name, and no version. */
void allocator_recognise(const struct found_function *found, size_t count, struct allocator *ret);
/* Whether the version is in the data of the allocator (jemalloc_version()). */
bool allocator_has_text(const struct allocator *a);

#endif
