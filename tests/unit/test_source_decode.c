// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* decode_records(): valid records of the kernel side, and forged ones; any bytes:
 * fuzz_source_records. */
#include "unit.h"

#include "decode_records.h"
#include "zmem/record.h"

static const struct decode_limits limits = {.page_size = 4096, .ram_bytes = 1ull << 30};

static struct zmem_record sample(void)
{
	return (struct zmem_record){
		.size = sizeof(struct zmem_record),
		.version = ZMEM_RECORD_VERSION,
		.kind = ZMEM_PROCESS,
		.valid = ZMEM_VALID_RSS | ZMEM_VALID_VM | ZMEM_VALID_PINNED | ZMEM_VALID_PGTABLE |
			 ZMEM_VALID_HUGETLB | ZMEM_VALID_EXE | ZMEM_VALID_CGROUP |
			 ZMEM_VALID_SHARING | ZMEM_VALID_MAPS | ZMEM_VALID_PEAK |
			 ZMEM_VALID_FAULTS | ZMEM_VALID_SWAPINS | ZMEM_VALID_WAIT,
		.pid = 42,
		.ppid = 7,
		.uid = 1000,
		.threads = 3,
		.start_boottime_ns = 123456789,
		.comm = "a comm",
		.oom_score_adj = -500,
		.flags = ZMEM_FORKED,
		.mm_id = 99,
		.cgroup_key = 77,
		.rss = {1, 2, 3, 4},
		.total_vm = 100,
		.locked_vm = 5,
		.pinned_vm = 6,
		.pgtables_bytes = 8192,
		.hugetlb_pages = 512,
		.write_protect_seq = 8,
		.exe_len = 7,
		.ksm_pages = 9,
		.map_count = 65530,
		.hiwater_rss = 20,
		.majflt = 11,
		.exe = "program",
		.swapins = 12,
		.mem_wait_ns = 13999,
	};
}

static struct process *decode_one(struct snapshot *s, const struct zmem_record *r)
{
	assert_int_equal(decode_records(r, r->size, &limits, s), r->size);
	return &s->process[s->count - 1];
}

/* The bit of a group, one of its counters, and its value in the sample. */
static const struct {
	unsigned bit;
	enum counter counter;
	uint64_t value;
} groups[] = {
	{ZMEM_VALID_RSS, COUNTER_RSS_FILE, 4096},
	{ZMEM_VALID_RSS, COUNTER_RSS_ANON, 2 * 4096},
	{ZMEM_VALID_RSS, COUNTER_SWAP, 3 * 4096},
	{ZMEM_VALID_RSS, COUNTER_RSS_SHMEM, 4 * 4096},
	{ZMEM_VALID_VM, COUNTER_VSIZE, 100 * 4096},
	{ZMEM_VALID_VM, COUNTER_LOCKED, 5 * 4096},
	{ZMEM_VALID_PINNED, COUNTER_PINNED, 6 * 4096},
	{ZMEM_VALID_PGTABLE, COUNTER_PGTABLES, 8192},
	{ZMEM_VALID_HUGETLB, COUNTER_HUGETLB, 512 * 4096},
	{ZMEM_VALID_MAPS, COUNTER_MAPS, 65530},
	{ZMEM_VALID_PEAK, COUNTER_PEAK, 20 * 4096},
	{ZMEM_VALID_FAULTS, COUNTER_MAJFLT, 11},
	{ZMEM_VALID_SWAPINS, COUNTER_SWAPINS, 12},
	{ZMEM_VALID_WAIT, COUNTER_MEM_WAIT, 13},
};

TEST(members)
{
	cleanup(snapshot_done) struct snapshot s = {0};
	struct zmem_record r = sample();
	const struct process *p = decode_one(&s, &r);

	assert_int_equal(p->pid, 42);
	assert_int_equal(p->ppid, 7);
	assert_int_equal(p->uid, 1000);
	assert_int_equal(p->threads, 3);
	assert_int_equal(p->start_ns, 123456789);
	assert_int_equal(p->oom_score_adj, -500);
	assert_string_equal(p->comm, "a comm");
	assert_string_equal(p->name, "program");
	assert_false(p->name_cut);
	assert_true(p->forked);
	assert_true(p->sharing_known);
	assert_int_equal(p->exe, EXE_PRESENT);
	assert_int_equal(p->counters_source, FROM_BPF);
	assert_int_equal(p->pss_status, PSS_SKIPPED);
	r.flags |= ZMEM_EXE_DELETED;
	assert_int_equal(decode_one(&s, &r)->exe, EXE_DELETED);
	r.valid &= ~ZMEM_VALID_EXE;
	assert_int_equal(decode_one(&s, &r)->exe, EXE_UNKNOWN);
}

