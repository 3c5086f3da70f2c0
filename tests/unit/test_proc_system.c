// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* meminfo_parse(), zram_stat_parse(), and zram_each() on a tree that looks like /sys/block. */
#include "test_proc.h"

#include "model/system.h"

#define GPU (BIT(MEMINFO_GPU_ACTIVE) | BIT(MEMINFO_GPU_RECLAIM))
#define ALL (UINT32_MAX >> (32 - MEMINFO_COUNTERS))

/* The values: fuzz_proc_meminfo, on the same files. */
static void assert_meminfo(const char *without, uint32_t have, size_t unplaced)
{
	size_t len;
	cleanup_free char *text = fixture("meminfo-6.18", &len);
	struct meminfo m;

	len = without_keys(text, len, without);

	meminfo_parse(text, len, &m);
	assert_int_equal(m.have, have);
	assert_int_equal(m.unplaced_count, unplaced);
}

TEST(meminfo)
{
	struct meminfo m;

	assert_meminfo("", ALL & ~GPU, 1);
	assert_meminfo(
		" MemAvailable Zswap Zswapped KReclaimable SecPageTables Percpu Hugetlb Balloon ",
		ALL & ~(GPU | BIT(MEMINFO_AVAILABLE) | BIT(MEMINFO_ZSWAP_POOL) |
			BIT(MEMINFO_ZSWAP_STORED) | BIT(MEMINFO_KERNEL_RECLAIMABLE) |
			BIT(MEMINFO_SEC_PAGE_TABLES) | BIT(MEMINFO_PERCPU) | BIT(MEMINFO_HUGETLB)),
		0);
	memset(&m, 0xa5, sizeof(m));
	meminfo_parse(NULL, 0, &m);
	assert_int_equal(m.have, 0);
}

/* A line that no one knows has its own name, whatever the name is. */
TEST(unplaced)
{
	static const char text[] =
		"MemTotal: 8 kB\nBalloon:  0 kB\nFoo_active:    7 kB\nCount: 5\n"
		"Active(new): 3 kB\nDirectMap16G: 5 kB\nFoo: -1 kB\n: 4 kB\n"
		"GPUActive: 9 kB\n"
		"A name that is longer than any that the kernel has: 6 kB\nCut: 7 k";
	struct meminfo m;
	char many[512] = "";

	meminfo_parse(text, sizeof(text) - 1, &m);
	assert_int_equal(m.have, BIT(MEMINFO_TOTAL) | BIT(MEMINFO_GPU_ACTIVE));
	assert_int_equal(m.unplaced_count, 3);
	assert_string_equal(m.unplaced[0].name, "Balloon");
	assert_int_equal(m.unplaced[0].bytes, 0);
	assert_string_equal(m.unplaced[1].name, "Foo_active");
	assert_int_equal(m.unplaced[1].bytes, 7 * 1024);
	assert_string_equal(m.unplaced[2].name, "A name that is longer than any ");
	for (unsigned i = 0; i < MEMINFO_UNPLACED_MAX + 3; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "Line%u: 1 kB\n", i);
	meminfo_parse(many, strlen(many), &m);
	assert_int_equal(m.unplaced_count, MEMINFO_UNPLACED_MAX);
	assert_string_equal(m.unplaced[MEMINFO_UNPLACED_MAX - 1].name, "Line7");
}

struct seen {
	int count;
	char names[256];
	struct zram_stat last;
};

static void see(void *arg, const char *name, const struct zram_stat *stat)
{
	struct seen *seen = arg;

	seen->count++;
	seen->last = *stat;
	strcat(seen->names, name);
	strcat(seen->names, " ");
}

/* zram1 is not initialised, zram7 has no mm_stat, zram0p1 and sda are no zram devices. */
TEST(zram_each)
{
	struct seen seen = {0};

	assert_int_equal(zram_each(FIXTURES "/sys_block", see, &seen), 0);
	assert_int_equal(seen.count, 3);
	assert_string_equal(seen.names, "zram0 zram2 zram10 ");
	assert_int_equal(seen.last.stored, 8192);
	assert_int_equal(seen.last.compressed, 148);
	assert_int_equal(seen.last.used, 16384);

	memset(&seen, 0, sizeof(seen));
	assert_int_equal(zram_each(FIXTURES "/proc", see, &seen), 0);
	assert_int_equal(zram_each(FIXTURES "/none", see, &seen), -ENOENT);
	assert_int_equal(zram_each(FIXTURES "/proc/garbage", see, &seen), -ENOTDIR);
	assert_int_equal(seen.count, 0);
}

