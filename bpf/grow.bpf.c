// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Exact changes of the resident counters of chosen address spaces, each with the user stack that
 * made it (target.bpf.h).
 *
 * Before Linux 6.2 the part is per thread, and the tracepoint fires for every 64th page fault
 * alone: with ZMEM_PROBE_READS the end of each page fault is an event as well.
 */
#include "vmlinux.h"
#include "flavors.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "zmem/grow.h"

/* A process with children and new address spaces that are targets. */
struct process {
	__u64 start; /* tells a later process with the same number */
	__s32 pid;
	__u32 target;
};

#define WATCH(name)	struct zmem_grow_##name
#define WATCH_TARGETS	ZMEM_GROW_TARGETS
#define WATCH_PROCESS	struct process
#define WATCH_PROCESSES (16 * ZMEM_GROW_TARGETS)
#include "target.bpf.h"
#include "user_regs.bpf.h"
#include "user_stack.bpf.h"
#include "copied.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* include/uapi/linux/bpf.h */
#define RB_NO_WAKEUP	 1
#define RB_FORCE_WAKEUP	 2
#define RB_AVAIL_DATA	 0
#define F_USER_STACK	 (1 << 8)
#define F_NO_PREALLOC	 1
#define STORAGE_F_CREATE 1

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, ZMEM_GROW_RING);
} ring SEC(".maps");

/*
 * Wakes the reader when a process begins, executes or maps code: it may not live long enough to be
 * read.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, ZMEM_GROW_WAKE_RING);
} wake SEC(".maps");

/* Where a thread adds pages. */
struct fault {
	__u64 address; /* of its last page fault that has added none yet; 0: none */
	__u64 mm;      /* of this address */
	__u32 how;     /* enum noted */
	__u32 unused;
	/* The next page of a range of which a system call adds all pages in order, and without page
	 * faults: mmap() with MAP_POPULATE, mlock(), madvise(). 0: none. */
	__u64 populated;
};

/* How the address became known. */
enum noted {
	NOTED_USER,   /* at a page fault of the program */
	NOTED_KERNEL, /* at one of the kernel, which reads or writes memory of the program */
	NOTED_EACH,   /* at handle_mm_fault(), which also adds pages without a page fault */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fault);
} faults SEC(".maps");

#ifdef ZMEM_PROBE_READS
struct thread_last {
	__s32 last[ZMEM_RSS_COUNT];
};

/* The parts of threads at their last event, by tid; a new thread has none. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__uint(map_flags, F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct thread_last);
} threads SEC(".maps");
#endif

static __always_inline __u64 user_words(void)
{
#ifdef ZMEM_PROBE_READS
	return reader_regs();
#else
	return as_number((__u64)reader_regs());
#endif
}

static __always_inline __u64 current_mm(void)
{
	return kaddr(kcast(struct task_struct, bpf_get_current_task()), mm);
}

static __always_inline __u64 page_up(__u64 size)
{
	return (size + PAGE - 1) & -(__u64)PAGE;
}

static __always_inline struct zmem_grow_cpu *find_this_cpu(__u32 target)
{
	const struct zmem_grow_settings *s = get_settings();

	return s ? find_cpu(s, bpf_get_smp_processor_id(), target) : NULL;
}

/* ---- a counter ---- */

#ifdef ZMEM_PROBE_READS

static __always_inline __s32 *find_last(__u32 tid)
{
	struct thread_last *l = bpf_map_lookup_elem(&threads, &tid);

	return l ? l->last : NULL;
}

static __always_inline __s32 *make_last(__u32 tid)
{
	struct thread_last fresh = {};

	if (!find_last(tid))
		bpf_map_update_elem(&threads, &tid, &fresh, MAP_ANY);
	return find_last(tid);
}

static __always_inline __s32 read_part(__u64 task, __u32 member)
{
	return (__s32)kread32(task + koffset(struct task_struct___pre62, rss_stat.count) +
			      member * 4);
}

#endif

/* ---- messages ---- */

struct change {
	__u32 target;
	__u32 member;
	__s64 pages;
	__s64 carried;
	__u64 address;
	__u64 spread;
	__u64 wake; /* the flag for its message */
};

