/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory that was freed goes back to the kernel: musl does this by itself, glibc has to be told. */
#ifndef ZMEM_BASE_TRIM_H
#define ZMEM_BASE_TRIM_H

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static inline void memory_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

#endif
