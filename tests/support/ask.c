// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ask PATH READS [SESSIONS]
 *
 * A hostile reader of a pinned iterator. It reads READS times with random requests, valid or not,
 * and with the cursors of unfinished walks of other processes. Two children map, fork and exec
 * without end, so that address spaces change during a walk; it reads until it has seen such a walk.
 * Prints the number of records. The exit code is 1 if an operation other than reading was allowed,
 * a cursor is an address, or a record has data that a member of the group must not see. With
 * SESSIONS it then opens that many sessions without reading, and prints how much memory the kernel
 * allocated and how much it kept after the sessions were closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../include/zmem/record.h"
#include "../../include/zmem/setup.h"

#define NS_PER_TICK 10000000ULL
#define ENOUGH	    200000 /* reads without an overtaken walk before giving up */

static uint64_t seen[64]; /* cursors */
static size_t seen_count;
static size_t overtaken;  /* walks that left no cursor */
static const char *fault; /* forbidden content of a record */

static uint64_t random64(void)
{
	uint64_t n = 0;

	return getrandom(&n, sizeof(n), 0) > 0 ? n : 0;
}

/* Often small, so that some requests are valid. */
static uint64_t anything(void)
{
	uint64_t n = random64();

	return n & 1 ? n >> (n >> 1 & 63) : n;
}

static uint64_t any_cursor(void)
{
	if (seen_count && random64() % 2)
		return seen[random64() % seen_count];
	return anything();
}

/* ---- checks of records ---- */

static void expect(int is_so, const char *otherwise)
{
	if (!is_so && !fault)
		fault = otherwise;
}

static int is_zero(const void *data, size_t size)
{
	const char *byte = data;

	for (size_t i = 0; i < size; i++) {
		if (byte[i])
			return 0;
	}
	return 1;
}

static int ends_in_zeros(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	return is_zero(text + len, size - len);
}

/* In ticks since boot, as /proc/self/stat has it: the 20th number behind the name. */
static uint64_t own_start(void)
{
	FILE *file = fopen("/proc/self/stat", "r");
	char line[1024] = "", *at;
	uint64_t start = 0;

	if (file && fgets(line, sizeof(line), file) && (at = strrchr(line, ')'))) {
		for (int field = 2; at && field < 22; field++)
			at = strchr(at + 1, ' ');
		start = at ? strtoull(at, NULL, 10) : 0;
	}
	if (file)
		fclose(file);
	return start;
}

static void check_identity(const struct zmem_record *r)
{
	expect(r->start_boottime_ns % NS_PER_TICK == 0, "a start time is no whole tick");
	if (r->pid == getpid())
		expect(r->start_boottime_ns / NS_PER_TICK == own_start(),
		       "the start time is not that of /proc");
	expect(ends_in_zeros(r->comm, sizeof(r->comm)), "there is something behind comm");
	if (r->kind != ZMEM_PROCESS)
		expect(!r->valid, "values of what has no memory are valid");
}

static void check_memory(const struct zmem_record *r)
{
	expect(ends_in_zeros(r->exe, sizeof(r->exe)), "there is something behind exe");
	if (!(r->valid & ZMEM_VALID_EXE))
		expect(is_zero(r->exe, sizeof(r->exe)) && !r->exe_len, "exe is not valid, nor 0");
	if (!(r->valid & ZMEM_VALID_RSS))
		expect(is_zero(r->rss, sizeof(r->rss)), "rss is not valid, nor 0");
	if (r->flags & ZMEM_RACED)
		expect(is_zero(&r->mm_id, sizeof(*r) - ZMEM_RECORD_SHORT), "RACED, and not 0");
}

/* A whole walk must see what the counters say; a partial walk must not see more. */
static int adds_up(const struct zmem_pages *p, int whole)
{
	static const enum zmem_rss kind[] = {ZMEM_RSS_FILE, ZMEM_RSS_SHMEM, ZMEM_RSS_ANON};
	int64_t all = p->rss[ZMEM_RSS_FILE] + p->rss[ZMEM_RSS_ANON] + p->rss[ZMEM_RSS_SHMEM];
	int64_t room = all < ZMEM_LARGE_PAGES ? 0 : all / ZMEM_CLOSE_PART;

	for (int i = 0; i < 3; i++) {
		int64_t more = (int64_t)p->seen[kind[i]] - p->rss[kind[i]];

		if (more > room || (whole && kind[i] != ZMEM_RSS_ANON && -more > room))
			return 0;
	}
	return 1;
}

static void check_pages(const struct zmem_pages *p, int from_start)
{
	expect(!p->work, "the work of a walk is told");
	if (p->flags & ZMEM_WALK_OFF)
		return;
	if (p->flags & (ZMEM_WALK_UNKNOWN | ZMEM_WALK_MOVED)) {
		overtaken++;
		expect(is_zero(p, offsetof(struct zmem_pages, flags)), "overtaken, and not 0");
	} else {
		expect(adds_up(p, from_start && !p->cursor), "a walk does not add up");
	}
}

/* `from_start`: the request had no cursor. */
static size_t take(const char *buf, size_t len, int from_start)
{
	struct zmem_pss_record r;
	size_t records = 0;

	for (size_t at = 0; at + ZMEM_RECORD_SHORT <= len; records++) {
		memcpy(&r, buf + at, ZMEM_RECORD_SHORT);
		if (r.record.version != ZMEM_RECORD_VERSION || !r.record.size ||
		    r.record.size > sizeof(r) || at + r.record.size > len)
			break;
		memcpy(&r, buf + at, r.record.size);
		check_identity(&r.record);
		if (r.record.size >= sizeof(r.record))
			check_memory(&r.record);
		if (r.record.size == sizeof(r)) {
			check_pages(&r.pages, from_start);
			if (r.pages.cursor && seen_count < 64)
				seen[seen_count++] = r.pages.cursor;
		}
		at += r.record.size;
	}
	return records;
}

