// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs that keep memory in a known way, for tests/bench/leaks.py: leaks NAME. Each keeps 8 MiB
 * in a function leak_…() or remember(), while others take and free more. Then it ends the program
 * that started it, if ENDS_PARENT is set, and itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB  (1024 * 1024)
#define SIZE (8 * MIB)
#define PAGE 4096
#define PART __attribute__((noinline, noclone))

static void *volatile kept;
static char **volatile table;
static size_t count;

static inline __attribute__((always_inline)) void touch(volatile char *p, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		p[i] = 1;
}

static PART void churn(void)
{
	char *block[200];

	for (int i = 0; i < 200; i++)
		block[i] = memset(malloc(5000), 1, 5000);
	for (int i = 0; i < 200; i++)
		free(block[i]);
}

static PART void remember(size_t size)
{
	void **p = malloc(size);

	memset(p, 1, size);
	*p = kept;
	kept = p;
}

static PART void leak_malloc(void)
{
	for (int i = 0; i < SIZE / 1000; i++)
		remember(1000);
}

static PART void *in_thread(void *arg)
{
	leak_malloc();
	return arg;
}

static PART void leak_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
}

/* What it keeps was freed by others before: no page becomes resident. */
static PART void leak_small(void)
{
	for (int i = 0; i < 8; i++)
		churn();
	for (int i = 0; i < SIZE / 10 / 100; i++) {
		churn();
		for (int k = 0; k < 10; k++)
			remember(100);
		usleep(500); /* time itself: a server has pauses */
	}
}

/* Of each burst one block stays. */
static PART void leak_burst(void)
{
	char *block[80];

	for (int i = 0; i < 2000; i++) {
		for (int k = 0; k < 80; k++)
			block[k] = memset(malloc(1000), 1, 1000);
		for (int k = 1; k < 80; k++)
			free(block[k]);
		*(void **)block[0] = kept;
		kept = block[0];
		usleep(2000); /* time itself: a server has pauses */
	}
}

static PART void leak_realloc(void)
{
	char *p = NULL;

	for (size_t size = MIB / 4; size <= SIZE; size += MIB / 4) {
		p = realloc(p, size);
		touch(p + size - MIB / 4, MIB / 4);
	}
	kept = p;
}

static PART void leak_calloc(void)
{
	kept = calloc(SIZE / 64, 64);
	touch(kept, SIZE);
}

static PART void leak_strdup(void)
{
	char text[512];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	table = malloc(SIZE / 64);
	for (count = 0; count < SIZE / 528; count++)
		table[count] = strdup(text);
}

static PART void leak_aligned(void)
{
	void *p;

	for (int i = 0; i < SIZE / PAGE; i++) {
		if (posix_memalign(&p, 64, PAGE - 64))
			exit(1);
		memset(p, 1, PAGE - 64);
		*(void **)p = kept;
		kept = p;
	}
}

static PART void *map(int flags, int fd)
{
	return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static PART void leak_mmap(void)
{
	touch(map(MAP_PRIVATE | MAP_ANONYMOUS, -1), SIZE);
}

static PART void leak_populate(void)
{
	kept = map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1);
}

static PART void leak_mlock(void)
{
	kept = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (mlock(kept, SIZE))
		abort();
}

static PART void leak_shmem(void)
{
	touch(map(MAP_SHARED | MAP_ANONYMOUS, -1), SIZE);
}

static PART void leak_memfd(void)
{
	int fd = memfd_create("leak", 0);

	if (ftruncate(fd, SIZE) < 0)
		exit(1);
	touch(map(MAP_SHARED, fd), SIZE);
}

/* Pages of a file that are read stay mapped. */
static PART void leak_file(void)
{
	char name[] = "/tmp/leak-XXXXXX", room[MIB] = {};
	volatile char *p;
	int fd = mkstemp(name);

	unlink(name);
	for (int i = 0; i < SIZE / MIB; i++) {
		if (write(fd, room, MIB) != MIB)
			exit(1);
	}
	p = map(MAP_PRIVATE, fd);
	for (size_t i = 0; i < SIZE; i += PAGE)
		(void)p[i];
}

