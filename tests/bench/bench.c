// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bench WORKLOAD PROGRAM: measures a zmem-bpf against the floors of any /proc tool and against the
 * tools that are installed, in one run, taking turns, so that a noisy machine is noisy for all.
 * Each turn is run three times and the fastest counts: nobody gains or loses by who ran before.
 * WORKLOAD: idle, or COUNTxKIB (so many sleeping processes of so many KiB; KIB 0: from 64 KiB on
 * each a quarter percent larger than the one before, 2,000 of them up to 9 MiB).
 * Figures are medians; ratios are medians of the ratios of each round. Never an assertion on time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "zmem/source.h"

#define ROUNDS 15
#define TURNS  3
#define SLOW   3 /* rounds of what takes longer than all the rest */

extern char **environ;

struct figure {
	double wall_ms, cpu_ms, peak_mib;
};

struct subject {
	const char *name;
	const char *file;    /* a floor: reads this of every process */
	const char *argv[8]; /* a command */
	bool collect;	     /* our engine alone */
	int rounds;
	struct figure figure[ROUNDS];
};

static struct source *source;
static struct snapshot snapshot;
static int runner; /* where commands are asked for */

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double cpu_ms(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e3 +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e3;
}

/* What any tool that reads this file of every process cannot be faster than. */
static void read_all(const char *file)
{
	cleanup_closedir DIR *dir = opendir("/proc");
	const struct dirent *entry;
	char path[300], text[8192];

	while (dir && (entry = readdir(dir))) {
		int fd;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/%s", entry->d_name, file);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		while (read(fd, text, sizeof(text)) > 0)
			;
		close(fd);
	}
}

static struct figure run_command(const char *const *argv)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage = {};
	double start = now_ms();
	int status = -1;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ) == 0)
		wait4(pid, &status, 0, &usage);
	posix_spawn_file_actions_destroy(&actions);
	if (status)
		fprintf(stderr, "bench: %s failed\n", argv[0]);
	return (struct figure){now_ms() - start, cpu_ms(&usage), (double)usage.ru_maxrss / 1024};
}

/*
 * Commands are started by a process of their own, forked off while we are small: a program's peak
 * memory begins with that of the one that started it (exec_mmap(), fs/exec.c).
 */
static void start_runner(const struct subject *s)
{
	int fds[2], i;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		exit(1);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (read(fds[1], &i, sizeof(i)) == sizeof(i)) {
			struct figure f = run_command(s[i].argv);

			if (write(fds[1], &f, sizeof(f)) != sizeof(f))
				break;
		}
		_exit(0);
	}
	close(fds[1]);
	runner = fds[0];
}

static struct figure ask_runner(int i)
{
	struct figure f = {};

	if (write(runner, &i, sizeof(i)) != sizeof(i) || read(runner, &f, sizeof(f)) != sizeof(f))
		fprintf(stderr, "bench: the runner is gone\n");
	return f;
}

static void measure(struct subject *s, int i, int round)
{
	struct figure *f = &s[i].figure[round];
	struct rusage before = {}, after = {};
	double start;

	if (!s[i].collect && !s[i].file) {
		*f = ask_runner(i);
		return;
	}
	getrusage(RUSAGE_SELF, &before);
	start = now_ms();
	if (s[i].file)
		read_all(s[i].file);
	else if (source_collect(source, &snapshot) < 0)
		fprintf(stderr, "bench: collecting failed\n");
	f->wall_ms = now_ms() - start;
	getrusage(RUSAGE_SELF, &after);
	f->cpu_ms = cpu_ms(&after) - cpu_ms(&before);
}

/* Keeps the faster one. */
static void measure_again(struct subject *s, int i, int round)
{
	struct figure first = s[i].figure[round];

	measure(s, i, round);
	if (first.wall_ms < s[i].figure[round].wall_ms)
		s[i].figure[round] = first;
}

static int compare(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static struct figure medians(const struct subject *s)
{
	double wall[ROUNDS], cpu[ROUNDS], peak[ROUNDS];

	for (int i = 0; i < s->rounds; i++) {
		wall[i] = s->figure[i].wall_ms;
		cpu[i] = s->figure[i].cpu_ms;
		peak[i] = s->figure[i].peak_mib;
	}
	return (struct figure){median(wall, s->rounds), median(cpu, s->rounds),
			       median(peak, s->rounds)};
}

static double ratio(const struct subject *slow, const struct subject *fast)
{
	int n = slow->rounds < fast->rounds ? slow->rounds : fast->rounds;
	double r[ROUNDS];

	for (int i = 0; i < n; i++)
		r[i] = slow->figure[i].wall_ms / fast->figure[i].wall_ms;
	return median(r, n);
}

/* Children that hold memory and sleep, and end with us. */
static int start_fleet(int count, size_t kib)
{
	double spread = 1;

	for (int i = 0; i < count; i++, spread *= 1.0025) {
		size_t size = kib ? kib * 1024 : (size_t)(65536 * spread);
		pid_t pid = fork();
		char *p;

		if (pid < 0)
			return -errno;
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED)
			memset(p, 1, size);
		for (;;)
			pause();
	}
	usleep(300000 + (unsigned)count * 500);
	return 0;
}

