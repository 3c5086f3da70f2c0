/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mkmem's inside: shapes and what they need to say that they are ready. */
#ifndef MKMEM_H
#define MKMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

struct shape {
	const char *name;
	const char *what;
	/* Runs in the shape's main process, fresh from exec; whoever returns is ready. */
	void (*run)(void);
	bool on_request; /* not among the default shapes */
	bool busy;	 /* never idle */
};

/* mkmem_memory.c and mkmem_tasks.c; each ends with a NULL name. */
extern const struct shape memory_shapes[];
extern const struct shape task_shapes[];

/* ---- for shapes, mkmem_shape.c ---- */

/* Where mkmem listens to its shapes. */
#define REPORT_FD 3

/* Names the shape that this process is. */
void shape_start(const char *name);

/* Ends this shape with FAIL (and errno) or SKIP and a reason. */
void shape_fail(const char *what) __attribute__((noreturn));
void shape_skip(const char *reason) __attribute__((noreturn));
/* Says that a process of this shape is ready. */
void shape_report(const char *role, pid_t pid);
/* Says that all of them are, the caller's included. */
void shape_ready(void);
void idle_forever(void) __attribute__((noreturn));

/*
 * Forks a process that runs fn (may be NULL), says it is ready and idles; returns when it is.
 * fn may also exec, and the new program then call role_is_ready().
 */
pid_t role_start(const char *role, void (*fn)(void *arg), void *arg);
void role_is_ready(int fd);
/* The fd for role_is_ready(), in fn. */
int role_fd(void);
/* To be called by every process made without role_start(). */
void die_with_parent(pid_t parent);

/* Private anonymous memory unless flags (MAP_) say otherwise. */
char *map_memory(size_t size, int flags);
/* Writes to each page, each differently. */
void fill(char *p, size_t size);
/* Reads each page. */
void touch(const volatile char *p, size_t size);
/* The number behind `key` in a file of "key: number" lines, -1 if it is not there. */
long file_number(const char *path, const char *key);

#endif
