/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pin: loaded iterators in a bpffs of our own, for root or for the members of a group. Reading
 * them needs no capability (pin_source.c).
 */
#ifndef ZMEM_SOURCE_PIN_H
#define ZMEM_SOURCE_PIN_H

#include "base/diag.h"
#include "proc/procfs.h"
#include "source/pin_place.h"

/*
 * Loads and pins the best variants of this kernel, and replaces an existing pin. `group` may be
 * PIN_FOR_ROOT. Returns 0, or a negative errno and a note in diag. *ret_refusal: NULL, or why the
 * pin has no PSS; to be freed.
 */
int pin_make(gid_t group, const struct procfs *proc, struct diag *diag, char **ret_refusal);

/* Removes the pin. Returns 0, -ENOENT if there is none, or a negative errno and a note in diag. */
int pin_remove(struct diag *diag);

#endif
