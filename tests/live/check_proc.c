// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PF_KTHREAD 0x00200000

/* Below /proc. The text is terminated and owned; NULL with errno. */
static char *read_text(const char *path)
{
	char full[320], *text = NULL;
	size_t len = 0;
	ssize_t n;
	int fd;

	snprintf(full, sizeof(full), "/proc/%s", path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	do {
		text = realloc(text, len + 4097);
		if (!text)
			abort();
		n = read(fd, text + len, 4096);
		if (n > 0)
			len += n;
	} while (n > 0);
	text[len] = '\0';
	if (n < 0) {
		int error = errno;

		free(text);
		text = NULL;
		errno = error;
	}
	n = errno;
	close(fd);
	errno = n;
	return text;
}

static char *read_task_text(pid_t pid, pid_t tid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%d/task/%d/%s", pid, tid, name);
	return read_text(path);
}

long long kib_sum(const char *text, const char *keys)
{
	long long sum = 0;

	while (*keys) {
		size_t len = strcspn(keys, "+");
		const char *line = text;

		while (line && (strncmp(line, keys, len) || line[len] != ':')) {
			line = strchr(line, '\n');
			line = line ? line + 1 : NULL;
		}
		if (!line)
			return -1;
		sum += atoll(line + len + 1);
		keys += len + (keys[len] == '+');
	}
	return sum;
}

long long boot_ms(void)
{
	struct timespec now, up;

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	return (now.tv_sec - up.tv_sec) * 1000LL + (now.tv_nsec - up.tv_nsec) / 1000000;
}

/* Returns the state, 0 if it cannot be read. */
static char read_stat(const char *path, struct reading *r)
{
	char *text = read_text(path), *p = text ? strrchr(text, ')') : NULL, state = 0;
	unsigned flags;

	if (p && sscanf(p + 2,
			"%c %d %*d %*d %*d %*d %u %*u %*u %lld %*u %*u %*u %*d %*d %*d %*d "
			"%ld %*d %llu",
			&state, &r->ppid, &flags, &r->majflt, &r->threads, &r->start_ticks) == 6)
		r->kthread = flags & PF_KTHREAD;
	else
		state = 0;
	free(text);
	return state;
}

/* A thread that has the memory: the first, or another if the first has ended. 0: none. */
static pid_t memory_thread(pid_t pid, char state)
{
	struct reading ignored;
	char path[320];
	struct dirent *e;
	pid_t tid = 0;
	DIR *dir;

	if (state != 'Z' && state != 'X')
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && !tid && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "%d/task/%s/stat", pid, e->d_name);
		if (e->d_name[0] != '.' && atoi(e->d_name) != pid &&
		    strchr("SRDTt", read_stat(path, &ignored)))
			tid = atoi(e->d_name);
	}
	if (dir)
		closedir(dir);
	return tid;
}

static void read_name(struct reading *r)
{
	static const char deleted[] = " (deleted)";
	const size_t deleted_len = sizeof(deleted) - 1;
	char path[64], link[4096], *base;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/exe", r->pid);
	len = readlink(path, link, sizeof(link) - 1);
	if (len <= 0)
		return;
	link[len] = '\0';
	base = strrchr(link, '/');
	base = base ? base + 1 : link;
	r->name_len = link + len - base;
	r->exe_deleted = 0;
	if (r->name_len > deleted_len && !strcmp(link + len - deleted_len, deleted)) {
		r->name_len -= deleted_len;
		/* The kernel writes it for every memfd. */
		r->exe_deleted = strncmp(link, "/memfd:", 7) != 0;
	}
	if (r->name_len >= sizeof(r->name))
		r->name_len = sizeof(r->name) - 1;
	memcpy(r->name, base, r->name_len);
}

/*
 * The memory cgroup: in v1 if the process is not in its root, else in v2, else in systemd's
 * hierarchy. Read from a live thread: for a zombie /proc says "/".
 */
