// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program with known growth: each site allocates SIZE by its own function and keeps it. It is
 * built without frame pointers, as distributions build.
 *   growlab [SITE...]   prints "READY pid" and waits for a line, runs the sites (default: all),
 *                       prints "DONE", waits for the end of its input
 *   growlab handle...   sites that run only if they are named
 *   growlab now SITE    does not wait and says nothing; then it ends the program that started it,
 *                       if ENDS_PARENT is set, and itself (tests/bench/leaks.py)
 *   growlab list        prints "site KiB-of-anon KiB-of-file KiB-of-shmem" for each of the first
 *   growlab loop N      N times malloc and free of 100 bytes
 *   growlab fault MIB [thread]  touches and unmaps, also in another thread: time of a page
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1024 * 1024)
#ifndef SIZE
#define SIZE (4 * MIB)
#endif
#define PAGE	 4096
#define SMALL	 100
#define THREADS	 4
#define MANY	 300 /* threads */
#define REQUESTS 3000
#define FEW	 20 /* requests of which the ring has room for all changes */
#ifdef __clang__
#define noinline __attribute__((noinline))
#else
#define noinline __attribute__((noinline, noclone))
#endif

static char data[SIZE] = {1}; /* .data: private pages of the program's file */
static void *volatile kept;
static pthread_barrier_t barrier;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Writes to each page, here and not in the C library. */
static inline __attribute__((always_inline)) void touch(volatile char *p, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		p[i] = 1;
}

static void *map(size_t size, int flags, int fd)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

static inline __attribute__((always_inline)) char *map_small(size_t size)
{
	char *p = map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

static inline __attribute__((always_inline)) void keep(void *p)
{
	*(void **)p = kept;
	kept = p;
}

static noinline void site_malloc_small(void)
{
	for (size_t i = 0; i < SIZE / 112; i++)
		keep(malloc(SMALL));
}

static noinline void site_malloc_large(void)
{
	char *p = malloc(SIZE);

	touch(p, SIZE);
	kept = p;
}

static noinline void site_mmap(void)
{
	touch(map(SIZE, MAP_PRIVATE | MAP_ANONYMOUS, -1), SIZE);
}

/* The kernel writes to pages that the program never touched. */
static noinline void site_read(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	char *p = map(SIZE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (fd < 0 || read(fd, p, SIZE) != SIZE)
		fail("/dev/zero");
	close(fd);
}

static int temp_file(void)
{
	char name[] = "/tmp/growlab-XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	if (fd < 0 || ftruncate(fd, SIZE) < 0)
		fail("mkstemp");
	return fd;
}

/* Pages of a file that are read, then written: they leave RssFile for RssAnon. */
static noinline void site_cow(void)
{
	int fd = temp_file();
	volatile char *p = map(SIZE, MAP_PRIVATE, fd);
	char sum = 0;

	for (size_t i = 0; i < SIZE; i += PAGE)
		sum += p[i];
	touch(p + (sum ? PAGE : 0), SIZE);
	close(fd);
}

static noinline void site_data(void)
{
	touch(data, SIZE);
}

static noinline void *site_thread_stack(void *arg)
{
	volatile char room[SIZE / THREADS];

	touch(room, sizeof(room));
	pthread_barrier_wait(&barrier);
	pause();
	return arg;
}

static noinline void start_threads(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&thread, NULL, site_thread_stack, NULL))
			fail("pthread_create");
	}
	pthread_barrier_wait(&barrier);
}

static noinline void site_calloc(void)
{
	char *p = calloc(SIZE / 64, 64);

	touch(p, SIZE);
	kept = p;
}

static noinline void site_realloc(void)
{
	char *p = NULL;

	for (size_t size = SIZE / 8; size <= SIZE; size += SIZE / 8) {
		p = realloc(p, size);
		if (!p)
			fail("realloc");
		touch(p + size - SIZE / 8, SIZE / 8);
	}
	kept = p;
}

