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
	/* What its main process does right after exec: in the language of mkmem_steps.c, or a
	 * function. */
	const char *steps;
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
/* Shapes that are told at run time have the end of a pipe that closes with mkmem. */
#define KEEPER_FD   4
#define KEEPER_TEXT "4"

/* Names the shape that this process is. */
void shape_start(const char *name);
const char *shape_is(void);

/*
 * Ends this shape with FAIL (and errno), SKIP or LACK. SKIP: the machine is not set up for it; a
 * test guest must be. LACK: this kernel, processor or file system cannot do it. shape_before is a
 * LACK on kernels before `version` (601 for 6.1), and a SKIP on others.
 */
void shape_fail(const char *what) __attribute__((noreturn));
void shape_skip(const char *reason) __attribute__((noreturn));
void shape_lack(const char *reason) __attribute__((noreturn));
void shape_before(int version, const char *reason) __attribute__((noreturn));
bool kernel_before(int version);
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
void role_is_ready(int fd);
/* This program goes on for a role. */
void role_goes_on(int fd);
/* The fd for role_is_ready(), in fn; 0 in the main process. */
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
/* A template for mkstemp() and mkdtemp(), the same memory each time. */
char *temp_path(const char *name);
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
void touch(char *p, size_t size);

/* The number behind `key` in a file of "key: number" lines, -1 if it is not there. */
long file_number(const char *path, const char *key);
/* Bytes of this process from smaps_rollup. */
size_t rollup_bytes(const char *key);

/* ---- mkmem_steps.c ---- */

/* Does the steps of a text, up to its end or to a closing brace. */
void steps(const char *text);
/* Gives memory a name for steps(). */
void set_area(char name, char *p, size_t size);

/* ---- for mkmem_steps.c, by files with shapes that need them; they end the shape if it cannot be
 * ----
 */

size_t hugetlb_size(void);
char *map_heap(size_t size);
char *map_hugetlb(size_t size);
char *map_shared_hugetlb(size_t size);
char *map_huge(size_t size);
char *map_swapped(size_t size);
char *map_sysv(size_t size);

int filled_file(size_t size);
int written_file(size_t size);
int memory_file(size_t size);
int secret_file(size_t size);
int huge_file(size_t size);
int dev_zero(size_t unused);

void collapse_small(char *p, size_t size);
void fill_mixed(char *p, size_t size);
void guard(char *p, size_t size);
void merge(char *p, size_t size, int content);
void need_huge_shmem(char *p, size_t size);
void none_huge(char *p, size_t size);
void page_out(char *p, size_t size);

/* mkmem_lab.c */
char *map_segment(size_t size);
int named_file(size_t size);
int unnamed_file(size_t size);
void write_file(int fd, size_t at, size_t size);
void send_file(int fd);
void register_file(int fd);
bool enter_group(const char *name, size_t len);
void change_group(const char *name);
void new_mounts(void);
void new_ipc(void);
void new_pids(void);
void new_users(void);
void mount_here(const char *type);
void go_home(void);
void become(const char *kind, size_t size, const char *text) __attribute__((noreturn));

/* In a role: becomes another program, which shares no memory. */
void role_exec(void);
void exec_and_end(void);
void fork_and_end(void);
void vfork_and_exec(void);
void need_thp(void);
void watch_writes(void);

#endif
