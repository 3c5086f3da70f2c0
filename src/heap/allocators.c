// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows the functions of allocators. What each one does is in the cookie of its probe. A function
 * that may call another one of the list has ZMEM_HEAP_CALLS, so that a block is counted once; a
 * free that calls another one finds nothing.
 */
#include "heap/allocators.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "zmem/grow.h"

#define CALLS ZMEM_HEAP_CALLS
#define SMALL ZMEM_HEAP_SMALL

/* Operators of C++ call malloc, but for those of an allocator that has its own names, too. */
enum {
	OWN = 1 << 24,
	/* Only a C library without the second name calls malloc from there. */
	MAY_CALL = 1 << 25,
	/*
	 * The function throws exceptions, or calls a handler of the program that may: exceptions
	 * cannot pass the address that a probe of the return puts in place of the return address.
	 */
	THROWS = 1 << 26,
	/* The function shows which allocator it is, and is not probed. */
	TELLS = 1 << 27,
};

/* Groups of names that may be local come last. */
enum group {
	OF_C,
	OF_CPP,
	OF_LIBC,
	OF_CPYTHON,
	OF_JEMALLOC,
	OF_JE,
	OF_RJEM,
	OF_TCMALLOC,
	OF_MIMALLOC,
};

#define NEW  (OWN | THROWS)
#define FREE ZMEM_HEAP_FREE

/* Functions that many allocators have, each with its own prefix. */
#define COMMON(group, p)                                                                           \
	{p "malloc", ZMEM_HEAP_SIZE, group}, {p "free", FREE, group},                              \
		{p "realloc", ZMEM_HEAP_REALLOC | CALLS, group},                                   \
		{p "posix_memalign", ZMEM_HEAP_POSIX | CALLS, group},                              \
		{p "aligned_alloc", ZMEM_HEAP_SECOND | CALLS, group},                              \
		{p "memalign", ZMEM_HEAP_SECOND | CALLS, group},                                   \
		{p "valloc", ZMEM_HEAP_SIZE | CALLS, group},                                       \
		{p "pvalloc", ZMEM_HEAP_SIZE | CALLS, group}, {p "cfree", FREE, group},            \
	{                                                                                          \
		p "reallocarray", ZMEM_HEAP_REALLOCS | CALLS, group                                \
	}

/* Functions of jemalloc, also under the names that Redis and Rust give them. */
#define EXTENDED(group, p)                                                                         \
	{p "mallocx", ZMEM_HEAP_SIZE, group}, {p "rallocx", ZMEM_HEAP_REALLOC | CALLS, group},     \
		{p "dallocx", FREE, group},                                                        \
	{                                                                                          \
		p "sdallocx", FREE, group                                                          \
	}

