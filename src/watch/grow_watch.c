// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loads the programs of grow, arms processes and reads the ring buffer. */
#include "watch/grow_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "load/bpf_diagnose.h"
#include "load/bpf_load.h"
#include "privilege/privilege.h"
#include "source/iterator.h"
#include "watch/ring_drain.h"

#define LINKS 8

struct grow_watch {
	struct bpf_handle object;
	struct ring_drain *ring;
	struct ring_buffer *wake;
	struct zmem_grow_settings settings;
	int link_fd[LINKS];
	int links;
	uint32_t cpus;
	bool each, addresses;
	bool per_cpu; /* the parts of counters, not per thread */
	int (*fn)(void *arg, const struct zmem_grow_head *message, size_t len);
	void *arg;
};

static int receive_message(void *arg, const void *message, size_t len)
{
	const struct grow_watch *w = arg;

	return len < sizeof(struct zmem_grow_head) ? -EBADMSG : w->fn(w->arg, message, len);
}

static int ignore(void *arg, void *data, size_t len)
{
	(void)arg;
	(void)data;
	(void)len;
	return 0;
}

/* ---- opening ---- */

static int update_settings(const struct grow_watch *w)
{
	const uint32_t zero = 0;

	return bpf_map_update_elem(w->object.fd[BPF_SETTINGS], &zero, &w->settings, 0);
}

static int attach(struct grow_watch *w, const char *name)
{
	int program = bpf_handle_program(&w->object, name), fd;

	if (!program)
		return 0;
	fd = bpf_raw_tracepoint_open(NULL, program);
	if (fd < 0)
		return fd;
	w->link_fd[w->links++] = fd;
	return 1;
}

static int attach_all(struct grow_watch *w)
{
	static const char *const needed[] = {"grow", "grow_exec", "grow_fork"};
	static const char *const addresses[] = {"grow_fault_begin", "grow_fault_user",
						"grow_fault_kernel"};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(needed); i++)
		r = attach(w, needed[i]);
	if (r >= 0)
		r = attach(w, "grow_fault_end");
	w->settings.faults = r > 0;
	w->each |= r > 0;
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(addresses); i++) {
		r = attach(w, addresses[i]);
		w->addresses |= r > 0;
	}
	if (r >= 0)
		r = attach(w, "grow_area");
	return r < 0 ? r : 0;
}

static int set_up_heap(const struct grow_watch *w)
{
	cleanup_free struct zmem_heap_gaps *gaps = calloc(1, sizeof(*gaps));
	int cpus = libbpf_num_possible_cpus();
	cleanup_free struct zmem_heap_cpu *cpu = calloc(cpus > 0 ? (size_t)cpus : 1, sizeof(*cpu));
	const double mean = (double)w->settings.heap_bytes;
	const uint32_t zero = 0;
	uint32_t random;
	int r;

	if (!gaps || !cpu || cpus <= 0)
		return -ENOMEM;
	for (size_t i = 0; i < ZMEM_HEAP_PARTS; i++)
		gaps->bound[i] = (uint64_t)(-log1p(-(double)i / ZMEM_HEAP_PARTS) * ZMEM_HEAP_UNIT);
	gaps->bound[ZMEM_HEAP_PARTS] = gaps->bound[ZMEM_HEAP_PARTS - 1];
	for (int i = 0; i < cpus; i++) {
		if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
			return -EIO;
		cpu[i].left = 1 + (int64_t)(-log(((double)random + 1) / 0x1p32) * mean);
	}
	r = bpf_map_update_elem(w->object.fd[BPF_HEAP_GAPS], &zero, gaps, 0);
	return r < 0 ? r : bpf_map_update_elem(w->object.fd[BPF_HEAP_CPU], &zero, cpu, 0);
}

/* Each CPU may write a large stack while the others do. */
static uint32_t ring_bytes(uint32_t cpus)
{
	uint32_t bytes = ZMEM_GROW_RING;

	for (uint32_t room = 8; room < cpus && bytes < (1u << 26); room *= 2)
		bytes *= 2;
	return bytes;
}

static int set_up(struct grow_watch *w, const struct grow_request *request)
{
	int r;

	w->settings = (struct zmem_grow_settings){
		.mode = request->walk ? ZMEM_GROW_WALK : ZMEM_GROW_COPY,
		.targets = request->targets,
		.follow = request->follow,
		.sample = request->sample,
		.ring = ring_bytes(w->cpus),
		.at = request->at,
		.heap_bytes = request->heap,
		.heap_refuses = ZMEM_HEAP_REFUSES_FOREIGN,
	};
	r = ring_drain_new(w->object.fd[BPF_RING], w->settings.ring, &w->ring);
	if (r < 0)
		return r;
	w->wake = ring_buffer__new(w->object.fd[BPF_WAKE], ignore, w, NULL);
	r = w->wake ? attach_all(w) : -errno;
	if (r == 0 && request->heap)
		r = set_up_heap(w);
	return r < 0 ? r : update_settings(w);
}

