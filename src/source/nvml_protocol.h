/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the program that loads libnvidia-ml (src/nvml.c) answers: a struct nvml_answer, and behind
 * it `count` of struct nvml_use.
 */
#ifndef ZMEM_SOURCE_NVML_PROTOCOL_H
#define ZMEM_SOURCE_NVML_PROTOCOL_H

#include <stdint.h>

#define NVML_USES    3000	    /* of one answer */
#define NVML_UNKNOWN (~UINT64_C(0)) /* NVML_VALUE_NOT_AVAILABLE of <nvml.h> */

/* What a process uses of a device, or of one of the parts that a device is divided into (MIG). */
struct nvml_use {
	uint32_t domain, bus, device; /* of PCI */
	int32_t pid;
	uint64_t bytes; /* NVML_UNKNOWN: the library does not tell */
	uint32_t gpu_instance, compute_instance;
};

struct nvml_answer {
	uint32_t count; /* at most NVML_USES */
	/* Both empty: the library told all. Else there are no uses. */
	char call[56];	 /* the function that failed */
	char words[100]; /* what it said */
};

#endif
