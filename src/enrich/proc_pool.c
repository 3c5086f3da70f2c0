// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Workers that read files of processes with a deadline. open() and read() of these files can block
 * as long as the target holds its mmap_lock or hangs in exec, and nothing can wake a thread there.
 * So a worker writes into its own memory and stores its result under the lock. A worker past its
 * deadline is left behind, and another one replaces it; it ends when its read returns. The number
 * of workers left behind is bounded.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "enrich/pool_file.h"

#define WORKERS_MAX 16
/* Starting a thread takes as long as reading some files. */
#define FILES_PER_WORKER 8
/* smaps_rollup takes 40 ns a resident page; a process that takes ten times as long is stuck. */
#define NS_PER_PAGE	400
#define PATIENCE_MIN_NS 20000000
/* The bound for reading all pieces of a process that changes meanwhile. */
#define PIECES_NS 60000000000

/*
 * ---- workers left behind ----
 *
 * Their number is bounded, because any user can make processes that hang. All with the lock held.
 */

/* The job of a worker. */
struct left_job {
	pid_t pid;
	uint64_t start_ns;
	uid_t uid;
	enum pool_file file;
	struct left_job *next; /* left behind earlier, still blocked */
};

struct left_behind {
	struct left_job *first;
	size_t count;
	size_t max;
};

/* Each is a thread with two files. */
#define LEFT_MAX	64
#define LEFT_OF_ONE_UID 16

