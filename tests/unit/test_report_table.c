// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table: golden files, hostile names, cut lines, and single values. */
#include <time.h>

#include "golden.h"
#include "sample.h"

#include "utf8_valid.h"
#include "write/format.h"
#include "write/text.h"
#include "report/report.h"

static void columns_of(struct field_list *list, const char *spec)
{
	struct field_error bad;

	*list = (struct field_list){0};
	assert_int_equal(field_list_parse(list, &process_fields, spec, &bad), 0);
}

/* As after pruning. */
static void make_pruned(struct sample *s)
{
	sample_ordinary(s);
	sample_finish(s, 1);
	s->result.totals.have &= ~(COUNTER_BIT(COUNTER_PSS) | COUNTER_BIT(COUNTER_USS));
	s->result.others.have &= ~(COUNTER_BIT(COUNTER_PSS) | COUNTER_BIT(COUNTER_USS));
	s->result.totals.pss_missing = 3;
	s->snapshot.collection.cross_check.different = 1;
	s->snapshot.collection.cross_check.gone = 2;
}

static void make_empty(struct sample *s)
{
	sample_empty(s);
	s->result.pss = PSS_FROM_KERNEL;
}

#define USUAL  "pid,user,swap,uss,pss,rss,%pss,name"
#define GROUPS "procs,user,pss,mem_current,mem_limit,%limit,pid,unit"
#define NAMES  "pid,user,name,pss,comm"

TEST(tables)
{
	static const struct {
		const char *golden;
		void (*make)(struct sample *s);
		const char *columns;
		struct table_style style;
		const char *added;
	} is[] = {
		{"ordinary", sample_ordinary, USUAL, {.header = true}},
		{"bytes", sample_ordinary, USUAL, {.header = true, .bytes = true, .numeric = true}},
		{"no_header", sample_ordinary, "pid,name", {0}},
		{"only_total", sample_ordinary, USUAL, {.header = true, .only_total = true}},
		{"color", sample_ordinary, USUAL, {.header = true, .color = true}},
		{"width", sample_ordinary, USUAL, {.header = true, .color = true, .width = 72}},
		/* What was asked for is the last to go. */
		{"width_asked",
		 sample_ordinary,
		 USUAL,
		 {.header = true, .width = 80},
		 "+majflt,+oom_score_adj"},
		{"groups", sample_groups, GROUPS, {.header = true}},
		{"groups_others", sample_group_others, GROUPS, {.header = true}},
		/* A text that is not last, and a number at the end: the words follow it. */
		{"number_last",
		 sample_ordinary,
		 "name,unit,container,start,oom_score_adj,pss",
		 {.header = true}},
		{"one_column", sample_ordinary, "pss", {.header = true}},
		{"text_only", sample_ordinary, "name,pss_status,cgroup", {.header = true}},
		{"wide", sample_ordinary, "cgroup,pid,cgroup", {.header = true, .wide = true}},
		{"cut", sample_ordinary, "cgroup,pid,cgroup", {.header = true}},
		{"others", make_pruned, USUAL, {.header = true}},
		{"others_number_last",
		 make_pruned,
		 "pid,name,pss,rss",
		 {.header = true, .color = true}},
		{"others_total", make_pruned, USUAL, {.header = true, .only_total = true}},
		{"bare", sample_bare, USUAL ",%swap,mm_id,cgroup", {.header = true, .color = true}},
		{"empty", make_empty, USUAL, {.header = true}},
		{"hostile", sample_hostile, NAMES, {.header = true}},
		{"hostile_width",
		 sample_hostile,
		 "pid,name,cmdline",
		 {.header = true, .width = 44}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		struct table_style style = is[i].style;
		struct field_list columns;
		struct sample s;
		char golden[64];

		is[i].make(&s);
		columns_of(&columns, is[i].columns);
		if (is[i].added)
			assert_int_equal(field_list_parse(&columns, &process_fields, is[i].added,
							  &(struct field_error){0}),
					 0);
		style.columns = &columns;
		snprintf(golden, sizeof(golden), "table_%s.txt", is[i].golden);
		golden_render(golden, render_table, &s.result, &style);
	}
}

/* Whether a cell of the column is drawn in yellow, in a row that is otherwise plain. */
static bool is_yellow(const struct sample *s, const char *column)
{
	cleanup(strbuf_done) struct strbuf out = {0};
	struct field_list columns;
	struct table_style style = {.color = true, .columns = &columns};

	columns_of(&columns, column);
	render_table(&out, &s->result, &style);
	return strstr(strbuf_str(&out), "\033[33m");
}

SAMPLE_TEST(marks, sample_ordinary)
{
	struct row *r = (struct row *)&s->result.rows[0];

	assert_false(is_yellow(s, "swap_pss") || is_yellow(s, "swap") || is_yellow(s, "pss"));
	r->swaps = true;
	assert_true(is_yellow(s, "swap_pss") && is_yellow(s, "swap"));
	assert_false(is_yellow(s, "pss") || is_yellow(s, "swap_pss_change"));
	r->swaps = false;
	r->swapin_known = true;
	assert_false(is_yellow(s, "swapin"));
	r->swapin = 1;
	assert_true(is_yellow(s, "swapin"));
	r->wait_known = true;
	assert_false(is_yellow(s, "wait"));
	r->wait = 1;
	assert_true(is_yellow(s, "wait"));
	r->watched_ms = 20000;
	r->ticks = 4;
	r->grew_ticks = 3;
	r->grown = 3 * 4096;
	r->stands_out = true;
	assert_true(is_yellow(s, "grown_h"));
	r->stands_out = false; /* it is not known */
	assert_false(is_yellow(s, "grown_h"));
	r->stands_out = true;
	r->grew_ticks = 2;
	assert_false(is_yellow(s, "grown_h"));
}

static void check_size(uint64_t bytes, const char *want)
{
	char buf[FORMAT_MAX + 1];

	buf[format_size(buf, bytes)] = '\0';
	assert_string_equal(buf, want);
	assert_true(strlen(buf) <= FORMAT_SIZE_MAX);
}

TEST(sizes)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} is[] = {
		{0, "0"},
		{1, "1 B"},
		{5632, "5.50 KiB"},
		{10235, "10.0 KiB"},
		{512 * KIB, "512 KiB"},
		{1023 * KIB + 512, "1.00 MiB"},
		{MIB - 1, "1.00 MiB"},
		{MIB * 123 / 10, "12.3 MiB"},
		{MIB * 1023, "1023 MiB"},
		{GIB * 5 / 4, "1.25 GiB"},
		{GIB - 1, "1.00 GiB"},
		{GIB * MIB * 3, "3.00 PiB"},
		{UINT64_MAX, "16.0 EiB"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++)
		check_size(is[i].bytes, is[i].text);
}

