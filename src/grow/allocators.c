// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What each function does is in its cookie. A function that may call another one of the list has
 * ZMEM_HEAP_CALLS, so that a block is counted once.
 */
#include "grow/allocators.h"

#include <string.h>

#include "base/parse.h"
#include "zmem/grow.h"

#define CALLS ZMEM_HEAP_CALLS
#define SMALL ZMEM_HEAP_SMALL

/* Operators of C++ call malloc, but for those of an allocator that has its own names, too. */
enum {
	OWN = 1 << 8,
	/* Only a C library without the second name calls malloc from there. */
	MAY_CALL = 1 << 9,
	/*
	 * It throws exceptions, or calls a handler of the program, which may: they cannot pass the
	 * address that a probe of the return puts in place of the return address.
	 */
	THROWS = 1 << 10,
};

#define NEW (OWN | THROWS)

static const struct {
	const char *name;
	uint32_t function;
	const char *shown; /* of THROWS */
} function[] = {
	/* C */
	{"malloc", ZMEM_HEAP_SIZE},
	{"free", ZMEM_HEAP_FREE},
	{"calloc", ZMEM_HEAP_PRODUCT | MAY_CALL},
	{"realloc", ZMEM_HEAP_REALLOC | CALLS},
	{"reallocarray", ZMEM_HEAP_REALLOCS | CALLS},
	{"posix_memalign", ZMEM_HEAP_POSIX | CALLS},
	{"aligned_alloc", ZMEM_HEAP_SECOND | CALLS},
	{"memalign", ZMEM_HEAP_SECOND | CALLS},
	{"valloc", ZMEM_HEAP_SIZE | CALLS},
	{"pvalloc", ZMEM_HEAP_SIZE | CALLS},
	{"cfree", ZMEM_HEAP_FREE},
	{"free_sized", ZMEM_HEAP_FREE},
	{"free_aligned_sized", ZMEM_HEAP_FREE},
	/* C++: operator new, and delete */
	{"_Znwm", NEW, "operator new(unsigned long)"},
	{"_Znam", NEW, "operator new[](unsigned long)"},
	{"_ZnwmRKSt9nothrow_t", NEW, "operator new(unsigned long, std::nothrow_t const&)"},
	{"_ZnamRKSt9nothrow_t", NEW, "operator new[](unsigned long, std::nothrow_t const&)"},
	{"_ZnwmSt11align_val_t", NEW, "operator new(unsigned long, std::align_val_t)"},
	{"_ZnamSt11align_val_t", NEW, "operator new[](unsigned long, std::align_val_t)"},
	{"_ZnwmSt11align_val_tRKSt9nothrow_t", NEW,
	 "operator new(unsigned long, std::align_val_t, std::nothrow_t const&)"},
	{"_ZnamSt11align_val_tRKSt9nothrow_t", NEW,
	 "operator new[](unsigned long, std::align_val_t, std::nothrow_t const&)"},
	{"_ZdlPv", ZMEM_HEAP_FREE | OWN},
	{"_ZdaPv", ZMEM_HEAP_FREE | OWN},
	{"_ZdlPvm", ZMEM_HEAP_FREE | OWN},
	{"_ZdaPvm", ZMEM_HEAP_FREE | OWN},
	{"_ZdlPvRKSt9nothrow_t", ZMEM_HEAP_FREE | OWN},
	{"_ZdaPvRKSt9nothrow_t", ZMEM_HEAP_FREE | OWN},
	{"_ZdlPvSt11align_val_t", ZMEM_HEAP_FREE | OWN},
	{"_ZdaPvSt11align_val_t", ZMEM_HEAP_FREE | OWN},
	{"_ZdlPvmSt11align_val_t", ZMEM_HEAP_FREE | OWN},
	{"_ZdaPvmSt11align_val_t", ZMEM_HEAP_FREE | OWN},
	/* jemalloc, also under the names that Rust gives it */
	{"mallocx", ZMEM_HEAP_SIZE},
	{"rallocx", ZMEM_HEAP_REALLOC | CALLS},
	{"dallocx", ZMEM_HEAP_FREE},
	{"sdallocx", ZMEM_HEAP_FREE},
	{"_rjem_malloc", ZMEM_HEAP_SIZE},
	{"_rjem_calloc", ZMEM_HEAP_PRODUCT},
	{"_rjem_realloc", ZMEM_HEAP_REALLOC | CALLS},
	{"_rjem_free", ZMEM_HEAP_FREE},
	{"_rjem_mallocx", ZMEM_HEAP_SIZE},
	{"_rjem_rallocx", ZMEM_HEAP_REALLOC | CALLS},
	{"_rjem_dallocx", ZMEM_HEAP_FREE},
	{"_rjem_sdallocx", ZMEM_HEAP_FREE},
	/* tcmalloc */
	{"tc_malloc", ZMEM_HEAP_SIZE},
	{"tc_calloc", ZMEM_HEAP_PRODUCT},
	{"tc_realloc", ZMEM_HEAP_REALLOC | CALLS},
	{"tc_free", ZMEM_HEAP_FREE},
	/* mimalloc */
	{"mi_malloc", ZMEM_HEAP_SIZE},
	{"mi_calloc", ZMEM_HEAP_PRODUCT | CALLS},
	{"mi_zalloc", ZMEM_HEAP_SIZE | CALLS},
	{"mi_realloc", ZMEM_HEAP_REALLOC | CALLS},
	{"mi_malloc_aligned", ZMEM_HEAP_SIZE | CALLS},
	{"mi_zalloc_aligned", ZMEM_HEAP_SIZE | CALLS},
	{"mi_realloc_aligned", ZMEM_HEAP_REALLOC | CALLS},
	{"mi_free", ZMEM_HEAP_FREE},
	/* CPython: objects of up to 512 bytes are pymalloc's, or malloc's */
	{"PyObject_Malloc", ZMEM_HEAP_SIZE | SMALL | CALLS},
	{"PyObject_Calloc", ZMEM_HEAP_PRODUCT | SMALL | CALLS},
	{"PyObject_Realloc", ZMEM_HEAP_REALLOC | CALLS},
	{"PyObject_Free", ZMEM_HEAP_FREE},
	{"PyMem_Malloc", ZMEM_HEAP_SIZE | SMALL | CALLS},
	{"PyMem_Calloc", ZMEM_HEAP_PRODUCT | SMALL | CALLS},
	{"PyMem_Realloc", ZMEM_HEAP_REALLOC | CALLS},
	{"PyMem_Free", ZMEM_HEAP_FREE},
	/* Not to be probed: it tells the allocator. */
	{"__libc_calloc", UINT32_MAX},
};

