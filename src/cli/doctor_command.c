// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf doctor: tries each source by itself, and says what works, what does not, and why. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/log.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "enrich/enrich.h"
#include "privilege/privilege.h"
#include "source/source.h"

__attribute__((format(printf, 3, 4))) static void print_check(const char *what, bool ok,
							      const char *fmt, ...)
{
	va_list args;

	printf("%-35s %-4s ", what, ok ? "ok" : "no");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

static void check_kernel(const struct procfs *proc)
{
	struct snapshot s = {};
	struct stat st;
	char text[256];
	ssize_t len;

	machine_read(proc, &s.host, &s.system);
	print_check("kernel", true, "%s %s, %u CPUs online, pages of %u bytes",
		    s.host.kernel_release, s.host.arch, s.host.cpus, s.host.page_size);
	if (stat(BTF_PATH, &st) == 0)
		print_check("BTF", true, "%s, %lld kB", BTF_PATH, (long long)st.st_size / 1000);
	else
		print_check("BTF", false, "%s: %s (a kernel with CONFIG_DEBUG_INFO_BTF has it)",
			    BTF_PATH, strerror(errno));
	len = file_read(-1, "/sys/kernel/security/lockdown", text, sizeof(text));
	if (len > 0)
		print_check("lockdown", true, "%.*s", (int)strcspn(text, "\n"), text);
}

static void check_privileges(void)
{
	static const char *const use[PRIVILEGE_COUNT] = {
		[PRIVILEGE_BPF] = "to load BPF programs",
		[PRIVILEGE_PERFMON] = "to let them read kernel memory",
		[PRIVILEGE_PTRACE] = "to read smaps_rollup of other users' processes",
		[PRIVILEGE_LOCK] = "to lock the memory of watch",
	};

	for (int i = 0; i < PRIVILEGE_COUNT; i++) {
		bool held = privilege_held(i);

		print_check(privilege_name(i), held, "%s%s", use[i],
			    held ? "" : " (run as root, or see zmem-bpf-pin(8))");
	}
}

/* Drops capabilities as every run does once a source is open, and prints which are left. */
static void give_up_privileges(uint64_t held)
{
	uint64_t start = privilege_mask(), now;
	char first[200], then[200], left[200];
	int r = privilege_loaded(false, false);

	if (r < 0) {
		print_check("capabilities given up", false, "%s", strerror(-r));
		return;
	}
	now = privilege_mask();
	privilege_names(held & ~start, first, sizeof(first));
	privilege_names(start & ~now, then, sizeof(then));
	privilege_names(now, left, sizeof(left));
	print_check("capabilities given up", true,
		    "at the start %s; once loaded %s; kept to read %s", first, then, left);
}

static bool check_source(const struct source_variant *variant, const struct procfs *proc,
			 bool verbose)
{
	cleanup(diag_clear) struct diag diag = {};
	cleanup(snapshot_done) struct snapshot snapshot = {};
	uint64_t start = clock_us(CLOCK_MONOTONIC), loaded;
	char what[40];
	struct source *source;
	int r;

	snprintf(what, sizeof(what), "counters: %s", source_variant_name(variant));
	r = source_open_variant(variant, proc, &diag, &source);
	if (r < 0) {
		const struct diag_note *n = diag.count ? &diag.note[0] : NULL;

		print_check(what, false, "%s%s%s%s", n && n->reason ? n->reason : strerror(-r),
			    n && n->hint ? " (" : "", n && n->hint ? n->hint : "",
			    n && n->hint ? ")" : "");
		if (verbose) {
			source_explain(variant, &diag);
			log_diag(&diag, true);
		}
		return false;
	}
	loaded = clock_us(CLOCK_MONOTONIC);
	r = source_collect(source, &snapshot);
	source_close(source);
	if (r < 0) {
		print_check(what, false, "collecting: %s", strerror(-r));
		return false;
	}
	print_check(what, true, "opened in %.1f ms, %zu processes in %.2f ms",
		    (double)(loaded - start) / 1000, snapshot.count,
		    (double)(clock_us(CLOCK_MONOTONIC) - loaded) / 1000);
	return true;
}

/* Whether PSS comes from the kernel, and for how many processes it is consistent. */
static void check_pss(const struct procfs *proc, uint64_t held)
{
	const struct source_request request = {.choice = SOURCE_AUTO, .pss = true};
	cleanup(diag_clear) struct diag diag = {};
	cleanup(snapshot_done) struct snapshot snapshot = {};
	size_t consistent = 0, users = 0;
	struct source *source;

	if (source_open(&request, proc, &diag, &source) < 0)
		return;
	give_up_privileges(held);
	if (source_pss_refusal(source)) {
		print_check("PSS: kernel", false, "%s", source_pss_refusal(source));
	} else if (source_collect(source, &snapshot) == 0) {
		for (size_t i = 0; i < snapshot.count; i++) {
			users += snapshot.process[i].kind == PROCESS_USER;
			consistent += snapshot.process[i].pss_source == PSS_FROM_KERNEL;
		}
		print_check("PSS: kernel", true, "calibrated; adds up for %zu of %zu processes",
			    consistent, users);
	}
	source_close(source);
}

static void check_proc(const struct procfs *proc)
{
	print_check("/proc", proc->fd >= 0 && proc->trusted, "%s",
		    proc->fd < 0 ? "not mounted: no PSS, no names of cgroups"
		    : !proc->trusted
			    ? "of another pid namespace: no smaps_rollup, no names of cgroups"
			    : "shows the processes of our pid namespace");
	if (proc->fd >= 0 && proc->trusted) {
		bool there = faccessat(proc->fd, "self/smaps_rollup", R_OK, 0) == 0;

		print_check("PSS: smaps_rollup", there, "%s",
			    there ? "is read for the rows that need it" : "needs Linux 4.14");
	}
}

static void check_serve(void)
{
	char why[512];
	bool loads = serve_check(why, sizeof(why)) == 0;

	print_check("serve", loads, "%s", loads ? "libmicrohttpd is there" : why);
}

int command_doctor(const struct options *o)
{
	struct procfs proc = {.fd = -1};
	bool works = false;
	int r;

	procfs_open(&proc, "/proc");
	check_kernel(&proc);
	check_privileges();
	for (size_t i = 0; source_variant(i); i++)
		works |= check_source(source_variant(i), &proc, o->verbose);
	check_pss(&proc, o->held);
	check_proc(&proc);
	check_serve();
	if (proc.fd >= 0)
		procfs_close(&proc);
	r = log_stdout_done();
	if (!works)
		return log_error("no source of counters works here");
	return r;
}
