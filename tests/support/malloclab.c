// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Allocates known amounts at known places, for grow --malloc.
 *
 *   malloclab SITE …   "READY PID", a line from stdin, the sites in this order; then "DONE", and it
 *                      waits for the end of stdin
 *   malloclab list     each site with the bytes that it allocates, and that it keeps
 *   malloclab calls RATE SECONDS KEEP
 *                      RATE pairs of malloc and free in a second (0: as many as it can), of which
 *                      one in KEEP keeps its block; prints how many there were
 *   malloclab work PAIRS
 *                      so many pairs, with some work between them; prints the ns of CPU that they
 * took
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

#ifdef __clang__
#define site __attribute__((noinline))
#else
#define site __attribute__((noinline, noclone))
#endif

/* What the compiler may not remove. */
static void *volatile kept;

static void *keep(void *block)
{
	kept = block;
	return block;
}

/* Frees 10 MiB in blocks of 1 KiB. It keeps the last block, so that the others stay resident. */
site void site_churn(void)
{
	static void *block[10 * 1024];

	for (size_t i = 0; i < 10 * 1024; i++)
		memset(block[i] = keep(malloc(1024)), 1, 1024);
	keep(malloc(1024));
	for (size_t i = 0; i < 10 * 1024; i++)
		free(block[i]);
}

/* Keeps 10 MiB: of the same pages, if site_churn() was before. */
site void site_leak_small(void)
{
	for (size_t i = 0; i < 10 * 1024; i++)
		memset(keep(malloc(1024)), 1, 1024);
}

/* Allocates 8 MiB and keeps 1,000 bytes. */
site void site_burst(void)
{
	static void *block[8000];

	for (size_t i = 0; i < 8000; i++)
		block[i] = keep(malloc(1000));
	for (size_t i = 0; i < 8000; i++) {
		if (i != 4000)
			free(block[i]);
	}
}

/* Grows one block from 1 KiB to 1 MiB, and keeps that. */
site void site_realloc(void)
{
	char *block = NULL;

	for (size_t size = 1024; size <= MIB; size *= 2)
		block = keep(realloc(block, size));
}

site void site_calloc(void)
{
	for (int i = 0; i < 1000; i++)
		keep(calloc(30, 100));
}

site void site_aligned(void)
{
	for (int i = 0; i < 100; i++) {
		void *block = NULL;

		if (posix_memalign(&block, 64, 4096))
			abort();
		keep(block);
		keep(aligned_alloc(16, 4096));
		keep(memalign(4096, 4096));
	}
}

static void *thread_keeps(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++)
		keep(malloc(1000));
	return NULL;
}

site void site_threads(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, thread_keeps, NULL))
			abort();
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/* One thread allocates, another one frees. */
static void *passed[1000];

static void *thread_frees(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++)
		free(passed[i]);
	return NULL;
}

site void site_passes(void)
{
	pthread_t thread;

	for (int i = 0; i < 1000; i++)
		passed[i] = keep(malloc(2000));
	if (pthread_create(&thread, NULL, thread_frees, NULL))
		abort();
	pthread_join(thread, NULL);
}

/* The child frees its copies, and keeps others: these are not the parent's. */
site void site_fork(void)
{
	void *block[100];
	pid_t child;

	for (int i = 0; i < 100; i++)
		block[i] = keep(malloc(3000));
	child = fork();
	if (child == 0) {
		for (int i = 0; i < 100; i++) {
			free(block[i]);
			keep(malloc(5000));
		}
		_exit(0);
	}
	while (child > 0 && wait(NULL) != child) {
	}
}

/*
 * A second allocator, which has its memory from the kernel, and names of jemalloc. As those of a
 * static library that hides its functions, the linker makes them local.
 */
#define hidden __attribute__((visibility("hidden")))

enum { HEAD = 4096 };

hidden void *je_malloc(size_t size);
hidden void *je_realloc(void *block, size_t size);
hidden void je_free(void *block);

