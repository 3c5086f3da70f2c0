/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A /proc made of files. A FIFO without a writer is a stuck process, because opening it blocks.
 */
#ifndef TESTS_POOL_TREE_H
#define TESTS_POOL_TREE_H

#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>

#include "unit.h"

#include "base/file.h"
#include "enrich/enrich.h"

#define PROCESSES 40

struct fixture {
	char dir[64];
	struct procfs proc;
	struct process process[PROCESSES];
	struct process *row[PROCESSES];
	struct pool_result result[PROCESSES];
};

static inline void write_text(const struct fixture *f, int pid, const char *name, const char *text)
{
	char path[128];
	cleanup_close int fd = -1;

	snprintf(path, sizeof(path), "%s/%d/%s", f->dir, pid, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, text, strlen(text)), 0);
}

static inline void make_process(struct fixture *f, int i)
{
	char path[128], text[256];
	int pid = 1000 + i;

	snprintf(path, sizeof(path), "%s/%d", f->dir, pid);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(text, sizeof(text), "Rss: 8 kB\nPss: %d kB\nSwap: 0 kB\n", i);
	write_text(f, pid, "smaps_rollup", text);
	write_text(f, pid, "cgroup", "0::/some/path\n");
	snprintf(text, sizeof(text),
		 "%d (x) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %d 4096 1 2 3 4 5 6 7 8 9\n",
		 pid, i);
	write_text(f, pid, "stat", text);
	f->process[i] = (struct process){.pid = pid, .start_ns = (uint64_t)i * 10000000};
	f->row[i] = &f->process[i];
}

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[128];

	strcpy(f->dir, "/tmp/zmem-pool-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	for (int i = 0; i < PROCESSES; i++)
		make_process(f, i);
	snprintf(path, sizeof(path), "%s/self", f->dir);
	assert_int_equal(symlink("1000", path), 0);
	f->proc.fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->proc.trusted = true;
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	close(f->proc.fd);
	free(f);
	return system(command);
}

static inline void make_stuck(const struct fixture *f, int i)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d/smaps_rollup", f->dir, 1000 + i);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0644), 0);
}

/* Releases the workers left behind, so that nothing leaks. */
static inline void release(const struct fixture *f, int i)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%d/smaps_rollup", f->dir, 1000 + i);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
}

static inline size_t threads(void)
{
	cleanup_closedir DIR *dir = opendir("/proc/self/task");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	return count;
}

static inline enum pss_status read_one(struct fixture *f, struct proc_pool *pool,
				       enum pool_file file)
{
	pool_patient(pool);
	assert_int_equal(pool_read(pool, file, false, f->row + 3, 1, f->result), 0);
	free(f->result[0].text);
	return f->result[0].status;
}

#endif
