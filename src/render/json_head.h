/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How each JSON document begins: schema, tool, time, host. */
#ifndef ZMEM_RENDER_JSON_HEAD_H
#define ZMEM_RENDER_JSON_HEAD_H

#include "render/json_writer.h"
#include "zmem/snapshot.h"

void json_head(struct json_writer *w, const char *schema, const char *version, int64_t time_ms);
void json_host(struct json_writer *w, const struct host_info *h);

#endif
