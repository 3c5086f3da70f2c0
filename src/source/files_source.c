// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs the BPF program that lists inodes until it has seen all file systems. Each run is a visit of
 * at most ZMEM_FILES_STEPS inodes, so that no visit holds a CPU for long.
 */
#include "source/files_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "load/bpf_diagnose.h"
#include "load/bpf_load.h"
#include "privilege/privilege.h"
#include "proc/mounts.h"
#include "source/files_decode.h"

#define TRIES 5
/* All files are read for at most a twenty-fifth of a CPU, and a fourth of the time. */
#define CPU_PART    25
#define TIME_PART   4
#define PAUSE_LEAST 2000000 /* us */
#define SUBJECT	    "files"

struct files_source {
	struct bpf_handle handle;
	struct zmem_files *visit; /* what a run of the program is asked and answers */
	int memfd;
	unsigned visits;
	uint32_t steps;		  /* the most of a visit */
	uint64_t cpu_us, time_us; /* what the last set took */
	struct file_set sums;	  /* shared memory, of files_source_sum() */
	struct mounts mounts;	  /* of the last set, which has names of it */
};

/* A file of one page, which leads to the list of all file systems. */
static int make_memfd(struct files_source *s)
{
	s->memfd = memfd_create("zmem-bpf", MFD_CLOEXEC);
	if (s->memfd < 0)
		return -errno;
	return write(s->memfd, "z", 1) == 1 ? 0 : -EIO;
}

/* Nothing replaces this program, so the hint does not name --source. */
static void note_failure(struct diag *diag, const char *step, int error,
			 const struct bpf_missing *missing)
{
	bool held = privilege_loads();

	if (held && error == -EINVAL && !bpf_diagnose_probe_reads_allowed()) {
		diag_add(diag, SUBJECT, error, NULL,
			 "lockdown=confidentiality forbids the probe reads that it needs");
		return;
	}
	bpf_diagnose_note(diag, SUBJECT, step, error, missing);
	if (diag->count && !file_exhausted(error) && error != -EAGAIN && !missing->name[0])
		diag->note[diag->count - 1].hint =
			held ? "it needs Linux 5.17 with BTF"
			: privilege_is_first_namespace()
				? "run as root or with CAP_BPF and CAP_PERFMON"
				: BPF_DIAGNOSE_OUTSIDE;
}

