/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocks of the allocators of targets, by probes of their functions.
 *
 * Bytes are sampled: each CPU counts down a distance that is drawn at random, with an exponential
 * distribution, and the block in which it ends is sampled. So a block of s bytes is sampled with a
 * probability of 1 - exp(-s / mean), whatever was allocated before. Where samples are too many, the
 * mean is larger: so it is for a ring that fills, and where user space says so. Each sample is sent
 * with its mean. The stack is taken when the function returns: there the address is known, and the
 * stack is the caller's own.
 *
 * Sampled blocks that are not freed are in a map.
 *
 * Since Linux 6.13 one probe has both ends of a call, and decides at the beginning whether the
 * return is looked at (UPROBE_SESSION): most calls have one trap. Before, each has two.
 */
#ifndef ZMEM_MALLOC_BPF_H
#define ZMEM_MALLOC_BPF_H

/* Words of struct pt_regs, which is what a probe gets. */
#if defined(__TARGET_ARCH_x86)
#define HEAP_IP	    16
#define HEAP_SP	    19
#define HEAP_RESULT 10
#else
#define HEAP_IP	    32
#define HEAP_SP	    31
#define HEAP_RETURN 30 /* the return address is in a register */
#define HEAP_RESULT 0
#endif

/* What a program of a session returns: the return is not looked at. */
#define HEAP_NO_RETURN 1

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ZMEM_HEAP_BLOCKS);
	__uint(map_flags, F_NO_PREALLOC);
	__type(key, struct zmem_heap_key);
	__type(value, struct zmem_heap_block);
} heap_blocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_heap_gaps);
} heap_gaps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_heap_cpu);
} heap_cpu SEC(".maps");

/* A distance with this mean. Between two bounds, each is equally likely. Global: verified once. */
__noinline __u64 draw_gap(__u64 mean)
{
	__u32 zero = 0, random = bpf_get_prandom_u32(), i = random % ZMEM_HEAP_PARTS;
	const struct zmem_heap_gaps *gaps = bpf_map_lookup_elem(&heap_gaps, &zero);
	__u64 unit = 0;

	if (!gaps)
		return 0;
	/* Behind the last bound the distribution begins anew. */
	if (i == ZMEM_HEAP_PARTS - 1) {
		unit = gaps->bound[ZMEM_HEAP_PARTS];
		i = bpf_get_prandom_u32();
	}
	barrier_var(i);
	i &= ZMEM_HEAP_PARTS - 1;
	unit += gaps->bound[i] +
		((gaps->bound[i + 1] - gaps->bound[i]) * (random / ZMEM_HEAP_PARTS) >> 20);
	/* The largest distance is some ten times the mean. */
	return mean <= ZMEM_HEAP_UNIT >> 4 ? unit * mean >> 32 : (unit >> 8) * mean >> 24;
}

/*
 * How much coarser samples are now: from half of the ring on, the fuller it is. `heap_bytes` may be
 * so small that twice as much of it takes as many: what the ring adds begins with 64 bytes.
 */
static __always_inline __u32 get_coarser(const struct zmem_grow_settings *s,
					 struct zmem_heap_cpu *cpu)
{
	__u64 used = bpf_ringbuf_query(&ring, RB_AVAIL_DATA), part = s->ring / 32;
	__u32 n = s->heap_coarser;

	if (used > 16 * part && part) {
		if (s->heap_bytes < 64 && n < 6)
			n = 6;
		n += (__u32)((used - 16 * part) / part) + 1;
	}
	n = n < ZMEM_HEAP_COARSER_MAX ? n : ZMEM_HEAP_COARSER_MAX;
	if (cpu->coarsest < n)
		cpu->coarsest = n;
	return n;
}

static __always_inline bool is_in_gap(const struct zmem_grow_settings *s, __u32 coarser, __u64 size)
{
	__u64 mean = s->heap_bytes << (coarser & 63);

	return draw_gap(mean < ZMEM_HEAP_MEAN_MAX ? mean : ZMEM_HEAP_MEAN_MAX) < size;
}

/*
 * The points at which distances end are 2^n times as many as those that count: of each point that
 * is decided at random, and what follows the first one in a block has a distance of its own.
 */
