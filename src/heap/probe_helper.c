// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The request, and the helper that answers it. */
#include "heap/probe_helper.h"

#include <errno.h>
#include <link.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/thread.h"
#include "code/code_file.h"
#include "zmem/grow.h"

/* include/uapi/linux/bpf.h, which a distribution may have of an older kernel. */
#define TRACE_UPROBE_MULTI   48
#define TRACE_UPROBE_SESSION 57
#define MULTI_RETURN	     1 /* a flag */
#define RETURN_PROBE	     1 /* config of the PMU (format/retprobe) */
/* Functions of one request without sessions: each has two links. */
#define PAIRS (HELPER_FDS / 2)

enum ask {
	ASK_SESSION, /* struct ask_probes and places; the file, the program */
	ASK_MULTI,   /* the same; the file, the program of the beginning, that of the end */
	ASK_PAIRS,   /* the same, by perf events */
	ASK_COST,    /* struct ask_probes; the program of the beginning, or of both ends */
	/* The same; the program of the end. Of its own: it may end the helper (probe_try_filter()).
	 */
	ASK_RETURN_COST,
	ASK_TRY, /* the program of the end */
};

struct ask_probes {
	int32_t pid; /* of ASK_COST: the type of the link, 0: a perf event */
	int32_t pmu;
};

/* The part of union bpf_attr that BPF_LINK_CREATE reads. */
struct link_create {
	uint32_t program, target, type, flags;
	union {
		uint64_t cookie;
		struct {
			uint64_t path, offsets, counters, cookies;
			uint32_t count, flags, pid, unused;
		} many;
	};
};

static int create(const struct link_create *link)
{
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, link, sizeof(*link));

	return fd < 0 ? -errno : fd;
}

/* ---- the helper ---- */

/* Functions of a file that are probed in one process. */
struct places {
	const char *path;
	pid_t pid;
	uint64_t offset[PROBES_MAX], cookie[PROBES_MAX];
	size_t count;
};

static void read_places(const struct helper_message *m, size_t pos, struct places *ret)
{
	struct probe_place place;

	while (ret->count < PROBES_MAX && message_get(m, &pos, &place, sizeof(place))) {
		ret->offset[ret->count] = place.offset;
		ret->cookie[ret->count++] = place.cookie;
	}
}

/* All functions by one link. */
static int attach_many(const struct places *p, int program, uint32_t type, uint32_t flags)
{
	const struct link_create link = {
		.program = (uint32_t)program,
		.type = type,
		.many = {.path = (uintptr_t)p->path,
			 .offsets = (uintptr_t)p->offset,
			 .cookies = (uintptr_t)p->cookie,
			 .count = (uint32_t)p->count,
			 .flags = flags,
			 .pid = (uint32_t)p->pid},
	};

	return create(&link);
}

/* Puts a link into the answer, or takes those back that are there. Returns 0 or the error. */
static int add_link(struct helper_message *ret, int fd)
{
	if (fd >= 0)
		message_put_fd(ret, fd);
	else
		message_close_fds(ret);
	return fd < 0 ? fd : 0;
}

static bool is_free(uint64_t cookie)
{
	return (cookie & ZMEM_HEAP_FUNCTION) == ZMEM_HEAP_FREE;
}

static int answer_session(const struct places *p, const struct helper_message *request,
			  struct helper_message *ret)
{
	return add_link(ret, attach_many(p, request->fd[1], TRACE_UPROBE_SESSION, 0));
}

static int answer_multi(const struct places *p, const struct helper_message *request,
			struct helper_message *ret)
{
	struct places returning = {.path = p->path, .pid = p->pid};
	int r = 0;

	for (size_t i = 0; i < p->count; i++) {
		if (is_free(p->cookie[i]))
			continue;
		returning.offset[returning.count] = p->offset[i];
		returning.cookie[returning.count++] = p->cookie[i];
	}
	/* The ends first: a beginning without an end would stay. */
	if (returning.count)
		r = add_link(ret, attach_many(&returning, request->fd[2], TRACE_UPROBE_MULTI,
					      MULTI_RETURN));
	return r < 0 ? r : add_link(ret, attach_many(p, request->fd[1], TRACE_UPROBE_MULTI, 0));
}

