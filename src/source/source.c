// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of sources. The opener tries them in order and never checks kernel versions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "load/bpf_diagnose.h"
#include "privilege/privilege.h"
#include "source/pin.h"
#include "source/source_internal.h"

/* With this many tasks a second reader pays; more than four never paid. */
#define TASKS_TO_SHARE	400
#define TABLES_TO_SHARE (32 * 1024 * 1024)
#define READERS_AUTO	4

/*
 * Bytes of page tables that processes share, from which on memos save more than their code takes to
 * load (1 ms); and how many memos a reader gets, each of 64 bytes (bpf/memo.bpf.h).
 */
#define TABLES_FOR_MEMOS (2 * 1024 * 1024)
#define TABLES_PER_MEMO	 (16 * 1024)
#define MEMOS_LEAST	 1024
#define MEMOS_CONTINUOUS (4 * 1024)
#define MEMOS_MOST	 (32 * 1024)
#define VISITS_MAX	 64

/* Pages for the tables of a small process; and bytes beyond which loading is faster than a pin. */
#define PAGES_OF_PROCESS 12
#define TABLES_TO_LOAD	 (8 * 1024 * 1024)

struct source {
	const struct source_variant *variant;
	void *state;
	const struct procfs *proc;
	unsigned readers;
	bool pss_asked;
	bool had_pss;	   /* when it opened */
	char *pss_refusal; /* for good; NULL: the state decides */
};

#define PIN(link_name) &source_kind_pin, .pinned = link_name
#define BPF(id, by)    &source_kind_bpf, .object = id, .loader = by
#define PROC	       &source_kind_proc

/* Every source, in the order they are tried. */
static const struct source_variant variants[] = {
	{"bpf with pages, pinned", PIN(PIN_PSS), .pages = true},
	{"bpf, pinned", PIN(PIN_COUNTERS), .all_only = true},
	{"bpf with pages", BPF(OBJECT_PSS, LOADER_LIGHT), .pages = true},
	{"bpf with pages (libbpf)", BPF(OBJECT_PSS, LOADER_LIBBPF), .pages = true},
	{"bpf with pages (probe reads)", BPF(OBJECT_PSS_PROBE, LOADER_LIGHT), .pages = true,
	 .probes = true},
	{"bpf with pages (old kernels)", BPF(OBJECT_PSS_OLD, LOADER_LIBBPF), .pages = true,
	 .probes = true},
	{"bpf", BPF(OBJECT_COUNTERS, LOADER_LIGHT)},
	{"bpf (libbpf)", BPF(OBJECT_COUNTERS, LOADER_LIBBPF)},
	{"bpf (probe reads)", BPF(OBJECT_COUNTERS_PROBE, LOADER_LIGHT), .probes = true},
	{"bpf (probe reads, libbpf)", BPF(OBJECT_COUNTERS_OLD, LOADER_LIBBPF), .probes = true},
	{"proc", PROC, .all_only = true},
};

const struct source_variant *source_variant(size_t i)
{
	return i < ARRAY_SIZE(variants) ? &variants[i] : NULL;
}

const char *source_variant_name(const struct source_variant *variant)
{
	return variant->name;
}

static bool is_wanted(const struct source_request *request, const struct source_variant *v)
{
	if (v->pages && !request->pss)
		return false;
	if (request->pin == (v->pinned ? PIN_NOT : PIN_MUST))
		return false;
	return request->choice == SOURCE_AUTO ||
	       (request->choice == SOURCE_BPF && v->kind->origin == FROM_BPF) ||
	       (request->choice == SOURCE_PROC && v->kind->origin == FROM_PROC);
}

/* True if the error of the variant tried before shows that this one cannot work. */
static bool is_hopeless(const struct source_variant *v, int error)
{
	/* The counters of a pin are tried only if the pin lacks pages. */
	if (v->kind == &source_kind_pin)
		return error != -ENOENT;
	if (v->kind != &source_kind_bpf)
		return false;
	if (v->probes && error == -EINVAL && !bpf_diagnose_probe_reads_allowed())
		return true;
	/* Probe reads are for kernels without the cast. */
	if (v->probes && v->pages && (error == -EPERM || error == -EMFILE))
		return true;
	if (v->loader != LOADER_LIBBPF)
		return false;
	/*
	 * libbpf, which is slow, helps neither without privileges or file descriptors, nor on a
	 * kernel without the cast (ENOENT), nor on one older than light skeletons (E2BIG), which
	 * are older than the cast.
	 */
	return error == -EPERM || error == -EMFILE ||
	       (!v->probes && (error == -ENOENT || error == -E2BIG));
}

