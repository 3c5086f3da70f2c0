// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The only file that includes the BPF objects: as light skeletons, and packed for libbpf. */
#include <errno.h> /* the light skeletons need it first */
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "files.lskel.h"
#include "holders.lskel.h"
#include "swap.lskel.h"
#include "task_counters.lskel.h"
#include "task_counters_probe.lskel.h"
#include "task_pss.lskel.h"
#include "task_pss_probe.lskel.h"
#pragma GCC diagnostic pop

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "base/unpack.h"
#include "load/bpf_load.h"
#include "load/load_limit.h"

/*
 * Until 6.3 the kernel keeps the beginning of a log that is too long, and until 5.14 it allows
 * 16 MiB (bpf_check(), kernel/bpf/verifier.c). Only what is written takes memory.
 */
#define LOG_SIZE ((16 << 20) - 1)
#define LOG_TAIL (4 * 1024) /* the end of the verifier's log shows where it fails */

/* ---- light skeletons ---- */

/*
 * Closes the maps of a skeleton (its `maps` is a list of descriptions) except those of the handle.
 * The programs hold the maps; a limit of 16 descriptors (ulimit -n) must leave some for reading.
 */
static void close_maps(void *maps, size_t size, const struct bpf_handle *handle)
{
	struct bpf_map_desc *map = maps;

	for (size_t i = 0; i < size / sizeof(*map); i++) {
		if (map[i].map_fd == handle->calibration_fd || map[i].map_fd == handle->lanes_fd ||
		    map[i].map_fd == handle->layout_fd)
			continue;
		close(map[i].map_fd);
		map[i].map_fd = 0;
	}
}

/*
 * Defines light_<skeleton>_load(): `iter` is the iterator. `set_memos` sizes the map of memos, and
 * the others are descriptors of maps, where there are any. Each skeleton has its own types and
 * functions.
 */
#define LIGHT(skeleton, iter, set_memos, calibration, lanes, layout)                               \
	static void light_##skeleton##_destroy(void *object)                                       \
	{                                                                                          \
		skeleton##__destroy(object);                                                       \
	}                                                                                          \
                                                                                                   \
	static int light_##skeleton##_load(const struct bpf_sizes *sizes,                          \
					   const struct zmem_scramble *scramble,                   \
					   struct bpf_handle *ret)                                 \
	{                                                                                          \
		struct skeleton *skel = skeleton##__open();                                        \
		const uint32_t zero = 0;                                                           \
		int r;                                                                             \
                                                                                                   \
		if (!skel)                                                                         \
			return -ENOMEM;                                                            \
		skel->maps.cpu_offset.max_entries = sizes->cpus;                                   \
		set_memos;                                                                         \
		r = skeleton##__load(skel);                                                        \
		if (r == 0)                                                                        \
			r = skel_map_update_elem(skel->maps.scramble.map_fd, &zero, scramble, 0);  \
		if (r < 0) {                                                                       \
			skeleton##__destroy(skel);                                                 \
			return r;                                                                  \
		}                                                                                  \
		*ret = (struct bpf_handle){                                                        \
			.iter_fd = skel->progs.iter.prog_fd,                                       \
			.setup_fd = skel->progs.cpu_offset_setup.prog_fd,                          \
			.calibration_fd = calibration,                                             \
			.lanes_fd = lanes,                                                         \
			.layout_fd = layout,                                                       \
			.object = skel,                                                            \
			.destroy = light_##skeleton##_destroy,                                     \
		};                                                                                 \
		close_maps(&skel->maps, sizeof(skel->maps), ret);                                  \
		return 0;                                                                          \
	}

#define LIGHT_PAGES(skeleton)                                                                      \
	LIGHT(skeleton, task_pss, skel->maps.memos.max_entries = sizes->memos,                     \
	      skel->maps.calibration.map_fd, skel->maps.memo_lanes.map_fd,                         \
	      skel->maps.layout.map_fd)
#define LIGHT_COUNTERS(skeleton) LIGHT(skeleton, task_counters, (void)0, 0, 0, 0)

LIGHT_PAGES(task_pss)
LIGHT_PAGES(task_pss_probe)
LIGHT_COUNTERS(task_counters)
LIGHT_COUNTERS(task_counters_probe)

/* ---- the objects ---- */