static int attach_one(const struct places *p, size_t i, int pmu, int program, bool leaves)
{
	struct perf_event_attr attr = {
		.type = (uint32_t)pmu,
		.size = sizeof(attr),
		.config = leaves ? RETURN_PROBE : 0,
		.uprobe_path = (uintptr_t)p->path,
		.probe_offset = p->offset[i],
	};
	cleanup_close int event =
		(int)syscall(SYS_perf_event_open, &attr, p->pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	const struct link_create link = {.program = (uint32_t)program,
					 .target = (uint32_t)event,
					 .type = BPF_PERF_EVENT,
					 .cookie = p->cookie[i]};

	/* The link keeps the event. */
	return event < 0 ? -errno : create(&link);
}

static int answer_pairs(const struct places *p, int pmu, const struct helper_message *request,
			struct helper_message *ret)
{
	int r = 0;

	for (size_t i = 0; i < p->count && i < PAIRS; i++) {
		for (int leaves = !is_free(p->cookie[i]); r == 0 && leaves >= 0; leaves--)
			r = add_link(ret,
				     attach_one(p, i, pmu, request->fd[leaves ? 2 : 1], leaves));
	}
	return r;
}

/* ---- the cost ---- */

#define CALLS	100
#define BATCHES 10 /* the fastest one counts: others use the CPU, too */

#if defined(__x86_64__)
#define STEPPED "test %rax, %rax"
#else
#define STEPPED "cmp x0, x0"
#endif

#define FUNCTION(name, instruction)                                                                \
	asm(".pushsection .text\n.globl " name "\n.hidden " name "\n.type " name                   \
	    ", %function\n" name ": " instruction "\n\tret\n.size " name ", . - " name             \
	    "\n.popsection")

/* Something to probe: an instruction that the kernel does itself, and one that it does not. */
FUNCTION("zmem_probed", "nop");
FUNCTION("zmem_stepped", STEPPED);

extern void zmem_probed(void) __attribute__((visibility("hidden")));
extern void zmem_stepped(void) __attribute__((visibility("hidden")));

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* Where a function of this program is in its file. */
static bool find_own(uintptr_t address, uint64_t *ret_offset)
{
	const char *base = (const char *)&__ehdr_start;
	const ElfW(Phdr) *p = (const void *)(base + __ehdr_start.e_phoff);
	const uintptr_t vaddr = address - (uintptr_t)base;

	for (size_t i = 0; i < __ehdr_start.e_phnum; i++) {
		/* The first segment has the header, so that it tells where addresses begin. */
		uintptr_t start =
			p[i].p_vaddr - (__ehdr_start.e_type == ET_EXEC ? (uintptr_t)base : 0);

		if (p[i].p_type != PT_LOAD || vaddr - start >= p[i].p_filesz)
			continue;
		*ret_offset = vaddr - start + p[i].p_offset;
		return true;
	}
	return false;
}

/* ns of a call. */
static uint64_t time_calls(void (*fn)(void))
{
	uint64_t least = UINT64_MAX;

	for (int k = 0; k < BATCHES; k++) {
		uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), now;

		for (int i = 0; i < CALLS; i++)
			fn();
		now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		least = now - start < least ? now - start : least;
	}
	return least / CALLS;
}

/* A function of this program, in this process. */
static int find_self(void (*fn)(void), uint64_t cookie, struct places *ret)
{
	*ret = (struct places){
		.path = "/proc/self/exe", .pid = getpid(), .cookie = {cookie}, .count = 1};
	return find_own((uintptr_t)fn, ret->offset) ? 0 : -ENOEXEC;
}

static int attach_own(const struct ask_probes *ask, const struct places *own, int program,
		      bool leaves)
{
	if (ask->pid)
		return attach_many(own, program, leaves ? TRACE_UPROBE_MULTI : (uint32_t)ask->pid,
				   leaves ? MULTI_RETURN : 0);
	return attach_one(own, 0, ask->pmu, program, leaves);
}

/* What a probe of each of them costs, ns; or that of the return of the first one in addition. */
static int answer_cost(const struct ask_probes *ask, const struct helper_message *request,
		       struct helper_message *ret)
{
	static void (*const probed[])(void) = {zmem_probed, zmem_stepped};
	bool leaves = request->kind == ASK_RETURN_COST;

