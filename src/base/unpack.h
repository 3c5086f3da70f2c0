/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the Makefile packed into the program with gzip because few runs need it. */
#ifndef ZMEM_BASE_UNPACK_H
#define ZMEM_BASE_UNPACK_H

#include <stddef.h>

/*
 * Unpacks one whole gzip file. *ret_data is to be freed. Returns 0, -ENOMEM, or -EINVAL for what is
 * no such file or is damaged.
 */
int unpack(const unsigned char *packed, size_t size, char **ret_data, size_t *ret_size);

#endif
