// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds the function of an address in the files of a process or in its perf map. */
#include "grow/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/parse.h"
#include "demangle/demangle.h"
#include "grow/pass_on.h"

/* ---- looking up ---- */

static bool is_in_file(const struct code *code)
{
	return !code->label && !code->jit && code->file != NO_FILE;
}

/* The codes of one file. */
struct file_codes {
	const struct name_sources *from;
	struct arena *arena;
	struct found_name *found; /* of all codes */
	const size_t *code;	  /* their numbers */
};

static int note_name(void *arg, size_t i, uint64_t start, const char *name)
{
	struct file_codes *c = arg;
	struct found_name *found = &c->found[c->code[i]];

	found->start = start;
	if (!*name)
		return 0;
	found->name = arena_strndup(c->arena, name, strlen(name));
	return found->name ? 0 : -ENOMEM;
}

static int note_line(void *arg, size_t i, uint64_t line, const char *source)
{
	struct file_codes *c = arg;
	struct found_name *found = &c->found[c->code[i]];
	char *text = arena_strndup(c->arena, source, strlen(source));
	struct inlined inlined[INLINED_MAX];

	if (!text)
		return -ENOMEM;
	found->line = line;
	found->source = text;
	text = lines_end_path(text);
	while (found->inlined_count < INLINED_MAX &&
	       lines_take_inlined(&text, &inlined[found->inlined_count]))
		found->inlined_count++;
	if (!found->inlined_count)
		return 0;
	found->inlined = arena_zalloc(c->arena, found->inlined_count, sizeof(*inlined));
	if (!found->inlined)
		return -ENOMEM;
	memcpy(found->inlined, inlined, found->inlined_count * sizeof(*inlined));
	return 0;
}

static void fetch_debug(const struct name_sources *from, uint32_t file)
{
	struct program_file *f = from->code->files.item[file];
	cleanup_close int fd = -1;

	if (f->asked || !f->reader || f->has_debug ||
	    (f->facts.has_symtab && (f->facts.has_lines || !from->lines)))
		return;
	f->asked = true;
	fd = debuginfod_fetch(from->debuginfod, &f->facts);
	if (fd >= 0)
		f->has_debug = code_reader_add_debug(f->reader, file, fd) == 0;
	else if (fd != -ENOENT)
		f->reason = code_reason(fd);
}

/* Names are known without lines. Returns 0 or -ENOMEM. */
static int find_lines(struct file_codes *c, struct program_file *f, uint32_t file,
		      const uint64_t *vaddr, size_t count)
{
	int r;

	if (!c->from->lines || f->no_lines || !(f->facts.has_lines || f->has_debug))
		return 0;
	r = code_reader_name(f->reader, CODE_LINES, file, vaddr, count, note_line, c);
	f->no_lines = r < 0;
	return r == -ENOMEM ? r : 0;
}

/* Returns 0 or -ENOMEM. */
static int look_up_file(struct file_codes *c, uint32_t file, size_t count)
{
	struct program_file *f = c->from->code->files.item[file];
	cleanup_free uint64_t *vaddr = calloc(count + 1, sizeof(*vaddr));
	int r;

	if (!vaddr)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		vaddr[i] = c->from->stacks->code[c->code[i]].vaddr;
	r = code_file_ready(c->from->code, file);
	if (r == 0)
		fetch_debug(c->from, file);
	if (r == 0)
		r = code_reader_name(f->reader, CODE_NAMES, file, vaddr, count, note_name, c);
	/* What was too much once is not tried again. */
	if (helper_lost(r))
		f->reader = NULL;
	if (r < 0 && r != -ENOENT)
		f->reason = code_reason(r);
	if (r == 0)
		r = find_lines(c, f, file, vaddr, count);
	for (size_t i = 0; i < count; i++) {
		struct found_name *found = &c->found[c->code[i]];

		found->reason = found->name ? GROWTH_OUT_REASONS : f->reason;
		found->no_line = f->no_lines;
	}
	return r == -ENOMEM ? r : 0;
}

