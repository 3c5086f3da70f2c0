/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What user space left in its registers when it made its last system call: bpf_task_pt_regs(). The
 * places in struct pt_regs are the same in every kernel; those of x86-64 are an ABI
 * (arch/x86/include/uapi/asm/ptrace.h), those of arm64: arch/arm64/include/asm/ptrace.h.
 */
#ifndef ZMEM_USER_REGS_BPF_H
#define ZMEM_USER_REGS_BPF_H

#if defined(__TARGET_ARCH_x86)

#define USER_CALL      (15 * 8) /* orig_ax */
#define USER_ARGUMENT4 (7 * 8)	/* r10 */
#define USER_ARGUMENT5 (9 * 8)	/* r8 */
#define USER_ARGUMENT6 (8 * 8)	/* r9 */

/* Numbers of system calls. */
#define CALL_EXECVE   59
#define CALL_EXECVEAT 322
#define CALL_VFORK    58
#define CALL_CLONE    56
#define CALL_CLONE3   435

#elif defined(__TARGET_ARCH_arm64)

#define USER_CALL      (35 * 8) /* syscallno, behind regs[31], sp, pc, pstate and orig_x0 */
#define USER_ARGUMENT4 (3 * 8)	/* x3 */
#define USER_ARGUMENT5 (4 * 8)
#define USER_ARGUMENT6 (5 * 8)

#define CALL_EXECVE    221
#define CALL_EXECVEAT  281
#define CALL_VFORK     CALL_CLONE /* there is none */
#define CALL_CLONE     220
#define CALL_CLONE3    435

#else
#error "which registers have the arguments of a system call?"
#endif

/* The number of the system call a task is in. */
static __always_inline __u32 user_call(__u64 regs)
{
	return kread32(regs + USER_CALL);
}

#endif
