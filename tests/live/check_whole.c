// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What concerns several processes of a snapshot, the absence of one, or several programs. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <stdlib.h>
#include <string.h>

#define TWO_ROUNDS 20

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

/* Of all processes: on a busy machine one may look different in one snapshot, but not in each. */
static void check_cross_check(const struct mode *mode)
{
	char why[400] = "the program failed";
	long long different = 1;

	for (int i = 0; i < 3 && different; i++) {
		struct document d = {};

		if (!snapshot(mode->args, &d))
			break;
		different = 0;
		json_number(d.collection, "different", &different);
		snprintf(why, sizeof(why), "%s", d.collection);
		document_done(&d);
	}
	result(!different, mode->label, "cross-check finds no difference", why);
}

void check_snapshot(const struct mode *mode)
{
	char source[32] = "?";
	struct document d = {};

	if (!snapshot(mode->args, &d)) {
		result(false, mode->label, "snapshot", "the program failed");
		return;
	}
	json_text(d.source, "counters", source, sizeof(source));
	result(!strcmp(source, mode->by_proc ? "proc" : "bpf"), mode->label,
	       "comes from the source it should", d.source);
	check_sharing(mode, &d);
	check_absent(mode, &d);
	document_done(&d);
	if (mode->pss)
		check_cross_check(mode);
}

/* ---- two programs at once ---- */

/* What a row says of the memory; the time of start may differ by the clock's last digit. */
static const char *memory_part(const struct document *d, pid_t pid)
{
	const char *line = document_find(d, pid);

	return line ? strstr(line, "\"swap_bytes\":") : NULL;
}

/*
 * Everybody maps the vdso's pages, so that each process that starts or ends anywhere moves
 * everybody's PSS by a fraction of a byte.
 */
static bool same_memory(const char *a, const char *b)
{
	char key[64];
	size_t len;

	for (const char *p = strchr(a, '"'); p; p = strchr(p + len + 2, '"')) {
		long long x = -1, y = -1;

		len = strcspn(p + 1, "\"");
		snprintf(key, sizeof(key), "%.*s", (int)len, p + 1);
		if (json_number(a, key, &x) != json_number(b, key, &y) ||
		    llabs(x - y) > (strstr(key, "pss") || strstr(key, "shared") ? 1024 : 0))
			return false;
	}
	return true;
}

/* Whether /proc, too, says that it is not what it was. */
static bool has_moved(const struct readings *before, const struct readings *after, pid_t pid)
{
	const struct reading *a = readings_find(before, pid), *b = readings_find(after, pid);

	return !a || !b || !a->rollup || !b->rollup || strcmp(a->rollup, b->rollup);
}

/* On a busy machine smaps_rollup may take longer than it is given, and it is said so. */
static bool timed_out(const struct document *d, pid_t pid)
{
	const char *line = document_find(d, pid);
	char status[32] = "null";

	if (line)
		json_text(line, "pss_status", status, sizeof(status));
	return !strcmp(status, "timeout");
}

/* `last` is how they were, and is taken again when they are not. */
static bool compare_two(const char *const *argv, struct readings *last)
{
	struct child child[2];
	struct document d[2] = {};
	struct readings now = {};
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

		if ((a && b ? same_memory(a, b) : a == b) || timed_out(&d[0], pid) ||
		    timed_out(&d[1], pid))
			continue;
		if (!now.count)
			take_all(&now);
		same = has_moved(last, &now, pid);
		if (!same)
			printf("# %s\n#  %s\n#  %s\n", test.mkmem.target[i].label, a, b);
	}
	document_done(&d[0]);
	document_done(&d[1]);
	if (now.count) {
		readings_done(last);
		*last = now;
	}
	return same;
}

void check_two(const struct mode *mode)
{
	const char *argv[8] = {test.program};
	struct readings last;
	int differing = 0;

	for (int i = 0; mode->args[i]; i++)
		argv[i + 1] = mode->args[i];
	take_all(&last);
	for (int i = 0; i < TWO_ROUNDS; i++)
		differing += !compare_two(argv, &last);
	readings_done(&last);
	result(!differing, mode->label, "two programs at once say the same of idle processes",
	       "they do not");
}
