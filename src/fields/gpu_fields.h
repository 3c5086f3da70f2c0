/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of memory of GPUs in JSON. */
#ifndef ZMEM_FIELDS_GPU_FIELDS_H
#define ZMEM_FIELDS_GPU_FIELDS_H

#include "fields/field.h"
#include "model/gpu.h"

/* What a process holds: struct gpu_part. */
extern const struct fields gpu_part_fields;
/* The machine: struct gpu_parts. */
extern const struct fields gpu_machine_fields;
/* The regions of GPUs in a table: struct gpu_region. */
extern const struct fields gpu_columns;

#endif
