// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The only file that includes the BPF objects: as light skeletons, and for libbpf. */
#include <errno.h> /* the light skeletons need it first */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "zmem/members.h" /* the light skeletons have the type */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "arguments.light.h"
#include "census.light.h"
#include "files.light.h"
#include "freed.light.h"
#include "gpu.light.h"
#include "held.light.h"
#include "descriptors.light.h"
#include "dmabuf.light.h"
#include "holders.light.h"
#include "pages.light.h"
#include "peak.light.h"
#include "swap.light.h"
#include "task_counters.light.h"
#include "task_counters_probe.light.h"
#include "task_pss.light.h"
#include "task_pss_memos.light.h"
#include "task_pss_probe.light.h"
#pragma GCC diagnostic pop

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/unpack.h"
#include "load/bpf_diagnose.h"
#include "load/bpf_load.h"
#include "load/kernel_members.h"
#include "load/load_limit.h"

/*
 * Until 6.3 the kernel keeps the beginning of a log that is too long, and until 5.14 it allows
 * 16 MiB (bpf_check(), kernel/bpf/verifier.c). Only what is written takes memory.
 */
#define LOAD_TRIES 100
#define LOG_SIZE   ((16 << 20) - 1)
#define LOG_TAIL   (4 * 1024) /* the end of the verifier's log shows where it fails */

/* ---- the parts of objects ---- */

/* A program or a map by its name, and where a light skeleton has its descriptor. */
struct part {
	enum bpf_part id;
	bool is_map;
	const char *name;
	size_t light;
};

#define LIGHT_PROGRAM(id, name)                                                                    \
	{                                                                                          \
		BPF_##id, false, #name, offsetof(struct SKELETON, progs.name.prog_fd)              \
	}
#define LIGHT_MAP(id, name)                                                                        \
	{                                                                                          \
		BPF_##id, true, #name, offsetof(struct SKELETON, maps.name.map_fd)                 \
	}

#define PSS_PARTS                                                                                  \
	LIGHT_PROGRAM(ITER, task_pss), LIGHT_PROGRAM(SETUP, cpu_offset_setup),                     \
		LIGHT_MAP(CALIBRATION, calibration), LIGHT_MAP(LAYOUT, layout),                    \
		LIGHT_MAP(SIZED, cpu_offset), LIGHT_MAP(SIZED, rooms), LIGHT_MAP(SIZED, scramble), \
	{                                                                                          \
	}
#define MEMO_PARTS LIGHT_MAP(LANES, memo_lanes), LIGHT_MAP(SIZED, memos)

