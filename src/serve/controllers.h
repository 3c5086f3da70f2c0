/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the memory controller says of every cgroup, unit and container that a request may name. */
#ifndef ZMEM_SERVE_CONTROLLERS_H
#define ZMEM_SERVE_CONTROLLERS_H

#include "app/session.h"
#include "serve/wire.h"

/* Fills shot->controller, to be freed. Paths are the snapshot's. Returns 0 or a negative errno. */
int controllers_read(struct session *s, struct shot *shot);
/* Gives the groups what is known of their cgroups. Pure. */
void controllers_apply(const struct shot *shot, struct rows *groups);

#endif
