/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Presents the input as a file in a directory in memory, for functions that read files. */
#ifndef ZMEM_TESTS_FUZZ_FILE_H
#define ZMEM_TESTS_FUZZ_FILE_H

#include <fcntl.h>
#include <sys/mman.h>

#include "fuzz.h"

static char fuzz_path[] = "/tmp/zmem-fuzz-XXXXXX";
static const char *fuzz_names[5]; /* of the same file; the last one is NULL */
static int fuzz_dirfd = -1;

static void fuzz_remove(void)
{
	for (size_t i = 0; fuzz_names[i]; i++)
		unlinkat(fuzz_dirfd, fuzz_names[i], 0);
	rmdir(fuzz_path);
}

/* Returns the fd of a temporary directory with the input, by this name and those of calls before.
 */
static inline int fuzz_file(const char *name, const uint8_t *data, size_t size)
{
	static int fd = -1;
	char target[32];
	size_t i = 0;

	if (fd < 0) {
		FUZZ_CHECK(mkdtemp(fuzz_path));
		fuzz_dirfd = open(fuzz_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd = memfd_create(name, MFD_CLOEXEC);
		FUZZ_CHECK(fd >= 0);
		atexit(fuzz_remove);
	}
	while (fuzz_names[i] && strcmp(fuzz_names[i], name) != 0)
		i++;
	if (!fuzz_names[i]) {
		snprintf(target, sizeof(target), "/proc/self/fd/%d", fd);
		FUZZ_CHECK(symlinkat(target, fuzz_dirfd, name) == 0);
		fuzz_names[i] = name;
	}
	FUZZ_CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	return fuzz_dirfd;
}

#endif
