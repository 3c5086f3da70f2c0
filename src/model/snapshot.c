// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns the processes of a snapshot and computes what depends on all of them together: shared
 * address spaces, deltas that threads hold back, sums. Holds the table of counters.
 */
#include "model/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "model/memcg.h"
#include "zmem/record.h"

#define CAPACITY_MIN 256

_Static_assert(RSS_COUNTERS == ZMEM_RSS_COUNT, "one for each counter of the kernel");
/* Each run touches fresh pages for the rows of all processes, which is expensive in a guest. */
_Static_assert(sizeof(struct process) <= 592, "what few processes have belongs elsewhere");

#define ABOVE(x)   COUNTER_BIT(COUNTER_##x)
#define ABOVE_NONE 0

const struct counter_info counter_table[COUNTER_COUNT] = {
#define ZMEM_COUNTER(id_, key_, header_, unit_, origin_, bound_, policy_, number_, needs_, help_)  \
	[COUNTER_##id_] = {#key_,  header_,	     UNIT_##unit_, ORIGIN_##origin_,               \
			   bound_, POLICY_##policy_, number_},
#include "model/counters.def"
#undef ZMEM_COUNTER
};

const enum counter rss_counter[RSS_COUNTERS] = {
	[ZMEM_RSS_FILE] = COUNTER_RSS_FILE,
	[ZMEM_RSS_ANON] = COUNTER_RSS_ANON,
	[ZMEM_RSS_SWAP] = COUNTER_SWAP,
	[ZMEM_RSS_SHMEM] = COUNTER_RSS_SHMEM,
};

const char *pss_status_name(enum pss_status status)
{
	static const char *const names[PSS_STATUS_COUNT] = {
		[PSS_SKIPPED] = "skipped",
		[PSS_OK] = "ok",
		[PSS_GONE] = "gone",
		[PSS_DENIED] = "denied",
		[PSS_TIMEOUT] = "timeout",
		[PSS_RACED] = "raced",
		[PSS_KERNEL_THREAD] = "kernel_thread",
		[PSS_UNSUPPORTED] = "unsupported",
		[PSS_REFERENCED] = "another_reference",
	};

	return names[status];
}

const char *waits_source_name(enum waits_source waits)
{
	static const char *const name[] = {
		[WAITS_ACCOUNTED] = "delay_accounting", [WAITS_WATCHED] = "watched"};

	return waits < ARRAY_SIZE(name) ? name[waits] : NULL;
}

const char *container_status_name(enum container_status status)
{
	static const char *const name[CONTAINER_STATUS_COUNT] = {
		[CONTAINER_UNREAD] = "unread",	 [CONTAINER_NAMED] = "ok",
		[CONTAINER_UNNAMED] = "unnamed", [CONTAINER_DENIED] = "denied",
		[CONTAINER_INVALID] = "invalid", [CONTAINER_LARGE] = "too_large",
		[CONTAINER_TIMEOUT] = "timeout",
	};

	return name[status];
}

const char *swap_kind_name(enum swap_kind kind)
{
	static const char *const names[SWAP_KINDS] = {
		[SWAP_PARTITION] = "partition", [SWAP_FILE] = "file"};

	return names[kind];
}

const char *origin_name(enum origin origin)
{
	static const char *const names[] = {[FROM_NOWHERE] = NULL,
					    [FROM_BPF] = "bpf",
					    [FROM_PROC] = "proc",
					    [FROM_EARLIER] = "earlier"};

	return names[origin];
}

const char *pss_source_name(enum pss_source source)
{
	static const char *const names[] = {
		[PSS_FROM_NOTHING] = NULL,
		[PSS_FROM_KERNEL] = "kernel",
		[PSS_FROM_ROLLUP] = "smaps_rollup",
		[PSS_FROM_BOTH] = "mixed",
	};

	return names[source];
}

void snapshot_done(struct snapshot *s)
{
	free(s->process);
	arena_done(&s->arena);
	arena_done(&s->scratch);
	*s = (struct snapshot){};
}

void snapshot_clear(struct snapshot *s)
{
	if (room_is_idle(s->capacity, s->count, &s->idle)) {
		free(TAKE_PTR(s->process));
		s->capacity = 0;
		arena_done(&s->arena);
		arena_done(&s->scratch);
	}
	s->count = s->memcg_count = 0;
	s->walk_entries = s->threads_begun = 0;
	s->memcg = NULL;
	s->collection = (struct collection){0};
	s->balance = (struct machine_balance){0};
	s->gpu = (struct gpu_parts){0};
	arena_clear(&s->arena);
	arena_clear(&s->scratch);
}

struct process *snapshot_add(struct snapshot *s)
{
	struct process *p;

	if (!array_room(&s->process, s->count, &s->capacity, CAPACITY_MIN))
		return NULL;
	p = &s->process[s->count++];
	memset(p, 0, sizeof(*p));
	return p;
}

static const uint8_t counter_of_value[VALUE_KINDS] = {
	[VALUE_SWAP_PSS] = COUNTER_SWAP_PSS, [VALUE_SWAP_SHMEM] = COUNTER_SWAP_SHMEM,
	[VALUE_SWAP_RAM] = COUNTER_SWAP_RAM, [VALUE_FREED] = COUNTER_FREED,
	[VALUE_LAZYFREE] = COUNTER_LAZYFREE, [VALUE_HUGETLB_PSS] = COUNTER_HUGETLB_PSS,
	[VALUE_THP_REST] = COUNTER_THP_REST, [VALUE_NODES] = COUNTER_NODES,
	[VALUE_GPU] = COUNTER_GPU,	     [VALUE_DMABUF] = COUNTER_DMABUF,
	[VALUE_KERNEL] = COUNTER_KERNEL,     [VALUE_MAPS] = COUNTER_MAPS,
	[VALUE_SWAPINS] = COUNTER_SWAPINS,   [VALUE_MEM_WAIT] = COUNTER_MEM_WAIT,
};

static bool has_value(const struct process *p, enum value_kind value)
{
	return value == VALUE_EXE ? p->exe != EXE_UNKNOWN
				  : process_has(p, (enum counter)counter_of_value[value]);
}

enum pss_status process_status(const struct process *p, enum value_kind value)
{
	enum pss_status why = p->status[value];

	if (p->kind == PROCESS_SUM)
		return why;
	if (has_value(p, value))
		return PSS_OK;
	if (p->kind != PROCESS_USER)
		return p->pss_status;
	switch (value) {
	case VALUE_SWAP_PSS:
	case VALUE_SWAP_RAM:
		/* Page tables do not tell by how many processes a swap entry is shared. */
		why = p->pss_status == PSS_OK ? PSS_UNSUPPORTED : p->pss_status;
		break;
	case VALUE_SWAP_SHMEM:
		why = p->pss_status == PSS_OK ? why : p->pss_status;
		break;
	case VALUE_MAPS:
	case VALUE_SWAPINS:
	case VALUE_MEM_WAIT:
	case VALUE_EXE:
		/* These values are always asked for. */
		why = why != PSS_SKIPPED ? why : p->raced ? PSS_RACED : PSS_UNSUPPORTED;
		break;
	default:
		break;
	}
	return why;
}

enum pss_status process_counter_status(const struct process *p, enum counter c)
{
	if (process_has(p, c))
		return PSS_OK;
	if (COUNTER_BIT(c) & COUNTERS_OF_SWAP_COSTS)
		return process_status(p, VALUE_SWAP_RAM);
	for (int v = 0; v < VALUE_EXE; v++) {
		if (counter_of_value[v] == c)
			return process_status(p, (enum value_kind)v);
	}
	return p->pss_status;
}

void node_shares_add(struct node_shares *to, const struct node_shares *more)
{
	if (!more)
		return;
	if (!to->count) {
		*to = *more;
		return;
	}
	for (uint32_t i = 0; i < to->count && i < more->count; i++)
		to->node[i].pss += more->node[i].pss;
}

void process_set_swap_costs(struct process *p, const struct swap_costs *costs)
{
	process_set_sum(p, COUNTER_SWAP_RAM, costs->zram, costs->zswap, 0);
	process_set(p, COUNTER_SWAP_RAM_ZRAM, costs->zram);
	process_set(p, COUNTER_SWAP_RAM_ZSWAP, costs->zswap);
	process_set(p, COUNTER_SWAP_INCOMPRESSIBLE, costs->incompressible);
	process_set(p, COUNTER_SWAP_FILLED, costs->filled);
	process_set(p, COUNTER_SWAP_DISK, costs->disk);
}

void process_derive(struct process *p)
{
	uint64_t *v = p->value;

	if (process_has(p, COUNTER_RSS_ANON) && process_has(p, COUNTER_RSS_FILE) &&
	    process_has(p, COUNTER_RSS_SHMEM))
		process_set_sum(p, COUNTER_RSS, v[COUNTER_RSS_ANON], v[COUNTER_RSS_FILE],
				v[COUNTER_RSS_SHMEM]);
	/* The kernel raises its mark only before it unmaps (task_mem(), fs/proc/task_mmu.c). */
	if (process_has(p, COUNTER_PEAK) && process_has(p, COUNTER_RSS) &&
	    v[COUNTER_PEAK] < v[COUNTER_RSS])
		process_set(p, COUNTER_PEAK, v[COUNTER_RSS]);
	/* The share of 0 is 0: for most processes of most machines it is known without reading. */
	if (process_has(p, COUNTER_SWAP) && !v[COUNTER_SWAP] && !process_has(p, COUNTER_SWAP_PSS))
		process_set(p, COUNTER_SWAP_PSS, 0);
	if (process_has(p, COUNTER_PSS) && process_has(p, COUNTER_SWAP_PSS))
		process_set_sum(p, COUNTER_PSS_SWAP, v[COUNTER_PSS], v[COUNTER_SWAP_PSS], 0);
	/* PSS and USS are rounded down separately. */
	if (process_has(p, COUNTER_PSS) && process_has(p, COUNTER_USS))
		process_set(p, COUNTER_SHARED,
			    v[COUNTER_PSS] > v[COUNTER_USS] ? v[COUNTER_PSS] - v[COUNTER_USS] : 0);
}

/* To the nearest multiple; the last ones below 2^64 stay. */
static void round_counter(struct process *p, enum counter c)
{
	uint64_t up;

	if (process_has(p, c) && !__builtin_add_overflow(p->value[c], PSS_ROUNDED_TO / 2, &up))
		p->value[c] = up / PSS_ROUNDED_TO * PSS_ROUNDED_TO;
}

void process_round_pss(struct process *p)
{
	const uint64_t *v = p->value;

	round_counter(p, COUNTER_PSS);
	round_counter(p, COUNTER_PSS_ANON);
	round_counter(p, COUNTER_PSS_FILE);
	round_counter(p, COUNTER_PSS_SHMEM);
	round_counter(p, COUNTER_SWAP_PSS);
	if (process_has(p, COUNTER_PSS) && process_has(p, COUNTER_PSS_ANON) &&
	    process_has(p, COUNTER_PSS_FILE) && process_has(p, COUNTER_PSS_SHMEM))
		process_set_sum(p, COUNTER_PSS, v[COUNTER_PSS_ANON], v[COUNTER_PSS_FILE],
				v[COUNTER_PSS_SHMEM]);
	process_derive(p);
}

static int compare_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return ORDER_OF(x->pid, y->pid);
}

