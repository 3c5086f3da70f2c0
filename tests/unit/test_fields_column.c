// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of columns: their names, their values, lists of them. */
#include "unit.h"

#include <strings.h>
#include <ctype.h>

#include "base/strbuf.h"
#include "fields/process_fields.h"

static const struct field *find(const char *key)
{
	return process_field(key);
}

static void assert_list(const struct field_list *list, const char *want)
{
	cleanup(strbuf_done) struct strbuf b = {0};

	for (size_t i = 0; i < list->count; i++)
		strbuf_printf(&b, "%s%s", i ? " " : "", list->item[i]->key);
	assert_string_equal(strbuf_str(&b), want);
}

TEST(counter_table)
{
	assert_int_equal(counter_table[COUNTER_SWAP].bound, 0);
	assert_int_equal(counter_table[COUNTER_PSS].bound, COUNTER_BIT(COUNTER_RSS));
	assert_int_equal(counter_table[COUNTER_PSS_SWAP].bound,
			 COUNTER_BIT(COUNTER_RSS) | COUNTER_BIT(COUNTER_SWAP));
	for (int c = 0; c < COUNTER_COUNT; c++) {
		counter_mask bound = counter_table[c].bound;

		/* A counter that is always known needs no bound, and only such are bounds. */
		assert_true(counter_table[c].origin != ORIGIN_KERNEL || !bound);
		for (int b = 0; b < COUNTERS_OF_PROCESS; b++)
			assert_true(!(bound & COUNTER_BIT(b)) ||
				    counter_table[b].origin == ORIGIN_KERNEL);
	}
}

TEST(numbers)
{
	/* In recordings, those of a process and those of a memcg have numbers of their own. */
	for (int c = 0; c < COUNTER_COUNT; c++) {
		for (int b = 0; b < c; b++)
			assert_true(counter_table[c].number != counter_table[b].number ||
				    counter_table[c].number == NOT_STORED ||
				    (c >= COUNTERS_OF_PROCESS) != (b >= COUNTERS_OF_PROCESS));
	}
}

TEST(table)
{
	struct field_list all = {.count = process_fields.since};

	for (size_t i = 0; i < process_fields.since; i++) {
		const struct field *c = process_fields.item[i];

		all.item[i] = c;
		assert_non_null(c->heading);
		assert_non_null(c->help);
		assert_int_equal(c->json_len, strlen(c->json_text));
		/* Each column is found by its own name only, which has no capitals. */
		assert_ptr_equal(find(c->key), c);
		for (const char *k = c->key; *k; k++)
			assert_false(isupper(*k));
	}
	assert_list(
		&all,
		"pid ppid user uid comm name app cmdline unit container pod namespace cgroup threads procs start "
		"oom_score_adj swap swap_pss swap_shmem swap_ram swap_ram_zram swap_ram_zswap "
		"swap_incompressible swap_filled swap_disk uss freed pss pss_anon pss_file "
		"pss_shmem pss_swap shared rss rss_anon rss_file rss_shmem peak vsize locked "
		"pinned pgtables hugetlb hugetlb_pss lazyfree thp thp_rest gpu dmabuf kernel maps majflt swapins mem_wait mem_current mem_limit mem_high "
		"mem_working_set mem_anon mem_file mem_shmem mem_slab mem_swap mem_swap_limit "
		"mem_zswap oom_kills psi_some_10 psi_full_10 mem_kernel mem_pagetables mem_percpu mem_sock "
		"nearest_limit mem_left limit_up under_oom refaults reclaimed limit_hits high_hits "
		"mem_peak refaults_per_s reclaimed_per_s limit_hits_per_s high_hits_per_s mem_memsw mem_memsw_limit node0 node1 node2 node3 node4 node5 node6 "
		"node7 node8 node9 node10 node11 node12 node13 node14 node15 %pss %swap swap_ratio %limit %nearest strain pss_source "
		"pss_status mm_id "
		"mm_owner counters_source swap_pss_status swap_shmem_status "
		"swap_ram_status freed_status lazyfree_status hugetlb_pss_status thp_rest_status nodes_status "
		"gpu_status dmabuf_status kernel_status maps_status swapins_status mem_wait_status exe_deleted_status exe_deleted container_id container_status");
}

