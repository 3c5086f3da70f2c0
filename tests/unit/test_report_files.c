// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Both renderers of cached files against golden files. */
#include "golden.h"
#include "sample.h"

#include "fields/file_fields.h"
#include "report/report.h"

#define ROWS 5

struct fixture {
	struct sample sample;
	struct cached_file file[ROWS];
	const struct cached_file *rows[ROWS];
	struct files_report report;
	struct field_list columns;
};

static void set_file(struct fixture *f, int i, enum file_kind kind, const char *fs,
		     const char *name, const char *path, const char *mount)
{
	f->file[i] =
		(struct cached_file){.kind = kind,
				     .account = kind < FILE_REGULAR ? FILE_IN_SHMEM : FILE_IN_CACHE,
				     .resident = (uint64_t)(ROWS - i) * 3 * MIB,
				     .size = (uint64_t)(ROWS - i) * 4 * MIB,
				     .inode = 1000 + (uint64_t)i,
				     .device = 8 << 20 | (uint32_t)i,
				     .files = 1,
				     .fs = fs,
				     .name = name,
				     .path = path,
				     .mount = mount};
	f->rows[i] = &f->file[i];
}

static struct cached_file sum(uint32_t files, uint64_t resident, uint64_t swapped, uint64_t size)
{
	return (struct cached_file){
		.files = files, .resident = resident, .swapped = swapped, .size = size};
}

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){};
	sample_init(&f->sample);
	set_file(f, 0, FILE_TMPFS, "tmpfs", "\x1b[31m\xff\n", "/run/\x1b[31m\xff\n", "/run");
	set_file(f, 1, FILE_MEMFD, "tmpfs", "memfd:x", NULL, NULL);
	set_file(f, 2, FILE_REGULAR, "ext4", "libc.so", "/usr/lib/x86_64-linux-gnu/libc.so", "/");
	set_file(f, 3, FILE_REGULAR, "ext4", NULL, NULL, NULL);
	set_file(f, 4, FILE_REGULAR, "ext4", "deep", "/a/deep", NULL);
	f->file[0].swapped = 5 * MIB;
	f->file[0].deleted = f->file[2].mapped = f->file[2].dirty = f->file[4].path_cut = true;
	f->file[4].label = "…/a/deep";
	f->file[2].hidden = f->file[3].size_unknown = true;
	f->report = (struct files_report){
		.snapshot = &f->sample.snapshot,
		.columns = &f->columns,
		.rows = f->rows,
		.row_count = ROWS,
		.others_count = 2,
		.total = sum(7, 46 * MIB, 5 * MIB, 61 * MIB),
		.others = sum(2, MIB, 0, MIB),
		.account = {[FILE_IN_SHMEM] = sum(2, 27 * MIB, 5 * MIB, 36 * MIB),
			    [FILE_IN_CACHE] = sum(5, 19 * MIB, 0, 25 * MIB)},
		.systems = 4,
		.unlisted = 1 << FILE_UNLISTED_AIO | 1 << FILE_UNLISTED_SECRETMEM,
	};
}

FIXTURE(fixture_init, no_end)

static void check_table(struct fixture *f, const char *name, unsigned width)
{
	const struct table_style style = {.header = true, .width = width};

	if (!f->columns.count)
		file_list_usual(&f->columns, f->report.group);
	golden_render(name, render_files_table, &f->report, &style);
}

/* In each format. */
static void check(struct fixture *f, const char *name)
{
	const struct table_style style = {.header = true};
	char file[4][64];

	snprintf(file[0], sizeof(file[0]), "%s.txt", name);
	snprintf(file[1], sizeof(file[1]), "%s.json", name);
	snprintf(file[2], sizeof(file[2]), "csv_%s.txt", name);
	snprintf(file[3], sizeof(file[3]), "ndjson_%s.txt", name);
	check_table(f, file[0], 0);
	golden_json(file[1], render_files_json, &f->report);
	golden_render(file[2], render_files_csv, &f->report, &style);
	golden_render(file[3], render_files_ndjson, &f->report);
}

/* Zero, or an error with the part that is wrong. */
static int parse_columns(struct fixture *f, const char *text, bool groups,
			 struct field_error *ret_bad)
{
	f->report.columns_chosen = *text != '+';
	return field_list_parse(&f->columns, file_columns(groups), text, ret_bad);
}

