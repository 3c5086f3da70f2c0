// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows gzip files. Made for what is in the program: the size a file claims is believed. */
#include "base/unpack.h"

#include <errno.h>
#include <stdint.h>
#include <zlib.h>

#include "base/cleanup.h"

#define HEADER	10 /* at least */
#define TRAILER 8  /* CRC and size of the contents */
#define GZIP	16 /* what zlib wants added where it is to expect a gzip file */

int unpack(const unsigned char *packed, size_t size, char **ret_data, size_t *ret_size)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)packed, .avail_in = (uInt)size};
	cleanup_free char *data = NULL;
	const unsigned char *end = packed + size;
	uint32_t len;
	int r;

	if (size < HEADER + TRAILER || size > UINT32_MAX)
		return -EINVAL;
	len = (uint32_t)end[-4] | (uint32_t)end[-3] << 8 | (uint32_t)end[-2] << 16 |
	      (uint32_t)end[-1] << 24;
	data = malloc((size_t)len + 1);
	if (!data || inflateInit2(&z, GZIP + MAX_WBITS) != Z_OK)
		return -ENOMEM;
	z.next_out = (unsigned char *)data;
	z.avail_out = len;
	r = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (r == Z_MEM_ERROR)
		return -ENOMEM;
	if (r != Z_STREAM_END || z.avail_in || z.avail_out)
		return -EINVAL;
	*ret_data = TAKE_PTR(data);
	*ret_size = len;
	return 0;
}
