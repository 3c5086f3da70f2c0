/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mkmem's inside: shapes and what they need to say that they are ready. */
#ifndef MKMEM_H
#define MKMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#define KIB  ((size_t)1024)
#define PAGE ((size_t)sysconf(_SC_PAGESIZE))
/* With pages of 4 KiB; all is as much larger as they are, so that a shape has as many of them. */
#define MIB (256 * PAGE)
#define GIB (1024 * MIB)
/* What a table of entries maps, and how many it has. */
#define HUGE	(ENTRIES * PAGE)
#define ENTRIES (PAGE / sizeof(uint64_t))

/* Newer than the C library's headers may be. */
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

struct shape {
	const char *name;
	const char *what;
	/* Runs in the shape's main process, fresh from exec; whoever returns is ready. */
	void (*run)(void);
	bool on_request; /* not among the default shapes */
	bool busy;	 /* never idle */
};

/* One table a file, mkmem_memory.c and so on; each ends with a NULL name. */
extern const struct shape memory_shapes[];
extern const struct shape cow_shapes[];
extern const struct shape cow_vma_shapes[];
extern const struct shape thp_shapes[];
extern const struct shape folio_shapes[];
extern const struct shape file_shapes[];
extern const struct shape shmem_shapes[];
extern const struct shape maps_shapes[];
extern const struct shape swap_shapes[];
extern const struct shape ksm_shapes[];
extern const struct shape device_shapes[];
extern const struct shape task_shapes[];
extern const struct shape cpus_shapes[];

/* ---- for shapes, mkmem_shape.c ---- */

/* Where mkmem listens to its shapes. */
#define REPORT_FD 3

/* Names the shape that this process is. */
void shape_start(const char *name);

/*
 * Ends this shape: with FAIL (and errno); with SKIP where the machine is not set up for it, which a
 * guest of the tests must be; with LACK where this kernel, processor or file system cannot do it
 * however it is set up. shape_before is a LACK on kernels before `version` (601 for 6.1), and a
 * SKIP from then on.
 */
void shape_fail(const char *what) __attribute__((noreturn));
void shape_skip(const char *reason) __attribute__((noreturn));
void shape_lack(const char *reason) __attribute__((noreturn));
void shape_before(int version, const char *reason) __attribute__((noreturn));
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
/* A fn: becomes another program, which shares nothing. */
void role_exec(void *unused);
void role_is_ready(int fd);
/* The fd for role_is_ready(), in fn. */
int role_fd(void);
/* To be called by every process made without role_start(). */
void die_with_parent(pid_t parent);

/* Private anonymous memory unless flags (MAP_) say otherwise. */
char *map_memory(size_t size, int flags);
/* The same at an address, where nothing may be yet: NULL if it cannot be there. */
char *map_at(uintptr_t at, size_t size);
/* Private anonymous memory in pages of the base size. */
char *map_small(size_t size);
/* The same, with neighbours that it never becomes one mapping with. */
char *map_apart(size_t size);
/* Begins at a multiple of the size of a huge page; nothing is touched yet. */
char *map_aligned(size_t size);
/* A file that has no name. */
int temp_file(size_t size);
char *map_fd(int fd, size_t size, int flags);
/* Writes so much, a MIB at once. */
void write_large(int fd, size_t size);
void protect(char *p, size_t size, int prot);
/* Makes huge pages of it, soon. Returns false with errno: EINVAL where nobody can. */
bool collapse(char *p, size_t size);
/* Writes to each page, each differently. */
void fill(char *p, size_t size);
/* Reads each page. */
void touch(const volatile char *p, size_t size);

/* What roles are given; fill_vma and touch_vma are fns. */
struct vma {
	char *p;
	size_t size;
};

struct vma vma_of(char *p, size_t size);
void fill_vma(void *vma);
void touch_vma(void *vma);

/* The number behind `key` in a file of "key: number" lines, -1 if it is not there. */
long file_number(const char *path, const char *key);
/* Of this process, in bytes, as smaps_rollup has it. */
size_t rollup_bytes(const char *key);

#endif