/* A process beside its sort key, so that comparing reads no other memory. */
struct mm_entry {
	uint64_t key;
	struct process *process;
};

static int compare_mm(const void *a, const void *b, void *arg)
{
	const struct mm_entry *x = a, *y = b;

	(void)arg;
	/* Processes are in the order of their pids. */
	return x->key == y->key ? ORDER_OF(x->process, y->process) : ORDER_OF(x->key, y->key);
}

/* The kernel, and mostly /proc, list processes in order. Sorting them again would be expensive. */
static bool sorted_by_pid(const struct snapshot *s)
{
	for (size_t i = 1; i < s->count; i++) {
		if (s->process[i - 1].pid > s->process[i].pid)
			return false;
	}
	return true;
}

/*
 * Before 6.2, threads hold back part of the counters of an mm; the sum is the same for all users.
 */
static void add_deltas(const struct mm_entry *group, size_t count, uint32_t page_size)
{
	for (int i = 0; i < RSS_COUNTERS; i++) {
		enum counter c = rss_counter[i];
		int64_t delta = 0;

		for (size_t k = 0; k < count; k++)
			delta += group[k].process->rss_delta[i];
		if (!delta)
			continue;
		delta *= page_size;
		for (size_t k = 0; k < count; k++) {
			struct process *p = group[k].process;

			/*
			 * Values change meanwhile: pages may be gone that a thread has not
			 * subtracted yet.
			 */
			if (process_has(p, c) &&
			    __builtin_add_overflow(p->value[c], delta, &p->value[c]))
				p->value[c] = 0;
		}
	}
}