#define SKELETON   task_pss
static const struct part pss_parts[] = {PSS_PARTS};
#undef SKELETON
#define SKELETON task_pss_memos
static const struct part pss_memos_parts[] = {MEMO_PARTS, PSS_PARTS};
#undef SKELETON
#define SKELETON task_pss_probe
static const struct part pss_probe_parts[] = {MEMO_PARTS, PSS_PARTS};
#undef SKELETON
#define SKELETON task_counters
static const struct part counters_parts[] = {
	LIGHT_PROGRAM(ITER, task_counters), LIGHT_PROGRAM(SETUP, cpu_offset_setup),
	LIGHT_MAP(SIZED, cpu_offset),	    LIGHT_MAP(SIZED, rooms),
	LIGHT_MAP(SIZED, scramble),	    {},
};
#undef SKELETON
#define SKELETON files
static const struct part files_parts[] = {
	LIGHT_PROGRAM(RUN, list_files),
	LIGHT_MAP(ANSWERS, files),
	{},
};
#undef SKELETON
#define SKELETON holders
static const struct part holders_parts[] = {
	LIGHT_PROGRAM(RUN, list_mappers),
	LIGHT_PROGRAM(OPEN_FILES, list_open),
	LIGHT_PROGRAM(MMS, list_mm),
	LIGHT_MAP(ANSWERS, mappers),
	{},
};
#undef SKELETON
#define SKELETON freed
static const struct part freed_parts[] = {
	LIGHT_PROGRAM(ITER, walk_freed), LIGHT_PROGRAM(SETUP, cpu_offset_setup),
	LIGHT_MAP(ANSWERS, freed),	 LIGHT_MAP(WANTED, wanted),
	LIGHT_MAP(PAGES, pages),	 LIGHT_MAP(HELD, held),
	LIGHT_MAP(DEVICES, swap),	 LIGHT_MAP(SIZED, cpu_offset),
	LIGHT_MAP(SIZED, rooms),	 {},
};
#undef SKELETON
#define SKELETON held
static const struct part held_parts[] = {
	LIGHT_PROGRAM(ITER, list_tasks),
	LIGHT_PROGRAM(OPEN_FILES, list_held),
	LIGHT_PROGRAM(SETUP, cpu_offset_setup),
	LIGHT_PROGRAM(RUN, list_mounted),
	LIGHT_PROGRAM(SEGMENTS_RUN, list_segments),
	LIGHT_PROGRAM(CHECK, check_file),
	LIGHT_MAP(ANSWERS, answers),
	LIGHT_MAP(WANTED, wanted),
	LIGHT_MAP(HELD, held),
	LIGHT_MAP(TABLES, tables),
	LIGHT_MAP(SPACES, sets),
	LIGHT_MAP(NAMED, named),
	LIGHT_MAP(MOUNTED, mounted),
	LIGHT_MAP(SEGMENTS, segments),
	LIGHT_MAP(EDGES, edges),
	LIGHT_MAP(ONCE, once),
	LIGHT_MAP(SIZED, cpu_offset),
	{},
};
#undef SKELETON
#define SKELETON arguments
static const struct part arguments_parts[] = {
	LIGHT_PROGRAM(ITER, list_arguments),
	LIGHT_MAP(ANSWERS, arguments),
	{},
};
#undef SKELETON
#define SKELETON gpu
static const struct part gpu_parts[] = {
	LIGHT_PROGRAM(OPEN_FILES, list_gpu_files),
	{},
};
#undef SKELETON
#define SKELETON descriptors
static const struct part descriptors_parts[] = {
	LIGHT_PROGRAM(OPEN_FILES, list_descriptors),
	LIGHT_MAP(ANSWERS, descriptors),
	{},
};
#undef SKELETON
#define SKELETON dmabuf
static const struct part dmabuf_parts[] = {
	LIGHT_PROGRAM(ITER, list_dmabufs),
	{},
};
#undef SKELETON
#define SKELETON census
static const struct part census_parts[] = {
	LIGHT_PROGRAM(RUN, count_frames),
	LIGHT_PROGRAM(NAME, name_owner),
	LIGHT_PROGRAM(NAME_POOL, name_pool),
	LIGHT_MAP(ANSWERS, census),
	{},
};
#undef SKELETON
#define SKELETON swap
static const struct part swap_parts[] = {
	LIGHT_PROGRAM(ITER, walk_swap),
	LIGHT_PROGRAM(SETUP, cpu_offset_setup),
	LIGHT_PROGRAM(SYMBOLS, swap_symbols),
	LIGHT_PROGRAM(FIND, find_swap),
	LIGHT_PROGRAM(RUN, file_slots),
	LIGHT_PROGRAM(SCAN, scan_slots),
	LIGHT_MAP(ANSWERS, swap),
	LIGHT_MAP(WANTED, wanted),
	LIGHT_MAP(SIZED, cpu_offset),
	LIGHT_MAP(SIZED, rooms),
	{},
};
#undef SKELETON
#define SKELETON pages
static const struct part pages_parts[] = {
	LIGHT_PROGRAM(ITER, walk_each),
	LIGHT_PROGRAM(SETUP, cpu_offset_setup),
	LIGHT_MAP(ANSWERS, pages),
	LIGHT_MAP(WANTED, wanted),
	LIGHT_MAP(SIZED, cpu_offset),
	LIGHT_MAP(SIZED, rooms),
	{},
};
#undef SKELETON
static const struct part oom_parts[] = {
	{BPF_ITER, false, "oom_kill"},
	{BPF_SETUP, false, "cpu_offset_setup"},
	{BPF_OOM_SETUP, false, "oom_setup"},
	{BPF_OOM_BEGIN, false, "oom_call_begin"},
	{BPF_OOM_END, false, "oom_call_end"},
	{BPF_LARGE, true, "large"},
	{BPF_OVER, true, "over"},
	{BPF_SIGNALS, false, "signal_sent"},
	{BPF_RING, true, "ring"},
	{},
};
static const struct part grow_parts[] = {
	{BPF_ITER, false, "grow_visit"},
	{BPF_SETUP, false, "cpu_offset_setup"},
	{BPF_RING, true, "ring"},
	{BPF_SETTINGS, true, "settings"},
	{BPF_TARGETS, true, "targets"},
	{BPF_ON_CPU, true, "on_cpu"},
	{BPF_WAKE, true, "wake"},
	{BPF_HEAP_BLOCKS, true, "heap_blocks"},
	{BPF_HEAP_GAPS, true, "heap_gaps"},
	{BPF_HEAP_CPU, true, "heap_cpu"},
	{},
};
static const struct part waits_parts[] = {
	{BPF_RUN, false, "waits_setup"},
	{BPF_WAITS, true, "waits"},
	{BPF_BEGUN, true, "begun"},
	{BPF_LOST, true, "lost"},
	{BPF_RECLAIM_BEGIN, false, "reclaim_begin"},
	{BPF_RECLAIM_END, false, "reclaim_end"},
	{BPF_SWAPIN, false, "swap_in"},
	{BPF_SWAPIN_OLD, false, "swap_in_old"},
	{},
};

