/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The number of items of an array. */
#ifndef ZMEM_BASE_ARRAY_H
#define ZMEM_BASE_ARRAY_H

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
