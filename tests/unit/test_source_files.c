// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* files_decode(): records of inodes as files, their kinds and their paths. */
#include "unit.h"

#include "source/files_decode.h"

#define PAGE  4096
#define TMPFS ((uint32_t)39)

struct fixture {
	struct mounts mounts;
	struct file_set set;
	struct files_decoder d;
};

static void begin_set(struct fixture *f)
{
	static const char text[] = "1 0 0:39 / /mnt rw - tmpfs x rw\n2 0 8:1 / / rw - ext4 y rw\n";

	assert_int_equal(mounts_parse(text, sizeof(text) - 1, &f->mounts), 0);
	f->d = (struct files_decoder){.set = &f->set, .mounts = &f->mounts, .page_size = PAGE};
}

static void end_set(struct fixture *f)
{
	mounts_done(&f->mounts);
	file_set_done(&f->set);
}

FIXTURE(begin_set, end_set)

static struct zmem_file record(enum zmem_file_kind kind, const char *text, size_t len)
{
	struct zmem_file f = {.kind = (__u8)kind, .text_len = (__u16)len, .device = TMPFS};

	memcpy(f.text, text, len);
	return f;
}

static void begin(struct fixture *f, uint32_t number, const char *type, uint8_t flags)
{
	struct zmem_file r = record(ZMEM_FILE_SYSTEM, type, strlen(type) + 1);

	r.system = number;
	r.flags = flags;
	assert_int_equal(files_decode(&f->d, &r, 1), 0);
}

/* `text` is an array of names. Returns the new file. */
#define add(f, flags, links, text) add_file(f, flags, links, S_IFREG, text, sizeof(text))
static const struct cached_file *add_file(struct fixture *f, uint8_t flags, uint32_t links,
					  uint32_t mode, const char *text, size_t len)
{
	struct zmem_file r = record(ZMEM_FILE_INODE, text, len);

	r.pages = 3;
	r.swapped = flags & ZMEM_FILE_SHMEM ? 2 : 0;
	r.size = 5;
	r.inode = 7;
	r.links = links;
	r.mode = mode;
	r.flags = flags;
	assert_int_equal(files_decode(&f->d, &r, 1), 0);
	return &f->set.file[f->set.count - 1];
}

FIXTURE_TEST(tmpfs)
{
	const struct cached_file *file;

	begin(f, 0, "tmpfs", 0);
	file = add(f, ZMEM_FILE_SHMEM | ZMEM_FILE_MAPPED | ZMEM_FILE_DIRTY, 1, "name\0dir\0top");
	assert_int_equal(file->kind, FILE_TMPFS);
	assert_string_equal(file->path, "/mnt/top/dir/name");
	assert_string_equal(file->mount, "/mnt");
	assert_string_equal(file->name, "name");
	assert_string_equal(file->fs, "tmpfs");
	assert_int_equal(file->resident, 3 * PAGE);
	assert_int_equal(file->swapped, 2 * PAGE);
	assert_true(file->mapped && !file->dirty && !file->deleted);
	file = add(f, ZMEM_FILE_SHMEM, 0, "gone");
	assert_true(file->deleted);
	assert_int_equal(file->kind, FILE_TMPFS);
	file = add(f, ZMEM_FILE_SHMEM | ZMEM_FILE_CUT, 1, "name\0dir");
	assert_string_equal(file->path, "/dir/name");
	assert_string_equal(file->label, "…/dir/name");
	assert_null(file->mount);
	assert_true(file->path_cut);
	file = add(f, ZMEM_FILE_SHMEM, 1, "/");
	assert_string_equal(file->path, "/mnt");
	/* A file that is named as others are without a directory. */
	file = add(f, ZMEM_FILE_SHMEM, 1, "memfd:x");
	assert_int_equal(file->kind, FILE_TMPFS);
}

