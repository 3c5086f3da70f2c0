// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* csv, ndjson and folded: golden files, hostile names, bounded memory, sums. */
#include "golden.h"
#include "harmless.h"
#include "sample.h"

#include "base/utf8.h"
#include "render/text.h"
#include "render/render.h"

static void as_ndjson(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	(void)style;
	render_ndjson(out, r);
}

typedef void renderer(struct strbuf *out, const struct result *r, const struct table_style *style);

static const struct {
	const char *name;
	renderer *render;
} format[] = {{"csv", render_csv}, {"ndjson", as_ndjson}, {"folded", render_folded}};

static void check_golden(const char *name, const struct sample *s, struct table_style style)
{
	struct column_list whole;

	column_list_whole(&whole, s->result.group);
	style.columns = style.columns ? style.columns : &whole;
	for (size_t i = 0; i < ARRAY_SIZE(format); i++) {
		cleanup(strbuf_done) struct strbuf out = {0};
		char path[64];

		format[i].render(&out, &s->result, &style);
		/* A folded output that is empty has no golden file. */
		if (!out.len) {
			assert_ptr_equal(format[i].render, render_folded);
			assert_true(strcmp(name, "bare") == 0 || strcmp(name, "empty") == 0);
			continue;
		}
		snprintf(path, sizeof(path), "%s_%s.txt", format[i].name, name);
		golden_check(path, &out);
	}
}

TEST(ordinary)
{
	struct sample s;

	sample_ordinary(&s);
	check_golden("ordinary", &s, (struct table_style){.header = true});
}

TEST(groups)
{
	struct sample s;

	sample_groups(&s);
	check_golden("groups", &s, (struct table_style){.header = true});
	s.result.row_count = 1;
	s.result.others_count = 3;
	sample_sum(s.row + 1, 3, &s.result.others);
	check_golden("groups_others", &s, (struct table_style){.header = true});
}

TEST(hostile)
{
	struct sample s;

	sample_hostile(&s);
	check_golden("hostile", &s, (struct table_style){.header = true});
}

TEST(bare)
{
	struct sample s;

	sample_bare(&s);
	check_golden("bare", &s, (struct table_style){.header = true});
}

TEST(empty)
{
	struct sample s;

	sample_init(&s);
	sample_finish(&s, 0);
	check_golden("empty", &s, (struct table_style){.header = true});
}

/* Two of four rows shown. */
TEST(others)
{
	struct sample s;

	sample_ordinary(&s);
	sample_finish(&s, 2);
	check_golden("others", &s, (struct table_style){.numeric = true});
}

TEST(total)
{
	struct sample s;

	sample_ordinary(&s);
	sample_finish(&s, 0);
	check_golden("total", &s, (struct table_style){.header = true, .only_total = true});
}

/* Renders a csv of one process with the command line `text` in the last column. */
static void assert_csv(const char *text, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {0}, line = {0};
	struct column_list columns = {0};
	struct sample s;
	const char *bad;
	size_t len;

	assert_int_equal(column_list_parse(&columns, "pid,start,%pss,cmdline", &bad, &len), 0);
	sample_init(&s);
	sample_add(&s, 7, 0, "root", "x")->cmdline = text;
	sample_finish(&s, 1);
	render_csv(&out, &s.result, &(struct table_style){.columns = &columns, .header = true});
	strbuf_printf(&line, "pid,start_time_ms,%%pss,cmdline\n7,1767139210500,,%s\n", want);
	assert_string_equal(strbuf_str(&out), strbuf_str(&line));
}

TEST(csv_quotes)
{
	assert_csv(NULL, "");
	assert_csv("", "\"\"");
	assert_csv("plain", "plain");
	assert_csv("in side", "in side");
	assert_csv(" before", "\" before\"");
	assert_csv("after ", "\"after \"");
	assert_csv("a,b", "\"a,b\"");
	assert_csv("a\"b", "\"a\"\"b\"");
	assert_csv("\"", "\"\"\"\"");
	assert_csv("\\x2d'", "\\x2d'");
	assert_csv("a;b", "\"a;b\"");
	assert_csv("a\r\nb", "a\xef\xbf\xbd\xef\xbf\xbd"
			     "b");
	assert_csv("\xff,\xe2\x80\xae", "\"\xef\xbf\xbd,\xef\xbf\xbd\"");
	assert_csv("\xe6\xbc\xa2", "\xe6\xbc\xa2");
}

/* Only texts get an apostrophe: a change of -4096 bytes stays a number. */
TEST(csv_formulas)
{
	assert_csv("=1+1", "'=1+1");
	assert_csv("+1", "'+1");
	assert_csv("-bash", "'-bash");
	assert_csv("@SUM(A1)", "'@SUM(A1)");
	assert_csv("=HYPERLINK(\"a\",\"b\")", "\"'=HYPERLINK(\"\"a\"\",\"\"b\"\")\"");
	assert_csv("  =1", "\"'  =1\"");
	assert_csv("'=1", "''=1");
	assert_csv("'", "''");
	assert_csv("\xef\xbc\x9d"
		   "1",
		   "'\xef\xbc\x9d"
		   "1");
	assert_csv("\xef\xbc\x8b"
		   "1",
		   "'\xef\xbc\x8b"
		   "1");
	assert_csv("\xef\xbc\x8d"
		   "1",
		   "'\xef\xbc\x8d"
		   "1");
	assert_csv("\xef\xbc\xa0"
		   "1",
		   "'\xef\xbc\xa0"
		   "1");
	assert_csv("\xef\xbc\x81", "\xef\xbc\x81");
	assert_csv("\t=1", "\xef\xbf\xbd=1");
	assert_csv("\r=1", "\xef\xbf\xbd=1");
	assert_csv("a=1", "a=1");
	assert_csv("1-2", "1-2");
}

