/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Offsets that user space found (zmem/members.h). To the verifier they are constants. */
#ifndef ZMEM_MEMBER_BPF_H
#define ZMEM_MEMBER_BPF_H

#include "zmem/members.h"

/* A section that has nothing else. */
const volatile struct zmem_members members SEC(".rodata.members");

#define found_member(type, member) (members.offset[ZMEM_MEMBER_##type##_##member] != 0)
/*
 * Reads members.bytes at the offset. If the kernel has no such member, the read is in front of the
 * array, and the verifier refuses the program. A branch would do as well, but it takes the kernel
 * 0.1 ms to remove one.
 */
#define member_offset(type, member)                                                                \
	({                                                                                         \
		__u64 offset_ = (__u64)members.offset[ZMEM_MEMBER_##type##_##member] - 1;          \
		(void)members.bytes[offset_];                                                      \
		offset_;                                                                           \
	})
/* The offset of a member that the kernel has, because it has another one. */
#define member_place(type, member) ((__u64)members.offset[ZMEM_MEMBER_##type##_##member] - 1)

#endif
