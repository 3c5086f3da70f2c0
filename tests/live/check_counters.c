// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * check_counters [-a] [-c] [-m] [-x] PROGRAM MKMEM
 *
 * Starts mkmem and compares what the program says of its processes, and of all others of the
 * machine, with /proc, in each way of collecting. Used on the host and in guests; needs nothing but
 * the two programs, which should be static: one that maps libc changes everybody's PSS.
 *	-a  every shape must be there (a guest has swap, hugetlb pages, KSM)
 *	-c  while other processes are forked and exec'ed
 *	-m  mkmem's processes only
 *	-x  /proc/PID/status must be exact on this kernel
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS	   6
#define TWO_ROUNDS 20

static const struct mode modes[] = {
	{"counters", {"--json", "--pss", "none"}, .pss = false},
	{"pss", {"--json"}, .pss = true},
	{"smaps_rollup", {"--json", "--pss", "rollup"}, .pss = true},
	{"proc", {"--json", "--source", "proc"}, .pss = true, .by_proc = true},
};

static struct {
	const char *program;
	bool all_shapes, churn, only_mkmem, must_be_exact;
	bool status_exact;
	struct mkmem mkmem;
	bool failed;
} test;

static const struct target *find_target(pid_t pid)
{
	for (size_t i = 0; i < test.mkmem.count; i++) {
		if (test.mkmem.target[i].pid == pid)
			return &test.mkmem.target[i];
	}
	return NULL;
}

static pid_t target_pid(const char *label)
{
	for (size_t i = 0; i < test.mkmem.count; i++) {
		if (!strcmp(test.mkmem.target[i].label, label))
			return test.mkmem.target[i].pid;
	}
	return 0;
}

static void result(bool good, const char *mode, const char *what, const char *why)
{
	if (good)
		printf("ok %s%s %s\n", mode, test.churn ? " under churn" : "", what);
	else
		printf("not ok %s%s %s: %s\n", mode, test.churn ? " under churn" : "", what, why);
	test.failed |= !good;
}

static bool snapshot(const char *const *args, struct document *ret)
{
	const char *argv[8] = {test.program};
	struct child child;
	char *text;
	int status;

	for (int i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	if (!child_start(&child, argv))
		return false;
	text = child_wait(&child, &status);
	if (!document_parse(text, ret) || status) {
		printf("# wait status %d, output: %.300s\n", status, text);
		document_done(ret);
		return false;
	}
	return true;
}

/* ---- one process after the other, with readings before and after ---- */

struct judged {
	pid_t pid;
	enum verdict verdict;
	char why[2048];
};

static void take_all(struct readings *r)
{
	pid_t pids[TARGETS_MAX];

	for (size_t i = 0; i < test.mkmem.count; i++)
		pids[i] = test.mkmem.target[i].pid;
	readings_take(r, test.only_mkmem ? pids : NULL, test.mkmem.count);
}

/* Compares again what was not the same yet. Returns how many are not. */
static size_t judge_round(const struct mode *mode, struct judged *judged, size_t count)
{
	struct readings before, after;
	struct document d = {};
	size_t left = 0;

	take_all(&before);
	if (!snapshot(mode->args, &d))
		return count + 1;
	take_all(&after);
	for (size_t i = 0; i < count; i++) {
		struct judged *j = &judged[i];
		const struct reading *b = readings_find(&before, j->pid);
		const char *line = document_find(&d, j->pid);

		if (j->verdict == SAME)
			continue;
		j->verdict = MOVED;
		if (b && line) {
			j->verdict = compare_process(mode, line, b, readings_find(&after, j->pid),
						     test.status_exact, j->why, sizeof(j->why));
		} else if (b && b->alive) {
			b = readings_find(&after, j->pid);
			j->verdict = b && b->alive ? DIFFERENT : MOVED;
			snprintf(j->why, sizeof(j->why), "is not listed");
		}
		left += j->verdict != SAME;
	}
	readings_done(&before);
	readings_done(&after);
	document_done(&d);
	return left;
}

static size_t list_pids(struct judged **ret)
{
	struct readings all;
	size_t count = 0;

	take_all(&all);
	*ret = calloc(all.count + 1, sizeof(**ret));
	for (size_t i = 0; *ret && i < all.count; i++) {
		if (all.item[i].alive && all.item[i].pid != getpid())
			(*ret)[count++] = (struct judged){.pid = all.item[i].pid, .verdict = MOVED};
	}
	readings_done(&all);
	return count;
}

static void check_mode(const struct mode *mode)
{
	struct judged *judged;
	size_t count = list_pids(&judged), left = 1, same = 0, busy = 0;
	char text[160];

	for (int round = 0; round < ROUNDS && left; round++) {
		if (round)
			usleep(100000 * round);
		left = judge_round(mode, judged, count);
		if (left > count) {
			result(false, mode->label, "snapshot", "the program failed");
			break;
		}
	}
	for (size_t i = 0; i < count && left <= count; i++) {
		const struct target *t = find_target(judged[i].pid);
		enum verdict v = judged[i].verdict;

		snprintf(text, sizeof(text), "pid %d", judged[i].pid);
		if (t)
			result(v == SAME, mode->label, t->label,
			       v == MOVED ? "does not keep still" : judged[i].why);
		else if (v == DIFFERENT)
			result(false, mode->label, text, judged[i].why);
		same += !t && v == SAME;
		busy += !t && v == MOVED;
	}
	snprintf(text, sizeof(text), "other processes: %zu the same, %zu busy or gone", same, busy);
	if (!test.only_mkmem && left <= count)
		result(same > 0, mode->label, text, "none can be compared");
	free(judged);
}

/* ---- what concerns several processes, or the absence of one ---- */

static void check_sharing(const struct mode *mode, const struct document *d)
{
	const char *a = document_find(d, target_pid("clone_vm/main"));
	const char *b = document_find(d, target_pid("clone_vm/clone"));
	long long id_a = -1, id_b = -2, n, sum = 0, total = -1;
	size_t owners = 0, wrong = 0;

	if (a && b && json_number(a, "mm_id", &id_a) && json_number(b, "mm_id", &id_b))
		owners = json_is_true(a, "mm_owner") + json_is_true(b, "mm_owner");
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

static void check_zombie(void)
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

static void check_snapshot(const struct mode *mode)
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

/* What a row says of the memory; the time of start may differ by the clock's last digit. */
static const char *memory_part(const struct document *d, pid_t pid)
{
	const char *line = document_find(d, pid);

	return line ? strstr(line, "\"swap_bytes\":") : NULL;
}

static bool compare_two(const char *const *argv)
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
		const char *a = memory_part(&d[0], pid), *b = memory_part(&d[1], pid);

		if (a && b)
			same = !strncmp(a, b, strcspn(a, "}") + 1);
		else
			same = a == b;
		if (!same)
			printf("# %s\n#  %s\n#  %s\n", test.mkmem.target[i].label, a, b);
	}
	document_done(&d[0]);
	document_done(&d[1]);
	return same;
}