/* True if a, not b, is the owner of the mm that they share. */
static bool owns_before(const struct process *a, const struct process *b)
{
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->pid < b->pid;
}

static void set_owner(const struct mm_entry *group, size_t count)
{
	struct process *owner = group[0].process;

	for (size_t k = 0; k < count; k++) {
		group[k].process->mm_owner = false;
		if (owns_before(group[k].process, owner))
			owner = group[k].process;
	}
	owner->mm_owner = true;
}

/* Renumbers mm_id from the row of the first process to 1, 2, … in the order of these processes. */
static void renumber_mm(struct snapshot *s)
{
	uint32_t id = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct process *p = &s->process[i];

		if (p->mm_id)
			p->mm_id = p->mm_id == i + 1 ? ++id : s->process[p->mm_id - 1].mm_id;
	}
}

/* Sets mm_id and the owner for processes that are sorted by mm_key. */
static void number_mm(struct snapshot *s, const struct mm_entry *sorted)
{
	size_t end;

	for (size_t i = 0; i < s->count; i = end) {
		uint64_t key = sorted[i].key;
		uint32_t first = (uint32_t)(sorted[i].process - s->process) + 1;

		end = i + 1;
		while (key && end < s->count && sorted[end].key == key)
			end++;
		for (size_t k = i; k < end; k++) {
			sorted[k].process->mm_id = key ? first : 0;
			sorted[k].process->mm_owner = sorted[k].process->kind == PROCESS_USER;
		}
		add_deltas(sorted + i, end - i, s->host.page_size);
		if (end - i > 1)
			set_owner(sorted + i, end - i);
		s->collection.shared_mm += (uint32_t)(end - i - 1);
	}
	renumber_mm(s);
}

