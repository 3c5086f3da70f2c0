// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rows of what commands other than a snapshot use. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/count.h"
#include "collect/gpu_read.h"
#include "collect/ram_read.h"
#include "doctor/doctor.h"
#include "enrich/enrich.h"
#include "fields/system_said.h"
#include "grow/grow.h"
#include "model/ram.h"
#include "serve/serve.h"
#include "session/options.h"
#include "source/descriptors_source.h"
#include "source/files_source.h"
#include "source/holders_source.h"
#include "source/pin.h"
#include "source/swap_source.h"
#include "watch/ended_watch.h"
#include "watch/oom_watch.h"
#include "watch/peak_watch.h"
#include "watch/pressure_watch.h"
#include "write/say.h"

void doctor_add_files(struct doctor *d)
{
	cleanup(diag_clear) struct diag diag = {};
	cleanup(file_set_done) struct file_set set = {};
	struct files_source *source = NULL;
	struct holders_source *holders = NULL;
	uint64_t start = clock_us(CLOCK_MONOTONIC);
	int r = files_source_open(&diag, &source);

	if (r == 0)
		r = files_source_read(source, &d->proc, &set);
	files_source_close(source);
	/* Of SWAP_SHMEM and files -o +holders. */
	if (r >= 0)
		r = holders_source_open(&diag, &holders);
	holders_source_close(holders);
	if (r < 0)
		doctor_add_part(&d->rows, "files", r, &diag, NULL);
	else
		doctor_add(&d->rows, "files", WORKS,
			   "by BPF, %zu %s with pages of %u file %s in %s", set.count,
			   count_word(set.count, "file", "files"), set.systems,
			   count_word(set.systems, "system", "systems"), doctor_since(start).text);
}

/* Of GPU and DMABUF. */
void doctor_add_gpus(struct doctor *d)
{
	struct gpu_reader *reader = NULL;
	const char *why;
	ssize_t uses;
	bool there, bpf;
	int r = gpu_reader_open(&d->proc, true, &reader);

	if (r < 0) {
		doctor_add(&d->rows, "GPUs", FAILS, "%s", strerror(-r));
		return;
	}
	gpu_reader_state(reader, &there, &bpf);
	uses = gpu_reader_try_nvidia(reader, &why);
	if (!there)
		doctor_add(&d->rows, "GPUs", UNUSED, "no driver of one (/proc/devices)");
	else
		doctor_add(&d->rows, "GPUs", bpf ? WORKS : FAILS, "%s",
			   bpf ? "BPF finds their files, and dma-bufs; fdinfo has the sizes"
			       : "without BPF, the links of all open files are read for -o +gpu");
	if (uses >= 0)
		doctor_add(&d->rows, "NVIDIA", WORKS,
			   "libnvidia-ml tells usedGpuMemory of each process, now of %zd", uses);
	else if (uses != -ENODEV)
		doctor_add(&d->rows, "NVIDIA", FAILS, "%s", why);
	gpu_reader_close(reader);
}

static int collect_once(const struct source_request *request, const struct procfs *proc,
			struct diag *diag, struct snapshot *ret)
{
	struct source *source;
	int r = source_open(request, proc, diag, &source);

	if (r < 0)
		return r;
	r = source_collect(source, ret);
	source_close(source);
	return r;
}

static void add_kernel_sums(struct doctor *d, const struct snapshot *s, uint64_t start)
{
	/* Each descriptor is one of an open file, whatever else it leads to. */
	unsigned descriptors = s->kernel.all.kind[ZMEM_DESCRIPTOR_FILE].descriptors;
	size_t processes = 0;

	for (size_t i = 0; i < s->count; i++)
		processes += s->process[i].kernel != NULL;
	doctor_add(&d->rows, "kernel memory", WORKS, "by BPF, %u %s of %zu %s in %s", descriptors,
		   count_word(descriptors, "descriptor", "descriptors"), processes,
		   count_word(processes, "process", "processes"), doctor_since(start).text);
}

