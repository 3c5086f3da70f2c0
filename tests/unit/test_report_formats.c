// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* csv, ndjson and folded: golden files, hostile names, sums. Every format: numbers, sinks. */
#include "golden.h"
#include "sample.h"

#include "base/utf8.h"
#include "write/text.h"
#include "report/report.h"
#include "write/field_text.h"

static void as_ndjson(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	(void)style;
	render_ndjson(out, r);
}

static void as_json(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	(void)style;
	render_json(out, r);
}

static void as_tsv(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	struct table_style tabs = *style;

	tabs.tabs = true;
	render_csv(out, r, &tabs);
}

typedef void renderer(struct strbuf *out, const struct result *r, const struct table_style *style);

static const struct {
	const char *name;
	renderer *render;
} format[] = {
	{"csv", render_csv}, {"tsv", as_tsv}, {"ndjson", as_ndjson}, {"folded", render_folded}};

static void sample_total(struct sample *s)
{
	sample_ordinary(s);
	sample_finish(s, 0);
}

TEST(samples)
{
	static const struct {
		const char *name;
		void (*make)(struct sample *s);
		struct table_style style;
	} is[] = {
		{"ordinary", sample_ordinary, {.header = true}},
		{"groups", sample_groups, {.header = true}},
		{"groups_others", sample_group_others, {.header = true}},
		{"hostile", sample_hostile, {.header = true}},
		{"bare", sample_bare, {.header = true}},
		{"empty", sample_empty, {.header = true}},
		{"others", sample_others, {.numeric = true}},
		{"total", sample_total, {.header = true, .only_total = true}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is) * ARRAY_SIZE(format); i++) {
		const char *name = is[i / ARRAY_SIZE(format)].name;
		struct table_style style = is[i / ARRAY_SIZE(format)].style;
		renderer *render = format[i % ARRAY_SIZE(format)].render;
		cleanup(strbuf_done) struct strbuf out = {0};
		struct field_list whole;
		struct sample s;
		char path[64];

		is[i / ARRAY_SIZE(format)].make(&s);
		process_list_whole(&whole, s.result.group);
		style.columns = &whole;
		render(&out, &s.result, &style);
		/* A folded output that is empty has no golden file. */
		if (!out.len) {
			assert_ptr_equal(render, render_folded);
			assert_true(strcmp(name, "bare") == 0 || strcmp(name, "empty") == 0);
			continue;
		}
		snprintf(path, sizeof(path), "%s_%s.txt", format[i % ARRAY_SIZE(format)].name,
			 name);
		golden_check(path, &out);
	}
}

/* Renders a csv of one process with the command line `text` in the last column. */
static void assert_csv(const char *text, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {0}, line = {0};
	struct field_list columns = {0};
	struct sample s;
	struct field_error bad;

	assert_int_equal(
		field_list_parse(&columns, &process_fields, "pid,start,%pss,cmdline", &bad), 0);
	sample_init(&s);
	sample_add(&s, 7, 0, "root", "x")->cmdline = text;
	sample_finish(&s, 1);
	render_csv(&out, &s.result, &(struct table_style){.columns = &columns, .header = true});
	strbuf_printf(&line, "pid,start_time_ms,%%pss,cmdline\n7,1767139210500,,%s\n", want);
	assert_string_equal(strbuf_str(&out), strbuf_str(&line));
}

