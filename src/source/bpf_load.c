// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The only file that includes the BPF objects: as light skeletons, and packed for libbpf. */
#include <errno.h> /* the light skeletons need it first */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "task_counters.lskel.h"
#include "task_counters_probe.lskel.h"
#include "task_pss.lskel.h"
#include "task_pss_probe.lskel.h"
#pragma GCC diagnostic pop

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "base/unpack.h"
#include "source/bpf_load.h"
#include "source/source.h"

#define LOG_SIZE (256 * 1024)
#define LOG_TAIL (4 * 1024) /* the end of the verifier's log shows where it fails */

/* ---- light skeletons ---- */

/*
 * Closes the maps of a skeleton (its `maps` is a list of descriptions) except one. The programs
 * hold the maps; a limit of 16 descriptors (ulimit -n) must leave some for reading.
 */
static void close_maps(void *maps, size_t size, int except)
{
	struct bpf_map_desc *map = maps;

	for (size_t i = 0; i < size / sizeof(*map); i++) {
		if (map[i].map_fd == except)
			continue;
		close(map[i].map_fd);
		map[i].map_fd = 0;
	}
}

#define WALKS_PAGES(skel) (skel)->maps.calibration.map_fd
#define COUNTS(skel)	  0

/*
 * Defines light_<skeleton>_load(): `iter` is the iterator, `calibration` one of the two above. Each
 * skeleton has its own types and functions.
 */
#define LIGHT(skeleton, iter, calibration)                                                         \
	static void light_##skeleton##_destroy(void *object)                                       \
	{                                                                                          \
		skeleton##__destroy(object);                                                       \
	}                                                                                          \
                                                                                                   \
	static int light_##skeleton##_load(uint32_t cpus, const struct zmem_scramble *scramble,    \
					   struct bpf_handle *ret)                                 \
	{                                                                                          \
		struct skeleton *skel = skeleton##__open();                                        \
		const uint32_t zero = 0;                                                           \
		int r;                                                                             \
                                                                                                   \
		if (!skel)                                                                         \
			return -ENOMEM;                                                            \
		skel->maps.cpu_offset.max_entries = cpus;                                          \
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
			.calibration_fd = calibration(skel),                                       \
			.object = skel,                                                            \
			.destroy = light_##skeleton##_destroy,                                     \
		};                                                                                 \
		close_maps(&skel->maps, sizeof(skel->maps), ret->calibration_fd);                  \
		return 0;                                                                          \
	}

LIGHT(task_pss, task_pss, WALKS_PAGES)
LIGHT(task_pss_probe, task_pss, WALKS_PAGES)
LIGHT(task_counters, task_counters, COUNTS)
LIGHT(task_counters_probe, task_counters, COUNTS)

/* ---- the objects ---- */

static const unsigned char packed_pss[] = {
#include "task_pss.inc"
};
static const unsigned char packed_pss_old[] = {
#include "task_pss_old.inc"
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

/* Sorted by enum bpf_object_id. */
static const struct {
	struct packed packed;
	const char *iter;
	/* NULL: libbpf alone loads it. */
	int (*light_load)(uint32_t cpus, const struct zmem_scramble *scramble,
			  struct bpf_handle *ret);
} objects[] = {
	{PACKED(packed_pss), "task_pss", light_task_pss_load},
	/* Not packed: libbpf explains the next one, which has the same code. */
	{{}, "task_pss", light_task_pss_probe_load},
	{PACKED(packed_pss_old), "task_pss", NULL},
	{PACKED(packed_counters), "task_counters", light_task_counters_load},
	{PACKED(packed_counters_probe), "task_counters", light_task_counters_probe_load},
	{PACKED(packed_counters_old), "task_counters", NULL},
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
static int open_object(enum bpf_object_id id, struct bpf_object_open_opts *opts,
		       struct bpf_object **ret_object)
{
	cleanup(strbuf_done) struct strbuf elf = {};

	if (!objects[id].packed.size)
		return -EOPNOTSUPP;
	unpack(&elf, objects[id].packed);
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

static int libbpf_load(enum bpf_object_id id, uint32_t cpus, const struct zmem_scramble *scramble,
		       struct bpf_handle *ret)
{
	struct bpf_object_open_opts opts = {};
	const uint32_t zero = 0;
	struct bpf_object *object;
	struct bpf_map *map;
	int r = open_object(id, &opts, &object);

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
		.iter_fd = program_fd(object, objects[id].iter),
		.setup_fd = program_fd(object, "cpu_offset_setup"),
		.calibration_fd = map_fd(object, "calibration"),
		.object = object,
		.destroy = destroy_object,
	};
	return 0;
}

int bpf_load(enum bpf_object_id id, enum bpf_loader loader, uint32_t cpus,
	     const struct zmem_scramble *scramble, struct bpf_handle *ret)
{
	if (loader == LOADER_LIGHT)
		return objects[id].light_load(cpus, scramble, ret);
	return libbpf_load(id, cpus, scramble, ret);
}

char *bpf_load_explain(enum bpf_object_id id)
{
	cleanup_free char *log = calloc(1, LOG_SIZE);
	struct bpf_object_open_opts opts = {
		.kernel_log_buf = log, .kernel_log_size = LOG_SIZE, .kernel_log_level = 1};
	struct bpf_object *object = NULL;
	size_t len;
	int r;

	if (!log)
		return NULL;
	r = open_object(id, &opts, &object);
	if (r == 0)
		r = bpf_object__load(object);
	bpf_object__close(object);
	len = strlen(log);
	if (r == 0 || len == 0)
		return NULL;
	return strdup(len > LOG_TAIL ? log + len - LOG_TAIL : log);
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

#ifdef ZMEM_STATIC
/*
 * elfutils 0.192 moved the tree of raw chunks of an ELF file from libelf.a to a library that Debian
 * 13 does not ship. These do what libelf expects: an empty tree at first, and freed nodes at the
 * end.
 */
struct search_tree {
	void *root;
};

void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));

__attribute__((weak)) void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

__attribute__((weak)) void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
}
#endif
