/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes made of files. A FIFO without a writer is a stuck one, because opening it blocks. */
#ifndef TESTS_POOL_TREE_H
#define TESTS_POOL_TREE_H

#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>

#include "unit.h"

#include "enrich/enrich.h"
#include "proc_tree.h"

#define PROCESSES 40

struct fixture {
	struct proc_tree tree;
	struct process process[PROCESSES];
	struct process *row[PROCESSES];
	struct pool_result result[PROCESSES];
};

static inline void make_process(struct fixture *f, int i)
{
	char path[128], text[256];
	int pid = 1000 + i;

	proc_tree_add_started(&f->tree, pid, i);
	snprintf(path, sizeof(path), "%d/smaps_rollup", pid);
	snprintf(text, sizeof(text), "Rss: 8 kB\nPss: %d kB\nSwap: 0 kB\n", i);
	proc_tree_put_text(&f->tree, path, text);
	snprintf(path, sizeof(path), "%d/cgroup", pid);
	proc_tree_put_text(&f->tree, path, "0::/some/path\n");
	f->process[i] = (struct process){.pid = pid, .start_ns = (uint64_t)i * 10000000};
	f->row[i] = &f->process[i];
}

static inline void begin(struct fixture *f)
{
	proc_tree_init(&f->tree);
	assert_int_equal(symlinkat("1000", f->tree.proc.fd, "self"), 0);
	for (int i = 0; i < PROCESSES; i++)
		make_process(f, i);
}

static inline void end(struct fixture *f)
{
	proc_tree_done(&f->tree);
}

FIXTURE(begin, end)

/* Opening the file blocks until it is released. */
static inline void make_stuck_at(const struct fixture *f, int i, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%d/%s", 1000 + i, name);
	unlinkat(f->tree.proc.fd, path, 0);
	assert_int_equal(mkfifoat(f->tree.proc.fd, path, 0644), 0);
}

static inline void make_stuck(const struct fixture *f, int i)
{
	make_stuck_at(f, i, "smaps_rollup");
}

/* Releases the workers left behind, so that nothing leaks. */
static inline void release_at(const struct fixture *f, int i, const char *name)
{
	cleanup_close int fd = -1;
	char path[128];

	snprintf(path, sizeof(path), "%d/%s", 1000 + i, name);
	fd = openat(f->tree.proc.fd, path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

static inline void release(const struct fixture *f, int i)
{
	release_at(f, i, "smaps_rollup");
}

/* How many entries a directory of /proc/self has. */
static inline size_t own(const char *name)
{
	cleanup_closedir DIR *dir = opendir(name);
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	return count;
}

static inline size_t threads(void)
{
	return own("/proc/self/task");
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
