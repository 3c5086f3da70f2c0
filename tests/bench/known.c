// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs that know what each of their functions holds at the end, for tests/bench/leaks.py
 * --truth: known NAME. Held are the bytes that a function asked for and that are not freed since.
 * At the end the program writes lines "function bytes" to the file that TRUTH names, or stderr.
 * Then it ends the program that started it, if ENDS_PARENT is set, and waits. With WAITS_FOR_START
 * it prints "READY", and begins at a line on its standard input; without ENDS_PARENT it prints
 * "DONE", and waits for the end of its standard input.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB    ((size_t)1024)
#define MIB    (1024 * KIB)
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define PART __attribute__((noinline))
#else
#define PART __attribute__((noinline, noclone))
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- what functions hold ---- */

static struct account {
	const char *function;
	int64_t held;
} accounts[8];

static pthread_mutex_t accounts_lock = PTHREAD_MUTEX_INITIALIZER;

/* That of a function. It is in the truth from then on. */
static struct account *account(const char *function)
{
	size_t i = 0;

	pthread_mutex_lock(&accounts_lock);
	while (accounts[i].function && strcmp(accounts[i].function, function))
		i++;
	if (i + 1 >= COUNT_OF(accounts))
		abort();
	accounts[i].function = function;
	pthread_mutex_unlock(&accounts_lock);
	return &accounts[i];
}

static void count(struct account *a, int64_t bytes)
{
	__atomic_fetch_add(&a->held, bytes, __ATOMIC_RELAXED);
}

static void write_truth(void)
{
	const char *path = getenv("TRUTH");
	FILE *file = path ? fopen(path, "w") : stderr;

	for (const struct account *a = accounts; file && a->function; a++)
		fprintf(file, "%s %lld\n", a->function, (long long)a->held);
	if (!file || fflush(file))
		abort();
}

/* Begins a block of a list. */
struct block {
	struct block *next;
	struct account *by;
};

static struct block *kept;

/* What the compiler may not remove. */
static void *volatile last;

/* The frame of the function that asks is the first one of the program. */
INLINE void *take(struct account *by, size_t size)
{
	char *p = malloc(size);

	p[0] = p[size - 1] = 1;
	last = p;
	count(by, (int64_t)size);
	return p;
}

INLINE void give(struct account *by, void *p, size_t size)
{
	count(by, -(int64_t)size);
	free(p);
}

INLINE void push(struct block **list, void *p, struct account *by)
{
	struct block *block = p;

	*block = (struct block){*list, by};
	*list = block;
}

/* The same in each run. */
static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static size_t size_between(size_t least, size_t most)
{
	return least + next_random() % (most - least + 1);
}

static void pause_ms(unsigned ms)
{
	usleep(ms * 1000);
}

/* Takes and frees so many blocks; it holds nothing. */
static PART void churns(size_t blocks, size_t size)
{
	struct account *me = account(__func__);
	char *block[100];

	for (size_t i = 0; i < blocks; i += COUNT_OF(block)) {
		for (size_t k = 0; k < COUNT_OF(block); k++)
			block[k] = take(me, size);
		for (size_t k = 0; k < COUNT_OF(block); k++)
			give(me, block[k], size);
	}
}

/* ---- programs ---- */

#define BURST 3000000

/* 91.6 MiB at once. */
static PART void burst_keeps(void)
{
	struct account *me = account(__func__);

	for (int i = 0; i < BURST; i++)
		push(&kept, take(me, 32), me);
}

static PART void leak_keeps(size_t size)
{
	struct account *me = account(__func__);

	push(&kept, take(me, size), me);
}

/* 7.6 MiB in 5 s. */
static void burst_then_leak(void)
{
	burst_keeps();
	for (int i = 0; i < 8000; i++) {
		leak_keeps(1000);
		churns(100, 64);
		usleep(500); /* time itself: a server has pauses */
	}
}

static PART void phase1_takes(struct block **list)
{
	struct account *me = account(__func__);

	for (int i = 0; i < 10000; i++)
		push(list, take(me, 200), me);
}

static PART void phase2_frees(struct block **list)
{
	for (int i = 0; i < 10000 && *list; i++) {
		struct block *block = *list;

		*list = block->next;
		give(block->by, block, 200);
	}
}

static PART void phase3_keeps(void)
{
	struct account *me = account(__func__);

	for (int i = 0; i < 10000; i++)
		push(&kept, take(me, 100), me);
}

