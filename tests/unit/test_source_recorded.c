// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel's records on a tape: given back as they were taken, and nothing believed of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "source/source_replay.h"
#include "tape_round.h"
#include "zmem/record.h"
#include "source/source.h"

#define PAGE 8192 /* of the machine that was recorded, not of this one */

static struct zmem_pss_record sample(int pid, int anon_pages)
{
	struct zmem_pss_record r = {
		.record = {.size = sizeof(r),
			   .version = ZMEM_RECORD_VERSION,
			   .kind = ZMEM_PROCESS,
			   .valid = ZMEM_VALID_RSS | ZMEM_VALID_VM | ZMEM_VALID_PINNED |
				    ZMEM_VALID_PGTABLE | ZMEM_VALID_HUGETLB | ZMEM_VALID_SHARING |
				    ZMEM_VALID_PAGES,
			   .pid = pid,
			   .start_boottime_ns = 1000000000,
			   .comm = "comm",
			   .mm_id = (uint64_t)pid,
			   .rss = {[ZMEM_RSS_ANON] = anon_pages}},
		.pages = {.rss = {[ZMEM_RSS_ANON] = anon_pages}, .flags = ZMEM_WALK_EXCLUSIVE},
	};

	return r;
}

static void keep(struct tape *t, int pid, int anon_pages)
{
	struct zmem_pss_record r = sample(pid, anon_pages);

	recorded_keep_record(t, &r);
}

static void keep_list(struct tape *t, pid_t a, pid_t b)
{
	pid_t pids[] = {a, b};

	assert_int_equal(tape_put_pids(t, "records", pids, b ? 2 : 1), 0);
}

static struct tape *session_tape(const char *refusal)
{
	const struct recorded_facts facts = {"a name", FROM_BPF, PAGE, refusal};
	cleanup(diag_clear) struct diag diag = {};
	struct tape *t = tape_blank();

	diag_add(&diag, "first", -ENOENT, NULL, "no %s", "kfunc");
	diag_add(&diag, "second", -EPERM, "be root", "refused");
	recorded_keep_facts(t, &facts, &diag);
	recorded_keep_ram(t, 1ull << 30);
	return t;
}

struct played {
	struct round round;
	struct procfs proc;
	struct diag diag;
	struct source *source;
	struct snapshot snapshot;
};

static int play(struct played *p, struct tape *t, bool pss)
{
	const struct source_request request = {.pss = pss};

	*p = (struct played){};
	round_play(&p->round, t);
	procfs_replay(&p->proc, p->round.tape);
	return source_open(&request, &p->proc, &p->diag, &p->source);
}

static void played_done(struct played *p)
{
	source_close(p->source);
	snapshot_done(&p->snapshot);
	diag_clear(&p->diag);
	round_done(&p->round);
}

static void expect_anon(const struct played *p, pid_t pid, uint64_t pages)
{
	const struct process *found = snapshot_find(&p->snapshot, pid);

	assert_non_null(found);
	assert_int_equal(found->value[COUNTER_RSS_ANON], pages * PAGE);
}

static void test_facts(void **state)
{
	cleanup(played_done) struct played p = {};

	(void)state;
	assert_int_equal(play(&p, session_tape("of a reason"), true), 0);
	assert_string_equal(source_name(p.source), "a name");
	assert_int_equal(source_origin(p.source), FROM_BPF);
	assert_string_equal(source_pss_refusal(p.source), "of a reason");
	assert_int_equal(p.diag.count, 2);
	assert_string_equal(p.diag.note[0].subject, "first");
	assert_string_equal(p.diag.note[0].reason, "no kfunc");
	assert_null(p.diag.note[0].hint);
	assert_int_equal(p.diag.note[1].error, -EPERM);
	assert_string_equal(p.diag.note[1].hint, "be root");
}

static bool no_memory;

/* In place of the C library's. */
char *strdup(const char *s)
{
	size_t size = strlen(s) + 1;
	char *copy = no_memory ? NULL : malloc(size);

	return copy ? memcpy(copy, s, size) : NULL;
}