static const struct {
	const char *name;
	uint32_t function;
	uint32_t group;
	const char *shown; /* of THROWS; NULL: the name */
} function[] = {
	COMMON(OF_C, ""),
	{"calloc", ZMEM_HEAP_PRODUCT | MAY_CALL, OF_C},
	{"free_sized", FREE, OF_C},
	{"free_aligned_sized", FREE, OF_C},
	COMMON(OF_LIBC, "__libc_"),
	{"__libc_calloc", ZMEM_HEAP_PRODUCT | MAY_CALL, OF_LIBC},
	{"__posix_memalign", ZMEM_HEAP_POSIX | CALLS, OF_LIBC},
	EXTENDED(OF_JEMALLOC, ""),
	/* operator new, and delete */
	{"_Znwm", NEW, OF_CPP, "operator new(unsigned long)"},
	{"_Znam", NEW, OF_CPP, "operator new[](unsigned long)"},
	{"_ZnwmRKSt9nothrow_t", NEW, OF_CPP, "operator new(unsigned long, std::nothrow_t const&)"},
	{"_ZnamRKSt9nothrow_t", NEW, OF_CPP,
	 "operator new[](unsigned long, std::nothrow_t const&)"},
	{"_ZnwmSt11align_val_t", NEW, OF_CPP, "operator new(unsigned long, std::align_val_t)"},
	{"_ZnamSt11align_val_t", NEW, OF_CPP, "operator new[](unsigned long, std::align_val_t)"},
	{"_ZnwmSt11align_val_tRKSt9nothrow_t", NEW, OF_CPP,
	 "operator new(unsigned long, std::align_val_t, std::nothrow_t const&)"},
	{"_ZnamSt11align_val_tRKSt9nothrow_t", NEW, OF_CPP,
	 "operator new[](unsigned long, std::align_val_t, std::nothrow_t const&)"},
	{"_ZdlPv", FREE | OWN, OF_CPP},
	{"_ZdaPv", FREE | OWN, OF_CPP},
	{"_ZdlPvm", FREE | OWN, OF_CPP},
	{"_ZdaPvm", FREE | OWN, OF_CPP},
	{"_ZdlPvRKSt9nothrow_t", FREE | OWN, OF_CPP},
	{"_ZdaPvRKSt9nothrow_t", FREE | OWN, OF_CPP},
	{"_ZdlPvSt11align_val_t", FREE | OWN, OF_CPP},
	{"_ZdaPvSt11align_val_t", FREE | OWN, OF_CPP},
	{"_ZdlPvmSt11align_val_t", FREE | OWN, OF_CPP},
	{"_ZdaPvmSt11align_val_t", FREE | OWN, OF_CPP},
	/* CPython: objects of up to 512 bytes are pymalloc's, or malloc's */
	{"PyObject_Malloc", ZMEM_HEAP_SIZE | SMALL | CALLS, OF_CPYTHON},
	{"PyObject_Calloc", ZMEM_HEAP_PRODUCT | SMALL | CALLS, OF_CPYTHON},
	{"PyObject_Realloc", ZMEM_HEAP_REALLOC | CALLS, OF_CPYTHON},
	{"PyObject_Free", FREE, OF_CPYTHON},
	{"PyMem_Malloc", ZMEM_HEAP_SIZE | SMALL | CALLS, OF_CPYTHON},
	{"PyMem_Calloc", ZMEM_HEAP_PRODUCT | SMALL | CALLS, OF_CPYTHON},
	{"PyMem_Realloc", ZMEM_HEAP_REALLOC | CALLS, OF_CPYTHON},
	{"PyMem_Free", FREE, OF_CPYTHON},
	/* From here on the names belong to one allocator alone: FIRST_LOCAL. */
	COMMON(OF_JE, "je_"),
	EXTENDED(OF_JE, "je_"),
	{"je_calloc", ZMEM_HEAP_PRODUCT, OF_JE},
	COMMON(OF_RJEM, "_rjem_"),
	EXTENDED(OF_RJEM, "_rjem_"),
	{"_rjem_calloc", ZMEM_HEAP_PRODUCT, OF_RJEM},
	COMMON(OF_TCMALLOC, "tc_"),
	{"tc_calloc", ZMEM_HEAP_PRODUCT, OF_TCMALLOC},
	{"tc_free_sized", FREE, OF_TCMALLOC},
	{"tc_delete", FREE, OF_TCMALLOC},
	{"tc_delete_sized", FREE, OF_TCMALLOC},
	{"tc_delete_nothrow", FREE, OF_TCMALLOC},
	{"tc_delete_aligned", FREE, OF_TCMALLOC},
	{"tc_deletearray", FREE, OF_TCMALLOC},
	{"tc_deletearray_sized", FREE, OF_TCMALLOC},
	{"tc_deletearray_nothrow", FREE, OF_TCMALLOC},
	{"tc_deletearray_aligned", FREE, OF_TCMALLOC},
	{"tc_new", NEW, OF_TCMALLOC},
	{"tc_newarray", NEW, OF_TCMALLOC},
	{"tc_new_nothrow", NEW, OF_TCMALLOC},
	{"tc_newarray_nothrow", NEW, OF_TCMALLOC},
	{"tc_new_aligned", NEW, OF_TCMALLOC},
	{"tc_newarray_aligned", NEW, OF_TCMALLOC},
	COMMON(OF_MIMALLOC, "mi_"),
	{"mi_calloc", ZMEM_HEAP_PRODUCT, OF_MIMALLOC},
	{"mi_zalloc", ZMEM_HEAP_SIZE, OF_MIMALLOC},
	{"mi_mallocn", ZMEM_HEAP_PRODUCT | CALLS, OF_MIMALLOC},
	{"mi_malloc_small", ZMEM_HEAP_SIZE | CALLS, OF_MIMALLOC},
	{"mi_zalloc_small", ZMEM_HEAP_SIZE | CALLS, OF_MIMALLOC},
	{"mi_malloc_aligned", ZMEM_HEAP_SIZE | CALLS, OF_MIMALLOC},
	{"mi_zalloc_aligned", ZMEM_HEAP_SIZE | CALLS, OF_MIMALLOC},
	{"mi_calloc_aligned", ZMEM_HEAP_PRODUCT | CALLS, OF_MIMALLOC},
	{"mi_rezalloc", ZMEM_HEAP_REALLOC | CALLS, OF_MIMALLOC},
	{"mi_reallocf", ZMEM_HEAP_REALLOC | CALLS, OF_MIMALLOC},
	{"mi_reallocn", ZMEM_HEAP_REALLOCS | CALLS, OF_MIMALLOC},
	{"mi_recalloc", ZMEM_HEAP_REALLOCS | CALLS, OF_MIMALLOC},
	{"mi_realloc_aligned", ZMEM_HEAP_REALLOC | CALLS, OF_MIMALLOC},
	{"mi_free_size", FREE, OF_MIMALLOC},
	{"mi_free_aligned", FREE, OF_MIMALLOC},
	{"mi_free_size_aligned", FREE, OF_MIMALLOC},
	{"mi_new", NEW, OF_MIMALLOC},
	{"mi_new_n", NEW, OF_MIMALLOC},
	{"mi_new_nothrow", NEW, OF_MIMALLOC},
	{"mi_new_aligned", NEW, OF_MIMALLOC},
	{"mi_new_aligned_nothrow", NEW, OF_MIMALLOC},
	{"mi_new_realloc", NEW, OF_MIMALLOC},
	{"mi_new_reallocn", NEW, OF_MIMALLOC},
	/* of musl: in a static program, and in the dynamic linker */
	{"__libc_malloc_impl", TELLS, OF_LIBC},
	{"__dls3", TELLS, OF_LIBC},
};

