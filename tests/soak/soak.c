// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * soak SECONDS FLEET CHURN [ARGUMENT…]
 *
 * Takes snapshots in a loop, as a long-running command does, while CHURN runs. Sources and workers
 * are opened once and reused; other sessions are opened and closed meanwhile. Its resources are
 * measured twice with CHURN stopped: after a fifth of the time and at the end. They must not grow.
 * FLEET first starts more processes than later exist, so that no buffer has a reason to grow.
 */
#include <getopt.h>

#include "command/table.h"
#include "session/options.h"
#include "session/session.h"
#include "base/array.h"
#include "base/clock.h"
#include "fuzz_json.h"
#include "measure.h"
#include "report/report.h"

static const struct slack slack = {.heap = 32 * 1024, .rss = 2 * 1024 * 1024};

#define REOPEN	  20 /* rounds */
#define WORDS_MAX 12

/* Kinds of requests: a service, a screen, smaps_rollup, without BPF. */
static char *requests[][WORDS_MAX] = {
	{"zmem-bpf", "-q", "--json", "-o", "+cmdline"},
	{"zmem-bpf", "-q", "-n", "20", "-s", "swap,pss", "-o", "+cgroup"},
	{"zmem-bpf", "-q", "--pss", "rollup", "-n", "50"},
	{"zmem-bpf", "-q", "--source", "proc", "--pss", "none", "-s", "rss", "-f", "churn"},
};
#define SESSIONS ARRAY_SIZE(requests)

struct soak {
	struct options options[SESSIONS];
	struct session session[SESSIONS];
	struct objects objects;
	size_t snapshots, opened, processes, checked, different;
	size_t most; /* processes in one of them */
	struct verdicts verdicts;
};

static int open_collector(struct session *s, const struct options *o)
{
	const struct collect_spec spec = session_spec(o);

	return session_open(s, o, &spec);
}

static void open_session(struct soak *k, size_t i, struct session *s)
{
	int argc = 0;

	while (argc < WORDS_MAX && requests[i][argc])
		argc++;
	optind = 0;
	options_done(&k->options[i]);
	if (options_parse(&k->options[i], &command_table, argc, requests[i]) ||
	    open_collector(s, &k->options[i]))
		die("a session does not open");
	k->opened++;
}

/* Takes a snapshot and renders it. */
static void take(struct soak *k, struct session *s)
{
	cleanup(strbuf_done) struct strbuf out = {};
	const struct table_style style = {.columns = &s->columns, .header = true, .width = 120};
	struct result result;

	if (session_collect(s, &result))
		die("a snapshot fails");
	if (s->options->format == FORMAT_JSON) {
		render_json(&out, &result);
		if (json_read_document(out.data, out.len) != result.row_count)
			die("a document lacks processes");
	} else {
		render_table(&out, &result, &style);
	}
	if (strbuf_error(&out))
		die("a snapshot cannot be rendered");
	k->snapshots++;
	k->processes += s->collector.snapshot.count;
	k->most = k->most > s->collector.snapshot.count ? k->most : s->collector.snapshot.count;
	k->checked += s->collector.snapshot.collection.cross_check.checked;
	k->different += s->collector.snapshot.collection.cross_check.different;
}

static void take_all(struct soak *k)
{
	for (size_t i = 0; i < SESSIONS; i++)
		take(k, &k->session[i]);
}

/* Opens a source, uses it and closes it. */
static void once(struct soak *k, size_t i)
{
	struct session s = SESSION_CLOSED;

	open_session(k, i, &s);
	take(k, &s);
	count_objects(&k->objects);
	session_close(&s);
}

static void churn_for(struct soak *k, char **churn, uint64_t us)
{
	uint64_t end = clock_us(CLOCK_MONOTONIC) + us;
	int fd;
	pid_t pid = start(churn, false, &fd);

	for (size_t round = 1; clock_us(CLOCK_MONOTONIC) < end; round++) {
		take_all(k);
		if (round % REOPEN == 0)
			once(k, k->opened % SESSIONS);
	}
	stop(&k->verdicts, pid, fd);
}

/* More processes than come later. */
static void peak(struct soak *k, char *program)
{
	char *fleet[] = {program, "2000", "4", NULL};
	int fd;
	pid_t pid = start(fleet, true, &fd);

	take_all(k);
	stop(&k->verdicts, pid, fd);
}

static struct holdings settled(struct soak *k)
{
	for (int i = 0; i < 3; i++)
		take_all(k);
	return measure(&k->objects);
}

int main(int argc, char **argv)
{
	uint64_t us = argc > 3 ? strtoull(argv[1], NULL, 10) * 1000000 : 0;
	struct holdings closed, open, again;
	static struct soak k = {.verdicts = {"soak"}};
	size_t left, most;

	if (!us)
		die("usage: soak SECONDS FLEET CHURN [ARGUMENT…]");
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < SESSIONS; i++)
		once(&k, i);
	closed = measure(&k.objects);
	for (size_t i = 0; i < SESSIONS; i++)
		open_session(&k, i, &k.session[i]);
	peak(&k, argv[2]);
	churn_for(&k, argv + 3, us / 5);
	open = settled(&k);
	most = k.most;
	verdict(&k.verdicts, open.objects > 0, "there are kernel objects to count", 0, 0);
	churn_for(&k, argv + 3, us - us / 5);
	again = settled(&k);
	compare(&k.verdicts, "sessions open", k.most > most ? k.most : 0, slack, &open, &again);
	for (size_t i = 0; i < SESSIONS; i++)
		session_close(&k.session[i]);
	again = measure(&k.objects);
	compare(&k.verdicts, "all closed", 0, slack, &closed, &again);
	left = count_left(&k.objects);
	verdict(&k.verdicts, !left, "nothing of ours is left in the kernel", k.objects.count, left);
	/* A process may change between the reads although its counters are equal before and after.
	 */
	verdict(&k.verdicts, k.different * 200 <= k.checked,
		"PSS agrees with smaps_rollup, but for chance", k.checked, k.different);
	printf("# soak: %zu snapshots of %zu processes, %zu compared with smaps_rollup (%zu differ), %zu sessions opened, %zu kernel objects\n",
	       k.snapshots, k.processes, k.checked, k.different, k.opened, k.objects.count);
	for (size_t i = 0; i < SESSIONS; i++)
		options_done(&k.options[i]);
	free(k.objects.item);
	return k.verdicts.failed;
}
