// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* openmetrics and prometheus: golden files, labels that collide, hostile names, missing values. */
#include "golden.h"
#include "metrics_text.h"
#include "sample.h"

#include "report/report.h"

typedef void renderer(struct strbuf *out, const struct result *r, const struct table_style *style);

static const struct {
	const char *name;
	renderer *render;
} format[] = {{"openmetrics", render_openmetrics}, {"prometheus", render_prometheus}};

static const struct table_style plain;

static const char *text_of(const struct sample *s, struct strbuf *out, size_t i)
{
	struct metrics_text t;

	format[i].render(out, &s->result, &plain);
	assert_int_equal(strbuf_error(out), 0);
	t = metrics_read(strbuf_str(out), out->len, i == 0);
	if (t.wrong)
		fail_msg("%s: %.*s", t.wrong, (int)strcspn(t.at, "\n"), t.at);
	assert_int_equal(t.processes, s->result.totals.processes);
	return strbuf_str(out);
}

/*
 * Compares without the version of the program, which changes. "controller" has all values of both
 * formats.
 */
static void check_golden(const char *name, const struct sample *s)
{
	static const char version[] = "version=\"" ZMEM_VERSION "\"";

	for (size_t i = 0; i < ARRAY_SIZE(format); i++) {
		cleanup(strbuf_done) struct strbuf out = {0}, neutral = {0};
		const char *text = text_of(s, &out, i), *at = strstr(text, version);
		char path[64];

		assert_non_null(at);
		strbuf_put(&neutral, text, (size_t)(at - text));
		strbuf_puts(&neutral, "version=\"0.0.0\"");
		strbuf_puts(&neutral, at + strlen(version));
		snprintf(path, sizeof(path), "%s_%s.txt", format[i].name, name);
		golden_check(path, &neutral);
	}
}

/* Groups the processes, of which the first `shown` are shown. */
static void group(struct sample *s, const char *key, size_t shown, struct sums *ret)
{
	cleanup(process_list_done) struct process_list list = {};
	struct result *r = &s->result;

	assert_int_equal(rows_processes(s->row, s->snapshot.count, &list), 0);
	r->group = process_field(key);
	assert_int_equal(group_rows(r->group, &list, ret), 0);
	r->rows = ret->rows.item;
	r->row_count = shown < ret->rows.count ? shown : ret->rows.count;
	r->others_count = ret->rows.count - r->row_count;
	totals_sum(r->rows + r->row_count, r->others_count, false, &r->others);
	totals_sum(r->rows, ret->rows.count, false, &r->totals);
}

/* Processes exist, but no value of them or of the machine is known. */
SAMPLE_TEST(unmeasured, sample_bare)
{
	cleanup(sums_done) struct sums groups = {};

	sample_add(s, 12, 0, NULL, "shy")->pss_status = PSS_DENIED;
	s->snapshot.collection.denied = 1;
	sample_finish(s, 3);
	group(s, "name", SIZE_MAX, &groups);
	check_golden("unmeasured", s);
	arena_done(&s->snapshot.arena);
}

/* With their values the texts are valid; the golden files have each name twice. */
SAMPLE_TEST(hostile, sample_hostile)
{
	cleanup(sums_done) struct sums groups = {};

	group(s, "container", SIZE_MAX, &groups);
	for (size_t i = 0; i < ARRAY_SIZE(format); i++) {
		cleanup(strbuf_done) struct strbuf out = {0};

		text_of(s, &out, i);
	}
	for (size_t i = 0; i < groups.rows.count; i++)
		groups.rows.item[i].process->have = 0;
	s->snapshot.system.meminfo.have = 0;
	check_golden("hostile", s);
	arena_done(&s->snapshot.arena);
}

/*
 * Two units have memory-cgroup counters, of which one has no limit; other processes have none.
 * All other values are covered by tests/metrics/test_dashboard.py.
 */
