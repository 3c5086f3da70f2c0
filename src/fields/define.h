/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines a field and its getter in one statement. Before them the file defines ROW: it declares
 *`r`, the row of the kind, from `row`.
 *
 *	#define ROW const struct process *r = row
 *	COLUMN(pid, "pid", "PID", NUMBER, value_signed(true, r->pid), "process id");
 *
 * defines field_pid: name, key, heading, type (FIELD_…), value (an expression of `r`, `f` and
 *`of`), help, and then other members of struct field.
 */
#ifndef ZMEM_FIELDS_DEFINE_H
#define ZMEM_FIELDS_DEFINE_H

#include "base/array.h"
#include "fields/field.h"

/* A field with a getter that exists. */
#define FIELD_BY(get_, counter_, name_, key_, json_, heading_, type_, help_, ...)                  \
	static const struct field field_##name_ = {.key = key_,                                    \
						   .json_text = JSON_KEY_TEXT(json_),              \
						   .json_len = JSON_KEY_LEN(json_),                \
						   .heading = heading_,                            \
						   .help = help_,                                  \
						   .type = FIELD_##type_,                          \
						   .counter = counter_,                            \
						   .get = get_,                                    \
						   __VA_ARGS__}
#define FIELD_AS(counter, name_, key, json, heading, type, value_, help, ...)                      \
	static struct value get_##name_(const struct field *f, const void *row, const void *of)    \
	{                                                                                          \
		ROW;                                                                               \
		(void)f, (void)r, (void)of;                                                        \
		return value_;                                                                     \
	}                                                                                          \
	FIELD_BY(get_##name_, counter, name_, key, json, heading, type, help, __VA_ARGS__)
#define FIELD_OF(counter, name, json, ...) FIELD_AS(counter, name, json, json, __VA_ARGS__)
/* A column: name, key (also in JSON), heading, type, value, help. */
#define COLUMN(...) FIELD_OF(-1, __VA_ARGS__)
/* The same with another key in JSON: name, key, key in JSON, heading, type, value, help. */
#define COLUMN_AS(...) FIELD_AS(-1, __VA_ARGS__)
/* A key of JSON that is no column: name, key, type, value, help. */
#define JSON_FIELD(name, json, ...) FIELD_AS(-1, name, NULL, json, NULL, __VA_ARGS__)
/* A key of JSON that is always known. */
#define JSON_KNOWN(name, json, ...) JSON_FIELD(name, json, __VA_ARGS__, .flags = FIELD_KNOWN)
/* A value of sentences alone: name and key, type, value; and one that is true or false. */
#define SAID(name, type, value, ...) JSON_FIELD(name, #name, type, value, "", __VA_ARGS__)
#define FLAG(name, value)	     SAID(name, BOOL, value_bool(true, value))
/* A row of another kind that is an object of JSON; rows of another kind that are an array. */
#define OBJECT(name, json, fields_, row, help)                                                     \
	JSON_KNOWN(name, json, OBJECT, value_row(row), help, .fields = fields_)
#define ROWS(name, json, fields_, type_, known, first, count, help, flags_, ...)                   \
	JSON_FIELD(name, json, ROWS, value_rows(known, first, count), help, .fields = fields_,     \
		   .row_size = sizeof(type_), .flags = flags_, __VA_ARGS__)

/* X(p, n) for each of the NODES_MAX nodes. */
#define EACH_NODE(X, p)                                                                            \
	X(p, 0)                                                                                    \
	X(p, 1)                                                                                    \
	X(p, 2)                                                                                    \
	X(p, 3)                                                                                    \
	X(p, 4)                                                                                    \
	X(p, 5)                                                                                    \
	X(p, 6)                                                                                    \
	X(p, 7)                                                                                    \
	X(p, 8)                                                                                    \
	X(p, 9)                                                                                    \
	X(p, 10)                                                                                   \
	X(p, 11)                                                                                   \
	X(p, 12)                                                                                   \
	X(p, 13)                                                                                   \
	X(p, 14)                                                                                   \
	X(p, 15)

/* A kind of row with these fields. */
#define FIELD_ITEMS(...) ((const struct field *const[]){__VA_ARGS__})
#define FIELDS(name, ...)                                                                          \
	const struct fields name = {.item = FIELD_ITEMS(__VA_ARGS__),                              \
				    .count = ARRAY_SIZE(FIELD_ITEMS(__VA_ARGS__)),                 \
				    .since = ARRAY_SIZE(FIELD_ITEMS(__VA_ARGS__))}

#endif