#define FUNCTIONS (sizeof(function) / sizeof(function[0]))

size_t allocator_name_count(void)
{
	return FUNCTIONS;
}

const char *allocator_name(size_t i)
{
	return function[i].name;
}

bool allocator_is_wrapper(const char *file_name)
{
	return part_begins_any(part_of(file_name),
			       "libheaptrack,libmemusage,libmtrace,libc_malloc_debug");
}

/* ---- where to probe ---- */

static bool has(const struct found_function *found, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (found[i].i < FUNCTIONS && strcmp(function[found[i].i].name, name) == 0)
			return true;
	}
	return false;
}

/* Where a segment with code has this address in the file. */
static bool find_offset(const struct elf_facts *facts, uint64_t vaddr, uint64_t *ret)
{
	for (size_t i = 0; i < facts->segments; i++) {
		const struct elf_segment *s = &facts->segment[i];

		if (vaddr - s->vaddr >= s->size)
			continue;
		*ret = vaddr - s->vaddr + s->offset;
		return true;
	}
	return false;
}

/*
 * Bytes to skip at the beginning of a function of which only the argument is wanted: the kernel
 * executes instructions like these out of line, with a second trap, and what follows them, a jump
 * or a push, it does itself (arch/x86/kernel/uprobes.c).
 */
static size_t skip_slow(const struct found_function *f)
{
	size_t at = 0;
#if defined(__x86_64__)
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, test[] = {0x48, 0x85, 0xff};

	if (memcmp(f->code, endbr, sizeof(endbr)) == 0)
		at = sizeof(endbr);
	if (memcmp(f->code + at, test, sizeof(test)) == 0)
		at += sizeof(test);
#endif
	return at < f->size ? at : 0;
}

/*
 * Where the compiler has put pymalloc into its callers, most of them cannot be probed, and of what
 * the others allocate the free may not be seen. Else the function only passes a call on.
 */
#define PASSES_ON 96 /* bytes */

bool allocator_is_inlined(const struct found_function *found, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (found[i].i < FUNCTIONS &&
		    strcmp(function[found[i].i].name, "PyObject_Malloc") == 0)
			return found[i].size > PASSES_ON;
	}
	return false;
}

/* It has names of its own, and its operators of C++ do not call malloc. */
static bool is_own(const struct found_function *found, size_t count)
{
	return has(found, count, "mallocx") || has(found, count, "tc_malloc") ||
	       has(found, count, "mi_malloc");
}

size_t allocator_not_probed(const struct found_function *found, size_t count,
			    const char *ret[ALLOCATOR_THROWS_MAX])
{
	bool own = is_own(found, count);
	size_t n = 0;

	for (size_t k = 0; own && k < FUNCTIONS && n < ALLOCATOR_THROWS_MAX; k++) {
		if (function[k].function & THROWS && has(found, count, function[k].name))
			ret[n++] = function[k].shown;
	}
	return n;
}

size_t allocator_places(const struct elf_facts *facts, const struct found_function *found,
			size_t count, struct probe_place ret[PROBES_MAX])
{
	bool own = is_own(found, count);
	bool calls = !own && !has(found, count, "__libc_calloc");
	bool inlined = allocator_is_inlined(found, count);
	size_t n = 0;

	/* Names of one function are beside each other: the first one counts. */
	for (size_t k = 0; k < FUNCTIONS; k++) {
		for (size_t i = 0; i < count && n < PROBES_MAX; i++) {
			const uint32_t f = function[k].function;
			uint64_t offset;
			size_t same = 0;

			if (found[i].i != k || f == UINT32_MAX || f & THROWS || (f & OWN && !own) ||
			    (inlined && strncmp(function[k].name, "Py", 2) == 0) ||
			    !find_offset(facts, found[i].vaddr, &offset))
				continue;
			if ((f & ZMEM_HEAP_FUNCTION) == ZMEM_HEAP_FREE)
				offset += skip_slow(&found[i]);
			while (same < n && ret[same].offset != offset)
				same++;
			if (same < n)
				continue;
			ret[n].offset = offset;
			ret[n++].cookie = (f & (ZMEM_HEAP_FUNCTION | CALLS | SMALL)) |
					  (f & MAY_CALL && calls ? CALLS : 0);
		}
	}
	return n;
}
