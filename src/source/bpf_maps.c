// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A map lives as long as a descriptor, a program, another map or a file of bpffs holds it. The
 * kernel lists maps by their ids, and tells the size of one for fdinfo alone.
 */
#include "source/bpf_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"

/* Files that are looked at to find the pin of a map. */
#define PINS_PLACE "/sys/fs/bpf"
#define PINS_MAX   16384
#define PINS_DEPTH 16
#define BPFFS	   0xcafe4a11 /* BPF_FS_MAGIC */

/* Programs that are looked at, and the maps of each (MAX_USED_MAPS, include/linux/bpf_verifier.h).
 */
#define PROGRAMS_MAX 8192
#define USED_MAX     64

/* ---- one map ---- */

/* The number behind a key of a text: "memlock:\t4096". */
static bool find_number(const char *text, const char *key, uint64_t *ret)
{
	const char *line = strstr(text, key);

	if (!line)
		return false;
	line += strlen(key);
	line += strspn(line, " \t");
	return parse_u64(line, strspn(line, "0123456789"), UINT64_MAX, ret) == 0;
}

/* A ring of `size` bytes: three pages, and the addresses of all, those of the data twice. */
static uint64_t ring_bytes(uint64_t size)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return size + 3 * page + (3 + 2 * (size / page)) * sizeof(void *);
}

bool bpf_maps_size(const struct procfs *proc, const char *fdinfo, uint64_t *ret_id, uint64_t *ret)
{
	uint64_t type, entries;
	char text[2048];

	if (procfs_read(proc, fdinfo, text, sizeof(text)) <= 0 ||
	    !find_number(text, "map_id:", ret_id) || !find_number(text, "memlock:", ret))
		return false;
	if (*ret == 0 && find_number(text, "map_type:", &type) &&
	    find_number(text, "max_entries:", &entries) &&
	    (type == BPF_MAP_TYPE_RINGBUF || type == BPF_MAP_TYPE_USER_RINGBUF))
		*ret = ring_bytes(entries);
	return true;
}

static bool read_info(int fd, struct bpf_map_info *ret)
{
	uint32_t len = sizeof(*ret);

	memset(ret, 0, sizeof(*ret));
	return bpf_obj_get_info_by_fd(fd, ret, &len) == 0;
}

/* Adds the map, if it is still there. */
static void add_map(uint32_t id, const struct procfs *proc, struct kernel_map *item,
		    struct kernel_maps *ret)
{
	cleanup_close int fd = bpf_map_get_fd_by_id(id);
	struct kernel_map map = {.id = id};
	struct bpf_map_info info;
	char path[32];
	uint64_t same;

	if (fd < 0)
		return;
	_Static_assert(sizeof(map.name) == sizeof(info.name), "a name of the kernel fits");
	if (read_info(fd, &info))
		snprintf(map.name, sizeof(map.name), "%s", info.name);
	snprintf(path, sizeof(path), "self/fdinfo/%d", fd);
	map.sized = bpf_maps_size(proc, path, &same, &map.bytes);
	item[ret->count++] = map;
}

/* Returns 0, or a negative errno if they cannot be listed. */
static int add_maps(const struct procfs *proc, struct kernel_map *item, struct kernel_maps *ret)
{
	uint32_t id = 0;

	for (size_t i = 0; bpf_map_get_next_id(id, &id) == 0; i++) {
		if (i == BPF_MAPS_MAX)
			return -E2BIG;
		add_map(id, proc, item, ret);
	}
	return errno == ENOENT ? 0 : -errno;
}

/* ---- what holds them ---- */

struct search {
	struct kernel_map *item; /* by id */
	size_t count;
	struct arena *arena;
	char path[PATH_MAX];
	unsigned files; /* that were looked at */
	int error;
};

static struct kernel_map *find_map(const struct search *s, uint32_t id)
{
	return bsearch(&id, s->item, s->count, sizeof(*s->item), compare_leading_u32);
}