static const unsigned char packed_pss[] = {
#include "task_pss.inc"
};
static const unsigned char packed_pss_old[] = {
#include "task_pss_old.inc"
};
static const unsigned char packed_files[] = {
#include "files.inc"
};
static const unsigned char packed_holders[] = {
#include "holders.inc"
};
static const unsigned char packed_counters[] = {
#include "task_counters.inc"
};
static const unsigned char packed_counters_probe[] = {
#include "task_counters_probe.inc"
};
static const unsigned char packed_counters_old[] = {
#include "task_counters_old.inc"
};
static const unsigned char packed_oom[] = {
#include "oom_kill.inc"
};
static const unsigned char packed_oom_probe[] = {
#include "oom_kill_probe.inc"
};
static const unsigned char packed_oom_old[] = {
#include "oom_kill_old.inc"
};
static const unsigned char packed_grow[] = {
#include "grow.inc"
};
static const unsigned char packed_grow_probe[] = {
#include "grow_probe.inc"
};

/* Sorted by enum bpf_object_id. */
static const struct {
	struct packed packed;
	const char *iter;
	/* NULL: libbpf alone loads it. */
	int (*light_load)(const struct bpf_sizes *sizes, const struct zmem_scramble *scramble,
			  struct bpf_handle *ret);
} objects[] = {
	{PACKED(packed_pss), "task_pss", light_task_pss_load},
	/* Not packed: libbpf explains the next one, which has the same code. */
	{{}, "task_pss", light_task_pss_probe_load},
	{PACKED(packed_pss_old), "task_pss", NULL},
	{PACKED(packed_counters), "task_counters", light_task_counters_load},
	{PACKED(packed_counters_probe), "task_counters", light_task_counters_probe_load},
	{PACKED(packed_counters_old), "task_counters", NULL},
	{PACKED(packed_oom), "oom_kill", NULL},
	{PACKED(packed_oom_probe), "oom_kill", NULL},
	{PACKED(packed_oom_old), "oom_kill", NULL},
	{PACKED(packed_grow), "grow_visit", NULL},
	{PACKED(packed_grow_probe), "grow_visit", NULL},
};

/* ---- libbpf ---- */

static int discard_message(enum libbpf_print_level level, const char *fmt, va_list args)
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
static int open_packed(struct packed packed, struct bpf_object_open_opts *opts,
		       struct bpf_object **ret_object)
{
	cleanup(strbuf_done) struct strbuf elf = {};

	if (!packed.size)
		return -EOPNOTSUPP;
	unpack(&elf, packed);
	if (strbuf_error(&elf) < 0)
		return strbuf_error(&elf);
	libbpf_set_print(discard_message);
	opts->sz = sizeof(*opts);
	/*
	 * Without this path libbpf 1.1 reads the BTF of modules, which fails with EPERM under
	 * CAP_BPF and CAP_PERFMON alone.
	 */
	opts->btf_custom_path = BTF_PATH;
	*ret_object = bpf_object__open_mem(elf.data, elf.len, opts);
	return *ret_object ? 0 : -errno;
}

static int open_object(enum bpf_object_id id, struct bpf_object_open_opts *opts,
		       struct bpf_object **ret_object)
{
	return open_packed(objects[id].packed, opts, ret_object);
}

/*
 * Loads it, and finds out why that failed. The verifier writes a log only after a failure
 * (bpf_object_load_prog() of libbpf, src/libbpf.c).
 */
static int load_object(struct bpf_object *object, const char *log, struct bpf_missing *missing)
{
	int r = bpf_object__load(object);

	if (r < 0 && log)
		bpf_diagnose_missing(log, missing);
	return r;
}

static int set_entries(const struct bpf_object *object, const char *name, uint32_t entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	return map ? bpf_map__set_max_entries(map, entries) : 0;
}

static int leave_out(const struct bpf_object *object, const char *const *names)
{
	int r = 0;

	for (; r == 0 && names && *names; names++) {
		struct bpf_program *p = bpf_object__find_program_by_name(object, *names);

		r = p ? bpf_program__set_autoload(p, false) : 0;
	}
	return r;
}

static int set_up_scramble(const struct bpf_object *object, const struct zmem_scramble *scramble)
{
	const uint32_t zero = 0;
	int fd = map_fd(object, "scramble");

	return fd ? bpf_map_update_elem(fd, &zero, scramble, 0) : 0;
}

static int libbpf_load(enum bpf_object_id id, const struct bpf_sizes *sizes,
		       const struct zmem_scramble *scramble, struct bpf_handle *ret,
		       struct bpf_missing *missing)
{
	cleanup_free char *log = calloc(1, LOG_SIZE);
	struct bpf_object_open_opts opts = {.kernel_log_buf = log,
					    .kernel_log_size = log ? LOG_SIZE : 0};
	struct bpf_object *object;
	int r = open_object(id, &opts, &object);