	for (size_t i = 0; i < (leaves ? 1 : ARRAY_SIZE(probed)); i++) {
		void (*fn)(void) = probed[i];
		uint64_t without, cost;
		struct places own;
		int r = find_self(fn, ZMEM_HEAP_FREE, &own);

		if (r < 0)
			return r;
		without = time_calls(fn);
		/* The caller closes it, beside others. */
		r = add_link(ret, attach_own(ask, &own, request->fd[0], leaves));
		if (r < 0)
			return r;
		cost = time_calls(fn);
		cost = cost > without ? cost - without : 0;
		message_put(ret, &cost, sizeof(cost));
	}
	return 0;
}

/* Since Linux 6.6, long before a return makes a system call. */
static int answer_try(const struct helper_message *request)
{
	struct places own;
	cleanup_close int fd = find_self(zmem_probed, ZMEM_HEAP_SIZE, &own);

	if (fd < 0)
		return fd;
	fd = attach_many(&own, request->fd[0], TRACE_UPROBE_MULTI, MULTI_RETURN);
	if (fd >= 0)
		zmem_probed();
	return fd < 0 ? fd : 0;
}

/*
 * Has the kernel read the pages of the probed code: it would read them while no process of the
 * machine can fork (uprobe_register(), dup_mmap_sem). A file that cannot be read is probed as well.
 */
static void read_code(int found, const struct places *p)
{
	cleanup_close int fd = code_open_found(found, false);
	char byte;

	for (size_t i = 0; fd >= 0 && i < p->count; i++) {
		if (pread(fd, &byte, sizeof(byte), (off_t)p->offset[i]) < 0)
			return;
	}
}

