// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The BPF sources: loads a light skeleton, drains its task iterator in whole records. Knows file
 * descriptors; what is in a record is record_decode's business.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "source/full.h"
#include "source/light.h"
#include "source/record_decode.h"
#include "source/why.h"
#include "zmem/source.h"

/* At least the 8 pages of the kernel's own buffer, or records are split (kernel/bpf/bpf_iter.c). */
#define READ_SIZE (128 * 1024)

struct bpf_state {
	struct light light;
	int link_fd;
	struct decode_limits limits;
	char buf[READ_SIZE];
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
static int set_up_cpus(const struct light *light, const struct cpu_ids *ids)
{
	for (unsigned i = 0; i < ids->count; i++) {
		struct {
			uint32_t index, cpu;
		} args = {i, ids->id[i]};
		LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &args, .ctx_size_in = sizeof(args));

		if (bpf_prog_test_run_opts(light->setup_fd, &opts) < 0)
			return -errno;
		if (opts.retval)
			return -ENXIO;
	}
	return 0;
}

void light_close(struct light *l)
{
	if (l->destroy)
		l->destroy(l->skel);
	*l = (struct light){};
}

static void bpf_close(void *state)
{
	struct bpf_state *b = state;

	if (!b)
		return;
	if (b->link_fd >= 0)
		close(b->link_fd);
	light_close(&b->light);
	free(b);
}

static void bpf_closep(struct bpf_state **b)
{
	bpf_close(*b);
}

static uint64_t ram_bytes(void)
{
	struct sysinfo info;

	return sysinfo(&info) < 0 ? 0 : (uint64_t)info.totalram * info.mem_unit;
}

static int bpf_open(light_load_fn *load, const char *what, struct diag *diag, void **ret_state)
{
	cleanup(bpf_closep) struct bpf_state *b = malloc(sizeof(*b));
	struct cpu_ids ids;
	uint64_t scramble[2];
	int r;

	if (!b)
		return -ENOMEM;
	memset(b, 0, offsetof(struct bpf_state, buf));
	b->link_fd = -1;
	b->limits.page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	b->limits.ram_bytes = ram_bytes();
	find_cpus(&ids);
	if (getrandom(scramble, sizeof(scramble), GRND_NONBLOCK) != sizeof(scramble))
		return -EIO;
	r = load(ids.count, scramble, &b->light);
	if (r < 0) {
		why_note(diag, what, "loading the program", r);
		return r;
	}
	r = set_up_cpus(&b->light, &ids);
	if (r < 0) {
		why_note(diag, what, "finding the per-CPU offsets", r);
		return r;
	}
	b->link_fd = bpf_link_create(b->light.iter_fd, 0, BPF_TRACE_ITER, NULL);
	if (b->link_fd < 0) {
		r = -errno;
		why_note(diag, what, "attaching the iterator", r);
		return r;
	}
	*ret_state = TAKE_PTR(b);
	return 0;
}

static int counters_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	(void)proc;
	return bpf_open(light_counters_load, source_bpf.name, diag, ret_state);
}

static int counters_full_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	(void)proc;
	return bpf_open(full_counters_load, source_bpf_full.name, diag, ret_state);
}

static int counters_probe_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	(void)proc;
	return bpf_open(light_counters_probe_load, source_bpf_probe.name, diag, ret_state);
}

static int bpf_collect(void *state, struct snapshot *snapshot)
{
	struct bpf_state *b = state;
	cleanup_close int fd = bpf_iter_create(b->link_fd);
	size_t len = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n = read(fd, b->buf + len, sizeof(b->buf) - len);
		long used;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return len ? -EBADMSG : 0;
		len += (size_t)n;
		used = record_decode(b->buf, len, &b->limits, snapshot);
		if (used < 0)
			return (int)used;
		len -= (size_t)used;
		memmove(b->buf, b->buf + used, len);
	}
}

const struct source_ops source_bpf = {
	.name = "bpf",
	.open = counters_open,
	.collect = bpf_collect,
	.close = bpf_close,
};

const struct source_ops source_bpf_full = {
	.name = "bpf (libbpf)",
	.open = counters_full_open,
	.collect = bpf_collect,
	.close = bpf_close,
};

const struct source_ops source_bpf_probe = {
	.name = "bpf (probe reads)",
	.open = counters_probe_open,
	.collect = bpf_collect,
	.close = bpf_close,
};
