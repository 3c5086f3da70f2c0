// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum where {
	IN_STATUS, /* compared where status is exact or is what the program reads */
	IN_ROLLUP, /* counters of the kernel, compared with the page tables */
	IN_ROLLUP_PSS,
};

/* Several keys are joined by '+' on both sides. */
static const struct counter {
	const char *json;
	enum where where;
	const char *proc;
	int tolerance; /* kB: /proc rounds down */
} counters[] = {
	{"rss_anon_bytes", IN_STATUS, "RssAnon"},
	{"rss_file_bytes", IN_STATUS, "RssFile"},
	{"rss_shmem_bytes", IN_STATUS, "RssShmem"},
	{"rss_bytes", IN_STATUS, "RssAnon+RssFile+RssShmem"},
	{"swap_bytes", IN_STATUS, "VmSwap"},
	{"peak_bytes", IN_STATUS, "VmHWM"},
	{"vsize_bytes", IN_STATUS, "VmSize"},
	{"locked_bytes", IN_STATUS, "VmLck"},
	{"pinned_bytes", IN_STATUS, "VmPin"},
	{"pgtables_bytes", IN_STATUS, "VmPTE"},
	{"hugetlb_bytes", IN_STATUS, "HugetlbPages"},
	{"rss_bytes", IN_ROLLUP, "Rss"},
	{"rss_anon_bytes", IN_ROLLUP, "Anonymous"},
	{"swap_bytes+swap_shmem_bytes", IN_ROLLUP_PSS, "Swap"},
	{"swap_pss_bytes", IN_ROLLUP_PSS, "SwapPss", 1},
	{"uss_bytes", IN_ROLLUP_PSS, "Private_Clean+Private_Dirty"},
	{"pss_bytes", IN_ROLLUP_PSS, "Pss", 1},
	{"pss_anon_bytes", IN_ROLLUP_PSS, "Pss_Anon", 1},
	{"pss_file_bytes", IN_ROLLUP_PSS, "Pss_File", 1},
	{"pss_shmem_bytes", IN_ROLLUP_PSS, "Pss_Shmem", 1},
	{"pss_swap_bytes", IN_ROLLUP_PSS, "Pss+SwapPss", 2},
	{"shared_bytes+uss_bytes", IN_ROLLUP_PSS, "Pss", 1},
	{"thp_bytes", IN_ROLLUP_PSS, "AnonHugePages+ShmemPmdMapped+FilePmdMapped"},
};

#define COUNTERS (sizeof(counters) / sizeof(*counters))

/*
 * mkmem's processes for which only smaps_rollup has SwapPss: their swap entries lie in VMAs that
 * were shared by fork, and an entry does not say how many processes share it. No other value and no
 * other process may lack it.
 */
static const char *const shared_swap[] = {
	"swap_fork/",
	"swap_half/",
	"swap_exec/main", /* no longer shared, which page tables do not show */
	"swap_left/child",
};

/* Values that page tables do not tell. */
static bool may_be_null(const struct mode *mode, const char *label, const struct counter *f,
			const char *line, const struct reading *r)
{
	char source[32] = "";

	json_text(line, "pss_source", source, sizeof(source));
	if (strcmp(source, "kernel"))
		return false;
	if (strstr(f->json, "swap_shmem_bytes"))
		return true;
	/* With auto, smaps_rollup is read for these. */
	if (!mode->from || strcmp(mode->from, "kernel"))
		return false;
	if (!strstr(f->json, "swap_pss_bytes") && !strstr(f->json, "pss_swap_bytes"))
		return false;
	for (size_t i = 0; label && i < sizeof(shared_swap) / sizeof(*shared_swap); i++) {
		if (!strncmp(label, shared_swap[i], strlen(shared_swap[i])))
			return true;
	}
	/* Other processes may have forked: unknown. */
	return !label && r->status && kib_sum(r->status, "VmSwap") > 0;
}

/* From rss_stat; on older kernels status is an approximation of it. */
static bool is_rss_stat(const struct counter *f)
{
	return !strncmp(f->json, "rss", 3) || !strncmp(f->json, "swap_bytes", 10) ||
	       !strncmp(f->json, "peak", 4);
}

struct report {
	char *text;
	size_t size, len;
	enum verdict verdict;
};

static void differ(struct report *r, const char *format, ...)
{
	va_list args;
	int n;

	if (r->len) {
		n = snprintf(r->text + r->len, r->size - r->len, "; ");
		r->len += n;
	}
	va_start(args, format);
	if (r->len < r->size)
		r->len += vsnprintf(r->text + r->len, r->size - r->len, format, args);
	va_end(args);
	if (r->len > r->size - 1)
		r->len = r->size - 1;
	r->verdict = DIFFERENT;
}

static void moved(struct report *r)
{
	if (r->verdict == SAME)
		r->verdict = MOVED;
}