static __always_inline void fill_head(struct zmem_grow_head *h, __u32 what, const struct change *c)
{
	h->what = what;
	h->target = c->target;
	h->member = c->member;
	h->tid = (__u32)bpf_get_current_pid_tgid();
	h->pages = c->pages;
	h->carried = c->carried;
	h->address = c->address;
	h->spread = c->spread;
}

#include "return_probe.bpf.h"

/* Defines a function that sends registers and up to `size` bytes of the stack. Each size has its
 * own reservation, a constant. Returns 0, or -1 if the ring has no room. Global: verified once. */
#define SEND_COPY(name, size)                                                                      \
	__noinline int name(const struct change *c, __u64 sp, __u64 limit)                         \
	{                                                                                          \
		struct zmem_grow_stack *m;                                                         \
                                                                                                   \
		if (!c)                                                                            \
			return -1;                                                                 \
		m = bpf_ringbuf_reserve(&ring, sizeof(*m) + (size), 0);                            \
		if (!m)                                                                            \
			return -1;                                                                 \
		fill_head(&m->head, ZMEM_GROW_STACK, c);                                           \
		copy_regs(m->regs);                                                                \
		m->len = copy_stack(m->copy, sp, size, limit, &m->absent);                         \
		mend_return(m->copy, sp, size);                                                    \
		bpf_ringbuf_submit(m, c->wake);                                                    \
		return 0;                                                                          \
	}

#define KIB 1024

SEND_COPY(send_2k, 2 * KIB)
SEND_COPY(send_4k, 4 * KIB)
SEND_COPY(send_8k, 8 * KIB)
SEND_COPY(send_16k, 16 * KIB)
SEND_COPY(send_32k, ZMEM_GROW_STACK_MAX)

/* Global: verified once. */
__noinline int send_stack(const struct change *c, __u64 mm)
{
	__u64 sp = kword(kwords(reader_regs()), REGS_SP * 8);
	__u64 depth = stack_depth(mm, sp);

	if (!c)
		return -1;
	if (depth <= 4 * KIB)
		return depth <= 2 * KIB ? send_2k(c, sp, depth) : send_4k(c, sp, depth);
	if (depth <= 8 * KIB)
		return send_8k(c, sp, depth);
	return depth <= 16 * KIB ? send_16k(c, sp, depth) : send_32k(c, sp, depth);
}

static __always_inline int send_addresses(void *ctx, const struct change *c)
{
	struct zmem_grow_addresses *m = bpf_ringbuf_reserve(&ring, sizeof(*m), 0);
	long len;

	if (!m)
		return -1;
	fill_head(&m->head, ZMEM_GROW_ADDRESSES, c);
	len = bpf_get_stack(ctx, m->ip, sizeof(m->ip), F_USER_STACK);
	m->count = len > 0 ? (__u32)len / 8 : 0;
	m->unused = 0;
	bpf_ringbuf_submit(m, c->wake);
	return 0;
}

/* Sends a change that a task of another process than the target made. */
static __always_inline int send_task(const struct change *c)
{
	struct zmem_grow_task *m = bpf_ringbuf_reserve(&ring, sizeof(*m), 0);

	if (!m)
		return -1;
	fill_head(&m->head, ZMEM_GROW_TASK, c);
	bpf_get_current_comm(m->comm, sizeof(m->comm));
	bpf_ringbuf_submit(m, c->wake);
	return 0;
}

static __always_inline void send_process(__u32 what, __u32 target, __s32 pid, __u32 parent)
{
	struct zmem_grow_process m = {
		.head = {.what = what, .target = target}, .pid = pid, .parent = parent};

	/* User space counts nothing of a process that it was not told of. */
	if (bpf_ringbuf_output(&ring, &m, sizeof(m), RB_NO_WAKEUP) < 0 &&
	    (what == ZMEM_GROW_FORK || what == ZMEM_GROW_EXEC)) {
		struct zmem_grow_cpu *cpu = find_this_cpu(parent);

		if (cpu)
			__sync_fetch_and_add(&cpu->lost_processes, 1);
	}
	if (what != ZMEM_GROW_END)
		bpf_ringbuf_output(&wake, &what, sizeof(what), RB_FORCE_WAKEUP);
}

