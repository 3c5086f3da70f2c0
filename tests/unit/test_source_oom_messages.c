// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages about OOM kills: kills that are read while the kernel writes them, and lost messages. */
#include "unit.h"

#include "source/oom_messages.h"
#include "zmem/oom.h"

struct fixture {
	struct oom_messages messages;
	struct oom_kill kill;
	struct snapshot snapshot;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (!f)
		return -1;
	f->messages.limits = (struct decode_limits){.page_size = 4096, .ram_bytes = 1ull << 30};
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	oom_messages_done(&f->messages);
	snapshot_done(&f->snapshot);
	free(f);
	return 0;
}

static void add_process(struct fixture *f, uint32_t kill, enum zmem_oom_what what, int pid)
{
	struct zmem_oom_record r = {
		.head = {what, kill},
		.count = {pid, pid + 1, pid + 2, pid + 3},
		.record = {.size = sizeof(r.record),
			   .version = ZMEM_RECORD_VERSION,
			   .kind = ZMEM_PROCESS,
			   .valid = ZMEM_VALID_RSS,
			   .pid = pid,
			   .threads = 1,
			   .comm = "a comm",
			   .rss = {1, 2, 3, 4}},
	};

	oom_messages_add(&f->messages, &r, sizeof(r));
}

static void add_end(struct fixture *f, uint32_t kill, int pid)
{
	struct zmem_oom_end end = {.head = {ZMEM_OOM_END, kill}, .pid = pid, .tid = pid + 1};

	oom_messages_add(&f->messages, &end, sizeof(end));
}

static int next(struct fixture *f)
{
	return oom_messages_next(&f->messages, &f->kill, &f->snapshot);
}

static void assert_kill(struct fixture *f, int pid, size_t processes, uint32_t missed)
{
	assert_int_equal(next(f), 1);
	assert_int_equal(f->kill.pid, pid);
	assert_int_equal(f->kill.kernel_pid, pid);
	assert_int_equal(f->kill.kernel_tid, pid + 1);
	assert_int_equal(f->kill.missed, missed);
	assert_int_equal(f->snapshot.count, processes);
	assert_true(f->kill.counts_known);
	assert_int_equal(f->kill.count[0], (pid + ZMEM_RSS_ANON) * 4096);
	assert_int_equal(f->kill.count[2], (pid + ZMEM_RSS_SHMEM) * 4096);
	assert_non_null(snapshot_find(&f->snapshot, pid));
}

static void assert_none(struct fixture *f)
{
	assert_int_equal(next(f), 0);
	assert_int_equal(f->snapshot.count, 0);
	assert_int_equal(f->kill.pid, 0);
}

FIXTURE_TEST(kills)
{
	assert_none(f);
	add_process(f, 1, ZMEM_OOM_VICTIM, 10);
	add_process(f, 1, ZMEM_OOM_PROCESS, 11);
	add_end(f, 1, 10);
	add_process(f, 2, ZMEM_OOM_VICTIM, 20);
	add_end(f, 2, 20);
	assert_kill(f, 10, 2, 0);
	assert_kill(f, 20, 1, 0);
	assert_none(f);
	assert_int_equal(f->messages.bytes.len, 0);
}

/* The messages of a kill come one by one, and each is looked at as soon as it is there. */
FIXTURE_TEST(incomplete)
{
	for (uint32_t kill = 1; kill <= 3; kill++) {
		int pid = (int)kill * 10;

		add_process(f, kill, ZMEM_OOM_VICTIM, pid);
		assert_none(f);
		add_process(f, kill, ZMEM_OOM_PROCESS, pid + 1);
		assert_none(f);
		assert_none(f);
		add_end(f, kill, pid);
		assert_kill(f, pid, 2, 0);
	}
	assert_none(f);
}

/* The second of two is incomplete. */
FIXTURE_TEST(incomplete_behind)
{
	add_process(f, 1, ZMEM_OOM_VICTIM, 10);
	add_end(f, 1, 10);
	add_process(f, 2, ZMEM_OOM_VICTIM, 20);
	assert_kill(f, 10, 1, 0);
	assert_none(f);
	add_process(f, 2, ZMEM_OOM_PROCESS, 21);
	add_end(f, 2, 20);
	assert_kill(f, 20, 2, 0);
	assert_none(f);
}

/* The ring had no room for the end of a kill, or for all of it. */
FIXTURE_TEST(lost)
{
	add_process(f, 1, ZMEM_OOM_VICTIM, 10);
	add_process(f, 1, ZMEM_OOM_PROCESS, 11);
	assert_none(f);
	add_process(f, 3, ZMEM_OOM_VICTIM, 30);
	add_end(f, 3, 30);
	assert_kill(f, 30, 1, 2);
	assert_null(snapshot_find(&f->snapshot, 10));
	assert_none(f);
	/* A kill without its victim. */
	add_end(f, 4, 10);
	assert_int_equal(next(f), 1);
	assert_int_equal(f->kill.pid, 0);
	assert_int_equal(f->kill.kernel_pid, 10);
	assert_false(f->kill.counts_known);
	assert_none(f);
}

FIXTURE_TEST(bad)
{
	static const struct zmem_oom_head heads[] = {{ZMEM_OOM_END, 1}, {ZMEM_OOM_VICTIM, 1}};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		oom_messages_add(&f->messages, &heads[i], sizeof(heads[i]));
		assert_int_equal(next(f), -EBADMSG);
		assert_none(f);
	}
	/* Neither a head nor a message. */
	oom_messages_add(&f->messages, heads, 1);
	oom_messages_add(&f->messages, heads, 1 << 20);
	assert_int_equal(f->messages.bytes.len, 0);
	add_process(f, 1, ZMEM_OOM_VICTIM, 10);
	add_end(f, 1, 10);
	assert_kill(f, 10, 1, 0);
}
