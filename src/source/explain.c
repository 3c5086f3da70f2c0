// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The only file that includes the full skeletons. They explain failures and do nothing else. */
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "task_counters.skel.h"
#include "task_counters_probe.skel.h"

#include "base/cleanup.h"
#include "source/explain.h"

#define LOG_SIZE (256 * 1024)
#define KEEP	 (4 * 1024) /* the end of a verifier's log is where it fails */

static int quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

char *explain_load(bool probe)
{
	cleanup_free char *log = calloc(1, LOG_SIZE);
	/*
	 * The path keeps libbpf 1.1 from walking module BTFs, which fails with EPERM under CAP_BPF
	 * and CAP_PERFMON alone.
	 */
	LIBBPF_OPTS(bpf_object_open_opts, opts, .kernel_log_buf = log, .kernel_log_size = LOG_SIZE,
		    .kernel_log_level = 1, .btf_custom_path = "/sys/kernel/btf/vmlinux");
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
