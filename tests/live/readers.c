// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * readers COMM [ROUNDS]
 *
 * Checks that several readers of one loaded BPF program do not disturb each other: 1, 2 and 8
 * readers must see the same processes, each once, with the same values of those named COMM, which
 * share no file with others. Links the library, because the program itself chooses the number of
 * readers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void check(const struct procfs *proc, unsigned readers, int rounds)
{
	cleanup(diag_clear) struct diag diag = {};
	cleanup(snapshot_done) struct snapshot one = {}, many = {};
	struct source_request request = {.choice = SOURCE_BPF, .pss = true, .readers = 1};
	struct source *source[2] = {};
	struct tally t = {};
	char what[80], why[120];
	int r = source_open(&request, proc, &diag, &source[0]);

	request.readers = readers;
	if (r == 0)
		r = source_open(&request, proc, &diag, &source[1]);
	for (int i = 0; r == 0 && i < rounds; i++) {
		r = source_collect(source[0], &one);
		if (r == 0)
			r = source_collect(source[1], &many);
		if (r == 0)
			compare(&one, &many, &t);
	}
	source_close(source[0]);
	source_close(source[1]);
	snprintf(what, sizeof(what), "%u readers: %d times the same as one", readers, rounds);
	snprintf(why, sizeof(why),
		 "%s; %zu compared, %zu missing, %zu twice, %zu different, %zu vouched for",
		 r < 0 ? strerror(-r) : "read", t.compared, t.missing, t.twice, t.different,
		 t.vouched);
	result(r == 0 && t.compared && !t.twice && !t.different && !t.missing &&
		       t.vouched == t.compared,
	       what, why);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 100;
	struct procfs proc;

	comm = argc > 1 ? argv[1] : "";

	procfs_open(&proc, "/proc");
	check(&proc, 2, rounds);
	check(&proc, 8, rounds);
	procfs_close(&proc);
	return failed;
}
