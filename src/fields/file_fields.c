// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fields of cached files and of sums of them. */
#include "fields/file_fields.h"

#include <stdio.h>
#include <string.h>

#include "fields/define.h"

#define LONG_TEXT(flags_)                                                                          \
	.max = {4096, 512}, .max_hex = {4096, 200},                                                \
	.flags = FIELD_HEX | FIELD_CUT_TRUE | FIELD_CUT_LAST | (flags_)

/* The amounts of the file or sum `s`; `p` begins the names of their fields. */
#define AMOUNTS(p)                                                                                 \
	COLUMN(p##_files, "files", "FILES", AMOUNT, value_signed(true, s->files),                  \
	       "with --group-by: the number of files", .flags = FIELD_SUMS | FIELD_KNOWN);         \
	COLUMN_AS(p##_resident, "resident", "resident_bytes", "RESIDENT", BYTES,                   \
		  value_bytes(true, s->resident), "bytes in RAM",                                  \
		  .flags = FIELD_SUMS | FIELD_KNOWN);                                              \
	COLUMN_AS(p##_swapped, "swapped", "swapped_bytes", "SWAPPED", BYTES,                       \
		  value_bytes(true, s->swapped), "bytes in swap, of shared memory and tmpfs",      \
		  .flags = FIELD_SUMS | FIELD_KNOWN);                                              \
	COLUMN_AS(p##_swap_ram, "swap_ram", "swap_ram_bytes", "SWAP_RAM", BYTES,                   \
		  value_bytes(!s->swap_ram_unknown, s->swap_ram),                                  \
		  "RAM that its pages in swap take, compressed, in zram and zswap",                \
		  .flags = FIELD_SUMS | FIELD_ASKED);                                              \
	COLUMN_AS(p##_size, "size", "size_bytes", "SIZE", BYTES,                                   \
		  value_bytes(!s->size_unknown, s->size),                                          \
		  "the size of the file, which may have holes", .flags = FIELD_SUMS)
#define SIZES(p)                                                                                   \
	&field_##p##_resident, &field_##p##_swapped, &field_##p##_swap_ram, &field_##p##_size

/* ---- rows ---- */

#define FILE_ROW                                                                                   \
	const struct cached_file *r = *(const struct cached_file *const *)row, *s = r;             \
	struct file_texts *texts = (void *)of;                                                     \
	(void)s, (void)texts
#define ROW FILE_ROW

AMOUNTS(row);

/* What rows are sorted by, in place of the words that are shown. */
JSON_KNOWN(kind_order, "kind", NUMBER, value_signed(true, r->kind), "the kind of the file");
JSON_KNOWN(state_order, "state", AMOUNT,
	   value_signed(true,
			r->mapped * 8 + r->dirty * 4 + (r->deleted || r->dest) * 2 + r->hidden),
	   "its state");

COLUMN(kind, "kind", "KIND", TEXT, value_text(file_kind_name(r->kind)),
       "tmpfs, memfd, sysv, shared_anon, drm, file, block, hugetlb, ramfs or other",
       .flags = FIELD_KNOWN, .order = &field_kind_order);
COLUMN(fs, "fs", "FS", TEXT, value_text(r->fs), "the type of the file system",
       .flags = FIELD_KNOWN);
COLUMN(state, "state", "STATE", TEXT, value_text(file_state(r, texts->state)),
       "mapped by a process, dirty, deleted, dest (a removed segment), unevictable, hidden by a mount",
       .order = &field_state_order);
COLUMN(holders, "holders", "HOLDERS", NUMBERS,
       value_rows(r->holders_known && (r->holder_count || !r->holders_hidden), r->holder,
		  r->holder_count),
       "processes that have it open or map it", .flags = FIELD_EXTRA, .max = {0, 64},
       .row_size = sizeof(struct file_holder));
