/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads a program once more with libbpf and the verifier's log on, to learn why it does not load.
 */
#ifndef ZMEM_SOURCE_EXPLAIN_H
#define ZMEM_SOURCE_EXPLAIN_H

#include <stdbool.h>

/*
 * Returns what the kernel and libbpf had to say, to be freed, or NULL if it loads that way or there
 * is nothing to tell. `probe` chooses the object.
 */
char *explain_load(bool probe);

#endif
