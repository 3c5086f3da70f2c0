// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whole snapshots of random records: decoded, finished, filtered, ordered, summed, and shown as a
 * table and as JSON. The input is a struct config, then the contents of the records. Record headers
 * are repaired, so that records are not refused; fuzz_source_records.c covers bad headers.
 */
#include "../support/metrics_text.h"
#include "../support/utf8_valid.h"
#include "collect/balance.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "fuzz_json.h"
#include "fuzz_snapshot.h"
#include "../support/decode_records.h"
#include "enrich/enrich.h"
#include "query/filter.h"
#include "query/group.h"
#include "query/order.h"

static void add_record(const uint8_t **data, size_t *size, const struct decode_limits *limits,
		       struct snapshot *s)
{
	struct zmem_pss_record r;
	uint8_t how;

	fuzz_take(data, size, &how, 1);
	fuzz_take(data, size, &r, how & HOW_PAGES ? sizeof(r) : sizeof(r.record));
	make_record(how, &r);
	FUZZ_CHECK(decode_records(&r, r.record.size, limits, s) == r.record.size);
	if (how & HOW_ROLLUP) {
		struct pool_result result = {.counters.have = (1u << SMAPS_KEYS) - 1};

		fuzz_take(data, size, result.counters.value, sizeof(result.counters.value));
		for (int i = 0; i < SMAPS_KEYS; i++)
			result.counters.value[i] &= (1ull << 62) - 1; /* as it is parsed */
		result.status = how & HOW_SMALL ? PSS_OK : PSS_DENIED;
		if (s->process[s->count - 1].pss_status == PSS_SKIPPED)
			rollup_apply(&s->process[s->count - 1], &result);
	}
}

static void make_snapshot(const uint8_t *data, size_t size, struct config *c, struct snapshot *s)
{
	struct decode_limits limits = {.page_size = 4096};

	fuzz_take(&data, &size, c, sizeof(*c));
	limits.ram_bytes = c->ram_shift % 64 < 12 ? 0 : 1ull << (c->ram_shift % 64);
	s->host.page_size = limits.page_size;
	s->host.boot_ms = c->boot_ms;
	s->time_ms = c->time_ms;
	s->counters_source = FROM_BPF;
	s->system.meminfo.have = UINT32_MAX >> (32 - MEMINFO_COUNTERS);
	for (unsigned f = 0; f < MEMINFO_COUNTERS; f++)
		s->system.meminfo.value[f] = c->meminfo[f % CONFIG_COUNTERS] >> f;
	for (size_t i = 0; i < CONFIG_COUNTERS; i++)
		s->system.meminfo.value[config_counters[i]] = c->meminfo[i];
	while (size && s->count < 64)
		add_record(&data, &size, &limits, s);
	/* Texts of any bytes, from those that are there; names are. */
	for (size_t i = 0; i < s->count; i++) {
		struct process *p = &s->process[i];

		p->cmdline = c->flags & CONFIG_CMDLINE ? p->name : NULL;
		p->user = p->uid & 1 ? p->comm : NULL;
		p->cgroup = p->uid & 2 ? p->name : NULL;
	}
	FUZZ_CHECK(snapshot_finish(s) == 0);
	FUZZ_CHECK(s->collection.seen == s->count);
	balance_no_swap(s);
}

static void check_processes(const struct snapshot *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];
		const struct process *found = snapshot_find(s, p->pid);

		FUZZ_CHECK(!i || s->process[i - 1].pid <= p->pid);
		FUZZ_CHECK(found && found->pid == p->pid);
		FUZZ_CHECK(p->mm_id <= s->count);
		for (int c = 0; c < COUNTERS_OF_PROCESS; c++)
			FUZZ_CHECK(process_has(p, c) || !p->value[c]);
		if (process_has(p, COUNTER_RSS))
			FUZZ_CHECK(p->value[COUNTER_RSS] >= p->value[COUNTER_RSS_ANON] &&
				   p->value[COUNTER_RSS] >= p->value[COUNTER_RSS_FILE] &&
				   p->value[COUNTER_RSS] >= p->value[COUNTER_RSS_SHMEM]);
		if (process_has(p, COUNTER_PSS_SWAP))
			FUZZ_CHECK(p->value[COUNTER_PSS_SWAP] >= p->value[COUNTER_PSS]);
	}
}

/* The order must not depend on the initial order. */
static void check_order(const struct order *o, const struct snapshot *s, struct rows *rows)
{
	cleanup_free struct row *again = calloc(rows->count + 1, sizeof(*again));
	struct rows reversed = {again, rows->count};

	FUZZ_CHECK(again);
	order_rows(o, s, rows);
	for (size_t i = 0; i < rows->count; i++)
		again[i] = rows->item[rows->count - 1 - i];
	order_rows(o, s, &reversed);
	/* Two processes with one pid are the input's fault. */
	for (size_t i = 0; i < rows->count; i++)
		FUZZ_CHECK(again[i].process->pid == rows->item[i].process->pid);
}

