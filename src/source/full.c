// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The only file that includes the full skeletons. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "task_counters.skel.h"
#include "task_counters_probe.skel.h"

#include "base/cleanup.h"
#include "source/full.h"

#define LOG_SIZE (256 * 1024)
#define KEEP	 (4 * 1024) /* the end of a verifier's log is where it fails */

/*
 * The path keeps libbpf 1.1 from walking module BTFs, which fails with EPERM under CAP_BPF and
 * CAP_PERFMON alone.
 */
#define BTF_PATH "/sys/kernel/btf/vmlinux"

static int quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

static void destroy_skeleton(void *skel)
{
	task_counters_full__destroy(skel);
}

int full_counters_load(uint32_t cpus, const uint64_t scramble[2], struct light *ret)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = BTF_PATH);
	struct task_counters_full *skel;
	const uint32_t zero = 0;
	int r;

	libbpf_set_print(quiet);
	skel = task_counters_full__open_opts(&opts);
	if (!skel)
		return -errno;
	r = bpf_map__set_max_entries(skel->maps.cpu_offset, cpus);
	if (r == 0)
		r = task_counters_full__load(skel);
	if (r == 0)
		r = bpf_map_update_elem(bpf_map__fd(skel->maps.scramble), &zero, scramble, 0);
	if (r < 0) {
		destroy_skeleton(skel);
		return r;
	}
	*ret = (struct light){
		.iter_fd = bpf_program__fd(skel->progs.task_counters),
		.setup_fd = bpf_program__fd(skel->progs.cpu_offset_setup),
		.skel = skel,
		.destroy = destroy_skeleton,
	};
	return 0;
}

char *full_explain(bool probe)
{
	cleanup_free char *log = calloc(1, LOG_SIZE);
	LIBBPF_OPTS(bpf_object_open_opts, opts, .kernel_log_buf = log, .kernel_log_size = LOG_SIZE,
		    .kernel_log_level = 1, .btf_custom_path = BTF_PATH);
	size_t len;
	int r = -1;

	if (!log)
		return NULL;
	libbpf_set_print(quiet);
	if (probe) {
		struct task_counters_probe_full *skel = task_counters_probe_full__open_opts(&opts);

		r = skel ? task_counters_probe_full__load(skel) : -1;
		task_counters_probe_full__destroy(skel);
	} else {
		struct task_counters_full *skel = task_counters_full__open_opts(&opts);

		r = skel ? task_counters_full__load(skel) : -1;
		task_counters_full__destroy(skel);
	}
	len = strlen(log);
	if (r == 0 || len == 0)
		return NULL;
	return strdup(len > KEEP ? log + len - KEEP : log);
}