/* Ways to load: an event that this kernel does not have is left out. */
struct way {
	enum bpf_object_id object;
	bool each;
	const char *without[5];
};

#define NO_BEGIN    "grow_fault_begin"
#define NO_FAULTS   "grow_fault_user", "grow_fault_kernel"
#define NO_FUNCTION NO_BEGIN, "grow_fault_end"

/* Programs of --malloc alone. */
static const char *const heap_programs[] = {"heap_session", "heap_enter", "heap_leave",
					    "heap_locks", "heap_mapping"};

static const struct way ways[] = {
	{OBJECT_GROW, true, {NO_FAULTS}},
	{OBJECT_GROW, true, {NO_BEGIN}},
	{OBJECT_GROW, true, {NO_BEGIN, NO_FAULTS}},
	{OBJECT_GROW_PROBE, false, {NO_FAULTS}},
	{OBJECT_GROW_PROBE, false, {NO_FUNCTION}},
	{OBJECT_GROW_PROBE, false, {NO_FUNCTION, NO_FAULTS}},
};

/* What is left out of an object. */
struct left_out {
	const char *name[ARRAY_SIZE(heap_programs) + ARRAY_SIZE(ways[0].without)];
};

static struct left_out list_left_out(const struct way *way, bool heap)
{
	struct left_out out = {};
	size_t n = 0;

	for (size_t i = 0; !heap && i < ARRAY_SIZE(heap_programs); i++)
		out.name[n++] = heap_programs[i];
	for (size_t i = 0; i < ARRAY_SIZE(way->without); i++)
		out.name[n++] = way->without[i];
	return out;
}

static int open_way(const struct way *way, const struct grow_request *request,
		    struct grow_watch **ret, struct bpf_missing *missing)
{
	const struct left_out out = list_left_out(way, request->heap);
	const uint32_t cpus = bpf_cpu_numbers();
	const struct bpf_sizes sizes = {.targets = request->targets,
					.ring = ring_bytes(cpus),
					.heap = request->heap ? ZMEM_HEAP_BLOCKS : 1,
					.without = out.name};
	struct grow_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->each = w->per_cpu = way->each;
	w->cpus = cpus;
	r = bpf_load(way->object, LOADER_EITHER, &sizes, &w->object, missing);
	if (r == 0)
		r = set_up(w, request);
	if (r == 0)
		*ret = w;
	else
		grow_watch_close(w);
	return r;
}

/* What the verifier says of the newest object that does not load, without what may be missing. */
static char *explain(bool heap)
{
	const struct left_out newest = list_left_out(&ways[2], heap);
	const struct left_out older = list_left_out(&ways[5], heap);
	char *log = bpf_load_explain(ways[2].object, newest.name);

	return log ? log : bpf_load_explain(ways[5].object, older.name);
}

int grow_watch_open(const struct grow_request *request, struct diag *diag, struct grow_watch **ret)
{
	struct bpf_missing missing = {}, later;
	int r = -ENOTSUP;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		/* What the newest object lacks is the reason; others are for older kernels. */
		r = open_way(&ways[i], request, ret, missing.name[0] ? &later : &missing);
		/* Without a privilege or room another object has no more. */
		if (r == 0 || r == -EMFILE || r == -ENOMEM || !privilege_loads())
			break;
	}
	bpf_diagnose_programs(diag, "growth", "grow", r, &missing);
	if (r < 0 && privilege_loads())
		diag_attach_log(diag, explain(request->heap));
	return r;
}

bool grow_watch_each(const struct grow_watch *w)
{
	return w->each;
}

bool grow_watch_addresses(const struct grow_watch *w)
{
	return w->addresses;
}

void grow_watch_close(struct grow_watch *w)
{
	if (!w)
		return;
	for (int i = 0; i < w->links; i++)
		close(w->link_fd[i]);
	ring_drain_free(w->ring);
	ring_buffer__free(w->wake);
	bpf_handle_close(&w->object);
	free(w);
}

int grow_watch_fd(const struct grow_watch *w)
{
	return ring_buffer__epoll_fd(w->wake);
}

/* ---- targets ---- */

