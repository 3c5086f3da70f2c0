/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where code is in an address space. It reads nothing. */
#ifndef ZMEM_CODE_CODE_SPACE_H
#define ZMEM_CODE_CODE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stack_table.h"

#define IMAGES_MAX (1u << 16)

/* A part of a file that is mapped as code. */
struct image {
	uint64_t start, end;
	uint64_t base;	  /* start - base is the address in the file's own terms */
	uint64_t low;	  /* where the first segment of the file is mapped */
	uint32_t file;	  /* NO_FILE: memory without a file */
	bool jit;	  /* the program has made this code */
	bool looked;	  /* at the beginning of this code: */
	bool trampolines; /* it has trampolines (trampoline.h) */
};

struct code_space {
	struct image *image; /* by address */
	size_t count, capacity;
	unsigned generation; /* grows when the images change */
};

/* Appends an image; one that there is no room for is left out. Returns 0 or -ENOMEM. */
int code_space_add(struct code_space *s, const struct image *image);
/* The image that contains the address, NULL if none does. */
const struct image *code_space_find(const struct code_space *s, uint64_t address);
void code_space_done(struct code_space *s);

/* An address of which the function is wanted. */
struct code_name {
	uint64_t address;
	uint64_t start;	  /* of the function that contains it */
	const char *name; /* as its file has it; NULL: none is known */
};

/* Sorts by address. */
void code_names_sort(struct code_name *item, size_t count);
/* In a sorted list: the index of the first one that is not below this address, or `count`. */
size_t code_names_from(const struct code_name *item, size_t count, uint64_t address);
/* Likewise the one with this address, or NULL. */
const struct code_name *code_names_find(const struct code_name *item, size_t count,
					uint64_t address);

#endif