static __always_inline bool samples_block(const struct zmem_grow_settings *s,
					  struct zmem_heap_cpu *cpu, __u64 size, __u32 *ret_coarser)
{
	__s64 left;

	if (s->heap_bytes <= 1) {
		*ret_coarser = get_coarser(s, cpu);
		return !*ret_coarser || is_in_gap(s, *ret_coarser, size);
	}
	size = size < ZMEM_HEAP_MEAN_MAX ? size : ZMEM_HEAP_MEAN_MAX;
	left = __sync_fetch_and_add(&cpu->left, -(__s64)size);
	if (left > 0 && size < (__u64)left)
		return false;
	*ret_coarser = get_coarser(s, cpu);
	cpu->left = draw_gap(s->heap_bytes);
	/* Another thread was just here, or the distance is less than a byte. */
	if (left <= 0)
		return is_in_gap(s, *ret_coarser, size);
	return !(bpf_get_prandom_u32() & ((1ULL << (*ret_coarser & 63)) - 1)) ||
	       is_in_gap(s, *ret_coarser, size - (__u64)left);
}

/* ---- a block is freed ---- */

/* Takes a sampled block from the map. */
static __always_inline bool remove_block(__u32 target, __u64 address, struct zmem_heap_block *ret)
{
	const struct zmem_heap_key key = {.target = target, .address = address};
	const struct zmem_heap_block *block = bpf_map_lookup_elem(&heap_blocks, &key);

	if (!block)
		return false;
	*ret = *block;
	/* Two threads that free one block: the program is broken, its sums are not. */
	return bpf_map_delete_elem(&heap_blocks, &key) == 0;
}

/* ---- the beginning of a call ---- */

/* Each word is read by an instruction of its own: the verifier knows no variable one. */
#define HEAP_READ(n)                                                                               \
	case n:                                                                                    \
		asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(word) : "r"(ctx), "i"((n)*8));        \
		break

/* An argument of the call; 0: its function has none. */
static __always_inline __u64 call_argument(const __u64 *ctx, __u32 function,
					   enum zmem_heap_argument argument)
{
	__u64 word = 0;

	switch (ZMEM_HEAP_WORD(function, argument)) {
		HEAP_READ(0);
		HEAP_READ(1);
		HEAP_READ(2);
		HEAP_READ(3);
		HEAP_READ(4);
		HEAP_READ(5);
		HEAP_READ(6);
		HEAP_READ(7);
		HEAP_READ(8);
		HEAP_READ(9);
		HEAP_READ(10);
		HEAP_READ(11);
		HEAP_READ(12);
		HEAP_READ(13);
		HEAP_READ(14);
	}
	return word;
}

static __always_inline __u64 call_size(const __u64 *ctx, __u32 function)
{
	__u64 size = call_argument(ctx, function, ZMEM_HEAP_BYTES);

	if (ZMEM_HEAP_WORD(function, ZMEM_HEAP_COUNT) != ZMEM_HEAP_NO_WORD)
		size *= call_argument(ctx, function, ZMEM_HEAP_COUNT);
	return size;
}

static __always_inline bool is_realloc(__u32 function)
{
	function &= ZMEM_HEAP_FUNCTION;
	return function == ZMEM_HEAP_REALLOC || function == ZMEM_HEAP_REALLOCS;
}

static __always_inline struct heap_call *current_call(__u64 flags)
{
	return bpf_task_storage_get(&heap_calls, bpf_get_current_task_btf(), NULL, flags);
}

#ifdef HEAP_RETURN
static __always_inline __u64 return_slot(const __u64 *ctx)
{
	return ctx[HEAP_SP] - 1;
}

static __always_inline __u64 return_address(const __u64 *ctx)
{
	return ctx[HEAP_RETURN];
}
#else
static __always_inline __u64 return_slot(const __u64 *ctx)
{
	return ctx[HEAP_SP];
}

static __always_inline __u64 return_address(const __u64 *ctx)
{
	__u64 address = 0;

	bpf_probe_read_user(&address, sizeof(address), (const void *)ctx[HEAP_SP]);
	return address;
}
#endif