/* ---- an event ---- */

/* Now one page in so many is sampled; 1: each page has its stack. */
static __always_inline __u32 get_interval(const struct zmem_grow_settings *s,
					  struct zmem_grow_cpu *c)
{
	__u64 window;

	if (s->sample)
		return s->sample;
	window = bpf_ktime_get_ns() / ZMEM_GROW_WINDOW_NS;
	if (c->window != window) {
		c->window = window;
		c->in_window = 0;
	}
	if (++c->in_window <= ZMEM_GROW_WINDOW_MAX &&
	    bpf_ringbuf_query(&ring, RB_AVAIL_DATA) < s->ring / 2)
		return 1;
	return ZMEM_GROW_RARELY;
}

static __always_inline void begin_block(struct zmem_grow_block *b, __u32 interval)
{
	b->sampled = bpf_get_prandom_u32() % interval;
}

/*
 * How many sampled pages a change of fewer pages than the interval has. Blocks of `interval` pages
 * follow each other, and one page of each block is sampled, at random. So a page is sampled with
 * the same chance whatever the sizes and the order of changes are.
 */
static __always_inline __u32 count_sampled(struct zmem_grow_block *b, __u32 interval, __u32 pages)
{
	__u32 at = b->at, sampled;

	if (!at)
		begin_block(b, interval);
	sampled = b->sampled - at < pages;
	at += pages;
	if (at >= interval) {
		at -= interval;
		begin_block(b, interval);
		sampled += b->sampled < at;
	}
	b->at = at;
	return sampled;
}

static __always_inline void add(__s64 *sum, __u32 member, __s64 pages)
{
	__sync_fetch_and_add(&sum[bounded(member)], pages);
}

/*
 * Sends a change with the stack that made it. Returns -1 if the ring has no room for the largest
 * message: else small stacks would still find room, and stand for large ones.
 */
static __always_inline int send_with_stack(void *ctx, const struct zmem_grow_settings *s, __u64 mm,
					   struct change *c, bool own)
{
	__u64 waits = bpf_ringbuf_query(&ring, RB_AVAIL_DATA);

	if (waits > (c->member == ZMEM_GROW_BLOCK ? ZMEM_GROW_FULL_BLOCKS(s->ring)
						  : ZMEM_GROW_FULL(s->ring)))
		return -1;
	c->wake = waits > ZMEM_GROW_WAKES(s->ring) ? RB_FORCE_WAKEUP : RB_NO_WAKEUP;
	if (!own)
		return send_task(c);
	return s->mode == ZMEM_GROW_WALK ? send_addresses(ctx, c) : send_stack(c, mm);
}

static __always_inline __u64 size_of(const struct change *c)
{
	return c->pages < 0 ? -(__u64)c->pages : (__u64)c->pages;
}

/* Pages without room in the ring wait for the next change that is alike. */
static __always_inline __s64 *find_waiting(struct zmem_grow_cpu *cpu, const struct change *c)
{
	__u32 sign = c->pages < 0, large = size_of(c) >= ZMEM_GROW_RARELY;

	return &cpu->waiting[sign * 2 + large][bounded(c->member)];
}

/*
 * Counts a change. Returns 1 if its stack is taken, with what it carries. The sum of what the
 * stacks stand for and of what is left over is that of all changes. Global: verified once.
 */
__noinline int count_change(struct change *c)
{
	const struct zmem_grow_settings *s = get_settings();
	struct zmem_grow_cpu *cpu;
	__u32 interval, sampled;
	__s64 pages, waiting;

	if (!c || !s)
		return 0;
	cpu = find_this_cpu(c->target);
	if (!cpu)
		return 0;
	pages = c->pages;
	add(cpu->net, c->member, pages);
	__sync_fetch_and_add(&cpu->events, 1);
	interval = get_interval(s, cpu);
	if (size_of(c) < interval) {
		sampled = count_sampled(&cpu->block[bounded(c->member)][c->pages < 0], interval,
					(__u32)size_of(c));
		pages = (__s64)interval * sampled;
		pages = c->pages < 0 ? -pages : pages;
		add(cpu->rest, c->member, c->pages - pages);
		if (!pages)
			return 0;
		c->spread = (__u64)interval * (interval - 1) * sampled;
	}
	waiting = (__s64)__sync_lock_test_and_set(find_waiting(cpu, c), 0);
	pages += waiting;
	c->spread += (__u64)(waiting * waiting);
	c->carried = pages - c->pages;
	return 1;
}

