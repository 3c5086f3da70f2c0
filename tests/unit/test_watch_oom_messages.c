// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages about OOM kills: kills that are read while the kernel writes them, and lost messages. */
#include "unit.h"

#include "watch/oom_messages.h"
#include "zmem/oom.h"

struct fixture {
	struct oom_messages messages;
	struct oom_kill kill;
	struct snapshot snapshot;
};

static void begin(struct fixture *f)
{
	f->messages.limits = (struct decode_limits){.page_size = 4096, .ram_bytes = 1ull << 30};
}

static void end(struct fixture *f)
{
	oom_messages_done(&f->messages);
	snapshot_done(&f->snapshot);
}

FIXTURE(begin, end)

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

/* The message without the names behind the last one. */
static void send_end(struct fixture *f, const struct zmem_oom_end *end)
{
	oom_messages_add(&f->messages, end,
			 offsetof(struct zmem_oom_end, names) +
				 (end->victim.words + end->root.words) * sizeof(*end->names));
}

static void add_end(struct fixture *f, uint32_t kill, int pid)
{
	struct zmem_oom_end end = {.head = {ZMEM_OOM_END, kill}, .pid = pid, .tid = pid + 1};

	send_end(f, &end);
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
	struct zmem_oom_end end = {.head = {ZMEM_OOM_END, 1}};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		oom_messages_add(&f->messages, &heads[i], sizeof(heads[i]));
		assert_int_equal(next(f), -EBADMSG);
		assert_none(f);
	}
	/* Not as long as it says. */
	for (uint32_t words = 0; words < 2; words++) {
		end.victim.words = words;
		oom_messages_add(&f->messages, &end,
				 offsetof(struct zmem_oom_end, names) +
					 !words * sizeof(*end.names));
		assert_int_equal(next(f), -EBADMSG);
		assert_none(f);
	}
	for (uint32_t words = ZMEM_OOM_PATH_WORDS; words <= ZMEM_OOM_PATH_WORDS + 1; words++) {
		end.victim.words = words;
		end.root.words = 2 * ZMEM_OOM_PATH_WORDS - words;
		send_end(f, &end);
		assert_int_equal(next(f), words == ZMEM_OOM_PATH_WORDS ? 1 : -EBADMSG);
		assert_none(f);
	}
	/* Neither a head nor a message. */
	oom_messages_add(&f->messages, heads, 1);
	oom_messages_add(&f->messages, heads, 1 << 20);
	assert_int_equal(f->messages.bytes.len, 0);
	add_process(f, 2, ZMEM_OOM_VICTIM, 10);
	add_end(f, 2, 10);
	assert_kill(f, 10, 1, 0);
}

/* ---- signals ---- */

/* `over`: those that the kernel left out until then; `sender`: 0: it is not known. */
static void add_signal(struct fixture *f, uint32_t over, int pid, int sender)
{
	const struct zmem_record record = {.size = sizeof(record),
					   .version = ZMEM_RECORD_VERSION,
					   .kind = ZMEM_PROCESS,
					   .threads = 1};
	struct zmem_oom_signal s = {.receiver = {.head = {ZMEM_OOM_SIGNAL, over},
						 .count = {1, 2, 3, 4},
						 .record = record},
				    .boottime_ns = 5,
				    .signal = 9};

	s.receiver.record.pid = pid;
	if (sender)
		s.sender = record;
	s.sender.pid = sender;
	s.cgroup = 77;
	s.path = (struct zmem_oom_path){ZMEM_OOM_PATH_KNOWN, 1, 1, 0};
	s.root = (struct zmem_oom_path){ZMEM_OOM_PATH_KNOWN, 0, 0, 0};
	memcpy(s.names, "web", 4);
	oom_messages_add(&f->messages, &s,
			 offsetof(struct zmem_oom_signal, names) + sizeof(*s.names));
}