/* Of KERNEL. */
void doctor_add_kernel_memory(struct doctor *d)
{
	const struct source_request request = {.choice = SOURCE_PROC};
	cleanup(diag_clear) struct diag diag = {};
	cleanup(snapshot_done) struct snapshot snapshot = {};
	struct descriptors_source *source = NULL;
	uint64_t start = clock_us(CLOCK_MONOTONIC);
	int r = descriptors_source_open(NULL, &diag, &source);

	if (r == 0)
		r = collect_once(&request, &d->proc, &diag, &snapshot);
	if (r == 0)
		r = descriptors_source_read(source, &d->proc, &snapshot);
	descriptors_source_close(source);
	if (r < 0)
		doctor_add_part(&d->rows, "kernel memory", r, &diag, NULL);
	else
		add_kernel_sums(d, &snapshot, start);
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
		doctor_add(&d->rows, "swap slots", FAILS, "%s", why ? why : strerror(-r));
	else if (trial.swapped && !trial.agrees)
		doctor_add(&d->rows, "swap slots", FAILS,
			   "a test failed: SWAP_PSS is %" PRIu64 " bytes by slots, %" PRIu64
			   " by smaps_rollup",
			   trial.slots, trial.rollup);
	else
		doctor_add(&d->rows, "swap slots", WORKS, "of %zu %s%s%s%s", system->swap_count,
			   count_word(system->swap_count, "device", "devices"),
			   trial.swapped ? "; a test agrees with smaps_rollup"
					 : "; not tested: no page could be swapped out",
			   why ? "; no SWAP_RAM: " : "", why ? why : "");
}

/* SWAP_PSS and SWAP_RAM. Without swap in use there are no slots to look at. */
void doctor_add_swap(struct doctor *d)
{
	cleanup(diag_clear) struct diag diag = {};
	struct source *engine = NULL;
	struct swap_source *source = NULL;
	struct system_info system = {};
	struct host_info host = {};
	int r;

	machine_read(&d->proc, &host, &system);
	if (!system.swap_count) {
		doctor_add(&d->rows, "swap slots", UNUSED, "no swap is switched on");
		return;
	}
	r = source_open(&(struct source_request){.choice = SOURCE_BPF, .pss = true}, &d->proc,
			&diag, &engine);
	if (r == 0)
		r = swap_source_open(engine, &diag, &source);
	if (r < 0)
		doctor_add_part(&d->rows, "swap slots", r, &diag, NULL);
	else
		try_swap(d, engine, source, &system);
	swap_source_close(source);
	source_close(engine);
}

static void judge_frames(struct doctor *d, const struct ram *ram)
{
	if (ram->method == RAM_COUNTERS) {
		doctor_add(&d->rows, "page frames", FAILS, "%s", ram->reason);
		return;
	}
	doctor_add(&d->rows, "page frames", WORKS, "%s in %s; they agree with the counters",
		   ram->method == RAM_EXACT ? "counted" : "a sample was counted",
		   span_text((double)ram->duration_us / 1e6).text);
}

