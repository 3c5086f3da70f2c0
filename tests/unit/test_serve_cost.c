// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cost_read(): open descriptors are counted right and with few system calls. */
#include "unit.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "serve/channel.h"

static unsigned calls;

/* Replaces poll() of the C library. */
int fcntl(int fd, int command, ...)
{
	va_list args;
	long arg;

	va_start(args, command);
	arg = va_arg(args, long);
	va_end(args);
	calls++;
	return (int)syscall(SYS_fcntl, fd, command, arg);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	struct timespec t = {timeout / 1000, 0};

	calls++;
	return (int)syscall(SYS_ppoll, fds, count, timeout < 0 ? NULL : &t, NULL, 0);
}

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size)
{
	assert_true(count * sizeof(*fds) <= size);
	return poll(fds, count, timeout);
}

/* The count by one question for each number. */
static unsigned open_fds(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 4096; fd++)
		count += syscall(SYS_fcntl, fd, F_GETFD) >= 0;
	return count;
}

static unsigned cost_fds(void)
{
	struct self_usage own;
	struct cost cost;

	self_usage_open(&own);
	cost_read(&own, &cost);
	self_usage_close(&own);
	return cost.fds - 1;
}

/* Before the tests. Not everybody may raise the hard limit. */
__attribute__((constructor)) static void allow_many(void)
{
	struct rlimit many;

	if (getrlimit(RLIMIT_NOFILE, &many))
		abort();
	many.rlim_cur = many.rlim_max < 2048 ? many.rlim_max : 2048;
	if (setrlimit(RLIMIT_NOFILE, &many))
		abort();
}

TEST(count)
{
	int far = 1999, fd[100];

	assert_int_equal(cost_fds(), open_fds());
	for (int i = 0; i < 100; i++)
		fd[i] = dup(0);
	assert_int_equal(dup2(0, far), far);
	assert_int_equal(cost_fds(), open_fds());
	close(far);
	for (int i = 0; i < 100; i++)
		close(fd[i]);
	assert_int_equal(cost_fds(), open_fds());
}

/* A regression would be one system call for each of 2,048 numbers at every scrape. */
TEST(calls)
{
	calls = 0;
	cost_fds();
	assert_uint_in_range(calls, 1, 16);
}

/* poll() refuses more descriptors than may be open. */
TEST(low_limit)
{
	struct rlimit low;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &low), 0);
	low.rlim_cur = 40;
	assert_int_equal(dup2(0, 1000), 1000);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	assert_int_equal(cost_fds(), open_fds());
	close(1000);
}
