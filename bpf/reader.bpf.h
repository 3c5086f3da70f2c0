/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What each thread that reads an iterator is to see: a share of all processes, or the rest of one.
 * Threads without an entry see everything. Set by the thread itself, so that nobody needs to know
 * its number outside of its pid namespace.
 */
#ifndef ZMEM_READER_BPF_H
#define ZMEM_READER_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, struct zmem_reader);
} readers SEC(".maps");

SEC("syscall")
int reader_setup(struct zmem_reader *args)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct zmem_reader r;

	__builtin_memcpy(&r, args, sizeof(r));
	if (!r.shares)
		return bpf_map_delete_elem(&readers, &tid);
	return bpf_map_update_elem(&readers, &tid, &r, 0);
}

/* What the thread that reads now has asked for, NULL for everything. */
static __always_inline const struct zmem_reader *reader_find(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	return bpf_map_lookup_elem(&readers, &tid);
}

#endif