/* 57 MiB in 1.5 s, which are freed in 1.5 s; then 28.6 MiB in 1.5 s. */
static void phases(void)
{
	struct block *list = NULL;

	for (int i = 0; i < 30; i++) {
		phase1_takes(&list);
		pause_ms(50);
	}
	while (list) {
		phase2_frees(&list);
		pause_ms(50);
	}
	for (int i = 0; i < 30; i++) {
		phase3_keeps();
		pause_ms(50);
	}
}

/* Every other block of a burst stays. */
static PART void repeat_keeps(void)
{
	static void *block[200000];
	struct account *me = account(__func__);

	for (size_t i = 0; i < COUNT_OF(block); i++)
		block[i] = take(me, 64);
	for (size_t i = 0; i < COUNT_OF(block); i += 2)
		give(me, block[i], 64);
}

/* 15 bursts, each with 6.1 MiB that stay. */
static void repeated(void)
{
	for (int i = 0; i < 15; i++) {
		repeat_keeps();
		pause_ms(300);
	}
}

static struct block *old;

/* Its blocks are there before it is attached to. They do not count. */
static PART void before_keeps(void)
{
	static struct account nobody;

	for (int i = 0; i < 200000; i++)
		push(&old, take(&nobody, 100), &nobody);
}

static PART void before_frees(int blocks)
{
	for (int i = 0; i < blocks && old; i++) {
		struct block *block = old;

		old = block->next;
		give(block->by, block, 100);
	}
}

static PART void after_keeps(void)
{
	struct account *me = account(__func__);

	for (int i = 0; i < 1000; i++)
		push(&kept, take(me, 100), me);
}

/* 19 MiB are there before, and half of them is freed, while 15 MiB come: in part at the same
 * addresses. */
static void before(void)
{
	account("before_keeps");
	for (int i = 0; i < 160; i++) {
		before_frees(625);
		after_keeps();
		churns(1000, 100);
		pause_ms(20);
	}
}

#define THREADS 500

static pthread_barrier_t all_there, all_done;

/* One block in 20 stays. */
static PART void *thread_keeps(void *arg)
{
	struct account *me = arg;

	pthread_barrier_wait(&all_there);
	for (int i = 0; i < 2000; i++) {
		void *block = take(me, 200);

		if (i % 20)
			give(me, block, 200);
		if (i % 50 == 0)
			pause_ms(50);
	}
	pthread_barrier_wait(&all_done);
	pause();
	return NULL;
}

/* 9.5 MiB: 100 blocks of each thread. */
static void threads500(void)
{
	struct account *them = account("thread_keeps");
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * KIB);
	pthread_barrier_init(&all_there, NULL, THREADS);
	pthread_barrier_init(&all_done, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, &attr, thread_keeps, them))
			abort();
	pthread_barrier_wait(&all_done);
}

/* It keeps so many blocks. */
#define KEEPS(name, blocks)                                                                        \
	static PART void name(void)                                                                \
	{                                                                                          \
		struct account *me = account(__func__);                                            \
                                                                                                   \
		for (int i = 0; i < (blocks); i++)                                                 \
			push(&kept, take(me, size_between(16, 200)), me);                          \
	}

KEEPS(live40_keeps, 400)
KEEPS(live30_keeps, 300)
KEEPS(live20_keeps, 200)
KEEPS(live10_keeps, 100)

static volatile bool filled;

static void *churns_beside(void *arg)
{
	while (!filled) {
		churns(100, 150);
		pause_ms(1);
	}
	return arg;
}

/* 309 MiB in 3,000,000 blocks: 40, 30, 20 and 10 percent of them. */
static void live3m(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, churns_beside, NULL))
		abort();
	for (int i = 0; i < 3000; i++) {
		live40_keeps();
		live30_keeps();
		live20_keeps();
		live10_keeps();
		if (i % 3 == 0)
			pause_ms(1);
	}
	for (int i = 0; i < 20; i++)
		pause_ms(100);
	filled = true;
	pthread_join(thread, NULL);
}

#define CHAINS 20000

struct chain {
	void *block;
	size_t size;
	struct account *by;
};

static PART void chain_begins(struct chain *c)
{
	struct account *me = account(__func__);

	*c = (struct chain){take(me, 2000), 2000, me};
}

static PART void chain_grows(struct chain *c)
{
	struct account *me = account(__func__);
	size_t size = c->size + c->size / 4;
	char *p = realloc(c->block, size);

	p[size - 1] = 1;
	count(c->by, -(int64_t)c->size);
	count(me, (int64_t)size);
	*c = (struct chain){p, size, me};
}