/* Where no mount of ours leads to, or leads to another file; and sizes that are none. */
FIXTURE_TEST(elsewhere)
{
	static const char text[] =
		"1 0 0:39 /in / rw - tmpfs x rw\n2 1 0:40 / /over rw - tmpfs y rw\n";
	struct zmem_file r = record(ZMEM_FILE_INODE, "big", 4);
	const struct cached_file *file;

	mounts_done(&f->mounts);
	assert_int_equal(mounts_parse(text, sizeof(text) - 1, &f->mounts), 0);
	begin(f, 0, "tmpfs", 0);
	file = add(f, ZMEM_FILE_SHMEM, 1, "name\0out");
	assert_string_equal(file->path, "/out/name");
	assert_string_equal(file->label, "tmpfs:/out/name");
	assert_false(file->hidden);
	file = add(f, ZMEM_FILE_SHMEM, 1, "name\0over\0in");
	assert_string_equal(file->path, "/over/name");
	assert_string_equal(file->mount, "/");
	assert_true(file->hidden && !file->label);
	file = add(f, ZMEM_FILE_SHMEM, 1, "name\0in");
	assert_string_equal(file->path, "/name");
	assert_false(file->hidden || file->size_unknown);
	r.size = INT64_MAX;
	assert_int_equal(files_decode(&f->d, &r, 1), 0);
	assert_true(f->set.file[f->set.count - 1].size_unknown);
	assert_int_equal(f->set.unlisted, 0);
	begin(f, 1, "secretmem", 0);
	begin(f, 2, "anon_inodefs", 0);
	assert_int_equal(f->set.unlisted,
			 1 << FILE_UNLISTED_SECRETMEM | 1 << FILE_UNLISTED_GUEST_MEMFD);
}

FIXTURE_TEST(kernel_mount)
{
	static const struct {
		const char *name;
		enum file_kind kind;
	} names[] = {
		{"memfd:a b", FILE_MEMFD},
		{"SYSV00000000", FILE_SYSV},
		{"dev/zero", FILE_SHARED_ANON},
		{"drm mm object", FILE_DRM},
		{"i915", FILE_DRM},
		{"new thing", FILE_OTHER},
	};

	begin(f, 0, "tmpfs", ZMEM_FILE_KERNEL_MOUNT);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct cached_file *file = add_file(f, ZMEM_FILE_SHMEM, 0, S_IFREG,
							  names[i].name, strlen(names[i].name) + 1);

		assert_int_equal(file->kind, names[i].kind);
		assert_string_equal(file->name, names[i].name);
		assert_null(file->path);
		assert_false(file->deleted);
	}
}

/* Users of another tmpfs choose the names of its files, also of deleted ones. */
FIXTURE_TEST(names_of_users)
{
	begin(f, 0, "tmpfs", 0);
	for (unsigned links = 0; links < 2; links++) {
		const struct cached_file *file = add(f, ZMEM_FILE_SHMEM, links, "SYSV00000001");

		assert_int_equal(file->kind, FILE_TMPFS);
		assert_true(!file->segment && file->deleted == !links);
	}
}

/* A segment that was removed while it was attached, of usual and of huge pages. */
FIXTURE_TEST(segments)
{
	char label[FILE_LABEL_MAX], state[FILE_STATE_MAX];
	const struct cached_file *file;

	begin(f, 0, "tmpfs", ZMEM_FILE_KERNEL_MOUNT);
	file = add(f, ZMEM_FILE_SHMEM | ZMEM_FILE_MAPPED | ZMEM_FILE_DEST, 0, "SYSV000007a3");
	assert_true(file->segment && file->dest && !file->deleted);
	assert_string_equal(file_state(file, state), "mapped,dest");
	assert_memory_equal(file_label(file, label), "SYSV000007a3 shmid ", 19);
	assert_false(add(f, ZMEM_FILE_SHMEM, 0, "SYSV00000000")->dest);
	assert_false(add(f, ZMEM_FILE_SHMEM | ZMEM_FILE_DEST, 0, "memfd:SYSV")->dest);
	begin(f, 1, "hugetlbfs", 0);
	file = add(f, ZMEM_FILE_HUGETLB | ZMEM_FILE_ALONE | ZMEM_FILE_DEST, 0, "SYSV00000001");
	assert_true(file->kind == FILE_HUGETLB && file->segment && file->dest);
	assert_false(add(f, ZMEM_FILE_HUGETLB, 1, "SYSV00000001")->segment);
}

