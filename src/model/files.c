// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Stores and sums cached files, and names their kinds and states. */
#include "model/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const char *file_kind_name(enum file_kind kind)
{
	static const char *const name[FILE_KINDS] = {
		[FILE_TMPFS] = "tmpfs",
		[FILE_MEMFD] = "memfd",
		[FILE_SYSV] = "sysv",
		[FILE_SHARED_ANON] = "shared_anon",
		[FILE_DRM] = "drm",
		[FILE_REGULAR] = "file",
		[FILE_BLOCK] = "block",
		[FILE_HUGETLB] = "hugetlb",
		[FILE_OTHER] = "other",
		[FILE_RAMFS] = "ramfs",
		[FILE_SECRETMEM] = "secretmem",
	};

	return name[kind];
}

const char *const file_unlisted_words[] = {
	[FILE_UNLISTED_AIO] = "aio",
	[FILE_UNLISTED_SECRETMEM] = "secretmem",
	[FILE_UNLISTED_GUEST_MEMFD] = "guest_memfd",
	[FILE_UNLISTED] = NULL,
};

bool file_kind_is_shmem(enum file_kind kind)
{
	return kind < FILE_REGULAR || kind == FILE_OTHER;
}

bool file_kind_is_unevictable(enum file_kind kind)
{
	return kind == FILE_RAMFS || kind == FILE_SECRETMEM;
}

bool file_is_written(const struct cached_file *f)
{
	return f->account == FILE_IN_CACHE && !file_kind_is_unevictable(f->kind);
}

void file_set_done(struct file_set *s)
{
	free(s->file);
	arena_done(&s->arena);
	*s = (struct file_set){};
}

void file_set_clear(struct file_set *s)
{
	s->count = 0;
	s->systems = s->unsure = s->unlisted = 0;
	arena_clear(&s->arena);
}

struct cached_file *file_set_add(struct file_set *s)
{
	struct cached_file *file = grow_items(s->file, s->count, &s->capacity, 1024, sizeof(*file));

	if (!file)
		return NULL;
	s->file = file;
	file += s->count++;
	*file = (struct cached_file){};
	return file;
}

void file_add(struct cached_file *sum, const struct cached_file *f)
{
	sum->files += f->files;
	sum->resident += f->resident;
	sum->swapped += f->swapped;
	sum->unevictable += f->unevictable;
	sum->swap_ram += f->swap_ram;
	sum->swap_ram_unknown |= f->swap_ram_unknown;
	if (f->size_unknown && !f->size) {
		/* Nothing has a size so far. */
		sum->size_unknown |= !sum->size;
		return;
	}
	sum->size = f->size < FILE_SIZE_MAX - sum->size ? sum->size + f->size : FILE_SIZE_MAX;
	sum->size_unknown = sum->size == FILE_SIZE_MAX;
}

const char *file_label(const struct cached_file *f, char buf[FILE_LABEL_MAX])
{
	if (f->label || f->path)
		return f->label ? f->label : f->path;
	if (f->name && f->segment && strlen(f->name) < FILE_LABEL_MAX / 2) {
		snprintf(buf, FILE_LABEL_MAX, "%s shmid %" PRIu64, f->name, f->inode);
		return buf;
	}
	if (f->name)
		return f->name;
	snprintf(buf, FILE_LABEL_MAX, "inode %" PRIu64, f->inode);
	return buf;
}

const char *file_state(const struct cached_file *f, char buf[FILE_STATE_MAX])
{
	static const char *const word[] = {"mapped", "dirty",	    "deleted",
					   "dest",   "unevictable", "hidden"};
	const bool set[] = {f->mapped, f->dirty, f->deleted, f->dest, f->unevictable, f->hidden};
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(word); i++) {
		if (set[i])
			len += (size_t)snprintf(buf + len, FILE_STATE_MAX - len, "%s%s",
						len ? "," : "", word[i]);
	}
	return buf;
}

const char *file_holders_status(const struct cached_file *f)
{
	return !f->holders_known ? "mappings" : f->holders_hidden ? "hidden" : "ok";
}

const char *file_group_name(enum file_group group)
{
	static const char *const name[FILE_GROUPS] = {[FILE_GROUP_FS] = "fs",
						      [FILE_GROUP_MOUNT] = "mount",
						      [FILE_GROUP_KIND] = "kind",
						      [FILE_GROUP_DIR] = "dir"};

	return name[group];
}

/* ---- accounts ---- */

/* The kernel does not read the three at one moment. */
static bool kernel_cache(const struct meminfo *m, uint64_t *ret)
{
	uint64_t all = m->value[MEMINFO_CACHED] + m->value[MEMINFO_BUFFERS];

	if (!meminfo_has(m, MEMINFO_CACHED) || !meminfo_has(m, MEMINFO_BUFFERS) ||
	    !meminfo_has(m, MEMINFO_SHMEM) || all < m->value[MEMINFO_SHMEM])
		return false;
	*ret = all - m->value[MEMINFO_SHMEM];
	return true;
}

bool files_kernel_sum(const struct meminfo *m, enum file_account account, uint64_t *ret)
{
	enum meminfo_counter c = account == FILE_IN_SHMEM ? MEMINFO_SHMEM : MEMINFO_HUGETLB;

	if (account == FILE_IN_CACHE)
		return kernel_cache(m, ret);
	if (!meminfo_has(m, c))
		return false;
	*ret = m->value[c];
	return true;
}
