/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A strict parser of Prometheus and OpenMetrics text. It accepts only what the renderers may write:
 * each family is described once and in one place, no series is repeated, and "# EOF" is last.
 */
#ifndef TESTS_METRICS_TEXT_H
#define TESTS_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "write/text.h"
#include "utf8_valid.h"

struct metrics_text {
	const char *wrong; /* the rule that the text breaks, or NULL */
	const char *at;	   /* the line */
	size_t samples;
	size_t processes; /* sum of zmem_group_processes */
};

struct metrics_line {
	const char *s;
	size_t len;
};

static inline int metrics_compare(const void *pa, const void *pb)
{
	const struct metrics_line *a = pa, *b = pb;
	size_t len = a->len < b->len ? a->len : b->len;
	int r = memcmp(a->s, b->s, len);

	return r ? r : (a->len > b->len) - (a->len < b->len);
}

static inline size_t metrics_name_length(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyz_");
}

/* Length of {a="…",b="…"}, 0 if it is malformed. */
static inline size_t metrics_labels_length(const char *s)
{
	const char *at = s;

	do {
		size_t key = metrics_name_length(++at);

		if (!key || strncmp(at + key, "=\"", 2) != 0)
			return 0;
		/* An empty value means that the label is absent. */
		at += key + 2;
		if (*at == '"')
			return 0;
		for (; *at != '"'; at++) {
			if (*at == '\n' || !*at)
				return 0;
			if (*at == '\\' && !strchr("\\\"n", *++at))
				return 0;
		}
		at++;
	} while (*at == ',');
	return *at == '}' ? (size_t)(at + 1 - s) : 0;
}

/* A number to the end of the line. */
static inline bool metrics_value_right(const char *s)
{
	size_t digits;

	s += *s == '-';
	digits = strspn(s, "0123456789");
	if (!digits || (digits > 1 && *s == '0'))
		return false;
	s += digits;
	if (*s == '.') {
		digits = strspn(++s, "0123456789");
		s += digits;
	}
	return digits && *s == '\n';
}

/* Whether the series is of the family: its name, or with the suffix of counters and infos. */
static inline bool metrics_in_family(const char *s, size_t len, const char *family)
{
	size_t name = metrics_name_length(family);

	if (strncmp(s, family, name) != 0)
		return false;
	return len == name || (len == name + 6 && memcmp(s + name, "_total", 6) == 0) ||
	       (len == name + 5 && memcmp(s + name, "_info", 5) == 0);
}

static inline const char *metrics_duplicate(struct metrics_line *line, size_t count)
{
	qsort(line, count, sizeof(*line), metrics_compare);
	for (size_t i = 1; i < count; i++)
		if (metrics_compare(&line[i - 1], &line[i]) == 0)
			return line[i].s;
	return NULL;
}

/* A HELP, TYPE or UNIT line. *family becomes its name, which must not have come before. */
static inline const char *metrics_comment(const char *s, const char **family, bool *described)
{
	bool help = strncmp(s, "# HELP ", 7) == 0;
	size_t len = metrics_name_length(s + 7);

	if (!help && strncmp(s, "# TYPE ", 7) != 0 && strncmp(s, "# UNIT ", 7) != 0)
		return "a comment of its own";
	if (!len || s[7 + len] != ' ' || s[8 + len] == '\n')
		return "a description of nothing";
	if (help != !(*family && strncmp(*family, s + 7, len + 1) == 0))
		return "HELP, TYPE and UNIT are not in this order";
	*described |= s[2] == 'T';
	if (help) {
		*family = s + 7;
		*described = false;
	}
	return NULL;
}

static inline const char *metrics_sample_line(const char *s, const char *family, bool described,
					      struct metrics_line *ret)
{
	size_t name = metrics_name_length(s), labels = 0;

	if (!family || !described || !metrics_in_family(s, name, family))
		return "a sample without its family";
	if (s[name] == '{' && !(labels = metrics_labels_length(s + name)))
		return "bad labels";
	*ret = (struct metrics_line){s, name + labels};
	if (s[ret->len] != ' ' || !metrics_value_right(s + ret->len + 1))
		return "bad value";
	return NULL;
}

/* `text` is terminated, too. */
static inline struct metrics_text metrics_read(const char *text, size_t len, bool open_metrics)
{
	struct metrics_line *series = calloc(len + 1, sizeof(*series));
	struct metrics_line *families = calloc(len + 1, sizeof(*families));
	struct metrics_text t = {.at = text};
	const char *family = NULL, *end = text + len;
	size_t family_count = 0;
	bool described = false, over = false;

	if (!utf8_valid(text, len) || strlen(text) != len || (len && end[-1] != '\n'))
		t.wrong = "no text of whole lines";
	for (const char *s = text; s < end && !t.wrong; s = strchr(s, '\n') + 1) {
		const char *before = family;

		t.at = s;
		if (over)
			t.wrong = "more behind the end";
		else if (open_metrics && strcmp(s, "# EOF\n") == 0)
			over = true;
		else if (*s == '#')
			t.wrong = metrics_comment(s, &family, &described);
		else
			t.wrong = metrics_sample_line(s, family, described, &series[t.samples]);
		if (t.wrong || *s == '#') {
			if (family != before)
				families[family_count++] =
					(struct metrics_line){family, metrics_name_length(family)};
			continue;
		}
		if (strncmp(s, "zmem_group_processes{", 21) == 0)
			t.processes += strtoul(s + series[t.samples].len, NULL, 10);
		t.samples++;
	}
	if (!t.wrong && over != open_metrics)
		t.wrong = "no end";
	if (!t.wrong && (t.at = metrics_duplicate(series, t.samples)))
		t.wrong = "a series twice";
	if (!t.wrong && (t.at = metrics_duplicate(families, family_count)))
		t.wrong = "a family twice";
	free(series);
	free(families);
	return t;
}

#endif
