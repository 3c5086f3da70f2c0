/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers texts in the order of their first use, each text once. Borrows the texts. */
#ifndef ZMEM_BASE_STRING_TABLE_H
#define ZMEM_BASE_STRING_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct string_table {
	const char **item;
	size_t count;
	uint32_t seed; /* of the hash: unpredictable to users who choose names */

	/* Private. */
	uint32_t *slot; /* number + 1, 0: free */
	size_t slots;	/* a power of two */
};

void string_table_done(struct string_table *t);
/*
 * Sets *ret_number to the number of a text, and adds the text if it is new. Returns 0 or -ENOMEM.
 */
int string_table_number(struct string_table *t, const char *s, uint32_t *ret_number);

#endif
