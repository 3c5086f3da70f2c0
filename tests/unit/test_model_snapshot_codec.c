// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests of the snapshot codec: snapshots come back, alone and as differences; corrupt data is
 * refused. Damage at any place: fuzz_model_snapshot_codec.
 */
#include "unit.h"

#include "model/column_codec.h"
#include "model/snapshot_codec.h"
#include "random_snapshot.h"

#define MINOR_AT 5

/* Decodes from memory of the exact size, so that a sanitizer detects reads behind it. */
static int decode(const char *data, size_t len, const struct snapshot *reference,
		  struct snapshot *s)
{
	cleanup_free char *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, data, len);
	return snapshot_decode(copy, len, reference, NULL, s);
}

/* Encodes the snapshot alone, and decodes it. */
static void come_back(const struct snapshot *s, struct strbuf *bytes, struct snapshot *back)
{
	assert_int_equal(snapshot_encode(s, NULL, bytes), 0);
	assert_int_equal(decode(bytes->data, bytes->len, NULL, back), 0);
}

static void check_round(const struct snapshot *s, const struct snapshot *reference)
{
	cleanup(strbuf_done) struct strbuf bytes = {}, again = {};
	cleanup(snapshot_done) struct snapshot back = {};

	assert_int_equal(snapshot_encode(s, reference, &bytes), 0);
	assert_int_equal(decode(bytes.data, bytes.len, reference, &back), 0);
	assert_true(same_snapshot(s, &back));
	/* The same snapshot gives the same bytes. */
	assert_int_equal(snapshot_encode(&back, reference, &again), 0);
	assert_int_equal(again.len, bytes.len);
	assert_memory_equal(again.data, bytes.data, bytes.len);
}

TEST(round)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		cleanup(snapshot_done) struct snapshot s = {};
		struct random r = {seed};

		random_snapshot(&r, &s, seed % 3 ? random_below(&r, 60) : seed % 2);
		check_round(&s, NULL);
	}
}

/* Each counter alone, from its smallest to its largest value. */
TEST(counters)
{
	static const uint64_t value[] = {0, 1, 4096, INT64_MAX, UINT64_MAX - 4095, UINT64_MAX};

	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		cleanup(snapshot_done) struct snapshot s = {}, next = {};

		if (counter_table[c].origin == ORIGIN_DERIVED)
			continue;
		for (size_t i = 0; i < 2 * ARRAY_SIZE(value); i++) {
			struct process *p = snapshot_add(&s), *n = snapshot_add(&next);

			p->pid = n->pid = (pid_t)i + 1;
			p->name = n->name = "x";
			if (i % 2)
				process_set(p, c, value[i / 2]);
			process_set(n, c, value[ARRAY_SIZE(value) - 1 - i / 2]);
		}
		assert_int_equal(snapshot_finish(&s), 0);
		assert_int_equal(snapshot_finish(&next), 0);
		check_round(&s, NULL);
		check_round(&next, &s);
		check_round(&s, &next);
	}
}

/* Copies the texts of the snapshot into its arena. */
static void own(struct snapshot *s)
{
	cleanup(strbuf_done) struct strbuf bytes = {};
	struct snapshot copy = {};

	come_back(s, &bytes, &copy);
	snapshot_done(s);
	*s = copy;
}

/* A chain of frames: the reference of each is the previous frame as it was decoded. */
TEST(chain)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		cleanup(snapshot_done) struct snapshot s = {}, before = {};
		struct random r = {seed};

		random_snapshot(&r, &s, 50);
		own(&s);
		for (int frame = 0; frame < 20; frame++) {
			cleanup(strbuf_done) struct strbuf key = {}, delta = {};
			struct snapshot next = {}, back = {};

			assert_int_equal(snapshot_encode(&s, NULL, &key), 0);
			assert_int_equal(snapshot_encode(&s, frame ? &before : NULL, &delta), 0);
			if (frame)
				assert_true(delta.len < key.len);
			assert_int_equal(decode(delta.data, delta.len, &before, &back), 0);
			assert_true(same_snapshot(&s, &back));
			snapshot_done(&before);
			before = back;
			random_next(&r, &s, &next);
			own(&next);
			snapshot_done(&s);
			s = next;
		}
	}
}

