// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A library to preload that injects faults, controlled by the environment:
 * FAIL_AT=N		the N-th allocation of the program, libc and libbpf included, fails; 0: none
 * FAIL_ALL		all later allocations fail, too
 * FAIL_COUNT=FILE	at the end, FILE gets the number of allocations
 * FAIL_TICK=N		the allocations of tick N fail (of a command that sets its timer for each
 *			tick); FAIL_COUNT then gets a line for each tick with the allocations before
 *it TERM_AT_RENAME	SIGTERM arrives just before the program renames a file
 * AT_OPEN=NAME		just before the program opens NAME (such as "1234" in /proc) for the
 *			AT_OPEN_NTH time, the shell command AT_OPEN_RUN runs to its end
 * TURNS_TO, TURNS_FROM	the two ends of turns.c: that process is the large program whenever an
 *			iterator is read, and the small one whenever the file AT_OPEN is opened
 * HIDE_PIDS=PID,…	iterators do not show these processes, as if the kernel hid them from BPF
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "zmem/record.h"

/* glibc's internal names: dlsym() would allocate. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static atomic_long calls;
static long fail_at;
static bool fail_all;
static long fail_tick, ticks, calls_at[1000];

__attribute__((constructor)) static void start(void)
{
	const char *at = getenv("FAIL_AT");

	fail_all = getenv("FAIL_ALL");
	fail_at = at ? strtol(at, NULL, 10) : 0;
	at = getenv("FAIL_TICK");
	fail_tick = at ? strtol(at, NULL, 10) : 0;
	/* Do not count the allocations of the loader. */
	calls = 0;
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("FAIL_COUNT");
	char text[24];
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd < 0)
		return;
	if (write(fd, text, (size_t)snprintf(text, sizeof(text), "%ld\n", (long)calls)) < 0)
		_exit(125);
	for (long i = 0; i < ticks && i < 1000; i++) {
		if (write(fd, text, (size_t)snprintf(text, sizeof(text), "%ld\n", calls_at[i])) < 0)
			_exit(125);
	}
	close(fd);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	if (ticks < 1000)
		calls_at[ticks] = calls;
	ticks++;
	return (int)syscall(SYS_timerfd_settime, fd, flags, new, old);
}

static bool fails(void)
{
	long n = ++calls;

	if (fail_tick && ticks == fail_tick) {
		errno = ENOMEM;
		return true;
	}
	if (!fail_at || (fail_all ? n < fail_at : n != fail_at))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

int posix_memalign(void **ret, size_t align, size_t size)
{
	void *p = fails() ? NULL : __libc_memalign(align, size);

	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	if (getenv("TERM_AT_RENAME"))
		kill(getpid(), SIGTERM);
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

/* Not by system(): a new process would appear in the snapshot. */
static void turn(const char *mode)
{
	static atomic_flag busy = ATOMIC_FLAG_INIT;
	const char *to = getenv("TURNS_TO"), *from = getenv("TURNS_FROM");
	char answer;

	if (!to || !from)
		return;
	while (atomic_flag_test_and_set(&busy))
		;
	if (write((int)strtol(to, NULL, 10), mode, 1) != 1 ||
	    read((int)strtol(from, NULL, 10), &answer, 1) != 1)
		_exit(125);
	atomic_flag_clear(&busy);
}

#define ZMEM_ASK 0x7a6d656d2d627066L /* include/zmem/setup.h */

static bool hides(int pid)
{
	const char *list = getenv("HIDE_PIDS");

	while (list && *list) {
		char *end;

		if (strtol(list, &end, 10) == pid)
			return true;
		list = *end ? end + 1 : end;
	}
	return false;
}

/* Removes the records of hidden processes. Returns the bytes that are left. */
static long hide(char *data, long len)
{
	long left = 0, at = 0;

	if (!getenv("HIDE_PIDS"))
		return len;
	while (at + (long)ZMEM_RECORD_SHORT <= len) {
		struct zmem_record record;

		memcpy(&record, data + at, ZMEM_RECORD_SHORT);
		/* An answer to a question is no record. */
		if (record.version != ZMEM_RECORD_VERSION || record.size < ZMEM_RECORD_SHORT ||
		    at + record.size > len)
			return len;
		if (!hides(record.pid)) {
			memmove(data + left, data + at, record.size);
			left += record.size;
		}
		at += record.size;
	}
	return left;
}

/* glibc's internal name, or this would call itself. */
long syscall(long number, ...)
{
	static long (*next)(long number, ...);
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_read && a[3] == ZMEM_ASK) {
		long n;

		turn("L");
		/* No bytes would be the end. */
		do {
			n = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
		} while (n > 0 && (n = hide((char *)a[1], n)) == 0);
		return n;
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int openat(int dir, const char *path, int flags, ...)
{
	static atomic_int opened;
	const char *which = getenv("AT_OPEN"), *nth = getenv("AT_OPEN_NTH");
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	if (which && !strcmp(path, which))
		turn("S");
	if (which && getenv("AT_OPEN_RUN") && !strcmp(path, which) &&
	    ++opened == (nth ? strtol(nth, NULL, 10) : 1) && system(getenv("AT_OPEN_RUN")))
		_exit(125);
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}