static int answer(void *state, struct helper_message *request, struct helper_message *ret)
{
	bool session = request->kind == ASK_SESSION;
	char path[32];
	struct places p = {.path = path};
	struct ask_probes ask;
	size_t pos = 0;

	(void)state;
	if (request->kind == ASK_COST || request->kind == ASK_RETURN_COST)
		return request->fds == 1 && message_get(request, &pos, &ask, sizeof(ask))
			       ? answer_cost(&ask, request, ret)
			       : -EBADMSG;
	if (request->kind == ASK_TRY)
		return request->fds == 1 ? answer_try(request) : -EBADMSG;
	if (request->fds != (session ? 2 : 3) || !message_get(request, &pos, &ask, sizeof(ask)))
		return -EBADMSG;
	p.pid = ask.pid;
	read_places(request, pos, &p);
	read_code(request->fd[0], &p);
	/* The kernel follows this link to the file itself. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", request->fd[0]);
	if (session)
		return answer_session(&p, request, ret);
	if (request->kind == ASK_MULTI)
		return answer_multi(&p, request, ret);
	return answer_pairs(&p, ask.pmu, request, ret);
}

/* ---- the request ---- */

static const struct helper_kind kind = {
	.answer = answer,
	.memory = (size_t)64 << 20,
	.attaches = true,
	.limits = {.cpu_us = 5000000, .idle_us = 2000000},
};

static int read_pmu(void)
{
	char text[32];
	const char *pos = text;
	ssize_t n = file_read(AT_FDCWD, "/sys/bus/event_source/devices/uprobe/type", text,
			      sizeof(text));
	uint64_t type;

	return n > 0 && scan_u64(&pos, text + n, &type) && type <= INT32_MAX ? (int)type : -1;
}

void probe_helper_init(struct probe_helper *h, struct helpers *shared)
{
	h->programs = (struct probe_programs){-1, -1, -1, read_pmu()};
	helper_init(&h->helper, &kind, 0, 0, NULL, shared);
}

static int call(struct probe_helper *h, enum ask what, int found, pid_t pid,
		const struct probe_place *place, size_t count, int *ret, size_t *ret_count)
{
	const struct ask_probes ask = {.pid = pid, .pmu = h->programs.pmu};
	struct helper_message *answer = &h->helper.answer;
	int error;

	helper_begin(&h->helper, what);
	message_put(&h->helper.request, &ask, sizeof(ask));
	message_put(&h->helper.request, place, count * sizeof(*place));
	message_put_fd(&h->helper.request, found);
	message_put_fd(&h->helper.request,
		       what == ASK_SESSION ? h->programs.session : h->programs.enter);
	if (what != ASK_SESSION)
		message_put_fd(&h->helper.request, h->programs.leave);
	error = helper_call(&h->helper, HELPER_FDS);
	if (error < 0)
		return error;
	for (size_t i = 0; i < answer->fds; i++)
		ret[(*ret_count)++] = answer->fd[i];
	return 0;
}

int probe_attach(struct probe_helper *h, int found, pid_t pid, const struct probe_place *place,
		 size_t count, int *ret, size_t *ret_count)
{
	int error = -EOPNOTSUPP;

	*ret_count = 0;
	if (count > PROBES_MAX)
		return -E2BIG;
	for (; h->way < WAY_EVENTS; h->way++) {
		error = call(h, h->way == WAY_SESSION ? ASK_SESSION : ASK_MULTI, found, pid, place,
			     count, ret, ret_count);
		/* An older kernel does not have it. */
		if (error != -EINVAL && error != -EOPNOTSUPP)
			return error;
	}
	if (h->programs.pmu < 0)
		return -EOPNOTSUPP;
	error = 0;
	for (size_t i = 0; error == 0 && i < count; i += PAIRS)
		error = call(h, ASK_PAIRS, found, pid, place + i,
			     count - i < PAIRS ? count - i : PAIRS, ret, ret_count);
	while (error < 0 && *ret_count > 0)
		close(ret[--*ret_count]);
	return error;
}

#define CLOSERS 32

struct closing {
	pthread_t thread;
	int *fd;
	size_t count, step;
	bool started;
};

static void *close_part(void *arg)
{
	const struct closing *c = arg;

	for (size_t i = 0; i < c->count; i += c->step)
		close_fd(&c->fd[i]);
	return NULL;
}

void probe_detach(int *fd, size_t count)
{
	struct closing part[CLOSERS];
	size_t parts = count < CLOSERS ? count : CLOSERS;

	/* The first part is this thread's. */
	for (size_t i = parts; i-- > 0;) {
		part[i] = (struct closing){.fd = fd + i, .count = count - i, .step = parts};
		part[i].started = i && thread_start(&part[i].thread, close_part, &part[i]) == 0;
		if (!part[i].started)
			close_part(&part[i]);
	}
	for (size_t i = 1; i < parts; i++) {
		if (part[i].started)
			pthread_join(part[i].thread, NULL);
	}
}

int probe_try_filter(struct probe_helper *h)
{
	helper_begin(&h->helper, ASK_TRY);
	message_put_fd(&h->helper.request, h->programs.leave);
	return helper_call(&h->helper, 0);
}

/* Has the costs of so many functions, and the descriptors of their probes. */
static int ask_cost(struct probe_helper *h, enum ask what, int program, uint64_t *ret, int *ret_fd,
		    size_t count)
{
	const uint32_t type = h->way == WAY_SESSION ? TRACE_UPROBE_SESSION
			      : h->way == WAY_MULTI ? TRACE_UPROBE_MULTI
						    : 0;
	const struct ask_probes ask = {.pid = (int)type, .pmu = h->programs.pmu};
	size_t pos = 0;
	int error;

	helper_begin(&h->helper, what);
	message_put(&h->helper.request, &ask, sizeof(ask));
	message_put_fd(&h->helper.request, program);
	error = helper_call(&h->helper, count);
	for (size_t i = 0; error == 0 && i < h->helper.answer.fds; i++)
		ret_fd[i] = h->helper.answer.fd[i];
	if (error == 0 && !message_get(&h->helper.answer, &pos, ret, count * sizeof(*ret)))
		error = -EBADMSG;
	return error;
}

/* The program ends early, because this process is no target. Targets cost more. */
#define PART_OF_COST 0.85

int probe_cost(struct probe_helper *h, struct probe_cost *ret)
{
	int fd[3] = {-1, -1, -1}, error = -EINVAL, later;
	uint64_t ns[3], more;

	/* Where it is the first to try a way, it finds what this kernel has. */
	for (; error == -EINVAL || error == -EOPNOTSUPP; h->way++) {
		error = ask_cost(h, ASK_COST,
				 h->way == WAY_SESSION ? h->programs.session : h->programs.enter,
				 ns, fd, 2);
		if (error == 0 || h->way == WAY_EVENTS)
			break;
	}
	later = error ? error : ask_cost(h, ASK_RETURN_COST, h->programs.leave, ns + 2, fd + 2, 1);
	probe_detach(fd, ARRAY_SIZE(fd));
	if (error < 0)
		return error;
	more = (uint64_t)((double)ns[0] * (1 / PART_OF_COST - 1));
	*ret = (struct probe_cost){ns[0] + more, ns[1] + more, ns[0] + more};
	if (later == 0)
		ret->return_ns = ns[2] + more;
	return 0;
}
