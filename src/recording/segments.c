// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The files of a recording without an end: their names, the list of a directory, opening one. */
#include "recording/segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"

#define DIGITS 10
#define SUFFIX ".zmem"

struct segment_name segment_name(uint32_t number)
{
	struct segment_name name;

	snprintf(name.text, sizeof(name.text), "%010" PRIu32 SUFFIX, number);
	return name;
}

/* The number of a segment, 0 if the name is not that of a segment. */
static uint32_t segment_number(const char *name)
{
	uint64_t number = 0;

	if (strlen(name) != DIGITS + strlen(SUFFIX) || strcmp(name + DIGITS, SUFFIX) != 0 ||
	    parse_u64(name, DIGITS, UINT32_MAX, &number) < 0)
		return 0;
	return (uint32_t)number;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return ORDER_OF(*x, *y);
}

int segment_list(int dir, uint32_t **ret, size_t *ret_count)
{
	cleanup_closedir DIR *entries = dir_open(dir, ".");
	cleanup_free uint32_t *number = NULL;
	size_t count = 0, capacity = 0;
	struct dirent *entry;

	if (!entries)
		return -errno;
	while ((errno = 0, entry = readdir(entries))) {
		uint32_t n = segment_number(entry->d_name);

		if (!n)
			continue;
		if (!array_room(&number, count, &capacity, 64))
			return -ENOMEM;
		number[count++] = n;
	}
	if (errno)
		return -errno;
	if (count)
		qsort(number, count, sizeof(*number), by_number);
	*ret = TAKE_PTR(number);
	*ret_count = count;
	return 0;
}

int segment_open(int dir, const struct segment_name *name)
{
	/* Not to wait for the writer of a FIFO. */
	cleanup_close int fd =
		openat(dir, name->text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? TAKE_FD(fd) : -EINVAL;
}
