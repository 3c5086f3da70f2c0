// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Swap in the total line, and a total without words. */
#include "unit.h"

#include "report/summary.h"
#include "write/text.h"
#include "sample.h"
#include "report/report.h"

static void check_swap(const struct sample *s, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {0};
	const char *swap;

	summary_print(&out, &s->result, &(struct table_style){});
	swap = strstr(strbuf_str(&out), "swap in use");
	assert_string_equal(swap ? swap : "", want);
}

static void in_use(struct sample *s, uint64_t bytes, uint64_t unattributed)
{
	sample_meminfo(&s->snapshot.system.meminfo, MEMINFO_SWAP_TOTAL, 2 * GIB);
	sample_meminfo(&s->snapshot.system.meminfo, MEMINFO_SWAP_FREE, 2 * GIB - bytes);
	s->snapshot.balance.swap_unattributed = unattributed;
}

SAMPLE_TEST(swap, sample_ordinary)
{
	in_use(s, 120 * MIB, 40 * MIB);
	check_swap(
		s,
		"swap in use 120 MiB = 80.0 MiB of processes + 40.0 MiB of shmem, tmpfs and swap cache\n");
	in_use(s, 120 * MIB, 120 * MIB);
	check_swap(
		s,
		"swap in use 120 MiB = 0 of processes + 120 MiB of shmem, tmpfs and swap cache\n");
	s->snapshot.collection.hidden = true;
	check_swap(s, "swap in use 120 MiB = 0 of processes + 120 MiB of hidden processes, "
		      "shmem, tmpfs and swap cache\n");
	/* It is not known, or exceeds swap in use. */
	s->snapshot.balance.swap_unattributed_known = false;
	check_swap(s, "swap in use 120 MiB\n");
	s->snapshot.balance.swap_unattributed_known = true;
	s->snapshot.balance.swap_unattributed = GIB;
	check_swap(s, "swap in use 120 MiB\n");
	in_use(s, 0, 0);
	check_swap(s, "");
	in_use(s, 120 * MIB, 0);
	/* Filtered rows are not the whole machine. */
	s->snapshot.collection.filtered = 1;
	check_swap(s, "");
	s->snapshot.collection.filtered = 0;
	sample_meminfo(&s->snapshot.system.meminfo, MEMINFO_SWAP_FREE, 3 * GIB);
	check_swap(s, "");
	s->snapshot.system.meminfo.have = 0;
	check_swap(s, "");
}

static void check_says(const struct sample *s, const char *want, bool says)
{
	cleanup(strbuf_done) struct strbuf out = {0};

	summary_print(&out, &s->result, &(struct table_style){});
	assert_int_equal(!!strstr(strbuf_str(&out), want), says);
}

/* Swap beside a node with room, and a process far from its memory. */
SAMPLE_TEST(not_seen, sample_ordinary)
{
	check_says(s, "incomplete", false);
	s->snapshot.collection.not_seen = 1;
	check_says(s, " shows 1 process that BPF does not see (--source proc shows it)\n", true);
	s->snapshot.recorded = true;
	check_says(s, "; incomplete: /proc shows 1 process that BPF does not see\n", true);
	s->snapshot.collection.not_seen = 12;
	check_says(s, "; incomplete: /proc shows 12 processes that BPF does not see\n", true);
	s->snapshot.recorded = false;
	for (int i = 0; i < NOT_SEEN_PIDS; i++)
		s->snapshot.collection.not_seen_pid[i] = 10 + i;
	check_says(s, " does not see: pids 10, 11, 12, 13, 14, 7 more (--source proc shows them)\n",
		   true);
	s->snapshot.collection.not_seen = NOT_SEEN_PIDS;
	check_says(s, " does not see: pids 10, 11, 12, 13, 14 (--source proc shows them)\n", true);
	s->snapshot.collection.not_seen = 1;
	s->snapshot.collection.not_seen_pid[1] = 0;
	check_says(s, "1 process that BPF does not see: pid 10 (--source proc shows it)\n", true);
	in_use(s, 120 * MIB, 120 * MIB);
	check_says(s, " of hidden processes, shmem, tmpfs", true);
}

/* --verify all: the counts add up. */
SAMPLE_TEST(all_checked, sample_ordinary)
{
	struct cross_check *c;

	c = &s->snapshot.collection.cross_check;
	*c = (struct cross_check){.checked = 47, .same = 47, .done = true, .all = true};
	check_says(s, "; checked with smaps_rollup: 47 agree\n", true);
	c->self = 1;
	check_says(s, "47 agree, 1 not checked (zmem-bpf itself)\n", true);
	c->ended = 1;
	c->denied = 2;
	c->unread = 3;
	c->gone = 4;
	check_says(s, "47 agree, 5 ended, 6 not checked (2 denied, 3 not read, zmem-bpf itself)\n",
		   true);
}

/* In a series a snapshot may show the comparison of an earlier one. */
SAMPLE_TEST(checked_before, sample_ordinary)
{
	struct cross_check *c = &s->snapshot.collection.cross_check;

	*c = (struct cross_check){.checked = 3, .same = 3, .done = true, .snapshots_ago = 1};
	check_says(s, ", 3 of 3 spot checks agree (1 snapshot ago)\n", true);
	c->snapshots_ago = 9;
	check_says(s, ", 3 of 3 spot checks agree (9 snapshots ago)\n", true);
	c->snapshots_ago = 0;
	check_says(s, ", 3 of 3 spot checks agree\n", true);
}