hidden site void *je_malloc(size_t size)
{
	char *start =
		mmap(NULL, HEAD + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED)
		abort();
	*(size_t *)(void *)start = size;
	return start + HEAD;
}

hidden site void je_free(void *block)
{
	char *start = (char *)block - HEAD;

	munmap(start, HEAD + *(size_t *)(void *)start);
}

/* It calls both. */
hidden site void *je_realloc(void *block, size_t size)
{
	size_t old = *(size_t *)(void *)((char *)block - HEAD);
	void *moved = je_malloc(size);

	memcpy(moved, block, old < size ? old : size);
	je_free(block);
	return moved;
}

/* Keeps half of its blocks, and one that it makes larger. */
site void site_second(void)
{
	void *block[100];

	for (int i = 0; i < 100; i++)
		block[i] = keep(je_malloc(3000));
	for (int i = 0; i < 100; i += 2)
		je_free(block[i]);
	keep(je_realloc(keep(je_malloc(1000)), 9000));
}

static const struct {
	const char *name;
	void (*run)(void);
	size_t allocated, kept;
} sites[] = {
	{"churn", site_churn, 10 * MIB + 1024, 1024},
	{"leak_small", site_leak_small, 10 * MIB, 10 * MIB},
	{"burst", site_burst, 8000 * 1000, 1000},
	{"realloc", site_realloc, 2 * MIB - 1024, MIB},
	{"calloc", site_calloc, 3000 * 1000, 3000 * 1000},
	{"aligned", site_aligned, 300 * 4096, 300 * 4096},
	{"threads", site_threads, 4000 * 1000, 4000 * 1000},
	{"passes", site_passes, 2000 * 1000, 0},
	{"fork", site_fork, 300 * 1000, 300 * 1000},
	{"second", site_second, 310 * 1000, 159 * 1000},
};

static uint64_t clock_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

static void wait_until(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* The first byte is written, so that what is kept is resident. */
site void takes(void)
{
	char *block = keep(malloc(200));

	*block = 1;
	free(block);
}

site void keeps(void)
{
	*(char *)keep(malloc(200)) = 1;
}

static int run_calls(uint64_t rate, uint64_t seconds, uint64_t keep_one_in)
{
	const uint64_t start = now_ns();
	uint64_t pairs = 0, now;

	while ((now = now_ns()) - start < seconds * 1000000000) {
		uint64_t due = rate ? (now - start) / 1000 * rate / 1000000 : pairs + 1000;

		for (; pairs < due; pairs++) {
			if (pairs % keep_one_in)
				takes();
			else
				keeps();
		}
		if (rate)
			wait_until(now + 1000000);
	}
	printf("%llu\n", (unsigned long long)pairs);
	return 0;
}

static int run_work(uint64_t pairs, uint64_t steps)
{
	volatile unsigned x = 1;
	uint64_t start = clock_of(CLOCK_PROCESS_CPUTIME_ID);

	for (uint64_t i = 0; i < pairs; i++) {
		takes();
		for (uint64_t k = 0; k < steps; k++)
			x = x * 1103515245 + 12345;
	}
	printf("%llu\n", (unsigned long long)(clock_of(CLOCK_PROCESS_CPUTIME_ID) - start));
	return 0;
}

int main(int argc, char **argv)
{
	char line[16];

	if (argc == 5 && strcmp(argv[1], "calls") == 0)
		return run_calls(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10),
				 strtoull(argv[4], NULL, 10));
	if (argc == 4 && strcmp(argv[1], "work") == 0)
		return run_work(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
			printf("%s %zu %zu\n", sites[i].name, sites[i].allocated, sites[i].kept);
		return 0;
	}
	printf("READY %d\n", (int)getpid());
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 1; i < argc; i++) {
		for (size_t k = 0; k < sizeof(sites) / sizeof(sites[0]); k++) {
			if (strcmp(argv[i], sites[k].name) == 0)
				sites[k].run();
		}
	}
	puts("DONE");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) != NULL;
}
