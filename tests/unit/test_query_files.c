// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* files_run(): filter, groups, order and sums of cached files; the renderers against golden files.
 */
#include "golden.h"
#include "sample.h"

#include "query/files.h"

struct fixture {
	struct file_set set;
	struct files_query query;
	struct files_result result;
	struct files_report report;
};

static void fixture_done(struct fixture *f)
{
	pattern_free(f->query.filter);
	files_result_done(&f->result);
	file_set_done(&f->set);
}

static void add(struct fixture *f, enum file_kind kind, uint64_t kib, const char *path,
		const char *mount)
{
	struct cached_file *file = file_set_add(&f->set);

	assert_non_null(file);
	*file = (struct cached_file){
		.kind = kind,
		.account = kind < FILE_REGULAR ? FILE_IN_SHMEM : FILE_IN_CACHE,
		.resident = kib * KIB,
		.swapped = kind == FILE_TMPFS ? KIB : 0,
		.size = 2 * kib * KIB,
		.inode = f->set.count,
		.files = 1,
		.fs = kind < FILE_REGULAR ? "tmpfs" : "ext4",
		.name = path && *path == '/' ? strrchr(path, '/') + 1 : path,
		.path = path && *path == '/' ? path : NULL,
		.mount = mount,
	};
}

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){.query.shown = SIZE_MAX, .set.systems = 3};
	add(f, FILE_REGULAR, 100, "/usr/bin/a", "/");
	add(f, FILE_TMPFS, 8, "/run/b", "/run");
	add(f, FILE_MEMFD, 40, "memfd:\x1b[31m\xff", NULL);
	add(f, FILE_REGULAR, 200, "/usr/bin/c", "/");
	add(f, FILE_REGULAR, 4, NULL, NULL);
	add(f, FILE_TMPFS, 12, "/elsewhere", NULL);
	f->set.file[0].mapped = f->set.file[0].dirty = true;
	f->set.file[5].deleted = true;
}

static void run(struct fixture *f)
{
	assert_int_equal(files_run(&f->set, &f->query, &f->result, &f->report), 0);
}

/* The rows by their inodes, "3 6 2 …". */
static void assert_rows(const struct fixture *f, const char *expected)
{
	char text[64] = "";

	for (size_t i = 0; i < f->report.row_count; i++)
		sprintf(text + strlen(text), "%s%d", i ? " " : "", (int)f->report.rows[i]->inode);
	assert_string_equal(text, expected);
}

static void set_keys(struct fixture *f, const char *keys)
{
	const struct fields *columns = file_columns(f->query.group != FILE_GROUP_NONE);
	struct field_error bad;

	assert_int_equal(field_list_parse_keys(&f->query.keys, columns, keys, &bad), 0);
}

TEST(order)
{
	static const struct {
		const char *keys, *rows;
	} orders[] = {
		{"resident", "4 1 3 6 2 5"},   {"swapped,size", "6 2 4 1 3 5"},
		{"name", "6 2 1 4 5 3"},       {"KIND,resident", "6 2 3 4 1 5"},
		{"state,name", "1 6 2 4 5 3"}, {"fs,size", "4 1 5 3 6 2"},
	};

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		cleanup(fixture_done) struct fixture f;

		fixture_init(&f);
		set_keys(&f, orders[i].keys);
		run(&f);
		assert_rows(&f, orders[i].rows);
	}
}

TEST(sums)
{
	cleanup(fixture_done) struct fixture f;

	fixture_init(&f);
	f.query.shown = 2;
	run(&f);
	/* All are small: the largest ones. */
	assert_rows(&f, "4 1");
	assert_int_equal(f.report.others_count, 4);
	assert_int_equal(f.report.total.files, 6);
	assert_int_equal(f.report.total.resident, 364 * KIB);
	assert_int_equal(f.report.others.resident, 64 * KIB);
	assert_int_equal(f.report.account[FILE_IN_SHMEM].resident, 60 * KIB);
	assert_int_equal(f.report.account[FILE_IN_SHMEM].swapped, 2 * KIB);
	assert_int_equal(f.report.account[FILE_IN_CACHE].resident, 304 * KIB);
}