/* Near its limit, far from it, and a kernel that does not tell. */
TEST(near_limit)
{
	cleanup(snapshot_done) struct snapshot s = {0};
	struct zmem_record r = sample();
	const struct process *p;

	r.valid |= ZMEM_VALID_LIMIT;
	p = decode_one(&s, &r);
	assert_true(p->limit_known && !p->near_limit);
	r.flags |= ZMEM_NEAR_LIMIT;
	p = decode_one(&s, &r);
	assert_true(p->limit_known && p->near_limit && !p->leader_exited && !p->other_users);
	r.valid &= ~ZMEM_VALID_LIMIT;
	assert_false(decode_one(&s, &r)->limit_known);
}

/* A group with its bit clear is not measured, whatever its members contain. */
TEST(counters)
{
	cleanup(snapshot_done) struct snapshot s = {0};

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct zmem_record r = sample();
		const struct process *p = decode_one(&s, &r);

		assert_true(process_has(p, groups[i].counter));
		assert_int_equal(p->value[groups[i].counter], groups[i].value);
		r.valid &= ~groups[i].bit;
		assert_false(process_has(decode_one(&s, &r), groups[i].counter));
	}
}

/* The kernel's mark is older than the resident set. */
TEST(peak)
{
	cleanup(snapshot_done) struct snapshot s = {0};
	struct zmem_record r = sample();
	struct process *p;

	r.hiwater_rss = 6; /* resident are 1 + 2 + 4 */
	p = decode_one(&s, &r);
	process_derive(p);
	assert_int_equal(p->value[COUNTER_PEAK], 7 * 4096);
	r.valid &= ~ZMEM_VALID_PEAK;
	p = decode_one(&s, &r);
	process_derive(p);
	assert_false(process_has(p, COUNTER_PEAK));
}

/* A counter above the machine's memory is a layout error: all four are dropped. */
TEST(absurd)
{
	cleanup(snapshot_done) struct snapshot s = {0};

	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		struct zmem_record r = sample();

		r.rss[i] = (long long)0xffff888100000000ull >> 1;
		if (i == ZMEM_RSS_SWAP)
			r.rss[i] = 1ll << 51;
		assert_false(process_has(decode_one(&s, &r), COUNTER_RSS_ANON));
		assert_true(process_has(&s.process[s.count - 1], COUNTER_VSIZE));
		r.rss[i] = -r.rss[i];
		assert_false(process_has(decode_one(&s, &r), COUNTER_RSS_ANON));
	}
	struct zmem_record r = sample();

	r.total_vm = ~0ull;
	assert_false(process_has(decode_one(&s, &r), COUNTER_VSIZE));
}

/* A negative sum (threads have not flushed their counts) becomes 0. */
TEST(negative)
{
	cleanup(snapshot_done) struct snapshot s = {.host.page_size = 4096};
	struct zmem_record r = sample();

	r.rss[ZMEM_RSS_ANON] = -3;
	r.rss_delta[ZMEM_RSS_ANON] = 10;
	r.rss[ZMEM_RSS_FILE] = -3;
	decode_one(&s, &r);
	assert_int_equal(snapshot_finish(&s), 0);
	assert_int_equal(s.process[0].value[COUNTER_RSS_ANON], 7 * 4096);
	assert_int_equal(s.process[0].value[COUNTER_RSS_FILE], 0);
	r.flags |= ZMEM_CUT_THREADS;
	assert_false(process_has(decode_one(&s, &r), COUNTER_RSS_ANON));
}

/* Pages of 64 KiB (arm64, ppc64): all values and limits are 16 times as large. */
TEST(large_pages)
{
	static const struct decode_limits large = {.page_size = 65536, .ram_bytes = 1ull << 30};
	cleanup(snapshot_done) struct snapshot s = {.host.page_size = 65536};
	struct zmem_record r = sample();
	const struct process *p;

	r.rss_delta[ZMEM_RSS_ANON] = -1;
	assert_int_equal(decode_records(&r, r.size, &large, &s), r.size);
	assert_int_equal(snapshot_finish(&s), 0);
	p = &s.process[0];
	assert_int_equal(p->value[COUNTER_RSS_FILE], 65536);
	assert_int_equal(p->value[COUNTER_RSS_ANON], 65536);
	assert_int_equal(p->value[COUNTER_SWAP], 3 * 65536);
	assert_int_equal(p->value[COUNTER_VSIZE], 100 * 65536);
	assert_int_equal(p->value[COUNTER_PGTABLES], 8192);
	/* The last page of RAM, and one more. */
	r.rss_delta[ZMEM_RSS_ANON] = 0;
	for (r.rss[ZMEM_RSS_ANON] = 1 << 14; r.rss[ZMEM_RSS_ANON] <= (1 << 14) + 1;
	     r.rss[ZMEM_RSS_ANON]++) {
		snapshot_clear(&s);
		assert_int_equal(decode_records(&r, r.size, &large, &s), r.size);
		assert_int_equal(process_has(&s.process[0], COUNTER_RSS_ANON),
				 r.rss[ZMEM_RSS_ANON] == 1 << 14);
	}
}

