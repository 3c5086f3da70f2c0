// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * zmem-bpf doctor: first a verdict in one sentence and the one thing to do, then a row for each
 * part that a snapshot uses. With -v, every way to read counters is tried by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "collect/gpu_read.h"
#include "collect/ram_read.h"
#include "collect/unseen.h"
#include "command/keep.h"
#include "command/swap_trial.h"
#include "command/table.h"
#include "enrich/enrich.h"
#include "grow/grow.h"
#include "load/bpf_diagnose.h"
#include "model/ram.h"
#include "privilege/privilege.h"
#include "serve/serve.h"
#include "session/log.h"
#include "source/files_source.h"
#include "source/holders_source.h"
#include "source/oom_watch.h"
#include "source/peak_watch.h"
#include "source/pin_place.h"
#include "source/pressure_watch.h"
#include "source/source.h"
#include "source/swap_source.h"
#include "write/text.h"

#define WIDTH	      80
#define NAME_WIDTH    16 /* of a part: CAP_SYS_PTRACE */
#define VARIANT_WIDTH 30 /* of a way to read counters: bpf with pages (probe reads) */

/* How a row's part is. */
enum state {
	WORKS,
	FAILS,
	UNUSED, /* it is not there, and nothing needs it */
};

struct part_rows {
	int width; /* of the names */
	struct strbuf text;
	unsigned failed; /* rows with "no" */
};

struct doctor {
	struct procfs proc;
	bool verbose, works;
	bool best;		    /* snapshots use the best that there is */
	bool held[PRIVILEGE_COUNT]; /* at the start */
	struct diag diag;	    /* why the sources before the used one did not open */
	struct part_rows rows, watched, variants, dropped;
	char verdict[512];
	const char *hint; /* what to do; NULL: nothing */
};

__attribute__((format(printf, 4, 5))) static void add_row(struct part_rows *rows, const char *name,
							  enum state state, const char *fmt, ...)
{
	static const char *const word[] = {[WORKS] = "ok", [FAILS] = "no", [UNUSED] = "-"};
	unsigned indent = (unsigned)rows->width + 4;
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	strbuf_printf(&rows->text, "%-*s%-2s  ", rows->width, name, word[state]);
	text_put_folded(&rows->text, text, indent, WIDTH);
	rows->failed += state == FAILS;
}

