// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Workers that read files of processes, and the watch over them. open() and read() of many of them
 * can block for as long as the target holds its mmap_lock or hangs in exec, and a thread in there
 * cannot be called back. So a worker writes into its own memory, hands the result over under the
 * lock, and one that overstays is left behind: it finds out when it returns, and ends. Another
 * takes its place, until so many are left behind that one more would be too many.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "enrich/left_behind.h"
#include "enrich/pool_text.h"
#include "enrich/target.h"

#define WORKERS_MAX 16
/* smaps_rollup takes 40 ns for a resident page; ten times that is stuck. */
#define NS_PER_PAGE	400
#define PATIENCE_MIN_NS 20000000
/* A process that changes while it is read in pieces must not keep us for ever. */
#define PIECES_NS 60000000000

struct worker {
	struct proc_pool *pool;
	pthread_t thread;
	bool busy;
	bool left_behind;
	struct left_job what; /* of the job */
	size_t job;
	int64_t deadline_ns; /* of the job, CLOCK_MONOTONIC */
	int64_t piece_ns;    /* what each piece of it gets */
	int64_t last_ns;     /* no piece gets more than what is left until then */
};

struct proc_pool {
	struct procfs proc;
	unsigned wanted; /* workers */
	int64_t deadline_ns;
	int64_t patience_ns; /* the deadline as it is now, shorter with every timeout */
	bool has_rollup;     /* this /proc has smaps_rollup */

	pthread_mutex_t lock;
	pthread_cond_t work; /* for workers: a batch, or the end */
	pthread_cond_t done; /* for the caller: the last job is done */
	struct worker *worker[WORKERS_MAX];
	unsigned workers;
	struct left_behind left;
	unsigned users; /* the owner, and the workers that were left behind: the last frees it */
	bool closing;
	bool alone; /* there was no thread for a worker */
	enum pool_file file;
	bool check_start;
	struct process *const *rows;
	struct pool_result *results;
	size_t count, next, finished;
	size_t rollups;
};

static int64_t now_ns(void)
{
	return (int64_t)clock_ns(CLOCK_MONOTONIC);
}

/* A piece was read: the next one has its own time. False: nobody waits for it any more. */
static bool next_piece(void *arg)
{
	struct worker *w = arg;
	bool wanted;

	pthread_mutex_lock(&w->pool->lock);
	wanted = !w->left_behind;
	w->deadline_ns = now_ns() + w->piece_ns;
	if (w->deadline_ns > w->last_ns)
		w->deadline_ns = w->last_ns;
	pthread_mutex_unlock(&w->pool->lock);
	return wanted;
}

/* Its workers that are not left behind are no users: the owner joins them before it lets go. */
static void let_go(struct proc_pool *pool)
{
	bool last;

	pthread_mutex_lock(&pool->lock);
	last = --pool->users == 0;
	pthread_mutex_unlock(&pool->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->work);
	pthread_cond_destroy(&pool->done);
	free(pool);
}

/* Lock held. */
static void skip_next(struct proc_pool *pool)
{
	pool->results[pool->next++] = (struct pool_result){.status = PSS_TIMEOUT};
	if (++pool->finished == pool->count)
		pthread_cond_signal(&pool->done);
}

/* Or each snapshot would leave one more worker behind, and its two files. Lock held. */
static void skip_stuck(struct proc_pool *pool, bool alone)
{
	while (pool->next < pool->count &&
	       left_skips(&pool->left, pool->rows[pool->next], pool->file, alone))
		skip_next(pool);
}

/* Takes the next job. Called and returns with the lock held; false: no more work for this one. */
static bool take_job(struct worker *w, struct target *ret_target)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct proc_pool *pool = w->pool;
	const struct process *p;

	skip_stuck(pool, false);
	while (!pool->closing && pool->next >= pool->count) {
		pthread_cond_wait(&pool->work, &pool->lock);
		skip_stuck(pool, false);
	}
	if (pool->closing)
		return false;
	w->job = pool->next++;
	w->busy = true;
	p = pool->rows[w->job];
	w->what = (struct left_job){
		.pid = p->pid, .start_ns = p->start_ns, .uid = p->uid, .file = pool->file};
	w->piece_ns = pool->patience_ns;
	if (process_has(p, COUNTER_RSS))
		w->piece_ns += (int64_t)(p->value[COUNTER_RSS] / page * NS_PER_PAGE);
	w->deadline_ns = now_ns() + w->piece_ns;
	w->last_ns = w->deadline_ns + PIECES_NS;
	*ret_target = (struct target){
		.proc = &pool->proc,
		.has_rollup = pool->has_rollup,
		.file = pool->file,
		.pid = p->pid,
		.start_ns = p->start_ns,
		.check_start = pool->check_start,
		.leader_exited = p->leader_exited,
		.go_on = next_piece,
		.arg = w,
	};
	return true;
}

/* Reads one file. Called and returns with the lock held; false: this was the last for this one. */
static bool do_job(struct worker *w)
{
	struct proc_pool *pool = w->pool;
	struct pool_result result;
	struct target target;

	if (!take_job(w, &target))
		return false;
	pthread_mutex_unlock(&pool->lock);
	target_read(&target, &result);
	pthread_mutex_lock(&pool->lock);
	if (w->left_behind) {
		left_remove(&pool->left, &w->what);
		free(result.text);
		map_set_free(result.maps);
		return false;
	}
	w->busy = false;
	pool->results[w->job] = result;
	pool->rollups += target.file == POOL_ROLLUP;
	if (++pool->finished == pool->count)
		pthread_cond_signal(&pool->done);
	return true;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct proc_pool *pool = w->pool;

	pthread_mutex_lock(&pool->lock);
	while (do_job(w))
		;
	pthread_mutex_unlock(&pool->lock);
	if (w->left_behind)
		let_go(pool);
	free(w);
	return NULL;
}

