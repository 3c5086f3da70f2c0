/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why BPF does not work here, in words for the person who can change it. */
#ifndef ZMEM_SOURCE_WHY_H
#define ZMEM_SOURCE_WHY_H

#include "zmem/diag.h"

/* Adds a note on the failure `error` (negative errno) of `step` of source `what`. */
void why_note(struct diag *diag, const char *what, const char *step, int error);

#endif
