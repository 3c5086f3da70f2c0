/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sums of all processes compared with the machine's own totals. */
#ifndef ZMEM_COLLECT_BALANCE_H
#define ZMEM_COLLECT_BALANCE_H

#include "fields/system_fields.h"
#include "query/result.h"

/*
 * If the machine has no hugetlb pages, sets HUGETLB_PSS to 0; if no huge page is mapped in part,
 * THP_REST.
 */
void balance_no_pages(struct snapshot *s);
/* If no swap is in use, sets the swap counters that were not measured to 0. */
void balance_no_swap(struct snapshot *s);
/* Fills in s->balance: swap in use, AnonPages and Mapped, each minus the sum of all processes. */
void balance_reconcile(struct snapshot *s);
/* What `zmem-bpf system` shows: the parts of RAM, the sums, and how many processes lack PSS. */
void balance_report(const struct result *result, struct system_report *ret);

#endif
