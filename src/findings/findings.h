/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is wrong now: each condition of model/finding.def on a snapshot. What a snapshot did not
 * measure is not looked for. Pure.
 */
#ifndef ZMEM_FINDINGS_FINDINGS_H
#define ZMEM_FINDINGS_FINDINGS_H

#include "fields/row.h"
#include "model/finding.h"

/*
 * `rows` of a series tell which processes grow and swap; NULL: there are none. With rows->found
 * these are returned.
 */
void findings_find(const struct snapshot *s, const struct result *rows, struct findings *ret);

#endif
