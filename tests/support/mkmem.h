/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interface of mkmem: its words, its shapes, their reports and their memory functions. */
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
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* mkmem_shapes.c: what a shape's main process does right after exec. */
struct shape {
	const char *name;
	const char *what;
	const char *steps;
	bool on_request; /* not among the default shapes */
};

/* Ends with a NULL name. */
extern const struct shape shapes[];

/* A word of the language of mkmem_steps.c; it has one of these. */
struct word {
	const char *name;
	char *(*map)(size_t size);	    /* a = WORD SIZE */
	int (*open)(size_t size);	    /* f = WORD SIZE */
	void (*act)(char *p, size_t size);  /* WORD RANGE */
	void (*file)(int fd);		    /* WORD f */
	void (*call)(void);		    /* WORD */
	void (*block)(const char *, int n); /* WORD*n { STEPS } */
	int advice;			    /* WORD RANGE: what madvise() is told of it */
	int flags;			    /* a = WORD SIZE without a function, and a = WORD f */
};

/* One table for each file with words; each ends with a NULL name. */
extern const struct word steps_words[];
extern const struct word memory_words[];
extern const struct word huge_words[];
extern const struct word swap_words[];
extern const struct word device_words[];
extern const struct word task_words[];
extern const struct word lab_words[];

/* ---- mkmem_shape.c ---- */

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
/* Fails if it is negative; skips if the call is missing (older kernel) or denied (container). */
int need_fd(int fd, const char *what);
/* Reports that a process of this shape is ready. */
void shape_report(const char *role, pid_t pid);
void idle_forever(void) __attribute__((noreturn));

/*
 * Forks a process that runs fn, says that it is ready and idles. Returns when it is ready.
 * fn may also exec; the new program then calls role_goes_on().
 */
void role_start(const char *role, void (*fn)(void *arg), void *arg);
/* This process is ready: a role or, with all others, the main process of the shape. */
void tell_ready(void);
/* This program goes on for the role that has this fd. */
void role_goes_on(int fd);
int role_fd(void);
/* To be called by every process made without role_start(). */
void die_with_parent(pid_t parent);

/* Private anonymous memory unless flags (MAP_) say otherwise. */
char *map_memory(size_t size, int flags);
/* The end of user space with 3 or 4 levels of page tables. */
#define SPACE_END ((size_t)1 << 47)
/* Small pages at a free address; NULL if it cannot be mapped there. */
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
int memory_file(size_t size);
/* Writes so much, a MIB at once. */
void write_file(int fd, size_t at, size_t size);
void protect(char *p, size_t size, int prot);
/* Collapses it into huge pages. Returns false with errno; EINVAL: the kernel cannot. */
bool collapse(char *p, size_t size);
/* Writes to each page, each differently. */
void fill(char *p, size_t size);

/* The text of a small file, "" if there is none. The same memory each time. */
const char *file_text(const char *path);
/* The number behind `key` in a file of "key: number" lines, -1 if it is not there. */
long file_number(const char *path, const char *key);
/* Bytes of this process from smaps_rollup. */
size_t rollup_bytes(const char *key);

/* ---- mkmem_steps.c ---- */

/* Does the steps of a text, up to its end or to a closing brace. */
void steps(const char *text);
/* The steps of a block that is the n-th of several: # in them. */
void steps_of_turn(const char *text, int n);
/* Calls `act` for each area. */
void each_area(void (*act)(char *p));

/* ---- of other files ---- */

size_t hugetlb_size(void);
int uring_file(size_t unused);
bool enter_group(const char *name, size_t len);
void change_group(const char *name);
void mount_here(const char *type);
/* Returns a descriptor to run it: this program in `to`, which is closed, and so many bytes more. */
int copy_program(int to, size_t more);
void become(const char *kind, size_t size, const char *text) __attribute__((noreturn));
void pin(int cpu);
void merge(char *p, size_t size, int content);

#endif
