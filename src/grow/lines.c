// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds lines by libdw. The file may be anybody's: a helper calls this (code_helper.h). */
#include "grow/lines.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "grow/symbols.h"

#define DEPTH_MAX 64 /* of blocks in each other */
/* Where functions begin that the linker left out (_bfd_clear_contents(), bfd/reloc.c of binutils).
 */
#define LEFT_OUT 1

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
 * Below an entry of the debugging information: what was compiled into the function that contains
 * the address, the outermost one. Not dwarf_getscopes(): it also looks for the source of that.
 */
static bool find_inlined(const struct libdw *dw, Dwarf_Die *entry, Dwarf_Addr address, int depth,
			 Dwarf_Die *ret)
{
	if (depth == DEPTH_MAX || dw->dwarf_child(entry, ret) != 0)
		return false;
	do {
		Dwarf_Die below, here = *ret;

		switch (dw->dwarf_tag(&here)) {
		case DW_TAG_inlined_subroutine:
			if (dw->dwarf_haspc(&here, address) > 0)
				return true;
			break;
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
			if (dw->dwarf_haspc(&here, address) > 0)
				return find_inlined(dw, &here, address, depth + 1, ret);
			break;
		/* What may have functions in it, and no addresses. */
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
			if (find_inlined(dw, &here, address, depth + 1, &below)) {
				*ret = below;
				return true;
			}
		}
	} while (dw->dwarf_siblingof(ret, ret) == 0);
	return false;
}

/* Where the function that contains the address calls the one that was compiled into it. */
static struct place find_call(const struct libdw *dw, Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Word file, line;
	Dwarf_Files *files;
	Dwarf_Die call;
	size_t count;

	if (!find_inlined(dw, unit, address, 0, &call) ||
	    dw->dwarf_getsrcfiles(unit, &files, &count) < 0 ||
	    !read_number(dw, &call, DW_AT_call_file, &file) ||
	    !read_number(dw, &call, DW_AT_call_line, &line) || file >= count)
		return (struct place){};
	return (struct place){dw->dwarf_filesrc(files, file, NULL, NULL), line};
}

static struct place find_place(const struct libdw *dw, Dwarf_Die *unit, Dwarf_Addr address)
{
	struct place place = find_call(dw, unit, address);
	Dwarf_Line *line;
	int number;

	if (place.source)
		return place;
	line = dw->dwarf_getsrc_die(unit, address);
	/* Line 0 is code of no line. */
	if (!line || dw->dwarf_lineno(line, &number) < 0 || number <= 0)
		return place;
	return (struct place){dw->dwarf_linesrc(line, NULL, NULL), (uint64_t)number};
}

/* The addresses of one unit, of which a program has one for each source that was compiled. */
static int find_in_unit(const struct libdw *dw, Dwarf_Die *unit, struct code_name *wanted,
			size_t count, struct arena *names)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t at = 0;

	while ((at = dw->dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		if (start <= LEFT_OUT)
			continue;
		for (size_t i = code_names_from(wanted, count, start);
		     i < count && wanted[i].address < end; i++) {
			struct place place = {};

			if (!wanted[i].name)
				place = find_place(dw, unit, wanted[i].address);
			if (!place.source)
				continue;
			wanted[i].start = place.line;
			wanted[i].name = arena_strndup(names, place.source,
						       strnlen(place.source, SOURCE_NAME_MAX));
			if (!wanted[i].name)
				return -ENOMEM;
		}
	}
	return 0;
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
