// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* load_limit: a verifier that takes too long is ended, and what was set up for that is undone. */
#include "unit.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "load/load_limit.h"

#define MS_NS 1000000ULL

/* Loads a program with a loop that the verifier follows until it gives up: a million instructions.
 */
static int load_slow_program(void)
{
	static const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_6},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_6, .imm = 1},
		{.code = BPF_JMP | BPF_JLT | BPF_K,
		 .dst_reg = BPF_REG_6,
		 .off = -2,
		 .imm = 100000000},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, "Dual BSD/GPL", program,
			       ARRAY_SIZE(program), NULL);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void spin(uint64_t ns)
{
	struct timespec t;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((uint64_t)t.tv_sec * 1000 * MS_NS + (uint64_t)t.tv_nsec < ns);
}

static uint64_t used_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 * MS_NS + (uint64_t)t.tv_nsec;
}

TEST(verifier_is_ended)
{
	struct load_limit limit;
	int r = load_slow_program();

	if (r == -EPERM || r == -ENOSYS)
		skip();
	assert_int_equal(r, -E2BIG);
	load_limit_begin(&limit, 2 * MS_NS);
	assert_int_equal(load_limit_end(&limit, load_slow_program()), -ETIME);
	/* The next one has its own time. */
	load_limit_begin(&limit, LOAD_LIMIT_NS);
	assert_int_equal(load_limit_end(&limit, load_slow_program()), -E2BIG);
}

TEST(result)
{
	struct load_limit limit;

	load_limit_begin(&limit, LOAD_LIMIT_NS);
	assert_int_equal(load_limit_end(&limit, -EAGAIN), -EAGAIN);
	load_limit_begin(&limit, 2 * MS_NS);
	spin(used_ns() + 4 * MS_NS);
	assert_int_equal(load_limit_end(&limit, 0), 0);
	load_limit_begin(&limit, 2 * MS_NS);
	spin(used_ns() + 4 * MS_NS);
	assert_int_equal(load_limit_end(&limit, -EINVAL), -EINVAL);
	load_limit_begin(&limit, 2 * MS_NS);
	spin(used_ns() + 4 * MS_NS);
	assert_int_equal(load_limit_end(&limit, -EAGAIN), -ETIME);
}

/* Also where the signal is blocked, as in threads. */
TEST(signals_are_as_before)
{
	const int number = SIGRTMIN + 5;
	struct sigaction action;
	struct load_limit limit;
	sigset_t all, now;

	sigfillset(&all);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &all, NULL), 0);
	load_limit_begin(&limit, 2 * MS_NS);
	spin(used_ns() + 4 * MS_NS);
	assert_int_equal(load_limit_end(&limit, -EAGAIN), -ETIME);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
	assert_true(sigismember(&now, number));
	assert_int_equal(sigaction(number, NULL, &action), 0);
	assert_ptr_equal(action.sa_handler, SIG_DFL);
	/* None is pending, which would end the process. */
	sigemptyset(&all);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &all, NULL), 0);
}