/* Compares with the same rule in floating point, around every boundary. */
TEST(sizes_sweep)
{
	static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB"};

	for (uint64_t v = KIB; v < UINT64_C(1) << 49; v += v / 97 + 1) {
		long double x = v;
		char want[64];
		int i = 0;

		/* Halves round up; printf would round them to even. */
		x += 1e-14L * x;
		for (x /= 1024; (x >= 1023.5L && i < 3) || x >= 1024; x /= 1024)
			i++;
		if (!i && v % KIB == 0)
			continue;
		snprintf(want, sizeof(want), "%.*Lf %s",
			 x < 9.995L   ? 2
			 : x < 99.95L ? 1
				      : 0,
			 x, unit[i]);
		check_size(v, want);
	}
}

/* Tables have local times with their offset, JSON has UTC. */
TEST(times)
{
#define CET "CET-1CEST,M3.5.0,M10.5.0/3"
	static const struct {
		const char *zone;
		int64_t ms;
		const char *table, *json;
	} is[] = {
		{"UTC0", 0, "1970-01-01 00:00:00Z", "1970-01-01T00:00:00.000Z"},
		{"UTC0", -1, "1969-12-31 23:59:59Z", "1969-12-31T23:59:59.999Z"},
		{"UTC0", 951782399999, "2000-02-28 23:59:59Z", "2000-02-28T23:59:59.999Z"},
		{"UTC0", 951782400000, "2000-02-29 00:00:00Z", "2000-02-29T00:00:00.000Z"},
		{"UTC0", 4107542400000, "2100-03-01 00:00:00Z", "2100-03-01T00:00:00.000Z"},
		{"UTC0", 1767225599987, "2025-12-31 23:59:59Z", "2025-12-31T23:59:59.987Z"},
		{"UTC0", 253402300799999, "9999-12-31 23:59:59Z", "9999-12-31T23:59:59.999Z"},
		{"UTC0", -62135596800000, "0001-01-01 00:00:00Z", "0001-01-01T00:00:00.000Z"},
		{"UTC0", 253402300800000, "", ""},
		{"UTC0", INT64_MIN, "", ""},
		{CET, 1767225599987, "2026-01-01 00:59:59+01:00", "2025-12-31T23:59:59.987Z"},
		{CET, 1782864000000, "2026-07-01 02:00:00+02:00", "2026-07-01T00:00:00.000Z"},
		/* The hour that comes twice, and the one that is left out. */
		{CET, 1792887600000, "2026-10-25 02:20:00+02:00", "2026-10-25T00:20:00.000Z"},
		{CET, 1792891200000, "2026-10-25 02:20:00+01:00", "2026-10-25T01:20:00.000Z"},
		{"IST-5:30", -1, "1970-01-01 05:29:59+05:30", "1969-12-31T23:59:59.999Z"},
		{"<-0330>3:30:40", 0, "1969-12-31 20:30:00-03:30", "1970-01-01T00:00:00.000Z"},
		{"EAST-14", 253402300799999, "", "9999-12-31T23:59:59.999Z"},
		{"GMT0BST,M3.5.0/1,M10.5.0", 1767225599987, "2025-12-31 23:59:59Z",
		 "2025-12-31T23:59:59.987Z"},
		/* Not a zone. */
		{":/dev/zero", 0, "1970-01-01 00:00:00Z", "1970-01-01T00:00:00.000Z"},
		{"../../../etc/shadow", 0, "1970-01-01 00:00:00Z", "1970-01-01T00:00:00.000Z"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		char buf[FORMAT_MAX + 1];

		assert_int_equal(setenv("TZ", is[i].zone, 1), 0);
		tzset();
		buf[format_time(buf, is[i].ms, TIME_TABLE)] = '\0';
		assert_string_equal(buf, is[i].table);
		assert_true(strlen(buf) <= FORMAT_TIME_TABLE_MAX);
		buf[format_time(buf, is[i].ms, TIME_JSON)] = '\0';
		assert_string_equal(buf, is[i].json);
	}
	assert_int_equal(setenv("TZ", "UTC0", 1), 0);
	tzset();
}

TEST(span)
{
	static const struct {
		double seconds;
		const char *text;
	} is[] = {
		{0, "0 s"},	      {1.2e-6, "1.2 us"},	{0.00035, "350 us"},
		{0.00099999, "1 ms"}, {0.0123, "12.3 ms"},	{0.25, "250 ms"},
		{0.9999, "1 s"},      {4.255, "4.26 s"},	{14.5, "14.5 s"},
		{99.97, "100 s"},     {119.4, "119 s"},		{119.6, "2 min"},
		{123, "2 min 03 s"},  {600, "10 min"},		{3599.7, "1 h"},
		{3754, "1 h 03 min"}, {90 * 3600, "3.75 days"}, {-1, ""},
		{0.0 / 0.0, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		char buf[FORMAT_MAX + 1];

		buf[format_span(buf, is[i].seconds)] = '\0';
		assert_string_equal(buf, is[i].text);
	}
}

/*
 * Of the text, `bytes` fit `limit` columns and take `width`. Wide characters take two columns; an
 * accent stays with its letter, also in the last column.
 */
TEST(text_fit)
{
	static const struct {
		const char *text;
		unsigned limit;
		size_t bytes;
		unsigned width;
	} is[] = {
		{"", 1, 0, 0},
		{"abc", 32, 3, 3},
		{"abc", 3, 3, 3},
		{"abcd", 3, 2, 3},
		{"abcd", 1, 0, 1},
		{"\\\\", 3, 2, 3},
		{"\\\\", 2, 0, 1},
		{"\\\\", 1, 0, 1},
		{"\\", 1, 1, 1},
		{"ab\\c", 4, 4, 4},
		{"ab\\\\c", 5, 3, 5},
		{"abc\\\\", 5, 3, 4},
		{"a\nb", 6, 3, 6},
		{"a\nb", 5, 1, 2},
		{"\n", 4, 1, 4},
		{"\n", 3, 0, 1},
		{"\xe6\xbc\xa2\xe6\xbc\xa2", 4, 6, 4},
		{"\xe6\xbc\xa2\xe6\xbc\xa2", 3, 3, 3},
		{"\xe6\xbc\xa2\xe6\xbc\xa2", 2, 0, 1},
		{"a\xe6\xbc\xa2\xe6\xbc\xa2", 4, 4, 4},
		{"ab\xe6\xbc\xa2\xe6\xbc\xa2", 5, 5, 5},
		{"ab\xe6\xbc\xa2\xe6\xbc\xa2", 4, 2, 3},
		{"abe\xcc\x81", 3, 5, 3},
		{"abe\xcc\x81z", 3, 2, 3},
		{"ae\xcc\x81zz", 3, 4, 3},
		{"\xe2\x80\xae", 12, 3, 12},
		{"ab\xe2\x80\xae", 13, 2, 3},
		{"\xe6\xbc", UINT32_MAX, 2, 8},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		unsigned width;

		assert_int_equal(text_fit(is[i].text, strlen(is[i].text), is[i].limit, &width),
				 is[i].bytes);
		assert_int_equal(width, is[i].width);
	}
}
