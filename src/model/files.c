// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Stores cached files, and names their kinds and columns. */
#include "model/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"

const char *file_kind_name(enum file_kind kind)
{
	static const char *const name[FILE_KINDS] = {
		[FILE_TMPFS] = "tmpfs", [FILE_MEMFD] = "memfd",
		[FILE_SYSV] = "sysv",	[FILE_SHARED_ANON] = "shared_anon",
		[FILE_DRM] = "drm",	[FILE_REGULAR] = "file",
		[FILE_BLOCK] = "block", [FILE_HUGETLB] = "hugetlb",
		[FILE_OTHER] = "other",
	};

	return name[kind];
}

const char *file_unlisted_name(enum file_unlisted kind)
{
	static const char *const name[FILE_UNLISTED] = {
		[FILE_UNLISTED_AIO] = "aio",
		[FILE_UNLISTED_SECRETMEM] = "secretmem",
		[FILE_UNLISTED_GUEST_MEMFD] = "guest_memfd",
	};

	return name[kind];
}

bool file_kind_is_shmem(enum file_kind kind)
{
	return kind < FILE_REGULAR || kind == FILE_OTHER;
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

struct file_sums file_sums_of(const struct cached_file *f)
{
	return (struct file_sums){
		.files = f->files,
		.resident = f->resident,
		.swapped = f->swapped,
		.size = f->size,
		.swap_ram = f->swap_ram,
		.swap_ram_unknown = f->swap_ram_unknown,
		.size_unknown = f->size_unknown,
	};
}

void file_sums_add(struct file_sums *sum, const struct cached_file *f)
{
	sum->files += f->files;
	sum->resident += f->resident;
	sum->swapped += f->swapped;
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

const char *file_state(const struct cached_file *f, char buf[FILE_STATE_MAX])
{
	static const char *const word[] = {"mapped", "dirty", "deleted", "hidden"};
	const bool set[] = {f->mapped, f->dirty, f->deleted, f->hidden};
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(word); i++) {
		if (set[i])
			len += (size_t)snprintf(buf + len, FILE_STATE_MAX - len, "%s%s",
						len ? "," : "", word[i]);
	}
	return buf;
}

const char *file_group_name(enum file_group group)
{
	static const char *const name[FILE_GROUPS] = {[FILE_GROUP_FS] = "fs",
						      [FILE_GROUP_MOUNT] = "mount",
						      [FILE_GROUP_KIND] = "kind",
						      [FILE_GROUP_DIR] = "dir"};

	return name[group];
}

/* ---- columns ---- */

static const struct {
	const char *header, *help;
} columns[FILE_COLUMNS] = {
	[FILE_COLUMN_FILES] = {"FILES", "with --group-by: the number of files"},
	[FILE_COLUMN_RESIDENT] = {"RESIDENT", "bytes in RAM"},
	[FILE_COLUMN_SWAPPED] = {"SWAPPED", "bytes in swap, of shared memory and tmpfs"},
	[FILE_COLUMN_SWAP_RAM] = {"SWAP_RAM",
				  "RAM that its pages in swap take, compressed, in zram and zswap"},
	[FILE_COLUMN_SIZE] = {"SIZE", "the size of the file, which may have holes"},
	[FILE_COLUMN_KIND] = {"KIND", "tmpfs, memfd, sysv, shared_anon, drm, file, block, hugetlb "
				      "or other"},
	[FILE_COLUMN_FS] = {"FS", "the type of the file system"},
	[FILE_COLUMN_STATE] = {"STATE", "mapped by a process, dirty, deleted, hidden by a mount"},
	[FILE_COLUMN_HOLDERS] = {"HOLDERS", "processes that have it open or map it"},
	[FILE_COLUMN_NAME] = {"NAME", "the path, or the name that its creator gave"},
};

const char *file_column_header(int column)
{
	return columns[column].header;
}

const char *file_column_help(int column)
{
	return columns[column].help;
}

static bool is_column_of(int column, bool groups)
{
	bool each = column == FILE_COLUMN_KIND || column == FILE_COLUMN_FS ||
		    column == FILE_COLUMN_STATE || column == FILE_COLUMN_HOLDERS;

	return groups ? !each : column != FILE_COLUMN_FILES;
}

bool file_column_sorts(int column, bool groups)
{
	return is_column_of(column, groups) && column != FILE_COLUMN_HOLDERS;
}

static int find_column(const char *s, size_t len, bool groups)
{
	for (int i = 0; i < FILE_COLUMNS; i++) {
		if (is_column_of(i, groups) && parse_same_word(columns[i].header, s, len))
			return i;
	}
	return -1;
}

int file_keys_parse(struct file_keys *keys, const char *spec, bool groups, const char **ret_bad,
		    size_t *ret_bad_len)
{
	struct file_keys read = {.count = 0};
	const char *item, *pos = spec;
	size_t len;

	while ((item = parse_item(&pos, &len))) {
		int column = find_column(item, len, groups);

		if (column < 0 || !file_column_sorts(column, groups) ||
		    read.count == FILE_COLUMNS) {
			*ret_bad = item;
			*ret_bad_len = len;
			return -EINVAL;
		}
		read.column[read.count++] = column;
	}
	if (!read.count) {
		*ret_bad = spec;
		*ret_bad_len = strlen(spec);
		return -EINVAL;
	}
	*keys = read;
	return 0;
}

bool file_columns_have(const struct file_columns *c, int column)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->column[i] == column)
			return true;
	}
	return false;
}

void file_columns_default(struct file_columns *c, bool groups)
{
	*c = (struct file_columns){};
	for (int i = 0; i < FILE_COLUMNS; i++) {
		if (is_column_of(i, groups) && i != FILE_COLUMN_HOLDERS &&
		    i != FILE_COLUMN_SWAP_RAM)
			c->column[c->count++] = i;
	}
}

/* Inserts a column before the last one. */
static void add_column(struct file_columns *c, int column)
{
	c->column[c->count] = c->column[c->count - 1];
	c->column[c->count - 1] = column;
	c->count++;
}

int file_columns_parse(struct file_columns *c, const char *spec, bool groups, const char **ret_bad,
		       size_t *ret_bad_len)
{
	bool adds = *spec == '+';
	struct file_columns read = {.chosen = !adds};
	const char *item, *pos = spec + adds;
	size_t len, named = 0;

	if (adds)
		file_columns_default(&read, groups);
	while ((item = parse_item(&pos, &len))) {
		int column = find_column(item, len, groups);

		if (column < 0) {
			*ret_bad = item;
			*ret_bad_len = len;
			return -EINVAL;
		}
		named++;
		if (file_columns_have(&read, column))
			continue;
		if (adds)
			add_column(&read, column);
		else
			read.column[read.count++] = column;
	}
	if (!named) {
		*ret_bad = spec;
		*ret_bad_len = strlen(spec);
		return -EINVAL;
	}
	*c = read;
	return 0;
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