static const struct ram_part *ram_part_of(const struct snapshot *s, enum ram_class class, int i)
{
	const struct ram_figure *f = &s->system.ram->figure[class];

	assert_true(i < f->parts);
	return &s->system.ram->part[f->part + i];
}

static struct shared_files some_files(void)
{
	return (struct shared_files){.taken_ms = 1763781255000,
				     .count = 2,
				     .file = {{"/dev/shm/\xff\n", "/a", FILE_TMPFS, 4096, 8192},
					      {"memfd:x", NULL, FILE_MEMFD, UINT64_MAX, 0}}};
}

/* A list of files that did not change takes no bytes, and an impossible one is not written. */
TEST(shared_files)
{
	cleanup(snapshot_done) struct snapshot s = {}, next = {}, back = {};
	cleanup(strbuf_done) struct strbuf with = {}, none = {}, same = {}, gone = {};
	struct shared_files files = some_files();

	come_back(&s, &none, &back);
	assert_null(back.system.shared);
	s.system.shared = &files;
	come_back(&s, &with, &back);
	assert_int_equal(back.system.shared->count, 2);
	assert_int_equal(back.system.shared->taken_ms, files.taken_ms);
	assert_string_equal(back.system.shared->file[0].name, files.file[0].name);
	assert_string_equal(back.system.shared->file[0].cgroup, "/a");
	assert_null(back.system.shared->file[1].cgroup);
	assert_int_equal(back.system.shared->file[1].kind, FILE_MEMFD);
	assert_true(back.system.shared->file[1].resident == UINT64_MAX);
	assert_int_equal(snapshot_encode(&s, &back, &same), 0);
	assert_int_equal(snapshot_encode(&next, &back, &gone), 0);
	assert_true(same.len < with.len && same.len <= none.len + 8 && gone.len > same.len);
	assert_int_equal(decode(gone.data, gone.len, &back, &next), 0);
	assert_null(next.system.shared);
	for (int i = 0; i < 4; i++) {
		files = some_files();
		if (i == 0)
			files.count = SHARED_FILES_MAX + 1;
		else if (i == 1)
			files.file[1].name = NULL;
		else if (i == 2)
			files.file[1].kind = FILE_REGULAR;
		else
			files.taken_ms = 0;
		assert_int_equal(snapshot_encode(&s, NULL, &with), -EINVAL);
	}
}

static struct ended_processes some_ended(void)
{
	return (struct ended_processes){.over_ms = 10000,
					.others = 9,
					.others_peak = 4096,
					.count = 2,
					.row = {{"cc1plus", "/a\n", 7, UINT64_C(300) << 20},
						{"\xff", NULL, 1, UINT64_MAX}}};
}

/* An interval in which the same ended takes no bytes, and an impossible one is not written. */
TEST(ended)
{
	cleanup(snapshot_done) struct snapshot s = {}, next = {}, back = {};
	cleanup(strbuf_done) struct strbuf with = {}, none = {}, same = {}, gone = {}, empty = {};
	struct ended_processes ended = some_ended();

	come_back(&s, &none, &back);
	assert_null(back.system.ended);
	s.system.ended = &ended;
	come_back(&s, &with, &back);
	assert_true(same_ended(back.system.ended, &ended));
	assert_int_equal(snapshot_encode(&s, &back, &same), 0);
	assert_int_equal(snapshot_encode(&next, &back, &gone), 0);
	assert_true(same.len < with.len && same.len <= none.len + 8 && gone.len > same.len);
	assert_int_equal(decode(gone.data, gone.len, &back, &next), 0);
	assert_null(next.system.ended);
	/* None ended: it is known. */
	ended = (struct ended_processes){.over_ms = 100};
	come_back(&s, &empty, &back);
	assert_true(same_ended(back.system.ended, &ended));
	for (int i = 0; i < 3; i++) {
		ended = some_ended();
		if (i == 0)
			ended.count = ENDED_MAX + 1;
		else if (i == 1)
			ended.row[1].name = NULL;
		else
			ended.over_ms = 0;
		assert_int_equal(snapshot_encode(&s, NULL, &with), -EINVAL);
	}
}

