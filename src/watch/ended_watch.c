// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/ended_watch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/trim.h"
#include "load/bpf_diagnose.h"
#include "load/bpf_load.h"
#include "proc/cgroup.h"
#include "source/cgroup_path.h"
#include "source/reader.h"
#include "zmem/ended.h"

#define SUBJECT "ended processes"

enum { MAP_SETTINGS, MAP_SUMS, MAP_PATHS, MAP_REST, MAPS };

/* The link holds the program. What libbpf keeps of an object would hold its memory back. */
struct ended_watch {
	int link_fd, program_fd;
	int map_fd[MAPS];
	struct zmem_ended_settings settings;
	bool unread;		      /* the turn before */
	bool kept;		      /* what was read last */
	uint64_t began_us, turned_us; /* CLOCK_MONOTONIC: the turn before, and this one */
	uint64_t missed;	      /* so far */
	char root[OOM_CGROUP_MAX];
	struct ended_sum sum;
	struct ended_processes ended;
	/* Keys of one map, room for all. */
	struct zmem_ended_key key[ZMEM_ENDED_SUMS];
	struct zmem_ended_path_key path[ZMEM_ENDED_PATHS];
};

/* ---- opening ---- */

static int duplicate(int fd, int *ret)
{
	*ret = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return *ret < 0 ? -errno : 0;
}

static int write_settings(struct ended_watch *w)
{
	const uint32_t zero = 0;

	return bpf_map_update_elem(w->map_fd[MAP_SETTINGS], &zero, &w->settings, 0) < 0 ? -errno
											: 0;
}

/* Reads a path, without its memory cgroup. "": it is not known. */
static void read_path(const struct ended_watch *w, const struct zmem_ended_path_key *key,
		      char ret[OOM_CGROUP_MAX])
{
	struct zmem_ended_path path;

	*ret = '\0';
	if (bpf_map_lookup_elem(w->map_fd[MAP_PATHS], key, &path) == 0 &&
	    cgroup_path_read(&path.path, path.names, ret, NULL) != ZMEM_OOM_PATH_KNOWN)
		*ret = '\0';
}

static int attach(struct ended_watch *w, const struct bpf_handle *object)
{
	static const enum bpf_part map[MAPS] = {[MAP_SETTINGS] = BPF_SETTINGS,
						[MAP_SUMS] = BPF_SUMS,
						[MAP_PATHS] = BPF_PATHS,
						[MAP_REST] = BPF_REST};
	const int program = object->fd[BPF_ENDED_TRACEPOINT] > 0 ? object->fd[BPF_ENDED_TRACEPOINT]
								 : object->fd[BPF_ENDED_TASKSTATS];
	int r = bpf_program_run(object->fd[BPF_RUN]);

	for (int i = 0; r == 0 && i < MAPS; i++)
		r = duplicate(object->fd[map[i]], &w->map_fd[i]);
	if (r == 0)
		r = duplicate(program, &w->program_fd);
	if (r == 0)
		r = write_settings(w);
	if (r < 0)
		return r;
	read_path(w, &(struct zmem_ended_path_key){0, ZMEM_ENDED_TURNS}, w->root);
	w->link_fd = bpf_raw_tracepoint_open(NULL, program);
	return w->link_fd < 0 ? -errno : 0;
}

/* By the tracepoint, if it comes while the memory is there, else by the function before it. */
static int load(struct bpf_handle *ret, struct diag *diag)
{
	static const char *const by_tracepoint[] = {"ended_taskstats", NULL},
				 *const by_function[] = {"ended_tracepoint", NULL};
	static const struct {
		enum bpf_object_id id;
		const char *const *without;
	} variant[] = {{OBJECT_ENDED, by_tracepoint},
		       {OBJECT_ENDED, by_function},
		       {OBJECT_ENDED_OLD, by_function}};
	int r = -ENOTSUP;

	for (size_t i = 0; r < 0 && r != -ENOMEM && i < ARRAY_SIZE(variant); i++) {
		const struct bpf_sizes sizes = {.without = variant[i].without};

		diag_clear(diag);
		r = bpf_load_noted(SUBJECT, variant[i].id, LOADER_LIBBPF, &sizes, diag, ret);
	}
	return r;
}

static void closep(struct ended_watch **w)
{
	ended_watch_close(*w);
}

struct opening {
	struct diag *diag;
	struct ended_watch **ret;
};

static int open_watch(void *arg)
{
	struct opening *o = arg;
	cleanup(closep) struct ended_watch *w = calloc(1, sizeof(*w));
	cleanup(bpf_handle_close) struct bpf_handle object = {};
	int r;

	if (!w)
		return -ENOMEM;
	w->link_fd = w->program_fd = -1;
	for (size_t i = 0; i < MAPS; i++)
		w->map_fd[i] = -1;
	w->settings.least = ENDED_LEAST / reader_limits().page_size;
	r = load(&object, o->diag);
	if (r < 0)
		return r;
	r = attach(w, &object);
	if (r < 0) {
		bpf_diagnose_note(o->diag, SUBJECT, "attaching to exits", r, NULL);
		return r;
	}
	w->began_us = w->turned_us = clock_us(CLOCK_MONOTONIC);
	*o->ret = w;
	w = NULL;
	return 0;
}

