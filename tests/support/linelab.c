// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Two lines of one function allocate, by a function of another source that the compiler puts into
 * it: 4 MiB at FIRST, 2 MiB at SECOND. It prints "READY pid" and waits for a line, then "DONE" and
 * waits for the end of its input. live/test_grow_lines.py finds the numbers of these lines.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef LEFT_OUT
#include LEFT_OUT
#endif

#define PAGES(mib) ((mib)*256)
#define PAGE	   4096

static char *volatile kept;

static void *at_page(size_t i)
{
	return kept + i * PAGE;
}

/* Lines of another file. */
#line 700 "inlined.h"
static inline __attribute__((always_inline)) void touch(size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++)
		*(volatile char *)at_page(i) = 1;
}
#line 33 "linelab.c"
__attribute__((noinline, unused)) static void remember(void)
{
	touch(0, PAGES(4));	   /* FIRST */
	touch(PAGES(4), PAGES(2)); /* SECOND */
}

#ifdef PLAIN
/* The same by its own lines. */
__attribute__((noinline)) static void remember_plain(void)
{
	for (size_t i = 0; i < PAGES(4); i++)
		*(volatile char *)(kept + i * PAGE) = 1; /* PLAIN FIRST */
	for (size_t i = PAGES(4); i < PAGES(6); i++)
		*(volatile char *)(kept + i * PAGE) = 1; /* PLAIN SECOND */
}
#define remember() remember_plain()
#endif

#ifdef NESTED
__attribute__((noinline)) static void remember_nested(size_t first)
{
	__attribute__((noinline)) void nested(void)
	{
		touch(first, PAGES(6)); /* NESTED */
	}
	nested();
}
#define remember() remember_nested(0)
#endif

int main(void)
{
	kept = mmap(NULL, (size_t)PAGES(6) * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (kept == MAP_FAILED)
		return 1;
	madvise(kept, (size_t)PAGES(6) * PAGE, MADV_NOHUGEPAGE);
	printf("READY %d\n", getpid());
	fflush(stdout);
	getchar();
	remember();
	puts("DONE");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