/* Counters in place of a census are not stored, and a frame behind one takes few bytes. */
TEST(census)
{
	cleanup(snapshot_done) struct snapshot s = {}, next = {}, back = {};
	cleanup(strbuf_done) struct strbuf with = {}, without = {}, counters = {};
	struct ram ram = {.method = RAM_EXACT, .known = true, .frames = UINT64_C(64) << 30};

	for (int i = 0; i < RAM_FIGURES; i++)
		ram.figure[i] = (struct ram_figure){.class = (enum ram_class)i,
						    .exists = true,
						    .known = true,
						    .has_counter = true,
						    .bytes = (uint64_t)(i + 1) << 28,
						    .counter = ((uint64_t)(i + 1) << 28) + 4096};
	ram_add_part(&ram, RAM_PAGE_CACHE, "mapped", 4096);
	ram_add_part(&ram, RAM_PAGE_CACHE, "not \xff\n mapped", 8192);
	ram_add_part(&ram, RAM_FREE, "on lists of CPUs", UINT64_C(1) << 40);
	s.system.ram = &ram;
	come_back(&s, &with, &back);
	assert_true(same_snapshot(&s, &back));
	assert_int_equal(back.system.ram->parts, 3);
	assert_int_equal(ram_part_of(&back, RAM_FREE, 0)->bytes, UINT64_C(1) << 40);
	assert_string_equal(ram_part_of(&back, RAM_PAGE_CACHE, 1)->name, "not \xff\n mapped");
	assert_int_equal(back.system.ram->figure[RAM_SLAB].parts, 0);
	come_back(&next, &without, &back);
	assert_null(back.system.ram);
	assert_true(with.len < without.len + 300);
	/* As a difference. */
	strbuf_clear(&without);
	assert_int_equal(snapshot_encode(&next, &s, &without), 0);
	assert_int_equal(decode(without.data, without.len, &s, &back), 0);
	assert_null(back.system.ram);
	assert_true(without.len < 40);
	ram.method = RAM_COUNTERS;
	come_back(&s, &counters, &back);
	assert_null(back.system.ram);
}

/* Every counter of a cgroup that is read. The limits above are computed when they are shown. */
TEST(memcg_details)
{
	const uint64_t computed = CHARGE_BIT(COUNTER_NEAREST_LIMIT) | CHARGE_BIT(COUNTER_MEM_LEFT) |
				  CHARGE_BIT(COUNTER_LIMIT_UP) | CHARGE_BIT(COUNTER_LIMIT_HITS) |
				  CHARGE_BIT(COUNTER_HIGH_HITS);
	struct memcg memcg = {.path = "/a"};
	struct snapshot s = {.memcg = &memcg, .memcg_count = 1};
	cleanup(snapshot_done) struct snapshot back = {};
	cleanup(strbuf_done) struct strbuf bytes = {};

	for (int c = COUNTER_MEM_HIGH; c < COUNTER_COUNT; c++) {
		if (computed & CHARGE_BIT(c))
			continue;
		memcg.details |= UINT64_C(1) << (c - COUNTER_MEM_HIGH);
		memcg.detail[c - COUNTER_MEM_HIGH] = (uint64_t)c;
	}
	come_back(&s, &bytes, &back);
	assert_int_equal(back.memcg_count, 1);
	for (int c = COUNTER_MEM_HIGH; c < COUNTER_COUNT; c++) {
		assert_int_equal(memcg_has(&back.memcg[0], c), !(computed & CHARGE_BIT(c)));
		if (memcg_has(&back.memcg[0], c))
			assert_int_equal(memcg_detail(&back.memcg[0], c), c);
	}
}