#ifdef HEAP_RETURN
/* True in a call of another function, also of one that ends with a jump to this one. */
static __always_inline bool is_pending(const __u64 *ctx, const struct heap_call *call, __u64 mm)
{
	__u64 slot = return_slot(ctx);

	(void)mm;
	return slot < call->slot || (slot == call->slot && return_address(ctx) != call->back);
}
#else
/*
 * True if the call has not returned and may return later: the address that the kernel has put in
 * place of its return address is still there. A call that the program has left in another way, by
 * longjmp(), is over when something else is there.
 *
 * The kernel would take such a call for over as soon as a probed one begins on a stack with higher
 * addresses, and end the program when it returns (cleanup_return_instances(),
 * kernel/events/uprobes.c). So while one is pending no other return is looked at. A stack that
 * cannot be read may still have it.
 *
 * This is of use where no other process has a session at the same function: the kernel takes theirs
 * for one that looks at each return (uprobe_prog_run() returns 0, kernel/trace/bpf_trace.c).
 */
static __always_inline bool is_pending(const __u64 *ctx, const struct heap_call *call, __u64 mm)
{
	__u64 area, now = 0, utask;

	/* A call that returned when there was no probe has left an old entry at its place. */
	if (bpf_core_field_exists(struct task_struct___probed, utask) &&
	    bpf_core_field_exists(struct uprobe_task, return_instances)) {
		utask = kaddr(kcast(struct task_struct___probed, bpf_get_current_task()), utask);
		if (!utask || !kaddr(kcast(struct uprobe_task, utask), return_instances))
			return false;
	}
	if (!bpf_core_field_exists(struct mm_struct___probed, uprobes_state.xol_area) ||
	    !bpf_core_field_exists(struct xol_area, vaddr))
		return return_slot(ctx) <= call->slot;
	area = kread64(mm + koffset(struct mm_struct___probed, uprobes_state.xol_area));
	if (!area)
		return false;
	if (bpf_probe_read_user(&now, sizeof(now), (const void *)call->slot))
		return true;
	return now == (__u64)kget(kcast(struct xol_area, area), vaddr);
}
#endif

static __always_inline void begin_call(const __u64 *ctx, struct heap_call *call, __u32 target,
				       __u32 function, __u64 size)
{
	struct zmem_heap_block old = {};

	call->size = size;
	call->function = function;
	call->old = call_argument(ctx, function, ZMEM_HEAP_BLOCK);
	call->old_time = 0;
	if (is_realloc(function) && call->old && remove_block(target, call->old, &old)) {
		call->old_time = old.time;
		call->old_size = old.size;
	}
	call->back = return_address(ctx);
	call->slot = return_slot(ctx);
}

/* Returns 1 if the return of the call is looked at. */
static __always_inline int enter(const __u64 *ctx, __u32 function, bool session)
{
	__u64 mm = kaddr(kcast(struct task_struct, bpf_get_current_task()), mm), size, address;
	const struct zmem_grow_settings *s = get_settings();
	struct zmem_heap_block block;
	struct zmem_heap_cpu *cpu;
	struct heap_call *call;
	__u32 number = 0, zero = 0, coarser = 0;
	bool sampled, pending;

	cpu = bpf_map_lookup_elem(&heap_cpu, &zero);
	if (!s || s->stopped || !cpu || !find_target(mm, &number))
		return 0;
	__sync_fetch_and_add(&cpu->calls, 1);
	if (function & ZMEM_HEAP_STEPPED)
		__sync_fetch_and_add(&cpu->stepped, 1);
	call = current_call(0);
	pending = call && call->slot && is_pending(ctx, call, mm);
	/* The pending call has made this one. */
	if (pending && return_slot(ctx) <= call->slot)
		return 0;
	if ((function & ZMEM_HEAP_FUNCTION) == ZMEM_HEAP_FREE) {
		address = call_argument(ctx, function, ZMEM_HEAP_BLOCK);
		if (address)
			remove_block(number, address, &block);
		return 0;
	}
	size = call_size(ctx, function);
	if (pending) {
		__sync_fetch_and_add(&cpu->passed, 1);
		return 0;
	}
	if (session && refused_calls(bpf_get_current_task()) & s->heap_refuses) {
		__sync_fetch_and_add(&cpu->refused, 1);
		return 0;
	}
	/* The function that it calls for larger ones counts them. */
	if (function & ZMEM_HEAP_SMALL && size > ZMEM_HEAP_SMALL_MAX)
		return 0;
	sampled = samples_block(s, cpu, size, &coarser);
	if (session && !sampled && !(function & ZMEM_HEAP_CALLS)) {
		if (call)
			call->slot = 0;
		return 0;
	}
	call = current_call(STORAGE_F_CREATE);
	if (!call)
		return 0;
	__sync_fetch_and_add(&cpu->returns, 1);
	call->sampled = sampled;
	call->coarser = coarser;
	begin_call(ctx, call, number, function, size);
	return 1;
}