static bool installed(const char *program)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", program);
	return system(command) == 0;
}

enum {
	COLLECT,
	STATM,
	STATUS,
	ROLLUP,
	NO_PSS,
	PS,
	FULL,
	TOP20,
	SMEM,
	SMEMSTAT,
	SUBJECTS,
};

static void report(const char *workload, struct subject *s)
{
	static const struct {
		int slow, fast;
	} claims[] = {{STATM, COLLECT}, {STATUS, COLLECT}, {PS, NO_PSS}, {STATUS, NO_PSS},
		      {ROLLUP, FULL},	{ROLLUP, TOP20},   {SMEM, FULL}, {SMEMSTAT, FULL}};

	printf("\n%s: %zu processes\n%-42s %10s %10s %9s\n", workload, snapshot.count, "",
	       "wall ms", "CPU ms", "peak MiB");
	for (int i = 0; i < SUBJECTS; i++) {
		struct figure f;

		if (!s[i].rounds)
			continue;
		f = medians(&s[i]);
		printf("%-42s %10.2f %10.2f ", s[i].name, f.wall_ms, f.cpu_ms);
		if (f.peak_mib > 0)
			printf("%9.1f\n", f.peak_mib);
		else
			printf("%9s\n", "");
	}
	for (size_t i = 0; i < ARRAY_SIZE(claims); i++) {
		const struct subject *slow = &s[claims[i].slow], *fast = &s[claims[i].fast];

		if (slow->rounds && fast->rounds)
			printf("%6.2f times faster: %s than %s\n", ratio(slow, fast), fast->name,
			       slow->name);
	}
}

/* What --top had to read of all the smaps_rollup there are. */
static void tell_top_reads(const char *program)
{
	char command[300];

	snprintf(command, sizeof(command),
		 "%s --top 20 --timing 2>&1 >/dev/null | sed -n 's/^smaps_rollup/--top 20: &/p'",
		 program);
	fflush(stdout);
	if (system(command))
		fprintf(stderr, "bench: %s failed\n", program);
}

static void write_json(const char *workload, const struct subject *s)
{
	const char *path = getenv("BENCH_JSON");
	cleanup_fclose FILE *file = path ? fopen(path, "a") : NULL;

	for (int i = 0; file && i < SUBJECTS; i++) {
		struct figure f;

		if (!s[i].rounds)
			continue;
		f = medians(&s[i]);
		fprintf(file,
			"{\"workload\":\"%s\",\"processes\":%zu,\"subject\":\"%s\","
			"\"wall_ms\":%.3f,\"cpu_ms\":%.3f,\"peak_mib\":%.1f}\n",
			workload, snapshot.count, s[i].name, f.wall_ms, f.cpu_ms, f.peak_mib);
	}
}

int main(int argc, char **argv)
{
	int count = 0, kib = 0;

	if (argc != 3 || (strcmp(argv[1], "idle") && sscanf(argv[1], "%dx%d", &count, &kib) != 2)) {
		fprintf(stderr, "usage: bench idle|COUNTxKIB PROGRAM\n");
		return 2;
	}
	struct subject s[SUBJECTS] = {
		[COLLECT] = {"zmem-bpf, counters alone", .collect = true},
		[STATM] = {"a C loop over statm", .file = "statm"},
		[STATUS] = {"a C loop over status", .file = "status"},
		[ROLLUP] = {"a C loop over smaps_rollup, 1 thread", .file = "smaps_rollup"},
		[NO_PSS] = {"zmem-bpf --json --pss none",
			    .argv = {argv[2], "--json", "--pss", "none"}},
		[PS] = {"ps -e -o pid,rss,comm", .argv = {"ps", "-e", "-o", "pid,rss,comm"}},
		[FULL] = {"zmem-bpf --json", .argv = {argv[2], "--json"}},
		[TOP20] = {"zmem-bpf --json --top 20", .argv = {argv[2], "--json", "--top", "20"}},
		[SMEM] = {"smem", .argv = {"smem"}},
		[SMEMSTAT] = {"smemstat", .argv = {"smemstat"}},
	};
	cleanup(diag_clear) struct diag diag = {};
	struct procfs proc;

	for (int i = 0; i < SUBJECTS; i++)
		s[i].rounds = ROUNDS;
	s[SMEM].rounds = installed("smem") ? SLOW : 0;
	s[SMEMSTAT].rounds = installed("smemstat") ? SLOW : 0;
	start_runner(s);
	if (start_fleet(count, (size_t)kib) < 0 || procfs_open(&proc, "/proc") < 0 ||
	    source_open(SOURCE_BPF, &proc, &diag, &source) < 0) {
		fprintf(stderr, "bench: the fleet or the BPF source did not start (be root)\n");
		return 1;
	}
	snapshot_init(&snapshot);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < SUBJECTS; i++) {
			if (round >= s[i].rounds)
				continue;
			measure(s, i, round);
			for (int k = 1; k < TURNS && s[i].rounds > SLOW; k++)
				measure_again(s, i, round);
		}
	}
	report(argv[1], s);
	tell_top_reads(argv[2]);
	write_json(argv[1], s);
	snapshot_done(&snapshot);
	source_close(source);
	procfs_close(&proc);
	return 0;
}
