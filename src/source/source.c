// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The chain of sources: tries, never asks for versions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "source/skel_libbpf.h"
#include "source/status_fill.h"
#include "source/bpf_diagnose.h"
#include "privilege/privilege.h"
#include "source/source.h"

/* From so many tasks on a second reader pays; more than four have not been seen to. */
#define TASKS_TO_SHARE	400
#define READERS_AUTO	4
#define VISITS_THAT_PAY 64

#define NOT_ASKED	"it was not asked for"

struct source {
	const struct source_ops *ops;
	void *state;
	const struct procfs *proc;
	unsigned readers;
	char *pss_refusal;
};

/* In the order they are tried. */
static const struct source_ops *const chain[] = {
	&source_pinned_pss, &source_pinned,    &source_pss,	&source_pss_full, &source_bpf,
	&source_bpf_full,   &source_bpf_probe, &source_bpf_old, &source_proc,
};

static bool wanted(const struct source_request *request, const struct source_ops *ops)
{
	if (ops->pss && !request->pss)
		return false;
	if (request->pin == (ops->pinned ? PIN_NOT : PIN_MUST))
		return false;
	return request->choice == SOURCE_AUTO ||
	       (request->choice == SOURCE_BPF && ops->origin == FROM_BPF) ||
	       (request->choice == SOURCE_PROC && ops->origin == FROM_PROC);
}

static enum skel_libbpf_object skel_libbpf_object(const struct source_ops *ops)
{
	if (ops->pss)
		return SKEL_LIBBPF_PSS;
	if (ops == &source_bpf_old)
		return SKEL_LIBBPF_COUNTERS_OLD;
	return ops == &source_bpf_probe ? SKEL_LIBBPF_COUNTERS_PROBE : SKEL_LIBBPF_COUNTERS;
}

void source_explain(const struct source_ops *ops, struct diag *diag)
{
	/* Without privileges or BTF the verifier is not even asked. */
	if (ops != &source_proc && !ops->pinned && diag->count && privilege_held(PRIVILEGE_BPF) &&
	    privilege_held(PRIVILEGE_PERFMON) && access(BTF_PATH, R_OK) == 0)
		diag_attach_log(diag, skel_libbpf_explain(skel_libbpf_object(ops)));
}

const struct diag_note *source_reason(const struct diag *diag)
{
	/* The first one is the best this kernel can, unless it only lacks the newest kfunc. */
	for (int i = 0; i < diag->count; i++) {
		if (diag->note[i].error != -ENOENT)
			return &diag->note[i];
	}
	return diag->count ? &diag->note[0] : NULL;
}

/*
 * What libbpf cannot do better than the light skeleton: a kernel without the kfunc (ENOENT) or that
 * is older than light skeletons, and so than kfuncs (E2BIG), a process without the privilege, or
 * without file descriptors. It is slow, so these are not tried. Nor is what reads in a way that
 * lockdown forbids.
 */
static bool hopeless(const struct source_ops *ops, int skel_light_error)
{
	/* The pin is there, and it is not that it has no pages. */
	if (ops == &source_pinned)
		return skel_light_error != -ENOENT;
	if ((ops == &source_bpf_probe || ops == &source_bpf_old) && skel_light_error == -EINVAL &&
	    !bpf_diagnose_probe_reads_allowed())
		return true;
	if (ops == &source_bpf_old)
		return skel_light_error == -EPERM || skel_light_error == -EMFILE;
	return (ops == &source_pss_full || ops == &source_bpf_full) &&
	       (skel_light_error == -ENOENT || skel_light_error == -E2BIG ||
		skel_light_error == -EPERM || skel_light_error == -EMFILE);
}

/* What the pin lacks is not what this kernel does. */
static bool is_of_pin(const struct diag_note *note)
{
	return note->subject == source_pinned_pss.name || note->subject == source_pinned.name;
}

/* Why the pages are not walked by what was opened in the end. */
static int refusal(const struct source *source, const struct diag *diag, char **ret)
{
	const struct diag_note *note = NULL;
	const char *why = NULL;

	for (int i = diag->count - 1; i >= 0; i--) {
		if (!is_of_pin(&diag->note[i]))
			note = &diag->note[i];
	}
	if (source->ops->pss_refusal)
		why = source->ops->pss_refusal(source->state);
	else if (source->ops == &source_bpf_probe || source->ops == &source_bpf_old)
		why = "this kernel has no bpf_rdonly_cast() (Linux 6.2)";
	else if (source->ops == &source_proc)
		why = "the counters come from /proc";
	else if (!source->ops->pss && note)
		why = note->reason ? note->reason : strerror(-note->error);
	*ret = why ? strdup(why) : NULL;
	return *ret || !why ? 0 : -ENOMEM;
}