int files_source_open(struct diag *diag, struct files_source **ret)
{
	struct files_source *s = calloc(1, sizeof(*s));
	const char *step = "loading the program";
	struct bpf_missing missing = {};
	int r;

	if (!s)
		return -ENOMEM;
	s->memfd = -1;
	r = bpf_load(OBJECT_FILES, LOADER_EITHER, NULL, &s->handle, &missing);
	if (r == 0) {
		s->visit = s->handle.answers;
		step = "making a memfd";
		r = make_memfd(s);
	}
	if (r < 0) {
		note_failure(diag, step, r, &missing);
		files_source_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void files_source_close(struct files_source *s)
{
	if (!s)
		return;
	bpf_handle_close(&s->handle);
	close_fd(&s->memfd);
	mounts_done(&s->mounts);
	file_set_done(&s->sums);
	free(s);
}

uint64_t files_source_pause_us(const struct files_source *s)
{
	uint64_t cpu = s->cpu_us * CPU_PART, time = s->time_us * TIME_PART;
	uint64_t us = cpu > time ? cpu : time;

	return us < PAUSE_LEAST ? PAUSE_LEAST : (us + 999999) / 1000000 * 1000000;
}

unsigned files_source_visits(const struct files_source *s)
{
	return s->visits;
}

uint32_t files_source_steps(const struct files_source *s)
{
	return s->steps;
}

struct file_set *files_source_shmem(struct files_source *s)
{
	return &s->sums;
}

/* A block device has no name in its own file system: "8:1" is sda1. */
static int name_device(struct file_set *set, struct cached_file *file)
{
	char link[64], target[512];
	struct text_part base;
	ssize_t len;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", FILE_MAJOR(file->device),
		 FILE_MINOR(file->device));
	len = readlink(link, target, sizeof(target));
	if (len <= 0 || (size_t)len == sizeof(target))
		return 0;
	base = part_base((struct text_part){target, (size_t)len});
	file->name = arena_strndup(&set->arena, base.s, base.len);
	return file->name ? 0 : -ENOMEM;
}

/* Walks all file systems once. -ESTALE: the place of a visit was gone at the next one. */
static int walk(struct files_source *s, enum zmem_files_mode mode, struct files_decoder *d)
{
	struct zmem_files *v = s->visit;
	int r;

	v->state = ZMEM_FILES_BEGIN;
	v->mode = mode;
	v->memfd = (uint32_t)s->memfd;
	do {
		s->visits++;
		r = bpf_program_run(s->handle.fd[BPF_RUN]);
		if (v->steps > s->steps)
			s->steps = v->steps;
		if (r == 0 && v->count > ZMEM_FILES_BATCH)
			r = -EPROTO;
		if (r == 0)
			r = files_decode(d, v->file, v->count);
	} while (r == 0 && v->state == ZMEM_FILES_MORE);
	if (r < 0)
		return r;
	if (v->state == ZMEM_FILES_CHANGED)
		return -ESTALE;
	return v->state == ZMEM_FILES_DONE ? 0 : -ENOTSUP;
}

/* Walks until no file system went away between two visits. */
static int read_all(struct files_source *s, enum zmem_files_mode mode, const struct mounts *mounts,
		    struct file_set *set)
{
	int r = -EAGAIN;

	s->visits = s->steps = 0;
	for (int i = 0; i < TRIES; i++) {
		struct files_decoder d = {
			.set = set, .mounts = mounts, .page_size = (uint32_t)sysconf(_SC_PAGESIZE)};

		file_set_clear(set);
		r = walk(s, mode, &d);
		if (r != -ESTALE)
			return r;
	}
	return -EAGAIN;
}

static bool is_zero(int dir, const char *path, const char *name)
{
	uint64_t n;

	return file_number(dir, path, name, &n) && !n;
}

/* No list tells whether there are such files; some numbers tell that there are none. */
static void drop_unlisted(const struct procfs *proc, struct file_set *set)
{
	static const char *const users[] = {"/sys/module/kvm_intel/refcnt",
					    "/sys/module/kvm_amd/refcnt"};
	bool guests = access("/sys/module/kvm", F_OK) == 0;

	for (size_t i = 0; i < ARRAY_SIZE(users); i++)
		guests &= !is_zero(AT_FDCWD, users[i], "");
	if (!guests)
		set->unlisted &= ~(1u << FILE_UNLISTED_GUEST_MEMFD);
	if (is_zero(proc->fd, "sys/fs/aio-nr", ""))
		set->unlisted &= ~(1u << FILE_UNLISTED_AIO);
	/* The pages of both are unevictable. */
	if (is_zero(proc->fd, "vmstat", "nr_unevictable "))
		set->unlisted &= ~(1u << FILE_UNLISTED_SECRETMEM | 1u << FILE_UNLISTED_GUEST_MEMFD);
}

/* The same with the paths of files as they are mounted here. */
static int read_with_paths(struct files_source *s, enum zmem_files_mode mode,
			   const struct procfs *proc, struct file_set *set)
{
	int r;

	mounts_done(&s->mounts);
	r = mounts_read(proc->fd, "self/mountinfo", &s->mounts);
	/* Without it paths begin at the root of their file system. */
	return r == -ENOMEM ? r : read_all(s, mode, &s->mounts, set);
}

int files_source_read(struct files_source *s, const struct procfs *proc, struct file_set *set)
{
	uint64_t start = clock_us(CLOCK_MONOTONIC), cpu = clock_us(CLOCK_THREAD_CPUTIME_ID);
	int r = read_with_paths(s, ZMEM_FILES_ALL, proc, set);

	for (size_t i = 0; r == 0 && i < set->count; i++) {
		if (set->file[i].kind == FILE_BLOCK)
			r = name_device(set, &set->file[i]);
	}
	if (r == 0)
		drop_unlisted(proc, set);
	s->time_us = clock_us(CLOCK_MONOTONIC) - start;
	s->cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID) - cpu;
	return r;
}

int files_source_large(struct files_source *s, const struct procfs *proc, uint64_t least,
		       struct file_set **ret)
{
	uint64_t pages = least / (uint64_t)sysconf(_SC_PAGESIZE);
	int r;

	s->visit->least = !pages ? 1 : pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX;
	r = read_with_paths(s, ZMEM_FILES_SHMEM, proc, &s->sums);
	s->visit->least = 0;
	*ret = &s->sums;
	return r;
}

int files_source_sum(struct files_source *s, bool cache, struct machine_files *ret)
{
	static const struct mounts none;
	struct machine_files sum = {};
	int r = read_all(s, cache ? ZMEM_FILES_SUMS : ZMEM_FILES_SHMEM, &none, &s->sums);

	if (r < 0)
		return r;
	/* A list that changed at every try lacks some of its files. */
	sum.shmem_known = !s->sums.unsure;
	sum.cache_known = cache && !s->sums.unsure;
	sum.cache = s->visit->cache_before * (uint64_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < s->sums.count; i++) {
		const struct cached_file *f = &s->sums.file[i];

		sum.shmem += f->resident;
		sum.shmem_swapped += f->swapped;
		if (f->kind == FILE_TMPFS)
			sum.swapped_tmpfs += f->swapped;
		if (f->mapped)
			continue;
		sum.unmapped[f->kind] += f->resident;
		if (f->kind != FILE_TMPFS)
			sum.swapped_unmapped += f->swapped;
	}
	*ret = sum;
	return 0;
}
