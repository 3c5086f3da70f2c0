/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tp_btf/signal_generate: signals by which a process ends another one, with the exact counters of
 * the receiver.
 *
 * The receiver has not seen the signal yet: the kernel holds its siglock, with interrupts off, so
 * its memory is still whole. Nothing here takes a lock, and nothing else runs on this CPU.
 */
#ifndef ZMEM_SIGNALS_BPF_H
#define ZMEM_SIGNALS_BPF_H

#define SIGKILL 9
#define SIGTERM 15

/* include/trace/events/signal.h */
#define TRACE_SIGNAL_DELIVERED 0

/* include/linux/signal_types.h: what stands for an address of a struct kernel_siginfo */
#define SEND_SIG_NOINFO 0 /* of the current task */
#define SEND_SIG_PRIV	1 /* of the kernel */

/* include/uapi/asm-generic/siginfo.h */
#define SI_USER	 0
#define SI_QUEUE (-1)
#define SI_TKILL (-6)

struct signal_scratch {
	__u64 info, receiver;
	struct zmem_oom_record record;
	struct zmem_oom_signal message;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct signal_scratch);
} signal_scratch SEC(".maps");

/*
 * Whether the current task sends the signal. Signals of timers and of input and output come in
 * interrupts, where any task may be the current one.
 */
static __always_inline bool sent_by_current(__u64 info)
{
	__s32 code;

	if (info == SEND_SIG_NOINFO || info == SEND_SIG_PRIV)
		return info == SEND_SIG_NOINFO;
	code = kget(kcast(struct kernel_siginfo, info), si_code);
	return code == SI_USER || code == SI_QUEUE || code == SI_TKILL;
}

/* Reads a process into the record. Global: verified once. */
__noinline int read_of_signal(__u64 leader)
{
	__u32 zero = 0;
	struct signal_scratch *s = bpf_map_lookup_elem(&signal_scratch, &zero);

	return s && read_process(leader, &s->record);
}

/* Of signals without a turn (zmem/oom.h). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ZMEM_SIGNALS_OVER);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct zmem_oom_over);
} over SEC(".maps");

/* Adds a receiver to a sum. Returns 0 if its slot is that of others. Global: verified once. */
__noinline int add_over(__u64 task, __u64 cgroup, __u32 signal, __u64 pages)
{
	const struct pid_view view = reader_view();
	const __u32 sender = pid_number(kget(kcast(struct task_struct, task), thread_pid), &view);
	const __u64 now = bpf_ktime_get_boot_ns();
	__u32 slot = (sender + (__u32)cgroup) % ZMEM_SIGNALS_OVER;
	struct zmem_oom_over *sum = bpf_map_lookup_elem(&over, &slot);

	if (!sum)
		return 0;
	if (sum->cgroup != cgroup || sum->sender != sender || sum->signal != signal) {
		if (sum->boottime_ns && now - sum->boottime_ns < ZMEM_OVER_IDLE_NS)
			return 0;
		sum->cgroup = cgroup;
		sum->sender = sender;
		sum->signal = signal;
	}
	sum->boottime_ns = now;
	__sync_fetch_and_add(&sum->count, 1);
	__sync_fetch_and_add(&sum->pages, pages);
	return 1;
}

/* Uses one of so many turns a second. CPUs that race may use the same one. */
static __always_inline bool use_turn(__u64 *used_ns)
{
	const __u64 now = bpf_ktime_get_ns(), most = ZMEM_SIGNALS_BURST * ZMEM_SIGNAL_NS;

	if (*used_ns + most < now)
		*used_ns = now - most;
	if (*used_ns + ZMEM_SIGNAL_NS > now)
		return false;
	*used_ns += ZMEM_SIGNAL_NS;
	return true;
}

SEC("tp_btf/signal_generate")
int signal_sent(__u64 *ctx)
{
	const __u32 sig = (__u32)ctx[0];
	const struct task_struct *current;
	struct signal_scratch *s;
	struct oom_state *st;
	__u32 zero = 0, uid;
	__u64 sender, receiver, css_set = 0, pages, cgroup;
	long bytes;

	if ((sig != SIGKILL && sig != SIGTERM) || (__u32)ctx[4] != TRACE_SIGNAL_DELIVERED)
		return 0;
	s = bpf_map_lookup_elem(&signal_scratch, &zero);
	st = bpf_map_lookup_elem(&state, &zero);
	if (!s || !st)
		return 0;
	/* Storing and reloading turns pointers that the verifier tracks into numbers. */
	*(volatile __u64 *)&s->info = ctx[1];
	*(volatile __u64 *)&s->receiver = ctx[2];
	current = kcast(struct task_struct, bpf_get_current_task());
	sender = kaddr(current, group_leader);
	receiver = *(volatile __u64 *)&s->receiver;
	receiver = kaddr(kcast(struct task_struct, receiver), group_leader);
	if (sender == receiver || !sent_by_current(*(volatile __u64 *)&s->info))
		return 0;
	uid = kget(kget(current, real_cred), euid.val);
	if (sig == SIGTERM && (uid || kaddr(kget(current, signal), tty)))
		return 0;
	if (!read_of_signal(receiver))
		return 0;
	pages = s->record.record.rss[ZMEM_RSS_ANON] + s->record.record.rss[ZMEM_RSS_SWAP];
	if ((__s64)pages < st->least)
		return 0;
	if (bpf_core_field_exists(struct task_struct, cgroups))
		css_set = kaddr(kcast(struct task_struct, receiver), cgroups);
	cgroup = cgroup_number(css_set);
	/* Other users cannot use up the turns of root. The rest of the ring is for kills. */
	if (!use_turn(uid ? &st->used_ns[0] : &st->used_ns[1]) ||
	    bpf_ringbuf_query(&ring, RB_AVAIL_DATA) > ZMEM_OOM_RING / 4) {
		if (!add_over(sender, cgroup, sig, pages))
			__sync_fetch_and_add(&st->over, 1);
		return 0;
	}
	s->message.receiver = s->record;
	s->message.receiver.head = (struct zmem_oom_head){ZMEM_OOM_SIGNAL, st->over};
	read_of_signal(sender);
	s->message.sender = s->record.record;
	s->message.boottime_ns = bpf_ktime_get_boot_ns();
	s->message.cgroup = cgroup;
	s->message.signal = sig;
	s->message.path = s->message.root = (struct zmem_oom_path){};
	bytes = read_paths(css_set, st->root, PATH_OF_SIGNAL, &s->message.path, &s->message.root,
			   s->message.names);
	if (bytes < 0 || bytes > (long)sizeof(s->message.names))
		return 0;
	if (bpf_ringbuf_output(&ring, &s->message,
			       __builtin_offsetof(struct zmem_oom_signal, names) + bytes,
			       RB_FORCE_WAKEUP))
		__sync_fetch_and_add(&st->over, 1);
	return 0;
}

#endif