/* Only a map can be opened to be read: a program or a link is refused. */
static void look_at_pin(struct search *s)
{
	LIBBPF_OPTS(bpf_obj_get_opts, opts, .file_flags = BPF_F_RDONLY);
	cleanup_close int fd = bpf_obj_get_opts(s->path, &opts);
	struct bpf_map_info info;
	struct kernel_map *map;

	if (fd < 0 || !read_info(fd, &info))
		return;
	map = find_map(s, info.id);
	if (!map || map->path)
		return;
	map->path = arena_strndup(s->arena, s->path, strlen(s->path));
	if (!map->path)
		s->error = -ENOMEM;
}

/* `len`: of the path of the directory. Symbolic links are not followed. */
static void walk(struct search *s, int parent, const char *name, size_t len, unsigned depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_closedir DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;

	if (!dir) {
		close_fd(&fd);
		return;
	}
	while (!s->error && s->files < PINS_MAX && (e = readdir(dir))) {
		size_t more = strlen(e->d_name) + 1;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    len + more >= sizeof(s->path))
			continue;
		s->files++;
		snprintf(s->path + len, sizeof(s->path) - len, "/%s", e->d_name);
		if (e->d_type == DT_REG)
			look_at_pin(s);
		else if (e->d_type == DT_DIR && depth < PINS_DEPTH)
			walk(s, fd, e->d_name, len + more, depth + 1);
	}
	s->path[len] = '\0';
}

static void find_pins(struct search *s)
{
	struct statfs fs;

	if (!s->count || statfs(PINS_PLACE, &fs) < 0 || (uint32_t)fs.f_type != BPFFS)
		return;
	snprintf(s->path, sizeof(s->path), "%s", PINS_PLACE);
	walk(s, AT_FDCWD, PINS_PLACE, strlen(PINS_PLACE), 0);
}

static void find_program(struct search *s, uint32_t id)
{
	cleanup_close int fd = bpf_prog_get_fd_by_id(id);
	uint32_t used[USED_MAX];
	struct bpf_prog_info info = {.map_ids = (uintptr_t)used, .nr_map_ids = USED_MAX};
	uint32_t len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len) < 0)
		return;
	for (uint32_t i = 0; i < info.nr_map_ids && i < USED_MAX; i++) {
		struct kernel_map *map = find_map(s, used[i]);

		if (map && !*map->program)
			snprintf(map->program, sizeof(map->program), "%s", info.name);
	}
}

static void find_programs(struct search *s)
{
	uint32_t id = 0;

	for (int i = 0; s->count && i < PROGRAMS_MAX && bpf_prog_get_next_id(id, &id) == 0; i++)
		find_program(s, id);
}

static int compare_sizes(const void *pa, const void *pb)
{
	const struct kernel_map *a = pa, *b = pb;
	int r = ORDER_OF(b->bytes, a->bytes);

	return r ? r : ORDER_OF(a->id, b->id);
}

int bpf_maps_list(const struct procfs *proc, struct arena *arena, struct kernel_maps *ret)
{
	cleanup_free struct kernel_map *item = calloc(BPF_MAPS_MAX, sizeof(*item));
	cleanup_free struct search *s = calloc(1, sizeof(*s));
	struct kernel_map *kept;
	int r;

	*ret = (struct kernel_maps){};
	if (!item || !s)
		return -ENOMEM;
	r = add_maps(proc, item, ret);
	if (r < 0) {
		*ret = (struct kernel_maps){.reason = r == -E2BIG   ? "there are too many"
						      : r == -EPERM ? "CAP_SYS_ADMIN is missing"
								    : strerror(-r)};
		return 0;
	}
	s->item = item;
	s->count = ret->count;
	s->arena = arena;
	find_pins(s);
	find_programs(s);
	if (ret->count)
		qsort(item, ret->count, sizeof(*item), compare_sizes);
	kept = arena_alloc(arena, (ret->count + 1) * sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	memcpy(kept, item, ret->count * sizeof(*kept));
	ret->item = kept;
	ret->known = true;
	return s->error;
}