TEST(loadavg)
{
	static const struct {
		const char *text;
		uint64_t tasks, last_pid;
	} cases[] = {
		{"0.29 1.11 2.29 1/163 9961\n", 163, 9961},
		{"0.29 1.11 2.29 12/4194304 9961\n", 4194304, 9961},
		{"0.29 1.11 2.29 1/163 \n", 163, 0},
		{"0.29 1.11 2.29 1/ 9961\n", 0, 9961},
		{"0.29 1.11 2.29 1/99999999999999999999 1\n", 0, 1},
		{"0.29 1/", 0, 1},
		{"x", 0, 0},
		{"x ", 0, 0},
		{"", 0, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = strlen(cases[i].text);

		assert_int_equal(loadavg_parse_tasks(cases[i].text, len), cases[i].tasks);
		assert_int_equal(loadavg_parse_last_pid(cases[i].text, len), cases[i].last_pid);
	}
}

static int pressure_of(const char *text, struct memory_pressure *ret)
{
	cleanup_free char *copy = exact_copy(text, strlen(text));

	return memory_pressure_parse(copy, strlen(text), ret);
}

#define SOME "some avg10=1.23 avg60=0.40 avg300=0.09 total=1283393\n"
#define FULL "full avg10=0.05 avg60=0.01 avg300=0.00 total=86051\n"

TEST(pressure)
{
	static const char *const refused[] = {
		"",
		SOME,
		SOME "full avg10=0.05 avg60=0.01 avg300=0.00 total=86051",
		SOME "full avg10=0.05 avg300=0.01 avg60=0.00 total=86051\n",
		SOME "full avg10=0.05x avg60=0.01 avg300=0.00 total=86051\n",
		SOME "full avg10=0.05 avg60=0.01 avg300=0.00 total=18446744073709551616\n",
		SOME "full avg10=42949673.00 avg60=0.01 avg300=0.00 total=86051\n",
	};
	struct memory_pressure p = {.some_avg10 = 7};
	size_t len;
	cleanup_free char *text = fixture("pressure-6.18", &len);

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(pressure_of(refused[i], &p), -EINVAL);
	assert_int_equal(memory_pressure_parse(NULL, 0, &p), -EINVAL);
	assert_true(!p.known && p.some_avg10 == 7);
	assert_int_equal(memory_pressure_parse(text, len, &p), 0);
	assert_true(p.known);
	assert_int_equal(p.some_avg10, 123);
	assert_int_equal(p.full_avg10, 5);
	assert_int_equal(p.some_total_us, 1283393);
	assert_int_equal(p.full_total_us, 86051);
	assert_int_equal(
		pressure_of("some avg10=100.00 avg60=0.40 avg300=0.09 total=1 more=2\n" FULL, &p),
		0);
	assert_int_equal(p.some_avg10, 10000);
}

static int sockets_of(const char *text, struct socket_memory *ret)
{
	cleanup_free char *copy = exact_copy(text, strlen(text));

	return sockstat_parse(copy, strlen(text), 4096, ret);
}

TEST(sockets)
{
	static const char *const refused[] = {
		"sockets: used 13\n", "TCP: inuse 1 orphan 0 tw 0 alloc 1 mem\n", "TCP: mem 1",
		"TCP: inuse mem 1\n", "UDP: mem 18446744073709551615\n",
	};
	struct socket_memory s = {.bytes = 7};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(sockets_of(refused[i], &s), -EINVAL);
	assert_int_equal(sockstat_parse(NULL, 0, 4096, &s), -EINVAL);
	assert_true(!s.known && s.bytes == 7);
	assert_int_equal(sockets_of("sockets: used 13\nTCP: inuse 1 orphan 0 tw 0 alloc 1 mem 3\n"
				    "UDP: inuse 2 mem 2\nUDPLITE: inuse 0\nRAW: inuse 0\n"
				    "FRAG: inuse 1 memory 100\n",
				    &s),
			 0);
	assert_true(s.known);
	assert_int_equal(s.bytes, 5 * 4096 + 100);
}

TEST(oom_kills)
{
	static const char *const refused[] = {
		"", "oom_kill 1", "oom_kills 1\n", "oom_kill -1\n", "oom_kill \n", "xoom_kill 1\n"};
	static const char one[] = "pgsteal 9\noom_kill 3\noom_kill 4\n";
	struct oom_kills kills = {};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(oom_kills_parse(refused[i], &kills), -EINVAL);
	assert_false(kills.known);
	assert_int_equal(oom_kills_parse(one, &kills), 0);
	assert_true(kills.known && kills.count == 3);
}

TEST(refaults)
{
	static const char *const refused[] = {
		"workingset_refault_anon 1",
		"workingset_refault_anonx 1\n",
		"workingset_refault_file 9223372036854775807\n",
		"workingset_refault_anon 4503599627370495\nworkingset_refault_file 1\n",
	};
	static const char one[] = "workingset_refault 3\n";
	static const char two[] = "workingset_refault_anon 3\nx 1\nworkingset_refault_file 4\n";
	uint64_t bytes = 7;
	size_t len;
	cleanup_free char *vmstat = fixture("vmstat-6.18", &len), *text = strndup(vmstat, len);

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(refaults_parse(refused[i], 4096, &bytes), -EINVAL);
	assert_int_equal(bytes, 7);
	assert_int_equal(refaults_parse(one, 4096, &bytes), 0);
	assert_int_equal(bytes, 3 * 4096);
	assert_int_equal(refaults_parse(two, 4096, &bytes), 0);
	assert_int_equal(bytes, 7 * 4096);
	assert_true(refaults_parse(text, 4096, &bytes) == 0 || !strstr(text, "workingset_refault"));
}

TEST(scans)
{
	static const char *const refused[] = {
		"",
		"pgscan_kswapd 1",
		"pgscan_direct 1\n",
		"pgscan_kswapd -1\n",
		"pgscan_kswapd 9223372036854775807\n",
	};
	/* What else scans does so for a cgroup's limit, or on request. */
	static const char all[] = "pgscan_kswapd_dma 9\npgscan_kswapd 3\npgscan_direct 4\n"
				  "pgscan_khugepaged 9\npgscan_proactive 9\npgscan_anon 90\n";
	uint64_t bytes = 7;
	size_t len;
	cleanup_free char *vmstat = fixture("vmstat-6.18", &len), *text = strndup(vmstat, len);

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(scans_parse(refused[i], 4096, &bytes), -EINVAL);
	assert_int_equal(bytes, 7);
	assert_int_equal(scans_parse(all, 4096, &bytes), 0);
	assert_int_equal(bytes, 3 * 4096);
	assert_int_equal(scans_parse(all, 65536, &bytes), 0);
	assert_int_equal(bytes, 3 * 65536);
	assert_true(scans_parse(text, 4096, &bytes) == 0 || !strstr(text, "pgscan_kswapd"));
}

static int dentries_of(const char *text, struct dentries *ret)
{
	cleanup_free char *copy = exact_copy(text, strlen(text));

	return dentries_parse(copy, strlen(text), ret);
}

/* Of 192 bytes; until Linux 5.0 the fifth number is 0. */
TEST(dentries)
{
	static const char *const refused[] = {
		"",
		"1\t2\t45\t0",
		"1\t2\t45\t0\t",
		"1\t2\t45\t0\t-3\t0\n",
		"1 2 45 0 3 0\n",
		"1\t2\t45\t0\tx\t0\n",
		"1\t2\t45\t0\t18446744073709551615\t0\n",
		"x\t2\t45\t0\t3\t0\n",
	};
	struct dentries d = {.negative = 7};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(dentries_of(refused[i], &d), -EINVAL);
	assert_int_equal(dentries_parse(NULL, 0, &d), -EINVAL);
	assert_true(!d.known && d.negative == 7);
	assert_int_equal(dentries_of("131187\t114923\t45\t0\t30529\t0\n", &d), 0);
	assert_true(d.known);
	assert_int_equal(d.negative, 30529 * 192);
	assert_int_equal(dentries_of("131187\t114923\t45\t0\t0\t0\n", &d), 0);
	assert_true(d.known && !d.negative);
}