/* True if no other BPF variant is tried after this one failed with `error`. */
static bool is_last_bpf(const struct source_request *request, const struct source_variant *v,
			int error)
{
	if (v->kind != &source_kind_bpf || !v->probes)
		return false;
	while (++v < variants + ARRAY_SIZE(variants)) {
		if (v->kind == &source_kind_bpf && is_wanted(request, v) && !is_hopeless(v, error))
			return false;
	}
	return true;
}

void source_explain(const struct source_variant *variant, struct diag *diag)
{
	/* Without privileges or BTF the verifier does not run. */
	if (variant->kind == &source_kind_bpf && diag->count && privilege_loads() &&
	    access(BTF_PATH, R_OK) == 0)
		diag_attach_log(diag, bpf_load_explain(variant->object, NULL));
}

const struct diag_note *source_reason(const struct diag *diag)
{
	const struct diag_note *first = NULL;

	/* The first variant is the best, unless the kernel lacks only its newest kfunc. */
	for (int i = 0; i < diag->count && !first; i++) {
		if (diag->note[i].error && diag->note[i].error != -ENOENT)
			first = &diag->note[i];
	}
	/* A later variant may say what is missing. */
	for (int i = 0; i < diag->count && first && first->error == -EINVAL; i++) {
		if (diag->note[i].error == -ENODATA)
			first = &diag->note[i];
	}
	for (int i = 0; i < diag->count && !first; i++) {
		if (diag->note[i].error)
			first = &diag->note[i];
	}
	return first;
}

/* True if the note is about a BPF object with pages that is not pinned. */
static bool has_pages(const struct diag_note *note)
{
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		if (note->subject == variants[i].name)
			return variants[i].pages && !variants[i].pinned;
	}
	return false;
}

/* The reason of the last BPF variant with pages that did not open. */
static const char *pages_reason(const struct diag *diag)
{
	const char *reason = NULL;

	for (int i = 0; i < diag->count; i++) {
		const struct diag_note *note = &diag->note[i];

		if (has_pages(note))
			reason = note->reason ? note->reason : strerror(-note->error);
	}
	return reason;
}

/* Why a variant that never walks pages was opened; NULL if its state tells. */
static const char *refusal(const struct source *source, const struct diag *diag)
{
	const struct source_variant *v = source->variant;

	if (v->kind == &source_kind_proc)
		return "the counters come from /proc";
	return v->pages || v->pinned ? NULL : pages_reason(diag);
}

/* Bytes of the page tables of all processes: all that a walk could look at. 0: unknown. */
static uint64_t page_tables(const struct procfs *proc)
{
	struct meminfo m = meminfo_read(proc->fd);

	return meminfo_has(&m, MEMINFO_PAGE_TABLES) ? m.value[MEMINFO_PAGE_TABLES] : 0;
}

/* More are never chosen. */
static unsigned most_readers(void)
{
	unsigned cpus = (unsigned)get_nprocs();

	return cpus < READERS_AUTO ? cpus : READERS_AUTO;
}

static unsigned choose_readers(const struct source *source)
{
	struct sysinfo info;

	/* A thread and its iterator cost as much as the pages of about 20 processes. */
	if (!source->variant->pages || sysinfo(&info) < 0 ||
	    (info.procs < TASKS_TO_SHARE && page_tables(source->proc) < TABLES_TO_SHARE))
		return 1;
	return most_readers();
}

static int open_variant(const struct source_variant *variant, const struct procfs *proc,
			const struct memo_plan *memos, struct diag *diag,
			struct source **ret_source)
{
	cleanup_free struct source *source = calloc(1, sizeof(*source));
	int r;

	if (!source)
		return -ENOMEM;
	r = variant->kind->open(variant, proc, memos, diag, &source->state);
	if (r < 0)
		return r;
	source->variant = variant;
	source->proc = proc;
	source->readers = 1;
	source->had_pss =
		variant->pages && (variant->pinned || !variant->kind->pss_refusal(source->state));
	*ret_source = TAKE_PTR(source);
	return 0;
}

/* Sets what depends on the request. Returns 0 or -ENOMEM. */
static int set_request(struct source *source, const struct source_request *request,
		       const struct diag *diag)
{
	const char *reason = request->pss ? refusal(source, diag) : NULL;

	source->readers = request->readers;
	source->pss_asked = request->pss;
	if (reason)
		source->pss_refusal = strdup(reason);
	return reason && !source->pss_refusal ? -ENOMEM : 0;
}