/* A snapshot without changes takes few bytes, whatever its size. */
TEST(unchanged)
{
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(strbuf_done) struct strbuf delta = {};
	struct random r = {7};

	random_snapshot(&r, &s, 1000);
	assert_int_equal(snapshot_encode(&s, &s, &delta), 0);
	assert_true(delta.len < 64);
}

/* A process without a name gets its comm, also after the table has moved. */
TEST(nameless)
{
	cleanup(snapshot_done) struct snapshot s = {}, back = {};
	cleanup(strbuf_done) struct strbuf bytes = {};

	for (int i = 0; i < 1000; i++) {
		struct process *p = snapshot_add(&s);

		p->pid = i + 1;
		snprintf(p->comm, sizeof(p->comm), "none%u", (unsigned)i % 1000);
	}
	come_back(&s, &bytes, &back);
	for (int i = 0; i < 1000; i++)
		assert_string_equal(back.process[i].name, s.process[i].comm);
}

/* A recording of some processes only: their mm_ids are any numbers. */
TEST(some)
{
	cleanup(snapshot_done) struct snapshot s = {}, back = {};
	cleanup(strbuf_done) struct strbuf bytes = {};
	static const uint32_t id[] = {900, 0, 17, 900, 17, 4000};
	static const uint32_t numbered[] = {1, 0, 2, 1, 2, 3};

	for (size_t i = 0; i < ARRAY_SIZE(id); i++) {
		struct process *p = snapshot_add(&s);

		p->pid = (pid_t)i + 1;
		p->mm_id = id[i];
	}
	come_back(&s, &bytes, &back);
	for (size_t i = 0; i < ARRAY_SIZE(id); i++) {
		assert_int_equal(back.process[i].mm_id, numbered[i]);
		assert_int_equal(back.process[i].mm_owner, i != 3 && i != 4);
	}
}

static void put_end(struct strbuf *bytes)
{
	static const char end[] = {CODEC_END_ID, CODEC_END, 0};

	strbuf_put(bytes, end, sizeof(end));
}

/* Blocks of a newer minor version are skipped; another major version is refused. */
TEST(versions)
{
	cleanup(snapshot_done) struct snapshot s = {}, back = {};
	cleanup(strbuf_done) struct strbuf bytes = {};
	/* A free id in the range of counters, and one beyond all, both of unknown types. */
	static const char unknown[] = {'\xbf', 2, 77, 3, 'a', 'b', 'c', '\xff', '\x7f', 1, 1, 9};
	struct random r = {3};

	random_snapshot(&r, &s, 20);
	assert_int_equal(snapshot_encode(&s, NULL, &bytes), 0);
	bytes.len -= 3;
	bytes.data[MINOR_AT]++;
	strbuf_put(&bytes, unknown, sizeof(unknown));
	put_end(&bytes);
	assert_int_equal(decode(bytes.data, bytes.len, NULL, &back), 0);
	assert_true(same_snapshot(&s, &back));
	bytes.data[MINOR_AT - 1]++;
	assert_int_equal(decode(bytes.data, bytes.len, NULL, &back), -ENOTSUP);
	assert_int_equal(back.count, 0);
}

TEST(cut)
{
	cleanup(snapshot_done) struct snapshot s = {}, back = {};
	cleanup(strbuf_done) struct strbuf bytes = {};
	struct random r = {5};

	random_snapshot(&r, &s, 12);
	assert_int_equal(snapshot_encode(&s, NULL, &bytes), 0);
	for (size_t len = 0; len < bytes.len; len++) {
		assert_int_equal(decode(bytes.data, len, NULL, &back), -EBADMSG);
		assert_int_equal(back.count, 0);
	}
	strbuf_putc(&bytes, 0);
	assert_int_equal(decode(bytes.data, bytes.len, NULL, &back), -EBADMSG);
}