static PART void leak_brk(void)
{
	touch(sbrk(SIZE), SIZE);
}

static PART void leak_read(void)
{
	int fd = open("/dev/zero", O_RDONLY);

	kept = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (read(fd, kept, SIZE) != SIZE)
		exit(1);
}

static PART int leak_recursion(int depth)
{
	volatile char room[PAGE];

	room[0] = (char)depth;
	return depth ? leak_recursion(depth - 1) + room[0] : room[0];
}

static void recursion(void)
{
	leak_recursion(SIZE / PAGE / 2);
}

/* Most of its stack is never used. */
static PART void leak_behind_buffer(void)
{
	volatile char room[20 * 1024];

	room[0] = 1;
	leak_malloc();
	room[1] = room[0];
}

static PART void *idle(void *arg)
{
	volatile char room[MIB];

	touch(room, sizeof(room));
	pause();
	return arg;
}

static PART void leak_threads(void)
{
	pthread_t thread;

	for (int i = 0; i < SIZE / MIB; i++)
		pthread_create(&thread, NULL, idle, NULL);
	usleep(200000); /* time itself: until they have touched all */
}

/* A child writes to what it inherited: USS grows, and RSS does not. */
static PART void leak_copied(void)
{
	char *p = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);

	madvise(p, SIZE, MADV_NOHUGEPAGE);
	touch(p, SIZE);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	touch(p, SIZE);
}

/* Huge pages where a little is used. */
static PART void leak_huge(void)
{
	char *p = mmap(NULL, SIZE + 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	p = (char *)(((unsigned long)p + 2 * MIB - 1) & -(2UL * MIB));
	madvise(p, SIZE, MADV_HUGEPAGE);
	for (size_t i = 0; i < SIZE; i += 2 * MIB)
		p[i] = 1;
}

/* The pages that it adds move each time. */
static PART void leak_moved(void)
{
	size_t size = MIB;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	touch(p, size);
	for (; size < SIZE; size += MIB) {
		mmap(p + size, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		     -1, 0);
		p = mremap(p, size, size + MIB, MREMAP_MAYMOVE);
		touch(p + size, MIB);
	}
	kept = p;
}

/* Two functions take memory in turn, one frees it. */
static PART void cache_clear(void)
{
	while (kept) {
		void *next = *(void **)kept;

		free(kept);
		kept = next;
	}
}

static PART void cache_fill(void)
{
	for (int i = 0; i < 2000; i++)
		remember(1000);
}

static PART void leak_beside_cache(void)
{
	for (int i = 0; i < 20; i++) {
		cache_fill();
		cache_clear();
	}
	table = malloc(SIZE / 8);
	for (count = 0; count < SIZE / 8 / 1024; count++)
		table[count] = memset(malloc(8 * 1024), 1, 8 * 1024);
}

static const struct {
	const char *name;
	void (*run)(void);
} leaks[] = {
	{"malloc", leak_malloc},
	{"thread", leak_thread},
	{"small", leak_small},
	{"burst", leak_burst},
	{"realloc", leak_realloc},
	{"calloc", leak_calloc},
	{"strdup", leak_strdup},
	{"aligned", leak_aligned},
	{"mmap", leak_mmap},
	{"populate", leak_populate},
	{"mlock", leak_mlock},
	{"shmem", leak_shmem},
	{"memfd", leak_memfd},
	{"file", leak_file},
	{"brk", leak_brk},
	{"read", leak_read},
	{"recursion", recursion},
	{"behind_buffer", leak_behind_buffer},
	{"threads", leak_threads},
	{"copied", leak_copied},
	{"huge", leak_huge},
	{"moved", leak_moved},
	{"beside_cache", leak_beside_cache},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(leaks) / sizeof(leaks[0]); i++) {
		if (strcmp(leaks[i].name, argv[1]) == 0)
			leaks[i].run();
	}
	if (getenv("ENDS_PARENT")) {
		kill(getppid(), SIGINT);
		pause();
	}
	return 0;
}
