// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page: its data against golden files, and names that never become markup. */
#include "golden.h"
#include "sample.h"

#include "fields/finding_said.h"
#include "report/report.h"
#include "base/string_table.h"

/* With the parts of RAM, a cgroup that is nearly full, and OOM kills. */
static void make_parts(struct sample *s)
{
	static struct memcg memcg[] = {
		{.path = "/half",
		 .current_known = true,
		 .limit_known = true,
		 .current = 50,
		 .limit = 100},
		{.path = "/full \"<b>",
		 .current_known = true,
		 .limit_known = true,
		 .current = 99 * MIB,
		 .limit = 100 * MIB},
		{.path = "/unlimited", .current_known = true, .current = 1 << 30},
	};

	sample_ordinary(s);
	sample_parts(s);
	s->snapshot.memcg = memcg;
	s->snapshot.memcg_count = ARRAY_SIZE(memcg);
	s->snapshot.system.oom_kills = (struct oom_kills){true, 1};
}

TEST(data)
{
	const struct field *unit = process_field("unit");
	const struct {
		const char *golden;
		void (*make)(struct sample *s);
		struct table_style style;
	} is[] = {
		{"page_ordinary.json", sample_ordinary, {.group = unit}},
		{"page_parts.json", make_parts, {}},
		{"page_hostile.json", sample_hostile, {}},
		{"page_bare.json", sample_bare, {}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		struct table_style style = is[i].style;
		struct field_list columns;
		struct sample s;

		is[i].make(&s);
		process_list_columns(&columns, &columns_usual, NULL);
		style.columns = &columns;
		golden_json(is[i].golden, render_page_json, &s.result, &style);
	}
}

/* Rows that are not shown, or that do not exist; users by uid. */
TEST(rows)
{
	static const struct {
		void (*make)(struct sample *s);
		struct table_style style;
		const char *says[4];
	} is[] = {
		{sample_others,
		 {.numeric = true},
		 {"\"rows\":2,", "\"others\":{\"swap_bytes\":1263616,",
		  "effective user\",\"values\":null}",
		  "effective user id\",\"values\":[1000,4294967294]}"}},
		{sample_ordinary,
		 {.only_total = true},
		 {"\"rows\":0,", "\"others\":{\"swap_bytes\":315836416,",
		  "in our pid namespace\",\"values\":null}", "\"strings\":[],"}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		cleanup(strbuf_done) struct strbuf out = {0};
		struct table_style style = is[i].style;
		struct field_list columns;
		struct sample s;

		is[i].make(&s);
		process_list_columns(&columns, &columns_usual, NULL);
		style.columns = &columns;
		render_page_json(&out, &s.result, &style);
		for (size_t k = 0; k < ARRAY_SIZE(is[i].says); k++) {
			if (!strstr(strbuf_str(&out), is[i].says[k]))
				fail_msg("no %s in %s", is[i].says[k], strbuf_str(&out));
		}
	}
}

/* Renders the data of a snapshot with these columns. The string lives as long as `out`. */
static const char *data_of(struct strbuf *out, struct sample *s, const char *spec,
			   const struct field *group)
{
	struct field_list columns;
	struct field_error bad;

	process_list_columns(&columns, &columns_usual, NULL);
	if (spec)
		assert_int_equal(field_list_parse(&columns, &process_fields, spec, &bad), 0);
	sample_finish(s, s->snapshot.count);
	strbuf_clear(out);
	render_page_json(out, &s->result,
			 &(struct table_style){.columns = &columns, .group = group});
	assert_int_equal(strbuf_error(out), 0);
	return strbuf_str(out);
}

/* Command lines may hold secrets and are written only on request. */
SAMPLE_TEST(cmdline, sample_init)
{
	cleanup(strbuf_done) struct strbuf out = {0};

	sample_add(s, 1, 0, "root", "x")->cmdline = "x --password=hunter2";
	assert_null(strstr(data_of(&out, s, NULL, NULL), "hunter2"));
	assert_null(strstr(data_of(&out, s, "+rss", process_field("user")), "cmdline"));
	assert_non_null(strstr(data_of(&out, s, "+cmdline", NULL), "hunter2"));
	assert_non_null(strstr(data_of(&out, s, NULL, process_field("cmdline")), "hunter2"));
}

/* Counts `what` in a text. */
static size_t count_of(const char *text, const char *what)
{
	size_t count = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		count++;
	return count;
}

static void render_page(struct strbuf *out, const struct sample *s)
{
	struct field_list columns;

	process_list_columns(&columns, &columns_usual, NULL);
	render_html(out, &s->result, &(struct table_style){.columns = &columns});
	assert_int_equal(strbuf_error(out), 0);
}

/* The page around the data does not depend on the names of processes. */
SAMPLE_TEST(page, sample_hostile)
{
	static const char open[] = "<script type=\"application/json\" id=\"data\">";
	static const struct {
		const char *tag;
		size_t count;
	} tags[] = {{"<script", 2},	{"</script>", 2}, {"<noscript>", 1},
		    {"</noscript>", 1}, {"_HASH", 0},	  {"<!--", 1} /* the license */};
	cleanup(strbuf_done) struct strbuf out = {0}, data = {0};
	struct field_list columns;
	const char *text, *at;

	s->snapshot.fallback_reason = "</noscript><script>&";
	s->snapshot.counters_source = FROM_PROC;
	process_list_columns(&columns, &columns_usual, NULL);
	render_page_json(&data, &s->result, &(struct table_style){.columns = &columns});
	render_page(&out, s);
	text = strbuf_str(&out);
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
		assert_int_equal(count_of(text, tags[i].tag), tags[i].count);
	assert_non_null(strstr(text, "&lt;/noscript&gt;&lt;script&gt;&amp;"));
	assert_non_null(strstr(text, "default-src 'none'; style-src 'sha256-"));
	at = strstr(text, open);
	assert_non_null(at);
	assert_memory_equal(at + strlen(open), data.data, data.len);
	assert_memory_equal(at + strlen(open) + data.len, "</script>", 9);
	assert_null(memchr(data.data, '<', data.len));
	assert_null(memchr(data.data, '>', data.len));
	assert_null(memchr(data.data, '&', data.len));
}

/* The text for readers without JavaScript: the summary and the sums. */
TEST(noscript)
{
	cleanup(strbuf_done) struct strbuf out = {0};
	struct sample s;
	const char *text;

	sample_ordinary(&s);
	render_page(&out, &s);
	text = strbuf_str(&out);
	assert_non_null(strstr(
		text,
		"<p>box: PSS of 3 of 4 processes is known: 1.02 GiB of 16.0 GiB RAM; 1 denied; PSS from smaps_rollup, "));
	assert_non_null(strstr(text, "<dt>RSS</dt><dd>1.38 GiB</dd>\n"));
	sample_bare(&s);
	strbuf_clear(&out);
	render_page(&out, &s);
	assert_non_null(strstr(strbuf_str(&out), "<dt>PSS</dt><dd>not measured</dd>\n"));
}

static bool has(const struct strbuf *page, const char *what)
{
	return memmem(page->data, page->len, what, strlen(what));
}

/* What is wrong is in the data, hints too, and in the text, with names that are no markup. */
SAMPLE_TEST(findings, sample_init)
{
	struct meminfo *m = &s->snapshot.system.meminfo;
	struct zram_device *zram = &s->snapshot.system.zram[0];
	cleanup(strbuf_done) struct strbuf healthy = {}, page = {};

	sample_finish(s, 0);
	render_page(&healthy, s);
	assert_true(has(&healthy, "\"findings\":[\n],"));
	assert_false(has(&healthy, "<li>"));
	sample_meminfo(m, MEMINFO_AVAILABLE, 300 * MIB);
	sample_meminfo(m, MEMINFO_UNEVICTABLE, 5 * GIB);
	snprintf(zram->name, sizeof(zram->name), "</li><script>");
	zram->size = zram->stat.stored;
	render_page(&page, s);
	assert_true(has(&page,
			"<li>RAM NEARLY FULL: 300M of 16.0G can still be used; 1.00G of swap is "
			"free <code>zmem-bpf system</code></li>\n"));
	assert_true(has(&page, "<li>ZRAM NEARLY FULL: &lt;/li&gt;&lt;script&gt;: 300M of "));
	assert_true(has(&page, " <code>zmem-bpf -s swap_ram</code></li>\n"));
	assert_true(has(
		&page,
		"<li>LOCKED: 5.00G of RAM are locked: the kernel can neither drop nor swap them "
		"<code>zmem-bpf -s locked</code></li>\n"));
	assert_true(has(&page, "{\"key\":\"ram_full\",\"level\":\"warning\","));
	assert_true(
		has(&page, "\"text\":\"ZRAM NEARLY FULL: \\u003c/li\\u003e\\u003cscript\\u003e: "));
	assert_true(has(&page, "{\"key\":\"locked\",\"level\":\"hint\","));
	assert_int_equal(count_of(strbuf_str(&page), "<script"), 2);
}

/* The page cuts a text at the first ": " into its title and its sentence. */
TEST(finding_titles)
{
	for (int key = 0; key < FINDING_KEYS; key++)
		assert_null(strchr(finding_title((enum finding_key)key), ':'));
}

SAMPLE_TEST(numbers, sample_init)
{
	cleanup(strbuf_done) struct strbuf out = {0};
	struct process *p = sample_add(s, 1, 0, "root", "big");
	const char *text;

	process_set(p, COUNTER_RSS, UINT64_C(9007199254740991));
	process_set(p, COUNTER_VSIZE, UINT64_C(9007199254740992));
	text = data_of(&out, s, NULL, NULL);
	assert_non_null(strstr(text, "\"values\":9007199254740991}"));
	assert_non_null(strstr(strstr(text, "\"key\":\"vsize\""), "\"values\":null}"));
}

SAMPLE_TEST(long_names, sample_init)
{
	cleanup(strbuf_done) struct strbuf out = {0}, name = {0};

	strbuf_fill(&name, '<', 64 * 1024);
	strbuf_puts(&name, "\xff");
	sample_add(s, 1, 0, strbuf_str(&name), strbuf_str(&name));
	data_of(&out, s, NULL, NULL);
	assert_true(out.len < 16 * 1024);
	assert_null(memchr(out.data, '<', out.len));
	/* The user and the name share one string; comm, its first 15 bytes, is another one. */
	assert_int_equal(count_of(strbuf_str(&out), "\\u003c"), 1024 / 6 + 15);
}

/* Each text is stored once, also after the table grows. */
TEST(strings)
{
	static char text[3000][16];

	for (uint32_t seed = 0; seed < 3; seed++) {
		cleanup(string_table_done) struct string_table t = {.seed = seed};
		uint32_t number;

		for (int round = 0; round < 2; round++) {
			for (uint32_t i = 0; i < ARRAY_SIZE(text); i++) {
				snprintf(text[i], sizeof(text[i]), "%u", i % 2500);
				assert_int_equal(string_table_number(&t, text[i], &number), 0);
				assert_int_equal(number, i % 2500);
			}
		}
		assert_int_equal(t.count, 2500);
		assert_string_equal(t.item[2499], "2499");
	}
}
