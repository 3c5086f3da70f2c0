// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/descriptors.h"

#include "base/array.h"

const struct kernel_kind_info kernel_kind_table[KERNEL_KINDS] = {
	[ZMEM_DESCRIPTOR_FILE] = {"file", "open files"},
	[ZMEM_DESCRIPTOR_PIPE] = {"pipe", "pipes"},
	[ZMEM_DESCRIPTOR_TCP] = {"tcp", "TCP sockets"},
	[ZMEM_DESCRIPTOR_UDP] = {"udp", "UDP sockets"},
	[ZMEM_DESCRIPTOR_UNIX] = {"unix", "unix sockets"},
	[ZMEM_DESCRIPTOR_NETLINK] = {"netlink", "netlink sockets"},
	[ZMEM_DESCRIPTOR_SOCKET] = {"socket", "other sockets"},
	[ZMEM_DESCRIPTOR_PACKET] = {"packet_ring", "packet rings"},
	[ZMEM_DESCRIPTOR_XDP] = {"xdp", "AF_XDP sockets"},
	[ZMEM_DESCRIPTOR_BPF_MAP] = {"bpf_map", "BPF maps"},
	[ZMEM_DESCRIPTOR_BPF_PROG] = {"bpf_prog", "BPF programs"},
	[ZMEM_DESCRIPTOR_IO_URING] = {"io_uring", "io_uring"},
	[ZMEM_DESCRIPTOR_PERF] = {"perf", "perf events"},
	[ZMEM_DESCRIPTOR_EPOLL] = {"epoll", "epoll entries"},
	[ZMEM_DESCRIPTOR_INOTIFY] = {"inotify", "inotify watches"},
	[ZMEM_DESCRIPTOR_KVM] = {"kvm", "KVM"},
};

void kernel_shares_clear(struct kernel_shares *s)
{
	for (int i = 0; i < KERNEL_KINDS; i++)
		s->kind[i] = (struct kernel_share){.kind = (enum zmem_descriptor_kind)i};
	s->own = 0;
}

/* Values of a recording can be anything. */
static void add_saturating(uint64_t *sum, uint64_t v)
{
	if (__builtin_add_overflow(*sum, v, sum))
		*sum = UINT64_MAX;
}

void kernel_shares_add(struct kernel_shares *to, const struct kernel_shares *more)
{
	for (int i = 0; more && i < KERNEL_KINDS; i++) {
		to->kind[i].kind = (enum zmem_descriptor_kind)i;
		add_saturating(&to->kind[i].bytes, more->kind[i].bytes);
		add_saturating(&to->kind[i].mapped, more->kind[i].mapped);
		add_saturating(&to->kind[i].unmarked, more->kind[i].unmarked);
		if (__builtin_add_overflow(to->kind[i].descriptors, more->kind[i].descriptors,
					   &to->kind[i].descriptors))
			to->kind[i].descriptors = UINT32_MAX;
	}
}

uint64_t kernel_shares_sum(const struct kernel_shares *s)
{
	uint64_t sum = 0;

	for (int i = 0; i < KERNEL_KINDS; i++)
		add_saturating(&sum, s->kind[i].bytes);
	return sum;
}

static bool is_below(const void *item, const void *arg)
{
	return ((const struct kernel_object *)item)->pid < *(const pid_t *)arg;
}

const struct kernel_object *kernel_objects_of(const struct kernel_held *held, pid_t pid,
					      size_t *ret_count)
{
	size_t first = count_before(held->own, held->owns, sizeof(*held->own), is_below, &pid);
	size_t end = first;

	while (end < held->owns && held->own[end].pid == pid)
		end++;
	*ret_count = end - first;
	return held->own + first;
}