SAMPLE_TEST(memcg, sample_ordinary)
{
	cleanup(sums_done) struct sums groups = {};
	struct node_shares nodes[8];

	sample_census(s);
	s->snapshot.system.oom_kills = (struct oom_kills){true, 4};
	s->snapshot.balance.residual_known = true;
	s->snapshot.balance.anon_residual = 3 * MIB;
	s->snapshot.balance.mapped_residual = -4096;
	sample_meminfo(&s->snapshot.system.meminfo, MEMINFO_UNEVICTABLE, 5 * GIB);
	group(s, "unit", SIZE_MAX, &groups);
	for (size_t i = 0; i < groups.rows.count; i++) {
		struct process *p = groups.rows.item[i].process;

		if (!p->unit || i > 1)
			continue;
		process_set(p, COUNTER_MEM_CURRENT, (i + 1) * 100 * MIB);
		if (i)
			process_set(p, COUNTER_MEM_LIMIT, (i + 1) * 200 * MIB);
		for (int c = COUNTER_MEM_HIGH; c < COUNTER_COUNT; c++)
			process_set(p, c,
				    counter_table[c].unit == UNIT_PERCENT ? 123 + i
									  : (i + c) * MIB);
		process_set(p, COUNTER_MEM_LEFT, (i + 1) * MIB);
		process_set(p, COUNTER_FREED, (i + 1) * 9 * MIB);
		process_set(p, COUNTER_MEM_WAIT, (i + 1) * 1500000);
		process_set(p, COUNTER_HUGETLB_PSS, (i + 1) * 2 * MIB);
		process_set(p, COUNTER_LAZYFREE, (i + 1) * MIB);
		process_set(p, COUNTER_THP_REST, (i + 1) * 2 * MIB);
		process_set(p, COUNTER_GPU, (i + 1) * 7 * MIB);
		process_set(p, COUNTER_DMABUF, (i + 1) * 5 * MIB);
		process_set(p, COUNTER_KERNEL, (i + 1) * 9 * MIB);
		nodes[i] = (struct node_shares){1, {{i, (i + 1) * 3 * MIB}}};
		p->nodes = &nodes[i];
		p->have |= COUNTER_BIT(COUNTER_NODES);
	}
	check_golden("controller", s);
	arena_done(&s->snapshot.arena);
}

/* ---- labels ---- */

static void assert_line(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	if (!at || (at != text && at[-1] != '\n') || at[strlen(line)] != '\n')
		fail_msg("no line '%s' in\n%s", line, text);
}

/* ---- findings ---- */

/* Two cgroups full of what cannot be dropped, and RAM that is full without swap. */
SAMPLE_TEST(findings, sample_bare)
{
	struct memcg cgroup[] = {{.path = "/a"}, {.path = "/b"}, {.path = "/c"}};
	struct meminfo *m = &s->snapshot.system.meminfo;

	sample_add(s, 12, 0, NULL, "shy");
	sample_finish(s, 3);
	sample_meminfo(m, MEMINFO_TOTAL, 16 * GIB);
	sample_meminfo(m, MEMINFO_AVAILABLE, 600 * MIB);
	for (size_t i = 0; i < ARRAY_SIZE(cgroup); i++) {
		cgroup[i].current_known = cgroup[i].limit_known = true;
		cgroup[i].limit = GIB;
		cgroup[i].current = i < 2 ? GIB : GIB / 2;
		memcg_set_detail(&cgroup[i], COUNTER_MEM_ANON, cgroup[i].current);
		memcg_set_detail(&cgroup[i], COUNTER_MEM_SHMEM, 0);
		memcg_set_detail(&cgroup[i], COUNTER_PSI_SOME_10, 0);
	}
	s->snapshot.memcg = cgroup;
	s->snapshot.memcg_count = ARRAY_SIZE(cgroup);
	for (size_t i = 0; i < ARRAY_SIZE(format); i++) {
		cleanup(strbuf_done) struct strbuf out = {0};
		const char *text = text_of(s, &out, i);

		assert_line(text, "# TYPE zmem_finding gauge");
		assert_line(text, "zmem_finding{key=\"cgroup_full\",level=\"warning\"} 2");
		assert_line(text, "zmem_finding{key=\"cgroup_limit\",level=\"critical\"} 0");
		assert_line(text, "zmem_finding{key=\"ram_full\",level=\"critical\"} 1");
		assert_line(text, "zmem_finding{key=\"ram_full\",level=\"warning\"} 0");
		/* It has no such level, and swap was not measured. */
		assert_null(strstr(text, "key=\"cgroup_full\",level=\"hint\""));
		assert_null(strstr(text, "key=\"swap_full\""));
		assert_null(strstr(text, "key=\"thrashing\""));
	}
	arena_done(&s->snapshot.arena);
}

