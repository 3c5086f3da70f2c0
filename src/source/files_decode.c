// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Records of inodes as cached files: what kind each is, its path, and where we can see it. */
#include "source/files_decode.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/parse.h"

#define BLOCK_SIZE 512 /* of i_blocks */

/* How the kernel names files without a directory (mm/memfd.c, ipc/shm.c, mm/shmem.c, drm). */
static enum file_kind kind_of_name(const char *name)
{
	static const struct {
		const char *begin;
		enum file_kind kind;
	} names[] = {
		{"memfd:", FILE_MEMFD},	     {"SYSV", FILE_SYSV}, {"dev/zero", FILE_SHARED_ANON},
		{"drm mm object", FILE_DRM}, {"i915", FILE_DRM},
	};

	for (size_t i = 0; name && i < ARRAY_SIZE(names); i++) {
		if (strncmp(name, names[i].begin, strlen(names[i].begin)) == 0)
			return names[i].kind;
	}
	return FILE_OTHER;
}

/* ---- names ---- */

/* The number of names in the text, which must all be terminated but the last one. */
static size_t split_names(const struct zmem_file *f, struct text_part *part, size_t max)
{
	struct text_part rest = {f->text, f->text_len};
	size_t count = 0;

	while (rest.len && count < max)
		part[count++] = part_split(&rest, '\0');
	return count;
}

/* "/dir/name" of "name", "dir". NULL without memory. */
static char *join_names(struct arena *arena, const struct text_part *part, size_t count)
{
	size_t len = 0, at = 0;
	char *path;

	for (size_t i = 0; i < count; i++)
		len += part[i].len + 1;
	path = arena_alloc(arena, len + 2);
	if (!path)
		return NULL;
	for (size_t i = count; i-- > 0;) {
		/* The root of a file system is "/". */
		if (count == 1 && part_is(part[i], "/"))
			break;
		path[at++] = '/';
		memcpy(path + at, part[i].s, part[i].len);
		at += part[i].len;
	}
	if (!at)
		path[at++] = '/';
	path[at] = '\0';
	return path;
}

/* "/mnt" and "/dir/name", "/" and "/dir/name", "/mnt" and "/". */
static char *join_mount(struct arena *arena, const struct mount *mount, const char *path)
{
	const char *below = mount_below(mount, path);

	if (strcmp(below, "/") == 0)
		return arena_join(arena, mount->point, "", "");
	return arena_join(arena, strcmp(mount->point, "/") == 0 ? "" : mount->point, below, "");
}

static int set_path(struct files_decoder *d, struct cached_file *file, const struct text_part *part,
		    size_t count)
{
	const struct mount *mount;

	file->path = join_names(&d->set->arena, part, count);
	if (!file->path)
		return -ENOMEM;
	/* Where a path begins is unknown if its beginning is missing. */
	mount = file->path_cut ? NULL
			       : mounts_find(d->mounts, file->device, file->path, &file->hidden);
	/* A path that does not begin at our root: "…/dir/name" and "tmpfs:/dir/name". */
	if (!mount) {
		file->label = file->path_cut
				      ? arena_join(&d->set->arena, "\xe2\x80\xa6", file->path, "")
				      : arena_join(&d->set->arena, file->fs, ":", file->path);
		return file->label ? 0 : -ENOMEM;
	}
	file->mount = mount->point;
	file->path = join_mount(&d->set->arena, mount, file->path);
	return file->path ? 0 : -ENOMEM;
}

/* ---- records ---- */

/*
 * A memfd or a segment of huge pages: it has no directory. The root of a file system has none
 * either, and files of the kernel's mount of shared memory are known by that.
 */
static bool is_alone(const struct zmem_file *f)
{
	return (f->flags & ZMEM_FILE_HUGETLB) && (f->flags & ZMEM_FILE_ALONE) && S_ISREG(f->mode);
}

/* A root file system is a ramfs if it is no tmpfs, of which all files are shared memory. */
static bool is_ramfs(const char *fs)
{
	return strcmp(fs, "ramfs") == 0 || strcmp(fs, "rootfs") == 0;
}

