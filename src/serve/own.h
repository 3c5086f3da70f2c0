/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this process itself costs; to be asked when it can open no file any more. */
#ifndef ZMEM_SERVE_OWN_H
#define ZMEM_SERVE_OWN_H

#include "serve/channel.h"

struct own {
	int statm; /* of ourselves, -1: not to be had */
};

void own_open(struct own *own);
void own_cost(const struct own *own, struct cost *ret);
void own_close(struct own *own);

#endif