COLUMN(charged, "cgroup", "CGROUP", TEXT, value_text(r->charged),
       "the memory cgroup that its pages in RAM are charged to; of several each with its size",
       .flags = FIELD_EXTRA | FIELD_HEX);
COLUMN(label, "name", "NAME", TEXT, value_text(file_label(r, texts->label)),
       "the path, or the name that its creator gave");

FIELDS(file_fields, &field_row_files, SIZES(row), &field_kind, &field_fs, &field_state,
       &field_holders, &field_charged, &field_label);
static FIELDS(columns, SIZES(row), &field_kind, &field_fs, &field_state, &field_holders,
	      &field_charged, &field_label);
static FIELDS(group_columns, &field_row_files, SIZES(row), &field_label);

const struct fields *file_columns(bool groups)
{
	return groups ? &group_columns : &columns;
}

void file_list_usual(struct field_list *list, bool groups)
{
	const struct fields *all = file_columns(groups);

	*list = (struct field_list){};
	for (size_t i = 0; i < all->count; i++) {
		if (!(all->item[i]->flags & (FIELD_ASKED | FIELD_EXTRA)))
			list->item[list->count++] = all->item[i];
	}
}

const struct field *file_field(const char *key)
{
	return fields_find(&file_fields, key, strlen(key));
}

/* ---- rows in JSON ---- */

static const char *device_of(const struct cached_file *r, struct file_texts *texts)
{
	snprintf(texts->device, sizeof(texts->device), "%u:%u", FILE_MAJOR(r->device),
		 FILE_MINOR(r->device));
	return texts->device;
}

JSON_FIELD(name, "name", TEXT, value_text(r->name),
	   "without directories. Null: the kernel holds no name", LONG_TEXT(0));
JSON_KNOWN(device, "device", TEXT, value_text(device_of(r, texts)),
	   "of the file system; of kind block, the block device");
JSON_FIELD(inode, "inode", NUMBER, value_signed(true, (int64_t)r->inode),
	   "the number of the inode");
JSON_KNOWN(mapped, "mapped", BOOL, value_bool(true, r->mapped), "true if a process maps it");
JSON_FIELD(dirty, "dirty", BOOL, value_bool(file_is_written(r), r->dirty),
	   "true if a page waits to be written. Null for shared memory, hugetlbfs and ramfs, "
	   "which are written nowhere");
JSON_KNOWN(deleted, "deleted", BOOL, value_bool(true, r->deleted),
	   "true if no directory has it any more");
static const char *ipc_key_of(const struct cached_file *r, struct file_texts *texts)
{
	/* "SYSV%08x" (newseg(), ipc/shm.c) */
	if (!r->segment || strlen(r->name) < 4)
		return NULL;
	snprintf(texts->key, sizeof(texts->key), "0x%s", r->name + 4);
	return texts->key;
}

JSON_FIELD(shmid, "shmid", NUMBER, value_unsigned(r->segment, r->inode),
	   "of a segment of shmget: its number in its IPC namespace");
JSON_FIELD(ipc_key, "key", TEXT, value_text(ipc_key_of(r, texts)),
	   "of a segment: the key it was made with, hexadecimal");
JSON_FIELD(dest, "dest", BOOL, value_bool(r->segment, r->dest),
	   "true of a segment that was removed (IPC_RMID) and is still attached");
JSON_KNOWN(unevictable, "unevictable", BOOL, value_bool(true, r->unevictable),
	   "true if the kernel cannot free or swap its pages: ramfs");
JSON_KNOWN(
	hidden, "hidden", BOOL, value_bool(true, r->hidden),
	"true if its path leads elsewhere, because something else is mounted on a directory of it");
JSON_FIELD(path, "path", TEXT,
	   ((struct value){.known = r->path, .text = r->path, .cut = r->path_cut}),
	   "below mount; if mount is null, inside the file system. Null if no directory has it",
	   LONG_TEXT(0));
JSON_FIELD(mount, "mount", TEXT, value_text(r->mount),
	   "the mount point in the mount namespace of the reader", LONG_TEXT(0));
