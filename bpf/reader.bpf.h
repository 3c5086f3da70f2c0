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
	struct zmem_reader r = {args->share, args->shares, args->cursor};
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	if (!r.shares)
		return bpf_map_delete_elem(&readers, &tid);
	return bpf_map_update_elem(&readers, &tid, &r, 0);
}

/* False if another reader shows this process. */
static __always_inline bool reader_wants(__u64 leader, __u64 *ret_cursor)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	const struct zmem_reader *r = bpf_map_lookup_elem(&readers, &tid);

	if (!r)
		return true;
	*ret_cursor = r->cursor;
	return r->shares <= 1 ||
	       (__u32)kget(kcast(struct task_struct, leader), tgid) % r->shares == r->share;
}

#endif
