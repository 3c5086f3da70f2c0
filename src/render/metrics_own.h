/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a program that stays says of itself, and what it has kept of the groups. */
#ifndef ZMEM_RENDER_METRICS_OWN_H
#define ZMEM_RENDER_METRICS_OWN_H

#include "render/metrics_writer.h"
#include "render/render.h"

void metrics_put_own(struct metrics_writer *w, const struct metrics_own *own);

#endif