/* Differences can be decoded only with their reference. */
TEST(reference)
{
	cleanup(snapshot_done) struct snapshot s = {}, next = {}, other = {}, back = {};
	cleanup(strbuf_done) struct strbuf delta = {};
	struct random r = {13};

	random_snapshot(&r, &s, 9);
	random_next(&r, &s, &next);
	random_snapshot(&r, &other, 9);
	assert_int_equal(snapshot_encode(&next, &s, &delta), 0);
	assert_int_equal(decode(delta.data, delta.len, NULL, &back), -EBADMSG);
	assert_int_equal(decode(delta.data, delta.len, &other, &back), -EBADMSG);
	assert_int_equal(decode(delta.data, delta.len, &next, &back), -EBADMSG);
	assert_int_equal(decode(delta.data, delta.len, &s, &back), 0);
}

enum wrong {
	WRONG_ORDER,
	WRONG_TWICE,
	WRONG_NO_PID,
	WRONG_LARGE_PID,
	WRONG_KIND,
	WRONG_STATUS,
	WRONG_PPID,
	WRONG_SWAPS,
	WRONG_MEMCG_ORDER,
	WRONG_MEMCG_TWICE,
	WRONG_COUNT,
};

/* A snapshot that no collection can produce is refused. */
TEST(impossible)
{
	for (int wrong = 0; wrong < WRONG_COUNT; wrong++) {
		cleanup(snapshot_done) struct snapshot s = {};
		cleanup(strbuf_done) struct strbuf bytes = {};
		struct memcg memcg[] = {{"/a"}, {"/b"}};

		for (pid_t pid = 1; pid <= 3; pid++)
			snapshot_add(&s)->pid = pid;
		s.memcg = memcg;
		s.memcg_count = 2;
		strbuf_puts(&bytes, "before");
		assert_int_equal(snapshot_encode(&s, NULL, &bytes), 0);
		bytes.len = 6;
		s.process[1].pid = wrong == WRONG_ORDER ? 4 : wrong == WRONG_TWICE ? 1 : 2;
		s.process[0].pid = wrong == WRONG_NO_PID ? 0 : 1;
		s.process[2].pid = wrong == WRONG_LARGE_PID ? PID_MAX + 1 : 3;
		s.process[2].kind = wrong == WRONG_KIND ? PROCESS_SUM : PROCESS_USER;
		s.process[2].pss_status = wrong == WRONG_STATUS ? PSS_STATUS_COUNT : PSS_OK;
		s.process[2].ppid = wrong == WRONG_PPID ? -1 : 1;
		s.system.swap_count = wrong == WRONG_SWAPS ? SWAP_MAX + 1 : 0;
		if (wrong == WRONG_MEMCG_ORDER)
			memcg[0].path = "/c";
		if (wrong == WRONG_MEMCG_TWICE)
			memcg[0].path = "/b";
		assert_int_equal(snapshot_encode(&s, NULL, &bytes), -EINVAL);
		assert_string_equal(strbuf_str(&bytes), "before");
	}
}

/* Two processes, the first of which has 7 pages of a pipe and 5 bytes of an epoll; `all` of them.
 */
static void hold_kernel(struct snapshot *s, struct kernel_shares *shares)
{
	for (pid_t pid = 1; pid <= 2; pid++) {
		struct process *p = snapshot_add(s);

		p->pid = pid;
		kernel_shares_clear(&shares[pid - 1]);
		p->kernel = &shares[pid - 1];
		process_set(p, COUNTER_KERNEL, pid == 1 ? 7 * 4096 + 5 : 0);
	}
	shares->kind[ZMEM_DESCRIPTOR_PIPE].bytes = 7 * 4096;
	shares->kind[ZMEM_DESCRIPTOR_PIPE].descriptors = 2;
	shares->kind[ZMEM_DESCRIPTOR_EPOLL].bytes = 5;
	shares->kind[ZMEM_DESCRIPTOR_EPOLL].mapped = 6;
	kernel_shares_add(&s->kernel.all, shares);
	s->kernel.known = true;
	s->kernel.left_out = 3;
}