/* Has the program of the iterator visit the threads of a process. Returns bytes or an errno. */
static ssize_t visit(struct grow_watch *w, pid_t pid, void *buf, size_t cap)
{
	int r;

	w->settings.visit++;
	r = update_settings(w);
	return r < 0 ? r : iterator_visit(w->object.fd[BPF_ITER], pid, buf, cap);
}

int grow_watch_add(struct grow_watch *w, pid_t pid, uint32_t *ret_target)
{
	struct zmem_grow_visit result[2] = {};
	ssize_t len = visit(w, pid, result, sizeof(result));

	if (len < 0)
		return (int)len;
	if (len < (ssize_t)sizeof(result[0]))
		return -ESRCH;
	if (result[0].target >= w->settings.targets)
		return -ENOSPC;
	*ret_target = result[0].target;
	return 0;
}

int grow_watch_visit(struct grow_watch *w, pid_t pid, bool last)
{
	struct zmem_grow_visit result[2];
	ssize_t len;

	/* A counter that changes just now would be taken from its event. */
	if (w->per_cpu && (!last || w->settings.stopped))
		return 0;
	len = visit(w, pid, result, sizeof(result));
	return len < 0 ? (int)len : 0;
}

int grow_watch_stop(struct grow_watch *w)
{
	int r;

	w->settings.stopped = 1;
	r = update_settings(w);
	/* Programs that run now still write: this waits for them, as synchronize_rcu() does
	 * (kernel/sched/membarrier.c). Where it is not there, the last page may be missing. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	return r;
}

/* ---- blocks ---- */

struct grow_heap_programs grow_watch_heap_programs(const struct grow_watch *w)
{
	return (struct grow_heap_programs){
		.session = bpf_handle_program(&w->object, "heap_session"),
		.enter = bpf_handle_program(&w->object, "heap_enter"),
		.leave = bpf_handle_program(&w->object, "heap_leave"),
	};
}

int grow_watch_heap_coarser(struct grow_watch *w, uint32_t n)
{
	w->settings.heap_coarser = n;
	return update_settings(w);
}

uint32_t grow_watch_heap_refuses(const struct grow_watch *w, uint32_t target)
{
	struct zmem_grow_target t;

	return bpf_map_lookup_elem(w->object.fd[BPF_TARGETS], &target, &t) == 0 ? t.refuses : 0;
}

int grow_watch_heap_spare_filters(struct grow_watch *w)
{
	w->settings.heap_refuses |= ZMEM_HEAP_REFUSES_UNKNOWN;
	return update_settings(w);
}

uint64_t grow_watch_heap_mapping(struct grow_watch *w, pid_t pid, uint64_t address)
{
	uint64_t mapping = 0;
	ssize_t len = 0;

	w->settings.look_at = address;
	if (update_settings(w) == 0)
		len = iterator_visit(bpf_handle_program(&w->object, "heap_mapping"), pid, &mapping,
				     sizeof(mapping));
	return len == sizeof(mapping) ? mapping : 0;
}

ssize_t grow_watch_heap_locks(struct grow_watch *w, uint64_t mapping,
			      int (*fn)(void *arg, const void *lock), void *arg)
{
	cleanup_close int iter = -1;
	int r;

	w->settings.look_mapping = mapping;
	r = update_settings(w);
	if (r < 0)
		return r;
	iter = iterator_open(bpf_handle_program(&w->object, "heap_locks"), NULL);
	return iter < 0 ? iter : iterator_read(iter, sizeof(struct zmem_grow_lock), fn, arg);
}

int grow_watch_heap_counts(const struct grow_watch *w, struct zmem_heap_cpu *ret)
{
	int cpus = libbpf_num_possible_cpus();
	cleanup_free struct zmem_heap_cpu *cpu = calloc(cpus > 0 ? (size_t)cpus : 1, sizeof(*cpu));
	const uint32_t zero = 0;
	int r;

	*ret = (struct zmem_heap_cpu){};
	if (!cpu || cpus <= 0)
		return -ENOMEM;
	r = bpf_map_lookup_elem(w->object.fd[BPF_HEAP_CPU], &zero, cpu);
	if (r < 0)
		return r;
	for (int i = 0; i < cpus; i++) {
		ret->calls += cpu[i].calls;
		ret->stepped += cpu[i].stepped;
		ret->returns += cpu[i].returns;
		ret->coarsest = cpu[i].coarsest > ret->coarsest ? cpu[i].coarsest : ret->coarsest;
		ret->samples += cpu[i].samples;
		ret->lost += cpu[i].lost;
		ret->passed += cpu[i].passed;
		ret->refused += cpu[i].refused;
	}
	return 0;
}

#define BATCH 4096

int grow_watch_heap_list(const struct grow_watch *w, struct grow_live_block **ret,
			 size_t *ret_count)
{
	cleanup_free struct zmem_heap_key *key = calloc(BATCH, sizeof(*key));
	cleanup_free struct zmem_heap_block *block = calloc(BATCH, sizeof(*block));
	cleanup_free struct grow_live_block *list = NULL;
	size_t count = 0, room = 0;
	uint32_t token = 0, n;
	int r = 0;

	if (!key || !block)
		return -ENOMEM;
	for (bool first = true; r == 0; first = false) {
		n = BATCH;
		/* The end of the map is an error, with what came before it. */
		r = bpf_map_lookup_batch(w->object.fd[BPF_HEAP_BLOCKS], first ? NULL : &token,
					 &token, key, block, &n, NULL);
		if (r < 0 && r != -ENOENT)
			return r;
		for (uint32_t i = 0; i < n; i++) {
			if (!array_room(&list, count, &room, BATCH))
				return -ENOMEM;
			list[count++] = (struct grow_live_block){.target = key[i].target,
								 .address = key[i].address,
								 .time = block[i].time};
		}
	}
	*ret = TAKE_PTR(list);
	*ret_count = count;
	return 0;
}

bool grow_watch_heap_has(const struct grow_watch *w, uint32_t target, uint64_t address,
			 uint64_t time)
{
	const struct zmem_heap_key key = {.target = target, .address = address};
	struct zmem_heap_block block;

	return bpf_map_lookup_elem(w->object.fd[BPF_HEAP_BLOCKS], &key, &block) == 0 &&
	       block.time == time;
}

void grow_watch_heap_forget(const struct grow_watch *w, uint32_t target, uint64_t address)
{
	const struct zmem_heap_key key = {.target = target, .address = address};

	bpf_map_delete_elem(w->object.fd[BPF_HEAP_BLOCKS], &key);
}

/* ---- reading ---- */

int grow_watch_read(struct grow_watch *w,
		    int (*fn)(void *arg, const struct zmem_grow_head *message, size_t len),
		    void *arg)
{
	w->fn = fn;
	w->arg = arg;
	ring_buffer__consume(w->wake);
	return ring_drain_read(w->ring, receive_message, w);
}

static void add_cpu(struct grow_sums *sums, const struct zmem_grow_cpu *c)
{
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		sums->net[i] += c->net[i];
		sums->skipped[i] += c->rest[i];
		for (size_t k = 0; k < ARRAY_SIZE(c->waiting); k++)
			sums->skipped[i] += c->waiting[k][i];
	}
	sums->events += c->events;
	sums->taken += c->taken;
	sums->lost_messages += c->lost_messages;
	sums->lost_processes += c->lost_processes;
	sums->copied += (uint64_t)c->copies_waiting;
}

