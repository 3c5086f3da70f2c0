// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The BPF sources: loads a program, prepares it and keeps it. How its iterator is read is
 * reader.c's business, what is in a record that of record_decode.c.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "source/calibrate.h"
#include "source/skel_libbpf.h"
#include "source/skel_light.h"
#include "source/reader.h"
#include "source/bpf_diagnose.h"
#include "zmem/setup.h"
#include "source/source.h"

#define LOAD_TRIES 100

struct bpf_state {
	struct bpf_handle object;
	int link_fd;
	struct decode_limits limits;
	struct readers readers;
	const char *pss_refusal; /* NULL: it walks pages */
};

struct cpu_ids {
	unsigned id[8192]; /* NR_CPUS is at most that */
	unsigned count;
};

static void add_cpu(void *arg, unsigned cpu)
{
	struct cpu_ids *ids = arg;

	if (ids->count < ARRAY_SIZE(ids->id))
		ids->id[ids->count++] = cpu;
}

/* Possible CPUs, whose numbers may have gaps; all configured ones where /sys does not tell. */
static void find_cpus(struct cpu_ids *ids)
{
	char text[4096];
	ssize_t len = file_read(-1, "/sys/devices/system/cpu/possible", text, sizeof(text));

	ids->count = 0;
	if (len > 0 && parse_cpu_list(text, (size_t)len, add_cpu, ids) > 0)
		return;
	ids->count = 0;
	for (int i = 0; i < get_nprocs_conf(); i++)
		add_cpu(ids, (unsigned)i);
}

/* Has the kernel fill in the per-CPU offset of each CPU (bpf/percpu.bpf.h). */
static int set_up_cpus(const struct bpf_handle *object, const struct cpu_ids *ids)
{
	for (unsigned i = 0; object->setup_fd && i < ids->count; i++) {
		struct zmem_cpu_setup args = {.index = i, .cpu = ids->id[i]};
		int r = bpf_handle_run(object->setup_fd, &args, sizeof(args));

		if (r)
			return r < 0 ? r : -ENXIO;
	}
	return 0;
}

static void bpf_close(void *state)
{
	struct bpf_state *b = state;

	if (!b)
		return;
	if (b->link_fd >= 0)
		close(b->link_fd);
	bpf_handle_close(&b->object);
	readers_done(&b->readers);
	free(b);
}

static void bpf_closep(struct bpf_state **b)
{
	bpf_close(*b);
}

static int iterate(const void *state)
{
	const struct bpf_state *b = state;

	return bpf_iter_create(b->link_fd);
}

/* An iterator over `pid` (in our namespace) alone. */
static int iterate_one(const void *state, pid_t pid)
{
	const struct bpf_state *b = state;
	union bpf_iter_link_info info = {.task.tid = (__u32)pid};
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));
	cleanup_close int link_fd = bpf_link_create(b->object.iter_fd, 0, BPF_TRACE_ITER, &opts);

	return link_fd < 0 ? link_fd : bpf_iter_create(link_fd);
}

static struct reader_from iterators(const struct bpf_state *b)
{
	return (struct reader_from){
		.open = iterate,
		.open_one = iterate_one,
		.state = b,
		.asks = b->object.calibration_fd != 0,
	};
}

