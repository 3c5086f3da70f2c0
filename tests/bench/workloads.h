/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The workloads: name, what build/workload starts, and the title in the benches. */
#ifndef BENCH_WORKLOADS_H
#define BENCH_WORKLOADS_H

struct workload {
	const char *name;
	const char *text;
	const char *spec[4];
};

static const struct workload workloads[] = {
	{"idle", "70 exec'ed processes of 256 KiB", {"exec:70x256"}},
	{"tiny", "20 forked processes of 256 KiB, to try the bench itself", {"fork:20x256"}},
	{"W1", "2,000 forked processes of 256 KiB", {"fork:2000x256"}},
	{"W1exec", "2,000 exec'ed processes of 256 KiB", {"exec:2000x256"}},
	{"W1script", "2,000 scripts of /bin/sh, named by their command lines", {"script:2000x256"}},
	{"W2", "200 forked processes of 2 MiB", {"fork:200x2048"}},
	{"W3", "4 exec'ed processes of 1 GiB, 200 of 256 KiB", {"exec:4x1048576", "exec:200x256"}},
	{"W4", "200 workers that share 64 MiB by fork and 64 MiB of shmem", {"prefork:200x65536"}},
	{"W5", "100 processes that map the same 1 GiB of shmem", {"shmem:100x1048576"}},
	{"4G", "one exec'ed process of 4 GiB", {"exec:1x4194304"}},
};

#endif