static void left_init(struct left_behind *l)
{
	struct rlimit files;

	*l = (struct left_behind){.max = LEFT_MAX};
	/* Together they use at most half of the files. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / 4 < LEFT_MAX)
		l->max = files.rlim_cur / 4;
}

static void left_add(struct left_behind *l, struct left_job *job)
{
	job->next = l->first;
	l->first = job;
	l->count++;
}

static void left_remove(struct left_behind *l, const struct left_job *job)
{
	struct left_job **at = &l->first;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	l->count--;
}

/* True if no more workers may be left behind. */
static bool left_full(const struct left_behind *l)
{
	return l->count >= l->max;
}

/*
 * True if this file of the process must not be read now, because a worker waits for it (`alone`:
 * for any file of the process), or because workers wait for too many processes of the same user. So
 * a user with stuck processes does not delay those of other users.
 */
static bool left_skips(const struct left_behind *l, const struct process *p, enum pool_file file,
		       bool alone)
{
	size_t of_uid = 0;

	for (const struct left_job *j = l->first; j; j = j->next) {
		if (j->pid == p->pid && (alone || (j->start_ns == p->start_ns && j->file == file)))
			return true;
		of_uid += j->uid == p->uid;
	}
	return of_uid >= LEFT_OF_ONE_UID;
}

/*
 * ---- users with processes in deep cgroups ----
 *
 * The kernel makes the path of a cgroup in a time that grows with the square of its levels: 15 ms
 * for 1,900 (kernfs_path_from_node_locked(), fs/kernfs/dir.c). Any user may have a thousand of
 * them. So such reads have a budget in CPU time, which is not longer on a busy machine. After half
 * of it the processes of users who had some are skipped, after all of it every process.
 */

#define SLOW_NS	       1000000 /* others take 0.03 ms */
#define SLOW_BUDGET_NS 2000000000
#define SLOW_USERS_MAX 64

struct slow_paths {
	uid_t uid[SLOW_USERS_MAX];
	size_t users;
	int64_t ns;
};

static bool slow_has(const struct slow_paths *s, uid_t uid)
{
	size_t i = 0;

	while (i < s->users && s->uid[i] != uid)
		i++;
	return i < s->users;
}

static void slow_add(struct slow_paths *s, uid_t uid, int64_t ns)
{
	if (ns < SLOW_NS)
		return;
	s->ns += ns;
	if (s->users < SLOW_USERS_MAX && !slow_has(s, uid))
		s->uid[s->users++] = uid;
}

/* True if the cgroup of a process of this user must not be read now. */
static bool slow_skips(const struct slow_paths *s, uid_t uid)
{
	return s->ns >= SLOW_BUDGET_NS || (s->ns >= SLOW_BUDGET_NS / 2 && slow_has(s, uid));
}

/* ---- the pool ---- */

struct worker {
	struct proc_pool *pool;
	pthread_t thread;
	bool busy;
	bool left_behind;
	struct left_job what; /* of the job */
	size_t job;
	int64_t deadline_ns; /* of the job, CLOCK_MONOTONIC */
	int64_t piece_ns;    /* the time for each piece */
	int64_t last_ns;     /* the end of the time for all pieces */
};

struct proc_pool {
	struct procfs proc;
	unsigned wanted; /* workers */
	int64_t deadline_ns;
	int64_t patience_ns; /* the current deadline, shorter after every timeout */
	bool has_rollup;     /* this /proc has smaps_rollup */

	pthread_mutex_t lock;
	pthread_cond_t work; /* for workers: a batch, or the end */
	pthread_cond_t done; /* for the caller: the last job is done */
	struct worker *worker[WORKERS_MAX];
	unsigned workers;
	struct left_behind left;
	struct slow_paths slow;
	unsigned users; /* the owner and the workers left behind; the last one frees the pool */
	bool closing;
	bool alone; /* no thread could be started */
	enum pool_file file;
	bool check_start;
	struct process *const *rows;
	struct pool_result *results;
	size_t count, next, finished;
	size_t rollups, cmdlines;  /* files of these that were read */
	pool_arguments *arguments; /* NULL: command lines come from /proc */
	void *arguments_arg;
};

static bool is_cmdline(enum pool_file file)
{
	return file == POOL_CMDLINE || file == POOL_PROGRAM || file == POOL_APP;
}

static int64_t now_ns(void)
{
	return (int64_t)clock_ns(CLOCK_MONOTONIC);
}

/* Call it after each piece. Sets the next deadline. False if the worker was left behind. */
static bool start_piece(void *arg)
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

/* The owner joins the other workers before, so they are no users. */
static void release_pool(struct proc_pool *pool)
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

/*
 * Prevents each snapshot from leaving one more worker and its two files behind, and from reading
 * deep cgroups without end. Lock held.
 */
static void skip_stuck(struct proc_pool *pool, bool alone)
{
	while (pool->next < pool->count) {
		const struct process *p = pool->rows[pool->next];

		if (!left_skips(&pool->left, p, pool->file, alone) &&
		    !(pool->file == POOL_CGROUP && slow_skips(&pool->slow, p->uid)))
			break;
		skip_next(pool);
	}
}

/* Waits for the next job. Called and returns with the lock held; false if the pool closes. */
static bool next_job(struct worker *w, struct target *ret_target)
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
		.go_on = start_piece,
		.arg = w,
	};
	return true;
}