/* Half of the blocks grow, 8 times: 19 MiB of those that do not, and 114 MiB. */
static void realloc_chain(void)
{
	static struct chain chain[CHAINS];

	for (int i = 0; i < CHAINS; i++)
		chain_begins(&chain[i]);
	for (int step = 0; step < 8; step++) {
		for (int i = 0; i < CHAINS; i += 2) {
			chain_grows(&chain[i]);
			if (i % 400 == 0)
				pause_ms(4);
		}
	}
}

/* The C library's own, where another allocator is in front of it. */
void *__libc_malloc(size_t size);
void __libc_free(void *block);

static PART void first_keeps(void)
{
	struct account *me = account(__func__);

	for (int i = 0; i < 200; i++)
		push(&kept, take(me, 500), me);
}

/* A tenth of what it takes stays. */
static PART void second_keeps(void)
{
	struct account *me = account(__func__);

	for (int i = 0; i < 1000; i++) {
		char *p = __libc_malloc(400);

		p[0] = 1;
		last = p;
		if (i % 10) {
			__libc_free(p);
			continue;
		}
		count(me, 400);
		push(&kept, p, me);
	}
}

/* 19 MiB of one allocator, 7.6 MiB of the other one. */
static void two_allocators(void)
{
	for (int i = 0; i < 200; i++) {
		first_keeps();
		second_keeps();
		churns(500, 400);
		pause_ms(15);
	}
}

/* All sizes have the same chance, by their logarithm. */
static size_t any_size(size_t least, size_t most)
{
	double u = (double)(next_random() >> 11) / (double)((uint64_t)1 << 53);

	return (size_t)((double)least * pow((double)most / (double)least, u));
}

static PART void small_keeps(int blocks)
{
	struct account *me = account(__func__);

	for (int i = 0; i < blocks; i++)
		take(me, any_size(8, 512));
}

/* Half of what they take stays. */
INLINE void keep_half(struct account *me, int blocks, size_t least, size_t most)
{
	for (int i = 0; i < blocks; i++) {
		size_t size = any_size(least, most);
		void *block = take(me, size);

		if (i % 2)
			give(me, block, size);
	}
}

static PART void medium_keeps(int blocks)
{
	keep_half(account(__func__), blocks, 512, 64 * KIB);
}

static PART void large_keeps(int blocks)
{
	keep_half(account(__func__), blocks, 64 * KIB, 4 * MIB);
}

/* Blocks of 8 bytes to 4 MiB: 11.5, 24.9 and 96.4 MiB. */
static void sizes(void)
{
	for (int i = 0; i < 100; i++) {
		small_keeps(1000);
		medium_keeps(40);
		large_keeps(2);
		pause_ms(20);
	}
}

/* 100 KiB, while 6.5 GiB come and go. */
static void small_leak(void)
{
	for (int i = 0; i < 1024; i++) {
		churns(1300, 5000);
		leak_keeps(100);
		usleep(2000); /* time itself: a server has pauses */
	}
}

static const struct program {
	const char *name;
	void (*run)(void);
	void (*before)(void); /* it waits, or NULL */
} programs[] = {
	{"bursts", burst_keeps, NULL},
	{"burst_then_leak", burst_then_leak, NULL},
	{"phases", phases, NULL},
	{"repeated", repeated, NULL},
	{"before", before, before_keeps},
	{"threads500", threads500, NULL},
	{"live3m", live3m, NULL},
	{"realloc_chain", realloc_chain, NULL},
	{"two_allocators", two_allocators, NULL},
	{"sizes", sizes, NULL},
	{"small_leak", small_leak, NULL},
};

static const struct program *find(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(programs); i++) {
		if (strcmp(programs[i].name, name) == 0)
			return &programs[i];
	}
	return NULL;
}

static bool read_line(void)
{
	char line[16];

	return fgets(line, sizeof(line), stdin);
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct program *p = argc == 2 ? find(argv[1]) : NULL;

	if (!p)
		return 2;
	if (p->before)
		p->before();
	if (getenv("WAITS_FOR_START")) {
		say("READY");
		if (!read_line())
			return 1;
	}
	p->run();
	write_truth();
	if (getenv("ENDS_PARENT")) {
		kill(getppid(), SIGINT);
		pause();
	}
	say("DONE");
	while (read_line()) {
	}
	return 0;
}
