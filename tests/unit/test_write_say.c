// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sentences: the language, and the tables of all sentences there are. */
#include "write/say.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "fields/change_fields.h"
#include "fields/compare_fields.h"
#include "fields/define.h"
#include "fields/head_said.h"
#include "fields/ended_fields.h"
#include "fields/file_said.h"
#include "fields/finding_said.h"
#include "fields/growth_said.h"
#include "fields/incident_said.h"
#include "fields/notice_said.h"
#include "fields/peak_said.h"
#include "fields/result_fields.h"
#include "fields/summary_said.h"
#include "fields/system_said.h"
#include "fields/top_said.h"
#include "unit.h"

struct item {
	const char *name;
	uint64_t bytes;
};

struct thing {
	bool known, yes;
	int64_t count, took;
	const char *text;
	const struct thing *inner;
	struct item item[3];
	uint32_t items;
	int32_t id[2];
	uint32_t ids;
};

#define ROW const struct item *r = row
JSON_FIELD(name, "name", TEXT, value_text(r->name), "");
JSON_FIELD(bytes, "bytes", BYTES, value_bytes(true, r->bytes), "");
static FIELDS(items, &field_name, &field_bytes);
#undef ROW
#define ROW const struct thing *r = row
JSON_FIELD(count, "count", AMOUNT, value_signed(r->known, r->count), "");
JSON_FIELD(took, "took_us", AMOUNT, value_signed(r->known, r->took), "");
JSON_FIELD(text, "text", TEXT, value_text(r->text), "");
JSON_FIELD(path, "path", TEXT, value_text(r->text), "", .flags = FIELD_PATH);
JSON_FIELD(when, "time_ms", TIME, value_signed(r->known, r->took), "");
JSON_FIELD(yes, "yes", BOOL, value_bool(true, r->yes), "");
static const char *const words[] = {"one", "two", "three", NULL};
JSON_FIELD(bits, "bits", WORDS, value_signed(true, r->count), "", .words = words);
JSON_FIELD(ids, "ids", NUMBERS, value_rows(true, r->id, r->ids), "", .row_size = sizeof(int32_t));
ROWS(rows, "items", &items, struct item, true, r->item, r->items, "", 0);
static const struct fields things;
JSON_FIELD(inner, "inner", OBJECT, value_row(r->inner), "", .fields = &things);
static FIELDS(things, &field_count, &field_took, &field_text, &field_path, &field_yes, &field_rows,
	      &field_inner, &field_ids, &field_bits, &field_when);
static SENTENCES(about, &things, NULL, "");

static void check(const struct thing *t, const char *text, const char *expected)
{
	const struct said said = {&about, t, NULL, SIZES_ROUNDED};
	cleanup(strbuf_done) struct strbuf out = {};
	struct line l = {.out = &out};
	bool done;

	assert_null(say_fault(&about, text));
	done = say_sentence(&l, &said, text);
	assert_int_equal(done, expected != NULL);
	assert_string_equal(strbuf_str(&out), expected ? expected : "");
}

TEST(values)
{
	const struct thing inner = {.known = true, .count = 1};
	const struct thing t = {.known = true,
				.count = 2,
				.took = 12340,
				.text = "a/\x1b"
					"b",
				.inner = &inner};
	const struct thing none = {};

	check(&t, "{count} in {took_us}", "2 in 12.3 ms");
	check(&t, "of {text}",
	      "of a/\\x1b"
	      "b");
	check(&t, "of {text|3}", "of a/\xe2\x80\xa6");
	check(&t, "inside {inner.count} process{es}", "inside 1 process");
	check(&t, "at {time_ms|8}, {time_ms|5}, {time_ms|16}",
	      "at 00:00:12, 00:00, 1970-01-01 00:00");
	check(&none, "{count} in all", NULL);
	check(&none, "{count~} in all", "not known in all");
	check(&none, "inside {inner.count}", NULL);
}

TEST(parts)
{
	struct thing t = {.known = true};

	check(&t, "[{text}||no text], ", "no text,");
	check(&t, "it has:[, {text}][, {count} item{s}]", "it has: 0 items");
	check(&t, "a[ {text}[ {count}]]b", "ab");
	t.text = "x";
	check(&t, "a[ {text}[ {count+}]]b", "a xb");
	check(&t, "[{?yes}yes||{!yes}no]", "no");
	t.yes = true;
	check(&t, "[{?yes}yes||{!yes}no]", "yes");
	check(&t, "{!yes}no", NULL);
	check(&t, "it has:[, {text}][; {count} item{s}]", "it has: x; 0 items");
	check(&t, "it ([, {count+}][, {text}])", "it (x)");
}

