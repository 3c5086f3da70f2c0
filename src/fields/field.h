/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A field of a kind of row: what it is called, what it means, and how it is read. Columns, sort
 * keys, JSON, CSV, help, completions, schemas and pages of keys are made of fields.
 */
#ifndef ZMEM_FIELDS_FIELD_H
#define ZMEM_FIELDS_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_key.h"

enum field_type {
	FIELD_BYTES,
	FIELD_AMOUNT,  /* a number of things */
	FIELD_NUMBER,  /* an identifier */
	FIELD_ADDRESS, /* of memory: hexadecimal, and a string in JSON */
	FIELD_PERCENT, /* a share of RAM, of swap or of a limit, one in percent, a ratio */
	FIELD_TIME,    /* ms since the epoch */
	FIELD_CHANGE,  /* by how many bytes */
	FIELD_GROWTH,  /* by how many things */
	FIELD_RATIO,   /* in hundredths; a whole number in JSON */
	FIELD_TEXT,
	FIELD_BOOL,
	FIELD_OBJECT,  /* of JSON alone: a row of another kind */
	FIELD_ROWS,    /* likewise: rows of another kind */
	FIELD_WORDS,   /* likewise: the words with bits that are set */
	FIELD_NUMBERS, /* a list of identifiers; rows are not sorted by it */
};

enum field_flag {
	FIELD_SUMS = 1 << 0,	  /* rows that are sums have it, and the total */
	FIELD_SINCE = 1 << 1,	  /* of an earlier snapshot and this one */
	FIELD_READ = 1 << 2,	  /* reading PSS sets it: it is not known before */
	FIELD_OWN_WHOLE = 1 << 3, /* of PERCENT: the whole differs by row, so shares have no sum */
	FIELD_ASKED = 1 << 4,	  /* only on request: it takes time, or may hold secrets */
	FIELD_KNOWN = 1 << 5,	  /* it is always known: in JSON it is never null */
	/* For a text in JSON: */
	FIELD_HEX = 1 << 6,	  /* KEY_hex has its bytes where they are not UTF-8 */
	FIELD_CUT_BOOL = 1 << 7,  /* KEY_truncated says whether a part of it is missing */
	FIELD_OPTIONAL = 1 << 8,  /* also of numbers: it has no key where it is not known */
	FIELD_CUT_TRUE = 1 << 9,  /* KEY_truncated is there only if it is true */
	FIELD_CUT_LAST = 1 << 10, /* it comes after KEY_hex */
	/* For rows in JSON: */
	FIELD_LINES = 1 << 11,	  /* each begins a line */
	FIELD_END_LINE = 1 << 12, /* and so does the bracket behind the last one */
	FIELD_EXTRA = 1 << 13,	  /* it is read for shown rows alone, on request: no sort key */
	FIELD_JOINED = 1 << 14,	  /* it is a struct group_keys: groups by several columns */
	FIELD_PATH = 1 << 15,	  /* of TEXT: a path; what is in a directory comes next to it */
};

/* What a group of processes is of the path of their cgroup. */
enum cgroup_part {
	PART_NONE,
	PART_UNIT,
	PART_CONTAINER,
	PART_POD,
	PART_NAMESPACE, /* a namespace of pods, which is no cgroup */
	PART_CGROUP,
};

/* A value of a field. */
struct value {
	bool known;
	bool cut;	/* of a text: a part of it is missing */
	uint32_t count; /* of ROWS and NUMBERS */
	union {
		uint64_t bytes; /* also of ADDRESS */
		int64_t number; /* of AMOUNT, NUMBER, TIME, CHANGE, GROWTH, RATIO and WORDS */
		double percent;
		const char *text; /* any bytes; borrowed from the row */
		bool yes;	  /* of BOOL */
		/* The row of OBJECT, the first row of ROWS, or the first int32_t of NUMBERS. */
		const void *row;
	};
};

static inline struct value value_bytes(bool known, uint64_t bytes)
{
	return (struct value){.known = known, .bytes = bytes};
}

/* A value of AMOUNT, NUMBER, TIME, CHANGE, GROWTH, RATIO or WORDS. */
static inline struct value value_signed(bool known, int64_t number)
{
	return (struct value){.known = known, .number = number};
}

/* A number without a sign; one above INT64_MAX is not known. */
static inline struct value value_unsigned(bool known, uint64_t number)
{
	return value_signed(known && number <= INT64_MAX, (int64_t)number);
}

/* NULL is not known. */
static inline struct value value_text(const char *text)
{
	return (struct value){.known = text, .text = text};
}

static inline struct value value_bool(bool known, bool yes)
{
	return (struct value){.known = known, .yes = yes};
}

static inline struct value value_row(const void *row)
{
	return (struct value){.known = row, .row = row};
}

/* An array of them. */
static inline struct value value_rows(bool known, const void *first, size_t count)
{
	return (struct value){.known = known, .count = (uint32_t)count, .row = first};
}

/* Bytes of a text in a document, and in a line that must be short; 0: not limited. */
struct text_limit {
	uint16_t usual, brief;
};

struct fields;
struct process;

