/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts shared by the JSON documents, each written with its key. */
#ifndef ZMEM_RENDER_JSON_COMMON_H
#define ZMEM_RENDER_JSON_COMMON_H

#include "render/json_writer.h"
#include "query/account.h"
#include "query/result.h"

/* Begins a document: schema, tool, time and host, one key a line. */
void json_document_begin(struct json_writer *w, const char *schema, const char *version,
			 const struct snapshot *s);
/* Ends a document with a newline. */
void json_document_end(struct json_writer *w);

void json_timestamp(struct json_writer *w, int64_t time_ms);
void json_boot_id(struct json_writer *w, const struct host_info *h);

/* Reasons are cut to `max` encoded bytes. */
void json_source(struct json_writer *w, const struct result *r, size_t max);
void json_collection(struct json_writer *w, const struct collection *c);
/* "zram" is null unless with_zram: the number of devices is not bounded. */
void json_system(struct json_writer *w, const struct result *r, bool with_zram);
/* The fields of a zram device, for an open object. */
void json_zram(struct json_writer *w, const struct zram_device *z);
/* "source", "collection" and "system", a line each. */
void json_snapshot(struct json_writer *w, const struct result *r);
/* "memory", "kernel" and "user", a line each: the parts of RAM. */
void json_account(struct json_writer *w, const struct account *a);

/* A value of /proc/meminfo. */
#define json_meminfo(w, key, m, field) json_known(w, key, meminfo_has(m, field), (m)->value[field])

#endif