#define FIRST_LOCAL "je_malloc"
#define FUNCTIONS   (sizeof(function) / sizeof(function[0]))

struct function_names allocator_names(void)
{
	static const char *name[FUNCTIONS];
	struct function_names names = {.name = name, .count = FUNCTIONS};

	for (size_t i = 0; i < FUNCTIONS; i++) {
		name[i] = function[i].name;
		if (strcmp(name[i], FIRST_LOCAL) == 0)
			names.locals = i;
	}
	return names;
}

bool allocator_is_wrapper(const char *file_name)
{
	return part_begins_any(part_of(file_name),
			       "libheaptrack,libmemusage,libmtrace,libc_malloc_debug");
}

/* ---- where to probe ---- */

static const struct found_function *find(const struct found_function *found, size_t count,
					 const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (found[i].i < FUNCTIONS && strcmp(function[found[i].i].name, name) == 0)
			return &found[i];
	}
	return NULL;
}

/*
 * Whether functions of a group are an allocator's. Other functions may have such names, too: of
 * those that may be local one allocates, and one frees.
 */
static bool counts(const struct found_function *found, size_t count, enum group group)
{
	bool allocates = false, frees = false;

	for (size_t i = 0; i < count; i++) {
		uint32_t f = found[i].i < FUNCTIONS ? function[found[i].i].function : TELLS;

		if (f & (TELLS | THROWS) || function[found[i].i].group != group)
			continue;
		if ((f & ZMEM_HEAP_FUNCTION) == FREE)
			frees = true;
		else
			allocates = true;
	}
	return group < OF_JE ? allocates || frees : allocates && frees;
}

/*
 * If the compiler has put pymalloc into its callers, most of them cannot be probed, and frees of
 * blocks of the others may not be seen. Else the function only passes a call on.
 */
#define PASSES_ON 96 /* bytes */

bool allocator_is_inlined(const struct found_function *found, size_t count)
{
	const struct found_function *f = find(found, count, "PyObject_Malloc");

	return f && f->size > PASSES_ON;
}

/* Whether the allocator has names of its own, and its operators of C++ do not call malloc. */
static bool is_own(const struct found_function *found, size_t count)
{
	return counts(found, count, OF_JEMALLOC) || counts(found, count, OF_TCMALLOC) ||
	       counts(found, count, OF_MIMALLOC);
}

/* Two functions that are each other's names in most files: here one may call the other. */
static bool has_twins(const struct found_function *found, size_t count)
{
	const struct found_function *a = find(found, count, "malloc");
	const struct found_function *b = find(found, count, "__libc_malloc");

	return a && b && a->vaddr != b->vaddr;
}

static bool is_new(uint64_t *start, size_t count, uint64_t vaddr)
{
	for (size_t i = 0; i < count; i++) {
		if (start[i] == vaddr)
			return false;
	}
	start[count] = vaddr;
	return true;
}

size_t allocator_not_probed(const struct found_function *found, size_t count,
			    const char *ret[ALLOCATOR_THROWS_MAX])
{
	uint64_t start[ALLOCATOR_THROWS_MAX];
	bool own = is_own(found, count);
	size_t n = 0;

	for (size_t k = 0; own && k < FUNCTIONS; k++) {
		const struct found_function *f =
			function[k].function & THROWS ? find(found, count, function[k].name) : NULL;

		if (f && n < ALLOCATOR_THROWS_MAX && is_new(start, n, f->vaddr))
			ret[n++] = function[k].shown ? function[k].shown : function[k].name;
	}
	return n;
}