static const struct part ended_parts[] = {
	{BPF_RUN, false, "ended_setup"},
	{BPF_SETUP, false, "cpu_offset_setup"},
	{BPF_SETTINGS, true, "settings"},
	{BPF_SUMS, true, "sums"},
	{BPF_PATHS, true, "paths"},
	{BPF_REST, true, "rest"},
	{BPF_ENDED_TRACEPOINT, false, "ended_tracepoint"},
	{BPF_ENDED_TASKSTATS, false, "ended_taskstats"},
	{},
};

#define SKELETON peak
static const struct part peak_parts[] = {
	LIGHT_PROGRAM(ITER, peak_visit),
	LIGHT_PROGRAM(SETUP, cpu_offset_setup),
	LIGHT_PROGRAM(PEAK_RSS, peak_rss),
	LIGHT_PROGRAM(PEAK_EXEC, peak_exec),
	LIGHT_PROGRAM(PEAK_FORK, peak_fork),
	LIGHT_PROGRAM(PEAK_EXIT, peak_exit),
	LIGHT_MAP(RING, ring),
	LIGHT_MAP(SETTINGS, settings),
	LIGHT_MAP(ANSWERS, state),
	LIGHT_MAP(TARGETS, targets),
	LIGHT_MAP(PROCESSES, processes),
	LIGHT_MAP(SIZED, cpu_offset),
	LIGHT_MAP(SIZED, on_cpu),
	{},
};
#undef SKELETON

/* Bytes of light skeletons, NAME_light, and objects, NAME_elf. */
#include "packed.inc"

/* ---- what a map is made for ---- */

/* The possible CPUs. */
struct cpu_ids {
	unsigned id[8192]; /* NR_CPUS is at most that */
	unsigned count;
	unsigned numbers; /* one above the highest, as there may be gaps */
};

static void add_cpu(void *arg, unsigned cpu)
{
	struct cpu_ids *ids = arg;

	if (ids->count < ARRAY_SIZE(ids->id))
		ids->id[ids->count++] = cpu;
	if (cpu >= ids->numbers)
		ids->numbers = cpu + 1;
}

/* Without /sys all configured CPUs. */
static void find_cpus(struct cpu_ids *ids)
{
	char text[4096];
	ssize_t len = file_read(-1, "/sys/devices/system/cpu/possible", text, sizeof(text));

	ids->count = ids->numbers = 0;
	if (len > 0 && parse_cpu_list(text, (size_t)len, add_cpu, ids) > 0)
		return;
	ids->count = ids->numbers = 0;
	for (int i = 0; i < get_nprocs_conf(); i++)
		add_cpu(ids, (unsigned)i);
}

uint32_t bpf_cpu_numbers(void)
{
	struct cpu_ids ids;

	find_cpus(&ids);
	return ids.numbers;
}

/* What an object is loaded for. */
struct load {
	const struct bpf_sizes *sizes;
	struct cpu_ids cpus;
	struct zmem_scramble scramble; /* the key for addresses in records */
};