static void assert_label(const char *name, const char *label)
{
	cleanup(strbuf_done) struct strbuf out = {0}, line = {0};
	struct sample s;

	sample_init(&s);
	sample_add(&s, 7, 0, NULL, "x")->unit = name;
	s.result.group = process_field("unit");
	sample_finish(&s, 1);
	strbuf_printf(&line, "zmem_group_processes{group=\"%s\"} 1", label);
	assert_line(text_of(&s, &out, 0), strbuf_str(&line));
}

TEST(labels)
{
	/* Reserved labels are not given to names. */
	static const char *const is[][2] = {
		{"plain", "plain"},
		{" ", " "},
		{"a\"b\\c\nd", "a\\\"b\\\\c\\nd"},
		{"\\n", "\\\\n"},
		{"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\033[31m\r", "\xef\xbf\xbd[31m\xef\xbf\xbd"},
		{"\xe6\xbc\xa2", "\xe6\xbc\xa2"},
		{"{a=\"b\"} 1", "{a=\\\"b\\\"} 1"},
		{NULL, "none"},
		{"", "none"},
		{"none", "none_"},
		{"other", "other_"},
		{"other_", "other__"},
		{"other__", "other___"},
		{"others", "others"},
		{"other_x", "other_x"},
		{"Other", "Other"},
	};
	char longest[601] = "", want[601] = "";

	for (size_t i = 0; i < ARRAY_SIZE(is); i++)
		assert_label(is[i][0], is[i][1]);
	/* At most 512 bytes, whole characters and escapes. */
	memset(longest, 'x', 600);
	memset(want, 'x', 512);
	assert_label(longest, want);
	memcpy(longest + 511, "\xc3\xa9", 2);
	want[511] = '\0';
	assert_label(longest, want);
	memcpy(longest + 511, "\"x", 2);
	assert_label(longest, want);
}

/* Two groups of several keys with one text are two series. */
SAMPLE_TEST(keys, sample_init)
{
	const struct field *const two[] = {process_field("unit"), process_field("name")};
	cleanup(strbuf_done) struct strbuf out = {0};
	struct group_keys keys = {};

	group_keys_set(&keys, two, 2);
	sample_add(s, 1, 0, "root", "c")->unit = "a / b";
	sample_add(s, 2, 0, "root", "b / c")->unit = "a";
	s->result.group = &keys.joined;
	sample_finish(s, 2);
	text_of(s, &out, 1);
	assert_line(strbuf_str(&out), "zmem_group_processes{group=\"a / b / c\",unit=\"a / b\","
				      "name=\"c\"} 1");
	assert_line(strbuf_str(&out), "zmem_group_processes{group=\"a / b / c\",unit=\"a\","
				      "name=\"b / c\"} 1");
}