static bool is_counted(const struct process *p)
{
	return p->kind == PROCESS_USER && (p->mm_owner || !p->mm_id);
}

/* A sum is exact to the byte, or unknown. */
static void check_totals(const struct row *rows, size_t count, const struct totals *t)
{
	FUZZ_CHECK(t->processes == count && t->pss_missing <= count);
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		unsigned __int128 sum = 0;

		for (size_t i = 0; i < count; i++)
			if (is_counted(rows[i].process) && process_has(rows[i].process, c))
				sum += rows[i].process->value[c];
		if (t->have & COUNTER_BIT(c))
			FUZZ_CHECK(t->value[c] == sum);
		else
			FUZZ_CHECK(t->value[c] == 0);
	}
}

static void check_balance(const struct snapshot *s)
{
	if (s->balance.swap_unattributed_known)
		FUZZ_CHECK(s->balance.swap_unattributed <=
			   s->system.meminfo.value[MEMINFO_SWAP_TOTAL]);
}

static void check_json(const struct result *r)
{
	struct strbuf out = {};

	render_json(&out, r);
	FUZZ_CHECK(!strbuf_error(&out) && utf8_valid(out.data, out.len));
	FUZZ_CHECK(json_read_document(out.data, out.len) == r->row_count);
	strbuf_done(&out);
}

/* Lines that are documents, short enough, the rows' and one more. */
static void check_ndjson(const struct result *r)
{
	struct strbuf out = {};
	size_t lines = 0;

	render_ndjson(&out, r);
	FUZZ_CHECK(!strbuf_error(&out));
	for (size_t at = 0, len; at < out.len; at += len, lines++) {
		const char *end = memchr(out.data + at, '\n', out.len - at);

		FUZZ_CHECK(end);
		len = (size_t)(end - out.data) + 1 - at;
		FUZZ_CHECK(len < 4096);
		json_read_document(out.data + at, len);
	}
	FUZZ_CHECK(lines == r->row_count + 1);
	strbuf_done(&out);
}

/* One record a line, whatever the names are; quotes are balanced. */
static void check_csv(const struct result *r, const struct table_style *style)
{
	const struct table_style plain = {.header = style->header};
	struct strbuf out = {};
	size_t rows = style->only_total ? 1 : style->columns->count ? r->row_count : 0, quotes = 0;

	render_csv(&out, r, style);
	FUZZ_CHECK(!strbuf_error(&out));
	if (rows && (style->columns->count || style->only_total))
		check_lines(&out, &plain, (style->header ? 1 : 0) + rows, 0);
	for (size_t i = 0; i < out.len; i++)
		quotes += out.data[i] == '"';
	FUZZ_CHECK(quotes % 2 == 0);
	strbuf_done(&out);
}

/* Five frames or two, and a value. */
static void check_folded(const struct result *r, const struct table_style *style)
{
	struct strbuf out = {};
	size_t semicolons = 0, blanks = 0;

	render_folded(&out, r, style);
	FUZZ_CHECK(!strbuf_error(&out));
	for (size_t i = 0; i < out.len; i++) {
		semicolons += out.data[i] == ';';
		blanks += out.data[i] == ' ';
		if (out.data[i] != '\n')
			continue;
		FUZZ_CHECK(blanks == 1 && (semicolons == 4 || semicolons == 1));
		semicolons = blanks = 0;
	}
	FUZZ_CHECK(semicolons == 0 && blanks == 0);
	strbuf_done(&out);
}

/* Metrics text that parses in both formats, with every process in one group series. */
static void check_metrics_text(const struct result *r, const struct table_style *style)
{
	struct strbuf out = {};
	struct metrics_text t;

	for (int open_metrics = 0; open_metrics < 2; open_metrics++) {
		strbuf_clear(&out);
		if (open_metrics)
			render_openmetrics(&out, r, style);
		else
			render_prometheus(&out, r, style);
		FUZZ_CHECK(!strbuf_error(&out));
		t = metrics_read(strbuf_str(&out), out.len, open_metrics);
		FUZZ_CHECK(!t.wrong);
		FUZZ_CHECK(t.processes == r->totals.processes);
	}
	strbuf_done(&out);
}

/* Processes, and groups of which not all are shown. Sorts the list. */
static void check_metrics(struct process_list *list, const struct result *result,
			  const struct table_style *style)
{
	static const char *const keys[] = {"name", "user", "cgroup", "container"};
	struct result r = *result;

	check_metrics_text(&r, style);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		cleanup(sums_done) struct sums groups = {};

		r.group = process_field(keys[i]);
		FUZZ_CHECK(group_rows(r.group, list, &groups) == 0);
		r.rows = groups.rows.item;
		r.row_count = groups.rows.count < result->row_count ? groups.rows.count
								    : result->row_count;
		r.others_count = groups.rows.count - r.row_count;
		totals_sum(r.rows + r.row_count, r.others_count, false, &r.others);
		check_metrics_text(&r, style);
	}
}

