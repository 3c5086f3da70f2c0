/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Offsets in struct pt_regs, which holds the user registers of a thread in a system call
 * (bpf_task_pt_regs()). They are the same in every kernel: those of x86-64 are an ABI
 * (arch/x86/include/uapi/asm/ptrace.h); arm64: arch/arm64/include/asm/ptrace.h.
 */
#ifndef ZMEM_USER_REGS_BPF_H
#define ZMEM_USER_REGS_BPF_H

#if defined(__TARGET_ARCH_x86)

#define USER_CALL      (15 * 8) /* orig_ax */
#define USER_ARGUMENT1 (14 * 8) /* rdi */
#define USER_ARGUMENT2 (13 * 8) /* rsi */
#define USER_ARGUMENT3 (12 * 8) /* rdx */
#define USER_ARGUMENT4 (7 * 8)	/* r10 */
#define USER_ARGUMENT5 (9 * 8)	/* r8 */
#define USER_ARGUMENT6 (8 * 8)	/* r9 */

/* The number of a thread that is in no system call. */
#define USER_NO_CALL ((__u32)-1)

/* System call numbers. */
#define CALL_EXECVE   59
#define CALL_EXECVEAT 322
#define CALL_MMAP     9
#define CALL_MUNMAP   11
#define CALL_BRK      12
#define CALL_MREMAP   25
#define CALL_MADVISE  28
#define CALL_MLOCK    149
#define CALL_MLOCK2   325

#elif defined(__TARGET_ARCH_arm64)

#define USER_CALL      (35 * 8) /* syscallno, behind regs[31], sp, pc, pstate and orig_x0 */
#define USER_ARGUMENT1 (34 * 8) /* orig_x0: x0 itself becomes the result */
#define USER_ARGUMENT2 (1 * 8)	/* x1 */
#define USER_ARGUMENT3 (2 * 8)
#define USER_ARGUMENT4 (3 * 8)
#define USER_ARGUMENT5 (4 * 8)
#define USER_ARGUMENT6 (5 * 8)

#define USER_NO_CALL   ((__u32)-1) /* NO_SYSCALL */

#define CALL_EXECVE    221
#define CALL_EXECVEAT  281
#define CALL_MMAP      222
#define CALL_MUNMAP    215
#define CALL_BRK       214
#define CALL_MREMAP    216
#define CALL_MADVISE   233
#define CALL_MLOCK     228
#define CALL_MLOCK2    284

#else
#error "the system call registers of this architecture are not known"
#endif

#ifdef ZMEM_OLD

/*
 * Before bpf_task_pt_regs() (5.15): they are at the end of the stack. A kernel with another size of
 * stack (CONFIG_KASAN) shows nothing there that calibrate() takes for a request.
 */
#define STACK_SIZE 16384

static __always_inline __u64 user_regs(__u64 task)
{
	return kread_raw(__u64, task + koffset(struct task_struct, stack)) + STACK_SIZE -
	       (__u64)bpf_core_type_size(struct pt_regs);
}

#define reader_regs()		       user_regs(bpf_get_current_task())
#define user_regs_offset(task, number) (user_regs(number) - (number))

#else

/* From the task_struct. To the verifier the difference of two pointers is a number. */
#define user_regs_offset(task, number) ((__u64)bpf_task_pt_regs(task) - (__u64)(task))

#ifdef ZMEM_PROBE_READS

static __always_inline __u64 reader_regs(void)
{
	struct task_struct *reader = bpf_get_current_task_btf();
	__u64 offset = user_regs_offset(reader, 0);

	barrier_var(offset);
	return bpf_get_current_task() + offset;
}

#else
#define reader_regs() bpf_task_pt_regs(bpf_get_current_task_btf())
#endif

#endif

/*
 * True if the thread with these registers is in a system call in which its mm counts what it does
 * not map: arguments in execve() (acct_arg_size(), fs/exec.c); and pages of mappings that are no
 * longer listed, and not yet unmapped (vms_complete_munmap_vmas(), mm/vma.c). It may wait there for
 * its turn on a CPU.
 */
static __always_inline bool is_in_flux(__u64 regs)
{
	__u32 call = kread32(regs + USER_CALL);

	return call == CALL_EXECVE || call == CALL_EXECVEAT || call == CALL_MUNMAP ||
	       call == CALL_MMAP || call == CALL_BRK || call == CALL_MREMAP;
}

#endif
