// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Workers read mappings from a /proc made of files: exact totals, and a FIFO as a process that is
 * read slowly, or not to the end.
 */
#include "unit.h"

#include <pthread.h>
#include <signal.h>

#include "enrich/enrich.h"
#include "proc_tree.h"

#define KB	    UINT64_C(1024)
#define DEADLINE_MS 2000
#define PIECES	    5
#define PAUSE_US    600000 /* five pauses are longer than the deadline */

#define MAPPING(start, name)                                                                       \
	"0000" start "000-0000" start "fff rw-p 00000000 00:00 0 " name "\n"                       \
	"Rss: 8 kB\nPss: 3 kB\nShared_Clean: 4 kB\nShared_Dirty: 0 kB\n"                           \
	"Private_Clean: 0 kB\nPrivate_Dirty: 4 kB\nSwap: 0 kB\nSwapPss: 0 kB\n"

#define SMAPS MAPPING("1", "/a") MAPPING("2", "") MAPPING("3", "/a")

#define ROLLUP(rss, pss)                                                                           \
	"Rss: " rss " kB\nPss: " pss " kB\nPrivate_Clean: 0 kB\nPrivate_Dirty: 12 kB\n"            \
	"Swap: 0 kB\nSwapPss: 0 kB\n"

struct fixture {
	struct proc_tree tree;
	char smaps[128];
	struct process process;
	struct pool_result result;
};

static void begin(struct fixture *f)
{
	signal(SIGPIPE, SIG_IGN);
	proc_tree_init(&f->tree);
	proc_tree_add(&f->tree, 1000);
	assert_int_equal(symlinkat("1000", f->tree.proc.fd, "self"), 0);
	snprintf(f->smaps, sizeof(f->smaps), "%s/1000/smaps", f->tree.dir);
	proc_tree_put_text(&f->tree, "1000/smaps_rollup", ROLLUP("24", "11"));
	f->process = (struct process){.pid = 1000};
}

static void end(struct fixture *f)
{
	proc_tree_done(&f->tree);
}

FIXTURE(begin, end)

static void read_it(struct fixture *f, enum pool_file file)
{
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 1, DEADLINE_MS);
	struct process *row = &f->process;

	map_set_free(f->result.maps);
	f->result = (struct pool_result){};
	assert_int_equal(pool_read(pool, file, false, &row, 1, &f->result), 0);
	proc_pool_free(pool);
}

static void check_total(struct fixture *f, const char *rollup, bool exact, uint64_t pss)
{
	proc_tree_put_text(&f->tree, "1000/smaps_rollup", rollup);
	read_it(f, POOL_MAPS);
	assert_int_equal(f->result.status, PSS_OK);
	assert_int_equal(f->result.maps->total_exact, exact);
	assert_int_equal(f->result.maps->total.value[MAPS_PSS], pss * KB);
	assert_int_equal(f->result.maps->total.value[MAPS_RSS], 24 * KB);
	assert_int_equal(f->result.maps->mappings, 3);
}

/* The total is that of smaps_rollup if both can be of the same memory. */
FIXTURE_TEST(total)
{
	proc_tree_put_text(&f->tree, "1000/smaps", SMAPS);
	check_total(f, ROLLUP("24", "9"), true, 9);
	check_total(f, ROLLUP("24", "11"), true, 11);
	check_total(f, ROLLUP("24", "13"), false, 9);
	check_total(f, ROLLUP("24", "8"), false, 9);
	check_total(f, ROLLUP("28", "11"), false, 9);
	assert_int_equal(f->result.maps->count, 3);
	assert_int_equal(f->result.maps->item[2]->pid, 1000);
	read_it(f, POOL_NAMES);
	assert_int_equal(f->result.maps->count, 2);
	map_set_free(f->result.maps);
}

static void check_status(struct fixture *f, const char *smaps, enum pss_status status)
{
	proc_tree_put_text(&f->tree, "1000/smaps", smaps);
	read_it(f, POOL_MAPS);
	assert_int_equal(f->result.status, status);
	assert_null(f->result.maps);
}

FIXTURE_TEST(not_read)
{
	check_status(f, "", PSS_GONE);
	check_status(f, "garbage\n", PSS_UNSUPPORTED);
	check_status(f, "00001000-00002000 rw-p 0 0:0 0\nRss: 4", PSS_UNSUPPORTED);
	/* A process that ends during the read of smaps has no smaps_rollup. */
	proc_tree_put_text(&f->tree, "1000/smaps_rollup", "");
	check_status(f, SMAPS, PSS_GONE);
	assert_int_equal(unlink(f->smaps), 0);
	read_it(f, POOL_MAPS);
	assert_int_equal(f->result.status, PSS_GONE);
}

struct writer {
	const char *path;
	int pieces; /* the number written before it hangs, or all */
	int release[2];
};

static void *write_pieces(void *arg)
{
	const struct writer *w = arg;
	cleanup_close int fd = open(w->path, O_WRONLY | O_CLOEXEC);
	char byte;

	for (int i = 0; i < w->pieces; i++) {
		usleep(PAUSE_US);
		if (file_write_fd(fd, MAPPING("1", "/a"), strlen(MAPPING("1", "/a"))))
			return NULL;
	}
	if (w->pieces < PIECES && read(w->release[0], &byte, 1) < 0)
		return NULL;
	return NULL;
}

static void read_slowly(struct fixture *f, int pieces)
{
	struct writer w = {.path = f->smaps, .pieces = pieces};
	pthread_t thread;

	unlink(f->smaps);
	assert_int_equal(mkfifo(f->smaps, 0644), 0);
	assert_int_equal(pipe(w.release), 0);
	assert_int_equal(pthread_create(&thread, NULL, write_pieces, &w), 0);
	read_it(f, POOL_MAPS);
	close(w.release[1]);
	pthread_join(thread, NULL);
	close(w.release[0]);
}

/* The worker waits as long as more pieces come. */
FIXTURE_TEST(slow)
{
	proc_tree_put_text(&f->tree, "1000/smaps_rollup", ROLLUP("40", "15"));
	read_slowly(f, PIECES);
	assert_int_equal(f->result.status, PSS_OK);
	assert_int_equal(f->result.maps->mappings, PIECES);
	map_set_free(f->result.maps);
}

FIXTURE_TEST(stuck)
{
	read_slowly(f, 1);
	assert_int_equal(f->result.status, PSS_TIMEOUT);
	assert_null(f->result.maps);
	/* The worker left behind ends, so that nothing leaks. */
	usleep(200000);
}