/* ---- its end ---- */

static __always_inline __u64 call_result(const __u64 *ctx, const struct heap_call *call)
{
	__u64 address = ctx[HEAP_RESULT];

	if ((call->function & ZMEM_HEAP_FUNCTION) != ZMEM_HEAP_POSIX)
		return address;
	if ((__u32)address)
		return 0;
	bpf_probe_read_user(&address, sizeof(address), (const void *)call->old);
	return address;
}

/* The old block is there as before if there is no new one. */
static __always_inline void end_realloc(__u32 target, const struct heap_call *call, __u64 address)
{
	const struct zmem_heap_key key = {.target = target, .address = call->old};
	const struct zmem_heap_block old = {.size = call->old_size, .time = call->old_time};

	if (old.time && !address && call->size)
		bpf_map_update_elem(&heap_blocks, &key, &old, MAP_ANY);
}

/* Reading a stack may fault: what was noted of a page fault before stays. */
static __always_inline int send_block(void *ctx, const struct zmem_grow_settings *s, __u64 mm,
				      struct change *c)
{
	struct fault *f = bpf_task_storage_get(&faults, bpf_get_current_task_btf(), NULL, 0);
	struct fault before = {};
	int error;

	if (f)
		before = *f;
	error = send_with_stack(ctx, s, mm, c, true);
	if (f)
		*f = before;
	return error;
}

static __always_inline void add_block(void *ctx, const struct zmem_grow_settings *s,
				      struct zmem_heap_cpu *cpu, __u64 mm, __u32 target,
				      __u64 address, const struct heap_call *call)
{
	const struct zmem_heap_key key = {.target = target, .address = address};
	const struct zmem_heap_block block = {.size = call->size, .time = bpf_ktime_get_ns()};
	struct change c = {.target = target,
			   .member = ZMEM_GROW_BLOCK,
			   .pages = (__s64)(call->size | (__u64)call->coarser << ZMEM_HEAP_COARSER),
			   .carried = (__s64)block.time,
			   .address = address};

	/* First: another thread may free it as soon as it has the address. */
	if (bpf_map_update_elem(&heap_blocks, &key, &block, MAP_ANY)) {
		__sync_fetch_and_add(&cpu->lost, 1);
		return;
	}
	if (send_block(ctx, s, mm, &c)) {
		bpf_map_delete_elem(&heap_blocks, &key);
		__sync_fetch_and_add(&cpu->lost, 1);
		return;
	}
	__sync_fetch_and_add(&cpu->samples, 1);
}

static __always_inline int leave(__u64 *ctx)
{
	__u64 mm = kaddr(kcast(struct task_struct, bpf_get_current_task()), mm), address;
	const struct zmem_grow_settings *s = get_settings();
	struct heap_call *call = current_call(0);
	struct zmem_heap_cpu *cpu;
	__u32 number = 0, zero = 0;

	cpu = bpf_map_lookup_elem(&heap_cpu, &zero);
	/* Only the return address of the call itself is at its place. */
	if (!call || !call->slot || !cpu || ctx[HEAP_IP] != call->back ||
	    ctx[HEAP_SP] - call->slot > sizeof(__u64))
		return 0;
	call->slot = 0;
	if (!s || s->stopped || !find_target(mm, &number))
		return 0;
	address = call_result(ctx, call);
	if (is_realloc(call->function))
		end_realloc(number, call, address);
	if (address && call->sampled)
		add_block(ctx, s, cpu, mm, number, address, call);
	return 0;
}