static void assert_signal(struct fixture *f, int pid, int sender, uint32_t missed)
{
	assert_int_equal(oom_messages_next_signal(&f->messages, &f->kill, &f->snapshot), 1);
	assert_int_equal(f->kill.signal, 9);
	assert_int_equal(f->kill.boottime_ns, 5);
	assert_int_equal(f->kill.pid, pid);
	assert_int_equal(f->kill.sender, sender);
	assert_int_equal(f->kill.missed, missed);
	assert_int_equal(f->kill.cgroup_number, 77);
	assert_int_equal(f->kill.cgroup.status, ZMEM_OOM_PATH_KNOWN);
	assert_string_equal(f->kill.cgroup.path, "/web");
	assert_int_equal(f->snapshot.count, sender ? 2 : 1);
}

/* They come between the messages of a kill, in any order of two CPUs. */
FIXTURE_TEST(signals)
{
	add_process(f, 1, ZMEM_OOM_VICTIM, 10);
	add_signal(f, 0, 11, 12);
	add_process(f, 1, ZMEM_OOM_PROCESS, 11);
	add_signal(f, 3, 13, 0);
	add_signal(f, 2, 14, 12);
	add_signal(f, 4, 15, 12);
	add_end(f, 1, 10);
	assert_kill(f, 10, 2, 0);
	assert_signal(f, 11, 12, 0);
	assert_signal(f, 13, 0, 3);
	assert_signal(f, 14, 12, 0);
	assert_signal(f, 15, 12, 1);
	assert_none(f);
	assert_int_equal(oom_messages_next_signal(&f->messages, &f->kill, &f->snapshot), 0);
}

FIXTURE_TEST(bad_signals)
{
	const struct zmem_oom_signal bad = {.receiver.head.what = ZMEM_OOM_SIGNAL,
					    .path = {ZMEM_OOM_PATH_KNOWN, 1 << 30, 1, 0}};

	/* Of another length than it says; too short; too long. */
	oom_messages_add(&f->messages, &bad, sizeof(bad));
	oom_messages_add(&f->messages, &bad, offsetof(struct zmem_oom_signal, names) - 1);
	oom_messages_add(&f->messages, &bad, sizeof(bad) + 1);
	assert_int_equal(oom_messages_next_signal(&f->messages, &f->kill, &f->snapshot), -EBADMSG);
	assert_int_equal(f->kill.cgroup.status, ZMEM_OOM_PATH_NONE);
	assert_int_equal(oom_messages_next_signal(&f->messages, &f->kill, &f->snapshot), 0);
	assert_none(f);
}

/* ---- cgroups ---- */

/* Appends a name, as the kernel side does. */
static void put_name(struct zmem_oom_end *end, struct zmem_oom_path *path, const char *name)
{
	size_t words = strlen(name) / sizeof(*end->names) + 1;

	memcpy(end->names + end->victim.words + end->root.words, name, strlen(name));
	path->status = ZMEM_OOM_PATH_KNOWN;
	path->words += (uint32_t)words;
	path->levels++;
}

static void assert_cgroup(struct fixture *f, struct zmem_oom_end *end, const char *path,
			  const char *memory, const char *root)
{
	static uint32_t kill;

	end->head = (struct zmem_oom_head){ZMEM_OOM_END, ++kill};
	send_end(f, end);
	assert_int_equal(next(f), 1);
	assert_int_equal(f->kill.cgroup.status, ZMEM_OOM_PATH_KNOWN);
	assert_string_equal(f->kill.cgroup.path, path);
	assert_string_equal(f->kill.cgroup.memory, memory);
	assert_string_equal(f->kill.cgroup.root, root);
}

static void assert_no_cgroup(struct fixture *f, struct zmem_oom_end *end,
			     enum zmem_oom_path_status status)
{
	end->head = (struct zmem_oom_head){ZMEM_OOM_END, 1};
	send_end(f, end);
	assert_int_equal(next(f), 1);
	assert_int_equal(f->kill.cgroup.status, status);
	assert_string_equal(f->kill.cgroup.path, "");
	assert_string_equal(f->kill.cgroup.memory, "");
	assert_string_equal(f->kill.cgroup.root, "");
}