/* The page holds its data as a JSON document in an element that the data cannot close. */
static void check_html(const struct result *r, const struct table_style *style)
{
	static const char open[] = "id=\"data\">", close[] = "</script>";
	struct strbuf out = {};
	const char *data, *end;

	render_html(&out, r, style);
	FUZZ_CHECK(!strbuf_error(&out) && utf8_valid(out.data, out.len));
	data = strstr(strbuf_str(&out), open);
	FUZZ_CHECK(data);
	data += strlen(open);
	end = strpbrk(data, "<>&");
	FUZZ_CHECK(end && memcmp(end, close, strlen(close)) == 0);
	json_read_document(data, (size_t)(end - data));
	strbuf_done(&out);
}

/* The machine's values add up. */
static void check_system(const struct result *r, const struct table_style *style)
{
	static const enum account_part parts[] = {ACCOUNT_KERNEL, ACCOUNT_USER,
						  ACCOUNT_CACHE,  ACCOUNT_HUGETLB,
						  ACCOUNT_FREE,	  ACCOUNT_UNACCOUNTED};
	struct system_report report;
	struct strbuf out = {};
	int64_t sum = 0;

	balance_report(r, &report);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		sum += report.account.value[parts[i]];
	if (account_has(&report.account, ACCOUNT_UNACCOUNTED))
		FUZZ_CHECK(sum == report.account.value[ACCOUNT_TOTAL]);
	render_system_json(&out, &report);
	FUZZ_CHECK(!strbuf_error(&out) && json_read_document(out.data, out.len) == 0);
	strbuf_clear(&out);
	render_system_table(&out, &report, style);
	FUZZ_CHECK(!strbuf_error(&out) && utf8_valid(out.data, out.len));
	strbuf_done(&out);
}

static void check_table(const struct result *r, const struct table_style *style)
{
	size_t others = r->others_count && !style->only_total;
	size_t rows = style->only_total ? 0 : r->row_count;
	struct strbuf out = {};

	render_table(&out, r, style);
	FUZZ_CHECK(!strbuf_error(&out));
	/* The summary is folded, and a line names columns without room. */
	check_lines(&out, style, style->header + rows + others + 1, SIZE_MAX);
	strbuf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(process_list_done) struct process_list list = {};
	cleanup(rows_done) struct rows rows = {};
	struct order order = {};
	struct field_list columns = {};
	struct filter filter = {};
	struct table_style style;
	struct config c;
	struct result r = {.snapshot = &s, .pss = PSS_FROM_KERNEL};
	uid_t root = 0;

	make_snapshot(data, size, &c, &s);
	check_processes(&s);
	make_columns(c.sort, ARRAY_SIZE(c.sort), &order.keys);
	make_columns(c.column, ARRAY_SIZE(c.column), &columns);
	order.reverse = c.flags & CONFIG_REVERSE;
	if (c.flags & CONFIG_ROOT)
		filter = (struct filter){.uids = &root, .uid_count = 1};
	FUZZ_CHECK(filter_rows(&s, &filter, filter_matches, &list) == 0);
	FUZZ_CHECK(snapshot_own_mm(&s, list.item, list.count) == 0);
	FUZZ_CHECK(rows_of(&rows, list.item, list.count) == 0);
	balance_reconcile(&s);
	check_balance(&s);
	check_order(&order, &s, &rows);
	r.rows = rows.item;
	r.row_count = rows.count < c.shown ? rows.count : c.shown;
	r.others_count = rows.count - r.row_count;
	totals_sum(rows.item + r.row_count, r.others_count, c.flags & CONFIG_PRUNED, &r.others);
	totals_sum(rows.item, rows.count, c.flags & CONFIG_PRUNED, &r.totals);
	check_totals(rows.item + r.row_count, r.others_count, &r.others);
	check_totals(rows.item, rows.count, &r.totals);
	style = (struct table_style){.columns = &columns,
				     .bytes = c.flags & CONFIG_BYTES,
				     .header = c.flags & CONFIG_HEADER,
				     .only_total = c.flags & CONFIG_ONLY_TOTAL,
				     .color = c.flags & CONFIG_COLOR,
				     .wide = c.flags & CONFIG_WIDE,
				     .numeric = c.flags & CONFIG_NUMERIC,
				     .width = c.width};
	check_json(&r);
	check_ndjson(&r);
	check_csv(&r, &style);
	check_folded(&r, &style);
	check_html(&r, &style);
	check_table(&r, &style);
	check_metrics(&list, &r, &style);
	check_system(&r, &(struct table_style){.bytes = c.flags & CONFIG_BYTES, .width = c.width});
	return 0;
}
