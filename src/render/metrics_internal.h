/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of the metrics: metrics_writer.c writes families, metrics_group.c makes groups. */
#ifndef ZMEM_RENDER_METRICS_INTERNAL_H
#define ZMEM_RENDER_METRICS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "query/result.h"

/* ---- the writer of OpenMetrics 1.0 and Prometheus text 0.0.4 ---- */

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

/* ---- the rows of a result as time series: a label and its values each ---- */

struct metric_group {
	const char *label; /* escaped; unique */
	/* Further labels, where the group alone decides them; NULL: none. */
	const char *space, *pod, *container;
	struct totals sum;
};

struct metric_groups {
	struct metric_group *item;
	size_t count;
	struct strbuf text; /* holds the labels */
};

/*
 * The first METRICS_GROUPS_MAX rows in their order, rows of one label merged, and one group for all
 * other rows. `numeric`: users by uid. Returns 0 or a negative errno.
 */
int metric_groups_make(const struct result *r, bool numeric, struct metric_groups *ret);
void metric_groups_done(struct metric_groups *g);

#endif