int ended_watch_open(struct diag *diag, struct ended_watch **ret)
{
	struct opening o = {diag, ret};

	memory_trim_threads();
	return thread_call(open_watch, &o);
}

void ended_watch_close(struct ended_watch *w)
{
	if (!w)
		return;
	close_fd(&w->link_fd);
	close_fd(&w->program_fd);
	for (size_t i = 0; i < MAPS; i++)
		close_fd(&w->map_fd[i]);
	ended_sum_done(&w->sum);
	free(w);
}

/* ---- turns ---- */

void ended_watch_turn(struct ended_watch *w)
{
	if (w->unread)
		return;
	w->unread = true;
	w->settings.turn ^= 1;
	w->began_us = w->turned_us;
	w->turned_us = clock_us(CLOCK_MONOTONIC);
	write_settings(w);
}

/* All keys of a map. A map that changes meanwhile may give some twice. */
static size_t list_keys(int map, void *key, size_t size, size_t room)
{
	char *at = key;
	size_t count = 0;

	while (count < room && bpf_map_get_next_key(map, count ? at + (count - 1) * size : NULL,
						    at + count * size) == 0)
		count++;
	return count;
}

static int add_sum(struct ended_watch *w, const struct zmem_ended_key *key,
		   const struct zmem_ended_sum *sum)
{
	const struct zmem_ended_path_key path = {key->cgroup, key->turn};
	char name[sizeof(key->comm) + 1] = {}, from_root[OOM_CGROUP_MAX] = "";
	char cgroup[4 * OOM_CGROUP_MAX]; /* "/.." for each level of the root */
	struct ended_row row = {
		.name = name, .count = sum->count, .peak = sum->peak * reader_limits().page_size};

	memcpy(name, key->comm, sizeof(key->comm));
	if (key->cgroup && *w->root)
		read_path(w, &path, from_root);
	if (*from_root && cgroup_seen_from(w->root, from_root, cgroup, sizeof(cgroup)))
		row.cgroup = cgroup;
	return ended_sum_row(&w->sum, &row);
}

static int read_sums(struct ended_watch *w, uint32_t turn)
{
	const int map = w->map_fd[MAP_SUMS];
	const size_t count = list_keys(map, w->key, sizeof(*w->key), ARRAY_SIZE(w->key));
	struct zmem_ended_sum sum;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		if (w->key[i].turn == turn && bpf_map_lookup_elem(map, &w->key[i], &sum) == 0 &&
		    bpf_map_delete_elem(map, &w->key[i]) == 0)
			r = add_sum(w, &w->key[i], &sum);
	}
	return r;
}

static void remove_paths(struct ended_watch *w, uint32_t turn)
{
	const int map = w->map_fd[MAP_PATHS];
	const size_t count = list_keys(map, w->path, sizeof(*w->path), ARRAY_SIZE(w->path));

	for (size_t i = 0; i < count; i++) {
		if (w->path[i].turn == turn)
			bpf_map_delete_elem(map, &w->path[i]);
	}
}

static int read_rest(struct ended_watch *w, uint32_t turn)
{
	struct zmem_ended_sum rest;
	const struct zmem_ended_sum none = {};

	if (bpf_map_lookup_elem(w->map_fd[MAP_REST], &turn, &rest) < 0 ||
	    bpf_map_update_elem(w->map_fd[MAP_REST], &turn, &none, 0) < 0)
		return -errno;
	ended_sum_others(&w->sum, rest.count, rest.peak * reader_limits().page_size);
	return 0;
}

/* The kernel leaves a program out if it interrupts itself on a CPU. */
static uint64_t count_missed(struct ended_watch *w)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);
	const uint64_t before = w->missed;

	if (bpf_obj_get_info_by_fd(w->program_fd, &info, &len) < 0)
		return 0;
	w->missed = info.recursion_misses;
	return w->missed - before;
}

int ended_watch_read(struct ended_watch *w, const struct ended_processes **ret)
{
	const uint32_t turn = w->settings.turn ^ 1;
	const uint64_t took_ms = (w->turned_us - w->began_us) / 1000 + ENDED_TICK_MS / 2;
	int r;

	if (!w->unread)
		return -EAGAIN;
	w->unread = false;
	if (!w->kept)
		ended_sum_clear(&w->sum);
	w->kept = false;
	r = read_rest(w, turn);
	if (r == 0)
		r = read_sums(w, turn);
	remove_paths(w, turn);
	w->sum.all.missed += count_missed(w);
	w->sum.all.over_ms +=
		took_ms < ENDED_TICK_MS ? ENDED_TICK_MS : took_ms / ENDED_TICK_MS * ENDED_TICK_MS;
	ended_sum_end(&w->sum, &w->ended);
	if (r == 0)
		*ret = &w->ended;
	return r;
}

void ended_watch_keep(struct ended_watch *w)
{
	w->kept = true;
}