static unsigned readers_that_pay(const struct source *source)
{
	unsigned cpus = (unsigned)get_nprocs();
	struct sysinfo info;

	/* A thread and its iterator cost about as much as 20 processes' pages. */
	if (!source->ops->pss || sysinfo(&info) < 0 || info.procs < TASKS_TO_SHARE)
		return 1;
	return cpus < READERS_AUTO ? cpus : READERS_AUTO;
}

int source_open(const struct source_request *request, const struct procfs *proc, struct diag *diag,
		struct source **ret_source)
{
	cleanup_free struct source *source = calloc(1, sizeof(*source));
	int r = -ENOENT;

	if (!source)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(chain); i++) {
		if (!wanted(request, chain[i]) || hopeless(chain[i], r))
			continue;
		r = chain[i]->open(proc, diag, &source->state);
		if (r == 0) {
			source->ops = chain[i];
			source->proc = proc;
			source->readers = request->readers;
			if (request->pss && refusal(source, diag, &source->pss_refusal) < 0) {
				source_close(TAKE_PTR(source));
				return -ENOMEM;
			}
			*ret_source = TAKE_PTR(source);
			return 0;
		}
		/* Who does not insist need not be told that there is no pin. */
		if (chain[i]->pinned && r == -ENOENT && request->pin == PIN_MAY)
			diag_drop(diag);
		/* Once is enough, for the last hope; doctor -v explains each on its own. */
		if (chain[i] == &source_bpf_old ||
		    (chain[i] == &source_bpf_probe && hopeless(&source_bpf_old, r)))
			source_explain(chain[i], diag);
	}
	return r;
}

const char *source_name(const struct source *source)
{
	return source->ops->name;
}

enum origin source_origin(const struct source *source)
{
	return source->ops->origin;
}

bool source_is_pinned(const struct source *source)
{
	return source->ops->pinned;
}

int source_link(const struct source *source)
{
	return source->ops->link ? source->ops->link(source->state) : -EOPNOTSUPP;
}

const char *source_pss_refusal(const struct source *source)
{
	if (!source->ops->pss && !source->pss_refusal)
		return NOT_ASKED;
	return source->pss_refusal;
}

static bool fill(const struct procfs *proc, struct process *p)
{
	cleanup_close int pid_fd = procfs_open_pid(proc, p->pid);

	return pid_fd >= 0 && procfs_same_start(proc, pid_fd, p->start_ns) > 0 &&
	       status_fill(p, pid_fd) > 0;
}

/*
 * What the kernel side could not read comes from /proc: a group of counters this kernel keeps
 * elsewhere, or a process that exec'ed under its hands. What /proc does not have either for one
 * process is not looked for in the next.
 */
static void fill_missing(const struct procfs *proc, struct snapshot *snapshot)
{
	counter_mask wanted = status_counters();

	for (size_t i = 0; proc->trusted && i < snapshot->count; i++) {
		struct process *p = &snapshot->process[i];
		counter_mask missing = wanted & ~p->have;

		if (p->kind != PROCESS_USER || !missing || !fill(proc, p))
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
	snapshot->pinned = source->ops->pinned;
	snapshot->host.page_size = (uint32_t)sysconf(_SC_PAGESIZE);
}

int source_collect(struct source *source, struct snapshot *snapshot)
{
	unsigned readers = source->readers ? source->readers : readers_that_pay(source);
	int r;

	start(source, snapshot);
	r = source->ops->collect(source->state, readers, snapshot);
	return r < 0 ? r : finish(source, snapshot);
}

int source_collect_some(struct source *source, struct process *const *rows, size_t count,
			struct snapshot *snapshot)
{
	/* All counters cost less than so many visits; pages would not. */
	if (!source->ops->revisit || (count > VISITS_THAT_PAY && source_pss_refusal(source)))
		return source_collect(source, snapshot);
	start(source, snapshot);
	for (size_t i = 0; i < count; i++) {
		int r = source->ops->revisit(source->state, rows[i]->pid, snapshot);

		if (r < 0 && r != -ESRCH)
			return r;
	}
	return finish(source, snapshot);
}

void source_close(struct source *source)
{
	if (!source)
		return;
	source->ops->close(source->state);
	free(source->pss_refusal);
	free(source);
}