/* Global: verified once. */
__noinline int note_sent(const struct change *c, int error)
{
	struct zmem_grow_cpu *cpu = c ? find_this_cpu(c->target) : NULL;

	if (!cpu)
		return 0;
	if (!error) {
		__sync_fetch_and_add(&cpu->taken, 1);
		return 0;
	}
	__sync_fetch_and_add(find_waiting(cpu, c), c->pages + c->carried);
	__sync_fetch_and_add(&cpu->lost_messages, 1);
	return 0;
}

/* include/uapi/asm-generic/mman-common.h */
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23

/* The system call adds the pages of the range that it is given. */
static __always_inline bool is_populating(__u64 regs, __u32 call)
{
	__u32 advice = kread32(regs + USER_ARGUMENT3);

	return call == CALL_MLOCK || call == CALL_MLOCK2 ||
	       (call == CALL_MADVISE &&
		(advice == MADV_POPULATE_READ || advice == MADV_POPULATE_WRITE));
}

/* Pages that are looked at for the next one that is not there, at most. */
#define LOOK_MOST 1024

struct look {
	const struct zmem_layout *at;
	__u64 mm, address, end;
};

static long look_at_page(__u32 index, struct look *l)
{
	__u64 phys;

	if (l->address >= l->end || !user_entry(l->at, l->mm, l->address, &phys))
		return 1;
	l->address += PAGE;
	return 0;
}

/*
 * Finds the page that a system call is adding: the first one of its range that is not there.
 * Global: verified once.
 */
__noinline int find_populated(struct fault *f, __u64 mm, __u64 regs)
{
	const struct zmem_grow_settings *s = get_settings();
	__u64 start = kread64(regs + USER_ARGUMENT1), phys;
	struct look l = {.mm = mm, .end = page_up(start + kread64(regs + USER_ARGUMENT2))};

	if (!f || !s || !s->at.top_shift)
		return 0;
	start &= -(__u64)PAGE;
	l.at = &s->at;
	l.address = f->populated >= start && f->populated < l.end ? f->populated : start;
	bpf_loop(LOOK_MOST, look_at_page, &l, 0);
	f->populated = l.address;
	return l.address < l.end && !user_entry(l.at, mm, l.address, &phys);
}

/*
 * The address of a page that was just added. To be called before anything that may fault. A page
 * fault that added no page has left its address: a page that a system call adds has another one.
 */
static __always_inline __u64 consume_address(struct fault *f, __u64 mm, __u32 member, __s64 pages)
{
	__u64 address = f->address, regs;
	__u32 call;

	if (f->mm != mm)
		return 0;
	if (f->how == NOTED_EACH) {
		f->address = 0;
		return address;
	}
	regs = user_words();
	call = kread32(regs + USER_CALL);
	/* If the program has asked for an address, no event has told the right one. */
	if (call == CALL_MMAP) {
		address = kread64(regs + USER_ARGUMENT1) ? 0 : f->populated;
		f->populated += address ? pages * PAGE : 0;
		return address;
	}
	/* Pages of files are there before they are counted. */
	if (is_populating(regs, call)) {
		if (member != ZMEM_RSS_ANON || mm != current_mm() || !find_populated(f, mm, regs))
			return 0;
		address = f->populated;
		f->populated += pages * PAGE;
		return address;
	}
	if (call != USER_NO_CALL && f->how != NOTED_KERNEL)
		return 0;
	f->address = 0;
	return address;
}