static void read_cgroup(struct reading *r, pid_t tid)
{
	static const char *const wanted[] = {"memory", "", "name=systemd"};
	char *text = read_task_text(r->pid, tid, "cgroup");

	for (size_t w = 0; text && w < 3 && !*r->cgroup; w++) {
		for (char *line = text; line && *line && !*r->cgroup;) {
			char *next = strchr(line, '\n'), *list = strchr(line, ':');
			char *path = list ? strchr(list + 1, ':') : NULL;
			size_t len = strlen(wanted[w]);

			for (char *c = list; path && c && c < path; c = strpbrk(c + 1, ",:")) {
				if (strncmp(c + 1, wanted[w], len) || !strchr(",:", c[1 + len]) ||
				    (w == 0 && path[2] == '\n'))
					continue;
				snprintf(r->cgroup, sizeof(r->cgroup), "%.*s",
					 (int)strcspn(path + 1, "\n"), path + 1);
				break;
			}
			line = next ? next + 1 : NULL;
		}
	}
	free(text);
}

/* The lines of maps without [vsyscall], which is the kernel's and not a VMA of the process. */
static long long count_maps(pid_t pid, pid_t tid)
{
	char *text = read_task_text(pid, tid, "maps");
	long long count = text && *text ? 0 : -1;

	for (char *line = text; count >= 0 && *line; line = strchr(line, '\n') + 1)
		count++;
	if (count > 0 && strstr(text, "[vsyscall]\n"))
		count--;
	free(text);
	return count;
}

static void read_one(pid_t pid, struct reading *r)
{
	char path[64], state, *text, *uid;
	pid_t tid;

	*r = (struct reading){.pid = pid, .uid = -1, .maps = -1, .exe_deleted = -1};
	snprintf(path, sizeof(path), "%d/stat", pid);
	state = read_stat(path, r);
	if (!state)
		return;
	tid = memory_thread(pid, state);
	r->alive = tid && !r->kthread;
	if (!r->alive)
		return;
	text = read_task_text(pid, pid, "comm");
	if (text && *text) {
		r->comm_len = strlen(text) - 1;
		memcpy(r->comm, text, r->comm_len < sizeof(r->comm) ? r->comm_len : 0);
	}
	free(text);
	text = read_task_text(pid, pid, "oom_score_adj");
	r->oom_score_adj = text ? atol(text) : 0;
	free(text);
	read_name(r);
	r->maps = count_maps(pid, tid);
	read_cgroup(r, tid);
	r->status = read_task_text(pid, tid, "status");
	uid = r->status ? strstr(r->status, "\nUid:") : NULL;
	if (uid)
		sscanf(uid + 5, "%*d %ld", &r->uid);
	r->rollup = read_task_text(pid, tid, "smaps_rollup");
	r->rollup_error = r->rollup ? 0 : errno;
	r->alive = r->status;
}

static void add(struct readings *r, pid_t pid)
{
	if (r->count % 128 == 0)
		r->item = realloc(r->item, (r->count + 128) * sizeof(*r->item));
	if (!r->item)
		abort();
	read_one(pid, &r->item[r->count++]);
}

void readings_take(struct readings *r, const pid_t *only, size_t only_count)
{
	struct dirent *e;
	DIR *dir;

	*r = (struct readings){};
	for (size_t i = 0; only && i < only_count; i++)
		add(r, only[i]);
	dir = only ? NULL : opendir("/proc");
	while (dir && (e = readdir(dir))) {
		if (atoi(e->d_name) > 0)
			add(r, atoi(e->d_name));
	}
	if (dir)
		closedir(dir);
	if (r->count)
		qsort(r->item, r->count, sizeof(*r->item), by_pid);
}

void readings_done(struct readings *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->item[i].status);
		free(r->item[i].rollup);
	}
	free(r->item);
	*r = (struct readings){};
}

const struct reading *readings_find(const struct readings *r, pid_t pid)
{
	return r->count ? bsearch(&pid, r->item, r->count, sizeof(*r->item), by_pid) : NULL;
}