/* "reason (hint)" of a note that may be NULL. */
static void note_text(const struct diag_note *n, int error, char *buf, size_t cap)
{
	const char *hint = n ? n->hint : NULL;

	snprintf(buf, cap, "%s%s%s%s", n && n->reason ? n->reason : strerror(-error),
		 hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
}

static void add_kernel(struct doctor *d)
{
	struct snapshot s = {};
	struct stat st;
	char text[256];
	ssize_t len;

	machine_read(&d->proc, &s.host, &s.system);
	add_row(&d->rows, "kernel", WORKS, "%s %s, %u %s, pages of %u KiB", s.host.kernel_release,
		s.host.arch, s.host.cpus, count_word(s.host.cpus, "CPU", "CPUs"),
		s.host.page_size / 1024);
	if (stat(BTF_PATH, &st) == 0)
		add_row(&d->rows, "BTF", WORKS, "%s, %lld kB", BTF_PATH,
			(long long)st.st_size / 1000);
	else
		add_row(&d->rows, "BTF", FAILS,
			"%s: %s (a kernel with CONFIG_DEBUG_INFO_BTF has it)", BTF_PATH,
			strerror(errno));
	len = file_read(-1, "/sys/kernel/security/lockdown", text, sizeof(text));
	if (len > 0)
		add_row(&d->rows, "lockdown", WORKS, "%.*s", (int)strcspn(text, "\n"), text);
}

/* `pinned`: the pin is used, which needs no capability to load BPF programs. */
static void add_privileges(struct doctor *d, bool pinned)
{
	const char *how = privilege_is_first_namespace()
				  ? "run as root"
				  : "no effect here: run as root outside of this user namespace";
	static const char *const use[PRIVILEGE_COUNT] = {
		[PRIVILEGE_BPF] = "to load BPF programs",
		[PRIVILEGE_PERFMON] = "to let them read kernel memory",
		[PRIVILEGE_PTRACE] = "to read smaps_rollup of other users",
		[PRIVILEGE_LOCK] = "to lock the memory of watch",
	};

	for (int i = 0; i < PRIVILEGE_COUNT; i++) {
		const char *name = privilege_name(i);

		if (d->held[i])
			add_row(&d->rows, name, WORKS, "%s", use[i]);
		else if (pinned && i != PRIVILEGE_PTRACE)
			add_row(&d->rows, name, UNUSED, "%s; the pin does not need it", use[i]);
		else
			add_row(&d->rows, name, FAILS, "%s (%s)", use[i], how);
	}
}

/* Drops capabilities as every run does once a source is open, and notes which are left. */
static void drop_privileges(struct doctor *d, uint64_t held)
{
	static const char name[] = "capabilities given up";
	uint64_t start = privilege_mask(), now;
	char first[200], loaded[200], left[200];
	int r = privilege_loaded(0, !getauxval(AT_SECURE));

	if (r < 0) {
		add_row(&d->dropped, name, FAILS, "%s", strerror(-r));
		return;
	}
	now = privilege_mask();
	privilege_names(held & ~start, first, sizeof(first));
	privilege_names(start & ~now, loaded, sizeof(loaded));
	privilege_names(now, left, sizeof(left));
	add_row(&d->dropped, name, WORKS, "at the start %s; once loaded %s; kept to read %s", first,
		loaded, left);
}

static void try_variant(struct doctor *d, const struct source_variant *variant)
{
	cleanup(diag_clear) struct diag diag = {};
	cleanup(snapshot_done) struct snapshot snapshot = {};
	const char *name = source_variant_name(variant);
	uint64_t start = clock_us(CLOCK_MONOTONIC), loaded;
	struct source *source;
	char text[512];
	int r;

	r = source_open_variant(variant, &d->proc, &diag, &source);
	if (r < 0) {
		note_text(diag.count ? &diag.note[0] : NULL, r, text, sizeof(text));
		add_row(&d->variants, name, FAILS, "%s", text);
		source_explain(variant, &diag);
		/* The row has the text of the first note. */
		if (diag.count && (diag.count > 1 || diag.note[0].log))
			log_diag(&diag, true);
		return;
	}
	loaded = clock_us(CLOCK_MONOTONIC);
	r = source_collect(source, &snapshot);
	source_close(source);
	if (r < 0)
		add_row(&d->variants, name, FAILS, "collecting: %s", strerror(-r));
	else
		add_row(&d->variants, name, WORKS, "opened in %.1f ms, %zu %s in %.2f ms",
			(double)(loaded - start) / 1000, snapshot.count,
			count_word(snapshot.count, "process", "processes"),
			(double)(clock_us(CLOCK_MONOTONIC) - loaded) / 1000);
}

/* The note that has this reason, NULL if none has. */
static const struct diag_note *find_note(const struct diag *diag, const char *reason)
{
	for (int i = 0; i < diag->count; i++) {
		if (diag->note[i].reason && strcmp(diag->note[i].reason, reason) == 0)
			return &diag->note[i];
	}
	return NULL;
}

static const char *proc_problem(const struct procfs *proc)
{
	if (proc->fd < 0)
		return "/proc is not mounted";
	return proc->trusted ? NULL : "/proc is of another pid namespace";
}

__attribute__((format(printf, 3, 4))) static void set_verdict(struct doctor *d, const char *hint,
							      const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(d->verdict, sizeof(d->verdict), fmt, args);
	va_end(args);
	d->hint = hint;
	d->best = false;
}

/* What makes PSS come from page tables, NULL if nothing does. */
static const char *pss_hint(const struct diag *diag, const char *refusal)
{
	const struct diag_note *note = find_note(diag, refusal);

	if (note)
		return note->hint;
	return strstr(refusal, "(Linux 6.2)") ? "use Linux 6.2 or later" : NULL;
}

/* What a snapshot uses here, and what would make it better. */
static void judge(struct doctor *d, const struct source *source)
{
	const struct diag_note *reason = source_reason(&d->diag);
	const char *refusal = source_pss_refusal(source), *problem = proc_problem(&d->proc);

	if (source_origin(source) == FROM_PROC)
		set_verdict(d, reason ? reason->hint : NULL, "zmem-bpf reads /proc here: %s.",
			    reason && reason->reason ? reason->reason : "BPF does not work");
	else if (problem)
		set_verdict(d, "mount -t proc proc /proc", "PSS is not measured here: %s.",
			    problem);
	else if (refusal)
		set_verdict(d, pss_hint(&d->diag, refusal), "PSS comes from smaps_rollup: %s.",
			    refusal);
	else
		set_verdict(d, NULL, "PSS comes from page tables%s",
			    source_is_pinned(source) ? ", through the pin" : "");
	d->best = source_origin(source) == FROM_BPF && !problem && !refusal;
}

/* PSS, and of which processes. */
static void add_pss(struct doctor *d, const struct source *source, const struct snapshot *s)
{
	const char *refusal = source_pss_refusal(source);
	size_t consistent = 0, users = 0;

	for (size_t i = 0; i < s->count; i++) {
		users += s->process[i].kind == PROCESS_USER;
		consistent += s->process[i].pss_source == PSS_FROM_KERNEL;
	}
	if (!refusal && users && !consistent)
		set_verdict(d, NULL, "PSS from page tables adds up for no process.");
	if (!refusal)
		add_row(&d->rows, "PSS", users && !consistent ? FAILS : WORKS,
			"from page tables: adds up for %zu of %zu %s", consistent, users,
			count_word(users, "process", "processes"));
	else if (proc_problem(&d->proc))
		add_row(&d->rows, "PSS", FAILS, "%s", refusal);
	else
		add_row(&d->rows, "PSS", WORKS, "from smaps_rollup, of %s: %s",
			d->held[PRIVILEGE_PTRACE] ? "all processes" : "your own processes alone",
			refusal);
}

/* Compares BPF with /proc, twice: processes may have begun or ended meanwhile. */
static int find_unseen(struct doctor *d, struct source *source, const struct unseen_start *start,
		       const struct snapshot *s, struct snapshot *unseen)
{
	cleanup(snapshot_done) struct snapshot again = {};
	const struct filter any = {};
	int r = unseen_find(&d->proc, start, s, &any, unseen);

	if (r == 0 && unseen->count)
		r = source_collect(source, &again);
	return r == 0 && unseen->count ? unseen_drop(&d->proc, start, &again, unseen) : r;
}

static void add_unseen(struct doctor *d, struct source *source, const struct unseen_start *start,
		       const struct snapshot *s)
{
	cleanup(snapshot_done) struct snapshot unseen = {};
	char pids[NOT_SEEN_PIDS * 12 + 8] = "";
	size_t len = 0;

	if (find_unseen(d, source, start, s, &unseen) < 0 || !procfs_shows_all(&d->proc))
		return;
	for (size_t i = 0; i < unseen.count && i < NOT_SEEN_PIDS; i++)
		len += (size_t)snprintf(pids + len, sizeof(pids) - len, "%s%d", i ? ", " : "",
					unseen.process[i].pid);
	if (unseen.count > NOT_SEEN_PIDS)
		snprintf(pids + len, sizeof(pids) - len, ", " TEXT_ELLIPSIS);
	if (unseen.count)
		add_row(&d->rows, "processes", FAILS,
			"/proc shows %zu that BPF does not see: pid%s %s (--source proc shows %s)",
			unseen.count, unseen.count == 1 ? "" : "s", pids,
			unseen.count == 1 ? "it" : "them");
	else
		add_row(&d->rows, "processes", WORKS, "BPF sees all that /proc shows");
}

/* The rows of a source that is open. */
static void add_source(struct doctor *d, struct source *source)
{
	cleanup(snapshot_done) struct snapshot snapshot = {};
	const struct diag_note *reason = source_reason(&d->diag);
	bool bpf = source_origin(source) == FROM_BPF, compares = bpf && !proc_problem(&d->proc);
	struct unseen_start before = {};
	uint64_t start;
	int r;

	if (compares)
		unseen_begin(&d->proc, &before);
	start = clock_us(CLOCK_MONOTONIC);
	r = source_collect(source, &snapshot);
	if (r < 0) {
		add_row(&d->rows, "counters", FAILS, "collecting: %s", strerror(-r));
		set_verdict(d, NULL, "Counters cannot be collected here: %s.", strerror(-r));
		return;
	}
	d->works = true;
	if (bpf)
		add_row(&d->rows, "counters", WORKS, "by BPF%s, %zu %s in %.1f ms",
			source_is_pinned(source) ? ", through the pin" : "", snapshot.count,
			count_word(snapshot.count, "process", "processes"),
			(double)(clock_us(CLOCK_MONOTONIC) - start) / 1000);
	else
		add_row(&d->rows, "counters", FAILS, "from /proc and not by BPF: %s",
			reason && reason->reason ? reason->reason : "BPF does not work");
	if (compares)
		add_unseen(d, source, &before, &snapshot);
	add_pss(d, source, &snapshot);
}

/* Opens the source that a snapshot would open here. */
static void check_source(struct doctor *d, uint64_t held)
{
	const struct source_request request = {.choice = SOURCE_AUTO, .pss = true};
	struct source *source;
	int r = source_open(&request, &d->proc, &d->diag, &source);
	char text[512];

	add_privileges(d, r == 0 && source_is_pinned(source));
	drop_privileges(d, held);
	if (r < 0) {
		const struct diag_note *reason = source_reason(&d->diag);

		note_text(reason, r, text, sizeof(text));
		add_row(&d->rows, "counters", FAILS, "%s", text);
		set_verdict(d, reason ? reason->hint : NULL,
			    "No source of counters works here: %s.",
			    reason && reason->reason ? reason->reason : strerror(-r));
		return;
	}
	judge(d, source);
	add_source(d, source);
	source_close(source);
}

static void add_proc(struct doctor *d)
{
	const char *problem = proc_problem(&d->proc);
	bool there;

	if (problem) {
		add_row(&d->rows, "/proc", FAILS, "%s: no smaps_rollup, no names of cgroups",
			problem);
		return;
	}
	add_row(&d->rows, "/proc", WORKS, "shows the processes of our pid namespace");
	there = faccessat(d->proc.fd, "self/smaps_rollup", R_OK, 0) == 0;
	add_row(&d->rows, "smaps_rollup", there ? WORKS : FAILS, "%s",
		there ? "is read for the rows that need it" : "needs Linux 4.14");
}

static void add_files(struct doctor *d)
{
	cleanup(diag_clear) struct diag diag = {};
	cleanup(file_set_done) struct file_set set = {};
	struct files_source *source = NULL;
	struct holders_source *holders = NULL;
	uint64_t start = clock_us(CLOCK_MONOTONIC);
	int r = files_source_open(&diag, &source);
	char text[512];

	if (r == 0)
		r = files_source_read(source, &d->proc, &set);
	files_source_close(source);
	/* Of SWAP_SHMEM and files -o +holders. */
	if (r >= 0)
		r = holders_source_open(&diag, &holders);
	holders_source_close(holders);
	note_text(diag.count ? &diag.note[0] : NULL, r, text, sizeof(text));
	if (r < 0)
		add_row(&d->rows, "files", FAILS, "%s", text);
	else
		add_row(&d->rows, "files", WORKS,
			"by BPF, %zu %s with pages of %u file %s in %.1f ms", set.count,
			count_word(set.count, "file", "files"), set.systems,
			count_word(set.systems, "system", "systems"),
			(double)(clock_us(CLOCK_MONOTONIC) - start) / 1000);
}

/* Of GPU and DMABUF. */
static void add_gpus(struct doctor *d)
{
	struct gpu_reader *reader = NULL;
	const char *why;
	ssize_t uses;
	bool there, bpf;
	int r = gpu_reader_open(&d->proc, true, &reader);

	if (r < 0) {
		add_row(&d->rows, "GPUs", FAILS, "%s", strerror(-r));
		return;
	}
	gpu_reader_state(reader, &there, &bpf);
	uses = gpu_reader_try_nvidia(reader, &why);
	if (!there)
		add_row(&d->rows, "GPUs", UNUSED, "no driver of one (/proc/devices)");
	else
		add_row(&d->rows, "GPUs", bpf ? WORKS : FAILS, "%s",
			bpf ? "BPF finds their files, and dma-bufs; fdinfo has the sizes"
			    : "without BPF, the links of all open files are read for -o +gpu");
	if (uses >= 0)
		add_row(&d->rows, "NVIDIA", WORKS,
			"libnvidia-ml tells usedGpuMemory of each process, now of %zd", uses);
	else if (uses != -ENODEV)
		add_row(&d->rows, "NVIDIA", FAILS, "%s", why);
	gpu_reader_close(reader);
}

/* Tries the slots of memory of our own. */
static void try_swap(struct doctor *d, struct source *engine, struct swap_source *source,
		     const struct system_info *system)
{
	struct swap_trial trial = {};
	const char *why;
	int r = swap_source_begin(source, system);

	why = swap_source_refusal(source) ? swap_source_refusal(source)
					  : swap_source_cost_refusal(source);
	if (r == 0) {
		r = swap_trial(&d->proc, engine, source, &trial);
		why = r < 0 ? NULL : why;
	}
	if (r < 0)
		add_row(&d->rows, "swap slots", FAILS, "%s", why ? why : strerror(-r));
	else if (trial.swapped && !trial.agrees)
		add_row(&d->rows, "swap slots", FAILS,
			"a test failed: SWAP_PSS is %llu bytes by slots, %llu by smaps_rollup",
			(unsigned long long)trial.slots, (unsigned long long)trial.rollup);
	else
		add_row(&d->rows, "swap slots", WORKS, "of %zu %s%s%s%s", system->swap_count,
			count_word(system->swap_count, "device", "devices"),
			trial.swapped ? "; a test agrees with smaps_rollup"
				      : "; not tested: no page could be swapped out",
			why ? "; no SWAP_RAM: " : "", why ? why : "");
}

/* SWAP_PSS and SWAP_RAM. Without swap in use there are no slots to look at. */
static void add_swap(struct doctor *d)
{
	cleanup(diag_clear) struct diag diag = {};
	struct source *engine = NULL;
	struct swap_source *source = NULL;
	struct system_info system = {};
	struct host_info host = {};
	char text[512];
	int r;

	machine_read(&d->proc, &host, &system);
	if (!system.swap_count) {
		add_row(&d->rows, "swap slots", UNUSED, "no swap is switched on");
		return;
	}
	r = source_open(&(struct source_request){.choice = SOURCE_BPF, .pss = true}, &d->proc,
			&diag, &engine);
	if (r == 0)
		r = swap_source_open(engine, &diag, &source);
	if (r < 0) {
		note_text(diag.count ? &diag.note[diag.count - 1] : NULL, r, text, sizeof(text));
		add_row(&d->rows, "swap slots", FAILS, "%s", text);
	} else {
		try_swap(d, engine, source, &system);
	}
	swap_source_close(source);
	source_close(engine);
}

/* So many deleted cgroups, or so small a part of RAM in them, are nothing to tell. */
#define DELETED_USUAL 100
#define DELETED_PART  100

static void judge_frames(struct doctor *d, const struct ram *ram)
{
	uint64_t bytes = 0;
	size_t count = 0;

	if (ram->method == RAM_COUNTERS) {
		add_row(&d->rows, "page frames", FAILS, "%s", ram->reason);
		return;
	}
	add_row(&d->rows, "page frames", WORKS, "%s in %.1f ms; they agree with the counters",
		ram->method == RAM_EXACT ? "counted" : "a sample was counted",
		(double)ram->duration_us / 1000);
	for (size_t i = 0; i < ram->cgroups; i++) {
		count += ram->cgroup[i].deleted;
		bytes += ram->cgroup[i].deleted ? census_cgroup_bytes(&ram->cgroup[i]) : 0;
	}
	add_row(&d->rows, "cgroups",
		count > DELETED_USUAL || bytes > ram->frames / DELETED_PART ? FAILS : WORKS,
		"%zu deleted %s %llu MiB%s", count, count_word(count, "one holds", "ones hold"),
		(unsigned long long)(bytes >> 20),
		!count	     ? ""
		: count == 1 ? " (system --by cgroup names it)"
			     : " (system --by cgroup names them)");
}

/* Where the RAM of the machine is: the census of system. */
static void add_frames(struct doctor *d)
{
	const struct collect_spec spec = {.ram = RAM_DETAILS};
	cleanup(diag_clear) struct diag diag = {};
	cleanup(snapshot_done) struct snapshot s = {};
	struct source *engine = NULL;
	struct ram_reader *reader = NULL;
	char text[512];
	int r = source_open(
		&(struct source_request){.choice = SOURCE_BPF, .pin = PIN_NOT, .pss = true},
		&d->proc, &diag, &engine);

	machine_read(&d->proc, &s.host, &s.system);
	if (r == 0)
		r = ram_reader_open(engine, &d->proc, &reader);
	if (r == 0)
		r = ram_reader_read(reader, &d->proc, NULL, &spec, &s);
	note_text(diag.count ? &diag.note[diag.count - 1] : NULL, r, text, sizeof(text));
	if (r < 0)
		add_row(&d->rows, "page frames", FAILS, "%s", text);
	else
		judge_frames(d, s.system.ram);
	ram_reader_close(reader);
	source_close(engine);
}

/* What the pin is good for, and how it is removed. */
static const char *pin_use(void)
{
	if (!pin_is_for_root())
		return "its group measures all processes without root; root loads nothing "
		       "(pin --remove ends it)";
	return "runs of root load nothing (off: systemctl disable --now zmem-bpf-pin, or "
	       "zmem-bpf pin --remove)";
}

static void add_pin(struct doctor *d)
{
	const struct source_request request = {.choice = SOURCE_BPF, .pin = PIN_MUST, .pss = true};
	cleanup(diag_clear) struct diag diag = {};
	struct source *source;
	int r = source_open(&request, &d->proc, &diag, &source);
	char text[512];

	if (r == 0) {
		const char *why = source_pin_lacks(source);

		if (why && !source_pss_lost(source))
			add_row(&d->rows, "pin", FAILS,
				"runs of root do not use it: %s (zmem-bpf pin [GROUP])", why);
		else
			add_row(&d->rows, "pin", why ? FAILS : WORKS, "%s", why ? why : pin_use());
		source_close(source);
	} else if (r == -ENOENT) {
		add_row(&d->rows, "pin", UNUSED, "%s",
			pin_is_for_root() ? "for root alone (for a group: zmem-bpf pin GROUP)"
					  : "none (runs of root are faster with one: zmem-bpf pin; "
					    "for a group: pin GROUP)");
	} else {
		note_text(diag.count ? &diag.note[0] : NULL, r, text, sizeof(text));
		add_row(&d->rows, "pin", FAILS, "%s", text);
	}
}

static void add_serve(struct doctor *d)
{
	char why[512];
	bool loads = serve_check(why, sizeof(why)) == 0;

	add_row(&d->rows, "serve", loads ? WORKS : FAILS, "%s",
		loads ? "libmicrohttpd is there" : why);
}

/* What record --keep watches; to be called before capabilities are dropped. */
static void add_recorder(struct doctor *d)
{
	const struct pressure_limits limits = {.left = DENSE_USUAL, .stall = STALL_USUAL};
	cleanup(diag_clear) struct diag diag = {};
	struct oom_watch *oom = NULL;
	struct pressure_watch pressure;
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC), log_error = errno;
	int r = oom_watch_open(ZMEM_OOM_TABLES, true, &diag, &oom);
	char text[512];

	note_text(diag.count ? &diag.note[diag.count - 1] : NULL, r, text, sizeof(text));
	add_row(&d->watched, "OOM kills", r < 0 ? FAILS : WORKS, "%s",
		r < 0 ? text
		      : "record --keep records each one, from inside the kernel, and signals that end "
			"processes; serve counts kills");
	oom_watch_close(oom);
	if (log >= 0)
		add_row(&d->watched, "kernel log", WORKS, "tells which limit an OOM kill was for");
	else
		add_row(&d->watched, "kernel log", FAILS,
			"/dev/kmsg: %s: which limit an OOM kill was for comes from memory.events "
			"of cgroup v2, if at all (run as root, or with CAP_SYSLOG)",
			strerror(log_error));
	if (log >= 0)
		close(log);
	pressure_watch_open(&pressure, PRESSURE_FILE, &limits);
	if (pressure.fd >= 0)
		add_row(&d->watched, "PSI", WORKS,
			"a trigger tells record --keep when memory is short");
	else
		add_row(&d->watched, "PSI", FAILS,
			"no trigger on " PRESSURE_FILE ": %s: record --keep looks at memory, swap "
			"and %s each second",
			strerror(-pressure.error),
			access(PRESSURE_FILE, R_OK) == 0 ? "stalled time" : "refaults");
	pressure_watch_close(&pressure);
}