static void check_two(void)
{
	const char *argv[] = {test.program, "--json", NULL};
	int differing = 0;

	for (int i = 0; i < TWO_ROUNDS; i++)
		differing += !compare_two(argv);
	result(!differing, "pss", "two programs at once say the same of idle processes",
	       "they do not");
}

/* ---- main ---- */

/* Whether status agrees with the page tables for each of mkmem's processes: by trying. */
static void find_status_exactness(void)
{
	struct readings r;
	char text[64] = "";

	take_all(&r);
	test.status_exact = true;
	for (size_t i = 0; i < test.mkmem.count; i++) {
		const struct reading *p = readings_find(&r, test.mkmem.target[i].pid);

		if (!p || !p->status || !p->rollup)
			continue;
		if (kib_sum(p->status, "RssAnon+RssFile+RssShmem") != kib_sum(p->rollup, "Rss") ||
		    kib_sum(p->status, "RssAnon") != kib_sum(p->rollup, "Anonymous")) {
			snprintf(text, sizeof(text), "not for %s", test.mkmem.target[i].label);
			test.status_exact = false;
		}
	}
	readings_done(&r);
	if (test.must_be_exact)
		result(test.status_exact, "reference", "/proc/PID/status is exact", text);
	else
		printf("# /proc/PID/status is%s exact here\n", test.status_exact ? "" : " not");
}

static int usage(void)
{
	fputs("usage: check_counters [-a] [-c] [-m] [-x] PROGRAM MKMEM\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static struct mkmem churn;
	int option;

	while ((option = getopt(argc, argv, "acmx")) != -1) {
		test.all_shapes |= option == 'a';
		test.churn |= option == 'c';
		test.only_mkmem |= option == 'm';
		test.must_be_exact |= option == 'x';
		if (option == '?')
			return usage();
	}
	if (argc - optind != 2)
		return usage();
	setvbuf(stdout, NULL, _IOLBF, 0);
	test.program = argv[optind];
	test.failed = !mkmem_start(&test.mkmem, argv[optind + 1], NULL, test.all_shapes);
	find_status_exactness();
	if (test.churn &&
	    !mkmem_start(&churn, argv[optind + 1], (const char *[]){"churn", NULL}, true))
		test.failed = true;
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		check_mode(&modes[i]);
		if (!test.churn)
			check_snapshot(&modes[i]);
	}
	if (!test.churn) {
		check_zombie();
		check_two();
	}
	if (churn.pid)
		mkmem_stop(&churn);
	mkmem_stop(&test.mkmem);
	return test.failed;
}
