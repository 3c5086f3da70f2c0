/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sums of all processes compared with the machine's own totals. */
#ifndef ZMEM_COLLECT_BALANCE_H
#define ZMEM_COLLECT_BALANCE_H

#include "query/account.h"
#include "query/result.h"

/* Where no swap is in use, no process has any: counters of swap that were not measured are 0. */
void balance_no_swap(struct snapshot *s);
/* Fills in s->balance: what the sums of the processes leave of swap, AnonPages and Mapped. */
void balance_reconcile(struct snapshot *s);
/* The sums behind s->balance, and how many processes are missing in them. */
void balance_report(const struct result *result, struct system_report *ret);

#endif