static bool json_sum(const char *line, const char *keys, long long *ret)
{
	char key[64];
	long long n;

	*ret = 0;
	while (*keys) {
		size_t len = strcspn(keys, "+");

		snprintf(key, sizeof(key), "%.*s", (int)len, keys);
		if (!json_number(line, key, &n))
			return false;
		*ret += n;
		keys += len + (keys[len] == '+');
	}
	return true;
}

static void compare_counter(struct report *r, const struct counter *f, bool nullable,
			    const char *line, const char *before_text, const char *after_text)
{
	long long before, after, bytes;

	if (!before_text || !after_text)
		return;
	before = kib_sum(before_text, f->proc);
	after = kib_sum(after_text, f->proc);
	if (before != after) {
		moved(r);
		return;
	}
	if (before < 0)
		return;
	if (!json_sum(line, f->json, &bytes)) {
		if (!nullable)
			differ(r, "%s is null, %s is %lld kB", f->json, f->proc, before);
	} else if (llabs((bytes >> 10) - before) > f->tolerance) {
		differ(r, "%s is %lld (%lld kB), %s is %lld kB", f->json, bytes, bytes >> 10,
		       f->proc, before);
	}
}

/* PSS must be missing if smaps_rollup cannot be read or PSS was not requested. */
static void expect_no_pss(struct report *r, const char *line, const char *status)
{
	char got[32] = "null";
	long long n;

	json_text(line, "pss_status", got, sizeof(got));
	if (strcmp(got, status))
		differ(r, "pss_status is %s, not %s", got, status);
	for (size_t i = 0; i < COUNTERS; i++) {
		if (counters[i].where != IN_ROLLUP_PSS || !json_sum(line, counters[i].json, &n))
			continue;
		/* A process without swap entries shares none; without swap in use, no file has any.
		 */
		if (n || strncmp(counters[i].json, "swap_", 5))
			differ(r, "%s is %lld, not null", counters[i].json, n);
	}
}

/* Returns false if there is no PSS to compare. */
static bool compare_pss_status(struct report *r, const struct mode *mode, const char *label,
			       const char *line, const struct reading *before)
{
	bool by_kernel = mode->from && !strcmp(mode->from, "kernel");
	char status[32] = "null", source[32] = "null";

	if (!mode->pss) {
		expect_no_pss(r, line, "skipped");
		return false;
	}
	if (before->rollup_error == EACCES || before->rollup_error == EPERM) {
		/* The kernel side may have PSS, but there is no reference to check it. */
		if (!by_kernel)
			expect_no_pss(r, line, "denied");
		return false;
	}
	if (!before->rollup)
		return false;
	json_text(line, "pss_status", status, sizeof(status));
	json_text(line, "pss_source", source, sizeof(source));
	if (!strcmp(status, "raced") && by_kernel && !label) {
		moved(r);
		return false;
	}
	if (strcmp(status, "ok"))
		differ(r, "pss_status is %s", status);
	if (mode->from ? strcmp(source, mode->from)
		       : strcmp(source, "smaps_rollup") && strcmp(source, "kernel"))
		differ(r, "pss_source is %s", source);
	return true;
}

static void compare_number(struct report *r, const char *line, const char *key, long long before,
			   long long after, long long tolerance)
{
	long long got;

	if (before != after)
		moved(r);
	else if (!json_number(line, key, &got))
		differ(r, "%s is null, not %lld", key, before);
	else if (llabs(got - before) > tolerance)
		differ(r, "%s is %lld, not %lld", key, got, before);
}

/* True if all cgroups above the last one are slices. */
static bool in_slices(const char *cgroup)
{
	for (const char *next; (next = strchr(++cgroup, '/')); cgroup = next) {
		if (next - cgroup < 7 || memcmp(next - 6, ".slice", 6) != 0)
			return false;
	}
	return true;
}

/*
 * Where the cgroup is a service's own, the unit is its last component. If the system's manager did
 * not make it, it says behind it what did.
 */
static void compare_unit(struct report *r, const char *line, const char *cgroup)
{
	static const char service[] = ".service";
	const char *last = strrchr(cgroup, '/');
	size_t len = last ? strlen(++last) : 0;
	char unit[4096];

	if (len < sizeof(service) || strcmp(last + len - strlen(service), service) != 0)
		return;
	if (in_slices(cgroup) ? !json_text_is(line, "unit", last, len)
			      : json_text(line, "unit", unit, sizeof(unit)) < (ssize_t)len ||
					memcmp(unit, last, len) != 0 || unit[len] != ' ')
		differ(r, "unit is not %s", last);
}

/*
 * For an interpreter, the loader or a multi-call binary, the name is one of the arguments (tests of
 * names check which). For a memfd it is the memfd's own name.
 */
