/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sentence is a row: a text with the keys of fields in it. write/say.h writes it.
 *
 *	{key}          the value of the field with that key in JSON. The part that it is in, or else
 *	               the whole sentence, is said only if the value is known
 *	{object.key}   likewise, of a field of an object
 *	{key~}         "not known" stands for a value that is not known, and nothing depends on it
 *	{key|60}       a text of at most so many columns
 *	{key|16}       a time to the minute; {key|8} and {key|5}: the time of day, to the second
 *	               and to the minute
 *	{key+}         likewise a number: it counts as known only above 0
 *	{?key} {!key}  says nothing: needs a true value or a number above 0; a false one or 0
 *	{rows: text}   the text for each row of an array, of the fields of these rows, with commas
 *	{rows; text}   likewise with semicolons
 *	{rows*3: text} likewise of the first three; ", 2 more" stands for the others
 *	[a||b||c]      the first part that can be said, or nothing
 *	process{es}    nothing if the number before it is 1, else "es"
 *	{was/were}     "was" if the number before it is 1, else "were"
 *
 * A comma or a semicolon at the beginning of a part is left out behind a colon or "(".
 * Sizes, times and spans of time have one form each, by the type of the field and the end of its
 * key (_ns, _us, _ms, seconds).
 */
#ifndef ZMEM_FIELDS_SENTENCE_H
#define ZMEM_FIELDS_SENTENCE_H

#include "fields/field.h"

/* Sentences of one kind of row, each of which is said if its values are known. */
struct sentences {
	const struct fields *fields; /* what the row is in JSON */
	const struct fields *also;   /* of the same row: values of sentences alone; NULL: none */
	const char *const *text;     /* ends with NULL */
};

#define SENTENCES(name, fields_, also_, ...)                                                       \
	const struct sentences name = {.fields = fields_,                                          \
				       .also = also_,                                              \
				       .text = (const char *const[]){__VA_ARGS__, NULL}}

#endif