JSON_FIELD(holders_count, "holders_count", AMOUNT,
	   value_signed(r->holders_known && !r->holders_hidden, r->holder_count),
	   "their number. Null if holders_status is not ok");
JSON_KNOWN(
	holders_status, "holders_status", TEXT, value_text(file_holders_status(r)),
	"hidden: a process that is not seen maps the file as well, one of another pid namespace. "
	"mappings: more than 65,536 mappings have the file, so its holders were not read");
JSON_FIELD(group, "group", TEXT, value_text(r->name), "what its files have in common",
	   LONG_TEXT(FIELD_KNOWN));

#undef ROW
#define ROW const struct file_charge *r = row
JSON_FIELD(
	charge_cgroup, "cgroup", TEXT, value_text(r->cgroup),
	"its path from the root of the hierarchy. Null: no cgroup is charged, or its path is not "
	"known",
	LONG_TEXT(0));
JSON_KNOWN(charge_bytes, "bytes", BYTES, value_bytes(true, r->bytes),
	   "of the file, in RAM, that it is charged for");
JSON_KNOWN(charge_deleted, "deleted", BOOL, value_bool(true, r->deleted),
	   "true if its directory was removed");
static FIELDS(charge, &field_charge_cgroup, &field_charge_bytes, &field_charge_deleted);
#undef ROW
#define ROW FILE_ROW

ROWS(charges, "cgroups", &charge, struct file_charge, r->charges_known, r->charge, r->charge_count,
     "the memory cgroups that its pages in RAM are charged to, largest first. Null: not read, of "
     "more than 4,096 files; in NDJSON also if the line would be too long",
     0);

#define KEYS                                                                                       \
	&field_name, &field_fs, &field_kind, &field_device, &field_inode, SIZES(row),              \
		&field_mapped, &field_dirty, &field_deleted, &field_dest, &field_unevictable,      \
		&field_hidden, &field_shmid, &field_ipc_key, &field_path, &field_mount
static FIELDS(files, KEYS);
FIELDS(file_held_fields, KEYS, &field_holders, &field_holders_count, &field_holders_status);
static FIELDS(charged, KEYS, &field_charged, &field_charges);
static FIELDS(charged_held, KEYS, &field_charged, &field_charges, &field_holders,
	      &field_holders_count, &field_holders_status);
static FIELDS(groups, &field_group, &field_row_files, SIZES(row));

const struct fields *file_row_fields(const struct files_report *r)
{
	if (r->group)
		return &groups;
	if (r->cgroups)
		return r->holders ? &charged_held : &charged;
	return r->holders ? &file_held_fields : &files;
}

/* ---- the document ---- */

#undef ROW
#define ROW                                                                                        \
	const struct files_report *r = row;                                                        \
	const struct cached_file *s = &r->total;                                                   \
	(void)s

AMOUNTS(total);

static struct value kernel_sum(const struct files_report *r, enum file_account account)
{
	uint64_t bytes = 0;
	bool known = files_kernel_sum(&r->snapshot->system.meminfo, account, &bytes);

	return value_bytes(known, bytes);
}

