// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proc/drm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "proc/keyed.h"

/* The driver of NVIDIA, and how the names of its files and devices begin. */
#define NVIDIA	       "nvidia"
#define NVIDIA_DEVICES "/dev/" NVIDIA

/* ---- the text of a file ---- */

static struct text_part trimmed(const struct keyed_line *line)
{
	const char *from = line->value, *to = line->end;

	while (from < to && (*from == ' ' || *from == '\t'))
		from++;
	while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
		to--;
	return (struct text_part){from, (size_t)(to - from)};
}

/* Copies a name that has only what drivers put in theirs; any program may write a dma-buf's name.
 */
static bool copy_name(struct text_part name, char ret[GPU_NAME])
{
	if (!name.len || name.len >= GPU_NAME)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.s[i];

		if (!is_letter(c) && !is_digit(c) && (!c || !strchr("-_.:@", c)))
			return false;
	}
	memcpy(ret, name.s, name.len);
	ret[name.len] = '\0';
	return true;
}

/* "1024", "16 KiB", "2 MiB": as drm_print_memory_stats() of the kernel writes them. */
static bool parse_amount(struct text_part text, uint64_t *ret)
{
	struct text_part number = part_split(&text, ' ');
	uint64_t unit = 1, value;

	if (part_is(text, "KiB"))
		unit = 1024;
	else if (part_is(text, "MiB"))
		unit = 1024 * 1024;
	else if (text.len)
		return false;
	return parse_u64(number.s, number.len, GPU_BYTES_MAX / unit, &value) == 0 &&
	       !__builtin_mul_overflow(value, unit, ret);
}

/* What the regions of a client have so far. */
struct regions {
	struct gpu_part *part;
	size_t count;
	uint32_t resident; /* bit of each that has drm-resident-, which counts before drm-memory- */
};

static struct gpu_part *find_region(struct regions *r, struct text_part name)
{
	struct gpu_part *p;
	char copy[GPU_NAME];

	if (!copy_name(name, copy))
		return NULL;
	for (size_t i = 0; i < r->count; i++) {
		if (strcmp(r->part[i].region, copy) == 0)
			return &r->part[i];
	}
	if (r->count == DRM_REGIONS)
		return NULL;
	p = &r->part[r->count++];
	*p = (struct gpu_part){};
	memcpy(p->region, copy, sizeof(copy));
	return p;
}

static void set_size(struct regions *r, struct text_part key, struct text_part value)
{
	bool resident = part_cut_prefix(&key, "drm-resident-");
	bool shared = !resident && part_cut_prefix(&key, "drm-shared-");
	struct gpu_part *p;
	uint64_t bytes;
	uint32_t bit;

	if (!resident && !shared && !part_cut_prefix(&key, "drm-memory-"))
		return;
	p = parse_amount(value, &bytes) ? find_region(r, key) : NULL;
	if (!p)
		return;
	bit = UINT32_C(1) << (p - r->part);
	if (shared && !p->shared_known) {
		p->shared = bytes;
		p->shared_known = true;
	} else if (!shared && (!p->resident_known || (resident && !(r->resident & bit)))) {
		p->resident = bytes;
		p->resident_known = true;
	}
	r->resident |= resident ? bit : 0;
}

/* What all parts of a file have in common. */
static void set_name(struct gpu_part *file, struct text_part key, struct text_part value)
{
	const bool buffer = file->kind == GPU_DMABUF;

	if (part_is(key, buffer ? "exp_name" : "drm-driver") && !*file->driver)
		copy_name(value, file->driver);
	else if (!buffer && part_is(key, "drm-pdev") && !*file->device)
		copy_name(value, file->device);
	else if (part_is(key, buffer ? "ino" : "drm-client-id") && !file->has_id)
		file->has_id = parse_u64(value.s, value.len, UINT64_MAX, &file->id) == 0;
	else if (buffer && part_is(key, "size") && !file->resident_known)
		file->resident_known = parse_amount(value, &file->resident);
}

/* A region of which only the shared part is known has no size. */
static size_t finish(const struct gpu_part *file, struct regions *r)
{
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++) {
		struct gpu_part p = *file;

		if (!r->part[i].resident_known)
			continue;
		p.resident = r->part[i].resident;
		p.resident_known = true;
		p.shared = r->part[i].shared;
		p.shared_known = r->part[i].shared_known;
		memcpy(p.region, r->part[i].region, sizeof(p.region));
		r->part[count++] = p;
	}
	if (!count)
		r->part[count++] = *file;
	return count;
}