/* Whether growth can be counted by stack; to be called before capabilities are dropped. */
static void add_grow(struct doctor *d)
{
	const struct grow_spec spec = {.mode = GROWTH_DWARF};
	cleanup(diag_clear) struct diag diag = {};
	struct grow *grow = NULL;
	int r = grow_open(&spec, &d->proc, &diag, &grow);
	char text[512];

	note_text(diag.count ? &diag.note[0] : NULL, r, text, sizeof(text));
	add_row(&d->watched, "grow", r < 0 ? FAILS : WORKS, "%s",
		r < 0		      ? text
		: grow_is_exact(grow) ? "counts each change of resident memory, with its stack"
				      : "counts changes of resident memory; the stacks of one page "
					"fault in 64 (Linux 6.2 has all)");
	grow_close(grow);
}

/* Likewise whether the kernel adds up the memory of a command and its children. */
static void add_peak(struct doctor *d)
{
	cleanup(diag_clear) struct diag diag = {};
	struct peak_watch *watch = NULL;
	int r = peak_watch_open(&diag, &watch);
	char text[512];

	note_text(diag.count ? &diag.note[0] : NULL, r, text, sizeof(text));
	add_row(&d->watched, "peak", r < 0 ? FAILS : WORKS, "%s",
		r < 0 ? text
		: peak_watch_each(watch)
			? "adds each change of resident memory of a command and its "
			  "children"
			: "adds changes of resident memory; a thread holds back up "
			  "to 63 of its own (Linux 6.2 has all)");
	peak_watch_close(watch);
}

