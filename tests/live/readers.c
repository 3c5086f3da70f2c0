// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * readers COMM ROUNDS PID…
 *
 * Checks that several readers of one loaded BPF program do not disturb each other: 1, 2 and 8
 * readers must see the same processes, each once, with the same values of those named COMM, which
 * share no file with others. Then the same for one reader of the object by probe reads, which the
 * program uses only on older kernels, also while its rooms for walks are taken. And that memos are
 * made of what processes share (PIDs, 16 MiB), and change no value. Links the library,
 * because the program itself chooses the object and the number of readers.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "source/source.h"

static bool failed;
static const char *comm;

static void result(bool good, const char *what, const char *why)
{
	printf(good ? "ok %s\n" : "not ok %s: %s\n", what, why);
	failed |= !good;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* A value that changed is compared in the next round. A new process's vdso moves PSS by < 1 kB. */
static bool same_process(const struct process *a, const struct process *b)
{
	if (a->value[COUNTER_RSS] != b->value[COUNTER_RSS] || a->start_ns != b->start_ns)
		return true;
	if (a->pss_source != PSS_FROM_KERNEL || b->pss_source != PSS_FROM_KERNEL)
		return true;
	return distance(a->value[COUNTER_PSS], b->value[COUNTER_PSS]) <= 1024 &&
	       distance(a->value[COUNTER_PSS_FILE], b->value[COUNTER_PSS_FILE]) <= 1024 &&
	       a->value[COUNTER_PSS_SHMEM] == b->value[COUNTER_PSS_SHMEM];
}

struct tally {
	size_t compared, vouched, missing, twice, different;
};

static void compare(const struct snapshot *one, const struct snapshot *many, struct tally *t)
{
	for (size_t i = 0; i < many->count; i++) {
		const struct process *p = &many->process[i];

		t->twice += snapshot_find(many, p->pid) != p;
	}
	for (size_t i = 0; i < one->count; i++) {
		const struct process *a = &one->process[i];
		const struct process *b = snapshot_find(many, a->pid);

		if (strcmp(a->comm, comm))
			continue;
		t->compared++;
		t->missing += !b;
		t->vouched += b && b->pss_source == PSS_FROM_KERNEL;
		t->different += b && !same_process(a, b);
	}
}

/* Compares the sources; `vouched`: whether the second one has the PSS of each process. */
static void compare_sources(struct source *a, struct source *b, int rounds, bool vouched,
			    const char *what)
{
	cleanup(snapshot_done) struct snapshot one = {}, other = {};
	struct tally t = {};
	char why[120];
	int r = 0;

	for (int i = 0; r == 0 && i < rounds; i++) {
		r = source_collect(a, &one);
		if (r == 0)
			r = source_collect(b, &other);
		if (r == 0)
			compare(&one, &other, &t);
	}
	snprintf(why, sizeof(why),
		 "%s; %zu compared, %zu missing, %zu twice, %zu different, %zu vouched for",
		 r < 0 ? strerror(-r) : "read", t.compared, t.missing, t.twice, t.different,
		 t.vouched);
	result(r == 0 && t.compared && !t.twice && !t.different && !t.missing &&
		       t.vouched == (vouched ? t.compared : 0),
	       what, why);
}

static void check(const struct procfs *proc, unsigned readers, int rounds)
{
	cleanup(diag_clear) struct diag diag = {};
	struct source_request request = {.choice = SOURCE_BPF, .pss = true, .readers = 1};
	struct source *one = NULL, *many = NULL;
	char what[80];
	int r = source_open(&request, proc, &diag, &one);

	request.readers = readers;
	if (r == 0)
		r = source_open(&request, proc, &diag, &many);
	snprintf(what, sizeof(what), "%u readers: %d times the same as one", readers, rounds);
	if (r == 0)
		compare_sources(one, many, rounds, true, what);
	else
		result(false, what, strerror(-r));
	source_close(one);
	source_close(many);
}

/* ---- rooms ---- */

#define PROBE_READS "bpf with pages (probe reads)"
/* bpf/room.bpf.h: each CPU has a room for root, then one for others. */
#define OF_ROOT	  0
#define OF_OTHERS 1

static const struct source_variant *find_variant(const char *name)
{
	for (size_t i = 0; source_variant(i); i++) {
		if (!strcmp(source_variant_name(source_variant(i)), name))
			return source_variant(i);
	}
	return NULL;
}

/* Returns a descriptor of the program's map of that name, or -1. */
static int map_of_program(int program, const char *name)
{
	__u32 ids[64];
	struct bpf_prog_info info = {.nr_map_ids = 64, .map_ids = (uintptr_t)ids};
	unsigned size = sizeof(info);

	if (bpf_obj_get_info_by_fd(program, &info, &size) < 0)
		return -1;
	for (__u32 i = 0; i < info.nr_map_ids && i < 64; i++) {
		struct bpf_map_info map = {};
		int fd = bpf_map_get_fd_by_id(ids[i]);

		size = sizeof(map);
		if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &map, &size) == 0 &&
		    !strcmp(map.name, name))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

/* The map of a program that this process has attached: others have maps of that name, too. */
static int find_map(const char *name)
{
	int found = -1;

	for (int fd = 3; fd < 1024 && found < 0; fd++) {
		struct bpf_link_info link = {};
		unsigned size = sizeof(link);
		char path[32], kind[32] = "";
		int program;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, kind, sizeof(kind) - 1) < 0 || !strstr(kind, "bpf_link") ||
		    bpf_obj_get_info_by_fd(fd, &link, &size) < 0)
			continue;
		program = bpf_prog_get_fd_by_id(link.prog_id);
		if (program >= 0) {
			found = map_of_program(program, name);
			close(program);
		}
	}
	return found;
}