/* Reads one file. Called and returns with the lock held; false if the worker must end. */
static bool do_job(struct worker *w)
{
	struct proc_pool *pool = w->pool;
	struct pool_result result;
	struct target target;
	int64_t cpu_ns = 0;

	if (!next_job(w, &target))
		return false;
	pthread_mutex_unlock(&pool->lock);
	if (target.file == POOL_CGROUP)
		cpu_ns = (int64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID);
	target_read(&target, &result);
	if (target.file == POOL_CGROUP)
		cpu_ns = (int64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	pthread_mutex_lock(&pool->lock);
	if (w->left_behind) {
		left_remove(&pool->left, &w->what);
		free(result.text);
		map_set_free(result.maps);
		free(result.part);
		free(result.gpu);
		return false;
	}
	w->busy = false;
	slow_add(&pool->slow, w->what.uid, cpu_ns);
	pool->results[w->job] = result;
	pool->rollups += target.file == POOL_ROLLUP;
	pool->cmdlines += is_cmdline(target.file);
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
		release_pool(pool);
	free(w);
	return NULL;
}

/*
 * The caller reads, without a deadline, so it skips processes that are known to be stuck. Lock
 * held.
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

/* For a batch without any worker. Lock held. */
static void work_without_threads(struct proc_pool *pool)
{
	if (!left_full(&pool->left)) {
		work_alone(pool);
		return;
	}
	/* The processes that hang may be waiting for the caller. */
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
 * Leaves workers past their deadline behind. Returns the time of the next check. Lock held.
 */
static int64_t check_deadlines(struct proc_pool *pool)
{
	int64_t now = now_ns(),
		next = now + pool->patience_ns; /* the first deadline of a new job */

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
		if (pool->file == POOL_CGROUP)
			slow_add(&pool->slow, w->what.uid, w->piece_ns);
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

static int read_files(struct proc_pool *pool, enum pool_file file, bool check_start,
		      struct process *const *rows, size_t count, struct pool_result *results)
{
	int r = 0;

	pthread_mutex_lock(&pool->lock);
	pool->file = file;
	pool->check_start = check_start;
	pool->rows = rows;
	pool->results = results;
	pool->count = count;
	pool->next = pool->finished = 0;
	while (pool->workers < pool->wanted && pool->workers * FILES_PER_WORKER < count && r == 0 &&
	       !left_full(&pool->left))
		r = start_worker(pool);
	pthread_cond_broadcast(&pool->work);
	while (pool->finished < pool->count) {
		int64_t until = check_deadlines(pool);
		struct timespec t = {until / 1000000000, until % 1000000000};

		if (!pool->workers && pool->next < pool->count)
			work_without_threads(pool);
		if (pool->finished < pool->count)
			pthread_cond_timedwait(&pool->done, &pool->lock, &t);
	}
	pool->count = pool->next = 0;
	pthread_mutex_unlock(&pool->lock);
	return first_error(results, count);
}

void pool_set_arguments(struct proc_pool *pool, pool_arguments *fn, void *arg)
{
	pool->arguments = fn;
	pool->arguments_arg = arg;
}

static void set_arguments(void *results, size_t i, char *text, size_t len)
{
	((struct pool_result *)results)[i] =
		(struct pool_result){.status = PSS_OK, .text = text, .len = len};
}

/* Reads command lines without their files, and those that cannot be read so from their files. */
static int read_arguments(struct proc_pool *pool, enum pool_file file, struct process *const *rows,
			  size_t count, struct pool_result *results)
{
	const size_t most = file == POOL_APP ? POOL_APP_MAX : POOL_CMDLINE_MAX;
	cleanup_free struct process **rest = calloc(count, sizeof(*rest));
	cleanup_free struct pool_result *read = calloc(count, sizeof(*read));
	size_t left = 0;
	int r;

	if (!rest || !read)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		results[i] = (struct pool_result){.status = PSS_UNSUPPORTED};
	pool->arguments(pool->arguments_arg, rows, count, most, set_arguments, results);
	for (size_t i = 0; i < count; i++) {
		if (results[i].status != PSS_OK)
			rest[left++] = rows[i];
	}
	r = left ? read_files(pool, file, true, rest, left, read) : 0;
	left = 0;
	for (size_t i = 0; i < count; i++) {
		if (results[i].status != PSS_OK)
			results[i] = read[left++];
	}
	return r;
}

int pool_read(struct proc_pool *pool, enum pool_file file, bool check_start,
	      struct process *const *rows, size_t count, struct pool_result *results)
{
	int r;

	if (!pool->proc.trusted || (file == POOL_ROLLUP && !pool->has_rollup)) {
		for (size_t i = 0; i < count; i++)
			results[i] = (struct pool_result){.status = PSS_UNSUPPORTED};
		return 0;
	}
	r = is_cmdline(file) && pool->arguments && count
		    ? read_arguments(pool, file, rows, count, results)
		    : read_files(pool, file, check_start, rows, count, results);
	if (file == POOL_PROGRAM)
		pool_make_names(rows, count, results);
	return r;
}

void pool_patient(struct proc_pool *pool)
{
	pool->patience_ns = pool->deadline_ns;
	pool->slow = (struct slow_paths){};
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

size_t pool_cmdlines(const struct proc_pool *pool)
{
	return pool->cmdlines;
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
	release_pool(pool);
}
