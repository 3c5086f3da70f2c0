// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* load_limit: a verifier that takes too long is ended, and what was set up for that is undone. */
#include "unit.h"

#include <bpf/bpf.h>
#include <pthread.h>
#include <signal.h>

#include "base/clock.h"
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

/* What a load that takes longer than its bound of 2 ms, and then has this error, ends with. */
static int late(int error)
{
	struct load_limit limit;
	uint64_t end;

	load_limit_begin(&limit, 2 * MS_NS);
	end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 4 * MS_NS;
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
	return load_limit_end(&limit, error);
}

TEST(verifier_is_ended)
{
	struct load_limit limit;
	int r = load_slow_program();

	if (r == -EPERM || r == -ENOSYS) {
		print_message("BPF is refused: %s\n", strerror(-r));
		skip();
	}
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
	assert_int_equal(late(0), 0);
	assert_int_equal(late(-EINVAL), -EINVAL);
	assert_int_equal(late(-EAGAIN), -ETIME);
}

/* Also where the signal is blocked, as in threads. */
TEST(signals_are_as_before)
{
	const int number = SIGRTMIN + 5;
	struct sigaction action;
	sigset_t all, now;

	sigfillset(&all);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &all, NULL), 0);
	assert_int_equal(late(-EAGAIN), -ETIME);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
	assert_true(sigismember(&now, number));
	assert_int_equal(sigaction(number, NULL, &action), 0);
	assert_ptr_equal(action.sa_handler, SIG_DFL);
	/* None is pending, which would end the process. */
	sigemptyset(&all);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &all, NULL), 0);
}
