/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts that JSON documents share. Each function writes a key and its value. */
#ifndef ZMEM_REPORT_JSON_H
#define ZMEM_REPORT_JSON_H

#include "fields/head_said.h"
#include "query/result.h"
#include "write/json_writer.h"

/* Begins a document: schema, tool, time and host, one key a line. */
void json_document_begin(struct json_writer *w, const char *schema, const char *version,
			 const struct snapshot *s);
/* Ends a document with a newline. */
void json_document_end(struct json_writer *w);

/* "schema" and what follows, in the line that ends a snapshot of NDJSON. */
void json_ndjson_schema(struct json_writer *w, const struct snapshot *s);
/* "source": where values came from. The reasons in it are cut to `max` encoded bytes. */
void json_source(struct json_writer *w, const struct result *r, size_t max);
/* "head": what a table has above it. */
void json_head(struct json_writer *w, const struct head *h);
/* "source" and "collection", one key a line. */
void json_measured(struct json_writer *w, const struct result *r);
/* The same and "system". */
void json_snapshot(struct json_writer *w, const struct result *r);

/*
 * The fields of a row, a process or a group, for an open object. `list`: of process_list_json().
 * `brief`: texts have the limits of short lines.
 */
void json_row(struct json_writer *w, const struct result *r, const struct field_list *list,
	      const struct row *row, bool brief);
/* An object of sums. */
void json_sums(struct json_writer *w, const char *key, const struct totals *t);

#endif
