/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A /proc made of the files that a test names. */
#ifndef TESTS_PROC_TREE_H
#define TESTS_PROC_TREE_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "proc/procfs.h"

struct proc_tree {
	char dir[32];
	struct procfs proc;
};

static inline void proc_tree_init(struct proc_tree *t)
{
	*t = (struct proc_tree){.dir = "/tmp/zmem-proc-XXXXXX"};
	assert_non_null(mkdtemp(t->dir));
	t->proc = (struct procfs){.fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				  .trusted = true};
	assert_true(t->proc.fd >= 0);
}

static inline void proc_tree_done(struct proc_tree *t)
{
	char command[64];

	close(t->proc.fd);
	snprintf(command, sizeof(command), "rm -rf %s", t->dir);
	assert_int_equal(system(command), 0);
}

/* Runs commands in its directory; $tests is that of the tests, in which no blank divides words. */
__attribute__((format(printf, 2, 3))) static inline void proc_tree_sh(const struct proc_tree *t,
								      const char *format, ...)
{
	char command[4096], script[3500];
	va_list args;

	va_start(args, format);
	vsnprintf(script, sizeof(script), format, args);
	va_end(args);
	snprintf(command, sizeof(command), "IFS=; tests=$PWD/" TESTS_DIR "; cd %s && {\n%s\n}",
		 t->dir, script);
	assert_int_equal(system(command), 0);
}

/* A file; name: "PID/file" or a file of the machine. */
static inline void proc_tree_put(const struct proc_tree *t, const char *name, const void *data,
				 size_t len)
{
	cleanup_close int fd =
		openat(t->proc.fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, data, len), 0);
}

static inline void proc_tree_put_text(const struct proc_tree *t, const char *name, const char *text)
{
	proc_tree_put(t, name, text, strlen(text));
}

static inline void proc_tree_add_started(const struct proc_tree *t, int pid, int ticks)
{
	char path[64], stat[160];

	snprintf(path, sizeof(path), "%d", pid);
	assert_int_equal(mkdirat(t->proc.fd, path, 0755), 0);
	snprintf(path, sizeof(path), "%d/stat", pid);
	snprintf(stat, sizeof(stat),
		 "%d (x) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %d 4096 1 2 3 4 5 6 7 8 9\n",
		 pid, ticks);
	proc_tree_put_text(t, path, stat);
}

static inline void proc_tree_add(const struct proc_tree *t, int pid)
{
	proc_tree_add_started(t, pid, 0);
}

#endif
