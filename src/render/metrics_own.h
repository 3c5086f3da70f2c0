/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Metrics of a continuously running program about itself and the groups that it tracks. */
#ifndef ZMEM_RENDER_METRICS_OWN_H
#define ZMEM_RENDER_METRICS_OWN_H

#include "render/metrics_writer.h"
#include "render/render.h"

void metrics_put_own(struct metrics_writer *w, const struct metrics_own *own);

#endif
