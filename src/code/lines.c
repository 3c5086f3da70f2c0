// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds lines by libdw. The file may be of any user: a helper calls this (code_helper.h). */
#include "code/lines.h"

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "code/symbols.h"

#define DEPTH_MAX 64		     /* of blocks in each other */
#define TEXT_MAX  ((size_t)32 << 10) /* of an address: an answer has room for it */

/* A place in a source. */
struct place {
	const char *source; /* NULL: none is known */
	uint64_t line;
};

static bool read_number(const struct libdw *dw, Dwarf_Die *die, unsigned name, Dwarf_Word *ret)
{
	Dwarf_Attribute attribute;

	return dw->dwarf_formudata(dw->dwarf_attr(die, name, &attribute), ret) == 0;
}

/*
 * Functions that the linker left out still have debugging information, in which they begin at 0
 * (_bfd_clear_contents(), bfd/reloc.c of binutils), or at 1 in a list of ranges. No function of a
 * program begins there.
 */
static bool is_left_out(Dwarf_Addr start)
{
	return start <= 1;
}

static bool has_address(const struct libdw *dw, Dwarf_Die *die, Dwarf_Addr address)
{
	Dwarf_Addr low;

	return dw->dwarf_haspc(die, address) > 0 &&
	       (dw->dwarf_lowpc(die, &low) != 0 || !is_left_out(low));
}

/* What may have functions in it, and no addresses. */
static bool is_container(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type;
}

/*
 * The function that contains the address, below an entry. Not dwarf_getscopes(): it also looks for
 * the source of what was compiled into the function, in other files. `nested`: also a function of
 * GNU C or OpenMP, which is inside of another one, and has other addresses.
 */
