// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters, groups and sorts cached files. */
#include "query/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void files_result_done(struct files_result *r)
{
	free(r->row);
	free(r->groups);
}

/* ---- groups ---- */

/* The directory of the path, in the arena; NULL without memory. */
static const char *directory_of(struct file_set *set, const struct cached_file *f)
{
	const char *path = f->label ? f->label : f->path;
	const char *slash = path ? strrchr(path, '/') : NULL;
	size_t len = slash ? (size_t)(slash - path) : 0;

	if (!slash)
		return file_kind_name(f->kind);
	/* The root is a directory with a name: "/", "tmpfs:/". */
	len += !len || path[len - 1] == ':';
	return arena_strndup(&set->arena, path, len);
}

/* The group that the file is in. NULL without memory. The set owns the name. */
static const char *file_group_of(struct file_set *set, const struct cached_file *f,
				 enum file_group group)
{
	switch (group) {
	case FILE_GROUP_FS:
		return f->fs;
	case FILE_GROUP_MOUNT:
		return f->mount ? f->mount : f->path ? "not mounted here" : "no mount";
	case FILE_GROUP_KIND:
		return file_kind_name(f->kind);
	default:
		return directory_of(set, f);
	}
}

static int compare_names(const void *pa, const void *pb)
{
	const struct cached_file *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

/* Makes of `count` files one row a group. Returns their number or -ENOMEM. */
static ssize_t group_files(struct file_set *set, const struct files_query *q,
			   struct files_result *r, size_t count)
{
	size_t groups = 0;

	r->groups = calloc(count ? count : 1, sizeof(*r->groups));
	if (!r->groups)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		r->groups[i] = *r->row[i];
		r->groups[i].name = file_group_of(set, r->row[i], q->group);
		r->groups[i].path = r->groups[i].label = NULL;
		if (!r->groups[i].name)
			return -ENOMEM;
	}
	qsort(r->groups, count, sizeof(*r->groups), compare_names);
	for (size_t i = 0; i < count; i++) {
		struct cached_file *f = &r->groups[i], *last = &r->groups[groups - 1];

		if (groups && strcmp(last->name, f->name) == 0) {
			file_add(last, f);
		} else {
			r->groups[groups++] = *f;
		}
	}
	for (size_t i = 0; i < groups; i++)
		r->row[i] = &r->groups[i];
	return (ssize_t)groups;
}

/* ---- order ---- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int compare_field(const struct field *f, const struct cached_file *a,
			 const struct cached_file *b)
{
	const struct field *by = f->order ? f->order : f;
	struct file_texts of[2];

	return field_compare(by, field_value(by, &a, of), field_value(by, &b, of + 1));
}

/*
 * The default order of files: shared memory first, because it is freed by nothing but its end.
 * Small files of it are among the others, by size: many of them would hide a large page cache.
 */
#define SMALL (1024 * 1024) /* bytes */

static int rank_of(const struct cached_file *f)
{
	return f->resident + f->swapped < SMALL ? FILE_IN_CACHE : f->account;
}

static int compare_files(const void *pa, const void *pb, void *arg)
{
	const struct cached_file *a = *(const struct cached_file *const *)pa;
	const struct cached_file *b = *(const struct cached_file *const *)pb;
	const struct files_query *q = arg;
	char label_a[FILE_LABEL_MAX], label_b[FILE_LABEL_MAX];
	int r = 0;

	if (!q->keys.count && q->group == FILE_GROUP_NONE)
		r = rank_of(a) - rank_of(b);
	if (!q->keys.count && r == 0)
		r = compare_u64(a->resident + a->swapped, b->resident + b->swapped);
	for (size_t i = 0; r == 0 && i < q->keys.count; i++)
		r = compare_field(q->keys.item[i], a, b);
	if (q->reverse)
		r = -r;
	/* Never 0 for two rows. */
	if (r == 0)
		r = strcmp(file_label(a, label_a), file_label(b, label_b));
	if (r == 0)
		r = compare_u64(b->device, a->device);
	return r ? r : compare_u64(b->inode, a->inode);
}

/* ---- rows ---- */

/* Returns 1, 0, or a negative errno. */
static int is_chosen(struct file_set *set, const struct files_query *q, const struct cached_file *f)
{
	char label[FILE_LABEL_MAX];
	const char *group;

	if (q->within != FILE_GROUP_NONE) {
		group = file_group_of(set, f, q->within);
		if (!group)
			return -ENOMEM;
		if (strcmp(group, q->within_name) != 0)
			return 0;
	}
	return q->filter ? pattern_match(q->filter, file_label(f, label)) : 1;
}

static int choose(struct file_set *set, const struct files_query *q, struct files_result *r,
		  struct files_report *report, size_t *ret_count)
{
	size_t count = 0;

	if (q->filter)
		pattern_begin(q->filter);
	for (size_t i = 0; i < set->count; i++) {
		const struct cached_file *f = &set->file[i];
		int match = is_chosen(set, q, f);

		file_add(&report->account[f->account], f);
		if (match < 0)
			return match;
		if (match)
			r->row[count++] = f;
	}
	*ret_count = count;
	return 0;
}

/* By the column that --min bounds. */
static bool is_large(const struct files_query *q, const struct cached_file *f)
{
	const struct field *key = q->keys.count ? q->keys.item[0] : NULL;
	uint64_t amount = f->resident + (key ? 0 : f->swapped);

	if (key && key->flags & FIELD_SUMS)
		amount = field_value(key, &f, NULL).bytes;
	return amount >= q->min;
}

int files_run(struct file_set *set, const struct files_query *q, struct files_result *ret,
	      struct files_report *report)
{
	size_t count = 0, kept = 0;
	int r;

	ret->row = calloc(set->count ? set->count : 1, sizeof(*ret->row));
	if (!ret->row)
		return -ENOMEM;
	r = choose(set, q, ret, report, &count);
	if (r < 0)
		return r;
	if (q->group != FILE_GROUP_NONE) {
		ssize_t groups = group_files(set, q, ret, count);

		if (groups < 0)
			return (int)groups;
		count = (size_t)groups;
	}
	for (size_t i = 0; i < count; i++) {
		if (is_large(q, ret->row[i]))
			ret->row[kept++] = ret->row[i];
	}
	qsort_r(ret->row, kept, sizeof(*ret->row), compare_files, (void *)q);
	report->rows = ret->row;
	report->row_count = kept < q->shown ? kept : q->shown;
	report->others_count = kept - report->row_count;
	report->systems = set->systems;
	report->unsure = set->unsure;
	report->unlisted = set->unlisted;
	for (size_t i = 0; i < kept; i++) {
		file_add(&report->total, ret->row[i]);
		if (i >= report->row_count)
			file_add(&report->others, ret->row[i]);
	}
	return 0;
}
