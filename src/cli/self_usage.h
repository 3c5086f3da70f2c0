/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this process itself takes; to be asked when it can open no file any more. */
#ifndef ZMEM_CLI_SELF_USAGE_H
#define ZMEM_CLI_SELF_USAGE_H

#include <stdint.h>

struct self_usage {
	int statm; /* of ourselves, -1: not to be had */
};

void self_usage_open(struct self_usage *own);
/* Bytes, 0: not known. */
uint64_t self_usage_resident(const struct self_usage *own);
/* Of all threads, since the start. */
uint64_t self_usage_cpu_us(void);
void self_usage_close(struct self_usage *own);

#endif