/* Counts a change and sends its stack, with the address of the page that it added. */
static __always_inline void send_change(void *ctx, const struct zmem_grow_settings *s, __u64 mm,
					__u32 number, __u32 member, __s64 pages)
{
	bool own = kaddr(kcast(struct task_struct, bpf_get_current_task()), mm) == mm;
	struct fault *f = bpf_task_storage_get(&faults, bpf_get_current_task_btf(), NULL, 0);
	struct change c = {.target = number, .member = member, .pages = pages};
	struct fault before = {};

	/* A page that is copied leaves one counter before it enters another. */
	if (f && pages > 0)
		c.address = consume_address(f, mm, member, pages);
	if (f)
		before = *f;
	if (count_change(&c))
		note_sent(&c, send_with_stack(ctx, s, mm, &c, own));
	/* Reading the stack may fault, too. */
	if (f)
		*f = before;
}

/* True while the address space has users. Its end is sent once; what it frees is not counted. */
static __always_inline bool is_alive(struct zmem_grow_target *t, __u64 mm, __u32 number)
{
	if (users_of(mm) > 0)
		return true;
	if (!__sync_lock_test_and_set(&t->ended, 1))
		send_process(ZMEM_GROW_END, number, t->pid, 0);
	bpf_map_delete_elem(&by_mm, &mm);
	return false;
}

/*
 * Has user space read new code at its first use: the process may not live long. The message comes
 * before the stack that uses the code.
 */
static __always_inline void note_code(struct zmem_grow_target *t, __u64 mm, __u32 number)
{
	__u64 now = (__u64)kget(kcast(struct mm_struct, mm), exec_vm);

	if (now == t->exec_vm || t->maps >= ZMEM_GROW_MAPS)
		return;
	t->exec_vm = now;
	t->maps++;
	send_process(ZMEM_GROW_MAP, number, t->pid, 0);
}

SEC("tp_btf/rss_stat")
int grow(__u64 *ctx)
{
	__u64 mm = as_number(ctx[0]);
	__u32 member = (__u32)ctx[1], number = 0;
	struct zmem_grow_target *t = find_target(mm, &number);
	const struct zmem_grow_settings *s;
	__s64 pages = 0;

	if (!t || member >= ZMEM_RSS_COUNT)
		return 0;
	s = get_settings();
	if (!s || s->stopped || !is_alive(t, mm, number))
		return 0;
#ifdef ZMEM_PROBE_READS
	{
		__u64 task = bpf_get_current_task();
		__s32 *last = NULL, now = 0;
		__s64 added;

		if (kaddr(kcast(struct task_struct, task), mm) == mm)
			last = make_last((__u32)bpf_get_current_pid_tgid());
		if (last) {
			now = read_part(task, member);
			pages = update_part(last, now, member);
		}
		/*
		 * The count has changed: by a huge page, or by the thread's part, which becomes 0
		 * after that (sync_mm_rss(), mm/memory.c).
		 */
		added = update_count(t, mm, member);
		if (last && now && added == now)
			update_part(last, 0, member);
		else
			pages += added;
	}
#else
	{
		bool folded;

		pages = consume_change(s, t, number, mm, member, &folded);
	}
#endif
	if (!pages)
		return 0;
	note_code(t, mm, number);
	send_change(ctx, s, mm, number, member, pages);
	return 0;
}

#ifdef ZMEM_PROBE_READS
/* handle_mm_fault(vma, address, flags, regs): the thread's part has what the fault changed. */
SEC("fexit/handle_mm_fault")
int grow_fault_end(__u64 *ctx)
{
	__u64 task = bpf_get_current_task(), mm = kaddr(kcast(struct task_struct, task), mm);
	const struct zmem_grow_settings *s;
	struct zmem_grow_target *t;
	__u32 number = 0;
	__s32 *last;

	t = find_target(mm, &number);
	if (!t)
		return 0;
	s = get_settings();
	last = make_last((__u32)bpf_get_current_pid_tgid());
	if (!s || s->stopped || !last)
		return 0;
	note_code(t, mm, number);
	for (__u32 i = 0; i < ZMEM_RSS_COUNT; i++) {
		__s64 pages = update_part(last, read_part(task, i), i);

		if (pages < 0)
			pages += update_count(t, mm, i);
		if (pages)
			send_change(ctx, s, mm, number, i, pages);
	}
	return 0;
}
#endif