size_t drm_parse(enum gpu_kind kind, const char *text, size_t len, struct gpu_part ret[DRM_REGIONS])
{
	struct gpu_part file = {.kind = kind};
	struct regions regions = {.part = ret};
	const char *pos = text;
	struct keyed_line line;

	while (keyed_next(&pos, text + len, &line)) {
		struct text_part value = trimmed(&line);

		if (!line.whole)
			continue;
		set_name(&file, line.key, value);
		if (kind == GPU_CLIENT)
			set_size(&regions, line.key, value);
	}
	return finish(&file, &regions);
}

/* ---- the files of a process ---- */

void drm_drivers_parse(const char *text, size_t len, struct drm_drivers *ret)
{
	static const char *const buffers[] = {"dma_heap", "video4linux", "udmabuf"};
	struct text_part rest = {text, len}, line;

	while (line_next(&rest, &line)) {
		const char *blank = memrchr(line.s, ' ', line.len);
		struct text_part name =
			blank ? part_behind(line, (size_t)(blank - line.s) + 1) : line;

		ret->gpus |= part_is(name, "drm") || part_is(name, "accel");
		ret->nvidia |= part_begins(name, NVIDIA);
		for (size_t i = 0; i < ARRAY_SIZE(buffers); i++)
			ret->buffers |= part_is(name, buffers[i]);
	}
}

static bool is_gpu_file(const char *link, size_t len, enum gpu_kind *ret)
{
	const struct text_part target = {link, len};

	*ret = part_begins(target, "/dmabuf:") ? GPU_DMABUF : GPU_CLIENT;
	return *ret == GPU_DMABUF || part_begins(target, "/dev/dri/") ||
	       part_begins(target, "/dev/accel/") || part_begins(target, NVIDIA_DEVICES);
}

bool drm_is_nvidia(const struct gpu_part *p)
{
	return p->kind == GPU_CLIENT && !p->resident_known &&
	       strncmp(p->driver, NVIDIA, strlen(NVIDIA)) == 0;
}

/*
 * Names the driver of a file that does not tell, as nvidia-drm and those of virtual GPUs. The file
 * may be of any file system, even one that never answers: it is not asked for its attributes.
 */
static void find_driver(int dir_fd, const char *name, const char *link, char ret[GPU_NAME])
{
	char path[64], driver[PATH_MAX];
	struct statx st;
	ssize_t len;

	/* These have no place in /sys. */
	if (strncmp(link, NVIDIA_DEVICES, strlen(NVIDIA_DEVICES)) == 0) {
		memcpy(ret, NVIDIA, sizeof(NVIDIA));
		return;
	}
	if (statx(dir_fd, name, AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0 || !S_ISCHR(st.stx_mode))
		return;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/driver", st.stx_rdev_major,
		 st.stx_rdev_minor);
	len = readlink(path, driver, sizeof(driver));
	if (len > 0)
		copy_name(part_base((struct text_part){driver, (size_t)len}), ret);
}

static int add_file(int info_fd, const char *name, enum gpu_kind kind, struct drm_files *ret)
{
	struct gpu_part part[DRM_REGIONS];
	char text[8192];
	ssize_t len = file_read(info_fd, name, text, sizeof(text));
	size_t count;

	/* The descriptor was closed meanwhile. */
	if (len == -ENOENT)
		return 0;
	if (len < 0)
		return (int)len;
	count = drm_parse(kind, text, (size_t)len, part);
	for (size_t i = 0; i < count; i++) {
		if (!array_room(&ret->part, ret->count, &ret->capacity, 16))
			return -ENOMEM;
		ret->part[ret->count++] = part[i];
	}
	return 0;
}

int drm_files_read(int pid_fd, struct drm_files *ret)
{
	cleanup_close int info_fd = openat(pid_fd, "fdinfo", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = openat(pid_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0, files = 0;
	cleanup_closedir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir || info_fd < 0) {
		r = -errno;
		if (!dir && fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (errno = 0, entry = readdir(dir))) {
		char link[64];
		struct gpu_part *last;
		enum gpu_kind kind;
		ssize_t len;

		if (!is_digit(*entry->d_name))
			continue;
		len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		link[len > 0 ? len : 0] = '\0';
		if (len <= 0 || !is_gpu_file(link, (size_t)len, &kind))
			continue;
		r = ++files > DRM_FILES_MAX ? -E2BIG : add_file(info_fd, entry->d_name, kind, ret);
		last = ret->count ? &ret->part[ret->count - 1] : NULL;
		if (r == 0 && last && kind == GPU_CLIENT && !*last->driver && !last->resident_known)
			find_driver(dirfd(dir), entry->d_name, link, last->driver);
	}
	gpu_divide(ret->part, &ret->count);
	return r < 0 ? r : -errno;
}