struct field {
	const char *key; /* in lists of columns and of sort keys; NULL: a key of JSON alone */
	const char
		*json_text;  /* ,"KEY": with the key of JSON and of the head of CSV, and its unit */
	const char *heading; /* of a table */
	const char *help;    /* one line */
	/* `of`: what the rows are from, by their kind: a snapshot, a report. */
	struct value (*get)(const struct field *f, const void *row, const void *of);
	union {
		/* Of TEXT: what processes of one group have in common; NULL: they make no groups.
		 */
		const char *(*group)(const struct process *p);
		const struct fields *fields; /* of OBJECT and ROWS: the fields of a row */
		const char *const *words;    /* of WORDS: from bit 0 on; ends with NULL */
	};
	union {
		/* Of a column: rows are sorted by this field in its place; NULL: by itself. */
		const struct field *order;
		const char *note; /* in a table with a line for each field; NULL: help */
		bool (*shown)(const void *row, const void *of); /* of ROWS; NULL: each is shown */
	};
	uint16_t json_len; /* of json_text */
	uint8_t type;	   /* enum field_type */
	uint8_t part;	   /* of a group: enum cgroup_part, the part of the cgroup that it is */
	uint16_t flags;	   /* enum field_flag */
	uint32_t needs;	   /* of processes: enum process_needs */
	int16_t counter;   /* the counter that it is, or is made of; below 0: none */
	uint16_t row_size; /* of ROWS and NUMBERS: the bytes from one to the next */
	/* Of a text in JSON: bytes between the quotes, and of what its hex form has. Of NUMBERS in
	 * JSON: items. Of ROWS: a line that must be short has them if it is not 0. */
	struct text_limit max, max_hex;
};

/* The key in JSON, for %.*s. */
#define FIELD_JSON(f) (f)->json_len - 4, (f)->json_text + 2

static inline struct json_key field_json_key(const struct field *f)
{
	return (struct json_key){f->json_text, f->json_len};
}

static inline struct value field_value(const struct field *f, const void *row, const void *of)
{
	return f->get(f, row, of);
}

/* Number `i` of NUMBERS. */
static inline int32_t value_number(const struct field *f, struct value v, uint32_t i)
{
	return *(const int32_t *)((const char *)v.row + i * f->row_size);
}

/* A counter, or a share of one; not its change. */
static inline bool field_is_counter(const struct field *f)
{
	return f->counter >= 0 && !(f->flags & FIELD_SINCE);
}

/* Whether rows that are sorted by it begin with the largest value. */
static inline bool field_sorts_descending(const struct field *f)
{
	return f->type == FIELD_BYTES || f->type == FIELD_AMOUNT || f->type == FIELD_PERCENT ||
	       f->type == FIELD_CHANGE || f->type == FIELD_GROWTH;
}

/*
 * The order of two values: the largest amount or change first, all else ascending, and one that is
 * not known last.
 */
int field_compare(const struct field *f, struct value a, struct value b);

/*
 * The weight of a byte of a TEXT, from 0 (its end) to 255: of two texts the one that is lower at
 * the first byte where they differ comes first. A slash is the lowest byte of a path, so that
 * /a/b comes before /a-b.
 */
static inline unsigned char field_text_weight(const struct field *f, char c)
{
	unsigned char byte = (unsigned char)c;

	if (!(f->flags & FIELD_PATH) || byte == 0 || byte > '/')
		return byte;
	return byte == '/' ? 1 : byte + 1;
}

/* By these weights; below, above or equal to 0 as strcmp(). */
int field_compare_text(const struct field *f, const char *a, const char *b);

/* ---- the fields of a kind of row ---- */

/* What other tools call a field. */
struct field_alias {
	const char *name, *key;
};

struct fields {
	const struct field *const *item;
	size_t count;
	size_t since; /* from this one on: FIELD_SINCE; the count if there are none */
	const struct field_alias *alias; /* ends with a NULL name; NULL: none */
};

/*
 * The field with that key, ignoring case, or with the name that other tools use, or the only one
 * with that heading. NULL if there is none.
 */
const struct field *fields_find(const struct fields *all, const char *key, size_t len);
/* The field that a mistyped key may mean. NULL: none is near. */
const struct field *fields_nearest(const struct fields *all, const char *key, size_t len);

/* ---- lists ---- */

#define FIELDS_MAX 180

struct field_list {
	const struct field *item[FIELDS_MAX];
	size_t count;
	bool asked[FIELDS_MAX]; /* it was added by "+a" */
};

/* A name in a list that is wrong. */
struct field_error {
	const char *name;
	size_t len;
};

/*
 * Parses "a,b,c" (the new list) or "+a,+b" / "+a,b" (added to the list, before a text in the last
 * column; those on request that are texts come last). On a bad name it returns -EINVAL, leaves the
 * list unchanged and sets *ret_bad.
 */
int field_list_parse(struct field_list *list, const struct fields *all, const char *spec,
		     struct field_error *ret_bad);
/* Parses sort keys likewise. "-KEY" is an amount, largest first, as it is without the sign. */
int field_list_parse_keys(struct field_list *list, const struct fields *all, const char *spec,
			  struct field_error *ret_bad);
bool field_list_has(const struct field_list *list, const struct field *f);
/* Inserts a field before item `at`, unless the list has it. */
void field_list_insert(struct field_list *list, size_t at, const struct field *f);
void field_list_append(struct field_list *list, const struct field *const *fields, size_t count);
/* True if one of them is a change. */
bool field_list_changes(const struct field_list *list);
/* The union of their needs. */
unsigned field_list_needs(const struct field_list *list);

#endif