/* By file, then by number. */
static int compare_files(const void *pa, const void *pb, void *arg)
{
	const struct code *code = arg;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	return code[a].file == code[b].file ? ORDER_OF(a, b) : ORDER_OF(code[a].file, code[b].file);
}

static int look_up_files(const struct name_sources *from, struct arena *arena,
			 struct found_name *found)
{
	const struct stack_table *stacks = from->stacks;
	cleanup_free size_t *code = calloc(stacks->codes + 1, sizeof(*code));
	struct file_codes c = {.from = from, .arena = arena, .found = found};
	size_t count = 0;
	int r = 0;

	if (!code)
		return -ENOMEM;
	for (size_t i = 0; i < stacks->codes; i++) {
		if (is_in_file(&stacks->code[i]))
			code[count++] = i;
	}
	sort_items(code, count, sizeof(*code), compare_files, stacks->code);
	for (size_t i = 0, end; r == 0 && i < count; i = end) {
		uint32_t file = stacks->code[code[i]].file;

		for (end = i; end < count && stacks->code[code[end]].file == file; end++)
			;
		c.code = &code[i];
		r = look_up_file(&c, file, end - i);
	}
	return r;
}

/* ---- demangling ---- */

/* Names that may be of C++, where they are, and what was found for their codes. */
struct cxx_names {
	const char **name, ***at;
	struct found_name **found;
	size_t count;
	struct arena *arena;
};

static int note_text(void *arg, size_t i, const char *text)
{
	struct cxx_names *c = arg;

	if (!text) {
		c->found[i]->reason = GROWTH_OUT_LIMIT;
		return 0;
	}
	*c->at[i] = arena_strndup(c->arena, text, strlen(text));
	return *c->at[i] ? 0 : -ENOMEM;
}

/* Returns 0 or -ENOMEM. */
static int demangle_one(struct cxx_names *c, struct found_name *found, const char **name)
{
	cleanup(strbuf_done) struct strbuf plain = {};
	bool cxx;

	if (!*name)
		return 0;
	cxx = demangle(*name, &plain);
	if (strcmp(strbuf_str(&plain), *name) != 0 && plain.len)
		*name = arena_strndup(c->arena, plain.data, plain.len);
	if (!*name)
		return -ENOMEM;
	if (!cxx)
		return 0;
	c->name[c->count] = *name;
	c->at[c->count] = name;
	c->found[c->count++] = found;
	return 0;
}

static int demangle_all(const struct name_sources *from, struct arena *arena,
			struct found_name *found)
{
	const size_t codes = from->stacks->codes, most = names_count(found, codes);
	cleanup_free const char **name = calloc(most + 1, sizeof(*name));
	cleanup_free const char ***at = calloc(most + 1, sizeof(*at));
	cleanup_free struct found_name **of = calloc(most + 1, sizeof(*of));
	struct cxx_names c = {.name = name, .at = at, .found = of, .arena = arena};
	int r = name && at && of ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < codes; i++) {
		if (from->stacks->code[i].label)
			continue;
		r = demangle_one(&c, &found[i], &found[i].name);
		for (size_t k = 0; r == 0 && k < found[i].inlined_count; k++)
			r = demangle_one(&c, &found[i], &found[i].inlined[k].name);
	}
	return r == 0 && c.count ? demangler_run(from->demangler, name, c.count, note_text, &c) : r;
}

size_t names_count(const struct found_name *found, size_t codes)
{
	size_t count = codes;

	for (size_t i = 0; i < codes; i++)
		count += found[i].inlined_count;
	return count;
}

