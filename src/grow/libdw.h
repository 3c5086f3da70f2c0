/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libdw, which unwinds stacks by the tables of programs. It is loaded when it is needed. */
#ifndef ZMEM_GROW_LIBDW_H
#define ZMEM_GROW_LIBDW_H

#include <elfutils/libdwfl.h>
#include <stddef.h>

/* The functions that are called, without their prefix. */
#define LIBDW_FUNCTIONS(FUNCTION)                                                                  \
	FUNCTION(begin)                                                                            \
	FUNCTION(end)                                                                              \
	FUNCTION(report_begin)                                                                     \
	FUNCTION(report_module)                                                                    \
	FUNCTION(module_info)                                                                      \
	FUNCTION(report_end)                                                                       \
	FUNCTION(attach_state)                                                                     \
	FUNCTION(getthread_frames)                                                                 \
	FUNCTION(frame_pc)                                                                         \
	FUNCTION(thread_state_registers)                                                           \
	FUNCTION(thread_state_register_pc)

struct libdw {
#define FUNCTION(name) __typeof__(&dwfl_##name) name;
	LIBDW_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* Returns 0, or a negative errno and in `why` what is missing and what to install. */
int libdw_load(struct libdw *ret, char *why, size_t cap);

#endif
