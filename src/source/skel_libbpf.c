// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The only file that has the BPF objects whole, packed. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/unpack.h"
#include "source/skel_libbpf.h"
#include "source/source.h"

#define LOG_SIZE (256 * 1024)
#define KEEP	 (4 * 1024) /* the end of a verifier's log is where it fails */

static const unsigned char task_pss[] = {
#include "task_pss.inc"
};
static const unsigned char task_counters[] = {
#include "task_counters.inc"
};
static const unsigned char task_counters_probe[] = {
#include "task_counters_probe.inc"
};
static const unsigned char task_counters_old[] = {
#include "task_counters_old.inc"
};

static struct packed packed_object(enum skel_libbpf_object which)
{
	switch (which) {
	case SKEL_LIBBPF_PSS:
		return PACKED(task_pss);
	case SKEL_LIBBPF_COUNTERS_PROBE:
		return PACKED(task_counters_probe);
	case SKEL_LIBBPF_COUNTERS_OLD:
		return PACKED(task_counters_old);
	case SKEL_LIBBPF_COUNTERS:
		break;
	}
	return PACKED(task_counters);
}

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

static int map_fd(const struct bpf_object *object, const char *name)
{
	const struct bpf_map *m = bpf_object__find_map_by_name(object, name);

	return m ? bpf_map__fd(m) : 0;
}

/* Returns 0 or a negative errno. */
static int open_object(enum skel_libbpf_object which, struct bpf_object_open_opts *opts,
		       struct bpf_object **ret_object)
{
	cleanup(strbuf_done) struct strbuf elf = {};

	unpack(&elf, packed_object(which));
	if (strbuf_error(&elf) < 0)
		return strbuf_error(&elf);
	libbpf_set_print(quiet);
	opts->sz = sizeof(*opts);
	/*
	 * Or libbpf 1.1 walks module BTFs, which fails with EPERM under CAP_BPF and CAP_PERFMON
	 * alone.
	 */
	opts->btf_custom_path = BTF_PATH;
	*ret_object = bpf_object__open_mem(elf.data, elf.len, opts);
	return *ret_object ? 0 : -errno;
}

static int load(enum skel_libbpf_object which, const char *iter, uint32_t cpus,
		const struct zmem_scramble *scramble, struct bpf_handle *ret)
{
	struct bpf_object_open_opts opts = {};
	const uint32_t zero = 0;
	struct bpf_object *object;
	struct bpf_map *map;
	int r = open_object(which, &opts, &object);

	if (r < 0)
		return r;
	map = bpf_object__find_map_by_name(object, "cpu_offset");
	r = map ? bpf_map__set_max_entries(map, cpus) : 0;
	if (r == 0)
		r = bpf_object__load(object);
	if (r == 0)
		r = bpf_map_update_elem(map_fd(object, "scramble"), &zero, scramble, 0);
	if (r < 0) {
		destroy_object(object);
		return r;
	}
	*ret = (struct bpf_handle){
		.iter_fd = program_fd(object, iter),
		.setup_fd = program_fd(object, "cpu_offset_setup"),
		.calibration_fd = map_fd(object, "calibration"),
		.object = object,
		.destroy = destroy_object,
	};
	return 0;
}

int skel_libbpf_counters_load(uint32_t cpus, const struct zmem_scramble *scramble,
			      struct bpf_handle *ret)
{
	return load(SKEL_LIBBPF_COUNTERS, "task_counters", cpus, scramble, ret);
}

int skel_libbpf_counters_old_load(uint32_t cpus, const struct zmem_scramble *scramble,
				  struct bpf_handle *ret)
{
	return load(SKEL_LIBBPF_COUNTERS_OLD, "task_counters", cpus, scramble, ret);
}

int skel_libbpf_pss_load(uint32_t cpus, const struct zmem_scramble *scramble,
			 struct bpf_handle *ret)
{
	return load(SKEL_LIBBPF_PSS, "task_pss", cpus, scramble, ret);
}

char *skel_libbpf_explain(enum skel_libbpf_object which)
{
	cleanup_free char *log = calloc(1, LOG_SIZE);
	struct bpf_object_open_opts opts = {
		.kernel_log_buf = log, .kernel_log_size = LOG_SIZE, .kernel_log_level = 1};
	struct bpf_object *object = NULL;
	size_t len;
	int r;

	if (!log)
		return NULL;
	r = open_object(which, &opts, &object);
	if (r == 0)
		r = bpf_object__load(object);
	bpf_object__close(object);
	len = strlen(log);
	if (r == 0 || len == 0)
		return NULL;
	return strdup(len > KEEP ? log + len - KEEP : log);
}
