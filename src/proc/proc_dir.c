// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The files of one process as readings "PID/file": live, recorded or played. */
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "proc/procfs.h"

static struct tape_key key_of(const struct proc_dir *dir, const char *part, const char *name)
{
	struct tape_key key;

	snprintf(key.text, sizeof(key.text), "%d/%s%s", dir->pid, part, name);
	return key;
}

static bool playing(const struct proc_dir *dir)
{
	return tape_playing(dir->proc->tape);
}

static ssize_t play(const struct proc_dir *dir, const char *part, const char *name, char *buf,
		    size_t cap)
{
	return tape_next_text(dir->proc->tape, key_of(dir, part, name).text, buf, cap);
}

/* Takes down what was read, if anybody wants it. Returns the length or error. */
static ssize_t record_reading(const struct proc_dir *dir, const char *part, const char *name,
			      const char *buf, ssize_t len)
{
	if (tape_recording(dir->proc->tape))
		tape_put_text(dir->proc->tape, key_of(dir, part, name).text, buf, len);
	return len;
}

int proc_dir_open(const struct procfs *proc, pid_t pid, const char *name, struct proc_dir *ret)
{
	struct proc_dir dir = {proc, pid, -1};

	if (!playing(&dir)) {
		dir.fd = procfs_open_pid(proc, pid);
		if (dir.fd < 0)
			return (int)record_reading(&dir, "", name, NULL, dir.fd);
	}
	*ret = dir;
	return 0;
}

void proc_dir_close(struct proc_dir *dir)
{
	if (dir->fd >= 0)
		close(dir->fd);
	dir->fd = -1;
}

ssize_t proc_dir_read(const struct proc_dir *dir, const char *name, char *buf, size_t cap)
{
	if (playing(dir))
		return play(dir, "", name, buf, cap);
	return record_reading(dir, "", name, buf, file_read(dir->fd, name, buf, cap));
}

ssize_t proc_dir_read_thread(const struct proc_dir *dir, const char *name, char *buf, size_t cap)
{
	cleanup_close int fd = -1;

	if (playing(dir))
		return play(dir, "task/", name, buf, cap);
	fd = procfs_open_thread(dir->fd);
	return record_reading(dir, "task/", name, buf, fd < 0 ? fd : file_read(fd, name, buf, cap));
}

ssize_t proc_dir_exe_name(const struct proc_dir *dir, bool leader_exited, char *buf, size_t cap)
{
	cleanup_close int thread = -1;

	if (playing(dir))
		return play(dir, "", "exe", buf, cap);
	if (leader_exited)
		thread = procfs_open_thread(dir->fd);
	return record_reading(dir, "", "exe", buf,
			      procfs_exe_name(thread >= 0 ? thread : dir->fd, buf, cap));
}

bool proc_dir_same_start(const struct proc_dir *dir, uint64_t start_ns, const char *name)
{
	if (playing(dir) || procfs_same_start(dir->proc, dir->fd, start_ns) > 0)
		return true;
	record_reading(dir, "", name, NULL, -ESRCH);
	return false;
}
