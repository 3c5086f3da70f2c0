/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of kernel memory that processes hold by descriptors. */
#ifndef ZMEM_FIELDS_DESCRIPTOR_FIELDS_H
#define ZMEM_FIELDS_DESCRIPTOR_FIELDS_H

#include "fields/field.h"
#include "model/descriptors.h"

/* A row is a struct kernel_share. */
extern const struct fields kernel_part_fields;
/* False for a kind of which nothing is held. */
bool kernel_part_shown(const void *row, const void *of);

/* A row is a struct kernel_object. */
extern const struct fields kernel_object_fields;

/* A row is a struct kernel_held: that of the whole machine. */
extern const struct fields kernel_held_fields;

#endif
