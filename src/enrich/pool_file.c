// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads one file of one process, and makes a result of it.
 *
 * smaps is read piece by piece. The PSS of each mapping is cut to kB, so the sum may be off by 1 kB
 * a mapping; smaps_rollup has the exact sum.
 *
 * In smaps_rollup (fs/proc/task_mmu.c) Swap counts private swap entries and swapped shared memory,
 * in full for every mapper; SwapPss leaves shared memory out. The kernel's MM_SWAPENTS counts
 * private entries alone.
 */
#include "enrich/pool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "model/program.h"
#include "proc/drm.h"
#include "proc/kernel_memory.h"
#include "proc/smaps.h"

/* The longest text of a process that is read. */
#define TEXT_MAX (POOL_CMDLINE_MAX * 2)

/* ---- results ---- */

static enum pss_status status_of(int error)
{
	switch (error) {
	case -ENOENT:
	case -ESRCH:
		return PSS_GONE;
	case -EACCES:
	case -EPERM:
		return PSS_DENIED;
	case -ETIMEDOUT:
		return PSS_TIMEOUT;
	default:
		return PSS_UNSUPPORTED;
	}
}

static void set_error(struct pool_result *ret, int error)
{
	ret->status = status_of(error);
	ret->error = file_exhausted(error) ? error : 0;
}

static void fail(struct pool_result *ret, int error)
{
	*ret = (struct pool_result){};
	set_error(ret, error);
}

void pool_understand(enum pool_file file, const char *text, ssize_t len, struct pool_result *ret)
{
	*ret = (struct pool_result){.status = PSS_OK};
	if (len < 0)
		set_error(ret, (int)len);
	else if (file == POOL_ROLLUP && len == 0)
		ret->status = PSS_GONE;
	else if (file == POOL_ROLLUP && smaps_rollup_parse(text, (size_t)len, &ret->counters) < 0)
		ret->status = PSS_UNSUPPORTED;
	if (len < 0 || file == POOL_ROLLUP)
		return;
	ret->text = malloc((size_t)len + 1);
	if (!ret->text) {
		set_error(ret, -ENOMEM);
		return;
	}
	memcpy(ret->text, text, (size_t)len);
	ret->text[len] = '\0';
	ret->len = (size_t)len;
}

/* ---- program names ---- */

struct text_part pool_program_name(const struct process *p, const char *cmdline, size_t len)
{
	len = program_whole_words(cmdline, len < POOL_CMDLINE_MAX ? len : POOL_CMDLINE_MAX,
				  POOL_CMDLINE_MAX);
	return program_name(p->name, p->comm, len ? cmdline : NULL, len);
}

size_t pool_app(const struct process *p, const char *cmdline, size_t len, char ret[APP_MAX + 1])
{
	len = program_whole_words(cmdline, len, POOL_APP_MAX);
	return app_of(p->exe_name ? p->exe_name : p->name, p->comm, len ? cmdline : NULL, len, ret);
}

static void make_name(const struct process *p, struct pool_result *result)
{
	struct text_part name;
	char *text;

	if (!result->text)
		return;
	name = pool_program_name(p, result->text, result->len);
	text = strndup(name.s, name.len);
	free(result->text);
	result->text = text;
	result->len = name.len;
	if (!text)
		set_error(result, -ENOMEM);
}

void pool_make_names(struct process *const *rows, size_t count, struct pool_result *results)
{
	for (size_t i = 0; i < count; i++)
		make_name(rows[i], &results[i]);
}

/* ---- smaps ---- */

struct smaps_reader {
	struct map_set *set;
	pid_t pid;
	struct smaps smaps;
	char piece[32768];
};

static int add_mapping(void *arg, const struct mapping *m)
{
	struct smaps_reader *reader = arg;
	struct mapping mapping = *m;

	mapping.pid = reader->pid;
	return map_set_add(reader->set, &mapping);
}