/*
 * The bytes of page tables beyond those that the same memory would have if no two processes shared
 * any; 0 if there are fewer, or if that is not known.
 */
static uint64_t shared_tables(const struct procfs *proc, const struct meminfo *m)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE),
		       tables = m->value[MEMINFO_PAGE_TABLES];
	uint64_t explained;
	struct stat st;

	if (!meminfo_has(m, MEMINFO_PAGE_TABLES) || !meminfo_has(m, MEMINFO_ANON) ||
	    !meminfo_has(m, MEMINFO_MAPPED) || fstat(proc->fd, &st) < 0)
		return 0;
	/* /proc has a link for each process of the machine (proc_root_getattr()). */
	explained = (uint64_t)st.st_nlink * PAGES_OF_PROCESS * page +
		    (m->value[MEMINFO_ANON] + m->value[MEMINFO_MAPPED]) / page * sizeof(uint64_t);
	return tables > explained ? tables - explained : 0;
}

bool source_memos_pay(const struct procfs *proc, const struct meminfo *m)
{
	return shared_tables(proc, m) > TABLES_TO_LOAD;
}

const char *source_pin_lacks(const struct source *source)
{
	const char *refusal = source->pss_asked ? source_pss_refusal(source) : NULL;

	if (refusal)
		return refusal;
	return pin_source_is_ours() ? NULL : "another build of zmem-bpf made it";
}

/*
 * True if the pin is not used because this process loads programs that give more. -v shows why. The
 * note has no error, because it is no reason why BPF does not work.
 */
static bool pass_over_pin(const struct source *source, const struct source_request *request,
			  struct diag *diag)
{
	const char *why = source_pin_lacks(source);

	if (!why)
		why = request->beyond_pin;
	if (why)
		diag_add(diag, source->variant->name, 0, NULL, "not used: %s", why);
	return why;
}

/*
 * A table of 4 KiB that is mapped by several processes needs one memo. Where processes share few
 * tables there are none, but a source that stays may see more later.
 */
static struct memo_plan plan_memos(const struct source_request *request, const struct procfs *proc)
{
	const struct meminfo m = meminfo_read(proc->fd);
	struct memo_plan plan = {.each = request->continuous ? MEMOS_CONTINUOUS : 0};
	uint64_t tables = meminfo_has(&m, MEMINFO_PAGE_TABLES) ? m.value[MEMINFO_PAGE_TABLES] : 0;

	if (!request->memos)
		return (struct memo_plan){};
	plan.readers = request->readers ? request->readers : most_readers();
	if (shared_tables(proc, &m) >= TABLES_FOR_MEMOS && !plan.each)
		plan.each = MEMOS_LEAST;
	while (plan.each && plan.each < MEMOS_MOST && plan.each < tables / TABLES_PER_MEMO)
		plan.each *= 2;
	return plan;
}

int source_open_variant(const struct source_variant *variant, const struct procfs *proc,
			struct diag *diag, struct source **ret_source)
{
	const struct source_request request = {.readers = 1, .memos = true};
	const struct memo_plan memos = plan_memos(&request, proc);

	return open_variant(variant, proc, &memos, diag, ret_source);
}

int source_open(const struct source_request *request, const struct procfs *proc, struct diag *diag,
		struct source **ret_source)
{
	bool loads = request->pin == PIN_MAY && privilege_loads(), planned = false;
	struct memo_plan memos = {};
	struct source *source;
	int r = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		const struct source_variant *v = &variants[i];

		if (!is_wanted(request, v) || is_hopeless(v, r))
			continue;
		if (v->kind == &source_kind_bpf && !planned) {
			memos = plan_memos(request, proc);
			planned = true;
		}
		r = open_variant(v, proc, &memos, diag, &source);
		if (r == 0) {
			r = set_request(source, request, diag);
			if (r == 0 && v->pinned && loads)
				r = pass_over_pin(source, request, diag)
					    ? -ESTALE
					    : pin_source_hold(source->state);
			if (r == 0) {
				*ret_source = source;
				return 0;
			}
			source_close(source);
			if (r == -ENOMEM)
				return r;
		}
		/* A missing pin is worth a note only if the user asked for the pin. */
		if (v->pinned && r == -ENOENT && request->pin == PIN_MAY)
			diag_remove(diag);
		else if (v->pinned && loads && diag->count)
			diag->note[diag->count - 1].error = 0;
		/* Explaining is slow; doctor -v explains each variant. */
		if (is_last_bpf(request, v, r))
			source_explain(v, diag);
	}
	return r;
}

