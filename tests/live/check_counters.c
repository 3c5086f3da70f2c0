// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * check_counters [-a] [-c] [-m] [-q] [-x COMMAND]… PROGRAM MKMEM [SHAPE…]
 *
 * Starts mkmem and compares the program's values of mkmem's processes and of all others with /proc,
 * in each way of collecting. Runs on the host and in guests and needs only the two programs. They
 * should be static: a program that maps libc changes the PSS of others.
 * With SHAPEs it checks only these, and less often, for slow machines.
 *	-a  every shape must be there (a guest has swap, hugetlb pages, KSM), and less often
 *	-c  while other processes are forked and exec'ed
 *	-m  mkmem's processes only
 *	-q  quick: two programs run at once in one way only, once
 *	-x  then runs COMMAND, which changes the machine, and compares mkmem's processes again
 */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define ROUNDS 5

static struct mode modes[] = {
	{"counters", {"--json", "--pss", "none"}, .pss = false},
	{"pss", {"--json"}, .pss = true, .twice = true},
	{"kernel", {"--json", "--pss", "kernel"}, .pss = true, .from = "kernel", .twice = true},
	{"smaps_rollup", {"--json", "--pss", "rollup"}, .pss = true, .from = "smaps_rollup"},
	{"proc",
	 {"--json", "--source", "proc"},
	 .pss = true,
	 .by_proc = true,
	 .from = "smaps_rollup"},
};

struct test test;

static const struct target *find_target(pid_t pid)
{
	for (size_t i = 0; i < test.mkmem.count; i++) {
		if (test.mkmem.target[i].pid == pid)
			return &test.mkmem.target[i];
	}
	return NULL;
}

pid_t target_pid(const char *label)
{
	for (size_t i = 0; i < test.mkmem.count; i++) {
		if (!strcmp(test.mkmem.target[i].label, label))
			return test.mkmem.target[i].pid;
	}
	return 0;
}

void result(bool good, const char *mode, const char *what, const char *why)
{
	if (good)
		printf("ok %s%s %s\n", mode, test.when, what);
	else
		printf("not ok %s%s %s: %s\n", mode, test.when, what, why);
	test.failed |= !good;
}

bool snapshot(const char *const *args, struct document *ret)
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
	int repeated; /* consecutive rounds with the same difference */
};

static void take_all(struct readings *r)
{
	pid_t pids[TARGETS_MAX];

	for (size_t i = 0; i < test.mkmem.count; i++)
		pids[i] = test.mkmem.target[i].pid;
	readings_take(r, test.only_mkmem ? pids : NULL, test.mkmem.count);
}

/*
 * A process is not listed. Some sandboxes hide a process even from root; BPF iterators then miss
 * it, too.
 */
static enum verdict judge_absent(const struct mode *mode, const struct reading *before,
				 const struct reading *after)
{
	if (!after || !after->alive || (before->rollup_error == EACCES && !mode->by_proc))
		return MOVED;
	return DIFFERENT;
}

static void judge(const struct mode *mode, struct judged *j, const struct readings *before,
		  const struct readings *after, const struct document *d)
{
	const struct reading *b = readings_find(before, j->pid), *a = readings_find(after, j->pid);
	const char *line = document_find(d, j->pid);
	const struct target *t = find_target(j->pid);
	char why[sizeof(j->why)] = "is not listed";

	j->verdict = MOVED;
	if (b && line)
		j->verdict = compare_process(mode, t ? t->label : NULL, line, b, a,
					     test.status_exact, why, sizeof(why));
	else if (b && b->alive)
		j->verdict = judge_absent(mode, b, a);
	j->repeated = j->verdict == DIFFERENT && !strcmp(why, j->why) ? j->repeated + 1 : 0;
	strcpy(j->why, why);
}