	if (r < 0)
		return r;
	r = set_entries(object, "cpu_offset", sizes->cpus);
	if (r == 0)
		r = set_entries(object, "memos", sizes->memos);
	if (r == 0 && sizes->grow)
		r = set_entries(object, "on_cpu", sizes->grow);
	if (r == 0)
		r = leave_out(object, sizes->without);
	if (r == 0)
		r = load_object(object, log, missing);
	if (r == 0)
		r = set_up_scramble(object, scramble);
	if (r < 0) {
		destroy_object(object);
		return r;
	}
	*ret = (struct bpf_handle){
		.iter_fd = program_fd(object, objects[id].iter),
		.setup_fd = program_fd(object, "cpu_offset_setup"),
		.calibration_fd = map_fd(object, "calibration"),
		.lanes_fd = map_fd(object, "memo_lanes"),
		.layout_fd = map_fd(object, "layout"),
		.view_fd = program_fd(object, "oom_setup"),
		.ring_fd = map_fd(object, "ring"),
		.object = object,
		.destroy = destroy_object,
	};
	return 0;
}

int bpf_load(enum bpf_object_id id, enum bpf_loader loader, const struct bpf_sizes *sizes,
	     const struct zmem_scramble *scramble, struct bpf_handle *ret,
	     struct bpf_missing *missing)
{
	struct load_limit limit;
	int r;

	load_limit_begin(&limit, LOAD_LIMIT_NS);
	if (loader == LOADER_LIGHT)
		r = objects[id].light_load(sizes, scramble, ret);
	else
		r = libbpf_load(id, sizes, scramble, ret, missing);
	return load_limit_end(&limit, r);
}

char *bpf_load_explain(enum bpf_object_id id, const char *const *without)
{
	cleanup_free char *log = calloc(1, LOG_SIZE);
	struct bpf_object_open_opts opts = {};
	struct bpf_object *object = NULL;
	struct bpf_program *p;
	struct load_limit limit;
	size_t len;
	int r;

	if (!log)
		return NULL;
	r = open_object(id, &opts, &object);
	if (r == 0)
		r = leave_out(object, without);
	load_limit_begin(&limit, LOAD_LIMIT_NS);
	if (r == 0) {
		/* Of a refused program alone: a log of the object has its types as well. */
		bpf_object__for_each_program(p, object) bpf_program__set_log_buf(p, log, LOG_SIZE);
		r = bpf_object__load(object);
	}
	load_limit_end(&limit, r);
	bpf_object__close(object);
	len = strlen(log);
	if (r == 0 || len == 0)
		return NULL;
	return strdup(len > LOG_TAIL ? log + len - LOG_TAIL : log);
}

int bpf_handle_program(const struct bpf_handle *handle, const char *name)
{
	int fd = program_fd(handle->object, name);

	return fd > 0 ? fd : 0;
}

int bpf_handle_map(const struct bpf_handle *handle, const char *name)
{
	return map_fd(handle->object, name);
}

/* ---- the program that lists inodes ---- */

static void destroy_files(void *object)
{
	files__destroy(object);
}

static int light_files_load(struct bpf_files_handle *ret)
{
	struct files *skel = files__open();
	struct load_limit limit;
	int r;

	if (!skel)
		return -ENOMEM;
	load_limit_begin(&limit, LOAD_LIMIT_NS);
	r = load_limit_end(&limit, files__load(skel));
	if (r < 0) {
		files__destroy(skel);
		return r;
	}
	*ret = (struct bpf_files_handle){skel->progs.list_files.prog_fd, skel->maps.files.map_fd,
					 skel, destroy_files};
	return 0;
}

/* By libbpf. Returns 0 or a negative errno. */
static int load_packed(struct packed packed, struct bpf_object **ret, struct bpf_missing *missing)
{
	cleanup_free char *log = calloc(1, LOG_SIZE);
	struct bpf_object_open_opts opts = {.kernel_log_buf = log,
					    .kernel_log_size = log ? LOG_SIZE : 0};
	struct load_limit limit;
	int r = open_packed(packed, &opts, ret);

	if (r < 0)
		return r;
	load_limit_begin(&limit, LOAD_LIMIT_NS);
	r = load_limit_end(&limit, load_object(*ret, log, missing));
	if (r < 0)
		destroy_object(*ret);
	return r;
}

