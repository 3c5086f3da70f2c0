// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Records of inodes of any content: they are refused, or become files with whole texts. The input
 * is a list of records, of which the last one may be short.
 */
#include <errno.h>

#include "fuzz.h"
#include "source/files_decode.h"

static const char mountinfo[] = "1 0 0:39 / /mnt rw - tmpfs x rw\n2 0 0:0 /a / rw - ext4 y rw\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = (size + sizeof(struct zmem_file) - 1) / sizeof(struct zmem_file);
	struct zmem_file *record = calloc(count + 1, sizeof(*record));
	struct file_set set = {};
	struct mounts mounts = {};
	struct files_decoder d = {.set = &set, .mounts = &mounts, .page_size = 4096};
	int r;

	FUZZ_CHECK(record && mounts_parse(mountinfo, sizeof(mountinfo) - 1, &mounts) == 0);
	if (size)
		memcpy(record, data, size);
	r = files_decode(&d, record, count);
	FUZZ_CHECK(r == 0 || r == -EPROTO);
	for (size_t i = 0; r == 0 && i < set.count; i++) {
		const struct cached_file *f = &set.file[i];

		FUZZ_CHECK(f->kind < FILE_KINDS && f->fs && f->files == 1);
		FUZZ_CHECK(f->resident % 512 == 0 && f->swapped % 512 == 0);
		FUZZ_CHECK(!f->path || f->path[0] == '/');
		FUZZ_CHECK(!f->mount || f->path);
		FUZZ_CHECK(!f->name || strlen(f->name) <= ZMEM_FILE_TEXT);
	}
	mounts_done(&mounts);
	file_set_done(&set);
	free(record);
	return 0;
}