/* The names of a container stand beside the groups that decide them, and beside no other. */
TEST(containers)
{
	static const struct {
		const char *key, *labels;
	} group[] = {
		{"container",
		 "group=\"prod/web-0/app\",namespace=\"prod\",pod=\"web-0\",container=\"app\""},
		{"pod", "group=\"prod/web-0\",namespace=\"prod\",pod=\"web-0\""},
		{"namespace", "group=\"prod\",namespace=\"prod\""},
		{"unit",
		 "group=\"cri-abc.scope\",namespace=\"prod\",pod=\"web-0\",container=\"app\""},
		{"cgroup",
		 "group=\"/k/cri-abc.scope\",namespace=\"prod\",pod=\"web-0\",container=\"app\""},
		{"name", "group=\"x\""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(group); i++) {
		cleanup(strbuf_done) struct strbuf out = {0}, line = {0};
		struct process *p;
		struct sample s;

		sample_init(&s);
		p = sample_add(&s, 7, 0, NULL, "x");
		p->container = "prod/web-0/app";
		p->container_id = "abc";
		p->pod = "prod/web-0";
		p->namespace = "prod";
		p->unit = "cri-abc.scope";
		p->cgroup = "/k/cri-abc.scope";
		s.result.group = process_field(group[i].key);
		sample_finish(&s, 1);
		strbuf_printf(&line, "zmem_group_processes{%s} 1", group[i].labels);
		assert_line(text_of(&s, &out, 0), strbuf_str(&line));
	}
}

/* A command line never becomes a label, even if the command-line check is bypassed. */
SAMPLE_TEST(cmdlines, sample_init)
{
	cleanup(strbuf_done) struct strbuf out = {0};

	sample_add(s, 1, 0, "root", "x")->cmdline = "mysql --password=secret";
	s->result.group = process_field("cmdline");
	sample_finish(s, 1);
	assert_line(text_of(s, &out, 0), "zmem_group_processes{group=\"none\"} 1");
	assert_null(strstr(strbuf_str(&out), "secret"));
}

/*
 * Names with the same label are one series, at the position of the first one, with the sum of all.
 */
SAMPLE_TEST(merged, sample_init)
{
	static const char *const name[] = {"a\xff", "b", "a\xfe", "other"};
	cleanup(strbuf_done) struct strbuf out = {0};
	cleanup(sums_done) struct sums groups = {};

	for (size_t i = 0; i < ARRAY_SIZE(name); i++) {
		struct process *p = sample_add(s, (pid_t)(10 + i), 0, NULL, name[i]);

		p->cgroup = name[i];
		sample_counters(p, (i + 1) * MIB, (i + 1) * KIB);
		if (i != 2)
			sample_pss(p, PSS_FROM_KERNEL);
	}
	sample_finish(s, ARRAY_SIZE(name));
	group(s, "cgroup", SIZE_MAX, &groups);
	for (size_t i = 0; i < groups.rows.count; i++)
		process_set(groups.rows.item[i].process, COUNTER_MEM_CURRENT, MIB);
	/* Only "b" and "other" are not merged from two rows. */
	s->result.row_count = 3;
	s->result.others_count = 1;
	totals_sum(s->result.rows + 3, 1, false, &s->result.others);
	text_of(s, &out, 0);
	assert_line(strbuf_str(&out), "zmem_group_processes{group=\"a\xef\xbf\xbd\"} 2");
	assert_line(strbuf_str(&out), "zmem_group_swap_bytes{group=\"a\xef\xbf\xbd\"} 4096");
	assert_line(strbuf_str(&out),
		    "zmem_group_proportional_missing_processes{group=\"a\xef\xbf\xbd\"} 1");
	assert_line(strbuf_str(&out),
		    "zmem_group_memory_proportional_bytes{group=\"a\xef\xbf\xbd\"} 786432");
	assert_line(strbuf_str(&out), "zmem_group_memory_current_bytes{group=\"b\"} 1048576");
	assert_null(strstr(strbuf_str(&out), "current_bytes{group=\"a"));
	/* The group of hidden rows is not the process named "other". */
	assert_line(strbuf_str(&out), "zmem_group_swap_bytes{group=\"other\"} 4096");
	assert_null(strstr(strbuf_str(&out), "current_bytes{group=\"other"));
	s->result.row_count = 4;
	s->result.others_count = 0;
	strbuf_clear(&out);
	text_of(s, &out, 0);
	assert_line(strbuf_str(&out), "zmem_group_swap_bytes{group=\"other_\"} 4096");
	assert_null(strstr(strbuf_str(&out), "{group=\"other\""));
	arena_done(&s->snapshot.arena);
}

/* ---- limits ---- */

/* The values of a cgroup above are in no series: it has none of its own. */
SAMPLE_TEST(cgroup_left_out, sample_groups)
{
	cleanup(strbuf_done) struct strbuf out = {0};

	s->snapshot.collection.cgroups_left_out[MEMCG_BOUND_DEPTH] = 1;
	text_of(s, &out, 0);
	assert_line(strbuf_str(&out),
		    "zmem_group_memory_current_bytes{group=\"postgresql@15-main.service\"} "
		    "1887436800");
	assert_null(strstr(strbuf_str(&out), "current_bytes{group=\"session-3.scope\""));
	assert_line(strbuf_str(&out), "zmem_collect_cgroups_left_out{reason=\"depth\"} 1");
	assert_line(strbuf_str(&out), "zmem_collect_cgroups_left_out{reason=\"time\"} 0");
}

/* More rows than METRICS_GROUPS_MAX, and hidden rows: each process is in exactly one series. */
SAMPLE_TEST(cap, sample_init)
{
	enum { ROWS = METRICS_GROUPS_MAX + 500 };
	static struct process process[ROWS];
	static struct row rows[ROWS];
	static char name[ROWS][16];
	cleanup(strbuf_done) struct strbuf out = {0};

	for (size_t i = 0; i < ROWS; i++) {
		snprintf(name[i], sizeof(name[i]), "g%zu", i);
		process[i] = (struct process){.kind = PROCESS_SUM, .name = name[i]};
		rows[i] = (struct row){&process[i], .procs = 2, .pss_missing = 1};
		process_set(&process[i], COUNTER_SWAP, KIB);
	}
	s->result.rows = rows;
	s->result.row_count = ROWS - 100;
	s->result.others_count = 100;
	totals_sum(rows + s->result.row_count, 100, false, &s->result.others);
	totals_sum(rows, ROWS, false, &s->result.totals);
	text_of(s, &out, 1);
	assert_line(strbuf_str(&out), "zmem_group_processes{group=\"g999\"} 2");
	assert_null(strstr(strbuf_str(&out), "g1000"));
	assert_line(strbuf_str(&out), "zmem_group_processes{group=\"other\"} 1000");
	assert_line(strbuf_str(&out), "zmem_group_swap_bytes{group=\"other\"} 512000");
	assert_line(strbuf_str(&out),
		    "zmem_group_proportional_missing_processes{group=\"other\"} 500");
}

/* Values above 2^53 - 1 are left out, and so are sums that overflow. */
SAMPLE_TEST(beyond, sample_init)
{
	cleanup(strbuf_done) struct strbuf out = {0};

	for (pid_t pid = 1; pid <= 2; pid++) {
		struct process *p = sample_add(s, pid, 0, NULL, pid == 1 ? "big" : "bigger");

		process_set(p, COUNTER_SWAP, (UINT64_C(1) << 53) - (pid == 1));
		process_set(p, COUNTER_RSS_ANON, UINT64_MAX);
	}
	sample_meminfo(&s->snapshot.system.meminfo, MEMINFO_TOTAL, UINT64_MAX);
	s->snapshot.balance.residual_known = true;
	s->snapshot.balance.anon_residual = INT64_MIN;
	s->snapshot.balance.mapped_residual = -4096;
	s->snapshot.system.zram[0].stat.used = UINT64_MAX;
	s->snapshot.time_ms = -1;
	sample_finish(s, 2);
	text_of(s, &out, 0);
	assert_line(strbuf_str(&out), "zmem_group_swap_bytes{group=\"big\"} 9007199254740991");
	assert_null(strstr(strbuf_str(&out), "zmem_group_swap_bytes{group=\"bigger\"}"));
	assert_null(strstr(strbuf_str(&out), "resident"));
	assert_null(strstr(strbuf_str(&out), "zmem_memory_total_bytes"));
	assert_null(strstr(strbuf_str(&out), "anon_residual"));
	assert_line(strbuf_str(&out), "zmem_memory_mapped_residual_bytes -4096");
	assert_null(strstr(strbuf_str(&out), "zram_used"));
	assert_null(strstr(strbuf_str(&out), "timestamp"));
}
