/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All processes together against the machine's own totals. */
#ifndef ZMEM_APP_BOOKS_H
#define ZMEM_APP_BOOKS_H

#include "zmem/render.h"
#include "zmem/result.h"

/* Where no swap is in use, nobody has any: what is not measured of it is 0. */
void books_no_swap(struct snapshot *s);
/* Fills in s->balance: what the sums of the processes leave of swap, AnonPages and Mapped. */
void books_close(struct snapshot *s);
/* All that books_close() sets against each other, and by how many processes it is too little. */
void books_report(const struct result *result, struct system_report *ret);

#endif