/* Compares again the processes that differ. Returns their number, or more than all on failure. */
static size_t judge_round(const struct mode *mode, struct judged *judged, size_t count)
{
	struct readings before, after;
	struct document d = {};
	size_t left = 0;

	take_all(&before);
	if (!snapshot(mode->args, &d)) {
		readings_done(&before);
		return count + 1;
	}
	take_all(&after);
	for (size_t i = 0; i < count; i++) {
		if (judged[i].verdict != SAME)
			judge(mode, &judged[i], &before, &after, &d);
		left += judged[i].verdict != SAME;
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

/*
 * mkmem's processes must agree. Others, or processes that share pages with them, may be busy: for
 * them only the same difference several times in a row counts.
 */
static void report(const struct mode *mode, const struct judged *judged, size_t count)
{
	size_t same = 0, busy = 0;
	char text[160];

	for (size_t i = 0; i < count; i++) {
		const struct target *t = find_target(judged[i].pid);
		enum verdict v = judged[i].verdict;

		snprintf(text, sizeof(text), "pid %d", judged[i].pid);
		if (t) {
			result(v == SAME, mode->label, t->label,
			       v == MOVED ? "does not keep still" : judged[i].why);
			continue;
		}
		if (judged[i].repeated >= 2)
			result(false, mode->label, text, judged[i].why);
		same += v == SAME;
		busy += v != SAME;
	}
	snprintf(text, sizeof(text), "other processes: %zu the same, %zu busy or gone", same, busy);
	if (!test.only_mkmem)
		result(same > 0, mode->label, text, "none can be compared");
}

static void check_mode(const struct mode *mode)
{
	struct judged *judged;
	size_t count = list_pids(&judged), left = 1;

	for (int round = 0; round < ROUNDS && left; round++) {
		if (round)
			usleep(100000 * round);
		left = judge_round(mode, judged, count);
		if (left > count) {
			result(false, mode->label, "snapshot", "the program failed");
			free(judged);
			return;
		}
	}
	report(mode, judged, count);
	free(judged);
}

/* ---- main ---- */

/* Of the running kernel: 6 * 1000000 + 12 * 1000 + 117. */
static long kernel_release(void)
{
	struct utsname u;
	long major = 0, minor = 0, patch = 0;

	uname(&u);
	sscanf(u.release, "%ld.%ld.%ld", &major, &minor, &patch);
	return major * 1000000 + minor * 1000 + patch;
}

/* Kernels on which status must be exact: 6.16 and later, stable 6.12. */
static bool should_be_exact(void)
{
	long release = kernel_release();

	return release >= 6016000 || (release >= 6012100 && release < 6013000);
}

static bool is_aarch64(void)
{
	struct utsname u;

	uname(&u);
	return !strcmp(u.machine, "aarch64");
}

static bool command_line_has(const char *word)
{
	char text[4096] = "";
	FILE *f = fopen("/proc/cmdline", "re");

	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
	}
	return strstr(text, word);
}

/*
 * Before 5.8 BPF cannot read the counters. Before 6.2 it needs probe reads, which lockdown forbids.
 * The counters then come from /proc, and there is no PSS from the kernel. On aarch64 there is none
 * from 6.2 to 6.9 either: the object for them knows only the page tables of later kernels.
 */
static bool find_mode(struct mode *mode)
{
	bool by_kernel = mode->from && !strcmp(mode->from, "kernel");
	long release = kernel_release();

	if (release < 5008000 ||
	    (release < 6002000 && command_line_has("lockdown=confidentiality"))) {
		mode->by_proc = true;
		return !by_kernel;
	}
	return !by_kernel || !is_aarch64() || release < 6002000 || release >= 6010000;
}

/* Tries whether status agrees with the page tables for each of mkmem's processes. */
static void find_status_exactness(void)
{
	struct readings r;
	char text[96] = "";

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
	/* For tests/vm/table. */
	printf("fact status %s\n", test.status_exact ? "exact" : "approximate");
	if (should_be_exact())
		result(test.status_exact, "reference", "/proc/PID/status is exact", text);
	else
		printf("# /proc/PID/status is%s exact here\n", test.status_exact ? "" : " not");
}

static void check_all(void)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		if (!find_mode(&modes[i]))
			continue;
		check_mode(&modes[i]);
		if (test.churn)
			continue;
		check_snapshot(&modes[i]);
		if (modes[i].twice && !(test.quick && modes[i].from))
			check_two(&modes[i]);
	}
	if (!test.churn)
		check_zombie();
}

/* Runs the command, then compares again: the counters, and PSS from the kernel. */
static void check_after(const char *command)
{
	char when[sizeof(test.when)];

	snprintf(when, sizeof(when), "%s", test.when);
	result(system(command) == 0, "command", command, "it failed");
	test.only_mkmem = true;
	snprintf(test.when, sizeof(test.when), " after %s", command);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		bool by_kernel = modes[i].from && !strcmp(modes[i].from, "kernel");

		if ((!modes[i].pss || by_kernel) && find_mode(&modes[i]))
			check_mode(&modes[i]);
	}
	strcpy(test.when, when);
}

static int usage(void)
{
	fputs("usage: check_counters [-a] [-c] [-m] [-q] [-x COMMAND]... PROGRAM MKMEM [SHAPE...]\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const char *command[8];
	static struct mkmem churn;
	int option, commands = 0;

	while ((option = getopt(argc, argv, "acmqx:")) != -1) {
		test.all_shapes |= option == 'a';
		test.churn |= option == 'c';
		test.only_mkmem |= option == 'm';
		test.quick |= option == 'q';
		if (option == 'x' && commands < 8)
			command[commands++] = optarg;
		if (option == '?')
			return usage();
	}
	if (argc - optind < 2)
		return usage();
	setvbuf(stdout, NULL, _IOLBF, 0);
	test.program = argv[optind];
	test.some_shapes = argc - optind > 2;
	test.failed = !mkmem_start(&test.mkmem, argv[optind + 1],
				   (const char *const *)argv + optind + 2, test.all_shapes);
	find_status_exactness();
	if (test.churn) {
		strcpy(test.when, " under churn");
		test.failed |= !churn_start(&churn, argv[optind + 1]);
	}
	check_all();
	for (int i = 0; i < commands; i++)
		check_after(command[i]);
	if (churn.pid)
		mkmem_stop(&churn);
	mkmem_stop(&test.mkmem);
	return test.failed;
}
