// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * victim fresh|forked|backend|swapped MIB: a process that detects when another process holds its
 * mmap_lock. With MIB MiB of resident memory it maps, touches and unmaps 64 KiB every 100 µs and
 * records each latency. "forked" has shared its memory with a child, so that readers cannot assume
 * private pages. "backend" is one of 50 processes that map the same shared memory, every page of 4
 * KiB. "swapped" has half of its memory in swap, and shares the swap entries with a child.
 *
 * Writes an empty histogram once it is ready; then for each number of milliseconds (uint32_t) on
 * its standard input works that long and writes the histogram. Ends with its standard input.
 *
 * A stall counts once, although a real server would have had many requests in that time.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define VMA	  65536
#define PERIOD_NS 100000

/*
 * A histogram of latencies: 64 buckets for each power of two, so that a percentile is off by less
 * than 1.6 percent. stall.py adds them up.
 */
#define LATENCY_BITS 6
#define LATENCY_STEP (1u << LATENCY_BITS)
#define LATENCY_LOGS 36 /* up to 2^41 ns, half an hour */

struct latency {
	uint64_t count;
	uint64_t max_ns;
	uint32_t bucket[LATENCY_LOGS * LATENCY_STEP];
};

static void latency_add(struct latency *l, uint64_t ns)
{
	unsigned shift = ns < LATENCY_STEP ? 0 : 63 - __builtin_clzll(ns) - LATENCY_BITS;
	unsigned i = shift * LATENCY_STEP + (unsigned)(ns >> shift);

	l->count++;
	l->max_ns = ns > l->max_ns ? ns : l->max_ns;
	l->bucket[i < LATENCY_LOGS * LATENCY_STEP ? i : LATENCY_LOGS * LATENCY_STEP - 1]++;
}

static long page;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void use_memory(void)
{
	volatile char *vma =
		mmap(NULL, VMA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (vma == MAP_FAILED)
		_exit(1);
	for (long i = 0; i < VMA; i += page)
		vma[i] = 1;
	munmap((void *)vma, VMA);
}

static void work(uint32_t ms, struct latency *l)
{
	uint64_t next = now_ns(), end = next + (uint64_t)ms * 1000000, start, done;

	memset(l, 0, sizeof(*l));
	do {
		start = now_ns();
		use_memory();
		done = now_ns();
		latency_add(l, done - start);
		next += PERIOD_NS;
		if (next < done)
			next = done;
		else
			sleep_until(next);
	} while (done < end);
}

/* Children with the same memory, every page of it if `touch`. */
static void share_memory(int children, const char *memory, size_t size, bool touch)
{
	pid_t parent = getpid();
	int ready[2];
	char byte;

	if (pipe(ready) < 0)
		exit(1);
	for (int i = 0; i < children; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (size_t k = 0; touch && k < size; k += (size_t)page)
			(void)*(volatile const char *)&memory[k];
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		while (getppid() == parent)
			pause();
		_exit(0);
	}
	for (int i = 0; i < children; i++) {
		if (read(ready[0], &byte, 1) != 1)
			exit(1);
	}
	close(ready[0]);
	close(ready[1]);
}

static void tell(const struct latency *l)
{
	const char *p = (const char *)l;
	size_t left = sizeof(*l);

	while (left) {
		ssize_t n = write(1, p, left);

		if (n <= 0)
			exit(1);
		p += n;
		left -= (size_t)n;
	}
}

int main(int argc, char **argv)
{
	static struct latency latency;
	size_t size = argc == 3 ? strtoul(argv[2], NULL, 10) << 20 : 0;
	uint32_t ms;
	bool backend = argc == 3 && strcmp(argv[1], "backend") == 0;
	bool swapped = argc == 3 && strcmp(argv[1], "swapped") == 0;
	char *memory;

	if (!size) {
		fprintf(stderr, "usage: victim fresh|forked|backend|swapped MIB\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1);
	page = sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      (backend ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		perror("victim: mmap");
		return 1;
	}
	if (backend || swapped)
		madvise(memory, size, MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	if (swapped && madvise(memory, size / 2, MADV_PAGEOUT) < 0) {
		perror("victim: MADV_PAGEOUT");
		return 1;
	}
	if (backend)
		share_memory(49, memory, size, true);
	else if (swapped || strcmp(argv[1], "forked") == 0)
		share_memory(1, memory, size, false);
	tell(&latency);
	while (read(0, &ms, sizeof(ms)) == sizeof(ms)) {
		work(ms, &latency);
		tell(&latency);
	}
	return 0;
}
