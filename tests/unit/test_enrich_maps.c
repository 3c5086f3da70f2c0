// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Workers read mappings from a /proc made of files: exact totals, and a FIFO as a process that is
 * read slowly, or not to the end.
 */
#include "unit.h"

#include <pthread.h>
#include <signal.h>

#include "base/file.h"
#include "enrich/enrich.h"

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
	char dir[64];
	char smaps[128];
	struct procfs proc;
	struct process process;
	struct pool_result result;
};

static void write_text(const struct fixture *f, const char *name, const char *text)
{
	char path[128];
	cleanup_close int fd = -1;

	snprintf(path, sizeof(path), "%s/1000/%s", f->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, text, strlen(text)), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[128];

	signal(SIGPIPE, SIG_IGN);
	strcpy(f->dir, "/tmp/zmem-maps-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(path, sizeof(path), "%s/1000", f->dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/self", f->dir);
	assert_int_equal(symlink("1000", path), 0);
	snprintf(f->smaps, sizeof(f->smaps), "%s/1000/smaps", f->dir);
	write_text(f, "smaps_rollup", ROLLUP("24", "11"));
	f->proc.fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->proc.trusted = true;
	f->process = (struct process){.pid = 1000};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	close(f->proc.fd);
	free(f);
	return system(command);
}

static void read_it(struct fixture *f, enum pool_file file)
{
	struct proc_pool *pool = proc_pool_new(&f->proc, 1, DEADLINE_MS);
	struct process *row = &f->process;

	map_set_free(f->result.maps);
	f->result = (struct pool_result){};
	assert_int_equal(pool_read(pool, file, false, &row, 1, &f->result), 0);
	proc_pool_free(pool);
}

static void check_total(struct fixture *f, const char *rollup, bool exact, uint64_t pss)
{
	write_text(f, "smaps_rollup", rollup);
	read_it(f, POOL_MAPS);
	assert_int_equal(f->result.status, PSS_OK);
	assert_int_equal(f->result.maps->total_exact, exact);
	assert_int_equal(f->result.maps->total.value[MAPS_PSS], pss * KB);
	assert_int_equal(f->result.maps->total.value[MAPS_RSS], 24 * KB);
	assert_int_equal(f->result.maps->mappings, 3);
}

/* The total is that of smaps_rollup if both can be of the same memory. */
TEST_WITH(total, setup, teardown)
{
	struct fixture *f = *state;

	write_text(f, "smaps", SMAPS);
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
	write_text(f, "smaps", smaps);
	read_it(f, POOL_MAPS);
	assert_int_equal(f->result.status, status);
	assert_null(f->result.maps);
}

TEST_WITH(not_read, setup, teardown)
{
	struct fixture *f = *state;

	check_status(f, "", PSS_GONE);
	check_status(f, "garbage\n", PSS_UNSUPPORTED);
	check_status(f, "00001000-00002000 rw-p 0 0:0 0\nRss: 4", PSS_UNSUPPORTED);
	/* A process that ends during the read of smaps has no smaps_rollup. */
	write_text(f, "smaps_rollup", "");
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
TEST_WITH(slow, setup, teardown)
{
	struct fixture *f = *state;

	write_text(f, "smaps_rollup", ROLLUP("40", "15"));
	read_slowly(f, PIECES);
	assert_int_equal(f->result.status, PSS_OK);
	assert_int_equal(f->result.maps->mappings, PIECES);
	map_set_free(f->result.maps);
}

TEST_WITH(stuck, setup, teardown)
{
	struct fixture *f = *state;

	read_slowly(f, 1);
	assert_int_equal(f->result.status, PSS_TIMEOUT);
	assert_null(f->result.maps);
	/* The worker left behind ends, so that nothing leaks. */
	usleep(200000);
}