/* Snapshots need nothing; another command may. */
static void end_verdict(struct doctor *d)
{
	size_t len = strlen(d->verdict);
	bool failed = d->rows.failed || d->watched.failed;

	if (d->best)
		snprintf(d->verdict + len, sizeof(d->verdict) - len, "; %s.",
			 failed ? "rows with \"no\" say what is missing"
				: "nothing needs to be done");
}

static int print_all(struct doctor *d)
{
	cleanup(strbuf_done) struct strbuf out = {};
	char hint[256];

	end_verdict(d);
	text_put_folded(&out, d->verdict, 0, WIDTH);
	if (d->hint) {
		snprintf(hint, sizeof(hint), "To do: %s", d->hint);
		text_put_folded(&out, hint, 0, WIDTH);
	}
	strbuf_putc(&out, '\n');
	strbuf_puts(&out, strbuf_str(&d->rows.text));
	strbuf_puts(&out, strbuf_str(&d->watched.text));
	if (d->verbose) {
		strbuf_puts(&out, "\nevery way to read counters, the best one first:\n");
		strbuf_puts(&out, strbuf_str(&d->variants.text));
		strbuf_puts(&out, strbuf_str(&d->dropped.text));
	}
	if (strbuf_error(&d->rows.text) || strbuf_error(&d->watched.text) ||
	    strbuf_error(&d->variants.text) || strbuf_error(&d->dropped.text) || strbuf_error(&out))
		return log_error("doctor: out of memory");
	fwrite(out.data, 1, out.len, stdout);
	return log_stdout_done();
}