/* Sizes that no file has, and more than a sum can hold. */
TEST(sizes)
{
	cleanup(fixture_done) struct fixture f;

	fixture_init(&f);
	f.set.file[0].size = f.set.file[3].size = 0;
	f.set.file[0].size_unknown = f.set.file[3].size_unknown = true;
	run(&f);
	assert_false(f.report.total.size_unknown);
	assert_int_equal(f.report.total.size, 128 * KIB);
	files_result_done(&f.result);
	f.result = (struct files_result){};
	f.report = (struct files_report){};
	f.query.group = FILE_GROUP_DIR;
	set_keys(&f, "name");
	run(&f);
	/* Both files of /usr/bin have none, and the memfd and the file without a path have. */
	for (size_t i = 0; i < f.report.row_count; i++)
		assert_int_equal(f.report.rows[i]->size_unknown,
				 strcmp(f.report.rows[i]->name, "/usr/bin") == 0);
	files_result_done(&f.result);
	f.result = (struct files_result){};
	f.report = (struct files_report){};
	for (int i = 0; i < 3; i++)
		f.set.file[i] =
			(struct cached_file){.fs = "x", .files = 1, .size = FILE_SIZE_MAX - 1};
	run(&f);
	assert_true(f.report.total.size_unknown);
	assert_int_equal(f.report.total.size, FILE_SIZE_MAX);
}

/* Large shared memory is first. */
TEST(default_order)
{
	cleanup(fixture_done) struct fixture f;

	fixture_init(&f);
	add(&f, FILE_TMPFS, 1024, "/run/large", "/run");
	f.set.file[3].resident = 4096 * KIB;
	run(&f);
	assert_rows(&f, "7 4 1 3 6 2 5");
	files_result_done(&f.result);
	f.query.reverse = true;
	run(&f);
	assert_rows(&f, "5 2 6 3 1 4 7");
}

static void assert_groups(enum file_group group, const char *expected)
{
	cleanup(fixture_done) struct fixture f;
	char text[256] = "";

	fixture_init(&f);
	f.query.group = group;
	set_keys(&f, "files,resident");
	run(&f);
	for (size_t i = 0; i < f.report.row_count; i++)
		sprintf(text + strlen(text), "%s%s=%d:%d", i ? " " : "", f.report.rows[i]->name,
			(int)f.report.rows[i]->files, (int)(f.report.rows[i]->resident / KIB));
	assert_string_equal(text, expected);
}

TEST(groups)
{
	assert_groups(FILE_GROUP_FS, "ext4=3:304 tmpfs=3:60");
	assert_groups(FILE_GROUP_KIND, "file=3:304 tmpfs=2:20 memfd=1:40");
	assert_groups(FILE_GROUP_MOUNT, "/=2:300 no mount=2:44 not mounted here=1:12 /run=1:8");
	assert_groups(FILE_GROUP_DIR, "/usr/bin=2:300 memfd=1:40 /=1:12 /run=1:8 file=1:4");
}

/* The files of one group, of each kind. */
TEST(within)
{
	static const struct {
		enum file_group group;
		const char *name, *rows;
	} groups[] = {{FILE_GROUP_FS, "tmpfs", "3 6 2"},
		      {FILE_GROUP_MOUNT, "/", "4 1"},
		      {FILE_GROUP_MOUNT, "not mounted here", "6"},
		      {FILE_GROUP_KIND, "file", "4 1 5"},
		      {FILE_GROUP_DIR, "/usr/bin", "4 1"},
		      {FILE_GROUP_DIR, "/", "6"},
		      {FILE_GROUP_DIR, "/usr", ""}};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct fixture f;

		fixture_init(&f);
		f.query.within = groups[i].group;
		f.query.within_name = groups[i].name;
		run(&f);
		assert_rows(&f, groups[i].rows);
		/* The accounts are those of all files. */
		assert_int_equal(f.report.account[FILE_IN_SHMEM].files, 3);
		assert_int_equal(f.report.account[FILE_IN_CACHE].files, 3);
		fixture_done(&f);
	}
}

TEST(keys)
{
	static const char *const bad[] = {"", "pss", "resident,files", "holders"};
	struct field_list keys;
	struct field_error at;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(field_list_parse_keys(&keys, file_columns(false), bad[i], &at),
				 -EINVAL);
	assert_int_equal(field_list_parse_keys(&keys, file_columns(true), "kind", &at), -EINVAL);
	assert_int_equal(field_list_parse_keys(&keys, file_columns(false), "size size", &at), 0);
}