/*
 * The caller is the worker, and nobody waits for it with a deadline: who is known to be stuck would
 * hold it up. Lock held.
 */
static void work_alone(struct proc_pool *pool)
{
	struct worker self = {.pool = pool};

	pool->alone = true;
	for (;;) {
		skip_stuck(pool, true);
		if (pool->next >= pool->count)
			break;
		do_job(&self);
	}
}

/* There is no worker, and there will be none for this batch. Lock held. */
static void work_without(struct proc_pool *pool)
{
	if (!left_full(&pool->left)) {
		work_alone(pool);
		return;
	}
	/* All those that hang may be waiting for the caller as well. */
	while (pool->next < pool->count)
		skip_next(pool);
}

/* Called with the lock held. */
static int start_worker(struct proc_pool *pool)
{
	cleanup_free struct worker *w = calloc(1, sizeof(*w));
	int r = -ENOMEM;

	if (w) {
		w->pool = pool;
		r = thread_start(&w->thread, worker_main, w);
	}
	if (r == 0)
		pool->worker[pool->workers++] = TAKE_PTR(w);
	return r;
}

/*
 * Gives up on workers past their deadline. Returns when to look again: no job that is taken from
 * now on is due before the patience is over. Lock held.
 */
static int64_t check_deadlines(struct proc_pool *pool)
{
	int64_t now = now_ns(), next = now + pool->patience_ns; /* of jobs taken from now on */

	for (unsigned i = 0; i < pool->workers; i++) {
		struct worker *w = pool->worker[i];

		if (!w->busy)
			continue;
		if (w->deadline_ns > now) {
			next = w->deadline_ns < next ? w->deadline_ns : next;
			continue;
		}
		w->left_behind = true;
		pthread_detach(w->thread);
		pool->users++;
		left_add(&pool->left, &w->what);
		pool->results[w->job] = (struct pool_result){.status = PSS_TIMEOUT};
		pool->finished++;
		if (pool->patience_ns > PATIENCE_MIN_NS)
			pool->patience_ns /= 2;
		pool->worker[i--] = pool->worker[--pool->workers];
		if (pool->next < pool->count && !left_full(&pool->left))
			start_worker(pool);
	}
	return next;
}

static int first_error(const struct pool_result *results, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (results[i].error)
			return results[i].error;
	}
	return 0;
}

int pool_read(struct proc_pool *pool, enum pool_file file, bool check_start,
	      struct process *const *rows, size_t count, struct pool_result *results)
{
	int r = 0;

	if (!pool->proc.trusted || (file == POOL_ROLLUP && !pool->has_rollup)) {
		for (size_t i = 0; i < count; i++)
			results[i] = (struct pool_result){.status = PSS_UNSUPPORTED};
		return 0;
	}
	pthread_mutex_lock(&pool->lock);
	pool->file = file;
	pool->check_start = check_start;
	pool->rows = rows;
	pool->results = results;
	pool->count = count;
	pool->next = pool->finished = 0;
	while (pool->workers < pool->wanted && pool->workers < count && r == 0 &&
	       !left_full(&pool->left))
		r = start_worker(pool);
	pthread_cond_broadcast(&pool->work);
	while (pool->finished < pool->count) {
		int64_t until = check_deadlines(pool);
		struct timespec t = {until / 1000000000, until % 1000000000};

		if (!pool->workers && pool->next < pool->count)
			work_without(pool);
		if (pool->finished < pool->count)
			pthread_cond_timedwait(&pool->done, &pool->lock, &t);
	}
	pool->count = pool->next = 0;
	pthread_mutex_unlock(&pool->lock);
	if (file == POOL_PROGRAM)
		pool_make_names(rows, count, results);
	return first_error(results, count);
}

void pool_patient(struct proc_pool *pool)
{
	pool->patience_ns = pool->deadline_ns;
}

void pool_hurry(struct proc_pool *pool, unsigned deadline_ms)
{
	int64_t ns = (int64_t)deadline_ms * 1000000;

	if (pool->patience_ns > ns)
		pool->patience_ns = ns;
}

size_t pool_rollups(const struct proc_pool *pool)
{
	return pool->rollups;
}

bool pool_alone(const struct proc_pool *pool)
{
	return pool->alone;
}

struct proc_pool *proc_pool_new(const struct procfs *proc, unsigned workers, unsigned deadline_ms)
{
	struct proc_pool *pool = calloc(1, sizeof(*pool));
	pthread_condattr_t attr;

	if (!pool)
		return NULL;
	pool->proc = *proc;
	pool->users = 1;
	left_init(&pool->left);
	pool->wanted = workers && workers < WORKERS_MAX ? workers : thread_count(WORKERS_MAX);
	pool->deadline_ns = pool->patience_ns = (int64_t)deadline_ms * 1000000;
	pool->has_rollup = proc->trusted && faccessat(proc->fd, "self/smaps_rollup", F_OK, 0) == 0;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->done, &attr);
	pthread_condattr_destroy(&attr);
	return pool;
}

void proc_pool_free(struct proc_pool *pool)
{
	pthread_t thread[WORKERS_MAX];
	unsigned workers;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->closing = true;
	workers = pool->workers;
	for (unsigned i = 0; i < workers; i++)
		thread[i] = pool->worker[i]->thread;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < workers; i++)
		pthread_join(thread[i], NULL);
	let_go(pool);
}
