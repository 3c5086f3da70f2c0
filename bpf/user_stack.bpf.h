/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies the user registers of the current thread, and its stack. */
#ifndef ZMEM_USER_STACK_BPF_H
#define ZMEM_USER_STACK_BPF_H

/* Indexes of words of struct pt_regs. */
#if defined(__TARGET_ARCH_x86)
#define REGS	21
#define REGS_SP 19
#else
#define REGS	33 /* one more than WORDS */
#define REGS_SP 31
#endif

#define WORDS 32 /* of kwords() */

static __always_inline void copy_regs(__u64 *to)
{
	const volatile void *words = kwords(reader_regs());

	_Pragma("clang loop unroll(full)") for (int i = 0; i < REGS && i < WORDS; i++) to[i] =
		kword(words, i * 8);
#if REGS > WORDS
	words = kwords((__u64)reader_regs() + WORDS * 8);
	to[WORDS] = kword(words, 0);
#endif
}

#define PAGE  4096 /* a larger page of the kernel is so many of these */
#define BLOCK 1024 /* divides PAGE */
#define TAIL  64

/*
 * Copies what is there at `sp`, up to `limit` and to `size` bytes, a constant. A page that is
 * absent is skipped: *ret_absent has a bit for each such page, from that of `sp` on. Returns how
 * many bytes the copy covers.
 *
 * A turn has no branches on what was read: the verifier would follow each order of them.
 */
static __always_inline __u32 copy_stack(__u8 *to, __u64 sp, __u32 size, __u64 limit,
					__u32 *ret_absent)
{
	__u64 n = 0;
	__u32 absent = 0;

	for (__u32 i = 0; i < size / BLOCK + 1; i++) {
		__u64 len, skip, bad;

		barrier_var(n); /* one register that is checked, and used */
		if (n >= limit || n > size - BLOCK)
			break;
		len = BLOCK - ((sp + n) & (BLOCK - 1));
		skip = PAGE - ((sp + n) & (PAGE - 1));
		bad = (__u64)bpf_probe_read_user(to + n, len, (const void *)(sp + n)) >> 63;
		barrier_var(bad);
		absent |= (__u32)bad << ((((sp & (PAGE - 1)) + n) / PAGE) & 31);
		n += len + (skip - len) * bad;
	}
	for (__u32 i = 0; i < BLOCK / TAIL; i++) {
		barrier_var(n);
		if (n >= limit || n > size - TAIL ||
		    bpf_probe_read_user(to + n, TAIL, (const void *)(sp + n)))
			break;
		n += TAIL;
	}
	*ret_absent = absent;
	return n < size ? (__u32)n : size;
}

/* The stack of a thread is at most so large, where its end is not known otherwise. */
#define STACK_FAR	 (8 << 20)
#define STACK_FAR_THREAD (64 << 20)

/*
 * How far the stack at `sp` reaches; it may be less. That of the first thread ends where the kernel
 * has put the arguments. Above that of another thread, glibc and musl have the structure that the
 * thread pointer points to: nothing is read to find its end. A stack of a coroutine is neither.
 */
static __always_inline __u64 stack_depth(__u64 mm, __u64 sp)
{
	__u64 depth = (__u64)kget(kcast(struct mm_struct, mm), start_stack) - sp;
	__u64 pointer;

	if (depth <= STACK_FAR)
		return depth;
#if defined(__TARGET_ARCH_x86)
	pointer = kread64(bpf_get_current_task() +
			  koffset(struct task_struct___pointer, thread.fsbase));
#else
	pointer = kread64(bpf_get_current_task() +
			  koffset(struct task_struct___pointer, thread.uw.tp_value));
#endif
	return pointer - sp <= STACK_FAR_THREAD ? pointer - sp : STACK_FAR;
}

#endif