struct pid_entry {
	pid_t pid;
	uint32_t from; /* index of the process that moves here */
};

static int compare_entry(const void *a, const void *b, void *arg)
{
	const struct pid_entry *x = a, *y = b;

	(void)arg;
	return x->pid == y->pid ? ORDER_OF(x->from, y->from) : ORDER_OF(x->pid, y->pid);
}

/* Finds the order first, then moves each process once, along each cycle: processes are large. */
static int sort_by_pid(struct snapshot *s)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	struct pid_entry *e = arena_zalloc(mark.arena, s->count, sizeof(*e));

	if (!e)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		e[i] = (struct pid_entry){s->process[i].pid, (uint32_t)i};
	sort_items(e, s->count, sizeof(*e), compare_entry, NULL);
	for (size_t i = 0; i < s->count; i++) {
		struct process first = s->process[i];
		size_t to = i;

		if (e[i].from == i)
			continue;
		while (e[to].from != i) {
			size_t from = e[to].from;

			s->process[to] = s->process[from];
			e[to].from = (uint32_t)to;
			to = from;
		}
		s->process[to] = first;
		e[to].from = (uint32_t)to;
	}
	return 0;
}

int snapshot_finish(struct snapshot *s)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	struct mm_entry *entry;
	struct collection *c = &s->collection;

	c->seen = (uint32_t)s->count;
	c->kernel_threads = c->zombies = c->shared_mm = 0;
	if (!s->count)
		return 0;
	if (!sorted_by_pid(s) && sort_by_pid(s) < 0)
		return -ENOMEM;
	entry = arena_zalloc(mark.arena, s->count, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		entry[i] = (struct mm_entry){s->process[i].mm_key, &s->process[i]};
	sort_items(entry, s->count, sizeof(*entry), compare_mm, NULL);
	number_mm(s, entry);
	for (size_t i = 0; i < s->count; i++) {
		c->kernel_threads += s->process[i].kind == PROCESS_KTHREAD;
		c->zombies += s->process[i].kind == PROCESS_ZOMBIE;
		process_derive(&s->process[i]);
	}
	return 0;
}