/* Both ends. At the return the program is where the call returns to. */
SEC("kprobe")
int heap_session(__u64 *ctx)
{
	if (ctx[HEAP_IP] != bpf_get_func_ip(ctx))
		return leave(ctx);
	return enter(ctx, (__u32)bpf_get_attach_cookie(ctx), true) ? 0 : HEAP_NO_RETURN;
}

SEC("kprobe")
int heap_enter(__u64 *ctx)
{
	enter(ctx, (__u32)bpf_get_attach_cookie(ctx), false);
	return 0;
}

SEC("kprobe")
int heap_leave(__u64 *ctx)
{
	return leave(ctx);
}

/* ---- locks of address spaces ---- */

#include "maps_file.bpf.h"

/* kernel/locking/rwsem.c: others wait for the lock; then it may be free. */
#define RWSEM_WAIT   6
#define RWSEM_WRITER 1
#define RWSEM_OWNER  (~7ULL)
/* include/linux/rwbase_rt.h: no task has the lock. */
#define RWBASE_FREE 0x80000000

/* True if a task has the lock. *ret_writer: the thread that has it alone; 0: none, or unknown. */
static __always_inline bool is_locked(__u64 mm, __u64 *ret_writer)
{
	__u64 count;

	*ret_writer = 0;
	if (bpf_core_field_exists(struct mm_struct___locked_rt, mmap_lock.rwbase))
		return kread32(mm + koffset(struct mm_struct___locked_rt,
					    mmap_lock.rwbase.readers.counter)) != RWBASE_FREE;
	count = kread64(mm + koffset(struct mm_struct___locked, mmap_lock.count.counter));
	if (count & RWSEM_WRITER)
		*ret_writer =
			kread64(mm + koffset(struct mm_struct___locked, mmap_lock.owner.counter)) &
			RWSEM_OWNER;
	return count & ~(__u64)RWSEM_WAIT;
}

/*
 * Address spaces of which the mmap_lock is held just now, once each, without taking it. Of a file
 * that is asked for: those that map it, as far as it is known.
 */
SEC("iter/task")
int heap_locks(struct bpf_iter__task *ctx)
{
	const struct zmem_grow_settings *s = get_settings();
	struct task_struct *task = ctx->task;
	struct zmem_grow_lock lock = {};
	const struct file_search *search;
	struct pid_view view;
	__u64 leader;

	if (!task || !s)
		return 0;
	lock.mm = kread_raw(__u64, &task->mm);
	leader = kread_raw(__u64, &task->group_leader);
	if (!lock.mm || !is_locked(lock.mm, &lock.writer))
		return 0;
	/* Threads too: the leader of a process that lives on in other threads has no mm. */
	if (leader != as_number((__u64)task) &&
	    (__u64)kget(kcast(struct task_struct, leader), mm) == lock.mm)
		return 0;
	search = s->look_mapping ? search_file(lock.mm, 0, s->look_mapping) : NULL;
	if (search && !search->found && !search->torn)
		return 0;
	view = current_view();
	lock.pid = pid_number(kget(kcast(struct task_struct, leader), thread_pid), &view);
	ktext((__u64 *)lock.comm, kcast(struct task_struct, leader)->comm, ZMEM_COMM_LEN / 8);
	bpf_seq_write(ctx->meta->seq, &lock, sizeof(lock));
	return 0;
}

/* The file that a process maps at settings.look_at: the address of its struct address_space. */
SEC("iter/task")
int heap_mapping(struct bpf_iter__task *ctx)
{
	const struct zmem_grow_settings *s = get_settings();
	struct task_struct *task = ctx->task;
	const struct file_search *search;
	__u64 mm;

	if (!task || !s)
		return 0;
	mm = kread_raw(__u64, &task->mm);
	search = mm ? search_file(mm, s->look_at, 0) : NULL;
	if (search && search->found && !search->torn)
		bpf_seq_write(ctx->meta->seq, (void *)&search->found, sizeof(search->found));
	return 0;
}

#endif
