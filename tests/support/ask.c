// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ask PATH READS
 *
 * A hostile reader of a pinned iterator: asks for anything, valid or not, and also for what the
 * walks of other processes left to go on with (their cursors), READS times. Prints how many records
 * came; the exit code is 1 if something other than reading was allowed, or cursors are addresses.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../include/zmem/record.h"
#include "../../include/zmem/setup.h"

static uint64_t seen[64]; /* cursors */
static size_t seen_count;

static uint64_t random64(void)
{
	uint64_t n = 0;

	return getrandom(&n, sizeof(n), 0) > 0 ? n : 0;
}

/* Often small, so that some of it makes sense. */
static uint64_t anything(void)
{
	uint64_t n = random64();

	return n & 1 ? n >> (n >> 1 & 63) : n;
}

static uint64_t any_cursor(void)
{
	if (seen_count && random64() % 2)
		return seen[random64() % seen_count];
	return anything();
}

static size_t take(const char *buf, size_t len)
{
	struct zmem_pss_record r;
	size_t records = 0;

	for (size_t at = 0; at + ZMEM_RECORD_SHORT <= len; records++) {
		memcpy(&r, buf + at, ZMEM_RECORD_SHORT);
		if (r.record.version != ZMEM_RECORD_VERSION || !r.record.size)
			break;
		if (r.record.size == sizeof(r) && at + sizeof(r) <= len) {
			memcpy(&r, buf + at, sizeof(r));
			if (r.pages.cursor && seen_count < 64)
				seen[seen_count++] = r.pages.cursor;
		}
		at += r.record.size;
	}
	return records;
}

static size_t ask(const char *path, char *buf, size_t size)
{
	const size_t sizes[] = {size, size, 1, 300, sizeof(struct zmem_pss_record)};
	uint64_t mark = random64() % 8 ? ZMEM_ASK : anything();
	uint64_t bits = anything(), cursor = any_cursor();
	/* Also into memory that is not there. */
	char *to = random64() % 16 ? buf : (char *)(uintptr_t)anything();
	size_t len = sizes[random64() % 5], records = 0;
	int fd = open(path, O_RDONLY);
	long n;

	if (fd < 0)
		return 0;
	do {
		n = syscall(SYS_read, fd, to, len, mark, bits, cursor);
		if (n > 0 && to == buf)
			records += take(buf, (size_t)n);
	} while (n > 0 && len == size);
	close(fd);
	return records;
}

/* What a member has no right to: the link itself, and through it its program and maps. */
static int is_open_otherwise(const char *path)
{
	union bpf_attr attr = {};
	int fd;

	for (uint32_t flags = 0; flags < 3; flags++) {
		const uint32_t flag[] = {0, BPF_F_RDONLY, BPF_F_WRONLY};

		memset(&attr, 0, sizeof(attr));
		attr.pathname = (uintptr_t)path;
		attr.file_flags = flag[flags];
		if (syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr)) >= 0)
			return 1;
	}
	fd = open(path, O_RDWR);
	if (fd >= 0)
		return 1;
	fd = open(path, O_RDONLY);
	memset(&attr, 0, sizeof(attr));
	attr.link_detach.link_fd = (uint32_t)fd;
	return syscall(SYS_bpf, BPF_LINK_DETACH, &attr, sizeof(attr)) >= 0 || write(fd, "", 1) >= 0;
}

/* Pages begin at multiples of 4096. */
static int are_addresses(void)
{
	for (size_t i = 0; i < seen_count; i++) {
		if (seen[i] % 4096)
			return 0;
	}
	return seen_count > 1;
}

int main(int argc, char **argv)
{
	static char buf[64 * 1024];
	int reads = argc > 2 ? atoi(argv[2]) : 0;
	size_t records = 0;

	for (int i = 0; i < reads; i++)
		records += ask(argv[1], buf, sizeof(buf));
	printf("%zu records, %zu cursors\n", records, seen_count);
	return argc != 3 || is_open_otherwise(argv[1]) || are_addresses();
}