/* Kernel memory by descriptors comes back by kind. A process that holds none is known to hold none.
 */
TEST(kernel_memory)
{
	cleanup(snapshot_done) struct snapshot s = {}, back = {}, next = {}, next_back = {};
	cleanup(strbuf_done) struct strbuf bytes = {}, delta = {};
	struct kernel_shares shares[2], later[2];

	hold_kernel(&s, shares);
	hold_kernel(&next, later);
	assert_int_equal(snapshot_encode(&s, NULL, &bytes), 0);
	assert_int_equal(decode(bytes.data, bytes.len, NULL, &back), 0);
	assert_true(same_kernel(&s, &back));
	assert_true(back.kernel.known);
	assert_null(back.kernel.reason);
	assert_int_equal(back.kernel.left_out, 3);
	assert_non_null(back.process[1].kernel);
	assert_int_equal(kernel_shares_sum(back.process[1].kernel), 0);
	assert_int_equal(kernel_shares_sum(back.process[0].kernel), 7 * 4096 + 5);
	assert_int_equal(back.process[0].kernel->kind[ZMEM_DESCRIPTOR_EPOLL].mapped, 6);
	assert_int_equal(back.kernel.all.kind[ZMEM_DESCRIPTOR_PIPE].descriptors, 2);
	/* Another kind and another process in the next one. */
	later[0].kind[ZMEM_DESCRIPTOR_PIPE] = (struct kernel_share){.kind = ZMEM_DESCRIPTOR_PIPE};
	later[1].kind[ZMEM_DESCRIPTOR_KVM].bytes = 1;
	next.kernel.all = (struct kernel_shares){};
	kernel_shares_add(&next.kernel.all, &later[0]);
	kernel_shares_add(&next.kernel.all, &later[1]);
	assert_int_equal(snapshot_encode(&next, &s, &delta), 0);
	assert_int_equal(decode(delta.data, delta.len, &s, &next_back), 0);
	assert_true(same_kernel(&next, &next_back));
}

/* Shares of a process without the sum are not recorded, and those that are too large are refused.
 */
TEST(kernel_memory_of_no_process)
{
	cleanup(snapshot_done) struct snapshot s = {}, back = {};
	cleanup(strbuf_done) struct strbuf bytes = {};
	struct kernel_shares shares[2];

	hold_kernel(&s, shares);
	s.process[0].have &= ~COUNTER_BIT(COUNTER_KERNEL);
	s.process[0].value[COUNTER_KERNEL] = 0;
	assert_int_equal(snapshot_encode(&s, NULL, &bytes), 0);
	assert_int_equal(decode(bytes.data, bytes.len, NULL, &back), 0);
	assert_null(back.process[0].kernel);
	assert_int_equal(kernel_shares_sum(&back.kernel.all), 0);
	shares[1].kind[ZMEM_DESCRIPTOR_TCP].bytes = UINT64_C(1) << 56;
	assert_int_equal(snapshot_encode(&s, NULL, &bytes), -EINVAL);
}

/* Sums of any values stop at the largest number. */
TEST(kernel_memory_sums)
{
	struct kernel_shares sum, more;

	kernel_shares_clear(&sum);
	kernel_shares_clear(&more);
	more.kind[ZMEM_DESCRIPTOR_TCP].bytes = UINT64_MAX / 2 + 1;
	more.kind[ZMEM_DESCRIPTOR_TCP].descriptors = UINT32_MAX / 2 + 1;
	for (int i = 0; i < 3; i++)
		kernel_shares_add(&sum, &more);
	sum.kind[ZMEM_DESCRIPTOR_PIPE].bytes = 9;
	assert_true(kernel_shares_sum(&sum) == UINT64_MAX);
	assert_true(sum.kind[ZMEM_DESCRIPTOR_TCP].bytes == UINT64_MAX);
	assert_true(sum.kind[ZMEM_DESCRIPTOR_TCP].descriptors == UINT32_MAX);
	assert_int_equal(sum.kind[ZMEM_DESCRIPTOR_UDP].descriptors, 0);
}

