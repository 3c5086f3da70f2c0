// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * soak_watch TICKS FLEET CHURN [ARGUMENT…]: runs watch with the next tick always due while CHURN
 * starts and ends processes. After a peak, from the first tenth to the end, neither memory nor
 * files nor threads may grow.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command/table.h"
#include "session/session.h"
#include "base/array.h"
#include "measure.h"
#include "report/report.h"

/* Reserved memory may be touched late for the first time: four times that of 2,000 processes. */
static const struct slack slack = {.heap = 64 * 1024, .rss = 4 * 1024 * 1024};

#define WORDS_MAX 6

/* One of each kind of format that has its own state. */
static char *requests[][WORDS_MAX] = {
	{"zmem-bpf", "watch", "--no-lock", "-qa"},
	{"zmem-bpf", "watch", "--no-lock", "--changed", "-Fndjson"},
	{"zmem-bpf", "watch", "--no-lock", "--grow", "-o+cgroup,unit"},
	{"zmem-bpf", "watch", "--no-lock", "-gname", "--delta=start"},
};

#define WATCHES ARRAY_SIZE(requests)

struct soak {
	struct options options[WATCHES];
	struct session session[WATCHES];
	struct strbuf out, line;
	size_t ticks, rows, changed, most;
	struct verdicts verdicts;
};

static void open_watch(struct soak *k, size_t i)
{
	int argc = 0;

	while (argc < WORDS_MAX && requests[i][argc])
		argc++;
	optind = 0;
	if (options_parse(&k->options[i], &command_table, argc, requests[i]))
		die("an option is not known");
	if (session_open_series(&k->session[i], &k->options[i], false))
		die("it does not open");
}

static void take(struct soak *k, struct session *w)
{
	const struct table_style style = {.columns = &w->columns, .header = true, .width = 120};
	struct result result;

	if (session_next(w, 0, 0, &result))
		die("a tick fails");
	strbuf_clear(&k->out);
	if (w->options->format == FORMAT_NDJSON) {
		render_ndjson_with(&k->out, &k->line, &result);
	} else {
		render_tick(&k->out, &result, &style);
		render_table(&k->out, &result, &style);
	}
	if (strbuf_error(&k->out) || session_finish_tick(w, &result))
		die("a tick is not told");
	k->ticks++;
	k->rows += result.row_count;
	k->changed += w->deltas.delta.counts.changed;
	if (k->most < w->collector.snapshot.count)
		k->most = w->collector.snapshot.count;
}

static void take_all(struct soak *k, size_t rounds)
{
	for (size_t n = 0; n < rounds; n++) {
		for (size_t i = 0; i < WATCHES; i++)
			take(k, &k->session[i]);
	}
}

int main(int argc, char **argv)
{
	size_t ticks = argc > 3 ? strtoull(argv[1], NULL, 10) : 0, rounds = ticks / WATCHES, most;
	char *fleet[] = {argc > 3 ? argv[2] : NULL, "2000", "4", NULL};
	struct holdings before, after;
	struct objects objects = {};
	static struct soak k = {.verdicts = {"watch"}};
	pid_t pid;
	int fd;

	if (!ticks)
		die("usage: soak_watch TICKS FLEET CHURN [ARGUMENT…]");
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < WATCHES; i++)
		open_watch(&k, i);
	pid = start(fleet, true, &fd);
	take_all(&k, 4);
	stop(&k.verdicts, pid, fd);
	pid = start(argv + 3, false, &fd);
	take_all(&k, rounds / 10);
	before = measure(&objects);
	most = k.most;
	take_all(&k, rounds - rounds / 10);
	after = measure(&objects);
	stop(&k.verdicts, pid, fd);
	compare(&k.verdicts, "in later ticks", k.most > most ? k.most : 0, slack, &before, &after);
	printf("# watch: %zu ticks, %zu rows told, %zu changed\n", k.ticks, k.rows, k.changed);
	for (size_t i = 0; i < WATCHES; i++) {
		session_close(&k.session[i]);
		options_done(&k.options[i]);
	}
	strbuf_done(&k.out);
	strbuf_done(&k.line);
	free(objects.item);
	return k.verdicts.failed;
}