struct process *snapshot_find(const struct snapshot *s, pid_t pid)
{
	const struct process key = {.pid = pid};

	if (!s->count)
		return NULL;
	return bsearch(&key, s->process, s->count, sizeof(*s->process), compare_pid);
}

void process_copy_cgroup(struct process *p, const struct process *known)
{
	p->cgroup = known->cgroup;
	p->unit = known->unit;
	p->container = known->container;
	p->container_id = known->container_id;
	p->container_status = known->container_status;
	p->pod = known->pod;
	p->namespace = known->namespace;
	p->pod_path = known->pod_path;
	p->unit_path = known->unit_path;
	p->container_path = known->container_path;
	p->controlled = known->controlled;
}

struct process *snapshot_find_again(const struct snapshot *s, const struct process *p)
{
	struct process *found = snapshot_find(s, p->pid);

	return found && found->start_ns == p->start_ns ? found : NULL;
}

const char *memcg_bound_name(enum memcg_bound bound)
{
	static const char *const names[MEMCG_BOUNDS] = {
		[MEMCG_BOUND_DEPTH] = "depth",
		[MEMCG_BOUND_BYTES] = "bytes",
		[MEMCG_BOUND_TIME] = "time",
	};

	return names[bound];
}

size_t memcg_reach(const char *path, unsigned levels)
{
	size_t at = 0;

	while (levels--) {
		at += strspn(path + at, "/");
		at += strcspn(path + at, "/");
	}
	return at;
}

const struct memcg *snapshot_find_memcg(const struct snapshot *s, const char *path)
{
	return memcg_find(s->memcg, s->memcg_count, part_of(path));
}

int snapshot_own_mm(struct snapshot *s, struct process *const *rows, size_t count)
{
	/* mm_ids begin at 1 and never exceed the number of processes. */
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	struct process **owner = arena_zalloc(mark.arena, s->count + 1, sizeof(*owner));

	if (!owner)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct process *p = rows[i], *o = owner[p->mm_id];

		p->mm_owner = false;
		if (!p->mm_id)
			/* No sharing is known: the process owns its mm, if it has one. */
			p->mm_owner = p->kind == PROCESS_USER;
		else if (!o || owns_before(p, o))
			owner[p->mm_id] = p;
	}
	for (size_t i = 0; i < count; i++) {
		struct process *p = rows[i];

		if (p->mm_id && owner[p->mm_id] == p)
			p->mm_owner = true;
	}
	return 0;
}

void snapshot_forget_charges(struct snapshot *s)
{
	for (size_t i = 0; i < s->memcg_count; i++) {
		s->memcg[i].current_known = false;
		s->memcg[i].details = 0;
	}
}
