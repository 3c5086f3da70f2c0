/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers to digits, which printf takes ten times as long for. */
#ifndef ZMEM_BASE_DECIMAL_H
#define ZMEM_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#define DECIMAL_MAX 20 /* digits of UINT64_MAX */

/* Writes at most DECIMAL_MAX bytes, no terminator. Returns how many. */
size_t decimal_put(char *to, uint64_t v);

#endif