int names_look_up(const struct name_sources *from, struct arena *arena, struct found_name *ret)
{
	const struct stack_table *stacks = from->stacks;
	int r;

	for (size_t i = 0; i < stacks->codes; i++) {
		const struct code *code = &stacks->code[i];
		const char *name = NULL;

		ret[i] = (struct found_name){.reason = GROWTH_OUT_REASONS};
		if (code->label)
			name = stacks->label[code->label - 1];
		else if (code->jit)
			name = jit_maps_find(from->jit, code->jit, code->vaddr, &ret[i].start,
					     &ret[i].reason);
		if (!name)
			continue;
		ret[i].name = arena_strndup(arena, name, strlen(name));
		if (!ret[i].name)
			return -ENOMEM;
	}
	r = look_up_files(from, arena, ret);
	return r < 0 ? r : demangle_all(from, arena, ret);
}

/* ---- showing ---- */

void names_show(const struct name_sources *from, const struct found_name *found, struct code *code,
		struct growth_frame *ret)
{
	const struct program_file *f = is_in_file(code) ? from->code->files.item[code->file] : NULL;

	*ret = (struct growth_frame){.offset = code->vaddr, .name = found->name};
	if (code->label)
		return;
	if (f) {
		ret->module = f->name;
		ret->allocator = f->is_library;
	}
	if (code->jit)
		*code = (struct code){.file = NO_FILE, .vaddr = code->vaddr};
	if (!found->name && !(f && found->start))
		return;
	ret->offset = found->start;
	if (!f) {
		/* The same function in other processes, or compiled again, is the same code. */
		code->jit = JIT_NAMED;
		code->vaddr = hash_text(HASH_START, found->name);
		return;
	}
	code->vaddr = found->start;
	ret->allocator |= found->name && passes_on(found->name, f->name);
}

void names_show_inlined(const struct name_sources *from, const struct inlined *inlined,
			struct code *code, struct growth_frame *ret)
{
	const struct program_file *f = from->code->files.item[code->file];

	*ret = (struct growth_frame){.name = inlined->name, .module = f->name, .inlined = true};
	ret->allocator = f->is_library || passes_on(inlined->name, f->name);
	/* In whatever functions it was compiled, it is one. */
	code->jit = JIT_NAMED;
	code->vaddr = hash_text(HASH_START, inlined->name);
}

void names_show_line(const char *source, uint64_t line, struct code *code, struct growth_frame *ret)
{
	ret->source = source;
	ret->line = line;
	code->vaddr = hash_number(hash_text(code->vaddr, source), line);
}

/* The program of CPython, or its library. */
static bool is_python(const char *module)
{
	return module && part_begins_any(part_of(module), "python,libpython");
}

static bool begins(const char *name, const char *with)
{
	return name && strncmp(name, with, strlen(with)) == 0;
}

void names_mark_interpreter(struct growth *g)
{
	bool named = false, unnamed = false, python = false;
	bool runs_python = false, runs_js = false, runs_java = false, runs_dotnet = false;

	for (size_t i = 0; i < g->frame_count; i++) {
		const struct growth_frame *f = &g->frame[i];

		/* In no file, and no label: of a perf map. */
		named |= !f->module && f->name && !begins(f->name, "[");
		unnamed |= !f->module && !f->name;
		python |= !f->module && begins(f->name, "py::");
		runs_python |= is_python(f->module);
		/* Where V8 enters JavaScript. */
		runs_js |= f->module && begins(f->name, "Builtins_JSEntry");
		runs_java |= begins(f->module, "libjvm.so");
		runs_dotnet |= begins(f->module, "libcoreclr.so");
	}
	g->unnamed_python = runs_python && !python;
	g->unnamed_node = runs_js && !named;
	g->unnamed_java = runs_java && unnamed && !named;
	g->unnamed_dotnet = runs_dotnet && unnamed && !named;
	for (size_t i = 0; python && i < g->frame_count; i++) {
		if (is_python(g->frame[i].module))
			g->frame[i].allocator = g->frame[i].interpreter = true;
	}
}
