// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The chain of sources: tries, never asks for versions. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "source/full.h"
#include "source/status_fill.h"
#include "zmem/privilege.h"
#include "zmem/source.h"

struct source {
	const struct source_ops *ops;
	void *state;
	const struct procfs *proc;
};

/* In the order they are tried. */
static const struct {
	const struct source_ops *ops;
	enum origin origin;
} chain[] = {
	{&source_bpf, FROM_BPF},
	{&source_bpf_full, FROM_BPF},
	{&source_bpf_probe, FROM_BPF},
	{&source_proc, FROM_PROC},
};

static bool wanted(enum source_choice choice, enum origin origin)
{
	return choice == SOURCE_AUTO || (choice == SOURCE_BPF && origin == FROM_BPF) ||
	       (choice == SOURCE_PROC && origin == FROM_PROC);
}

void source_explain(const struct source_ops *ops, struct diag *diag)
{
	/* Without privileges or BTF the verifier is not even asked. */
	if (ops != &source_proc && diag->count && privilege_held(PRIVILEGE_BPF) &&
	    privilege_held(PRIVILEGE_PERFMON) && access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		diag_attach_log(diag, full_explain(ops == &source_bpf_probe));
}

const struct diag_note *source_reason(const struct diag *diag)
{
	/* The first one is the best this kernel can, unless it only lacks the newest kfunc. */
	if (diag->count > 1 && diag->note[0].error == -ENOENT)
		return &diag->note[1];
	return diag->count ? &diag->note[0] : NULL;
}

/*
 * What libbpf cannot do better than the light skeleton: a kernel without the kfunc (ENOENT), and a
 * process without the privilege. It is slow, so these two are not tried.
 */
static bool hopeless(const struct source_ops *ops, int light_error)
{
	return ops == &source_bpf_full && (light_error == -ENOENT || light_error == -EPERM);
}

int source_open(enum source_choice choice, const struct procfs *proc, struct diag *diag,
		struct source **ret_source)
{
	cleanup_free struct source *source = calloc(1, sizeof(*source));
	int r = -ENOENT;

	if (!source)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(chain); i++) {
		if (!wanted(choice, chain[i].origin) || hopeless(chain[i].ops, r))
			continue;
		r = chain[i].ops->open(proc, diag, &source->state);
		if (r == 0) {
			source->ops = chain[i].ops;
			source->proc = proc;
			*ret_source = TAKE_PTR(source);
			return 0;
		}
		/* Once is enough, for the last hope; doctor -v explains each on its own. */
		if (chain[i].ops == &source_bpf_probe)
			source_explain(chain[i].ops, diag);
	}
	return r;
}

const char *source_name(const struct source *source)
{
	return source->ops->name;
}

enum origin source_origin(const struct source *source)
{
	return source->ops == &source_proc ? FROM_PROC : FROM_BPF;
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
		cleanup_close int fd = -1;

		if (p->kind != PROCESS_USER || !missing)
			continue;
		fd = procfs_open_pid(proc, p->pid);
		if (fd < 0 || !procfs_same_start(proc, fd, p->start_ns) || !status_fill(p, fd))
			continue;
		p->raced = false;
		wanted &= ~(missing & ~p->have);
	}
}

int source_collect(struct source *source, struct snapshot *snapshot)
{
	int r;

	snapshot_clear(snapshot);
	snapshot->counters_source = source_origin(source);
	snapshot->host.page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	r = source->ops->collect(source->state, snapshot);
	if (r < 0)
		return r;
	if (source_origin(source) == FROM_BPF)
		fill_missing(source->proc, snapshot);
	return snapshot_finish(snapshot);
}

void source_close(struct source *source)
{
	if (!source)
		return;
	source->ops->close(source->state);
	free(source);
}