int grow_watch_sums(const struct grow_watch *w, uint32_t target, struct grow_sums *ret)
{
	struct zmem_grow_target t;

	*ret = (struct grow_sums){};
	if (bpf_map_lookup_elem(w->object.fd[BPF_TARGETS], &target, &t) < 0)
		return -errno;
	for (uint32_t cpu = 0; cpu < w->cpus; cpu++) {
		uint32_t at = cpu * w->settings.targets + target;
		struct zmem_grow_cpu c;

		if (bpf_map_lookup_elem(w->object.fd[BPF_ON_CPU], &at, &c) < 0)
			return -errno;
		add_cpu(ret, &c);
		for (int i = 0; i < ZMEM_RSS_COUNT; i++)
			ret->end[i] += c.last[i];
	}
	ret->ended = t.ended;
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		ret->begin[i] = t.begin[i];
		ret->settled[i] = t.settled[i];
		ret->end[i] += t.last_count[i];
		if (w->per_cpu)
			continue;
		/* What a thread adds to the count when it ends, the next event brings, if one
		 * comes. */
		ret->skipped[i] += t.settled[i];
		/* The parts of threads are gone with them: each change was an event. */
		ret->end[i] = t.ended ? t.begin[i] + t.settled[i] + ret->net[i] : t.end[i];
	}
	return 0;
}

int grow_watch_free(struct grow_watch *w, uint32_t target)
{
	static const struct zmem_grow_target no_target;
	static const struct zmem_grow_cpu no_cpu;

	/* The target last: from then on the kernel may use it. */
	for (uint32_t cpu = 0; cpu < w->cpus; cpu++) {
		uint32_t at = cpu * w->settings.targets + target;

		if (bpf_map_update_elem(w->object.fd[BPF_ON_CPU], &at, &no_cpu, 0) < 0)
			return -errno;
	}
	return bpf_map_update_elem(w->object.fd[BPF_TARGETS], &target, &no_target, 0);
}
