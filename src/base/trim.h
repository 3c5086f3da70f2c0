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

/*
 * To be called before a thread that frees much: of its memory, glibc keeps the end, up to twice the
 * largest block that was freed (64 MiB at most), and malloc_trim() does not look at it.
 */
static inline void memory_trim_threads(void)
{
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
}

#endif
