// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checks of whole snapshots: owners, totals, absent processes, and two programs at once. */
#include "check.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TWO_ROUNDS	20
#define TWO_ROUNDS_SLOW 3

/* Without it (CONFIG_KCMP) no file shows which processes have one address space. */
static bool has_kcmp(void)
{
	pid_t self = getpid();

	return syscall(SYS_kcmp, self, self, KCMP_VM, 0, 0) == 0 || errno != ENOSYS;
}

static void check_sharing(const struct mode *mode, const struct document *d)
{
	const char *a = document_find(d, target_pid("clone_vm/main"));
	const char *b = document_find(d, target_pid("clone_vm/clone"));
	long long id_a = -1, id_b = -2, n, sum = 0, total = -1;
	size_t owners = 0, wrong = 0;

	if (a && b && json_number(a, "mm_id", &id_a) && json_number(b, "mm_id", &id_b))
		owners = json_is_true(a, "mm_owner") + json_is_true(b, "mm_owner");
	if (mode->by_proc && !has_kcmp())
		printf("# this kernel cannot: clone_vm by /proc no kcmp()\n");
	else
		result(id_a == id_b && owners == 1, mode->label,
		       "CLONE_VM is one address space, once owned", "mm_id or mm_owner is wrong");
	for (size_t i = 0; i < d->count; i++) {
		const char *line = d->row[i].line;
		long long id;

		if (json_is_true(line, "mm_owner") && json_number(line, "rss_bytes", &n))
			sum += n;
		for (size_t k = 0; json_number(line, "mm_id", &id) && k < i; k++) {
			if (json_number(d->row[k].line, "mm_id", &n) && n == id)
				wrong += json_is_true(line, "mm_owner") ==
					 json_is_true(d->row[k].line, "mm_owner");
		}
	}
	result(!wrong, mode->label, "each address space has one owner",
	       "some have none or several");
	json_number(d->totals, "rss_bytes", &total);
	result(sum == total, mode->label, "totals count an address space once",
	       "the owners' rss_bytes are not the total");
	json_number(d->totals, "processes", &n);
	result(n == (long long)d->count, mode->label, "totals count the processes", "not the rows");
}

static void check_absent(const struct mode *mode, const struct document *d)
{
	struct readings all;
	size_t kthreads = 0;
	pid_t zombie = target_pid("zombie/zombie");

	readings_take(&all, NULL, 0);
	for (size_t i = 0; i < all.count; i++)
		kthreads += all.item[i].kthread && document_find(d, all.item[i].pid);
	readings_done(&all);
	result(!kthreads, mode->label, "no kernel threads are listed", "some are");
	result(zombie && !document_find(d, zombie), mode->label, "no zombie is listed", "one is");
}

void check_zombie(void)
{
	char pid[16];
	const char *args[] = {"--json", "-p", pid, NULL};
	struct document d = {};
	const char *line;
	long long n;

	snprintf(pid, sizeof(pid), "%d", target_pid("zombie/zombie"));
	if (!snapshot(args, &d)) {
		result(false, "zombie", "asked for by pid", "the program failed");
		return;
	}
	line = document_find(&d, atoi(pid));
	result(line && !json_number(line, "rss_bytes", &n) && !json_number(line, "pss_bytes", &n),
	       "zombie", "is shown with nothing when asked for by pid", line ? line : "not listed");
	document_done(&d);
}

void check_snapshot(const struct mode *mode)
{
	char source[32] = "?";
	struct document d = {};
	long long n = 0;

	if (!snapshot(mode->args, &d)) {
		result(false, mode->label, "snapshot", "the program failed");
		return;
	}
	json_text(d.source, "counters", source, sizeof(source));
	result(!strcmp(source, mode->by_proc ? "proc" : "bpf"), mode->label,
	       "comes from the source it should", d.source);
	check_sharing(mode, &d);
	check_absent(mode, &d);
	if (json_number(d.collection, "different", &n) || mode->pss)
		result(n == 0, mode->label, "cross-check finds no difference", d.collection);
	document_done(&d);
}

/* ---- two programs at once ---- */

