/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Members whose offsets user space found (zmem/members.h). The verifier knows them as constants. */
#ifndef ZMEM_MEMBER_BPF_H
#define ZMEM_MEMBER_BPF_H

#include "zmem/members.h"

/* A section that has nothing else. */
const volatile struct zmem_members members SEC(".rodata.members");

#define found_member(type, member) (members.offset[ZMEM_MEMBER_##type##_##member] != 0)
/*
 * The verifier refuses a program that would read a member that is not there: that reads in front of
 * `bytes`. A branch would do as well, but removing one takes the kernel 0.1 ms.
 */
#define member_offset(type, member)                                                                \
	({                                                                                         \
		__u64 offset_ = (__u64)members.offset[ZMEM_MEMBER_##type##_##member] - 1;          \
		(void)members.bytes[offset_];                                                      \
		offset_;                                                                           \
	})

#endif
