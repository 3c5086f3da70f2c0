/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a report shows of an address: function, file, and whether it allocates for others. */
#ifndef ZMEM_GROW_NAMES_H
#define ZMEM_GROW_NAMES_H

#include "code/debuginfod.h"
#include "code/jit.h"
#include "code/lines.h"
#include "demangle/demangler.h"
#include "model/growth.h"
#include "model/stack_table.h"

struct name_sources {
	struct code_sources *code;
	const struct stack_table *stacks;
	struct jit_maps *jit; /* after jit_maps_read() */
	struct debuginfod *debuginfod;
	struct demangler *demangler;
	bool lines; /* and lines */
};

/* What was found for a code of the stacks. */
struct found_name {
	const char *name;   /* in the arena; NULL: none is known */
	uint64_t start;	    /* of the function, also of one without a name; 0: not known */
	const char *source; /* in the arena; NULL: no line is known */
	uint64_t line;
	struct inlined *inlined; /* functions that were compiled in, the outermost first */
	size_t inlined_count;
	enum growth_out
		reason; /* why there is no name; GROWTH_OUT_REASONS: there is nothing to say */
	bool no_line;	/* the debugging information of its file costs too much */
};

/*
 * Looks up all codes of the stacks, each file once, and demangles the names. `ret` has room for all
 * of them. Returns 0 or -ENOMEM.
 */
int names_look_up(const struct name_sources *from, struct arena *arena, struct found_name *ret);
/* How many functions were found: of these codes, and compiled into them. */
size_t names_count(const struct found_name *found, size_t codes);
/*
 * What a report shows of a code. *code becomes that of its function, the same for all its
 * addresses.
 */
void names_show(const struct name_sources *from, const struct found_name *found, struct code *code,
		struct growth_frame *ret);
/* The same of a function that was compiled in; without its line. */
void names_show_inlined(const struct name_sources *from, const struct inlined *inlined,
			struct code *code, struct growth_frame *ret);
/* A line of such a frame: *code becomes that of the line. */
void names_show_line(const char *source, uint64_t line, struct code *code,
		     struct growth_frame *ret);
/*
 * If functions of Python have names, those of its interpreter allocate nothing. If they have none,
 * or those of JavaScript, Java or .NET, the report says so.
 */
void names_mark_interpreter(struct growth *g);

#endif