/* Values that depend on map counts: every new or ended process maps the vdso. */
static bool moves_with_others(const char *key)
{
	return !strncmp(key, "pss_", 4) || !strncmp(key, "shared_", 7);
}

/* Whether two rows have the same memory values; the start time may differ. */
static bool same_memory(const char *a, const char *b)
{
	static const char *const keys[] = {
		"swap_bytes",	  "swap_pss_bytes",  "swap_shmem_bytes", "uss_bytes",
		"pss_bytes",	  "pss_anon_bytes",  "pss_file_bytes",	 "pss_shmem_bytes",
		"pss_swap_bytes", "shared_bytes",    "rss_bytes",	 "rss_anon_bytes",
		"rss_file_bytes", "rss_shmem_bytes", "vsize_bytes",	 "pgtables_bytes",
		"locked_bytes",	  "hugetlb_bytes",   "thp_bytes"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		long long v = 0, w = 0;
		bool has = json_number(a, keys[i], &v);

		if (has != json_number(b, keys[i], &w) ||
		    llabs(v - w) > (moves_with_others(keys[i]) ? 1024 : 0)) {
			printf("# %s: %lld and %lld\n", keys[i], v, w);
			return false;
		}
	}
	return true;
}

/* A program without CPU time for a second gives up a PSS, as for a stuck process. */
static bool timed_out(const char *line)
{
	char status[32] = "";

	return json_text(line, "pss_status", status, sizeof(status)) > 0 &&
	       !strcmp(status, "timeout");
}

/* Idle memory changes, too: the kernel collapses huge pages and merges equal pages. */
static bool stood_still(const struct readings *before, pid_t pid)
{
	const struct reading *b = readings_find(before, pid), *a;
	struct readings after;
	bool ret;

	readings_take(&after, &pid, 1);
	a = readings_find(&after, pid);
	ret = b && b->status && a && a->status &&
	      kib_sum(b->status, "RssAnon+VmPTE") == kib_sum(a->status, "RssAnon+VmPTE") &&
	      (!b->rollup || !a->rollup || !strcmp(b->rollup, a->rollup));
	readings_done(&after);
	return ret;
}

static bool compare_two(const char *const *argv, const struct readings *before, bool *ret_moved)
{
	struct child child[2];
	struct document d[2] = {};
	bool same = true;
	int status[2];

	for (int i = 0; i < 2; i++) {
		if (!child_start(&child[i], argv))
			return false;
	}
	for (int i = 0; i < 2; i++)
		same &= document_parse(child_wait(&child[i], &status[i]), &d[i]) && !status[i];
	for (size_t i = 0; same && i < test.mkmem.count; i++) {
		pid_t pid = test.mkmem.target[i].pid;
		const char *a = document_find(&d[0], pid), *b = document_find(&d[1], pid);

		if (a == b || (a && b && (timed_out(a) || timed_out(b) || same_memory(a, b))))
			continue;
		same = a && b && !stood_still(before, pid);
		*ret_moved |= same;
		if (!same)
			printf("# not the same of %s\n", test.mkmem.target[i].label);
	}
	document_done(&d[0]);
	document_done(&d[1]);
	return same;
}

void check_two(const struct mode *mode)
{
	const char *argv[8] = {test.program};
	pid_t pids[TARGETS_MAX];
	struct readings before;
	int rounds = test.quick				   ? 1
		     : test.some_shapes || test.all_shapes ? TWO_ROUNDS_SLOW
							   : TWO_ROUNDS;
	int differing = 0;
	bool moved = true;

	for (int i = 0; mode->args[i]; i++)
		argv[i + 1] = mode->args[i];
	for (size_t i = 0; i < test.mkmem.count; i++)
		pids[i] = test.mkmem.target[i].pid;
	for (int i = 0; i < rounds; i++) {
		if (moved)
			readings_take(&before, pids, test.mkmem.count);
		moved = false;
		differing += !compare_two(argv, &before, &moved);
		if (moved || i == rounds - 1)
			readings_done(&before);
	}
	result(!differing, mode->label, "two programs at once say the same of idle processes",
	       "they do not");
}