/* ---- the address of a page fault ---- */

static __always_inline struct fault *note_fault(__u64 mm, __u64 address, enum noted how)
{
	struct fault *f;

	if (!bpf_map_lookup_elem(&by_mm, &mm))
		return NULL;
	f = bpf_task_storage_get(&faults, bpf_get_current_task_btf(), NULL, STORAGE_F_CREATE);
	if (!f)
		return NULL;
	f->address = address;
	f->mm = mm;
	f->how = how;
	return f;
}

/* Bits of the error code of a page fault (arch/x86/include/asm/trap_pf.h). */
#define FAULT_PRESENT 1
#define FAULT_WRITE   2
/* A flag of handle_mm_fault() (include/linux/mm_types.h). */
#define FLAG_WRITE 1

/* A copied page changes no counter, so a message tells of it. Global: verified once. */
__noinline int count_copied(__u64 mm, __u64 address, struct change *c)
{
	const struct zmem_grow_settings *s = get_settings();
	struct zmem_grow_target *t;
	struct zmem_grow_cpu *cpu;
	__u32 number = 0;

	if (!s || !c || s->stopped || !s->at.top_shift || !is_copied(&s->at, mm, address))
		return 0;
	t = find_target(mm, &number);
	cpu = find_this_cpu(number);
	if (!t || !cpu)
		return 0;
	c->target = number;
	c->member = ZMEM_GROW_COPIED;
	c->pages = 1;
	c->carried = (__s64)__sync_lock_test_and_set(&cpu->copies_waiting, 0);
	__sync_fetch_and_add(&cpu->copied, 1);
	return 1;
}

static __always_inline void note_copied(void *ctx, __u64 mm, __u64 address)
{
	const struct zmem_grow_settings *s = get_settings();
	struct zmem_grow_cpu *cpu;
	struct change c = {};

	if (!s || !count_copied(mm, address, &c) ||
	    send_with_stack(ctx, s, mm, &c, mm == current_mm()) == 0)
		return;
	cpu = find_this_cpu(c.target);
	if (cpu)
		__sync_fetch_and_add(&cpu->copies_waiting, c.pages + c.carried);
}

/* page_fault_user(address, regs, error_code) */
static __always_inline int fault_of(__u64 *ctx, enum noted how)
{
	const __u64 copies = FAULT_PRESENT | FAULT_WRITE;
	__u64 mm = current_mm(), address = ctx[0];
	struct fault *f = note_fault(mm, address, how), before;

	if (!f || (ctx[2] & copies) != copies)
		return 0;
	/* Reading the stack may fault, too. */
	before = *f;
	note_copied(ctx, mm, address);
	*f = before;
	return 0;
}

SEC("tp_btf/page_fault_user")
int grow_fault_user(__u64 *ctx)
{
	return fault_of(ctx, NOTED_USER);
}

SEC("tp_btf/page_fault_kernel")
int grow_fault_kernel(__u64 *ctx)
{
	return fault_of(ctx, NOTED_KERNEL);
}

/*
 * handle_mm_fault(vma, address, flags, regs): page faults, and what adds pages without one
 * (faultin_page(), mm/gup.c): MAP_POPULATE, mlock(), MADV_POPULATE_WRITE, process_vm_writev(),
 * buffers of io_uring.
 */
SEC("fentry/handle_mm_fault")
int grow_fault_begin(__u64 *ctx)
{
	__u64 mm = kaddr(kcast(struct vm_area_struct___mm, as_number(ctx[0])), vm_mm);
	struct fault *f = note_fault(mm, ctx[1], NOTED_EACH);
	struct fault before;

	if (!f || !(ctx[2] & FLAG_WRITE))
		return 0;
	before = *f;
	note_copied(ctx, mm, ctx[1]);
	*f = before;
	return 0;
}

/* ---- where the kernel puts a mapping ---- */

static __always_inline void send_move(__u32 target, __u64 from, __u64 to, __u64 len)
{
	struct zmem_grow_move m = {
		.head = {.what = ZMEM_GROW_MOVE, .target = target},
		.from = from,
		.to = to,
		.len = len,
	};

	bpf_ringbuf_output(&ring, &m, sizeof(m), RB_NO_WAKEUP);
}

