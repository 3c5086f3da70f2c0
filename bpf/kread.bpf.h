/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads kernel memory. The same macros exist in two variants:
 *   - loads through bpf_rdonly_cast() (6.2 and later), which cannot fault, need no helper call and
 *     are allowed under lockdown=confidentiality;
 *   - with ZMEM_PROBE_READS, bpf_probe_read_kernel() for older kernels. With ZMEM_OLD also for
 *     kernels from 5.8 on, which lack bpf_loop() (5.17) and pointer arguments of global functions
 *     (5.12).
 *
 *   kcast(type, addr)  a typed pointer, to be read with
 *   kget(p, member)    one member; a member that is a pointer is typed in turn
 *   kread64(addr), kread32(addr)  the value at an address that is a plain number, as needed for
 *                      arithmetic, for global functions and to store it in memory
 *   kaddr(p, member)   a member that is a pointer, as a plain number
 *   kwords(addr)       up to 32 words at addr; kword(words, offset) reads one of them, kword32()
 *                      half of one
 *   kblock(room, addr, size)  the same for words that are read often: probe reads copy `size` bytes
 *                      to `room` in one call; kblock_word(block, offset), kblock_word32()
 *   ktext(words, addr, count)  copies `count` words (a constant, up to 8)
 *
 * Each cast is a kfunc call that the loader resolves and the verifier checks: cast once and read
 * through the result.
 */
#ifndef ZMEM_KREAD_BPF_H
#define ZMEM_KREAD_BPF_H

/* usdt.bpf.h came with libbpf 0.8, as did macros that are used here. Ubuntu 22.04 has 0.5. */
#if !__has_include(<bpf/usdt.bpf.h>)
#error "libbpf is too old: 0.8 or newer is needed"
#endif

/*
 * A function that has its own frame within the 512 bytes of stack. It is a global function, except
 * with ZMEM_OLD: those kernels give global functions no pointers.
 */
#ifdef ZMEM_OLD
#define own_frame_function static __noinline __attribute__((unused))
/*
 * The verifier checks each iteration separately, against all earlier ones, so limits are low and a
 * read is tried once: user space reads raced processes and processes with more threads from /proc.
 * Among the threads behind an exited leader, one of the first has the mm.
 */
#define THREADS_TURNS 64
#define THREADS_MAX   (THREADS_TURNS * THREADS_TURNS)
#define FIND_MAX      16
#define READ_TRIES    1
#define kloop(max, step, arg)                                                                      \
	({                                                                                         \
		__u32 turn_ = 0;                                                                   \
		while (turn_ < (max) && !step(turn_, arg))                                         \
			turn_++;                                                                   \
		turn_;                                                                             \
	})
#else
#define own_frame_function    __noinline
#define THREADS_MAX	      (1 << 16)
#define FIND_MAX	      (1 << 16)
#define READ_TRIES	      3
#define kloop(max, step, arg) bpf_loop(max, step, arg, 0)
#endif

/*
 * A function that is verified once. With probe reads it is inlined: reads take some of the 8 frames
 * and of the 32 functions of a light skeleton, while the stack has room.
 */
#ifdef ZMEM_PROBE_READS
#define once_function static __always_inline
/* False where all kernels have one layout, so that the code for older ones is left out. */
#define OLD_LAYOUTS 1
#else
#define once_function __noinline
#define OLD_LAYOUTS   0
#endif

/*
 * The type and its first member by which raw memory is read. A program that has another type with
 * task_struct's place in the kernel's cache of types (below) defines others.
 */
#ifndef RAW_TYPE
#define RAW_TYPE   task_struct
#define RAW_MEMBER thread_info.flags
#endif

/*
 * True if the kernel has the member. Kernels with casts have all of them, so the check is left out
 * there, and the verifier has no branch to remove. A later kernel without the member refuses the
 * program, and another variant is loaded.
 */
#define has_member(type, member) (!OLD_LAYOUTS || bpf_core_field_exists(type, member))

/* With probe reads a function that is verified once, with casts it is inlined. */
#ifdef ZMEM_PROBE_READS
#define probe_function __noinline
#else
#define probe_function static __always_inline
#endif

#define koffset(type, member) ((__u64)bpf_core_field_offset(type, member))

#define kcast(type, addr)     ((const type *)(addr))
#define kget(p, member)                                                                            \
	((__typeof__((p)->member))(sizeof((p)->member) == 8 ? kread64((__u64) & (p)->member)       \
							    : kread32((__u64) & (p)->member)))

#ifdef ZMEM_PROBE_READS

#define kread_raw(type, addr)                                                                      \
	({                                                                                         \
		type v_ = 0;                                                                       \
		bpf_probe_read_kernel(&v_, sizeof(v_), (const void *)(addr));                      \
		v_;                                                                                \
	})
#define ktext(words, addr, count)                                                                  \
	bpf_probe_read_kernel(words, (count) * sizeof(__u64), (const void *)(addr))
