// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * arguments ROUNDS [+PID | -PID | =PID]…
 *
 * Command lines that are read through page tables, against /proc/PID/cmdline: those of all
 * processes, round after round, with the first bytes alone as well. A process whose file changed
 * meanwhile is not compared. +PID: it has to be read; -PID: only /proc can tell it; =PID: it
 * executes itself again and again, and its arguments end with a number and, in a word of any
 * length, the letter of that number: bytes of another page would be other letters. Once with the
 * layout of the program that walks pages, and once without. Links the library, because the program
 * itself chooses what it reads from where.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "source/arguments_source.h"

#define MOST 65536 /* as -g app reads */

static bool failed;

static void result(bool good, const char *what, const char *why)
{
	printf(good ? "ok %s\n" : "not ok %s: %s\n", what, why);
	failed |= !good;
}

struct text {
	char *text;
	size_t len;
};

static void keep_text(void *arg, size_t i, char *text, size_t len)
{
	((struct text *)arg)[i] = (struct text){text, len};
}

/* Of a process whose first thread has ended another thread has it. */
static struct text cmdline_of(const struct procfs *proc, const struct process *p, size_t most)
{
	struct text t = {malloc(most + 1), 0};
	cleanup_close int process = procfs_open_pid(proc, p->pid);
	cleanup_close int thread = p->leader_exited ? procfs_open_thread(process) : -1;
	ssize_t len = file_read(thread < 0 ? process : thread, "cmdline", t.text, most + 1);

	if (len < 0)
		free(TAKE_PTR(t.text));
	t.len = len < 0 ? 0 : (size_t)len;
	return t;
}

static bool is_equal(const struct text *a, const struct text *b)
{
	return a->text && b->text && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

struct tally {
	size_t processes, compared, changed, different, told, missed, turns, torn;
	pid_t first;
};

/* Whether the text is one of the =PID, or the beginning of one. */
static bool is_turn(const struct text *t)
{
	const char *number = memmem(t->text, t->len, "turn\0", 5), *letters,
		   *end = t->text + t->len;
	char letter;

	/* The shell that reads the script, and its beginning. */
	if (!number)
		return t->len < 60;
	letter = (char)('a' + atoi(number + 5) % 26);
	letters = memchr(number + 5, '\0', (size_t)(end - number - 5));
	while (letters && ++letters < end && *letters == letter)
		;
	return !letters || letters + 1 >= end;
}

/* How it is among the PIDs; 0: it is not. */
static char wish_of(char **wish, pid_t pid)
{
	for (; *wish; wish++) {
		if (atoi(*wish + 1) == pid)
			return **wish;
	}
	return 0;
}

static void compare(struct arguments_source *s, const struct procfs *proc, struct snapshot *all,
		    size_t most, char **wish, struct tally *t)
{
	struct process **row = calloc(all->count + 1, sizeof(*row));
	struct text *before = calloc(all->count + 1, sizeof(*before)), *got, after;
	size_t count = 0;
	int r;

	got = calloc(all->count + 1, sizeof(*got));
	/* Not in the order of pids. */
	for (size_t i = all->count; i-- > 0;) {
		if (all->process[i].kind == PROCESS_USER)
			row[count++] = &all->process[i];
	}
	for (size_t i = 0; i < count; i++)
		before[i] = cmdline_of(proc, row[i], most);
	r = arguments_source_read(s, row, count, most, keep_text, got);
	if (r < 0)
		result(false, "reading", strerror(-r));
	t->processes += count;
	for (size_t i = 0; i < count; i++) {
		const char wanted = wish_of(wish, row[i]->pid);

		after = cmdline_of(proc, row[i], most);
		/* In exec and at its end a process has none for a moment. */
		if (wanted == '=' || (!after.len && !wanted) || !is_equal(&before[i], &after)) {
			t->changed++;
		} else if (got[i].text) {
			t->compared++;
			if (!is_equal(&got[i], &after) && !t->different++) {
				t->first = row[i]->pid;
				printf("# %d: %zu and %zu bytes: %.40s, not %.40s\n", t->first,
				       got[i].len, after.len, got[i].text, after.text);
			}
		}
		if ((wanted == '-' && got[i].text) || (wanted == '+' && !got[i].text)) {
			t->first = row[i]->pid;
			t->told += wanted == '-';
			t->missed += wanted == '+';
		}
		if (wanted == '=' && got[i].text) {
			t->turns++;
			t->torn += !is_turn(&got[i]);
		}
		free(after.text);
		free(before[i].text);
		free(got[i].text);
	}
	free(row);
	free(before);
	free(got);
}

static void check(const struct procfs *proc, bool pss, int rounds, char **wish)
{
	const size_t most[] = {MOST, 4096, 7};
	const struct source_request request = {.choice = SOURCE_BPF, .pss = pss, .readers = 1};
	cleanup(diag_clear) struct diag diag = {};
	cleanup(snapshot_done) struct snapshot all = {};
	struct arguments_source *s = NULL;
	struct source *source = NULL;
	struct tally t = {};
	char why[240], what[100];
	int r = source_open(&request, proc, &diag, &source);

	if (r == 0)
		s = arguments_source_begin();
	if (r == 0)
		r = s ? arguments_source_open(s, source, proc, pss ? 0 : 3, &diag) : -ENOMEM;
	for (int i = 0; r == 0 && i < rounds; i++) {
		r = source_collect(source, &all);
		if (r == 0)
			compare(s, proc, &all, most[i % 3], wish, &t);
	}
	snprintf(why, sizeof(why),
		 "%s; %zu of %zu compared, %zu changed, %zu different, %zu told, %zu not told, "
		 "the first is %d; %zu turns, %zu torn",
		 r < 0 ? diag_reason(&diag, r) : "read", t.compared, t.processes, t.changed,
		 t.different, t.told, t.missed, t.first, t.turns, t.torn);
	snprintf(what, sizeof(what), "command lines %s: as /proc has them",
		 pss ? "with the layout of PSS" : "that find the direct map, by three readers");
	printf("# %s\n", why);
	result(r == 0 && !t.different && !t.told && !t.missed && !t.torn &&
		       t.compared * 10 >= t.processes * 8,
	       what, why);
	arguments_source_close(s);
	source_close(source);
}

int main(int argc, char **argv)
{
	struct procfs proc;

	if (argc < 2)
		return 2;
	procfs_open(&proc, "/proc");
	check(&proc, true, atoi(argv[1]), argv + 2);
	check(&proc, false, atoi(argv[1]), argv + 2);
	procfs_close(&proc);
	return failed;
}
