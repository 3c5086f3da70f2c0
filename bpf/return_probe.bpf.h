/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A call of an allocator that has not returned. A probe of its return replaces the return address
 * on the stack (prepare_uretprobe(), kernel/events/uprobes.c). Copies of stacks that are made
 * meanwhile get the address back, so that they can be unwound.
 */
#ifndef ZMEM_RETURN_PROBE_BPF_H
#define ZMEM_RETURN_PROBE_BPF_H

struct heap_call {
	__u64 slot; /* the address of the return address; 0: there is no call */
	__u64 back; /* the return address */
	__u64 size;
	__u64 old; /* of realloc: the block; of posix_memalign: where the address will be */
	__u64 old_time;
	__u64 old_size;
	__u32 function; /* enum zmem_heap_function */
	__u32 sampled;
	__u32 coarser; /* of the sample */
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct heap_call);
} heap_calls SEC(".maps");

#define WORK_BIT(work, name)                                                                       \
	(bpf_core_enum_value_exists(enum syscall_work_bit, SYSCALL_WORK_BIT_##name)                \
		 ? (work) >> bpf_core_enum_value(enum syscall_work_bit, SYSCALL_WORK_BIT_##name) & \
			   1                                                                       \
		 : 0)

/* Which system calls of a thread end it, or fail: enum zmem_heap_refuses. */
static __always_inline __u32 refused_calls(__u64 task)
{
	__u64 work;

	if (!bpf_core_field_exists(struct task_struct___work, thread_info.syscall_work))
		return 0;
	work = kread64(task + koffset(struct task_struct___work, thread_info.syscall_work));
	return (WORK_BIT(work, SYSCALL_USER_DISPATCH) ? ZMEM_HEAP_REFUSES_FOREIGN : 0) |
	       (WORK_BIT(work, SECCOMP) ? ZMEM_HEAP_REFUSES_UNKNOWN : 0);
}

#define MENDED 2 /* calls */

/*
 * Mends all probed return addresses, also of other programs: the kernel knows which address it has
 * replaced. On arm64 the address is in a register first, and its place on the stack is not known.
 * `size`, a constant, is that of the copy from `sp` on.
 */
static __always_inline void mend_return(__u8 *copy, __u64 sp, __u32 size)
{
#if defined(__TARGET_ARCH_x86)
	__u64 utask, call = 0, at;

	if (!bpf_core_field_exists(struct task_struct___probed, utask) ||
	    !bpf_core_field_exists(struct return_instance, orig_ret_vaddr))
		return;
	utask = kaddr(kcast(struct task_struct___probed, bpf_get_current_task()), utask);
	if (utask)
		call = kaddr(kcast(struct uprobe_task, utask), return_instances);
	for (int i = 0; i < MENDED && call; i++) {
		at = (__u64)kget(kcast(struct return_instance, call), stack) - sp;
		barrier_var(at); /* one register that is checked, and used */
		if (at <= size - sizeof(__u64) && at % sizeof(__u64) == 0)
			*(__u64 *)(copy + (at & ~7ULL)) =
				(__u64)kget(kcast(struct return_instance, call), orig_ret_vaddr);
		call = kaddr(kcast(struct return_instance, call), next);
	}
#endif
}

#endif