#define kwords(addr)	       ((const void *)(addr))
#define kword(words, offset)   kread64((__u64)(words) + (offset))
#define kword32(words, offset) kread32((__u64)(words) + (offset))
#define kblock(room, addr, size)                                                                   \
	({                                                                                         \
		bpf_probe_read_kernel(room, size, (const void *)(addr));                           \
		(const void *)(room);                                                              \
	})
#define kblock_word(block, offset)   (*(const __u64 *)((block) + (offset)))
#define kblock_word32(block, offset) (*(const __u32 *)((block) + (offset)))

#else

#define typed(type, addr)                                                                          \
	((const type *)bpf_rdonly_cast((const void *)(addr), bpf_core_type_id_kernel(type)))
/*
 * Raw memory is read as if it were the member at the very beginning of a task_struct, `flags`
 * (zmem_kread_works() checks that it is there). That type is the cheapest to load: the kernel
 * caches 31 type names by hash (kernel/bpf/btf.c, VMLINUX_CAND_CACHE_SIZE), two of our types with
 * the same place (such as mm_struct and folio) evict each other, and each lookup takes 0.3 ms.
 */
#define kread_raw(type, addr) (*(const volatile type *)typed(struct RAW_TYPE, addr))
/*
 * Reads several words with one cast. To the compiler a cast is a call, which clobbers registers.
 * The words are read as if they were resource limits: 32 words in a row in every kernel.
 */
#define kwords(addr)                                                                               \
	({                                                                                         \
		__u64 off_ = koffset(struct signal_struct, rlim);                                  \
		/* Hides the offset from the compiler: no CO-RE load covers the whole array. */    \
		barrier_var(off_);                                                                 \
		(const volatile void *)typed(struct signal_struct, (__u64)(addr)-off_) + off_;     \
	})
#define kword(words, offset)	     (*(const volatile __u64 *)((words) + (offset)))
#define kword32(words, offset)	     (*(const volatile __u32 *)((words) + (offset)))
#define kblock(room, addr, size)     kwords(addr)
#define kblock_word(block, offset)   kword(block, offset)
#define kblock_word32(block, offset) kword32(block, offset)
#define ktext(words, addr, count)                                                                  \
	({                                                                                         \
		const volatile __u64 *from_ = kwords(addr);                                        \
		_Pragma("clang loop unroll(full)") for (int i_ = 0; i_ < (count);                  \
							i_++)(words)[i_] = from_[i_];              \
	})

#endif

/* Returns the value. The verifier takes it for any number, so turns of a loop are alike to it. */
#ifdef ZMEM_OLD
__noinline __u64 any_number(__u64 value)
{
	barrier_var(value);
	return value;
}
#endif

/*
 * Reads after the barrier do not happen before reads that precede it. x86 keeps reads in order. On
 * other architectures an atomic exchange of one of our own words with itself is a full barrier; a
 * kernel without that instruction (aarch64 before 5.18) refuses the program.
 */
static __always_inline void read_barrier(__u64 *own)
{
#ifndef __TARGET_ARCH_x86
	__sync_lock_test_and_set(own, *own);
#endif
	barrier();
}

/* True if raw memory can be read on this kernel. */
#define zmem_kread_works() (koffset(struct RAW_TYPE, RAW_MEMBER) == 0)

#define kaddr(p, member)   kread64((__u64) & (p)->member)

#ifdef ZMEM_PROBE_READS
/*
 * One function for both sizes: the loader of a light skeleton has room for 32. Not inlined: each
 * inlined probe read keeps a slot of the 512 bytes of stack. kread_raw() is inlined, for functions
 * that have no frame of the 8 below them.
 */
__noinline __u64 kread_size(__u64 addr, __u32 size)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, size == sizeof(__u32) ? size : sizeof(value),
			      (const void *)addr);
	return value;
}

static __always_inline __u64 kread64(__u64 addr)
{
	return kread_size(addr, sizeof(__u64));
}

static __always_inline __u32 kread32(__u64 addr)
{
	return (__u32)kread_size(addr, sizeof(__u32));
}
#else
__noinline __u64 kread_size(__u64 addr, __u32 size)
{
	return size == sizeof(__u32) ? kread_raw(__u32, addr) : kread_raw(__u64, addr);
}

static __always_inline __u64 kread64(__u64 addr)
{
	return kread_size(addr, sizeof(__u64));
}

static __always_inline __u32 kread32(__u64 addr)
{
	return (__u32)kread_size(addr, sizeof(__u32));
}
#endif

/*
 * Clears everything behind the first NUL, because the memory behind a name must not leak. It has no
 * branch: a branch would double the verifier's work for all later code.
 */
static __always_inline void text_terminate(__u64 *words, int count)
{
	const __u64 ones = 0x0101010101010101ULL;
	__u64 keep = ~0ULL;

	for (int i = 0; i < count; i++) {
		__u64 w = words[i];
		__u64 zero =
			(w - ones) & ~w & (ones << 7); /* bit 7 of the first NUL byte, at least */

		barrier(); /* one word at a time: clang 19 and later else need too much stack */
		words[i] = w & keep & (((zero & -zero) >> 7) - 1);
		keep &= ((zero | -zero) >> 63) - 1; /* 0 after the first NUL */
	}
}

#endif