/* A few bytes that claim many rows are refused before memory is allocated. */
TEST(claims)
{
#define BYTES(text)                                                                                \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}
	/* 2^30 new processes, or memory cgroups without a path. */
#define ROWS   "\1\1\2\36\2"
#define GROUPS "\x1f\1\2\36\2"
	static const struct {
		const char *text;
		size_t len;
	} claims[] = {
		BYTES(ROWS "\3\1\2\0\2"),		    /* the list of pids has one */
		BYTES(ROWS "\3\1\7\0\0\xff\xff\xff\xff\3"), /* only zeros */
		BYTES(GROUPS),
	};

	for (size_t i = 0; i < ARRAY_SIZE(claims); i++) {
		cleanup(strbuf_done) struct strbuf bytes = {};
		cleanup(snapshot_done) struct snapshot back = {};

		strbuf_put(&bytes, "ZSNP\1\0\0\0", 8);
		strbuf_put(&bytes, claims[i].text, claims[i].len);
		put_end(&bytes);
		assert_int_equal(decode(bytes.data, bytes.len, NULL, &back), -EBADMSG);
		assert_true(back.capacity < 1000);
		assert_null(back.arena.spare);
	}
}

/* What decoding takes is counted, is the same each time, and has a limit. */
TEST(memory)
{
	cleanup(snapshot_done) struct snapshot s = {}, next = {}, back = {};
	cleanup(strbuf_done) struct strbuf key = {}, delta = {};
	struct codec_memory memory = {.most = SIZE_MAX / 2};
	struct random r = {19};
	size_t used;

	random_snapshot(&r, &s, 100);
	own(&s);
	random_next(&r, &s, &next);
	assert_int_equal(snapshot_encode(&s, NULL, &key), 0);
	assert_int_equal(snapshot_encode(&next, &s, &delta), 0);
	assert_int_equal(snapshot_decode(key.data, key.len, NULL, &memory, &back), 0);
	assert_uint_in_range(memory.used, 100 * sizeof(struct process),
			     500 * sizeof(struct process));
	memory.used = 1000;
	assert_int_equal(snapshot_decode(delta.data, delta.len, &s, &memory, &back), 0);
	used = memory.used;
	for (size_t most = 1000; most <= used; most += (used - 1000) / 500 + 1) {
		memory = (struct codec_memory){most, 1000};
		assert_int_equal(snapshot_decode(delta.data, delta.len, &s, &memory, &back),
				 -EBADMSG);
		assert_true(memory.used <= most);
		assert_int_equal(back.count, 0);
	}
	memory = (struct codec_memory){used, 1000};
	assert_int_equal(snapshot_decode(delta.data, delta.len, &s, &memory, &back), 0);
	assert_true(same_snapshot(&next, &back));
}

/* Repeated decoding takes no more memory than once. */
TEST(reuse)
{
	cleanup(snapshot_done) struct snapshot s = {}, back = {};
	cleanup(strbuf_done) struct strbuf bytes = {};
	struct random r = {17};
	struct process *process;

	random_snapshot(&r, &s, 100);
	come_back(&s, &bytes, &back);
	process = back.process;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(decode(bytes.data, bytes.len, NULL, &back), 0);
		assert_ptr_equal(back.process, process);
		assert_true(same_snapshot(&s, &back));
		assert_int_equal(decode(bytes.data, bytes.len - 1, NULL, &back), -EBADMSG);
	}
}