static int bpf_open(load_fn *load, const char *what, const struct procfs *proc, struct diag *diag,
		    void **ret_state)
{
	cleanup(bpf_closep) struct bpf_state *b = calloc(1, sizeof(*b));
	struct cpu_ids ids;
	struct zmem_scramble scramble;
	struct reader_from from;
	int r;

	if (!b)
		return -ENOMEM;
	b->link_fd = -1;
	b->limits = reader_limits();
	find_cpus(&ids);
	if (getrandom(&scramble, sizeof(scramble), GRND_NONBLOCK) != sizeof(scramble))
		return -EIO;
	/* The verifier gives up for a signal, also one that only stops us (kernel/bpf/verifier.c).
	 */
	for (int i = 0; i < LOAD_TRIES; i++) {
		r = load(ids.count, &scramble, &b->object);
		if (r != -EAGAIN)
			break;
	}
	if (r < 0) {
		bpf_diagnose_note(diag, what, "loading the program", r);
		return r;
	}
	r = set_up_cpus(&b->object, &ids);
	if (r < 0) {
		bpf_diagnose_note(diag, what, "finding the per-CPU offsets", r);
		return r;
	}
	b->link_fd = bpf_link_create(b->object.iter_fd, 0, BPF_TRACE_ITER, NULL);
	if (b->link_fd < 0) {
		r = -errno;
		bpf_diagnose_note(diag, what, "attaching the iterator", r);
		return r;
	}
	/* Without a layout it still counts. */
	from = iterators(b);
	if (from.asks)
		calibrate(b->object.calibration_fd, &from, proc, &b->pss_refusal);
	*ret_state = TAKE_PTR(b);
	return 0;
}

static int pss_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	return bpf_open(skel_light_pss_load, source_pss.name, proc, diag, ret_state);
}

static int pss_full_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	return bpf_open(skel_libbpf_pss_load, source_pss_full.name, proc, diag, ret_state);
}

static int counters_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	return bpf_open(skel_light_counters_load, source_bpf.name, proc, diag, ret_state);
}

static int counters_full_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	return bpf_open(skel_libbpf_counters_load, source_bpf_full.name, proc, diag, ret_state);
}

static int counters_probe_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	return bpf_open(skel_light_counters_probe_load, source_bpf_probe.name, proc, diag,
			ret_state);
}

static int counters_old_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	return bpf_open(skel_libbpf_counters_old_load, source_bpf_old.name, proc, diag, ret_state);
}

static int bpf_collect(void *state, unsigned readers, struct snapshot *snapshot)
{
	struct bpf_state *b = state;
	const struct reader_target target = {&b->limits, snapshot};
	const struct reader_from from = iterators(b);

	return reader_collect(&from, readers, &b->readers, &target);
}

static int bpf_revisit(void *state, pid_t pid, struct snapshot *snapshot)
{
	struct bpf_state *b = state;
	const struct reader_target target = {&b->limits, snapshot};
	const struct reader_from from = iterators(b);

	return reader_visit(&from, pid, &target);
}

static const char *bpf_pss_refusal(const void *state)
{
	const struct bpf_state *b = state;

	return b->pss_refusal;
}

static int bpf_link(const void *state)
{
	const struct bpf_state *b = state;

	return b->link_fd;
}

#define BPF_OPS                                                                                    \
	.origin = FROM_BPF, .collect = bpf_collect, .revisit = bpf_revisit, .link = bpf_link,      \
	.close = bpf_close

const struct source_ops source_pss = {
	.name = "bpf with pages",
	.pss = true,
	.open = pss_open,
	.pss_refusal = bpf_pss_refusal,
	BPF_OPS,
};

const struct source_ops source_pss_full = {
	.name = "bpf with pages (libbpf)",
	.pss = true,
	.open = pss_full_open,
	.pss_refusal = bpf_pss_refusal,
	BPF_OPS,
};

const struct source_ops source_bpf = {
	.name = "bpf",
	.open = counters_open,
	BPF_OPS,
};

const struct source_ops source_bpf_full = {
	.name = "bpf (libbpf)",
	.open = counters_full_open,
	BPF_OPS,
};

const struct source_ops source_bpf_probe = {
	.name = "bpf (probe reads)",
	.open = counters_probe_open,
	BPF_OPS,
};

/* Without iterators over one task (6.1): always all. */
const struct source_ops source_bpf_old = {
	.name = "bpf (probe reads, libbpf)",
	.origin = FROM_BPF,
	.open = counters_old_open,
	.collect = bpf_collect,
	.link = bpf_link,
	.close = bpf_close,
};