/*
 * The address of a mapping of `len` bytes. The kernel looks for room for a huge page more, so that
 * address and file offset can have the same place in a huge page (__thp_get_unmapped_area(),
 * mm/huge_memory.c).
 */
static __always_inline __u64 align_area(__u64 address, __u64 room, __u64 len, __u64 offset)
{
	__u64 huge = room - len, gap;

	if (room <= len || huge & (huge - 1))
		return address;
	gap = (offset - address) & (huge - 1);
	return address + (gap ? gap : huge);
}

/* vm_unmapped_area(addr, info) tells where mmap() and mremap() will map. */
SEC("tp_btf/vm_unmapped_area")
int grow_area(__u64 *ctx)
{
	__u64 mm = current_mm(), address = ctx[0], regs, len;
	__u32 number = 0, call;
	struct zmem_grow_target *t = find_target(mm, &number);
	const struct zmem_grow_settings *s = get_settings();
	struct fault *f;

	/* An error is a number below 0. */
	if (!t || !s || s->stopped || (__s64)address < 0)
		return 0;
	regs = user_words();
	call = kread32(regs + USER_CALL);
	len = kread64(as_number(ctx[1]) + koffset(struct vm_unmapped_area_info, length));
	if (call == CALL_MREMAP) {
		__u64 from = kread64(regs + USER_ARGUMENT1);

		/* Memory of no file has the offset 0 here (__get_unmapped_area(), mm/mmap.c). */
		address = align_area(address, len, page_up(kread64(regs + USER_ARGUMENT3)), 0);
		send_move(number, from, address, page_up(kread64(regs + USER_ARGUMENT2)));
		return 0;
	}
	if (call != CALL_MMAP)
		return 0;
	f = bpf_task_storage_get(&faults, bpf_get_current_task_btf(), NULL, STORAGE_F_CREATE);
	if (!f)
		return 0;
	f->mm = mm;
	f->populated = align_area(address, len, page_up(kread64(regs + USER_ARGUMENT2)),
				  kread64(regs + USER_ARGUMENT6));
	return 0;
}

#include "malloc.bpf.h"

/* ---- targets ---- */

/* Reads the counters exactly; *ret_pages: what changed since the last event. */
static __noinline int settle(__u32 number, __s64 *ret_pages, __s64 *ret_value, __u64 task)
{
	struct reading w = {
		.t = bpf_map_lookup_elem(&targets, &number),
		.s = get_settings(),
		.number = number,
	};

	if (!w.t || !w.s || !ret_pages || !ret_value)
		return 0;
#ifdef ZMEM_PROBE_READS
	{
		__s32 *last = make_last(kread32(task + koffset(struct task_struct, pid)));

		for (int i = 0; last && i < ZMEM_RSS_COUNT; i++) {
			__s32 now = read_part(task, i);

			w.sum[i] += now;
			w.pages[i] += update_part(last, now, i);
		}
	}
#else
	bpf_loop(CPUS_MAX, read_cpu, &w, 0);
#endif
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		w.pages[i] += update_count(w.t, w.t->mm, i);
		ret_pages[i] = w.pages[i];
		ret_value[i] = w.sum[i] + w.t->last_count[i];
	}
	return 1;
}

/* Makes the address space a target. Returns its number, ZMEM_GROW_TARGETS without room. */
static __noinline __u32 arm(__u64 mm, __s32 pid, __u64 task)
{
	const struct zmem_grow_settings *s = get_settings();
	struct zmem_grow_target *t;
	__u32 number;
	__s64 pages[ZMEM_RSS_COUNT], value[ZMEM_RSS_COUNT];

	if (!s)
		return ZMEM_GROW_TARGETS;
	t = claim(s, mm, &number);
	if (!t)
		return ZMEM_GROW_TARGETS;
	t->pid = pid;
	t->ended = 0;
	if (!settle(number, pages, value, task))
		return ZMEM_GROW_TARGETS;
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		t->begin[i] = t->end[i] = value[i];
	bpf_map_update_elem(&by_mm, &mm, &number, MAP_ANY);
	return number;
}