/* The first word of a room says that it is taken. */
static int set_rooms(int map, unsigned first, uint32_t taken)
{
	uint32_t room[512];
	int count = 0;

	for (unsigned i = first; bpf_map_lookup_elem(map, &i, room) == 0; i += 2, count++) {
		room[0] = taken;
		if (bpf_map_update_elem(map, &i, room, 0) < 0)
			return -1;
	}
	return count ? 0 : -1;
}

static void *free_rooms(void *map)
{
	const struct timespec pause = {.tv_nsec = 20000000};

	nanosleep(&pause, NULL);
	set_rooms(*(int *)map, OF_ROOT, 0);
	return NULL;
}

/* A visit without a room is repeated, for five seconds at most; no process is left out. */
static void check_rooms(struct source *one, struct source *other)
{
	cleanup(snapshot_done) struct snapshot s = {};
	pthread_t thread;
	int map = find_map("rooms");

	result(map >= 0 && set_rooms(map, OF_OTHERS, 1) == 0, "rooms of others are taken",
	       "no map");
	compare_sources(one, other, 3, true, "root has rooms of its own");
	result(set_rooms(map, OF_ROOT, 1) == 0 &&
		       pthread_create(&thread, NULL, free_rooms, &map) == 0,
	       "all rooms are taken for a while", "no map");
	compare_sources(one, other, 3, true, "a visit waits for a room");
	pthread_join(thread, NULL);
	set_rooms(map, OF_ROOT, 1);
	result(source_collect(other, &s) == -EBUSY, "its wait has an end", "another result");
	set_rooms(map, OF_ROOT, 0);
	compare_sources(one, other, 3, true, "with rooms again");
	if (map >= 0)
		close(map);
}

static void check_probe_reads(const struct procfs *proc, int rounds)
{
	const struct source_request request = {.choice = SOURCE_BPF, .pss = true, .readers = 1};
	cleanup(diag_clear) struct diag diag = {};
	struct source *source = NULL, *probe = NULL;
	int r = source_open_variant(find_variant(PROBE_READS), proc, &diag, &probe);

	if (r == 0)
		r = source_open(&request, proc, &diag, &source);
	if (r < 0) {
		result(false, PROBE_READS, strerror(-r));
	} else {
		compare_sources(source, probe, rounds, true, "probe reads: the same values");
		/* find_map() finds that of the one which was opened first. */
		check_rooms(source, probe);
	}
	source_close(probe);
	source_close(source);
}

/* ---- memos ---- */

#define SHARED_BYTES (16 << 20) /* of mkmem: 8 tables of 512 pages of 4 KiB */

/* The memos that hold something, or -1. The first word of a memo is its signature. */
static int count_memos(void)
{
	struct bpf_map_info info = {};
	unsigned size = sizeof(info);
	int map = find_map("memos"), used = 0;
	__u64 memo[16];

	if (map < 0 || bpf_obj_get_info_by_fd(map, &info, &size) < 0 ||
	    info.value_size > sizeof(memo))
		return -1;
	for (__u32 i = 0; i < info.max_entries; i++)
		used += bpf_map_lookup_elem(map, &i, memo) == 0 && memo[0];
	close(map);
	return used;
}

/* How many processes have not `part` of shared memory. */
static int count_wrong(struct source *source, char **pid, uint64_t part)
{
	cleanup(snapshot_done) struct snapshot s = {};
	int wrong = source_collect(source, &s) < 0;

	for (; !wrong && *pid; pid++) {
		const struct process *p = snapshot_find(&s, atoi(*pid));

		wrong += !p || p->pss_source != PSS_FROM_KERNEL ||
			 p->value[COUNTER_PSS_SHMEM] != part;
	}
	return wrong;
}

static void check_memos(const struct procfs *proc, char **pids, int count)
{
	const struct source_request request = {
		.choice = SOURCE_BPF, .pss = true, .readers = 1, .memos = true, .continuous = true};
	cleanup(diag_clear) struct diag diag = {};
	struct source *source = NULL;
	char why[80];
	int r = source_open(&request, proc, &diag, &source), before, wrong = 0, used;

	before = r < 0 ? -1 : count_memos();
	for (int i = 0; r == 0 && i < 10; i++)
		wrong += count_wrong(source, pids, SHARED_BYTES / count);
	used = r < 0 ? -1 : count_memos();
	snprintf(why, sizeof(why), "%d wrong; %d memos before, %d after", wrong, before, used);
	result(r == 0 && count && !wrong, "memos: each sharer has its part", why);
	result(before == 0 && used >= SHARED_BYTES >> 21, "what is shared has memos", why);
	source_close(source);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 0;
	struct procfs proc;

	if (argc < 4)
		return 2;
	comm = argv[1];

	procfs_open(&proc, "/proc");
	check(&proc, 2, rounds);
	check(&proc, 8, rounds);
	check_probe_reads(&proc, rounds / 2 + 1);
	check_memos(&proc, argv + 3, argc - 3);
	procfs_close(&proc);
	return failed;
}