TEST(tsv_texts)
{
	static const char *const is[][2] = {
		{"", ""},
		{"a b,\"c", "a b,\"c"},
		{"=1'", "=1'"},
		{"a\tb\nc\\", "a\\tb\\nc\\\\"},
		{"\x1b[m", "\xef\xbf\xbd[m"},
		{"\xff", "\xef\xbf\xbd"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		cleanup(strbuf_done) struct strbuf out = {0};

		csv_put_text(&out, is[i][0], '\t');
		assert_string_equal(strbuf_str(&out), is[i][1]);
	}
}

TEST(csv_texts)
{
	static const char *const is[][2] = {
		{NULL, ""},
		{"", "\"\""},
		{"plain", "plain"},
		{"in side", "in side"},
		{" before", "\" before\""},
		{"after ", "\"after \""},
		{"a,b", "\"a,b\""},
		{"a\"b", "\"a\"\"b\""},
		{"\"", "\"\"\"\""},
		{"\\x2d'", "\\x2d'"},
		{"a;b", "\"a;b\""},
		{"a\r\nb", "a\xef\xbf\xbd\xef\xbf\xbd\x62"},
		{"\xff,\xe2\x80\xae", "\"\xef\xbf\xbd,\xef\xbf\xbd\""},
		{"\xe6\xbc\xa2", "\xe6\xbc\xa2"},
		/* Only formulas get an apostrophe: a change of -4096 bytes stays a number. */
		{"=1+1", "'=1+1"},
		{"+1", "'+1"},
		{"-bash", "'-bash"},
		{"@SUM(A1)", "'@SUM(A1)"},
		{"=HYPERLINK(\"a\",\"b\")", "\"'=HYPERLINK(\"\"a\"\",\"\"b\"\")\""},
		{"  =1", "\"'  =1\""},
		{"'=1", "''=1"},
		{"'", "''"},
		{"\xef\xbc\x9d\x31", "'\xef\xbc\x9d\x31"},
		{"\xef\xbc\x8b\x31", "'\xef\xbc\x8b\x31"},
		{"\xef\xbc\x8d\x31", "'\xef\xbc\x8d\x31"},
		{"\xef\xbc\xa0\x31", "'\xef\xbc\xa0\x31"},
		{"\xef\xbc\x81", "\xef\xbc\x81"},
		{"\t=1", "\xef\xbf\xbd=1"},
		{"\r=1", "\xef\xbf\xbd=1"},
		{"a=1", "a=1"},
		{"1-2", "1-2"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++)
		assert_csv(is[i][0], is[i][1]);
}

/* Values above 2^53 - 1 are left out. */
SAMPLE_TEST(beyond, sample_init)
{
	static const struct {
		renderer *render;
		const char *text;
	} is[] = {{render_csv, "9007199254740991,,\n"},
		  {as_json, ",\"rss_bytes\":9007199254740991,"},
		  {as_json, ",\"vsize_bytes\":null,"},
		  {as_json, ",\"locked_bytes\":null,"}};
	struct process *p = sample_add(s, 1, 0, "root", "big");
	struct field_list columns = {0};
	struct field_error bad;

	assert_int_equal(field_list_parse(&columns, &process_fields, "rss,vsize,locked", &bad), 0);
	process_set(p, COUNTER_RSS, UINT64_C(9007199254740991));
	process_set(p, COUNTER_VSIZE, UINT64_C(9007199254740992));
	process_set(p, COUNTER_LOCKED, UINT64_MAX);
	sample_finish(s, 1);
	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		cleanup(strbuf_done) struct strbuf out = {0};
		const char *rows;

		is[i].render(&out, &s->result, &(struct table_style){.columns = &columns});
		rows = strstr(strbuf_str(&out), "\"processes\":[");
		assert_non_null(strstr(rows ? rows : strbuf_str(&out), is[i].text));
	}
}

struct sink {
	size_t bytes, biggest;
	int error;
};

static int count_bytes(void *arg, const char *data, size_t len)
{
	struct sink *sink = arg;

	(void)data;
	sink->bytes += len;
	if (len > sink->biggest)
		sink->biggest = len;
	return sink->error;
}

/* Many rows take no more memory than few, and an error is kept: nothing is written after it. */
TEST(sinks)
{
	static const struct {
		renderer *render;
		size_t rows, least; /* bytes of each row */
	} is[] = {
		{render_table, 10000, 50},  {render_csv, 10000, 100},	{as_json, 10000, 500},
		{as_ndjson, 10000, 500},    {render_folded, 10000, 50}, {render_html, 10000, 50},
		{render_openmetrics, 4, 0}, {render_prometheus, 4, 0},
	};
	static struct row rows[10000];
	struct field_list columns;

	process_list_whole(&columns, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(is) * 2; i++) {
		const struct table_style style = {.columns = &columns};
		struct sink sink = {.error = i % 2 ? -ENOSPC : 0};
		cleanup(strbuf_done) struct strbuf out = {.sink = count_bytes, .sink_arg = &sink};
		struct sample s;

		sample_repeat(&s, rows, is[i / 2].rows);
		is[i / 2].render(&out, &s.result, &style);
		assert_int_equal(strbuf_flush(&out), sink.error);
		assert_true(out.cap <= 2 * STRBUF_CHUNK && sink.biggest <= STRBUF_CHUNK);
		if (!sink.error) {
			assert_true(sink.bytes >= is[i / 2].rows * is[i / 2].least);
			continue;
		}
		sink.bytes = 0;
		sample_ordinary(&s);
		is[i / 2].render(&out, &s.result, &style);
		assert_int_equal(strbuf_flush(&out), -ENOSPC);
		assert_int_equal(sink.bytes, 0);
	}
}
