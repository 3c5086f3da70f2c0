// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tries swap slots on memory of our own: some pages that are swapped out and that a child shares.
 * Each of the two has half of them, which the slots must say, as smaps_rollup does.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "doctor/doctor.h"
#include "proc/smaps.h"
#include "source/swap_source.h"

#define PAGES 16
#define TRIES 3
/* Linux 5.4. */
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

struct area {
	char *at;
	size_t size;
};

static void area_done(struct area *a)
{
	if (a->at)
		munmap(a->at, a->size);
}

/* Pages that differ, so that they take slots, and that are swapped out if the machine allows it. */
static int area_make(struct area *a)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at;

	a->size = PAGES * page;
	at = mmap(NULL, a->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return -errno;
	a->at = at;
	madvise(a->at, a->size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < a->size; i += page)
		snprintf(a->at + i, page, "zmem-bpf %zu", i);
	madvise(a->at, a->size, MADV_PAGEOUT);
	return 0;
}

static void end_child(const pid_t *child)
{
	if (*child <= 0)
		return;
	kill(*child, SIGKILL);
	waitpid(*child, NULL, 0);
}

/* A child that shares the memory and does nothing; it ends with us. Returns its pid. */
static pid_t start_child(void)
{
	const pid_t parent = getpid();
	pid_t child = fork();

	if (child < 0)
		return -errno;
	if (child)
		return child;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	for (;;)
		pause();
}

/* One reading of both sides. */
static int read_child(const struct procfs *proc, struct source *source, struct swap_source *swap,
		      pid_t child, struct swap_trial *ret)
{
	cleanup(snapshot_done) struct snapshot snapshot = {};
	struct process wanted = {.pid = child}, *row = &wanted;
	struct smaps_rollup rollup = {};
	const struct process *p;
	char name[32], text[4096];
	ssize_t len;
	int r = source_collect_some(source, &row, 1, &snapshot);

	if (r == 0)
		r = swap_source_read(swap, false, &snapshot);
	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "%d/smaps_rollup", child);
	len = procfs_read(proc, name, text, sizeof(text));
	p = snapshot_find(&snapshot, child);
	if (len < 0 || smaps_rollup_parse(text, (size_t)len, &rollup) < 0)
		return len < 0 ? (int)len : -EBADMSG;
	if (!p || !process_has(p, COUNTER_SWAP))
		return -ESRCH;
	ret->swapped = p->value[COUNTER_SWAP] != 0;
	ret->rollup = rollup.value[SMAPS_SWAP_PSS];
	ret->slots = process_has(p, COUNTER_SWAP_PSS) ? p->value[COUNTER_SWAP_PSS] : 0;
	/* smaps_rollup shows whole KiB. */
	ret->agrees = process_has(p, COUNTER_SWAP_PSS) && rollup_has(&rollup, SMAPS_SWAP_PSS) &&
		      ret->slots / 1024 == ret->rollup / 1024;
	return 0;
}

int swap_trial(const struct procfs *proc, struct source *source, struct swap_source *swap,
	       struct swap_trial *ret)
{
	cleanup(area_done) struct area area = {};
	cleanup(end_child) pid_t child = 0;
	int r = area_make(&area);

	*ret = (struct swap_trial){};
	if (r == 0)
		child = start_child();
	if (r < 0 || child < 0)
		return r < 0 ? r : child;
	/* Other memory of ours may be swapped out or read again meanwhile. */
	for (int i = 0; r == 0 && i < TRIES && !ret->agrees; i++)
		r = read_child(proc, source, swap, child, ret);
	return r;
}
