// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Opens files below the roots of processes, and keeps the symbols that were found. */
#include "code/code_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

int code_open_found(int found, bool everybody)
{
	char name[32];
	struct stat st;
	int fd;

	if (fstat(found, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (everybody && !(st.st_mode & S_IROTH))
		return -EACCES;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
	/* O_NONBLOCK: the holder of a lease could make us wait. */
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int code_find_below(int root_fd, const char *path, unsigned flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = root_fd < 0 ? -1 : (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -ENOENT : fd;
}

/* ---- debug files ---- */

/* The file of this path if it has the debugging symbols, else -1. */
static int try_debug(const struct code_file *f, int root_fd, const char *path, bool everybody)
{
	cleanup_close int found = code_find_below(root_fd, path, 0);
	int fd = found < 0 ? -1 : code_open_found(found, everybody);

	if (fd < 0)
		return -1;
	if (elf_is_debug_of(fd, &f->facts))
		return fd;
	close(fd);
	return -1;
}

static int open_debug_by_id(const struct code_file *f, int root_fd, bool everybody)
{
	char path[sizeof("/usr/lib/debug/.build-id//.debug") + 2 * BUILD_ID_MAX];
	int len;

	if (f->facts.build_id_len < 2)
		return -1;
	len = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", f->facts.build_id[0]);
	for (size_t i = 1; i < f->facts.build_id_len; i++)
		len += snprintf(path + len, sizeof(path) - (size_t)len, "%02x",
				f->facts.build_id[i]);
	snprintf(path + len, sizeof(path) - (size_t)len, ".debug");
	return try_debug(f, root_fd, path, everybody);
}

static int open_debug_by_link(const struct code_file *f, const char *file_path, int root_fd,
			      bool everybody)
{
	static const char *const where[] = {"%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s"};
	const char *slash = strrchr(file_path, '/');
	int dir = slash ? (int)(slash - file_path) : 0, fd = -1;
	char path[PATH_MAX];

	for (size_t i = 0; fd < 0 && *f->facts.debug_link && i < ARRAY_SIZE(where); i++) {
		/* The format is one of three literals. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(path, sizeof(path), where[i], dir, file_path, f->facts.debug_link);
#pragma GCC diagnostic pop
		fd = try_debug(f, root_fd, path, everybody);
	}
	return fd;
}

/* In the root of the process; by its build id also in ours. */
static int open_debug(const struct code_file *f, const char *path, int root_fd, bool everybody)
{
	cleanup_close int own = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = open_debug_by_id(f, root_fd, everybody);

	if (fd < 0)
		fd = open_debug_by_link(f, path, root_fd, everybody);
	return fd < 0 ? open_debug_by_id(f, own, everybody) : fd;
}

int code_file_open(struct code_file *f, int fd, const char *path, int root_fd, bool everybody)
{
	int r = elf_read_facts(fd, &f->facts);

	if (r < 0) {
		close(fd);
		return r;
	}
	f->fd = fd;
	if (!f->facts.has_symtab || !f->facts.has_lines)
		f->debug_fd = open_debug(f, path, root_fd, everybody);
	return 0;
}

int code_file_add_debug(struct code_file *f, int fd)
{
	if (f->fd < 0 || f->debug_fd >= 0 || !elf_is_debug_of(fd, &f->facts)) {
		close(fd);
		return -ENOEXEC;
	}
	f->debug_fd = fd;
	return 0;
}

void code_file_close(struct code_file *f)
{
	close_fd(&f->fd);
	close_fd(&f->debug_fd);
	free(f->symbols.item);
	free(f->lines.item);
	arena_done(&f->names);
	*f = (struct code_file)CODE_FILE_CLOSED;
}

/* ---- symbols ---- */

/* Sorts addresses, each once, that were not looked up before. Returns their number. */
static size_t list_new(const struct known_names *known, const struct code_name *wanted,
		       size_t count, struct code_name *list)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (!code_names_find(known->item, known->count, wanted[i].address))
			list[n++] = (struct code_name){.address = wanted[i].address};
	}
	code_names_sort(list, n);
	for (size_t i = 0; i < n; i++) {
		if (!i || list[i].address != list[kept - 1].address)
			list[kept++] = list[i];
	}
	return kept;
}

/* By libdw if it is there, else by symbols. */
static int look_up(struct code_file *f, struct known_names *known, struct code_name *wanted,
		   size_t count, struct symbol_budget *budget, const struct libdw *dw)
{
	struct code_name *moved, *list;
	size_t added;
	int r = 0;

	if (f->fd < 0 || !count)
		return 0;
	moved = reallocarray(known->item, known->count + count, sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	known->item = moved;
	list = moved + known->count;
	added = list_new(known, wanted, count, list);
	if (added && dw)
		r = lines_find(dw, f->facts.has_lines ? f->fd : f->debug_fd, list, added,
			       &f->names);
	else if (added)
		r = functions_name(f->fd, f->debug_fd, list, added, budget, &f->names);
	known->count += added;
	code_names_sort(known->item, known->count);
	for (size_t i = 0; i < count; i++)
		wanted[i] = *code_names_find(known->item, known->count, wanted[i].address);
	return r;
}

int code_file_look_up(struct code_file *f, struct code_name *wanted, size_t count,
		      struct symbol_budget *budget)
{
	return look_up(f, &f->symbols, wanted, count, budget, NULL);
}

int code_file_find_lines(struct code_file *f, const struct libdw *dw, struct code_name *wanted,
			 size_t count)
{
	if (!f->facts.has_lines && f->debug_fd < 0)
		return 0;
	return look_up(f, &f->lines, wanted, count, NULL, dw);
}

/* ---- perf maps ---- */

/* Others can write to the directory: only a file of `owner` or root is one, with one name. */
static bool is_perf_map(int found, uid_t owner)
{
	struct stat st;

	return fstat(found, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	       (st.st_uid == owner || st.st_uid == 0);
}

int code_open_perf_map(int root_fd, pid_t own_pid, uid_t owner, bool everybody)
{
	cleanup_close int found = -1;
	char path[32];

	snprintf(path, sizeof(path), "tmp/perf-%d.map", own_pid);
	found = code_find_below(root_fd, path, O_NOFOLLOW);
	if (found < 0 || !is_perf_map(found, owner))
		return -ENOENT;
	return code_open_found(found, everybody);
}