/* Why there is no PSS must not be lost: it would seem to come from the kernel. */
static void test_no_memory(void **state)
{
	static const struct {
		const char *refusal;
		bool pss;
	} cases[] = {{"of a reason", true}, {NULL, false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(played_done) struct played p = {};
		struct tape *t = session_tape(cases[i].refusal);

		no_memory = true;
		assert_int_equal(play(&p, t, cases[i].pss), -ENOMEM);
		no_memory = false;
		assert_null(p.source);
	}
}

static void test_collections(void **state)
{
	cleanup(played_done) struct played p = {};
	struct tape *t = session_tape(NULL);
	struct process wanted = {.pid = 5}, *row[] = {&wanted};

	(void)state;
	keep(t, 5, 10);
	keep(t, 7, 20);
	keep_list(t, 5, 7);
	keep(t, 5, 11); /* a visit */
	keep(t, 5, 12);
	keep(t, 9, 30);
	keep_list(t, 5, 9); /* 7 has ended, 9 was started */
	recorded_keep_missing(t, 5, -ESRCH);
	assert_int_equal(play(&p, t, true), 0);
	assert_null(source_pss_refusal(p.source));

	assert_int_equal(source_collect(p.source, &p.snapshot), 0);
	assert_int_equal(p.snapshot.count, 2);
	assert_int_equal(p.snapshot.host.page_size, PAGE);
	expect_anon(&p, 5, 10);
	expect_anon(&p, 7, 20);
	assert_int_equal(p.snapshot.process[0].pss_source, PSS_FROM_KERNEL);
	assert_int_equal(p.snapshot.process[0].value[COUNTER_PSS], 10 * PAGE);

	assert_int_equal(source_collect_some(p.source, row, 1, &p.snapshot), 0);
	assert_int_equal(p.snapshot.count, 1);
	expect_anon(&p, 5, 11);

	assert_int_equal(source_collect(p.source, &p.snapshot), 0);
	assert_int_equal(p.snapshot.count, 2);
	expect_anon(&p, 5, 12);
	expect_anon(&p, 9, 30);

	assert_int_equal(source_collect_some(p.source, row, 1, &p.snapshot), 0);
	assert_int_equal(p.snapshot.count, 0);
	/* What was never read is not there. */
	wanted.pid = 6;
	assert_int_equal(source_collect_some(p.source, row, 1, &p.snapshot), 0);
	assert_int_equal(p.snapshot.count, 0);
}

static void test_without_pages(void **state)
{
	cleanup(played_done) struct played p = {};
	struct tape *t = session_tape(NULL);

	(void)state;
	keep(t, 5, 10);
	keep_list(t, 5, 0);
	assert_int_equal(play(&p, t, false), 0);
	assert_non_null(source_pss_refusal(p.source));
	assert_int_equal(source_collect(p.source, &p.snapshot), 0);
	expect_anon(&p, 5, 10);
	assert_int_equal(p.snapshot.process[0].pss_status, PSS_SKIPPED);
	assert_false(process_has(&p.snapshot.process[0], COUNTER_PSS));
}

/* A group that the kernel side lacks comes from /proc, and so it does from a tape. */
static void test_filled_from_proc(void **state)
{
	cleanup(played_done) struct played p = {};
	struct tape *t = session_tape(NULL);
	struct zmem_pss_record r = sample(5, 10);

	(void)state;
	r.record.valid &= ~(uint32_t)ZMEM_VALID_VM;
	recorded_keep_record(t, &r);
	keep_list(t, 5, 0);
	tape_put_string(t, "5/status", "Uid:\t1\t1\t1\t1\nVmSize:\t 100 kB\nVmLck:\t 0 kB\n");
	assert_int_equal(play(&p, t, true), 0);
	assert_int_equal(source_collect(p.source, &p.snapshot), 0);
	assert_int_equal(p.snapshot.process[0].value[COUNTER_VSIZE], 100 * 1024);
}

static int collect_bytes(const char *key, const void *data, size_t len)
{
	cleanup(played_done) struct played p = {};
	struct tape *t = session_tape(NULL);

	tape_put(t, key, 0, data, len);
	keep_list(t, 5, 0);
	assert_int_equal(play(&p, t, true), 0);
	return source_collect(p.source, &p.snapshot);
}

static void test_lies(void **state)
{
	struct zmem_pss_record r = sample(5, 10);
	char more[sizeof(r) + 1] = {};
	cleanup(played_done) struct played none = {};

	(void)state;
	assert_int_equal(collect_bytes("5/record", &r, sizeof(r)), 0);
	for (size_t len = 0; len < sizeof(r); len++)
		assert_int_equal(collect_bytes("5/record", &r, len), -EBADMSG);
	memcpy(more, &r, sizeof(r));
	assert_int_equal(collect_bytes("5/record", more, sizeof(more)), -EBADMSG);
	r.record.pid = 6;
	assert_int_equal(collect_bytes("5/record", &r, sizeof(r)), -EBADMSG);
	r.record.pid = 5;
	r.record.version++;
	assert_int_equal(collect_bytes("5/record", &r, sizeof(r)), -EBADMSG);
	/* A list of whom there is no record makes nobody. */
	assert_int_equal(collect_bytes("7/record", &r, sizeof(r)), 0);
	assert_int_equal(play(&none, session_tape(NULL), true), 0);
	assert_int_equal(source_collect(none.source, &none.snapshot), -EBADMSG);
}

static int open_facts(const char *name, const char *origin, const char *page_size)
{
	cleanup(played_done) struct played p = {};
	struct tape *t = tape_blank();

	if (name)
		tape_put_string(t, "source/name", name);
	if (origin)
		tape_put_string(t, "source/origin", origin);
	if (page_size)
		tape_put_string(t, "source/page_size", page_size);
	return play(&p, t, true);
}

static void test_lies_of_facts(void **state)
{
	static const char *const bad[] = {"0",
					  "1",
					  "4095",
					  "4097",
					  "12288",
					  "524288",
					  "4294967296",
					  "18446744073709551616",
					  "-4096",
					  "x",
					  ""};

	(void)state;
	assert_int_equal(open_facts("n", "bpf", "4096"), 0);
	assert_int_equal(open_facts("n", "proc", "65536"), 0);
	assert_int_equal(open_facts(NULL, "bpf", "4096"), -EBADMSG);
	assert_int_equal(open_facts("n", NULL, "4096"), -EBADMSG);
	assert_int_equal(open_facts("n", "elsewhere", "4096"), -EBADMSG);
	assert_int_equal(open_facts("n", "bpf", NULL), -EBADMSG);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(open_facts("n", "bpf", bad[i]), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts),	      cmocka_unit_test(test_collections),
		cmocka_unit_test(test_without_pages), cmocka_unit_test(test_filled_from_proc),
		cmocka_unit_test(test_no_memory),     cmocka_unit_test(test_lies),
		cmocka_unit_test(test_lies_of_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