static bool find_function(const struct libdw *dw, Dwarf_Die *entry, Dwarf_Addr address, bool nested,
			  int depth, Dwarf_Die *ret)
{
	Dwarf_Die die, below;

	if (depth == DEPTH_MAX || dw->dwarf_child(entry, &die) != 0)
		return false;
	do {
		int tag = dw->dwarf_tag(&die);
		bool function = tag == DW_TAG_subprogram;

		if (function && has_address(dw, &die, address)) {
			*ret = die;
			return true;
		}
		if ((is_container(tag) || (nested && (function || tag == DW_TAG_lexical_block))) &&
		    find_function(dw, &die, address, nested, depth + 1, &below)) {
			*ret = below;
			return true;
		}
	} while (dw->dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* The outermost function that was compiled into this one at the address. */
static bool find_inlined(const struct libdw *dw, Dwarf_Die *function, Dwarf_Addr address, int depth,
			 Dwarf_Die *ret)
{
	if (depth == DEPTH_MAX || dw->dwarf_child(function, ret) != 0)
		return false;
	do {
		Dwarf_Die block = *ret;
		int tag = dw->dwarf_tag(&block);

		if (tag == DW_TAG_inlined_subroutine && dw->dwarf_haspc(&block, address) > 0)
			return true;
		if (tag == DW_TAG_lexical_block && dw->dwarf_haspc(&block, address) > 0)
			return find_inlined(dw, &block, address, depth + 1, ret);
	} while (dw->dwarf_siblingof(ret, ret) == 0);
	return false;
}

/* Functions that were compiled into each other at an address, the outermost first. */
struct chain {
	Dwarf_Die call[INLINED_MAX];
	size_t count;
};

static void find_chain(const struct libdw *dw, Dwarf_Die *unit, Dwarf_Addr address,
		       struct chain *ret)
{
	Dwarf_Die function, *outer = &function;

	ret->count = 0;
	if (!find_function(dw, unit, address, false, 0, &function) &&
	    !find_function(dw, unit, address, true, 0, &function))
		return;
	while (ret->count < INLINED_MAX &&
	       find_inlined(dw, outer, address, 0, &ret->call[ret->count]))
		outer = &ret->call[ret->count++];
}

/* Where the function around it calls one that was compiled in. */
static struct place find_call(const struct libdw *dw, Dwarf_Die *unit, Dwarf_Die *call)
{
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t count;

	if (dw->dwarf_getsrcfiles(unit, &files, &count) < 0 ||
	    !read_number(dw, call, DW_AT_call_file, &file) ||
	    !read_number(dw, call, DW_AT_call_line, &line) || !line || file >= count)
		return (struct place){};
	return (struct place){dw->dwarf_filesrc(files, file, NULL, NULL), line};
}

static struct place find_line(const struct libdw *dw, Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Line *line = dw->dwarf_getsrc_die(unit, address);
	int number;

	/* Line 0 is code of no line. */
	if (!line || dw->dwarf_lineno(line, &number) < 0 || number <= 0)
		return (struct place){};
	return (struct place){dw->dwarf_linesrc(line, NULL, NULL), (uint64_t)number};
}

/* The name as the symbols would have it, else as the source does; NULL: none. */
static const char *find_name(const struct libdw *dw, Dwarf_Die *call)
{
	static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
	const char *name = NULL;

	for (size_t i = 0; !name && i < ARRAY_SIZE(names); i++) {
		Dwarf_Attribute attribute;

		name = dw->dwarf_formstring(dw->dwarf_attr_integrate(call, names[i], &attribute));
	}
	return name;
}

/* ---- the text: path, then for each function its name, line and path, with an END before each ----
 */

#define END '\001'

static void put_text(struct strbuf *out, const char *text, size_t most)
{
	for (size_t i = 0; i < most && text[i]; i++)
		strbuf_putc(out, text[i] == END ? '?' : text[i]);
}

static void put_inlined(struct strbuf *out, const char *name, const struct place *place)
{
	strbuf_putc(out, END);
	put_text(out, name, INLINED_NAME_MAX);
	strbuf_printf(out, "%c%" PRIu64 "%c", END, place->source ? place->line : 0, END);
	put_text(out, place->source ? place->source : "", SOURCE_NAME_MAX);
}

char *lines_end_path(char *text)
{
	char *end = strchrnul(text, END);

	if (*end)
		*end++ = '\0';
	return end;
}

bool lines_take_inlined(char **text, struct inlined *ret)
{
	char *name = *text, *line = lines_end_path(name), *source = lines_end_path(line);
	const char *end = line + strlen(line);
	uint64_t number;

	*text = lines_end_path(source);
	if (!*name || !scan_u64(&(const char *){line}, end, &number))
		return false;
	*ret = (struct inlined){name, source, number};
	return true;
}

/* ---- units ---- */

/* Below an entry: where the longest function ends that was left out. */
static Dwarf_Addr left_out_below(const struct libdw *dw, Dwarf_Die *entry, int depth)
{
	Dwarf_Addr most = 0, low, high;
	Dwarf_Die die;

	if (depth == DEPTH_MAX || dw->dwarf_child(entry, &die) != 0)
		return 0;
	do {
		int tag = dw->dwarf_tag(&die);

		high = 0;
		if (is_container(tag))
			high = left_out_below(dw, &die, depth + 1);
		else if (tag == DW_TAG_subprogram && dw->dwarf_lowpc(&die, &low) == 0 &&
			 is_left_out(low) && dw->dwarf_highpc(&die, &high) != 0)
			high = 0;
		most = high > most ? high : most;
	} while (dw->dwarf_siblingof(&die, &die) == 0);
	return most;
}

/*
 * Lines of functions that were left out are among those of the others, from 0 on: up to here a line
 * may be one of these.
 */
static Dwarf_Addr left_out_of(const struct libdw *dw, Dwarf_Die *unit)
{
	Dwarf_Addr most = left_out_below(dw, unit, 0), base = 0, start, end;
	ptrdiff_t at = 0;

	while ((at = dw->dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		if (is_left_out(start) && end > most)
			most = end;
	}
	return most;
}

/*
 * The line of an address, and the functions that were compiled in. `certain`: the line cannot be of
 * a function that was left out.
 */
static int find_address(const struct libdw *dw, Dwarf_Die *unit, bool certain,
			struct code_name *wanted, struct arena *names)
{
	struct place none = {}, line = certain ? find_line(dw, unit, wanted->address) : none, place;
	cleanup(strbuf_done) struct strbuf text = {};
	struct chain chain;

	find_chain(dw, unit, wanted->address, &chain);
	place = chain.count ? find_call(dw, unit, &chain.call[0]) : none;
	/* Without the call it is not known which function it is a line of. */
	if (!place.source) {
		place = line;
		chain.count = 0;
	}
	if (!place.source)
		return 0;
	put_text(&text, place.source, SOURCE_NAME_MAX);
	for (size_t i = 0; i < chain.count && text.len < TEXT_MAX; i++) {
		const char *name = find_name(dw, &chain.call[i]);
		struct place at =
			i + 1 < chain.count ? find_call(dw, unit, &chain.call[i + 1]) : line;

		if (name && *name)
			put_inlined(&text, name, &at);
	}
	if (strbuf_error(&text))
		return -ENOMEM;
	wanted->start = place.line;
	wanted->name = arena_strndup(names, text.data, text.len);
	return wanted->name ? 0 : -ENOMEM;
}

/* The addresses of one unit, of which a program has one for each source that was compiled. */
static int find_in_unit(const struct libdw *dw, Dwarf_Die *unit, struct code_name *wanted,
			size_t count, struct arena *names)
{
	Dwarf_Addr base = 0, start, end, left_out = 0;
	bool looked = false;
	ptrdiff_t at = 0;
	int r = 0;

	while ((at = dw->dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		if (is_left_out(start))
			continue;
		for (size_t i = code_names_from(wanted, count, start);
		     r == 0 && i < count && wanted[i].address < end; i++) {
			if (wanted[i].name)
				continue;
			if (!looked)
				left_out = left_out_of(dw, unit);
			looked = true;
			/* A function begins at `start`, or behind it. */
			r = find_address(dw, unit, start >= left_out, &wanted[i], names);
		}
	}
	return r;
}

static int find_all(const struct libdw *dw, Elf *elf, struct code_name *wanted, size_t count,
		    struct arena *names)
{
	Dwarf *dwarf = dw->dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int r = 0;

	while (dwarf && r == 0 &&
	       dw->dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		r = find_in_unit(dw, &die, wanted, count, names);
	dw->dwarf_end(dwarf);
	return r;
}

int lines_find(const struct libdw *dw, int fd, struct code_name *wanted, size_t count,
	       struct arena *names)
{
	Elf *elf = elf_open_tables(fd);
	struct rlimit files, none;
	int r = 0;

	if (!elf)
		return 0;
	/*
	 * Debugging information may name further files, which libdw opens. A hostile program could
	 * name any: where no file can be opened, the path is not even looked at (do_sys_openat2(),
	 * fs/open.c).
	 */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		none = (struct rlimit){0, files.rlim_max};
		if (setrlimit(RLIMIT_NOFILE, &none) == 0) {
			r = find_all(dw, elf, wanted, count, names);
			setrlimit(RLIMIT_NOFILE, &files);
		}
	}
	elf_end(elf);
	return r;
}