SAMPLE_TEST(selection, sample_ordinary)
{
	check_says(s, "the recording holds", false);
	s->snapshot.selection = "--user a\033[2J --pid 3";
	check_says(s, "\033", false);
	check_says(s, "; the recording holds only --user a", true);
}

SAMPLE_TEST(freed, sample_ordinary)
{
	for (size_t i = 0; i < s->result.row_count; i++)
		s->result.rows[i].process->status[VALUE_FREED] = PSS_SKIPPED;
	check_says(s, "FREED of", false);
	s->result.rows[0].process->status[VALUE_FREED] = PSS_RACED;
	check_says(s, "\nFREED of 1 row is not known: 1 raced\n", true);
	s->result.rows[1].process->status[VALUE_FREED] = PSS_REFERENCED;
	s->result.rows[2].process->status[VALUE_FREED] = PSS_RACED;
	check_says(s, "\nFREED of 3 rows is not known: 2 raced, 1 another_reference\n", true);
	process_set(s->result.rows[0].process, COUNTER_FREED, 0);
	process_set(s->result.rows[2].process, COUNTER_FREED, 0);
	check_says(s, "\nFREED of 1 row is not known: 1 another_reference\n", true);
}

/* Said only if it is much, and if no process is hidden or filtered. */
SAMPLE_TEST(shmem, sample_ordinary)
{
	static const char line[] =
		"\nshared memory and tmpfs in no PSS: 2.00 GiB (zmem-bpf files)\n";

	s->snapshot.balance.shmem_not_in_pss_known = true;
	s->snapshot.balance.shmem_not_in_pss = 2 * GIB;
	check_says(s, line, true);
	s->snapshot.collection.hidden = true;
	check_says(s, "in no PSS", false);
	s->snapshot.collection.hidden = false;
	s->snapshot.collection.filtered = 1;
	check_says(s, "in no PSS", false);
	s->snapshot.collection.filtered = 0;
	s->snapshot.balance.shmem_not_in_pss = 511 * MIB; /* less than a 32nd of RAM */
	check_says(s, "in no PSS", false);
	s->snapshot.balance.shmem_not_in_pss = 512 * MIB;
	check_says(s, "in no PSS", true);
}

static void check_notes(const struct sample *s, const char *sorted, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {0};

	summary_print_notes(&out, &s->result,
			    &(struct table_style){.sorted = process_field(sorted)});
	assert_string_equal(strbuf_str(&out), want);
}

SAMPLE_TEST(notes, sample_ordinary)
{
	in_use(s, 4096, 0);
	check_notes(s, "swap", "");
	in_use(s, 0, 0);
	check_notes(s, "pss", "");
	check_notes(s, "name", "");
	check_notes(s, "swap", "no swap is in use\n");
	check_notes(s, "swap_pss", "no swap is in use\n");
	check_notes(s, "%swap", "no swap is in use\n");
	/* It is not known. */
	s->snapshot.system.meminfo.have = 0;
	check_notes(s, "swap", "");
	check_notes(s, "maps",
		    "the rows are sorted by MAPS, which none of them has: unsupported\n");
	check_notes(s, "gpu", "the rows are sorted by GPU, which none of them has: skipped\n");
	check_notes(s, "pod", "the rows are sorted by POD, which none of them has\n");
	process_set(s->result.rows[0].process, COUNTER_MAPS, 1);
	check_notes(s, "maps", "");
	s->result.group = process_field("container");
	check_notes(s, "pss", "");
	s->result.row_count = 1;
	s->result.rows[0].process->container = "web";
	check_notes(s, "pss", "");
	s->result.rows[0].process->container = NULL;
	check_notes(s, "pss", "no container was found\n");
	s->result.group = process_field("user");
	s->result.rows[0].process->user = NULL;
	check_notes(s, "pss", "");
}

TEST(counters_alone)
{
	static const struct {
		const char *columns;
		bool bytes;
		const char *want;
	} is[] = {{"rss", false, "1.38 GiB\n"},
		  {"pid,rss,name,swap,user", false, "1.38 GiB  301 MiB\n"},
		  {"pid,rss,name,swap,user", true, "1476399104  315836416\n"},
		  {"pid,name", false, "\n"}};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		cleanup(strbuf_done) struct strbuf out = {0};
		struct field_list list = {.count = 0};
		struct table_style style = {
			.only_total = true, .bytes = is[i].bytes, .columns = &list};
		struct field_error bad;
		struct sample s;

		sample_ordinary(&s);
		assert_int_equal(field_list_parse(&list, &process_fields, is[i].columns, &bad), 0);
		render_table(&out, &s.result, &style);
		assert_string_equal(strbuf_str(&out), is[i].want);
	}
}

/* Later lines begin below the first one, and a word that is too wide is not broken. */
TEST(indented)
{
	cleanup(strbuf_done) struct strbuf out = {0};

	text_put_folded(&out, "one two three incomprehensible four", 4, 12);
	assert_string_equal(strbuf_str(&out),
			    "one two\n    three\n    incomprehensible\n    four\n");
	strbuf_clear(&out);
	text_put_folded(&out, "", 4, 12);
	assert_string_equal(strbuf_str(&out), "\n");
}

SAMPLE_TEST(no_process, sample_ordinary)
{
	cleanup(strbuf_done) struct strbuf out = {0};

	s->result.totals.processes = 0;
	summary_print(
		&out, &s->result,
		&(struct table_style){.width = 30, .nothing = "no process matches --user a\033b"});
	assert_string_equal(strbuf_str(&out), "no process matches --user\na\\x1bb\n");
}
