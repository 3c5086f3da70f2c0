/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How kernel memory is read. Two ways with one face:
 *  - loads through bpf_rdonly_cast() (6.2 and later), which cannot fault, need no helper call and
 *    are allowed under lockdown=confidentiality;
 *  - with ZMEM_PROBE_READS bpf_probe_read_kernel(), for older kernels.
 *
 *  kcast(type, addr)  a typed pointer, to be read with
 *  kget(p, member)    one member; pointers that are members are typed in turn
 *  kread64(addr), kread32(addr)  what lies at an address that is a plain number, as needed for
 *                     arithmetic, for global functions and to keep it in memory
 *  kaddr(p, member)   a member that is a pointer, as such a number
 *
 * Every cast is a kfunc call the loader has to resolve and the verifier to check: cast once, read
 * through it.
 */
#ifndef ZMEM_KREAD_BPF_H
#define ZMEM_KREAD_BPF_H

#ifdef ZMEM_PROBE_READS

#define kcast(type, addr) ((const type *)(addr))
#define kget(p, member)	  BPF_CORE_READ(p, member)
#define kread_raw(type, addr)                                                                      \
	({                                                                                         \
		type v_ = 0;                                                                       \
		bpf_probe_read_kernel(&v_, sizeof(v_), (const void *)(addr));                      \
		v_;                                                                                \
	})

#else

#define kcast(type, addr)                                                                          \
	((const type *)bpf_rdonly_cast((const void *)(addr), bpf_core_type_id_kernel(type)))
#define kget(p, member) ((p)->member)
/* struct timespec64 begins with a 64-bit scalar and exists in every kernel's BTF. */
#define kread_raw(type, addr) (*(const volatile type *)kcast(struct timespec64, addr))

#endif

#define kaddr(p, member) kread64((__u64) & (p)->member)

static __always_inline __u64 kread64(__u64 addr)
{
	return kread_raw(__u64, addr);
}

static __always_inline __u32 kread32(__u64 addr)
{
	return kread_raw(__u32, addr);
}

#define koffset(type, member) ((__u64)bpf_core_field_offset(type, member))

#endif