/* The entries of a map, which has that many if nothing is asked for. */
static uint32_t entries_of(const struct load *l, const char *map, uint32_t entries)
{
	const struct bpf_sizes *sizes = l->sizes;
	const struct {
		const char *map;
		uint32_t entries;
	} set[] = {{"cpu_offset", sizes->targets ? l->cpus.numbers : l->cpus.count},
		   {"rooms", 2 * l->cpus.numbers},
		   {"rooms_taken", 2 * l->cpus.numbers},
		   {"memos", sizes->memos ? sizes->memos : 1},
		   {"on_cpu", sizes->targets * l->cpus.numbers},
		   {"ring", sizes->ring},
		   {"heap_blocks", sizes->heap},
		   {"pages", sizes->pages}};

	for (size_t i = 0; i < ARRAY_SIZE(set); i++) {
		if (set[i].entries && strcmp(map, set[i].map) == 0)
			return set[i].entries;
	}
	return entries;
}

/* ---- light skeletons ---- */

/* Each light skeleton has its own type and functions. */
struct light {
	void *(*open)(void);
	int (*load)(void *skeleton, const void *bytes);
	void (*destroy)(void *skeleton);
	size_t maps, maps_size; /* a list of struct bpf_map_desc */
	size_t members;		/* a pointer to struct zmem_members; 0: it has none */
	const struct packed *bytes;
};

#define LIGHT_OF(skeleton, ...)                                                                    \
	static void *skeleton##_open(void)                                                         \
	{                                                                                          \
		return skeleton##__open();                                                         \
	}                                                                                          \
	static int skeleton##_load(void *s, const void *bytes)                                     \
	{                                                                                          \
		return skeleton##__load(s, bytes);                                                 \
	}                                                                                          \
	static void skeleton##_destroy(void *s)                                                    \
	{                                                                                          \
		skeleton##__destroy(s);                                                            \
	}                                                                                          \
	static const struct light skeleton##_loader = {.open = skeleton##_open,                    \
						       .load = skeleton##_load,                    \
						       .destroy = skeleton##_destroy,              \
						       .bytes = &skeleton##_light,                 \
						       __VA_ARGS__}
#define LIGHT(skeleton, ...)                                                                       \
	LIGHT_OF(skeleton, .maps = offsetof(struct skeleton, maps),                                \
		 .maps_size = sizeof(((struct skeleton *)0)->maps), __VA_ARGS__)
#define LIGHT_MEMBERS(skeleton)                                                                    \
	LIGHT(skeleton, .members = offsetof(struct skeleton, rodata_members))

LIGHT_MEMBERS(task_pss);
LIGHT_MEMBERS(task_pss_memos);
LIGHT_MEMBERS(task_pss_probe);
LIGHT_MEMBERS(task_counters);
LIGHT_MEMBERS(task_counters_probe);
LIGHT_MEMBERS(census);
LIGHT_MEMBERS(files);
LIGHT_MEMBERS(gpu);
LIGHT_MEMBERS(descriptors);
LIGHT_OF(dmabuf); /* it has no maps */
LIGHT_MEMBERS(holders);
LIGHT_MEMBERS(swap);
LIGHT_MEMBERS(freed);
LIGHT_MEMBERS(held);
LIGHT_MEMBERS(pages);
LIGHT(arguments);
LIGHT(peak);

/* Both variants have the same parts. */
_Static_assert(sizeof(struct task_counters) == sizeof(struct task_counters_probe),
	       "the same parts");

static int *descriptor(void *skeleton, size_t offset)
{
	return (int *)((char *)skeleton + offset);
}

/* The map of a part, by the place of its descriptor. */
static struct bpf_map_desc *map_of(void *skeleton, const struct part *p)
{
	return (void *)((char *)skeleton + p->light - offsetof(struct bpf_map_desc, map_fd));
}

static int set_light_scramble(void *skeleton, const struct part *parts,
			      const struct zmem_scramble *scramble)
{
	const uint32_t zero = 0;

	for (const struct part *p = parts; p->name; p++) {
		if (strcmp(p->name, "scramble") == 0)
			return skel_map_update_elem(*descriptor(skeleton, p->light), &zero,
						    (void *)scramble, 0);
	}
	return 0;
}

