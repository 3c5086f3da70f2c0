/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Measures what a process holds: memory, files, threads and kernel objects. */
#ifndef ZMEM_TESTS_SOAK_MEASURE_H
#define ZMEM_TESTS_SOAK_MEASURE_H

#include <bpf/bpf.h>
#include <ctype.h>
#include <dirent.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "noise.h"

struct holdings {
	size_t heap; /* bytes in use */
	size_t rss;  /* bytes */
	int files, threads, objects;
};

/* Ids of our kernel objects; the kernel does not reuse ids. */
struct object {
	enum { OBJECT_PROG, OBJECT_MAP, OBJECT_LINK } kind;
	unsigned id;
};

struct objects {
	struct object *item;
	size_t count, capacity;
};

static inline int count_entries(const char *path)
{
	cleanup_closedir DIR *dir = opendir(path);
	const struct dirent *e;
	int count = 0;

	while (dir && (e = readdir(dir)))
		count += isdigit((unsigned char)e->d_name[0]) != 0;
	return count - !strcmp(path, "/proc/self/fd"); /* the directory itself */
}

static inline size_t read_rss(void)
{
	cleanup_fclose FILE *file = fopen("/proc/self/statm", "re");
	size_t size, resident = 0;

	if (!file || fscanf(file, "%zu %zu", &size, &resident) != 2)
		return 0;
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static inline void remember(struct objects *o, struct object object)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->item[i].kind == object.kind && o->item[i].id == object.id)
			return;
	if (o->count == o->capacity) {
		o->capacity = o->capacity ? 2 * o->capacity : 64;
		o->item = reallocarray(o->item, o->capacity, sizeof(*o->item));
		if (!o->item)
			abort();
	}
	o->item[o->count++] = object;
}

/* The BPF object of one of our descriptors; false if it is none. */
static inline bool object_of(const char *fd, struct object *ret)
{
	cleanup_fclose FILE *file = NULL;
	char path[300], line[128];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", fd);
	file = fopen(path, "re");
	/* A link names its program after its own id. */
	while (file && !found && fgets(line, sizeof(line), file)) {
		found = true;
		if (sscanf(line, "link_id: %u", &ret->id) == 1)
			ret->kind = OBJECT_LINK;
		else if (sscanf(line, "prog_id: %u", &ret->id) == 1)
			ret->kind = OBJECT_PROG;
		else if (sscanf(line, "map_id: %u", &ret->id) == 1)
			ret->kind = OBJECT_MAP;
		else
			found = false;
	}
	return found;
}

/* Counts the kernel objects that we have open, and remembers them. */
static inline int count_objects(struct objects *o)
{
	cleanup_closedir DIR *dir = opendir("/proc/self/fd");
	const struct dirent *e;
	struct object object;
	int count = 0;

	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]) && object_of(e->d_name, &object)) {
			remember(o, object);
			count++;
		}
	return count;
}

static inline struct holdings measure(struct objects *o)
{
	struct holdings h = {};

	malloc_trim(0);
	h.objects = count_objects(o);
	h.files = count_entries("/proc/self/fd");
	h.threads = count_entries("/proc/self/task");
	h.heap = mallinfo2().uordblks + mallinfo2().hblkhd - o->capacity * sizeof(*o->item);
	h.rss = read_rss();
	return h;
}

static inline bool is_there(const struct object *o)
{
	int fd = o->kind == OBJECT_PROG	 ? bpf_prog_get_fd_by_id(o->id)
		 : o->kind == OBJECT_MAP ? bpf_map_get_fd_by_id(o->id)
					 : bpf_link_get_fd_by_id(o->id);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* What may grow: heap is what malloc and the kernel round. */
struct slack {
	size_t heap, rss;
};

/* `most`: the machine had so many processes, more than before, so buffers grew; 0: no more. */
static inline void compare(struct verdicts *v, const char *when, size_t most, struct slack slack,
			   const struct holdings *a, const struct holdings *b)
{
	const struct {
		const char *what;
		bool memory;
		size_t before, after, slack;
	} is[] = {
		{"memory in use", true, a->heap, b->heap, slack.heap},
		{"memory resident", true, a->rss, b->rss, slack.rss},
		{"open files", false, (size_t)a->files, (size_t)b->files, 0},
		{"kernel objects", false, (size_t)a->objects, (size_t)b->objects, 0},
		{"threads", false, (size_t)a->threads, (size_t)b->threads, 0},
	};

	if (most)
		printf("skip %s: memory, %s: the machine had more processes than our fleet, %zu\n",
		       v->who, when, most);
	for (size_t i = 0; i < sizeof(is) / sizeof(*is); i++) {
		char name[96];

		snprintf(name, sizeof(name), "no more %s, %s", is[i].what, when);
		if (!most || !is[i].memory)
			verdict(v, is[i].after <= is[i].before + is[i].slack, name, is[i].before,
				is[i].after);
		printf("# %s: %s, %s: %zu to %zu\n", v->who, when, is[i].what, is[i].before,
		       is[i].after);
	}
}

/* How many of them still exist. The kernel frees them a moment after the last reference. */
static inline size_t count_left(const struct objects *o)
{
	size_t left = 0;

	for (int tries = 0; tries < 100; tries++) {
		left = 0;
		for (size_t i = 0; i < o->count; i++)
			left += is_there(&o->item[i]);
		if (!left)
			break;
		usleep(100000);
	}
	return left;
}

#endif
