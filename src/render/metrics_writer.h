/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Families of metrics as OpenMetrics 1.0 or as Prometheus text 0.0.4. Knows the grammar of both; a
 * family without a sample leaves no trace. Refuses to know what is measured.
 */
#ifndef ZMEM_RENDER_METRICS_WRITER_H
#define ZMEM_RENDER_METRICS_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

enum metric_type {
	METRIC_GAUGE,
	METRIC_COUNTER, /* its samples end in _total */
	METRIC_INFO,	/* in _info, and are 1 */
};

struct metric_family {
	const char *name; /* without the end that its type gives it */
	enum metric_type type;
	const char *unit; /* NULL: none; else the name ends in it */
	const char *help; /* plain words, nothing to escape */
};

struct metrics_writer {
	struct strbuf *out;
	bool open_metrics;
	/* Private. */
	const struct metric_family *family;
	bool described; /* the family has its HELP and TYPE */
	bool labelled;	/* the sample has a label */
};

/* What comes next is of that family. Each family once. */
void metrics_family(struct metrics_writer *w, const struct metric_family *family);
/* Begins a sample; labels follow, then its value. */
void metrics_sample(struct metrics_writer *w);
/* `escaped` as metrics_escape() makes it. */
void metrics_label(struct metrics_writer *w, const char *key, const char *escaped);
/* Text of any bytes. */
void metrics_label_text(struct metrics_writer *w, const char *key, const char *text);
void metrics_u64(struct metrics_writer *w, uint64_t v);
void metrics_i64(struct metrics_writer *w, int64_t v);
/* A value in units of 1/scale, exactly; scale is a power of ten. */
void metrics_fixed(struct metrics_writer *w, uint64_t v, uint64_t scale);
void metrics_end(struct metrics_writer *w);

/* A sample without labels, nothing if it is not known or beyond what a reader's double holds. */
void metrics_known(struct metrics_writer *w, bool known, uint64_t v);

/*
 * The value of a label between its quotes: backslash, quote and newline are escaped, what is no
 * UTF-8 or steers a terminal becomes U+FFFD. At most `max` bytes of the result, whole characters.
 */
void metrics_escape(struct strbuf *out, const char *s, size_t max);

#endif