static bool has_descriptor(const struct bpf_handle *handle, int fd)
{
	for (int i = 0; i < BPF_PARTS; i++) {
		if (handle->fd[i] == fd)
			return true;
	}
	return false;
}

/*
 * Closes the maps except those of the handle. The programs hold the maps; a limit of 16 descriptors
 * (ulimit -n) must leave some for reading.
 */
static void close_maps(const struct light *light, const struct bpf_handle *handle)
{
	struct bpf_map_desc *map = (void *)((char *)handle->object + light->maps);

	for (size_t i = 0; i < light->maps_size / sizeof(*map); i++) {
		if (!has_descriptor(handle, map[i].map_fd)) {
			close(map[i].map_fd);
			map[i].map_fd = 0;
		}
	}
}

static int light_load(const struct light *light, const struct part *parts, const struct load *l,
		      struct bpf_handle *ret)
{
	cleanup(strbuf_done) struct strbuf room = {};
	const void *bytes = light ? unpacked(light->bytes, &room) : NULL;
	void *skeleton = bytes ? light->open() : NULL;
	int r;

	if (!skeleton)
		return light ? -ENOMEM : -EOPNOTSUPP;
	for (const struct part *p = parts; p->name; p++) {
		if (p->is_map)
			map_of(skeleton, p)->max_entries =
				entries_of(l, p->name, map_of(skeleton, p)->max_entries);
	}
	r = light->members
		    ? kernel_members_find(BTF_PATH, *(void **)((char *)skeleton + light->members))
		    : 0;
	if (r == 0)
		r = light->load(skeleton, bytes);
	if (r == 0)
		r = set_light_scramble(skeleton, parts, &l->scramble);
	if (r < 0) {
		light->destroy(skeleton);
		return r;
	}
	*ret = (struct bpf_handle){.object = skeleton, .destroy = light->destroy};
	for (const struct part *p = parts; p->name; p++) {
		if (p->id < BPF_PARTS)
			ret->fd[p->id] = *descriptor(skeleton, p->light);
	}
	close_maps(light, ret);
	return 0;
}

/* ---- the objects ---- */

