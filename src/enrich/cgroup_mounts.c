// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "enrich/cgroup_mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "proc/cgroup.h"

#define MOUNTINFO_MIN ((size_t)16 * 1024)
#define MOUNTINFO_MAX ((size_t)1024 * 1024)

void cgroup_mounts_close(struct cgroup_mounts *h)
{
	for (size_t i = 0; i < h->mounts; i++)
		close(h->mount[i].fd);
	h->mounts = 0;
}

static int add_mount(struct cgroup_mounts *h, const struct cgroup_mount *m, struct arena *arena)
{
	int fd;

	/* Only one of v1 and v2 has the memory controller; v1 has it if it is mounted. */
	if (h->v2 && !m->v2)
		cgroup_mounts_close(h);
	else if (h->mounts && !h->v2 && m->v2)
		return 0;
	if (h->mounts == CGROUP_MOUNTS_MAX)
		return 0;
	h->v2 = m->v2;
	fd = open(m->point, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return file_exhausted(-errno) ? -errno : 0;
	h->mount[h->mounts].root = arena_strndup(arena, m->root, strlen(m->root));
	if (!h->mount[h->mounts].root) {
		close(fd);
		return -ENOMEM;
	}
	h->mount[h->mounts++].fd = fd;
	return 0;
}

/* Reads the whole file, which is small unless there are hundreds of containers. */
static ssize_t read_mounts(const struct procfs *proc, struct arena *arena, char **ret)
{
	for (size_t cap = MOUNTINFO_MIN;; cap *= 4) {
		ssize_t len;

		*ret = arena_alloc(arena, cap);
		if (!*ret)
			return -ENOMEM;
		len = file_read(proc->fd, "self/mountinfo", *ret, cap);
		if (len < (ssize_t)cap - 1 || cap >= MOUNTINFO_MAX)
			return len;
	}
}

int cgroup_mounts_open(const struct procfs *proc, struct arena *arena, struct cgroup_mounts *h)
{
	struct cgroup_mount *m = arena_alloc(arena, sizeof(*m));
	char *text = NULL;
	struct text_part rest;
	ssize_t len;
	int r = 0;

	if (!m)
		return -ENOMEM;
	len = proc->fd < 0 ? -ENOENT : read_mounts(proc, arena, &text);
	if (len < 0)
		return file_exhausted((int)len) ? (int)len : 0;
	rest = (struct text_part){text, (size_t)len};
	while (r == 0 && cgroup_mount_next(&rest, m))
		r = add_mount(h, m, arena);
	return r;
}
