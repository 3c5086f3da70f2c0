/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes of the heap in use; useless with a sanitizer, because its heap keeps freed memory. */
#ifndef TESTS_HEAP_H
#define TESTS_HEAP_H

#include <malloc.h>

static inline size_t heap_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

#endif