static __always_inline void store_process(__u32 tgid, __u64 leader, __s32 pid, __u32 target)
{
	struct process p = {
		.start = kget(kcast(struct task_struct, leader), start_boottime),
		.pid = pid,
		.target = target,
	};

	bpf_map_update_elem(&processes, &tgid, &p, MAP_ANY);
}

/* A new address space begins with the arguments and the environment alone. */
SEC("tp_btf/sched_process_exec")
int grow_exec(__u64 *ctx)
{
	__u64 task = bpf_get_current_task();
	struct process *p = find_process(leader_of(task));
	__u32 before;

	if (!p)
		return 0;
	before = p->target;
	p->target = arm(kaddr(kcast(struct task_struct, task), mm), p->pid, task);
	send_process(ZMEM_GROW_EXEC, p->target, p->pid, before);
	return 0;
}

/* A child has a copy of the address space, which is not its growth. */
SEC("tp_btf/sched_process_fork")
int grow_fork(__u64 *ctx)
{
	__u64 parent = as_number(ctx[0]), child = as_number(ctx[1]), leader = leader_of(child);
	const struct zmem_grow_settings *s = get_settings();
	__u64 mm = kaddr(kcast(struct task_struct, child), mm);
	const struct process *p;
	struct pid_view view;
	__u32 target, unused = 0;
	__s32 pid;

	if (!s || !s->follow || s->stopped || leader != child)
		return 0;
	p = find_process(leader_of(parent));
	if (!p)
		return 0;
	view = reader_view();
	pid = pid_number(kget(kcast(struct task_struct, child), thread_pid), &view);
	/* A child of vfork() has the address space of its parent. */
	target = find_target(mm, &unused) ? p->target : arm(mm, pid, child);
	store_process(kget(kcast(struct task_struct, child), tgid), child, pid, target);
	if (target != p->target)
		send_process(ZMEM_GROW_FORK, target, pid, p->target);
	return 0;
}

/* Arms the process of a thread, or reads its counters if it is armed. */
SEC("iter/task")
int grow_visit(struct bpf_iter__task *ctx)
{
	struct task_struct *visited = ctx->task;
	const struct zmem_grow_settings *s = get_settings();
	__s64 pages[ZMEM_RSS_COUNT], value[ZMEM_RSS_COUNT];
	struct zmem_grow_visit result = {};
	__u32 number = 0, zero = 0;
	struct zmem_grow_target *t;
	struct pid_view *view = bpf_map_lookup_elem(&stored_view, &zero);
	__u64 task, leader, mm;

	if (!visited || !s || !view)
		return 0;
	mm = kread_raw(__u64, &visited->mm);
	leader = kread_raw(__u64, &visited->group_leader);
	task = as_number((__u64)visited);
	if (!mm)
		return 0;
	*view = current_view();
	result.pid = pid_number(kget(kcast(struct task_struct, leader), thread_pid), view);
	t = find_target(mm, &number);
	if (!t) {
		number = arm(mm, result.pid, task);
		store_process(kget(kcast(struct task_struct, leader), tgid), leader, result.pid,
			      number);
		t = bpf_map_lookup_elem(&targets, &number);
		if (t) {
			t->visit = t->begun = s->visit;
			t->refuses = refused_calls(task);
		}
		result.target = number;
		bpf_seq_write(ctx->meta->seq, &result, sizeof(result));
		return 0;
	}
	result.target = number;
	t->refuses |= refused_calls(task);
	if (t->visit != s->visit)
		bpf_seq_write(ctx->meta->seq, &result, sizeof(result));
#ifndef ZMEM_PROBE_READS
	else
		return 0;
#endif
	if (!settle(number, pages, value, task))
		return 0;
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		t->settled[i] += pages[i];
#ifdef ZMEM_PROBE_READS
		/* The first thread of a visit brings the count, the others their parts. */
		value[i] =
			t->visit == s->visit ? t->end[i] + value[i] - t->last_count[i] : value[i];
#endif
		t->end[i] = value[i];
	}
	t->visit = s->visit;
	return 0;
}
