/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes numbers as decimal digits, ten times as fast as printf. */
#ifndef ZMEM_BASE_DECIMAL_H
#define ZMEM_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#define DECIMAL_MAX 20 /* digits of UINT64_MAX */

/* Writes at most DECIMAL_MAX bytes without a terminator. Returns the number of bytes. */
size_t decimal_put(char *to, uint64_t v);

#endif
