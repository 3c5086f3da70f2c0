/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The mappings of one process, out of its smaps. */
#ifndef ZMEM_ENRICH_MAPS_READ_H
#define ZMEM_ENRICH_MAPS_READ_H

#include "model/maps.h"

struct maps_request {
	int dirfd; /* of the process */
	pid_t pid;
	bool by_name;
	bool has_rollup; /* this kernel has smaps_rollup */
	/* Called after each piece; false ends it. */
	bool (*go_on)(void *arg);
	void *arg;
};

/*
 * Returns 0 and what is to be freed with map_set_free(), or a negative errno: -ESRCH if the process
 * ended meanwhile, -EINVAL if the file is not understood, -ETIMEDOUT if go_on() ended it.
 */
int maps_read(const struct maps_request *request, struct map_set **ret);

#endif
