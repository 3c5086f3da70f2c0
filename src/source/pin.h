/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pin: loaded iterators, in a bpffs of our own, for the members of a group. Reading one needs
 * no capability. How it is read: src/source/pinned.c.
 */
#ifndef ZMEM_PIN_H
#define ZMEM_PIN_H

#include <sys/types.h>

#include "base/diag.h"
#include "proc/procfs.h"

#define PIN_PLACE "/run/zmem-bpf"

/* A group by its name, or its number. Returns 0, -ENOENT, or another negative errno. */
int pin_group(const char *text, gid_t *ret);

/*
 * Loads and pins the best this kernel can, in place of what was pinned before. Returns 0, or a
 * negative errno and a note in diag. *ret_refusal: NULL, or why PSS is not in it; to be freed.
 */
int pin_make(gid_t group, const struct procfs *proc, struct diag *diag, char **ret_refusal);

/* Takes it away. Returns 0, -ENOENT if there is none, or a negative errno and a note in diag. */
int pin_remove(struct diag *diag);

#endif