TEST(find)
{
	assert_ptr_equal(find("PID"), find("pid"));
	assert_ptr_equal(find("Rss_Anon"), find("rss_anon"));
	assert_ptr_equal(find("%PSS"), find("%pss"));
	assert_ptr_equal(fields_find(&process_fields, "rss,pss", 3), find("rss"));
	/* By the heading of a table. */
	assert_ptr_equal(find("psi_some"), find("psi_some_10"));
	assert_ptr_equal(find("%RAM"), find("%pss"));
	assert_ptr_equal(find("PSS+SWAP"), find("pss_swap"));
	for (size_t i = 0; i < process_fields.since; i++) {
		const struct field *c = process_fields.item[i];
		unsigned same = 0;

		for (size_t k = 0; k < process_fields.since; k++)
			same += !strcasecmp(process_fields.item[k]->heading, c->heading);
		if (same == 1)
			assert_ptr_equal(find(c->heading), c);
	}
	assert_null(find(""));
	assert_null(find("rs"));
	assert_null(find("rss_"));
	assert_null(find("proc"));
	assert_null(fields_find(&process_fields, "pid\0", 4));
}

/* Of a group with these values, except the one that is not known. */
static void assert_percent(const struct snapshot *s, const char *key, const uint64_t *value,
			   enum counter unknown, double want)
{
	struct charges charged = {};
	struct process p = {.charged = &charged};
	struct row row = {.process = &p};
	const struct field *f = find(key);
	struct value v;

	for (int c = 0; c < COUNTER_COUNT; c++) {
		if (c != (int)unknown)
			process_set(&p, (enum counter)c, value[c]);
	}
	v = f->get(f, &row, s);
	assert_int_equal(v.known, want != -1);
	assert_true(!v.known || v.percent == want);
}

TEST(percent)
{
	struct snapshot s = {0};
	struct meminfo *m = &s.system.meminfo;
	uint64_t value[COUNTER_COUNT] = {
		[COUNTER_PSS] = 1000,	  [COUNTER_SWAP] = 1000,	[COUNTER_MEM_CURRENT] = 30,
		[COUNTER_MEM_LIMIT] = 40, [COUNTER_NEAREST_LIMIT] = 50, [COUNTER_MEM_LEFT] = 5};

	assert_percent(&s, "%pss", value, COUNTER_COUNT, -1);
	m->have = 1U << MEMINFO_TOTAL | 1U << MEMINFO_SWAP_TOTAL;
	m->value[MEMINFO_TOTAL] = 8000;
	assert_percent(&s, "%swap", value, COUNTER_COUNT, -1);
	m->value[MEMINFO_SWAP_TOTAL] = 2000;
	assert_percent(&s, "%pss", value, COUNTER_PSS, -1);
	assert_percent(&s, "%pss", value, COUNTER_COUNT, 12.5);
	assert_percent(&s, "%swap", value, COUNTER_COUNT, 50);
	assert_percent(&s, "%limit", value, COUNTER_COUNT, 75);
	assert_percent(&s, "%limit", value, COUNTER_MEM_LIMIT, -1);
	assert_percent(&s, "%nearest", value, COUNTER_COUNT, 90);
	assert_percent(&s, "%nearest", value, COUNTER_NEAREST_LIMIT, -1);
	value[COUNTER_NEAREST_LIMIT] = value[COUNTER_MEM_LEFT] = 0;
	assert_percent(&s, "%nearest", value, COUNTER_COUNT, 100);
	value[COUNTER_SWAP_PSS] = 100;
	value[COUNTER_SWAP_DISK] = 20;
	assert_percent(&s, "swap_ratio", value, COUNTER_COUNT, -1);
	value[COUNTER_SWAP_RAM] = 32;
	assert_percent(&s, "swap_ratio", value, COUNTER_COUNT, 2.5);
}

