/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts that JSON documents have in common, each with its key. */
#ifndef ZMEM_RENDER_JSON_COMMON_H
#define ZMEM_RENDER_JSON_COMMON_H

#include "render/json_writer.h"
#include "query/account.h"
#include "query/result.h"

/* The beginning of a document: schema, tool, time and host, a key a line. */
void json_document_begin(struct json_writer *w, const char *schema, const char *version,
			 const struct snapshot *s);
/* Its end, and a newline. */
void json_document_end(struct json_writer *w);

void json_timestamp(struct json_writer *w, int64_t time_ms);
void json_boot_id(struct json_writer *w, const struct host_info *h);

/* Reasons have at most `max` bytes, encoded. */
void json_source(struct json_writer *w, const struct result *r, size_t max);
void json_collection(struct json_writer *w, const struct collection *c);
/* "zram" is null unless with_zram: there may be any number of them. */
void json_system(struct json_writer *w, const struct result *r, bool with_zram);
/* The fields of a zram device, in an object that is open. */
void json_zram(struct json_writer *w, const struct zram_device *z);
/* These three, a line each. */
void json_snapshot(struct json_writer *w, const struct result *r);
/* "memory", "kernel" and "user", a line each: the parts of RAM. */
void json_account(struct json_writer *w, const struct account *a);

/* A value of /proc/meminfo. */
#define json_meminfo(w, key, m, field) json_known(w, key, meminfo_has(m, field), (m)->value[field])

#endif