TEST(counts)
{
	static const struct {
		int64_t count;
		const char *expected;
	} cases[] = {{0, "0 kills were"}, {1, "1 kill was"}, {2, "2 kills were"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct thing t = {.known = true, .count = cases[i].count};

		check(&t, "{count} kill{s} {was/were}", cases[i].expected);
	}
	check(&(struct thing){.known = true}, "{count+} kill{s}", NULL);
}

TEST(rows)
{
	struct thing t = {.item = {{"a", 1024}, {NULL, 1}, {"b", 2048}}, .items = 3};

	check(&t, "{items: {name} {bytes}}", "a 1 KiB, b 2 KiB");
	check(&t, "{items*1: [{name}||none]} there", "a, 2 more there");
	check(&t, "it has: {items: {name}}[; {?items}all]", "it has: a, b; all");
	check(&t, "{items; {name}}", "a; b");
	check(&t, "of {ids}", NULL);
	t = (struct thing){.id = {7, 9}, .ids = 2};
	check(&t, "of {ids}", "of 7, 9");
	check(&t, "{items: {name}}", NULL);
	check(&t, "[{?items}some||none]", "none");
}

TEST(words)
{
	check(&(struct thing){.known = true, .count = 5}, "{?bits}it has {bits}",
	      "it has one, three");
	check(&(struct thing){.known = true}, "{?bits}it has {bits}", NULL);
}

TEST(sizes)
{
	static const struct {
		enum said_sizes sizes;
		const char *expected;
	} is[] = {{SIZES_ROUNDED, "2 KiB"}, {SIZES_EXACT, "2048"}, {SIZES_SHORT, "2K"}};
	const struct thing t = {.item = {{"a", 2048}}, .items = 1};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		const struct said said = {&about, &t, NULL, is[i].sizes};
		cleanup(strbuf_done) struct strbuf out = {};
		struct line l = {.out = &out};

		assert_true(say_sentence(&l, &said, "{items: {bytes}}"));
		assert_string_equal(strbuf_str(&out), is[i].expected);
	}
}

static SENTENCES(three, &things, NULL, "one two three {count}", "not {text}", "{count} more");

/* What is folded begins at the indent, and each sentence that cannot be said has no line. */
TEST(lines)
{
	const struct thing t = {.known = true, .count = 4};
	cleanup(strbuf_done) struct strbuf out = {};

	say_all(&out, &(struct said){&three, &t, NULL, SIZES_ROUNDED}, 2, 12);
	assert_string_equal(strbuf_str(&out), "one two\n  three 4\n4 more\n");
}

TEST(faults)
{
	static const char *const wrong[] = {
		"{nothing}", "{count",		"[{count}",	"{count}]",	    "{items}",
		"{yes}",     "{inner.nothing}", "{text.count}", "{items: {count}}", "}"};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (!say_fault(&about, wrong[i]))
			fail_msg("no fault: %s", wrong[i]);
}

/* tests/check sees that each SENTENCES() of src is in this list. */
TEST(all)
{
	static const struct sentences *const all[] = {
		&changes_head,
		&changes_missing,
		&changes_small,
		&compare_said,
		&compare_verdict,
		&detail_cgroup,
		&detail_facts,
		&detail_history,
		&detail_no_pss,
		&detail_kernel,
		&detail_title,
		&file_accounts_said,
		&file_held_said,
		&file_total_said,
		&file_unsure_said,
		&finding_run,
		&finding_said,
		&growth_accounted_said,
		&growth_heap_said,
		&growth_hints_said,
		&growth_lack_said,
		&head_holders_said,
		&head_pressure,
		&head_ram,
		&head_swap,
		&incident_grew_said,
		&incident_inside_said,
		&incident_largest_said,
		&incident_limited_said,
		&ended_before_said,
		&ended_between_said,
		&ended_line,
		&ended_missed_said,
		&incident_machine_said,
		&incident_unread_said,
		&signal_line,
		&unrecorded_heading,
		&no_victim_heading,
		&no_victim_line,
		&no_victim_said,
		&unrecorded_line,
		&unrecorded_said,
		&kill_heading,
		&kill_level_said,
		&kill_limit_said,
		&kill_stands_for,
		&kill_victim_said,
		&maps_said,
		&page_said,
		&notices_said,
		&peak_end_said,
		&peak_length_said,
		&peak_nothing_said,
		&peak_page_said,
		&peak_pss_said,
		&peak_time_said,
		&peak_when_said,
		&pressure_heading,
		&pressure_line,
		&pressure_signs_said,
		&ram_changes_said,
		&ram_deleted_said,
		&ram_state_said,
		&signal_heading,
		&signal_said,
		&summary_line,
		&summary_memcgs,
		&summary_notes,
		&summary_nothing,
		&summary_said,
		&system_gpus_said,
		&system_held_said,
		&system_method_said,
		&system_no_cgroups_said,
		&system_no_nodes_said,
		&system_nodes_said,
		&tick_said,
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (const char *const *text = all[i]->text; *text; text++)
			if (say_fault(all[i], *text))
				fail_msg("%s: %s", say_fault(all[i], *text), *text);
}
