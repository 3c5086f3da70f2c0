/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said of a snapshot as a whole: "source", "collection" and "system", each with its key. */
#ifndef ZMEM_RENDER_JSON_SNAPSHOT_H
#define ZMEM_RENDER_JSON_SNAPSHOT_H

#include "render/json_writer.h"
#include "zmem/result.h"

/* Reasons have at most `max` bytes, encoded. */
void json_source(struct json_writer *w, const struct result *r, size_t max);
void json_collection(struct json_writer *w, const struct collection *c);
/* Without its zram devices, whose number nobody knows, "zram" is null. */
void json_system(struct json_writer *w, const struct result *r, bool with_zram);

#endif