TEST(default)
{
	struct field_list list;

	process_list_columns(&list, &columns_usual, NULL);
	assert_list(&list, "pid user pss %pss uss swap_pss rss name");
	assert_int_equal(field_list_needs(&list), NEEDS_USER | NEEDS_PROGRAM);
	field_list_insert(&list, 1, find("cmdline"));
	assert_int_equal(field_list_needs(&list), NEEDS_USER | NEEDS_PROGRAM | NEEDS_CMDLINE);
	process_list_columns(&list, &columns_long, NULL);
	assert_list(
		&list,
		"pid user pss %pss uss swap_pss swap rss rss_anon rss_file rss_shmem kernel name");
	process_list_columns(&list, &columns_watch, NULL);
	assert_list(&list, "pid user pss pss_change swap_pss swap_pss_change rss rss_change name");
}

TEST(groups)
{
	struct field_list list;

	process_list_columns(&list, &columns_usual, find("user"));
	assert_list(&list, "procs pss %pss uss swap_pss rss user");
	/* A namespace is no cgroup. */
	process_list_columns(&list, &columns_usual, find("namespace"));
	assert_list(&list, "procs pss %pss uss swap_pss rss namespace");
	process_list_columns(&list, &columns_usual, find("unit"));
	assert_list(&list,
		    "procs pss %pss mem_current nearest_limit limit_up %nearest uss swap_pss rss "
		    "mem_anon mem_file mem_shmem mem_kernel unit");
	assert_int_equal(field_list_needs(&list), NEEDS_CGROUP | NEEDS_MEMCG | NEEDS_MEMCG_DETAIL);
	field_list_insert(&list, 1, find("threads"));
	field_list_insert(&list, 1, find("rss"));
	assert_list(
		&list,
		"procs threads pss %pss mem_current nearest_limit limit_up %nearest uss swap_pss rss "
		"mem_anon mem_file mem_shmem mem_kernel unit");
	process_list_whole(&list, find("name"));
	assert_ptr_equal(list.item[0], find("name"));
	assert_ptr_equal(list.item[1], find("procs"));
	assert_ptr_equal(list.item[list.count - 1], find("mem_wait"));
	process_list_whole(&list, find("container"));
	assert_ptr_equal(list.item[list.count - 1], find("strain"));
	process_list_whole(&list, NULL);
	assert_ptr_equal(list.item[list.count - 1], find("mem_wait"));
}

/* Columns that only a process has are absent from a group. */
TEST(group_values)
{
	struct snapshot s = {.host.boot_ms = 1000};
	struct process g = {.kind = PROCESS_SUM, .threads = 9, .uid = UID_NONE};
	const struct row row = {&g, .procs = 7};

	for (size_t i = 0; i < process_fields.since; i++) {
		const struct field *f = process_fields.item[i];
		bool has = strcmp(f->key, "procs") == 0 || strcmp(f->key, "threads") == 0 ||
			   strstr(f->key, "_status");

		if (strcmp(f->key, "container_status") != 0)
			assert_int_equal(field_value(f, &row, &s).known, has);
	}
	assert_int_equal(field_value(find("procs"), &row, &s).number, 7);
}

TEST(parse)
{
	static const struct {
		const char *spec, *want, *bad; /* bad: the part that is refused */
	} cases[] = {
		{"pid,rss", "pid rss"},
		{"PID, Rss", "pid rss"},
		{"rss,rss", "rss rss"},
		{"+cmdline", "pid name cmdline"},
		{"+rss,+pss", "pid rss pss name"},
		{"+rss,pss", "pid rss pss name"},
		{"+rss,+name,+rss", "pid rss name"},
		{"+name", "pid name"},
		{"+cmdline,+rss", "pid name rss cmdline"},
		{"pid,nix,rss", "pid name", "nix"},
		{"pid,+rss", "pid name", "+rss"},
		{"+", "pid name", "+"},
		{"+rss,+", "pid name", "+"},
		{"+nix", "pid name", "+nix"},
		{"pid:rss", "pid name", "pid:rss"},
		{"", "pid name", ""},
		{",", "pid name", ","},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct field_list list = {{find("pid"), find("name")}, 2};
		struct field_error bad = {};
		int r = field_list_parse(&list, &process_fields, cases[i].spec, &bad);

		assert_int_equal(r, cases[i].bad ? -EINVAL : 0);
		assert_list(&list, cases[i].want);
		assert_int_equal(bad.name != NULL, r < 0);
		if (r < 0) {
			assert_int_equal(bad.len, strlen(cases[i].bad));
			assert_memory_equal(bad.name, cases[i].bad, bad.len);
		}
	}
}