static int read_pieces(struct smaps_reader *reader, const struct target *t, int dirfd)
{
	cleanup_close int fd = openat(dirfd, "smaps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	smaps_begin(&reader->smaps, add_mapping, reader);
	for (;;) {
		ssize_t len = read(fd, reader->piece, sizeof(reader->piece));
		int r;

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return -errno;
		if (!t->go_on(t->arg))
			return -ETIMEDOUT;
		if (len == 0)
			break;
		r = smaps_feed(&reader->smaps, reader->piece, (size_t)len);
		if (r < 0)
			return r;
	}
	return smaps_end(&reader->smaps);
}

static bool is_equal(const struct smaps_rollup *f, enum smaps_key counter, uint64_t value)
{
	return rollup_has(f, counter) && f->value[counter] == value;
}

/* The sum of values that were each cut to kB differs by at most 1 kB a mapping. */
static bool is_near(const struct smaps_rollup *f, enum smaps_key counter, uint64_t sum,
		    size_t mappings)
{
	return rollup_has(f, counter) && f->value[counter] >= sum &&
	       f->value[counter] - sum <= mappings * 1024;
}

/* Uses the exact PSS of the process if its other values are unchanged. */
static void set_exact_total(struct map_set *set, const struct smaps_rollup *f)
{
	struct map_counters *total = &set->total;
	uint64_t private = f->value[SMAPS_PRIVATE_CLEAN] + f->value[SMAPS_PRIVATE_DIRTY];

	if (!is_equal(f, SMAPS_RSS, total->value[MAPS_RSS]) ||
	    private != total->value[MAPS_PRIVATE] ||
	    !is_equal(f, SMAPS_SWAP, total->value[MAPS_SWAP]) ||
	    !is_near(f, SMAPS_PSS, total->value[MAPS_PSS], set->mappings) ||
	    !is_near(f, SMAPS_SWAP_PSS, total->value[MAPS_SWAP_PSS], set->mappings))
		return;
	total->value[MAPS_PSS] = f->value[SMAPS_PSS];
	total->value[MAPS_SWAP_PSS] = f->value[SMAPS_SWAP_PSS];
	set->total_exact = true;
}

/* A process that ends during the read has fewer mappings, and no smaps_rollup afterwards. */
static int read_rollup(struct smaps_reader *reader, const struct target *t, int dirfd)
{
	struct smaps_rollup counters;
	ssize_t len;

	if (!t->has_rollup)
		return 0;
	len = file_read(dirfd, "smaps_rollup", reader->piece, sizeof(reader->piece));
	if (len <= 0)
		return len == 0 || len == -ENOENT ? -ESRCH : (int)len;
	if (smaps_rollup_parse(reader->piece, (size_t)len, &counters) == 0)
		set_exact_total(reader->set, &counters);
	return 0;
}

/*
 * Returns 0 and what is to be freed with map_set_free(), or a negative errno: -ESRCH if the process
 * ended meanwhile, -EINVAL if the file is invalid, -ETIMEDOUT if go_on() ended it.
 */
static int read_mappings(const struct target *t, int dirfd, struct map_set **ret)
{
	cleanup_free struct smaps_reader *reader = malloc(sizeof(*reader));
	int r;

	if (!reader)
		return -ENOMEM;
	reader->pid = t->pid;
	reader->set = map_set_new(t->file == POOL_NAMES);
	if (!reader->set)
		return -ENOMEM;
	r = read_pieces(reader, t, dirfd);
	if (r == -ENODATA)
		r = -ESRCH;
	if (r == 0)
		r = read_rollup(reader, t, dirfd);
	if (r < 0) {
		map_set_free(reader->set);
		return r;
	}
	*ret = reader->set;
	return 0;
}

/* ---- files ---- */

/* exe is a link, and smaps is read piece by piece. */
static const char *const file_names[] = {
	[POOL_ROLLUP] = "smaps_rollup",
	[POOL_STATUS] = "status",
	[POOL_CGROUP] = "cgroup",
};

/*
 * Opens the directory with the memory of the process: /proc/PID, or that of a live thread if the
 * leader has exited. The files below the fd belong to this process even if its pid is reused.
 * Returns the fd, -ESRCH if the process is gone or another one, -EXDEV if this /proc is of another
 * pid namespace, or -errno.
 */
static int open_dir(const struct target *t)
{
	cleanup_close int fd = -1;
	int same;

	if (t->proc->fd < 0 || !t->proc->trusted)
		return -EXDEV;
	fd = procfs_open_pid(t->proc, t->pid);
	if (fd < 0)
		return fd;
	same = t->check_start ? procfs_same_start(t->proc, fd, t->start_ns) : 1;
	if (same <= 0)
		return same < 0 ? same : -ESRCH;
	return t->leader_exited ? procfs_open_thread(fd) : TAKE_FD(fd);
}

static void read_smaps(const struct target *t, int fd, struct pool_result *ret)
{
	struct map_set *maps = NULL;
	int r = read_mappings(t, fd, &maps);

	if (r < 0)
		fail(ret, r);
	else
		*ret = (struct pool_result){.status = PSS_OK, .maps = maps};
}

static void read_drivers(int fd, struct pool_result *ret)
{
	cleanup_free struct name_sums *sums = calloc(1, sizeof(*sums));
	int r = sums ? driver_pages_read(fd, sums) : -ENOMEM;

	*ret = (struct pool_result){.status = PSS_OK};
	if (r == 0 && sums->count) {
		ret->part = malloc(sums->count * sizeof(*ret->part));
		r = ret->part ? 0 : -ENOMEM;
	}
	if (r < 0) {
		fail(ret, r);
		return;
	}
	ret->parts = sums->count;
	if (ret->parts)
		memcpy(ret->part, sums->item, sums->count * sizeof(*ret->part));
}

/* What was read before an error counts for nothing: it would be a part of the memory. */
static void read_gpu(int fd, struct pool_result *ret)
{
	struct drm_files files = {};
	int r = drm_files_read(fd, &files);

	if (r < 0) {
		free(files.part);
		fail(ret, r);
		return;
	}
	*ret = (struct pool_result){.status = PSS_OK, .gpu = files.part, .gpus = files.count};
}

/*
 * Each read takes the mmap_lock of the process two times and more, and one has all that there is
 * (get_mm_cmdline(), fs/proc/base.c).
 */
static ssize_t read_cmdline(int dirfd, char *text, size_t most)
{
	cleanup_close int fd = openat(dirfd, "cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, most);

	return len < 0 ? -errno : len;
}

static ssize_t read_text(const struct target *t, int fd, char *text, size_t cap)
{
	bool deleted;

	if (t->file == POOL_EXE)
		return procfs_exe_name(fd, text, cap, &deleted);
	if (t->file == POOL_CMDLINE || t->file == POOL_PROGRAM)
		return read_cmdline(fd, text, POOL_CMDLINE_MAX);
	return file_read(fd, file_names[t->file], text, cap);
}

static void read_app(int fd, struct pool_result *ret)
{
	cleanup_free char *text = malloc(POOL_APP_MAX);

	if (text)
		pool_understand(POOL_APP, text, read_cmdline(fd, text, POOL_APP_MAX), ret);
	else
		fail(ret, -ENOMEM);
}

void target_read(const struct target *t, struct pool_result *ret)
{
	cleanup_close int fd = open_dir(t);
	char text[TEXT_MAX];

	if (fd < 0)
		fail(ret, fd);
	else if (t->file == POOL_MAPS || t->file == POOL_NAMES)
		read_smaps(t, fd, ret);
	else if (t->file == POOL_DRIVERS)
		read_drivers(fd, ret);
	else if (t->file == POOL_APP)
		read_app(fd, ret);
	else if (t->file == POOL_GPU)
		read_gpu(fd, ret);
	else
		pool_understand(t->file, text, read_text(t, fd, text, sizeof(text)), ret);
}

/* ---- smaps_rollup ---- */

static void copy_counter(struct process *p, enum counter c, const struct smaps_rollup *f,
			 enum smaps_key key)
{
	if (rollup_has(f, key))
		process_set(p, c, f->value[key]);
}

void rollup_apply(struct process *p, const struct pool_result *result)
{
	const struct smaps_rollup *f = &result->counters;

	p->pss_status = result->status;
	/* The text was cut off before Pss. */
	if (result->status == PSS_OK && !rollup_has(f, SMAPS_PSS))
		p->pss_status = PSS_UNSUPPORTED;
	if (p->pss_status != PSS_OK)
		return;
	p->pss_source = PSS_FROM_ROLLUP;
	copy_counter(p, COUNTER_PSS, f, SMAPS_PSS);
	copy_counter(p, COUNTER_PSS_ANON, f, SMAPS_PSS_ANON);
	copy_counter(p, COUNTER_PSS_FILE, f, SMAPS_PSS_FILE);
	copy_counter(p, COUNTER_PSS_SHMEM, f, SMAPS_PSS_SHMEM);
	copy_counter(p, COUNTER_SWAP_PSS, f, SMAPS_SWAP_PSS);
	copy_counter(p, COUNTER_LAZYFREE, f, SMAPS_LAZYFREE);
	if (rollup_has(f, SMAPS_PRIVATE_CLEAN) && rollup_has(f, SMAPS_PRIVATE_DIRTY))
		process_set_sum(p, COUNTER_USS, f->value[SMAPS_PRIVATE_CLEAN],
				f->value[SMAPS_PRIVATE_DIRTY], 0);
	if (rollup_has(f, SMAPS_ANON_HUGE))
		process_set_sum(p, COUNTER_THP, f->value[SMAPS_ANON_HUGE],
				f->value[SMAPS_SHMEM_PMD], f->value[SMAPS_FILE_PMD]);
	if (rollup_has(f, SMAPS_SWAP) && process_has(p, COUNTER_SWAP) &&
	    f->value[SMAPS_SWAP] >= p->value[COUNTER_SWAP])
		process_set(p, COUNTER_SWAP_SHMEM, f->value[SMAPS_SWAP] - p->value[COUNTER_SWAP]);
	process_derive(p);
}