const char *source_name(const struct source *source)
{
	return source->variant->name;
}

enum origin source_origin(const struct source *source)
{
	return source->variant->kind->origin;
}

bool source_is_pinned(const struct source *source)
{
	return source->variant->pinned;
}

int source_link(const struct source *source)
{
	const struct source_kind *kind = source->variant->kind;

	return kind->link ? kind->link(source->state) : -EOPNOTSUPP;
}

const char *source_pss_refusal(const struct source *source)
{
	const struct source_variant *v = source->variant;

	if (source->pss_refusal)
		return source->pss_refusal;
	if (!v->pages && !source->pss_asked)
		return "it was not requested";
	return v->pages || v->pinned ? v->kind->pss_refusal(source->state) : NULL;
}

bool source_pss_lost(const struct source *source)
{
	return source->had_pss && source_pss_refusal(source);
}

int source_distrust_pss(struct source *source, const char *reason)
{
	if (!source->variant->pages || source->pss_refusal)
		return 0;
	source->pss_refusal = strdup(reason);
	source->variant->kind->distrust(source->state);
	return source->pss_refusal ? 0 : -ENOMEM;
}

int source_layout(const struct source *source, struct zmem_layout *ret)
{
	if (!source->variant->kind->layout || source_pss_refusal(source))
		return -ENOTSUP;
	return source->variant->kind->layout(source->state, ret);
}

/* Fills in the faults and, if `all`, the counters of status. False: the process is gone. */
static bool fill_process(const struct procfs *proc, struct process *p, bool all)
{
	cleanup_close int pid_fd = procfs_open_pid(proc, p->pid);

	if (pid_fd < 0 || procfs_same_start(proc, pid_fd, p->start_ns) <= 0 ||
	    (all && status_fill(p, pid_fd) <= 0))
		return false;
	stat_fill(p, pid_fd);
	return true;
}

/*
 * Fills in from /proc what BPF could not read: counters that this kernel keeps elsewhere, or a
 * process that called exec meanwhile. A counter that /proc lacks for one process is not looked for
 * in the next.
 */
static void fill_missing(const struct procfs *proc, struct snapshot *snapshot)
{
	counter_mask wanted = status_counters();

	for (size_t i = 0; proc->trusted && i < snapshot->count; i++) {
		struct process *p = &snapshot->process[i];
		counter_mask missing = wanted & ~p->have;

		if (p->kind != PROCESS_USER)
			continue;
		if (p->threads >= ZMEM_FAULTS_THREADS && !process_has(p, COUNTER_MAJFLT))
			fill_process(proc, p, false);
		if (!missing || !fill_process(proc, p, true))
			continue;
		p->raced = false;
		wanted &= ~(missing & ~p->have);
	}
}

static int finish(struct source *source, struct snapshot *snapshot)
{
	if (source_origin(source) == FROM_BPF)
		fill_missing(source->proc, snapshot);
	return snapshot_finish(snapshot);
}

static void start(const struct source *source, struct snapshot *snapshot)
{
	snapshot_clear(snapshot);
	snapshot->counters_source = source_origin(source);
	snapshot->pinned = source->variant->pinned;
	snapshot->host.page_size = (uint32_t)sysconf(_SC_PAGESIZE);
}

int source_collect(struct source *source, struct snapshot *snapshot)
{
	unsigned readers = source->readers ? source->readers : choose_readers(source);
	int r;

	start(source, snapshot);
	r = source->variant->kind->collect(source->state, readers, snapshot);
	return r < 0 ? r : finish(source, snapshot);
}

int source_collect_some(struct source *source, struct process *const *rows, size_t count,
			struct snapshot *snapshot)
{
	/* Reading the counters of all processes is cheaper than more visits; pages are not. */
	if (source->variant->all_only || (count > VISITS_MAX && source_pss_refusal(source)))
		return source_collect(source, snapshot);
	start(source, snapshot);
	for (size_t i = 0; i < count; i++) {
		int r = source->variant->kind->revisit(source->state, rows[i]->pid, snapshot);

		if (r == -EOPNOTSUPP)
			return source_collect(source, snapshot);
		if (r < 0 && r != -ESRCH)
			return r;
	}
	return finish(source, snapshot);
}

void source_close(struct source *source)
{
	if (!source)
		return;
	source->variant->kind->close(source->state);
	free(source->pss_refusal);
	free(source);
}
