// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * soak_watch TICKS FLEET CHURN [ARGUMENT…]: runs watch with the next tick always due while CHURN
 * starts and ends processes. After a peak, from the first tenth to the end, neither memory nor
 * files nor threads may grow.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/watch.h"
#include "base/array.h"
#include "measure.h"
#include "noise.h"
#include "render/render.h"

/* What malloc and the kernel round. */
#define HEAP_SLACK (64 * 1024)
/* Reserved memory may be touched late for the first time: four times that of 2,000 processes. */
#define RSS_SLACK (4 * 1024 * 1024)

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
	struct watch watch[WATCHES];
	struct strbuf out, line;
	size_t ticks, rows, changed, most;
	bool failed;
};

/* Nothing is given up: helpers are to be waited for. */
int __wrap_secure_loaded(const char *output, unsigned later);

int __wrap_secure_loaded(const char *output, unsigned later)
{
	(void)output;
	(void)later;
	return 0;
}

static void verdict(struct soak *k, bool good, const char *name, size_t before, size_t after)
{
	if (good)
		printf("ok watch: %s\n", name);
	else
		printf("not ok watch: %s: from %zu to %zu\n", name, before, after);
	k->failed |= !good;
}

static void open_watch(struct soak *k, size_t i)
{
	int argc = 0;

	while (argc < WORDS_MAX && requests[i][argc])
		argc++;
	optind = 0;
	if (options_parse(&k->options[i], argc, requests[i]))
		die("an option is not known");
	k->options[i].continuous = true;
	if (watch_open(&k->watch[i], &k->options[i], false))
		die("it does not open");
}

static void take(struct soak *k, struct watch *w)
{
	const struct table_style style = {
		.columns = &w->measure.columns, .header = true, .width = 120};
	struct result result;

	if (watch_collect(w, 0, 0, &result))
		die("a tick fails");
	strbuf_clear(&k->out);
	if (w->measure.options->format == FORMAT_NDJSON) {
		render_ndjson_with(&k->out, &k->line, &result);
	} else {
		render_tick(&k->out, &result, &style);
		render_table(&k->out, &result, &style);
	}
	if (strbuf_error(&k->out) || watch_keep(w, &result))
		die("a tick is not told");
	k->ticks++;
	k->rows += result.row_count;
	k->changed += w->deltas.delta.counts.changed;
	if (k->most < w->measure.collector.snapshot.count)
		k->most = w->measure.collector.snapshot.count;
}

static void take_all(struct soak *k, size_t rounds)
{
	for (size_t n = 0; n < rounds; n++) {
		for (size_t i = 0; i < WATCHES; i++)
			take(k, &k->watch[i]);
	}
}

static void stop(pid_t pid, int fd)
{
	close(fd);
	waitpid(pid, NULL, 0);
}

static void compare(struct soak *k, bool grown, const struct holdings *a, const struct holdings *b)
{
	if (grown) {
		printf("skip watch: memory: the machine had more processes than our fleet, %zu\n",
		       k->most);
	} else {
		verdict(k, b->heap <= a->heap + HEAP_SLACK, "no more memory in use", a->heap,
			b->heap);
		verdict(k, b->rss <= a->rss + RSS_SLACK, "no more memory resident", a->rss, b->rss);
	}
	verdict(k, b->files <= a->files, "no more open files", (size_t)a->files, (size_t)b->files);
	verdict(k, b->threads <= a->threads, "no more threads", (size_t)a->threads,
		(size_t)b->threads);
	printf("# watch: %zu ticks, %zu rows told, %zu changed; heap %zu to %zu, RSS %zu to %zu kB, files %d to %d\n",
	       k->ticks, k->rows, k->changed, a->heap, b->heap, a->rss / 1024, b->rss / 1024,
	       a->files, b->files);
}

int main(int argc, char **argv)
{
	size_t ticks = argc > 3 ? strtoull(argv[1], NULL, 10) : 0, rounds = ticks / WATCHES, most;
	char *fleet[] = {argc > 3 ? argv[2] : NULL, "2000", "4", NULL};
	struct holdings before, after;
	struct objects objects = {};
	static struct soak k;
	pid_t pid;
	int fd;

	if (!ticks)
		die("usage: soak_watch TICKS FLEET CHURN [ARGUMENT…]");
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < WATCHES; i++)
		open_watch(&k, i);
	pid = start(fleet, true, &fd);
	take_all(&k, 4);
	stop(pid, fd);
	pid = start(argv + 3, false, &fd);
	take_all(&k, rounds / 10);
	before = measure(&objects);
	most = k.most;
	take_all(&k, rounds - rounds / 10);
	after = measure(&objects);
	stop(pid, fd);
	compare(&k, k.most > most, &before, &after);
	for (size_t i = 0; i < WATCHES; i++) {
		watch_close(&k.watch[i]);
		options_done(&k.options[i]);
	}
	strbuf_done(&k.out);
	strbuf_done(&k.line);
	free(objects.item);
	return k.failed;
}
