// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds the function of an address in the files of a process or in its perf map. */
#include "grow/names.h"

#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "grow/demangle.h"

/* Functions that allocate for others, by their names and by how names begin. */
static bool is_allocator(const char *name)
{
	static const char *const begins[] = {
		"__libc_",
		"_int_malloc",
		"_int_realloc",
		"_int_memalign",
		"sysmalloc",
		"tcache_",
		"malloc_",
		"__malloc",
		"mmap",
		"__mmap",
		"mremap",
		"sbrk",
		"__sbrk",
		"brk",
		"__brk",
		"je_",
		"mi_",
		"tc_",
		"operator new",
		"PyMem_",
		"_PyMem_",
		"PyObject_M",
		"_PyObject_M",
		"PyObject_R",
		"_PyObject_R",
		"g_malloc",
		"g_realloc",
		"g_slice_alloc",
		"__rust_alloc",
		"__rust_realloc",
		"__rdl_",
		"__rg_",
		"__rustc::__r",
		"alloc::",
		"hashbrown::",
		"std::allocator",
		"std::__new_allocator",
		"std::vector<",
		"std::__cxx11::basic_string",
		"__gnu_cxx::new_allocator",
		"__memset",
		"__memcpy",
		"__memmove",
		"memset",
		"memcpy",
		"memmove",
	};
	static const char *const whole[] = {
		"malloc",   "calloc",	      "realloc",       "reallocarray", "free",
		"memalign", "posix_memalign", "aligned_alloc", "valloc",       "pvalloc",
		"strdup",   "strndup",	      "cfree",
	};

	/* A template has its result before its name. */
	if (strncmp(name, "void ", 5) == 0)
		name += 5;
	/* Rust: <alloc::vec::Vec<u8>>::push. */
	name += strspn(name, "<");
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
		if (strcmp(name, whole[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

static const char *plain_name(const char *name, struct arena *arena)
{
	cleanup(strbuf_done) struct strbuf plain = {};
	const char *copy;

	if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0 && !strchr(name, '@'))
		return name;
	demangle(name, &plain);
	copy = arena_strndup(arena, strbuf_str(&plain), plain.len);
	return copy && *copy ? copy : name;
}

/* Stands for the text in a code. */
static uint64_t hash_name(const char *name)
{
	uint64_t hash = 0;

	for (; *name; name++) {
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

/* The same function in other processes, or after it was compiled again, is the same code. */
static void resolve_jit(const struct name_sources *from, struct code *code, struct arena *arena,
			struct growth_frame *ret)
{
	uint64_t start;
	const char *name = jit_maps_find(from->jit, code->jit, code->vaddr, &start);

	*code = (struct code){.file = NO_FILE, .vaddr = code->vaddr};
	if (!name)
		return;
	ret->offset = start;
	ret->name = plain_name(name, arena);
	code->jit = JIT_NAMED;
	code->vaddr = hash_name(ret->name);
}

void code_name(const struct name_sources *from, struct code *code, struct arena *arena,
	       struct growth_frame *ret)
{
	struct program_file *f = code->file == NO_FILE ? NULL : from->files->item[code->file];
	uint64_t start;

	*ret = (struct growth_frame){.offset = code->vaddr};
	if (code->label) {
		const char *label = from->stacks->label[code->label - 1];

		ret->name = arena_strndup(arena, label, strlen(label));
		return;
	}
	if (code->jit) {
		resolve_jit(from, code, arena, ret);
		return;
	}
	if (!f)
		return;
	ret->module = f->name;
	if (!f->tried && f->fd >= 0 && f->debug_fd < 0 && !f->facts.has_symtab)
		f->debug_fd = debuginfod_fetch(from->debuginfod, &f->facts);
	ret->name = file_symbol(f, code->vaddr, &start);
	ret->allocator = f->is_library;
	if (!ret->name)
		return;
	code->vaddr = ret->offset = start;
	ret->name = plain_name(ret->name, arena);
	ret->allocator |= is_allocator(ret->name);
}

/* The program of CPython, or its library. */
static bool is_python(const char *module)
{
	return module &&
	       (strncmp(module, "python", 6) == 0 || strncmp(module, "libpython", 9) == 0);
}

void names_mark_interpreter(struct growth *g)
{
	bool python = false;

	for (size_t i = 0; i < g->frame_count; i++)
		python |= !g->frame[i].module && g->frame[i].name &&
			  strncmp(g->frame[i].name, "py::", 4) == 0;
	for (size_t i = 0; python && i < g->frame_count; i++) {
		if (is_python(g->frame[i].module))
			g->frame[i].allocator = g->frame[i].interpreter = true;
	}
}