FIXTURE_TEST(files)
{
	check(f, "files_ordinary");
	f->report.unsure = 1;
	check_table(f, "files_narrow.txt", 60);
	fixture_init(f);
	f->file[1].kind = FILE_SYSV;
	f->file[1].name = "SYSV000007a3";
	f->file[1].segment = f->file[1].dest = f->file[1].mapped = true;
	f->file[3].kind = FILE_RAMFS;
	f->file[3].unevictable = f->report.account[FILE_IN_CACHE].unevictable = 6 * MIB;
	check(f, "files_kinds");
	fixture_init(f);
	f->report.group = "kind";
	f->report.row_count = 2;
	f->file[0].name = "tmpfs";
	f->file[1].name = "memfd";
	f->file[0].path = NULL;
	f->file[0].files = 4;
	check(f, "files_groups");
}

/* Also a file without holders, and one with holders that are not known; a huge page. */
FIXTURE_TEST(holders)
{
	/* comm is shown where there is no name. */
	static const struct file_holder holder[] = {{.pid = 7, .comm = "x", .name = "bash"},
						    {.pid = 71, .name = "x\x1b\xff"},
						    {.pid = 800, .comm = "sh"},
						    {.pid = 9001, .comm = "d"},
						    {.pid = 9002, .comm = "e"}};
	struct field_error bad;

	f->report.holders = true;
	f->report.unsure = 1;
	f->file[0].holders_known = f->file[1].holders_known = f->file[2].holders_known = true;
	f->file[0].holder = f->file[2].holder = holder;
	f->file[0].holder_count = 5;
	f->file[2].holder_count = 2;
	f->file[1].holders_hidden = f->file[2].holders_hidden = true;
	f->file[3].kind = FILE_HUGETLB;
	f->file[3].account = FILE_IN_HUGETLB;
	f->report.account[FILE_IN_HUGETLB] = sum(1, 6 * MIB, 0, 8 * MIB);
	file_list_usual(&f->columns, false);
	assert_int_equal(parse_columns(f, "+holders,holders", false, &bad), 0);
	check(f, "files_holders");
	check_table(f, "files_holders_80.txt", 80);
	assert_int_equal(parse_columns(f, "Name,holders,size", false, &bad), 0);
	check_table(f, "files_columns.txt", 60);
	golden_render("csv_files_holders.txt", render_files_csv, &f->report,
		      &(struct table_style){.header = true});
	assert_int_equal(parse_columns(f, "+files", false, &bad), -EINVAL);
	assert_string_equal(bad.name, "+files");
	assert_int_equal(parse_columns(f, "kind", true, &bad), -EINVAL);
	assert_int_equal(parse_columns(f, "+", false, &bad), -EINVAL);
	assert_int_equal(f->columns.count, 3);
}

/* The memory cgroups of files: of several, of none, of one that is not known. */
FIXTURE_TEST(cgroups)
{
	static const struct file_charge charge[] = {
		{"/a", false, 12 * MIB}, {"/\x1b\xff", true, 3 * MIB}, {NULL, false, 4096}};
	struct field_error bad;

	f->report.cgroups = true;
	f->file[0].charges_known = f->file[1].charges_known = true;
	f->file[0].charge = charge;
	f->file[0].charge_count = ARRAY_SIZE(charge);
	f->file[0].charged = "/a 12 MiB, /\x1b\xff (deleted) 3 MiB, none 4 KiB";
	file_list_usual(&f->columns, false);
	assert_int_equal(parse_columns(f, "+cgroup", false, &bad), 0);
	check(f, "files_cgroups");
}

/* Long names of bytes that need escapes: lines of NDJSON are shorter than 4,096 bytes. */
TEST(lines)
{
	static char text[4096];
	static struct file_holder holder[2000];
	cleanup(strbuf_done) struct strbuf out = {};
	struct fixture f;

	memset(text, 0xff, sizeof(text) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(holder); i++)
		holder[i].pid = 2000000000 + (pid_t)i;
	fixture_init(&f);
	f.file[0].name = f.file[0].path = f.file[0].mount = text;
	f.file[0].holder = holder;
	f.file[0].holder_count = ARRAY_SIZE(holder);
	f.file[0].holders_known = f.report.holders = true;
	f.report.row_count = 1;
	render_files_ndjson(&out, &f.report);
	assert_uint_in_range(strchr(strbuf_str(&out), '\n') - strbuf_str(&out), 2000, 4094);
	assert_non_null(strstr(strbuf_str(&out), "\"holders_count\":2000"));
	assert_non_null(strstr(strbuf_str(&out), "\"name_truncated\":true"));
}

/* Numbers of inodes of FUSE have 64 bits, which no number of JSON holds. */
FIXTURE_TEST(inode)
{
	cleanup(strbuf_done) struct strbuf csv = {}, json = {};

	f->file[0].inode = UINT64_MAX;
	render_files_csv(&csv, &f->report, &(struct table_style){0});
	render_files_ndjson(&json, &f->report);
	assert_non_null(strstr(strbuf_str(&csv), ",18446744073709551615,"));
	assert_non_null(strstr(strbuf_str(&json), "\"inode\":null"));
}