/* ---- requests ---- */

static size_t ask(const char *path, char *buf, size_t size)
{
	const size_t sizes[] = {size, size, 1, 300, sizeof(struct zmem_pss_record)};
	uint64_t mark = random64() % 8 ? ZMEM_ASK : anything();
	uint64_t bits = anything(), cursor = any_cursor();
	/* Also into unmapped memory. */
	char *to = random64() % 16 ? buf : (char *)(uintptr_t)anything();
	size_t len = sizes[random64() % 5], records = 0;
	int fd = open(path, O_RDONLY);
	long n;

	if (fd < 0)
		return 0;
	do {
		n = syscall(SYS_read, fd, to, len, mark, bits, cursor);
		if (n > 0 && to == buf)
			records += take(buf, (size_t)n, mark != ZMEM_ASK || !cursor);
	} while (n > 0 && len == size);
	close(fd);
	return records;
}

/* A member must not open the link or, through it, the program and its maps. */
static int is_open_otherwise(const char *path)
{
	union bpf_attr attr = {};
	int fd;

	for (uint32_t flags = 0; flags < 3; flags++) {
		const uint32_t flag[] = {0, BPF_F_RDONLY, BPF_F_WRONLY};

		memset(&attr, 0, sizeof(attr));
		attr.pathname = (uintptr_t)path;
		attr.file_flags = flag[flags];
		if (syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr)) >= 0)
			return 1;
	}
	fd = open(path, O_RDWR);
	if (fd >= 0)
		return 1;
	fd = open(path, O_RDONLY);
	memset(&attr, 0, sizeof(attr));
	attr.link_detach.link_fd = (uint32_t)fd;
	return syscall(SYS_bpf, BPF_LINK_DETACH, &attr, sizeof(attr)) >= 0 || write(fd, "", 1) >= 0;
}

/* Pages begin at multiples of 4096. */
static int are_addresses(void)
{
	for (size_t i = 0; i < seen_count; i++) {
		if (seen[i] % 4096)
			return 0;
	}
	return seen_count > 1;
}

/* ---- children that disturb the walks ---- */

#define VMA (4UL << 20)

/* Shared pages that come and go. */
static void map_for_ever(void)
{
	for (;;) {
		char *p = mmap(NULL, VMA, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (p != MAP_FAILED)
			munmap(p, VMA);
	}
}

/* Programs that exec themselves, some hundred times each, and exit. */
static void exec_for_ever(void)
{
	for (;;) {
		pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execl("/proc/self/exe", "ask", "exec", "300", NULL);
			_exit(1);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

static int exec_again(int left)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", left - 1);
	return left > 0 ? execl("/proc/self/exe", "ask", "exec", text, NULL) : 0;
}

static pid_t begin(void (*what)(void))
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			what();
		_exit(1);
	}
	return pid;
}

/* ---- kernel memory ---- */

static long free_kb(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kb = 0;

	while (file && fgets(line, sizeof(line), file) && !sscanf(line, "MemFree: %ld", &kb))
		;
	if (file)
		fclose(file);
	return kb;
}

static int by_size(const void *a, const void *b)
{
	long left = *(const long *)a, right = *(const long *)b;

	return (left > right) - (left < right);
}

/* Free memory changes for other reasons too: a process that ends, a page cache that grows. So the
 * median of ROUNDS is printed. */
#define ROUNDS 5

static void hold(const char *path, size_t sessions)
{
	long took[ROUNDS], left[ROUNDS];
	struct rlimit limit;
	size_t count = 0;
	int *fd = calloc(sessions, sizeof(*fd));

	if (!fd || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (int round = 0; round < ROUNDS; round++) {
		long before;

		sleep(1); /* time itself: the kernel frees files and processes later */
		before = free_kb();
		count = 0;
		while (count < sessions && (fd[count] = open(path, O_RDONLY)) >= 0) {
			if (read(fd[count++], NULL, 0) < 0)
				break;
		}
		took[round] = before - free_kb();
		for (size_t i = 0; i < count; i++)
			close(fd[i]);
		sleep(1); /* time itself: as above */
		left[round] = before - free_kb();
	}
	qsort(took, ROUNDS, sizeof(*took), by_size);
	qsort(left, ROUNDS, sizeof(*left), by_size);
	printf("%zu sessions took %ld kB, closed %ld kB\n", count, took[ROUNDS / 2],
	       left[ROUNDS / 2]);
	free(fd);
}

int main(int argc, char **argv)
{
	static char buf[64 * 1024];
	int reads = argc > 2 ? atoi(argv[2]) : 0, made = 0;
	pid_t child[2];
	size_t records = 0;

	if (argc < 3)
		return 1;
	if (!strcmp(argv[1], "exec"))
		return exec_again(reads);
	child[0] = begin(map_for_ever);
	child[1] = begin(exec_for_ever);
	for (; made < reads || (seen_count && !overtaken && made < ENOUGH); made++)
		records += ask(argv[1], buf, sizeof(buf));
	for (int i = 0; i < 2; i++) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	expect(!seen_count || overtaken, "no walk was overtaken: this tests nothing");
	printf("%zu records, %zu cursors, %zu overtaken: %s\n", records, seen_count, overtaken,
	       fault ? fault : "nothing is told");
	if (argc > 3)
		hold(argv[1], strtoul(argv[3], NULL, 10));
	return fault || is_open_otherwise(argv[1]) || are_addresses();
}
