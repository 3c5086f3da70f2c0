// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The only file that includes the full skeletons. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "task_counters.skel.h"
#include "task_counters_old.skel.h"
#include "task_counters_probe.skel.h"
#include "task_pss.skel.h"

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

static void destroy_object(void *object)
{
	bpf_object__close(object);
}

static int program_fd(const struct bpf_object *object, const char *name)
{
	const struct bpf_program *p = bpf_object__find_program_by_name(object, name);

	return p ? bpf_program__fd(p) : 0;
}

/* The bytes of the object out of a skeleton, loaded with libbpf. */
static int load(const void *elf, size_t size, const char *iter, uint32_t cpus,
		const uint64_t scramble[2], struct light *ret)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = BTF_PATH);
	const uint32_t zero = 0;
	struct bpf_object *object;
	struct bpf_map *map;
	int r;

	libbpf_set_print(quiet);
	object = bpf_object__open_mem(elf, size, &opts);
	if (!object)
		return -errno;
	map = bpf_object__find_map_by_name(object, "cpu_offset");
	r = map ? bpf_map__set_max_entries(map, cpus) : 0;
	if (r == 0)
		r = bpf_object__load(object);
	if (r == 0)
		r = bpf_map_update_elem(bpf_object__find_map_fd_by_name(object, "scramble"), &zero,
					scramble, 0);
	if (r < 0) {
		destroy_object(object);
		return r;
	}
	*ret = (struct light){
		.iter_fd = program_fd(object, iter),
		.setup_fd = program_fd(object, "cpu_offset_setup"),
		.reader_fd = program_fd(object, "reader_setup"),
		.skel = object,
		.destroy = destroy_object,
	};
	return 0;
}

int full_counters_load(uint32_t cpus, const uint64_t scramble[2], struct light *ret)
{
	size_t size;
	const void *elf = task_counters_full__elf_bytes(&size);

	return load(elf, size, "task_counters", cpus, scramble, ret);
}

int full_counters_old_load(uint32_t cpus, const uint64_t scramble[2], struct light *ret)
{
	size_t size;
	const void *elf = task_counters_old_full__elf_bytes(&size);

	return load(elf, size, "task_counters", cpus, scramble, ret);
}

int full_pss_load(uint32_t cpus, const uint64_t scramble[2], struct light *ret)
{
	size_t size;
	const void *elf = task_pss_full__elf_bytes(&size);

	return load(elf, size, "task_pss", cpus, scramble, ret);
}

static const void *object_bytes(enum full_object which, size_t *ret_size)
{
	switch (which) {
	case FULL_PSS:
		return task_pss_full__elf_bytes(ret_size);
	case FULL_COUNTERS_PROBE:
		return task_counters_probe_full__elf_bytes(ret_size);
	case FULL_COUNTERS_OLD:
		return task_counters_old_full__elf_bytes(ret_size);
	case FULL_COUNTERS:
		break;
	}
	return task_counters_full__elf_bytes(ret_size);
}

char *full_explain(enum full_object which)
{
	cleanup_free char *log = calloc(1, LOG_SIZE);
	LIBBPF_OPTS(bpf_object_open_opts, opts, .kernel_log_buf = log, .kernel_log_size = LOG_SIZE,
		    .kernel_log_level = 1, .btf_custom_path = BTF_PATH);
	struct bpf_object *object;
	const void *elf;
	size_t len, size;
	int r = -1;

	if (!log)
		return NULL;
	libbpf_set_print(quiet);
	elf = object_bytes(which, &size);
	object = bpf_object__open_mem(elf, size, &opts);
	if (object)
		r = bpf_object__load(object);
	bpf_object__close(object);
	len = strlen(log);
	if (r == 0 || len == 0)
		return NULL;
	return strdup(len > KEEP ? log + len - KEEP : log);
}
