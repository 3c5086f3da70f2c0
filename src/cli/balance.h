/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All processes together against the machine's own totals. */
#ifndef ZMEM_CLI_BALANCE_H
#define ZMEM_CLI_BALANCE_H

#include "render/render.h"
#include "query/result.h"

/* Where no swap is in use, nobody has any: what is not measured of it is 0. */
void balance_no_swap(struct snapshot *s);
/* Fills in s->balance: what the sums of the processes leave of swap, AnonPages and Mapped. */
void balance_reconcile(struct snapshot *s);
/* All that balance_reconcile() sets against each other, and by how many processes it is too little.
 */
void balance_report(const struct result *result, struct system_report *ret);

#endif