FIXTURE_TEST(cgroups)
{
	struct zmem_oom_end end = {.victim.status = ZMEM_OOM_PATH_KNOWN,
				   .root.status = ZMEM_OOM_PATH_KNOWN};

	assert_cgroup(f, &end, "/", "/", "/");
	put_name(&end, &end.victim, "x,task_memcg=y");
	assert_cgroup(f, &end, "/x,task_memcg=y", "/x,task_memcg=y", "/");
	put_name(&end, &end.victim, "12345678");
	put_name(&end, &end.victim, "a.slice");
	assert_cgroup(f, &end, "/a.slice/12345678/x,task_memcg=y",
		      "/a.slice/12345678/x,task_memcg=y", "/");
	put_name(&end, &end.root, "inner");
	put_name(&end, &end.root, "..b");
	end.victim.memory_up = 1;
	assert_cgroup(f, &end, "/a.slice/12345678/x,task_memcg=y", "/a.slice/12345678",
		      "/..b/inner");
	end.victim.memory_up = 3;
	assert_cgroup(f, &end, "/a.slice/12345678/x,task_memcg=y", "/", "/..b/inner");
}

FIXTURE_TEST(cgroups_that_are_not_known)
{
	static const char *const bad[] = {"", ".", "..", "a/b"};
	struct zmem_oom_end end = {.victim.status = ZMEM_OOM_PATH_NONE,
				   .root.status = ZMEM_OOM_PATH_KNOWN};

	assert_no_cgroup(f, &end, ZMEM_OOM_PATH_NONE);
	end.victim.status = ZMEM_OOM_PATH_LONG;
	assert_no_cgroup(f, &end, ZMEM_OOM_PATH_LONG);
	/* More names than there are, and one without an end. */
	end.victim = (struct zmem_oom_path){.status = ZMEM_OOM_PATH_KNOWN, .levels = 1};
	assert_no_cgroup(f, &end, ZMEM_OOM_PATH_RACED);
	end.victim.words = 1;
	end.names[0] = UINT64_MAX;
	assert_no_cgroup(f, &end, ZMEM_OOM_PATH_RACED);
	/* Text of memory that was freed. */
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		end = (struct zmem_oom_end){.root.status = ZMEM_OOM_PATH_KNOWN};
		put_name(&end, &end.victim, bad[i]);
		assert_no_cgroup(f, &end, ZMEM_OOM_PATH_RACED);
	}
	/* The root of our namespace. */
	end = (struct zmem_oom_end){.root.status = ZMEM_OOM_PATH_LONG};
	put_name(&end, &end.victim, "a");
	assert_no_cgroup(f, &end, ZMEM_OOM_PATH_LONG);
}

/* The longest path in the most levels, and one byte more. */
FIXTURE_TEST(long_cgroups)
{
	for (size_t more = 0; more < 2; more++) {
		struct zmem_oom_end end = {.root.status = ZMEM_OOM_PATH_KNOWN};

		for (unsigned i = 0; i < ZMEM_OOM_LEVELS; i++) {
			size_t len = (OOM_CGROUP_MAX - 1) / ZMEM_OOM_LEVELS - 1;
			char name[64];

			memset(name, 'a', sizeof(name));
			name[len + (i ? 0 : (OOM_CGROUP_MAX - 1) % ZMEM_OOM_LEVELS + more)] = 0;
			put_name(&end, &end.victim, name);
		}
		assert_true(end.victim.words <= ZMEM_OOM_PATH_WORDS);
		if (more) {
			assert_no_cgroup(f, &end, ZMEM_OOM_PATH_LONG);
			continue;
		}
		end.head = (struct zmem_oom_head){ZMEM_OOM_END, 1};
		send_end(f, &end);
		assert_int_equal(next(f), 1);
		assert_int_equal(strlen(f->kill.cgroup.path), OOM_CGROUP_MAX - 1);
	}
}