static noinline void site_thp(void)
{
	char *p = map(2 * SIZE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	char *aligned = (char *)(((unsigned long)p + 2 * MIB - 1) & -(2UL * MIB));

	madvise(aligned, SIZE, MADV_HUGEPAGE);
	touch(aligned, SIZE);
}

static noinline void site_shmem(void)
{
	int fd = memfd_create("growlab", 0);

	if (fd < 0 || ftruncate(fd, SIZE) < 0)
		fail("memfd_create");
	touch(map(SIZE, MAP_SHARED, fd), SIZE);
	close(fd);
}

/* ---- sites that do not run by default ---- */

static noinline void handle(void)
{
	char *p = map_small(512 * 1024);

	touch(p, 512 * 1024);
	munmap(p, 512 * 1024);
	__asm__ volatile(""); /* no tail call: it is the caller of munmap() */
}

static noinline void remember(volatile char *p)
{
	*p = 1;
}

/* A server that leaks: handle() gives back all that it takes, remember() keeps a page each time. */
static noinline void serve(size_t requests)
{
	char *p = map_small(requests * PAGE);

	for (size_t i = 0; i < requests; i++) {
		handle();
		remember(p + i * PAGE);
	}
}

static noinline void site_handle(void)
{
	serve(REQUESTS);
	__asm__ volatile("");
}

static noinline void site_handle_few(void)
{
	serve(FEW);
	__asm__ volatile("");
}

static noinline void *mmap_and_cow(void *arg)
{
	site_mmap();
	site_cow();
	return arg;
}

static noinline void *touch_1_mib(void *arg)
{
	char *p = map_small(SIZE / 4);

	touch(p, SIZE / 4);
	return arg;
}

static void run_threads(int count, void *(*run)(void *arg))
{
	pthread_t thread[MANY];

	for (int i = 0; i < count; i++) {
		if (pthread_create(&thread[i], NULL, run, NULL))
			fail("pthread_create");
	}
	for (int i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
}

static noinline void site_in_thread(void)
{
	run_threads(1, mmap_and_cow);
}

static noinline void site_threads(void)
{
	run_threads(MANY, touch_1_mib);
}

/* Pages that the kernel adds without page faults. */
static noinline void site_populate(void)
{
	kept = map(SIZE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1);
	__asm__ volatile("");
}

/* musl has no name for it. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Some of its pages are there before. */
static noinline void site_lock(void)
{
	char *p = map_small(SIZE);

	for (size_t i = 0; i < SIZE; i += 5 * PAGE)
		p[i] = 1;
	if (mlock(p, SIZE / 2) < 0 || madvise(p + SIZE / 2, SIZE / 2, MADV_POPULATE_WRITE) < 0)
		fail("mlock");
	kept = p;
}

/* What is behind it is in use: to become larger it moves. */
static noinline void site_moved(void)
{
	char *p = map(SIZE + PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	touch(p, SIZE);
	kept = mremap(p, SIZE, 2 * SIZE, MREMAP_MAYMOVE);
	if (kept == MAP_FAILED || kept == p)
		fail("mremap");
}

/* Most of its stack is never used: those pages are absent. */
static noinline void *site_deep(void *arg)
{
	volatile char room[20 * 1024];

	room[0] = 1;
	site_mmap();
	return room[0] ? arg : NULL;
}

static noinline void site_callers(void)
{
	run_threads(1, site_deep);
}

/* A server: its children write to what they inherit. */
static noinline void inherit(volatile char *p)
{
	touch(p, SIZE);
	raise(SIGSTOP);
	__asm__ volatile("");
}

static noinline void site_fork(void)
{
	char *p = map_small(SIZE);
	pid_t child;

	touch(p, SIZE);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		inherit(p);
		_exit(0);
	}
	waitpid(child, NULL, WUNTRACED);
}

/* ---- for tests/bench/leaks.py: one function keeps memory, while others take and free more ---- */

static noinline void churn(void)
{
	char *block[200];

	for (int i = 0; i < 200; i++)
		block[i] = memset(malloc(5000), 1, 5000);
	for (int i = 0; i < 200; i++)
		free(block[i]);
}

static noinline void keep_block(size_t size)
{
	keep(memset(malloc(size), 1, size));
}

static noinline void site_blocks(void)
{
	for (int i = 0; i < SIZE / 1000; i++)
		keep_block(1000);
}

static noinline void *blocks(void *arg)
{
	site_blocks();
	return arg;
}

static noinline void site_blocks_in_thread(void)
{
	run_threads(1, blocks);
}

/* Most of its stack is never used. */
static noinline void site_behind_buffer(void)
{
	volatile char room[20 * 1024];

	room[0] = 1;
	site_blocks();
	room[1] = room[0];
}

/* What it keeps was freed by others before: no page becomes resident. */
static noinline void site_small(void)
{
	for (int i = 0; i < 8; i++)
		churn();
	for (int i = 0; i < SIZE / 10 / 100; i++) {
		churn();
		for (int k = 0; k < 10; k++)
			keep_block(100);
		usleep(500); /* time itself: a server has pauses */
	}
}

/* Of each burst one block stays. */
static noinline void site_burst(void)
{
	char *block[80];

	for (int i = 0; i < SIZE / 4 / 1000; i++) {
		for (int k = 0; k < 80; k++)
			block[k] = memset(malloc(1000), 1, 1000);
		for (int k = 1; k < 80; k++)
			free(block[k]);
		keep(block[0]);
		usleep(2000); /* time itself: a server has pauses */
	}
}

static noinline void site_strdup(void)
{
	char text[512];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (int i = 0; i < SIZE / 528; i++)
		keep(strdup(text));
}

static noinline void site_aligned(void)
{
	void *p;

	for (int i = 0; i < SIZE / PAGE; i++) {
		if (posix_memalign(&p, 64, PAGE - 64))
			exit(1);
		keep(memset(p, 1, PAGE - 64));
	}
}

static noinline void site_shared(void)
{
	touch(map(SIZE, MAP_SHARED | MAP_ANONYMOUS, -1), SIZE);
}

/* Pages of a file that are read stay mapped. */
static noinline void site_file(void)
{
	char room[MIB] = {};
	int fd = temp_file();
	volatile char *p = map(SIZE, MAP_PRIVATE, fd);

	for (int i = 0; i < SIZE / MIB; i++) {
		if (write(fd, room, MIB) != MIB)
			fail("write");
	}
	for (size_t i = 0; i < SIZE; i += PAGE)
		(void)p[i];
}

static noinline void site_brk(void)
{
	touch(sbrk(SIZE), SIZE);
}

static noinline int site_recursion(int depth)
{
	volatile char room[PAGE];

	room[0] = (char)depth;
	return depth ? site_recursion(depth - 1) + room[0] : room[0];
}

static void recursion(void)
{
	site_recursion(SIZE / PAGE / 2);
}

/* It writes to what a child inherited: USS grows, and RSS does not. */
static noinline void site_copied(void)
{
	char *p = map_small(SIZE);

	touch(p, SIZE);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	touch(p, SIZE);
}

/* Two functions take memory in turn, one frees it. */
static noinline void cache_clear(void)
{
	while (kept) {
		void *next = *(void **)kept;

		free(kept);
		kept = next;
	}
}

static noinline void cache_fill(void)
{
	for (int i = 0; i < 2000; i++)
		keep_block(1000);
}

static noinline void site_beside_cache(void)
{
	for (int i = 0; i < 20; i++) {
		cache_fill();
		cache_clear();
	}
	for (int i = 0; i < SIZE / 8192; i++)
		keep(memset(malloc(8192), 1, 8192));
}

static const struct {
	const char *name;
	void (*run)(void);
	int anon, file, shmem; /* KiB that it adds; none: it runs only if it is named */
} sites[] = {
	{"malloc_small", site_malloc_small, SIZE / 1024},
	{"malloc_large", site_malloc_large, SIZE / 1024},
	{"mmap", site_mmap, SIZE / 1024},
	{"read", site_read, SIZE / 1024},
	{"cow", site_cow, SIZE / 1024},
	{"data", site_data, SIZE / 1024},
	{"thread_stack", start_threads, SIZE / 1024},
	{"calloc", site_calloc, SIZE / 1024},
	{"realloc", site_realloc, SIZE / 1024},
	{"thp", site_thp, SIZE / 1024},
	{"shmem", site_shmem, 0, 0, SIZE / 1024},
	{"handle", site_handle},
	{"in_thread", site_in_thread},
	{"threads", site_threads},
	{"populate", site_populate},
	{"lock", site_lock},
	{"moved", site_moved},
	{"callers", site_callers},
	{"fork", site_fork},
	{"handle_few", site_handle_few},
	{"blocks", site_blocks},
	{"blocks_in_thread", site_blocks_in_thread},
	{"small", site_small},
	{"burst", site_burst},
	{"strdup", site_strdup},
	{"aligned", site_aligned},
	{"shared", site_shared},
	{"file", site_file},
	{"brk", site_brk},
	{"recursion", recursion},
	{"copied", site_copied},
	{"behind_buffer", site_behind_buffer},
	{"beside_cache", site_beside_cache},
};
#define SITES (sizeof(sites) / sizeof(sites[0]))

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static noinline int loop(long count)
{
	double begin = seconds();

	for (long i = 0; i < count; i++) {
		char *volatile p = malloc(SMALL);

		p[0] = 1;
		free(p);
	}
	printf("%.2f ns\n", (seconds() - begin) / (double)count * 1e9);
	return 0;
}

static noinline void *fault(void *arg)
{
	const size_t mib = *(size_t *)arg;
	size_t size = mib * MIB, count = 0;
	double begin = seconds();

	for (size_t i = 0; i < 10; i++) {
		char *p = map_small(size);

		touch(p, size);
		munmap(p, size);
		count += size / PAGE;
	}
	printf("%.1f ns\n", (seconds() - begin) / (double)count * 1e9);
	return NULL;
}

static bool by_default(size_t i)
{
	return sites[i].anon || sites[i].shmem;
}

static void run_site(const char *name)
{
	for (size_t i = 0; i < SITES; i++) {
		if (name ? strcmp(name, sites[i].name) == 0 : by_default(i))
			sites[i].run();
	}
}

int main(int argc, char **argv)
{
	char line[16];

	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		for (size_t i = 0; i < SITES && by_default(i); i++)
			printf("%s %d %d %d\n", sites[i].name, sites[i].anon, sites[i].file,
			       sites[i].shmem);
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "loop") == 0)
		return loop(atol(argv[2]));
	if (argc >= 3 && strcmp(argv[1], "fault") == 0) {
		size_t mib = (size_t)atol(argv[2]);
		pthread_t thread;

		if (argc == 3)
			return fault(&mib) != NULL;
		if (pthread_create(&thread, NULL, fault, &mib))
			fail("pthread_create");
		return pthread_join(thread, NULL);
	}
	if (argc == 3 && strcmp(argv[1], "now") == 0) {
		run_site(argv[2]);
		if (getenv("ENDS_PARENT")) {
			kill(getppid(), SIGINT);
			pause();
		}
		return 0;
	}
	printf("READY %d\n", getpid());
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 1; i < argc; i++)
		run_site(argv[i]);
	if (argc == 1)
		run_site(NULL);
	printf("DONE\n");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) ? 0 : 0;
}
