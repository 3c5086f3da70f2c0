/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How kernel memory is read. Two ways with one face:
 *  - loads through bpf_rdonly_cast() (6.2 and later), which cannot fault, need no helper call and
 *    are allowed under lockdown=confidentiality;
 *  - with ZMEM_PROBE_READS bpf_probe_read_kernel(), for older kernels; with ZMEM_OLD also for those
 *    from 5.8 on, which have no bpf_loop() (5.17) and take no pointers in global functions (5.12).
 *
 *  kcast(type, addr)  a typed pointer, to be read with
 *  kget(p, member)    one member; pointers that are members are typed in turn
 *  kread64(addr), kread32(addr)  what lies at an address that is a plain number, as needed for
 *                     arithmetic, for global functions and to keep it in memory
 *  kaddr(p, member)   a member that is a pointer, as such a number
 *  kwords(addr)       up to 32 words there, of which kword(words, offset) and kword32() read one;
 *                     only with casts
 *  ktext(words, addr, count)  copies `count` (a constant, up to 8) words
 *
 * Every cast is a kfunc call the loader has to resolve and the verifier to check: cast once, read
 * through it.
 */
#ifndef ZMEM_KREAD_BPF_H
#define ZMEM_KREAD_BPF_H

/* A function with a part of the 512 bytes of stack for itself. */
#ifdef ZMEM_OLD
#define kfunction static __noinline
/*
 * Each turn is verified on its own, against all those before it. So there is no second try either:
 * who was overtaken, or has more threads, is read from /proc. Of threads that follow an exited
 * leader one of the first has memory.
 */
#define THREADS_MAX 256
#define FIND_MAX    16
#define READ_TRIES  1
#define kloop(max, step, arg)                                                                      \
	({                                                                                         \
		__u32 turn_ = 0;                                                                   \
		while (turn_ < (max) && !step(turn_, arg))                                         \
			turn_++;                                                                   \
		turn_;                                                                             \
	})
#else
#define kfunction	      __noinline
#define THREADS_MAX	      (1 << 16)
#define FIND_MAX	      (1 << 16)
#define READ_TRIES	      3
#define kloop(max, step, arg) bpf_loop(max, step, arg, 0)
#endif

#define koffset(type, member) ((__u64)bpf_core_field_offset(type, member))

#ifdef ZMEM_PROBE_READS

#define kcast(type, addr) ((const type *)(addr))
#define kget(p, member)                                                                            \
	((__typeof__((p)->member))(sizeof((p)->member) == 8 ? kread64((__u64) & (p)->member)       \
							    : kread32((__u64) & (p)->member)))
/* A function of its own: each probe read that is inlined keeps a slot of the 512 bytes of stack. */
#define kread_function __noinline
#define kread_raw(type, addr)                                                                      \
	({                                                                                         \
		type v_ = 0;                                                                       \
		bpf_probe_read_kernel(&v_, sizeof(v_), (const void *)(addr));                      \
		v_;                                                                                \
	})
#define ktext(words, addr, count)                                                                  \
	bpf_probe_read_kernel(words, (count) * sizeof(__u64), (const void *)(addr))

#else

#define kcast(type, addr)                                                                          \
	((const type *)bpf_rdonly_cast((const void *)(addr), bpf_core_type_id_kernel(type)))
#define kget(p, member) ((p)->member)
#define kread_function	static __always_inline
/*
 * What is no member is read as if it were one: the flags at the very beginning of a task_struct
 * (zmem_kread_works() says whether they are). Of all types that one costs the least to load: a
 * kernel keeps 31 names it has looked up, by their hash (kernel/bpf/btf.c,
 * VMLINUX_CAND_CACHE_SIZE); two of ours in one place, such as mm_struct and folio, push each other
 * out, and each search takes 0.3 ms.
 */
#define kread_raw(type, addr)                                                                      \
	(*(const volatile type *)&kcast(struct task_struct, addr)->thread_info.flags)
/*
 * Several words behind one cast, which is a call to the compiler: it costs the registers. They are
 * read as if they were resource limits: 32 words in a row in every kernel.
 */
#define kwords(addr)                                                                               \
	({                                                                                         \
		__u64 off_ = koffset(struct signal_struct, rlim);                                  \
		/* Kept out of the load, which is none of the whole array. */                      \
		barrier_var(off_);                                                                 \
		(const volatile void *)kcast(struct signal_struct, (__u64)(addr)-off_) + off_;     \
	})
#define kword(words, offset)   (*(const volatile __u64 *)((words) + (offset)))
#define kword32(words, offset) (*(const volatile __u32 *)((words) + (offset)))
#define ktext(words, addr, count)                                                                  \
	({                                                                                         \
		const volatile __u64 *from_ = kwords(addr);                                        \
		_Pragma("clang loop unroll(full)") for (int i_ = 0; i_ < (count);                  \
							i_++)(words)[i_] = from_[i_];              \
	})

#endif

/*
 * What is read behind it is not read before what is read in front of it. x86 keeps reads in order.
 * Elsewhere an exchange is a full barrier, here of a word of our own with itself; a kernel without
 * it (aarch64 before 5.18) refuses the program.
 */
static __always_inline void read_barrier(__u64 *own)
{
#ifndef __TARGET_ARCH_x86
	__sync_lock_test_and_set(own, *own);
#endif
	barrier();
}

/* Whether raw memory can be read here. */
#define zmem_kread_works() (koffset(struct task_struct, thread_info.flags) == 0)

#define kaddr(p, member)   kread64((__u64) & (p)->member)

kread_function __u64 kread64(__u64 addr)
{
	return kread_raw(__u64, addr);
}

kread_function __u32 kread32(__u64 addr)
{
	return kread_raw(__u32, addr);
}

#endif