/* As in JSON: values above 2^53 - 1 are left out. */
TEST(csv_beyond)
{
	cleanup(strbuf_done) struct strbuf out = {0};
	struct column_list columns = {0};
	struct sample s;
	struct process *p;
	const char *bad;
	size_t len;

	assert_int_equal(column_list_parse(&columns, "rss,vsize,locked", &bad, &len), 0);
	sample_init(&s);
	p = sample_add(&s, 1, 0, "root", "big");
	process_set(p, COUNTER_RSS, UINT64_C(9007199254740991));
	process_set(p, COUNTER_VSIZE, UINT64_C(9007199254740992));
	sample_finish(&s, 1);
	render_csv(&out, &s.result, &(struct table_style){.columns = &columns});
	assert_string_equal(strbuf_str(&out), "9007199254740991,,\n");
}

TEST(harmless)
{
	struct column_list columns;
	struct sample s;

	sample_hostile(&s);
	column_list_whole(&columns, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(format); i++) {
		cleanup(strbuf_done) struct strbuf out = {0};
		const struct table_style style = {.columns = &columns};
		size_t rows = s.result.row_count;

		format[i].render(&out, &s.result, &style);
		/* anon, file and shmem of each process */
		assert_harmless(&out, format[i].render == as_ndjson	  ? rows + 1
				      : format[i].render == render_folded ? rows * 3
									  : rows);
	}
}

/* Each line has four semicolons and one blank, whatever the names are. */
TEST(folded_frames)
{
	cleanup(strbuf_done) struct strbuf out = {0};
	struct sample s;
	struct process *p;
	char *line, *rest;

	sample_hostile(&s);
	p = sample_add(&s, 99, 5, "a;b 1", "x; 12\xc2\xa0\xe3\x80\x80");
	sample_counters(p, 8 * KIB, 4 * KIB);
	sample_pss(p, PSS_FROM_ROLLUP);
	p->unit = ";;\n 5\n";
	sample_finish(&s, s.snapshot.count);
	render_folded(&out, &s.result, &(struct table_style){0});
	assert_non_null(strstr(strbuf_str(&out), "\na:b_1;::__5_;x:_12__;99;anon 4096\n"));
	assert_non_null(strstr(strbuf_str(&out), "\na:b_1;::__5_;x:_12__;99;swap 2048\n"));
	rest = (char *)(uintptr_t)strbuf_str(&out);
	while ((line = strtok_r(rest, "\n", &rest))) {
		size_t semicolons = 0;

		for (const char *c = line; *c; c++)
			semicolons += *c == ';';
		assert_int_equal(semicolons, 4);
		assert_ptr_equal(strchr(line, ' '), strrchr(line, ' '));
		assert_null(strstr(line, ";;"));
	}
}

/* The sum of a kind in the folded output. */
static uint64_t sum_of(const char *text, const char *kind)
{
	uint64_t sum = 0;

	for (const char *at = text; (at = strstr(at, kind)); at += strlen(kind))
		sum += strtoull(at + strlen(kind), NULL, 10);
	return sum;
}

TEST(folded_sums)
{
	struct sample s;

	sample_ordinary(&s);
	for (size_t shown = 0; shown <= 4; shown++) {
		for (int total = 0; total < 2; total++) {
			cleanup(strbuf_done) struct strbuf out = {0};
			const struct table_style style = {.only_total = total};
			const struct totals *t = &s.result.totals;
			const char *text;

			sample_finish(&s, shown);
			render_folded(&out, &s.result, &style);
			text = strbuf_str(&out);
			assert_int_equal(sum_of(text, ";anon "), t->value[COUNTER_PSS_ANON]);
			assert_int_equal(sum_of(text, ";file "), t->value[COUNTER_PSS_FILE]);
			assert_int_equal(sum_of(text, ";shmem "), t->value[COUNTER_PSS_SHMEM]);
			assert_int_equal(sum_of(text, ";swap "), t->value[COUNTER_SWAP_PSS]);
			assert_true(t->value[COUNTER_SWAP_PSS] > 0);
		}
	}
}

static int fail_write(void *arg, const char *data, size_t len)
{
	(void)arg, (void)data, (void)len;
	return -ENOSPC;
}

/* Many rows are written with bounded memory, and an error is kept. */
TEST(sink)
{
	static struct process *rows[20000];
	struct column_list columns;
	struct sample s;

	column_list_whole(&columns, NULL);
	sample_ordinary(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i] = s.row[0];
	s.result.rows = rows;
	s.result.row_count = ARRAY_SIZE(rows);
	for (size_t i = 0; i < ARRAY_SIZE(format); i++) {
		cleanup(strbuf_done) struct strbuf out = {.sink = fail_write};
		const struct table_style style = {.columns = &columns};

		format[i].render(&out, &s.result, &style);
		assert_int_equal(strbuf_flush(&out), -ENOSPC);
		assert_true(out.cap <= 2 * STRBUF_CHUNK);
	}
}