static void set_kind(struct cached_file *file, const struct zmem_file *f, bool kernel_mount)
{
	bool shmem = file->account == FILE_IN_SHMEM, nameless = kernel_mount || !f->links;

	file->kind = FILE_OTHER;
	if (shmem && nameless)
		file->kind = kind_of_name(file->name);
	/* Only the kernel gives these names there; on another tmpfs a user does. */
	if (!kernel_mount && file->kind != FILE_DRM)
		file->kind = FILE_OTHER;
	if (shmem && !kernel_mount && file->kind == FILE_OTHER)
		file->kind = FILE_TMPFS;
	if (file->account == FILE_IN_CACHE && S_ISREG(f->mode))
		file->kind = is_ramfs(file->fs) ? FILE_RAMFS : FILE_REGULAR;
	if (S_ISBLK(f->mode) && strcmp(file->fs, "bdev") == 0)
		file->kind = FILE_BLOCK;
	if (file->account == FILE_IN_HUGETLB)
		file->kind = FILE_HUGETLB;
	file->segment =
		file->kind == FILE_SYSV || (is_alone(f) && kind_of_name(file->name) == FILE_SYSV);
	file->dest = file->segment && f->flags & ZMEM_FILE_DEST;
	/* A ramfs is written nowhere: its pages stay dirty (noop_dirty_folio()). */
	file->dirty &= file_is_written(file);
	file->unevictable = file_kind_is_unevictable(file->kind) ? file->resident : 0;
	file->deleted = !f->links && !is_alone(f) &&
			(file->kind == FILE_TMPFS || file->kind == FILE_REGULAR ||
			 file->kind == FILE_RAMFS || file->kind == FILE_HUGETLB ||
			 (file->kind == FILE_OTHER && !kernel_mount));
}

static int decode_inode(struct files_decoder *d, const struct zmem_file *f)
{
	struct text_part part[ZMEM_FILE_NAMES];
	size_t count = split_names(f, part, ZMEM_FILE_NAMES);
	struct cached_file *file = file_set_add(d->set);
	uint64_t page = f->flags & ZMEM_FILE_HUGETLB ? BLOCK_SIZE : d->page_size;

	if (!file)
		return -ENOMEM;
	/* More than all memory there is: the record is invalid. */
	if (__builtin_mul_overflow(f->pages, page, &file->resident) ||
	    __builtin_mul_overflow(f->swapped, page, &file->swapped))
		return -EPROTO;
	file->swap_ram_unknown = file->swapped != 0;
	file->size_unknown = f->size >= FILE_SIZE_MAX;
	file->size = file->size_unknown ? 0 : f->size;
	file->mapping = f->mapping;
	file->owner = f->owner;
	file->inode = f->inode;
	file->generation = f->generation;
	file->device = f->device;
	file->system = f->system;
	file->files = 1;
	file->fs = d->fs;
	file->account = f->flags & ZMEM_FILE_SHMEM     ? FILE_IN_SHMEM
			: f->flags & ZMEM_FILE_HUGETLB ? FILE_IN_HUGETLB
						       : FILE_IN_CACHE;
	file->mapped = f->flags & ZMEM_FILE_MAPPED;
	file->dirty = file->account == FILE_IN_CACHE && f->flags & ZMEM_FILE_DIRTY;
	file->path_cut = f->flags & ZMEM_FILE_CUT;
	if (count) {
		file->name = arena_strndup(&d->set->arena, part[0].s, part[0].len);
		if (!file->name)
			return -ENOMEM;
	}
	set_kind(file, f, d->kernel_mount);
	if (file->kind == FILE_BLOCK)
		file->device = f->rdev;
	if (!count || d->kernel_mount || is_alone(f) || file->kind == FILE_DRM ||
	    file->kind == FILE_BLOCK)
		return 0;
	return set_path(d, file, part, count);
}

static int begin_system(struct files_decoder *d, const struct zmem_file *f)
{
	const char *fs = arena_strndup(&d->set->arena, f->text, strnlen(f->text, f->text_len));

	if (!fs)
		return -ENOMEM;
	/* Read again: its files so far are void. */
	if (d->fs && d->set->systems == f->system + 1)
		d->set->count = d->first;
	/* Until 6.16 guest_memfd has the super block of all anonymous files. */
	if (strcmp(fs, "anon_inodefs") == 0)
		d->set->unlisted |= 1 << FILE_UNLISTED_GUEST_MEMFD;
	for (int i = 0; i < FILE_UNLISTED; i++)
		d->set->unlisted |= (strcmp(fs, file_unlisted_words[i]) == 0) << i;
	d->set->systems = f->system + 1;
	d->first = d->set->count;
	d->kernel_mount = f->flags & ZMEM_FILE_KERNEL_MOUNT;
	d->fs = fs;
	return 0;
}

int files_decode(struct files_decoder *d, const struct zmem_file *record, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct zmem_file *f = &record[i];
		int r = -EPROTO;

		if (f->text_len > sizeof(f->text))
			return -EPROTO;
		if (f->kind == ZMEM_FILE_SYSTEM)
			r = begin_system(d, f);
		else if (d->fs && f->kind == ZMEM_FILE_INODE)
			r = decode_inode(d, f);
		else if (d->fs && f->kind == ZMEM_FILE_UNSURE)
			r = 0;
		if (r < 0)
			return r;
		d->set->unsure += f->kind == ZMEM_FILE_UNSURE;
	}
	return 0;
}
