/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libdw, which unwinds stacks by the tables of programs, and finds lines in their debugging
 * information. It is loaded when it is needed.
 */
#ifndef ZMEM_CODE_LIBDW_H
#define ZMEM_CODE_LIBDW_H

#include <elfutils/libdwfl.h>
#include <stddef.h>

/* Functions that unwind, and functions that find lines. */
#define LIBDW_FUNCTIONS(FUNCTION)                                                                  \
	FUNCTION(dwfl_begin)                                                                       \
	FUNCTION(dwfl_end)                                                                         \
	FUNCTION(dwfl_report_begin)                                                                \
	FUNCTION(dwfl_report_module)                                                               \
	FUNCTION(dwfl_module_info)                                                                 \
	FUNCTION(dwfl_report_end)                                                                  \
	FUNCTION(dwfl_addrmodule)                                                                  \
	FUNCTION(dwfl_module_eh_cfi)                                                               \
	FUNCTION(dwfl_module_dwarf_cfi)                                                            \
	FUNCTION(dwarf_cfi_addrframe)                                                              \
	FUNCTION(dwfl_attach_state)                                                                \
	FUNCTION(dwfl_getthread_frames)                                                            \
	FUNCTION(dwfl_frame_pc)                                                                    \
	FUNCTION(dwfl_thread_state_registers)                                                      \
	FUNCTION(dwfl_thread_state_register_pc)                                                    \
	FUNCTION(dwarf_begin_elf)                                                                  \
	FUNCTION(dwarf_end)                                                                        \
	FUNCTION(dwarf_get_units)                                                                  \
	FUNCTION(dwarf_ranges)                                                                     \
	FUNCTION(dwarf_getsrclines)                                                                \
	FUNCTION(dwarf_getsrc_die)                                                                 \
	FUNCTION(dwarf_getsrcfiles)                                                                \
	FUNCTION(dwarf_filesrc)                                                                    \
	FUNCTION(dwarf_linesrc)                                                                    \
	FUNCTION(dwarf_lineno)                                                                     \
	FUNCTION(dwarf_child)                                                                      \
	FUNCTION(dwarf_siblingof)                                                                  \
	FUNCTION(dwarf_haspc)                                                                      \
	FUNCTION(dwarf_lowpc)                                                                      \
	FUNCTION(dwarf_highpc)                                                                     \
	FUNCTION(dwarf_tag)                                                                        \
	FUNCTION(dwarf_attr)                                                                       \
	FUNCTION(dwarf_attr_integrate)                                                             \
	FUNCTION(dwarf_formstring)                                                                 \
	FUNCTION(dwarf_formudata)

struct libdw {
#define FUNCTION(name) __typeof__(&name) name;
	LIBDW_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* Returns 0, or a negative errno and in `why` what is missing and what to install. */
int libdw_load(struct libdw *ret, char *why, size_t cap);

#endif