/* The kernel cannot free pages of a ramfs, and writes them nowhere. */
FIXTURE_TEST(ramfs)
{
	static const char *const systems[] = {"ramfs", "rootfs"};

	for (uint32_t i = 0; i < 2; i++) {
		const struct cached_file *file;

		begin(f, i, systems[i], 0);
		file = add(f, ZMEM_FILE_DIRTY, 1, "a");
		assert_int_equal(file->kind, FILE_RAMFS);
		assert_true(file->account == FILE_IN_CACHE && !file->dirty);
		assert_int_equal(file->unevictable, file->resident);
	}
	/* A root file system that is a tmpfs. */
	assert_int_equal(add(f, ZMEM_FILE_SHMEM, 1, "a")->kind, FILE_TMPFS);
	begin(f, 2, "ext4", 0);
	assert_int_equal(add(f, 0, 1, "a")->unevictable, 0);
}

FIXTURE_TEST(cache)
{
	const struct cached_file *file;

	begin(f, 0, "ext4", 0);
	file = add(f, ZMEM_FILE_DIRTY, 1, "a");
	assert_int_equal(file->kind, FILE_REGULAR);
	assert_true(file->dirty && file->account == FILE_IN_CACHE);
	file = add_file(f, 0, 2, S_IFDIR, "d", 2);
	assert_int_equal(file->kind, FILE_OTHER);
	/* Without a name. */
	file = add_file(f, 0, 1, S_IFREG, "", 0);
	assert_null(file->name);
	assert_null(file->path);
	begin(f, 1, "bdev", 0);
	file = add_file(f, 0, 1, S_IFBLK, "", 0);
	assert_int_equal(file->kind, FILE_BLOCK);
}

FIXTURE_TEST(hugetlb)
{
	const struct cached_file *file;

	begin(f, 0, "hugetlbfs", 0);
	/* Its pages are blocks of 512 bytes. */
	file = add(f, ZMEM_FILE_HUGETLB | ZMEM_FILE_DIRTY, 1, "a");
	assert_int_equal(file->kind, FILE_HUGETLB);
	assert_int_equal(file->account, FILE_IN_HUGETLB);
	assert_int_equal(file->resident, 3 * 512);
	assert_string_equal(file->path, "/mnt/a");
	assert_true(!file->dirty && !file->deleted);
	assert_true(add(f, ZMEM_FILE_HUGETLB, 0, "b")->deleted);
	/* A memfd of huge pages is in no directory. */
	file = add(f, ZMEM_FILE_HUGETLB | ZMEM_FILE_ALONE, 0, "memfd:b");
	assert_int_equal(file->kind, FILE_HUGETLB);
	assert_null(file->path);
	assert_false(file->deleted);
}

FIXTURE_TEST(again)
{
	struct zmem_file unsure = record(ZMEM_FILE_UNSURE, "", 0);

	begin(f, 0, "tmpfs", 0);
	add(f, ZMEM_FILE_SHMEM, 1, "kept");
	begin(f, 1, "ext4", 0);
	add(f, 0, 1, "void");
	begin(f, 1, "ext4", 0);
	add(f, 0, 1, "second");
	assert_int_equal(f->set.count, 2);
	assert_string_equal(f->set.file[0].name, "kept");
	assert_string_equal(f->set.file[1].name, "second");
	assert_int_equal(f->set.systems, 2);
	assert_int_equal(files_decode(&f->d, &unsure, 1), 0);
	assert_int_equal(f->set.unsure, 1);
}

FIXTURE_TEST(refused)
{
	struct zmem_file r = record(ZMEM_FILE_INODE, "x", 2);

	/* An inode before any file system. */
	assert_int_equal(files_decode(&f->d, &r, 1), -EPROTO);
	begin(f, 0, "tmpfs", 0);
	r.pages = UINT64_MAX / PAGE + 1;
	assert_int_equal(files_decode(&f->d, &r, 1), -EPROTO);
	r.pages = 1;
	r.text_len = sizeof(r.text) + 1;
	assert_int_equal(files_decode(&f->d, &r, 1), -EPROTO);
	r.text_len = 2;
	r.kind = 9;
	assert_int_equal(files_decode(&f->d, &r, 1), -EPROTO);
}