int bpf_files_load(enum bpf_loader loader, struct bpf_files_handle *ret,
		   struct bpf_missing *missing)
{
	struct bpf_object *object;
	int r;

	if (loader == LOADER_LIGHT)
		return light_files_load(ret);
	r = load_packed((struct packed)PACKED(packed_files), &object, missing);
	if (r < 0)
		return r;
	*ret = (struct bpf_files_handle){program_fd(object, "list_files"), map_fd(object, "files"),
					 object, destroy_object};
	return 0;
}

void bpf_files_close(struct bpf_files_handle *handle)
{
	if (handle->destroy)
		handle->destroy(handle->object);
	*handle = (struct bpf_files_handle){};
}

/* ---- the programs that say who holds files ---- */

static void destroy_holders(void *object)
{
	holders__destroy(object);
}

static int light_holders_load(struct bpf_holders_handle *ret)
{
	struct holders *skel = holders__open();
	struct load_limit limit;
	int r;

	if (!skel)
		return -ENOMEM;
	load_limit_begin(&limit, LOAD_LIMIT_NS);
	r = load_limit_end(&limit, holders__load(skel));
	if (r < 0) {
		holders__destroy(skel);
		return r;
	}
	*ret = (struct bpf_holders_handle){.open_fd = skel->progs.list_open.prog_fd,
					   .mm_fd = skel->progs.list_mm.prog_fd,
					   .prog_fd = skel->progs.list_mappers.prog_fd,
					   .map_fd = skel->maps.mappers.map_fd,
					   .object = skel,
					   .destroy = destroy_holders};
	return 0;
}

int bpf_holders_load(enum bpf_loader loader, struct bpf_holders_handle *ret,
		     struct bpf_missing *missing)
{
	struct bpf_object *object;
	int r;

	if (loader == LOADER_LIGHT)
		return light_holders_load(ret);
	r = load_packed((struct packed)PACKED(packed_holders), &object, missing);
	if (r < 0)
		return r;
	*ret = (struct bpf_holders_handle){.open_fd = program_fd(object, "list_open"),
					   .mm_fd = program_fd(object, "list_mm"),
					   .prog_fd = program_fd(object, "list_mappers"),
					   .map_fd = map_fd(object, "mappers"),
					   .object = object,
					   .destroy = destroy_object};
	return 0;
}

void bpf_holders_close(struct bpf_holders_handle *handle)
{
	if (handle->destroy)
		handle->destroy(handle->object);
	*handle = (struct bpf_holders_handle){};
}

/* ---- the programs that read swap slots ---- */

static void destroy_swap(void *object)
{
	swap__destroy(object);
}

/*
 * As a light skeleton alone: the kernel finds types in modules, such as zram's, which libbpf may
 * not read without more capabilities.
 */
int bpf_swap_load(uint32_t cpus, struct bpf_swap_handle *ret)
{
	struct swap *skel = swap__open();
	struct load_limit limit;
	int r;

	if (!skel)
		return -ENOMEM;
	skel->maps.cpu_offset.max_entries = cpus;
	load_limit_begin(&limit, LOAD_LIMIT_NS);
	r = load_limit_end(&limit, swap__load(skel));
	if (r < 0) {
		swap__destroy(skel);
		return r;
	}
	*ret = (struct bpf_swap_handle){.iter_fd = skel->progs.walk_swap.prog_fd,
					.setup_fd = skel->progs.cpu_offset_setup.prog_fd,
					.symbols_fd = skel->progs.swap_symbols.prog_fd,
					.find_fd = skel->progs.find_swap.prog_fd,
					.file_fd = skel->progs.file_slots.prog_fd,
					.scan_fd = skel->progs.scan_slots.prog_fd,
					.map_fd = skel->maps.swap.map_fd,
					.wanted_fd = skel->maps.wanted.map_fd,
					.object = skel,
					.destroy = destroy_swap};
	return 0;
}

void bpf_swap_close(struct bpf_swap_handle *handle)
{
	if (handle->destroy)
		handle->destroy(handle->object);
	*handle = (struct bpf_swap_handle){};
}

int bpf_program_run(int prog_fd)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(prog_fd, &opts) < 0 ? -errno : 0;
}

int bpf_handle_run(int prog_fd, void *args, uint32_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = size);

	return bpf_prog_test_run_opts(prog_fd, &opts) < 0 ? -errno : (int)opts.retval;
}

void bpf_handle_close(struct bpf_handle *handle)
{
	if (handle->destroy)
		handle->destroy(handle->object);
	*handle = (struct bpf_handle){};
}