#define LISTED(name, json, in, amount, help)                                                       \
	JSON_KNOWN(name, json, BYTES, value_bytes(true, r->account[FILE_IN_##in].amount), help)
JSON_FIELD(shmem, "shmem_bytes", BYTES, kernel_sum(r, FILE_IN_SHMEM), "Shmem of /proc/meminfo");
LISTED(shmem_listed, "shmem_listed_bytes", SHMEM, resident,
       "what files of shared memory and tmpfs add up to");
LISTED(shmem_swapped, "shmem_swapped_bytes", SHMEM, swapped, "what they have in swap");
JSON_FIELD(cache, "cache_bytes", BYTES, kernel_sum(r, FILE_IN_CACHE),
	   "Cached + Buffers - Shmem of /proc/meminfo");
LISTED(cache_listed, "cache_listed_bytes", CACHE, resident,
       "what all other files add up to, but those of hugetlbfs");
LISTED(cache_unevictable, "cache_unevictable_bytes", CACHE, unevictable,
       "of these, what the kernel cannot free: files of ramfs");
JSON_FIELD(
	hugetlb, "hugetlb_pool_bytes", BYTES, kernel_sum(r, FILE_IN_HUGETLB),
	"Hugetlb of /proc/meminfo: all huge pages, free ones and those of private mappings included");
LISTED(hugetlb_listed, "hugetlb_listed_bytes", HUGETLB, resident,
       "files of hugetlbfs, also memfds and segments of huge pages");
static FIELDS(totals, &field_total_files, SIZES(total), &field_shmem, &field_shmem_listed,
	      &field_shmem_swapped, &field_cache, &field_cache_listed, &field_cache_unevictable,
	      &field_hugetlb, &field_hugetlb_listed);

JSON_FIELD(complete, "complete", BOOL, value_bool(r->unsure || !r->unlisted, !r->unsure),
	   "false if unsure is not 0. Null if it is 0 and not_listed is not empty");
JSON_KNOWN(systems, "file_systems", AMOUNT, value_signed(true, r->systems), "that were visited");
JSON_KNOWN(
	unsure, "unsure", AMOUNT, value_signed(true, r->unsure),
	"file systems with a list of files that changed each time it was read: some of their files are "
	"missing");
JSON_KNOWN(unlisted, "not_listed", WORDS, value_signed(true, r->unlisted),
	   "kinds of files that are on no list of the kernel, and that this machine may have",
	   .words = file_unlisted_words);
static FIELDS(collection, &field_complete, &field_systems, &field_unsure, &field_unlisted);

OBJECT(collection, "collection", &collection, r, "what was read");
OBJECT(totals, "totals", &totals, r,
       "the first five are sums over the rows that pass the filters, shown or not. The others are of "
       "the whole machine");
FIELDS(file_measured, &field_collection, &field_totals);

#define ITEMS(name, key, help)                                                                     \
	ROWS(rows_##name, key, &name, const struct cached_file *, true, r->rows, r->row_count,     \
	     help, FIELD_KNOWN | FIELD_LINES | FIELD_END_LINE)
JSON_KNOWN(group_by, "group_by", TEXT, value_text(r->group), "what the files of a group share");
ITEMS(files, "files", "the files");
ITEMS(file_held_fields, "files", "the files, and the processes that hold them");
ITEMS(charged, "files", "the files, and the cgroups that they are charged to");
ITEMS(charged_held, "files", "the files, their cgroups and the processes that hold them");
ITEMS(groups, "groups", "with -g: the groups");
static FIELDS(of_files, &field_collection, &field_totals, &field_rows_files);
static FIELDS(of_held, &field_collection, &field_totals, &field_rows_file_held_fields);
static FIELDS(of_charged, &field_collection, &field_totals, &field_rows_charged);
static FIELDS(of_charged_held, &field_collection, &field_totals, &field_rows_charged_held);
static FIELDS(of_groups, &field_collection, &field_totals, &field_group_by, &field_rows_groups);

const struct fields *file_document(const struct files_report *r)
{
	if (r->group)
		return &of_groups;
	if (r->cgroups)
		return r->holders ? &of_charged_held : &of_charged;
	return r->holders ? &of_held : &of_files;
}

/* ---- CSV ---- */

static FIELDS(sums, &field_total_files, SIZES(total));

void file_list_csv(struct field_list *list, const struct files_report *r, bool total)
{
	const struct fields *all = total ? &sums : file_row_fields(r);

	*list = (struct field_list){};
	for (size_t i = 0; i < all->count; i++) {
		/* A text has the cgroups, and CSV lists the holders themselves. */
		if (all->item[i] != &field_charges && all->item[i] != &field_holders_count)
			list->item[list->count++] = all->item[i];
	}
}
