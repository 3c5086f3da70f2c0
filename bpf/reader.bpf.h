/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads what the thread that reads the iterator requests (include/zmem/setup.h): a share of all
 * processes, one process, or the rest of one. Any process that can read the iterator can send a
 * request, so no request may do harm.
 */
#ifndef ZMEM_READER_BPF_H
#define ZMEM_READER_BPF_H

#include "zmem/setup.h"
#include "kread.bpf.h"
#include "pid_view.bpf.h"
#include "user_regs.bpf.h"

struct question {
	union zmem_question what;
	__u64 cursor;
};

static __always_inline struct question reader_question(void)
{
	const volatile void *regs = kwords(reader_regs());
	struct question q = {};

	if (kword(regs, USER_ARGUMENT4) != ZMEM_ASK)
		return q;
	q.what.bits = kword(regs, USER_ARGUMENT5);
	q.cursor = kword(regs, USER_ARGUMENT6);
	return q;
}

/* True if the reader sent a request: its registers are where they are looked for. */
static __always_inline bool reader_asks(void)
{
	return kword(kwords(reader_regs()), USER_ARGUMENT4) == ZMEM_ASK;
}

/*
 * Returns 1 if the reader requests this process, by the bits of union zmem_question. Probe reads
 * take room in the frame. So with them it is no part of its caller: that frame stays on the stack
 * during the deepest calls.
 */
probe_function int is_wanted(__u64 bits, __u64 leader)
{
	const struct task_struct *task = kcast(struct task_struct, leader);
	const union zmem_question what = {.bits = bits};
	struct pid_view view;

	if (what.shares > 1 && (__u32)kget(task, tgid) % what.shares != what.share)
		return 0;
	if (!what.pid)
		return 1;
	view = reader_view();
	return pid_number(kget(task, thread_pid), &view) == what.pid;
}

#endif
