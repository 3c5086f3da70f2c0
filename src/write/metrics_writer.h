/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The writer of OpenMetrics 1.0 and Prometheus text 0.0.4. */
#ifndef ZMEM_WRITE_METRICS_WRITER_H
#define ZMEM_WRITE_METRICS_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

enum metric_type {
	METRIC_GAUGE,
	METRIC_COUNTER, /* samples end in _total */
	METRIC_INFO,	/* samples end in _info and are 1 */
};

struct metric_family {
	const char *name; /* without the suffix of its type */
	enum metric_type type;
	const char *unit; /* NULL: none; otherwise the suffix of the name */
	const char *help; /* needs no escapes */
};

struct metrics_writer {
	struct strbuf *out;
	bool open_metrics;
	/* Private. */
	const struct metric_family *family;
	bool described; /* the family has its HELP and TYPE */
	bool labelled;	/* the sample has a label */
};

/* Begins a family, each once. A family without a sample is not written. */
void metrics_family(struct metrics_writer *w, const struct metric_family *family);
/* Begins a sample; labels follow, then its value. */
void metrics_sample(struct metrics_writer *w);
/* `escaped` comes from metrics_escape(). */
void metrics_label(struct metrics_writer *w, const char *key, const char *escaped);
/* Escapes `text`, which may hold any bytes. */
void metrics_label_text(struct metrics_writer *w, const char *key, const char *text);
void metrics_u64(struct metrics_writer *w, uint64_t v);
void metrics_i64(struct metrics_writer *w, int64_t v);
/* A value in units of 1/scale, exactly; scale is a power of ten. */
void metrics_fixed(struct metrics_writer *w, uint64_t v, uint64_t scale);
void metrics_end(struct metrics_writer *w);

/*
 * A sample without labels; nothing if the value is unknown or above 2^53 - 1, which readers'
 * doubles cannot hold.
 */
void metrics_known(struct metrics_writer *w, bool known, uint64_t v);

/*
 * Escapes the value of a label: backslash, quote and newline. Bytes that are not UTF-8 and
 * characters that steer a terminal become U+FFFD. Writes at most `max` bytes, whole characters.
 */
void metrics_escape(struct strbuf *out, const char *s, size_t max);

#endif
