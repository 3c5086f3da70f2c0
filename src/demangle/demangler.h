/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Demangles C++ names in a helper: libstdc++ has no bound, and a name of 60 bytes can become one of
 * gigabytes, for each of its parts may repeat all that came before.
 */
#ifndef ZMEM_DEMANGLE_DEMANGLER_H
#define ZMEM_DEMANGLE_DEMANGLER_H

#include "privilege/helper.h"

/* Names that a run may lose helpers with; later ones stay as they are. */
#define DEMANGLER_LOSSES 8

struct demangler {
	struct helper helper;
	unsigned losses;
};

/* helper_done() ends it. */
void demangler_init(struct demangler *d, struct helpers *shared);
/*
 * Calls fn with the text of each name that was demangled, and with NULL for one that costs too
 * much. It is not called for names of other languages. fn returns 0 or a negative errno, which ends
 * the call. Returns that or 0.
 */
int demangler_run(struct demangler *d, const char *const *name, size_t count,
		  int (*fn)(void *arg, size_t i, const char *text), void *arg);

#endif
