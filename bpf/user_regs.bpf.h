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
#define USER_ARGUMENT4 (7 * 8)	/* r10 */
#define USER_ARGUMENT5 (9 * 8)	/* r8 */
#define USER_ARGUMENT6 (8 * 8)	/* r9 */

/* System call numbers. */
#define CALL_EXECVE   59
#define CALL_EXECVEAT 322

#elif defined(__TARGET_ARCH_arm64)

#define USER_CALL      (35 * 8) /* syscallno, behind regs[31], sp, pc, pstate and orig_x0 */
#define USER_ARGUMENT4 (3 * 8)	/* x3 */
#define USER_ARGUMENT5 (4 * 8)
#define USER_ARGUMENT6 (5 * 8)

#define CALL_EXECVE    221
#define CALL_EXECVEAT  281

#else
#error "the system call registers of this architecture are not known"
#endif

/* True if the thread with these registers is in execve(). */
static __always_inline bool is_in_exec(__u64 regs)
{
	__u32 call = kread32(regs + USER_CALL);

	return call == CALL_EXECVE || call == CALL_EXECVEAT;
}

#endif
