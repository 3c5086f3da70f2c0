/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this process itself takes; to be asked when it can open no file any more. */
#ifndef ZMEM_APP_OWN_H
#define ZMEM_APP_OWN_H

#include <stdint.h>

struct own {
	int statm; /* of ourselves, -1: not to be had */
};

void own_open(struct own *own);
/* Bytes, 0: not known. */
uint64_t own_resident(const struct own *own);
/* Of all threads, since the start. */
uint64_t own_cpu_us(void);
void own_close(struct own *own);

#endif