static void doctor_done(struct doctor *d)
{
	diag_clear(&d->diag);
	strbuf_done(&d->rows.text);
	strbuf_done(&d->watched.text);
	strbuf_done(&d->variants.text);
	strbuf_done(&d->dropped.text);
	if (d->proc.fd >= 0)
		procfs_close(&d->proc);
}

int command_doctor(const struct options *o)
{
	cleanup(doctor_done) struct doctor d = {
		.proc.fd = -1,
		.verbose = o->verbose,
		.rows.width = NAME_WIDTH,
		.watched.width = NAME_WIDTH,
		.variants.width = VARIANT_WIDTH,
		.dropped.width = VARIANT_WIDTH,
	};
	int r;

	procfs_open(&d.proc, "/proc");
	for (int i = 0; i < PRIVILEGE_COUNT; i++)
		d.held[i] = privilege_held(i);
	add_kernel(&d);
	/* Before capabilities are dropped. */
	add_files(&d);
	add_gpus(&d);
	add_frames(&d);
	add_swap(&d);
	for (size_t i = 0; d.verbose && source_variant(i); i++)
		try_variant(&d, source_variant(i));
	add_recorder(&d);
	add_grow(&d);
	add_peak(&d);
	check_source(&d, o->held);
	add_proc(&d);
	add_pin(&d);
	add_serve(&d);
	r = print_all(&d);
	if (r == EXIT_DONE && !d.works)
		return log_error("no source of counters works here");
	return r;
}
