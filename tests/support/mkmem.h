/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interface of mkmem's shapes: their table, their reports and their memory functions. */
#ifndef MKMEM_H
#define MKMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#define KIB  ((size_t)1024)
#define PAGE ((size_t)sysconf(_SC_PAGESIZE))
/* With pages of 4 KiB. Sizes scale with the page size, so that each shape has as many pages. */
#define MIB (256 * PAGE)
#define GIB (1024 * MIB)
/* The bytes that one page table maps, and its number of entries. */
#define HUGE	(ENTRIES * PAGE)
#define ENTRIES (PAGE / sizeof(uint64_t))

/* The headers of the C library may lack these. */
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

struct shape {
	const char *name;
	const char *what;
	/* Runs in the shape's main process right after exec. Its return means ready. */
	void (*run)(void);
	bool on_request; /* not among the default shapes */
	bool busy;	 /* never idle */
};

/* One table for each mkmem_*.c; each ends with a NULL name. */
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

/* The pipe on which shapes report to mkmem. */
#define REPORT_FD 3

/* Names the shape that this process is. */
void shape_start(const char *name);

/*
 * Ends this shape with FAIL (and errno), SKIP or LACK. SKIP: the machine is not set up for it; a
 * test guest must be. LACK: this kernel, processor or file system cannot do it. shape_before is a
 * LACK on kernels before `version` (601 for 6.1), and a SKIP on others.
 */
void shape_fail(const char *what) __attribute__((noreturn));
void shape_skip(const char *reason) __attribute__((noreturn));
void shape_lack(const char *reason) __attribute__((noreturn));
void shape_before(int version, const char *reason) __attribute__((noreturn));
/* Reports that a process of this shape is ready. */
void shape_report(const char *role, pid_t pid);
/* Reports that all processes of the shape are ready, the caller included. */
void shape_ready(void);
void idle_forever(void) __attribute__((noreturn));

/*
 * Forks a process that runs fn (may be NULL), reports ready and idles. Returns when it is ready.
 * fn may also exec; the new program then calls role_is_ready().
 */
pid_t role_start(const char *role, void (*fn)(void *arg), void *arg);
/* A function for role_start(): execs another program, which shares no memory. */
void role_exec(void *unused);
void role_is_ready(int fd);
/* The fd for role_is_ready(), in fn. */
int role_fd(void);
/* To be called by every process made without role_start(). */
void die_with_parent(pid_t parent);

/* Private anonymous memory unless flags (MAP_) say otherwise. */
char *map_memory(size_t size, int flags);
/* The same at a free address; NULL if it cannot be mapped there. */
char *map_at(uintptr_t at, size_t size);
/* Private anonymous memory in pages of the base size. */
char *map_small(size_t size);
/* The same, with guards on both sides, so that it never merges with a neighbour. */
char *map_apart(size_t size);
/* Begins at a multiple of the size of a huge page; nothing is touched yet. */
char *map_aligned(size_t size);
/* A file that has no name. */
int temp_file(size_t size);
char *map_fd(int fd, size_t size, int flags);
/* Writes so much, a MIB at once. */
void write_large(int fd, size_t size);
void protect(char *p, size_t size, int prot);
/* Collapses it into huge pages. Returns false with errno; EINVAL: the kernel cannot. */
bool collapse(char *p, size_t size);
/* Writes to each page, each differently. */
void fill(char *p, size_t size);
/* Reads each page. */
void touch(const volatile char *p, size_t size);

/* The argument of roles; fill_vma and touch_vma are functions for role_start(). */
struct vma {
	char *p;
	size_t size;
};

struct vma vma_of(char *p, size_t size);
void fill_vma(void *vma);
void touch_vma(void *vma);

/* The number behind `key` in a file of "key: number" lines, -1 if it is not there. */
long file_number(const char *path, const char *key);
/* Bytes of this process from smaps_rollup. */
size_t rollup_bytes(const char *key);

#endif