static bool is_program(const char *line, const struct reading *p)
{
	static const char *const runs[] = {"python", "perl",	"ruby", "node",	   "php",
					   "lua",    "bash",	"dash", "sh",	   "ash",
					   "zsh",    "busybox", "awk",	"ld-linux"};
	char path[64], text[4096], name[512];
	ssize_t len, n = json_text(line, "name", name, sizeof(name));
	bool may = !strncmp(p->name, "memfd:", 6) && !strcmp(name, p->comm);
	int fd;

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		may |= strstr(p->name, runs[i]) == p->name;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", p->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	/* The process has ended since. */
	if (len <= 0)
		return may;
	text[len] = '\0';
	for (ssize_t i = 0; may && n > 0 && i < len; i += (ssize_t)strlen(text + i) + 1) {
		const char *slash = strrchr(text + i, '/');

		if (!strcmp(slash ? slash + 1 : text + i, name))
			return true;
	}
	return may && !strcmp(name, p->comm);
}

static void compare_exe(struct report *r, const char *line, const struct reading *before,
			const struct reading *after)
{
	char got[8] = "null";
	const char *at = strstr(line, "\"exe_deleted\":");

	if (at)
		snprintf(got, sizeof(got), "%.*s", (int)strcspn(at + 14, ",}"), at + 14);
	if (before->exe_deleted != after->exe_deleted)
		moved(r);
	else if (before->exe_deleted >= 0 && strcmp(got, before->exe_deleted ? "true" : "false"))
		differ(r, "exe_deleted is %s, not %d", got, before->exe_deleted);
}

static void compare_identity(struct report *r, const char *line, const struct reading *before,
			     const struct reading *after)
{
	long long boot = boot_ms();
	char cgroup[1024] = "null";

	compare_number(r, line, "ppid", before->ppid, after->ppid, 0);
	compare_number(r, line, "uid", before->uid, after->uid, 0);
	compare_number(r, line, "threads", before->threads, after->threads, 0);
	compare_number(r, line, "oom_score_adj", before->oom_score_adj, after->oom_score_adj, 0);
	/* Tolerance: one tick and the clock's adjustment meanwhile. */
	compare_number(r, line, "start_time_ms", boot + (long long)before->start_ticks * 10,
		       boot + (long long)after->start_ticks * 10, 30);
	if (before->comm_len != after->comm_len ||
	    memcmp(before->comm, after->comm, before->comm_len))
		moved(r);
	else if (!json_text_is(line, "comm", before->comm, before->comm_len))
		differ(r, "comm is not as in /proc");
	if (before->name_len != after->name_len ||
	    memcmp(before->name, after->name, before->name_len))
		moved(r);
	else if (before->name_len && !json_text_is(line, "name", before->name, before->name_len) &&
		 !is_program(line, before))
		differ(r, "name is not '%s' as in /proc: %.99s", before->name,
		       strstr(line, "\"name\""));
	json_text(line, "cgroup", cgroup, sizeof(cgroup));
	if (strcmp(before->cgroup, after->cgroup))
		moved(r);
	else if (*before->cgroup && strncmp(cgroup, before->cgroup, 400))
		differ(r, "cgroup is %s, not %s", cgroup, before->cgroup);
	else
		compare_unit(r, line, before->cgroup);
}

/* Selects the values to compare. `exact`: the program's counters are exact. */
static bool has_reference(const struct mode *mode, const struct counter *f, bool pss, bool exact,
			  bool status_exact)
{
	switch (f->where) {
	case IN_STATUS:
		return status_exact || mode->by_proc || !is_rss_stat(f);
	case IN_ROLLUP:
		return exact;
	default:
		return pss && (exact || !is_rss_stat(f));
	}
}

/*
 * Whether the counters of this process come from /proc. On kernels before 5.19 those of one with
 * very many threads do.
 */
static bool is_by_proc(const struct mode *mode, const char *label, const char *line)
{
	char source[16] = "";

	json_text(line, "counters_source", source, sizeof(source));
	return mode->by_proc ||
	       (label && !strncmp(label, "threads_many/", 13) && !strcmp(source, "proc"));
}

enum verdict compare_process(const struct mode *mode, const char *label, const char *line,
			     const struct reading *before, const struct reading *after,
			     bool status_exact, char *why, size_t why_size)
{
	struct report r = {.text = why, .size = why_size, .verdict = SAME};
	bool exact = status_exact || !is_by_proc(mode, label, line), pss;

	*why = '\0';
	if (!after || !before->alive || !after->alive || before->start_ticks != after->start_ticks)
		return MOVED;
	compare_identity(&r, line, before, after);
	compare_exe(&r, line, before, after);
	compare_number(&r, line, "majflt", before->majflt, after->majflt, 0);
	/* No file of /proc has the number: a snapshot from /proc leaves it out. */
	if (!is_by_proc(mode, label, line) && before->maps >= 0)
		compare_number(&r, line, "maps", before->maps, after->maps, 0);
	pss = compare_pss_status(&r, mode, label, line, before);
	for (size_t i = 0; i < COUNTERS; i++) {
		const struct counter *f = &counters[i];
		bool nullable = may_be_null(mode, label, f, line, before);

		if (!has_reference(mode, f, pss, exact, status_exact))
			continue;
		if (f->where == IN_STATUS)
			compare_counter(&r, f, nullable, line, before->status, after->status);
		else
			compare_counter(&r, f, nullable, line, before->rollup, after->rollup);
	}
	return r.verdict;
}