static const struct {
	const struct packed *elf; /* NULL: libbpf cannot load it */
	const struct part *parts;
	const struct light *light; /* NULL: libbpf alone loads it */
} objects[] = {
	[OBJECT_PSS] = {&task_pss_elf, pss_parts, &task_pss_loader},
	[OBJECT_PSS_MEMOS] = {&task_pss_memos_elf, pss_memos_parts, &task_pss_memos_loader},
	/* No object: libbpf explains OBJECT_PSS_OLD, which has the same code. */
	[OBJECT_PSS_PROBE] = {NULL, pss_probe_parts, &task_pss_probe_loader},
	[OBJECT_PSS_OLD] = {&task_pss_old_elf, pss_memos_parts, NULL},
	[OBJECT_COUNTERS] = {&task_counters_elf, counters_parts, &task_counters_loader},
	[OBJECT_COUNTERS_PROBE] = {&task_counters_probe_elf, counters_parts,
				   &task_counters_probe_loader},
	[OBJECT_COUNTERS_OLD] = {&task_counters_old_elf, counters_parts, NULL},
	[OBJECT_OOM] = {&oom_kill_elf, oom_parts, NULL},
	[OBJECT_OOM_PROBE] = {&oom_kill_probe_elf, oom_parts, NULL},
	[OBJECT_OOM_OLD] = {&oom_kill_old_elf, oom_parts, NULL},
	[OBJECT_GROW] = {&grow_elf, grow_parts, NULL},
	[OBJECT_GROW_PROBE] = {&grow_probe_elf, grow_parts, NULL},
	[OBJECT_PEAK] = {&peak_elf, peak_parts, &peak_loader},
	[OBJECT_PEAK_PROBE] = {&peak_probe_elf, peak_parts, NULL},
	[OBJECT_WAITS] = {&waits_elf, waits_parts, NULL},
	[OBJECT_ENDED] = {&ended_elf, ended_parts, NULL},
	[OBJECT_ENDED_OLD] = {&ended_old_elf, ended_parts, NULL},
	[OBJECT_CENSUS] = {&census_elf, census_parts, &census_loader},
	[OBJECT_CENSUS_OLD] = {&census_old_elf, census_parts, NULL},
	[OBJECT_FILES] = {&files_elf, files_parts, &files_loader},
	[OBJECT_HOLDERS] = {&holders_elf, holders_parts, &holders_loader},
	[OBJECT_GPU] = {&gpu_elf, gpu_parts, &gpu_loader},
	[OBJECT_DESCRIPTORS] = {&descriptors_elf, descriptors_parts, &descriptors_loader},
	[OBJECT_DESCRIPTORS_OLD] = {&descriptors_old_elf, descriptors_parts, NULL},
	[OBJECT_DMABUF] = {NULL, dmabuf_parts, &dmabuf_loader},
	[OBJECT_SWAP] = {NULL, swap_parts, &swap_loader},
	[OBJECT_FREED] = {NULL, freed_parts, &freed_loader},
	[OBJECT_HELD] = {NULL, held_parts, &held_loader},
	[OBJECT_PAGES] = {NULL, pages_parts, &pages_loader},
	[OBJECT_ARGUMENTS] = {NULL, arguments_parts, &arguments_loader},
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

	if (!objects[id].elf)
		return -EOPNOTSUPP;
	unpack(&elf, objects[id].elf);
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

static int set_entries(const struct bpf_object *object, const struct load *l)
{
	struct bpf_map *m;
	int r = 0;

	bpf_object__for_each_map(m, object)
	{
		uint32_t entries = bpf_map__max_entries(m);
		uint32_t wanted = entries_of(l, bpf_map__name(m), entries);

		if (r == 0 && wanted != entries)
			r = bpf_map__set_max_entries(m, wanted);
	}
	return r;
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

/* Linux 6.6 and 6.13, include/uapi/linux/bpf.h. libbpf 1.1 has no names for them. */
#define UPROBE_MULTI   48
#define UPROBE_SESSION 57

/* How programs will be attached. An older kernel ignores it. */
static void set_attach_types(const struct bpf_object *object)
{
	static const struct {
		const char *name;
		int type;
	} of[] = {{"heap_session", UPROBE_SESSION},
		  {"heap_enter", UPROBE_MULTI},
		  {"heap_leave", UPROBE_MULTI}};

	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(object, of[i].name);

		if (p)
			bpf_program__set_expected_attach_type(p, (enum bpf_attach_type)of[i].type);
	}
}

static int set_up_scramble(const struct bpf_object *object, const struct zmem_scramble *scramble)
{
	const uint32_t zero = 0;
	int fd = map_fd(object, "scramble");

	return fd ? bpf_map_update_elem(fd, &zero, scramble, 0) : 0;
}

static int libbpf_load(enum bpf_object_id id, const struct load *l, struct bpf_handle *ret,
		       struct bpf_missing *missing)
{
	cleanup_free char *log = calloc(1, LOG_SIZE);
	struct bpf_object_open_opts opts = {.kernel_log_buf = log,
					    .kernel_log_size = log ? LOG_SIZE : 0};
	struct bpf_object *object;
	int r = open_object(id, &opts, &object);

	if (r < 0)
		return r;
	r = set_entries(object, l);
	if (r == 0)
		r = kernel_members_set(object);
	if (r == 0)
		r = leave_out(object, l->sizes->without);
	set_attach_types(object);
	if (r == 0)
		r = load_object(object, log, missing);
	if (r == 0)
		r = set_up_scramble(object, &l->scramble);
	if (r < 0) {
		destroy_object(object);
		return r;
	}
	*ret = (struct bpf_handle){.object = object, .destroy = destroy_object};
	for (const struct part *p = objects[id].parts; p->name; p++) {
		if (p->id < BPF_PARTS)
			ret->fd[p->id] =
				p->is_map ? map_fd(object, p->name) : program_fd(object, p->name);
	}
	return 0;
}

/* ---- loading ---- */

/* Has the kernel fill in the offset of each CPU (bpf/percpu.bpf.h). */
static int set_up_cpus(int setup_fd, const struct load *l)
{
	for (unsigned i = 0; setup_fd && i < l->cpus.count; i++) {
		struct zmem_cpu_setup args = {.index = l->sizes->targets ? l->cpus.id[i] : i,
					      .cpu = l->cpus.id[i]};
		int r = bpf_handle_run(setup_fd, &args, sizeof(args));

		if (r)
			return r < 0 ? r : -ENXIO;
	}
	return 0;
}

static int map_answers(struct bpf_handle *handle)
{
	int fd = handle->fd[BPF_ANSWERS];
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);
	void *map;
	int r;

	if (!fd)
		return 0;
	r = bpf_obj_get_info_by_fd(fd, &info, &len);
	if (r < 0)
		return r;
	map = mmap(NULL, info.value_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	handle->answers = map;
	handle->answers_size = info.value_size;
	return 0;
}

static int load_by(enum bpf_object_id id, bool light, const struct load *l, struct bpf_handle *ret,
		   struct bpf_missing *missing)
{
	struct load_limit limit;
	int r = -EAGAIN;

	if (missing)
		missing->libbpf = !light;
	/* A signal aborts the verifier, even one that only stops us (kernel/bpf/verifier.c). */
	for (int i = 0; i < LOAD_TRIES && r == -EAGAIN; i++) {
		if (!l->sizes->unbounded)
			load_limit_begin(&limit, LOAD_LIMIT_NS);
		r = light ? light_load(objects[id].light, objects[id].parts, l, ret)
			  : libbpf_load(id, l, ret, missing);
		if (!l->sizes->unbounded)
			r = load_limit_end(&limit, r);
	}
	return r;
}

int bpf_load(enum bpf_object_id id, enum bpf_loader loader, const struct bpf_sizes *sizes,
	     struct bpf_handle *ret, struct bpf_missing *missing)
{
	static const struct bpf_sizes usual;
	struct load l = {.sizes = sizes ? sizes : &usual};
	int r = -EOPNOTSUPP, light = 0;

	if (getrandom(&l.scramble, sizeof(l.scramble), GRND_NONBLOCK) != sizeof(l.scramble))
		return -EIO;
	find_cpus(&l.cpus);
	if (loader != LOADER_LIBBPF)
		r = light = load_by(id, true, &l, ret, missing);
	if (loader == LOADER_LIBBPF || (loader == LOADER_EITHER && r < 0 && objects[id].elf))
		r = load_by(id, false, &l, ret, missing);
	/* libbpf has other reasons: what it needs. */
	if (r < 0)
		return light == -EAGAIN ? light : r;
	r = set_up_cpus(ret->fd[BPF_SETUP], &l);
	if (r == 0)
		r = map_answers(ret);
	if (r < 0)
		bpf_handle_close(ret);
	return r;
}

int bpf_load_noted(const char *subject, enum bpf_object_id id, enum bpf_loader loader,
		   const struct bpf_sizes *sizes, struct diag *diag, struct bpf_handle *ret)
{
	struct bpf_missing missing = {};
	int r = bpf_load(id, loader, sizes, ret, &missing);

	if (r < 0)
		bpf_diagnose_note(diag, subject, "loading the program", r, &missing);
	return r;
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
		r = kernel_members_set(object);
	if (r == 0)
		r = leave_out(object, without);
	if (r == 0)
		set_attach_types(object);
	load_limit_begin(&limit, LOAD_LIMIT_NS);
	if (r == 0) {
		/* Only a refused program is logged: a log of the object has its types as well. */
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

int bpf_map_clear(int fd)
{
	uint64_t key;

	int r;

	while ((r = bpf_map_get_next_key(fd, NULL, &key)) == 0) {
		r = bpf_map_delete_elem(fd, &key);
		if (r < 0)
			return r;
	}
	return r == -ENOENT ? 0 : r;
}

int bpf_program_run(int prog_fd)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(prog_fd, &opts);
}

int bpf_handle_run(int prog_fd, void *args, uint32_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = size);

	int r = bpf_prog_test_run_opts(prog_fd, &opts);

	return r < 0 ? r : (int)opts.retval;
}

void bpf_handle_close(struct bpf_handle *handle)
{
	if (handle->answers)
		munmap(handle->answers, handle->answers_size);
	if (handle->destroy)
		handle->destroy(handle->object);
	*handle = (struct bpf_handle){};
}