/* Which of its arguments a function has as what; SPOT_ARGUMENTS: none. */
static const uint8_t argument[][3] = {
	/* ZMEM_HEAP_BLOCK, ZMEM_HEAP_BYTES, ZMEM_HEAP_COUNT */
	[ZMEM_HEAP_FREE] = {0, 3, 3},	 [ZMEM_HEAP_SIZE] = {3, 0, 3},
	[ZMEM_HEAP_PRODUCT] = {3, 1, 0}, [ZMEM_HEAP_SECOND] = {3, 1, 3},
	[ZMEM_HEAP_REALLOC] = {0, 1, 3}, [ZMEM_HEAP_REALLOCS] = {0, 2, 1},
	[ZMEM_HEAP_POSIX] = {0, 2, 3},
};

/* The part of a cookie that says where the arguments are. False: one of them is lost. */
static bool find_words(const struct probe_spot *spot, uint32_t f, uint64_t *ret)
{
	*ret = 0;
	for (unsigned i = 0; i < 3; i++) {
		uint8_t k = argument[f][i];
		uint64_t word = k < SPOT_ARGUMENTS ? spot->word[k] & 15 : ZMEM_HEAP_NO_WORD;

		if (k < SPOT_ARGUMENTS && word == SPOT_LOST)
			return false;
		*ret |= word << (ZMEM_HEAP_WORDS + 4 * i);
	}
	return true;
}

static bool find_place(const struct elf_facts *facts, const struct found_function *found,
		       uint32_t f, struct probe_place *ret)
{
	struct probe_spot spot = found->spot;
	uint64_t words, left;

	f &= ZMEM_HEAP_FUNCTION;
	if ((spot.flags & SPOT_MOVED && f != FREE) || !find_words(&spot, f, &words)) {
		spot = probe_spot_first();
		find_words(&spot, f, &words);
	}
	ret->cookie = f | words | (spot.flags & SPOT_EMULATED ? 0 : ZMEM_HEAP_STEPPED);
	return elf_find_offset(facts->segment, facts->segments, found->vaddr + spot.at,
			       &ret->offset, &left);
}

/* Flags of the cookie; UINT32_MAX: the function is not probed. */
static uint32_t find_flags(const struct found_function *found, size_t count, size_t k)
{
	const enum group group = function[k].group;
	uint32_t f = function[k].function;
	bool own = is_own(found, count);

	if (f & (THROWS | TELLS) || (f & OWN && !own) || !counts(found, count, group) ||
	    (group == OF_CPYTHON && allocator_is_inlined(found, count)))
		return UINT32_MAX;
	if ((f & MAY_CALL && !own && !find(found, count, "__libc_calloc")) ||
	    (f != FREE && (group == OF_C || group == OF_LIBC) && has_twins(found, count)))
		f |= CALLS;
	return f & (CALLS | SMALL);
}

size_t allocator_places(const struct elf_facts *facts, const struct found_function *found,
			size_t count, struct probe_place ret[PROBES_MAX])
{
	uint64_t start[PROBES_MAX];
	size_t n = 0;

	/* Names of one function: the first one of the list counts. */
	for (size_t k = 0; k < FUNCTIONS; k++) {
		uint32_t flags = UINT32_MAX;

		for (size_t i = 0; i < count && n < PROBES_MAX; i++) {
			if (found[i].i != k)
				continue;
			flags = find_flags(found, count, k);
			if (flags == UINT32_MAX ||
			    !find_place(facts, &found[i], function[k].function, &ret[n]) ||
			    !is_new(start, n, found[i].vaddr))
				continue;
			ret[n++].cookie |= flags;
		}
	}
	return n;
}

/* ---- what it is ---- */

static void add_name(struct allocator *a, const char *name)
{
	size_t len = strlen(a->name);

	snprintf(a->name + len, sizeof(a->name) - len, "%s%s", len ? " and " : "", name);
}

void allocator_recognise(const struct found_function *found, size_t count, struct allocator *ret)
{
	ret->name[0] = ret->version[0] = '\0';
	if (counts(found, count, OF_JEMALLOC) || counts(found, count, OF_JE) ||
	    counts(found, count, OF_RJEM))
		add_name(ret, "jemalloc");
	if (counts(found, count, OF_TCMALLOC))
		add_name(ret, "tcmalloc");
	if (counts(found, count, OF_MIMALLOC))
		add_name(ret, "mimalloc");
	if (counts(found, count, OF_CPYTHON) && !allocator_is_inlined(found, count))
		add_name(ret, "CPython");
	/* Others have names of the C library as well. */
	if (!is_own(found, count) && find(found, count, "__libc_calloc"))
		add_name(ret, "glibc");
	else if (find(found, count, "__libc_malloc_impl") || find(found, count, "__dls3"))
		add_name(ret, "musl");
	if (!ret->name[0])
		add_name(ret, "an allocator");
}

bool allocator_has_text(const struct allocator *a)
{
	return part_begins(part_of(a->name), "jemalloc");
}