/* Where the RAM of the machine is: the census of system. */
void doctor_add_frames(struct doctor *d)
{
	const struct collect_spec spec = {.ram = RAM_DETAILS};
	cleanup(diag_clear) struct diag diag = {};
	cleanup(snapshot_done) struct snapshot s = {};
	struct source *engine = NULL;
	struct ram_reader *reader = NULL;
	int r = source_open(
		&(struct source_request){.choice = SOURCE_BPF, .pin = PIN_NOT, .pss = true},
		&d->proc, &diag, &engine);

	machine_read(&d->proc, &s.host, &s.system);
	if (r == 0)
		r = ram_reader_open(engine, &d->proc, &reader);
	if (r == 0)
		r = ram_reader_read(reader, &d->proc, NULL, &spec, &s);
	if (r < 0)
		doctor_add_part(&d->rows, "page frames", r, &diag, NULL);
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

void doctor_add_pin(struct doctor *d)
{
	const struct source_request request = {.choice = SOURCE_BPF, .pin = PIN_MUST, .pss = true};
	cleanup(diag_clear) struct diag diag = {};
	struct source *source;
	int r = source_open(&request, &d->proc, &diag, &source);

	if (r == 0) {
		const char *why = source_pin_lacks(source);

		if (why && !source_pss_lost(source))
			doctor_add(&d->rows, "pin", FAILS,
				   "runs of root do not use it: %s (zmem-bpf pin [GROUP])", why);
		else
			doctor_add(&d->rows, "pin", why ? FAILS : WORKS, "%s",
				   why ? why : pin_use());
		source_close(source);
	} else if (r == -ENOENT) {
		doctor_add(&d->rows, "pin", UNUSED, "%s",
			   pin_is_for_root()
				   ? "for root alone (for a group: zmem-bpf pin GROUP)"
				   : "none (runs of root are faster with one: zmem-bpf pin; "
				     "for a group: pin GROUP)");
	} else {
		doctor_add_part(&d->rows, "pin", r, &diag, NULL);
	}
}

void doctor_add_serve(struct doctor *d)
{
	char why[512];
	bool loads = serve_check(why, sizeof(why)) == 0;

	doctor_add(&d->rows, "serve", loads ? WORKS : FAILS, "%s",
		   loads ? "libmicrohttpd is there" : why);
}

/* What record --keep watches; to be called before capabilities are dropped. */
void doctor_add_recorder(struct doctor *d)
{
	const struct pressure_limits limits = {.left = DENSE_USUAL, .stall = STALL_USUAL};
	cleanup(diag_clear) struct diag diag = {};
	struct oom_watch *oom = NULL;
	struct ended_watch *ended = NULL;
	struct pressure_watch pressure;
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC), log_error = errno;
	int r = oom_watch_open(ZMEM_OOM_TABLES, true, &diag, &oom);

	doctor_add_part(&d->watched, "OOM kills", r, &diag,
			"record --keep records each one, from inside the kernel, and signals that "
			"end processes; serve counts kills");
	oom_watch_close(oom);
	diag_clear(&diag);
	r = ended_watch_open(&diag, &ended);
	doctor_add_part(&d->watched, "ended peaks", r, &diag,
			"record keeps those of processes that ended between snapshots");
	ended_watch_close(ended);
	if (log >= 0)
		doctor_add(&d->watched, "kernel log", WORKS,
			   "tells which limit an OOM kill was for");
	else
		doctor_add(
			&d->watched, "kernel log", FAILS,
			"/dev/kmsg: %s: which limit an OOM kill was for comes from memory.events "
			"of cgroup v2, if at all (run as root, or with CAP_SYSLOG)",
			strerror(log_error));
	if (log >= 0)
		close(log);
	pressure_watch_open(&pressure, PRESSURE_FILE, &limits);
	if (pressure.fd >= 0)
		doctor_add(&d->watched, "PSI", WORKS,
			   "a trigger tells record --keep when memory is short");
	else
		doctor_add(&d->watched, "PSI", FAILS,
			   "no trigger on " PRESSURE_FILE
			   ": %s: record --keep looks at memory, swap "
			   "and %s each second",
			   strerror(-pressure.error),
			   access(PRESSURE_FILE, R_OK) == 0 ? "stalled time" : "refaults");
	pressure_watch_close(&pressure);
}

/* Whether growth can be counted by stack; to be called before capabilities are dropped. */
void doctor_add_grow(struct doctor *d)
{
	const struct grow_spec spec = {.mode = GROWTH_DWARF};
	cleanup(diag_clear) struct diag diag = {};
	struct grow *grow = NULL;
	int r = grow_open(&spec, &d->proc, &diag, &grow);

	doctor_add_part(&d->watched, "grow", r, &diag,
			r == 0 && grow_is_exact(grow)
				? "counts each change of resident memory, with its stack"
				: "counts changes of resident memory; the stacks of one page "
				  "fault in 64 (Linux 6.2 has all)");
	grow_close(grow);
}

/* Likewise whether the kernel adds up the memory of a command and its children. */
void doctor_add_peak(struct doctor *d)
{
	cleanup(diag_clear) struct diag diag = {};
	struct peak_watch *watch = NULL;
	int r = peak_watch_open(&diag, &watch);

	doctor_add_part(&d->watched, "peak", r, &diag,
			r == 0 && peak_watch_each(watch)
				? "adds each change of resident memory of a command and its "
				  "children"
				: "adds changes of resident memory; a thread holds back up "
				  "to 63 of its own (Linux 6.2 has all)");
	peak_watch_close(watch);
}
