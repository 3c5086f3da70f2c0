// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The only file that includes the light skeletons. */
#include <errno.h> /* the generated headers need it first */
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "task_counters.lskel.h"
#include "task_counters_probe.lskel.h"
#include "task_pss.lskel.h"
#pragma GCC diagnostic pop

#include "source/skel_light.h"

/*
 * Of a skeleton's `maps`, which are descriptions and nothing else. The programs hold the maps; what
 * is left of 16 descriptors (ulimit -n) is for reading. `keep` is left open.
 */
static void close_maps(void *maps, size_t size, int keep)
{
	struct bpf_map_desc *map = maps;

	for (size_t i = 0; i < size / sizeof(*map); i++) {
		if (map[i].map_fd == keep)
			continue;
		close(map[i].map_fd);
		map[i].map_fd = 0;
	}
}

#define WALKS_PAGES(skel) (skel)->maps.calibration.map_fd
#define COUNTS(skel)	  0

/*
 * Defines light_<name>_load(): `type` is the skeleton's, `iter` its iterator, `calibration` one of
 * the two above. Each skeleton has types and functions of its own.
 */
#define LIGHT(name, type, iter, calibration)                                                       \
	static void name##_destroy(void *object)                                                   \
	{                                                                                          \
		type##__destroy(object);                                                           \
	}                                                                                          \
                                                                                                   \
	int skel_light_##name##_load(uint32_t cpus, const struct zmem_scramble *scramble,          \
				     struct bpf_handle *ret)                                       \
	{                                                                                          \
		struct type *skel = type##__open();                                                \
		const uint32_t zero = 0;                                                           \
		int r;                                                                             \
                                                                                                   \
		if (!skel)                                                                         \
			return -ENOMEM;                                                            \
		skel->maps.cpu_offset.max_entries = cpus;                                          \
		r = type##__load(skel);                                                            \
		if (r == 0)                                                                        \
			r = skel_map_update_elem(skel->maps.scramble.map_fd, &zero, scramble, 0);  \
		if (r < 0) {                                                                       \
			type##__destroy(skel);                                                     \
			return r;                                                                  \
		}                                                                                  \
		*ret = (struct bpf_handle){                                                        \
			.iter_fd = skel->progs.iter.prog_fd,                                       \
			.setup_fd = skel->progs.cpu_offset_setup.prog_fd,                          \
			.calibration_fd = calibration(skel),                                       \
			.object = skel,                                                            \
			.destroy = name##_destroy,                                                 \
		};                                                                                 \
		close_maps(&skel->maps, sizeof(skel->maps), ret->calibration_fd);                  \
		return 0;                                                                          \
	}

LIGHT(pss, task_pss, task_pss, WALKS_PAGES)
LIGHT(counters, task_counters, task_counters, COUNTS)
LIGHT(counters_probe, task_counters_probe, task_counters, COUNTS)
