// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows /proc/meminfo and zram's mm_stat. Refuses to add anything up: which value is part of which
 * is for those who show them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "proc/keyed.h"
#include "model/system.h"

static const struct keyed_name names[] = {
#define ZMEM_MEMINFO(id, name) [MEMINFO_##id] = KEYED_NAME(name),
#include "model/meminfo.def"
#undef ZMEM_MEMINFO
};
_Static_assert(ARRAY_SIZE(names) == MEMINFO_COUNTERS, "a figure without a name");
_Static_assert(MEMINFO_COUNTERS <= 32, "a figure without a bit");

void meminfo_parse(const char *text, size_t len, struct meminfo *ret)
{
	struct meminfo meminfo = {0};
	struct keyed_counters counters = {names, MEMINFO_COUNTERS, .value = meminfo.value};
	struct keyed_line line;

	if (len)
		for (const char *pos = text, *end = text + len; keyed_next(&pos, end, &line);)
			keyed_counter(&line, &counters);
	meminfo.have = counters.have;
	*ret = meminfo;
}

int zram_stat_parse(const char *text, size_t len, struct zram_stat *ret)
{
	uint64_t v[3];
	const char *pos = text, *end;

	if (!len)
		return -EINVAL;
	end = text + len;
	for (unsigned i = 0; i < ARRAY_SIZE(v); i++)
		/* A number at the very end may be half of one. */
		if (!scan_u64(&pos, end, &v[i]) || pos == end || (*pos != ' ' && *pos != '\n'))
			return -EINVAL;
	*ret = (struct zram_stat){.stored = v[0], .compressed = v[1], .used = v[2]};
	return 0;
}

/* zram0 … zram999…, not its partitions. False if it is something else. */
static bool zram_number(const char *name, uint64_t *ret)
{
	return strncmp(name, "zram", 4) == 0 &&
	       parse_u64(name + 4, strlen(name + 4), UINT32_MAX, ret) == 0;
}

/* Reads one device. Returns 1, 0 if it is not initialised or went away, or a negative errno. */
static int zram_read(int dirfd, const char *name, struct zram_stat *ret_stat)
{
	char path[NAME_MAX + sizeof("/initstate")];
	char text[256];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/initstate", name);
	n = file_read(dirfd, path, text, sizeof(text));
	if (n >= 0 && text[0] != '1')
		return 0;
	if (n >= 0) {
		snprintf(path, sizeof(path), "%s/mm_stat", name);
		n = file_read(dirfd, path, text, sizeof(text));
	}
	if (n < 0)
		return n == -ENOENT || n == -ENODEV ? 0 : (int)n;
	n = zram_stat_parse(text, (size_t)n, ret_stat);
	return n < 0 ? (int)n : 1;
}

/*
 * The next device after number `after`, by number. A machine has few disks and fewer of these: to
 * look again for each takes no memory, which is what a list of the directory would do.
 */
static int zram_next(int dirfd, int64_t after, uint64_t *ret)
{
	_Alignas(struct dirent64) char buf[4096];
	bool found = false;
	ssize_t len;

	if (lseek(dirfd, 0, SEEK_SET) < 0)
		return -errno;
	while ((len = getdents64(dirfd, buf, sizeof(buf))) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *entry = (const struct dirent64 *)(buf + at);
			uint64_t number;

			at += entry->d_reclen;
			if (!zram_number(entry->d_name, &number) || (int64_t)number <= after ||
			    (found && number > *ret))
				continue;
			*ret = number;
			found = true;
		}
	}
	return len < 0 ? -errno : found;
}

int zram_each(const char *sys_block,
	      void (*fn)(void *arg, const char *name, const struct zram_stat *stat), void *arg)
{
	cleanup_close int dirfd = open(sys_block, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t number = 0;
	int64_t after = -1;
	int result = 0, r;

	if (dirfd < 0)
		return -errno;
	while ((r = zram_next(dirfd, after, &number)) > 0) {
		struct zram_stat stat;
		char name[32];

		snprintf(name, sizeof(name), "zram%" PRIu64, number);
		after = (int64_t)number;
		r = zram_read(dirfd, name, &stat);
		if (r > 0)
			fn(arg, name, &stat);
		else if (r < 0 && result == 0)
			result = r;
	}
	return r < 0 ? r : result;
}

uint64_t loadavg_parse_last_pid(const char *text, size_t len)
{
	const char *pos = len ? memrchr(text, ' ', len) : NULL;
	uint64_t pid;

	return pos && scan_u64(&pos, text + len, &pid) ? pid : 0;
}