/* Every member at and around every power of two: no product in bytes overflows. */
TEST(powers)
{
	cleanup(snapshot_done) struct snapshot s = {.host.page_size = 4096};

	for (int bit = 0; bit < 64; bit++) {
		for (int off = -1; off <= 1; off++) {
			uint64_t n = (1ull << bit) + (uint64_t)off;
			struct zmem_record r = sample();
			const struct process *p;

			r.total_vm = r.locked_vm = r.pinned_vm = r.hugetlb_pages = n;
			r.pgtables_bytes = n;
			r.rss[ZMEM_RSS_SWAP] = (long long)n;
			snapshot_clear(&s);
			p = decode_one(&s, &r);
			if (process_has(p, COUNTER_VSIZE))
				assert_int_equal(p->value[COUNTER_VSIZE] / 4096, n);
			assert_int_equal(process_has(p, COUNTER_VSIZE) != 0, n < 1ull << 50);
			assert_int_equal(process_has(p, COUNTER_PGTABLES) != 0, n < 1ull << 62);
			if (process_has(p, COUNTER_SWAP) && n < 1ull << 63)
				assert_int_equal(p->value[COUNTER_SWAP] / 4096, n);
		}
	}
}

TEST(names)
{
	cleanup(snapshot_done) struct snapshot s = {0};
	struct zmem_record r = sample();

	memset(r.exe, 'x', sizeof(r.exe));
	r.exe_len = ZMEM_EXE_LEN;
	assert_false(decode_one(&s, &r)->name_cut);
	r.exe_len = 200;
	assert_int_equal(strlen(decode_one(&s, &r)->name), ZMEM_EXE_LEN);
	assert_true(s.process[1].name_cut);
	memset(r.comm, 'y', sizeof(r.comm));
	r.valid &= ~(unsigned)ZMEM_VALID_EXE;
	assert_string_equal(decode_one(&s, &r)->name, "yyyyyyyyyyyyyyy");
	r.valid |= ZMEM_VALID_EXE;
	r.exe_len = 0;
	assert_string_equal(decode_one(&s, &r)->name, "yyyyyyyyyyyyyyy");
}

TEST(rejected)
{
	cleanup(snapshot_done) struct snapshot s = {0};
	struct zmem_record r[2] = {sample(), sample()};

	/* A partial record is kept for the next read. */
	for (size_t len = 0; len < sizeof(r[0]); len++)
		assert_int_equal(decode_records(r, len, &limits, &s), 0);
	assert_int_equal(decode_records(r, sizeof(r) - 1, &limits, &s), sizeof(r[0]));
	assert_int_equal(s.count, 1);
	for (int i = 0; i < 4; i++) {
		r[1] = sample();
		r[1].version += i == 0;
		r[1].kind = i == 1 ? 9 : r[1].kind;
		r[1].size = i == 2 ? 0 : i == 3 ? 60000 : r[1].size;
		assert_int_equal(decode_records(r, sizeof(r), &limits, &s), -EBADMSG);
	}
}

/* A newer program adds members behind the last one, and the pages follow them. */
TEST(longer)
{
	cleanup(snapshot_done) struct snapshot s = {0};
	_Alignas(8) char data[3 * sizeof(struct zmem_pss_record)] = "";
	struct zmem_pss_record r = {.record = sample()}, copy;
	const size_t more = 24, rest = sizeof(r.record) + more;

	r.record.valid |= ZMEM_VALID_PAGES | 1u << 31;
	r.record.size = (__u16)(sizeof(r) + more);
	r.pages.unique = 12345;
	memset(data, 0xa5, sizeof(data));
	memcpy(data, &r.record, sizeof(r.record));
	memcpy(data + rest, &r.pages, sizeof(r.pages));
	record_copy(data, &copy);
	assert_int_equal(copy.record.size, sizeof(copy));
	assert_memory_equal(&copy.pages, &r.pages, sizeof(r.pages));
	memcpy(data + r.record.size, data, r.record.size);
	assert_int_equal(decode_records(data, 2 * r.record.size, &limits, &s), 2 * r.record.size);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.process[1].pid, r.record.pid);
	assert_int_equal(s.process[1].value[COUNTER_MAJFLT], s.process[0].value[COUNTER_MAJFLT]);
	/* Shorter than the first records of this version, or not a multiple of 8. */
	r.record.size = ZMEM_RECORD_FIRST + sizeof(r.pages) - 8;
	memcpy(data, &r.record, sizeof(r.record));
	assert_int_equal(decode_records(data, r.record.size, &limits, &s), -EBADMSG);
	r.record.size = (__u16)(sizeof(r) + 4);
	memcpy(data, &r.record, sizeof(r.record));
	assert_int_equal(decode_records(data, r.record.size, &limits, &s), -EBADMSG);
}
