// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The metrics: which values are exported, under which names and in which order. Dashboards depend
 * on the names: new ones may be added, but none changes. A value that was not measured has no
 * sample, and a family without samples has no HELP.
 */
#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "findings/findings.h"
#include "report/metrics_group.h"
#include "write/json_writer.h"
#include "write/metrics_writer.h"

#define FAMILY(type_, name_, unit_, help_)                                                         \
	(&(const struct metric_family){                                                            \
		.name = (name_), .type = (type_), .unit = (unit_), .help = (help_)})
#define GAUGE(name, unit, help)	  FAMILY(METRIC_GAUGE, name, unit, help)
#define BYTES(name, help)	  GAUGE(name "_bytes", "bytes", help)
#define COUNTER(name, unit, help) FAMILY(METRIC_COUNTER, name, unit, help)
#define INFO(name, help)	  FAMILY(METRIC_INFO, name, NULL, help)

static void put_known(struct metrics_writer *w, const struct metric_family *f, bool known,
		      uint64_t v)
{
	metrics_family(w, f);
	metrics_known(w, known, v);
}

static void put_labelled(struct metrics_writer *w, const char *key, const char *label, uint64_t v)
{
	metrics_sample(w);
	metrics_label(w, key, label);
	metrics_u64(w, v);
}

/* ---- groups ---- */

static void put_name(struct metrics_writer *w, const char *key, const char *name)
{
	if (name && *name)
		metrics_label_text(w, key, name);
}

/* Begins a sample, up to its value. */
static void put_labels(struct metrics_writer *w, const struct metric_group *g, const char *memtype)
{
	metrics_sample(w);
	metrics_label(w, "group", g->label);
	for (size_t i = 0; i < ARRAY_SIZE(g->key) && g->key[i].name; i++)
		metrics_label(w, g->key[i].name, g->key[i].value);
	put_name(w, "namespace", g->namespace);
	put_name(w, "pod", g->pod);
	put_name(w, "container", g->container);
	if (memtype)
		metrics_label(w, "memtype", memtype);
}

static void put_group(struct metrics_writer *w, const struct metric_group *g, const char *memtype,
		      uint64_t v)
{
	if (v > JSON_INTEGER_MAX)
		return;
	put_labels(w, g, memtype);
	metrics_u64(w, v);
}

struct metric_part {
	const char *memtype;
	enum counter counter;
};

static void put_parts(struct metrics_writer *w, const struct metric_groups *groups,
		      const struct metric_part *part, size_t parts)
{
	for (size_t i = 0; i < groups->count; i++) {
		const struct metric_group *g = &groups->item[i];

		for (size_t k = 0; k < parts; k++) {
			if (metric_group_has(g, part[k].counter))
				put_group(w, g, part[k].memtype,
					  metric_group_value(g, part[k].counter));
		}
	}
}

static void put_resident(struct metrics_writer *w, const struct metric_groups *groups)
{
	static const struct metric_part part[] = {{"anon", COUNTER_RSS_ANON},
						  {"file", COUNTER_RSS_FILE},
						  {"shmem", COUNTER_RSS_SHMEM}};

	metrics_family(
		w,
		BYTES("zmem_group_memory_resident",
		      "Resident memory. Memory that several processes map counts once for each."));
	put_parts(w, groups, part, ARRAY_SIZE(part));
}

/* What fills the cgroups, and how long their tasks waited for memory. */
static void put_charged(struct metrics_writer *w, const struct metric_groups *groups)
{
	static const struct metric_part part[] = {{"anon", COUNTER_MEM_ANON},
						  {"file", COUNTER_MEM_FILE},
						  {"shmem", COUNTER_MEM_SHMEM},
						  {"slab", COUNTER_MEM_SLAB}};

	metrics_family(w, BYTES("zmem_group_memory_charged",
				"Memory charged to the cgroup, by what it is. Kernel memory other "
				"than slab is not a part."));
	put_parts(w, groups, part, ARRAY_SIZE(part));
}

/* Values that are whole numbers of a part of the unit. */
static void put_scaled(struct metrics_writer *w, const struct metric_groups *groups,
		       enum counter counter, uint64_t scale, const struct metric_family *family)
{
	metrics_family(w, family);
	for (size_t i = 0; i < groups->count; i++) {
		const struct metric_group *g = &groups->item[i];

		if (!metric_group_has(g, counter))
			continue;
		put_labels(w, g, NULL);
		metrics_fixed(w, metric_group_value(g, counter), scale);
	}
}

#define WITHOUT "Processes without measured PSS are left out."

/* Families with one value for each group. */
static const struct {
	enum counter counter;
	const char *name, *help;
} group_bytes[] = {
	{COUNTER_PSS, "zmem_group_memory_proportional_bytes",
	 "PSS: each resident page divided by its mappings. " WITHOUT},
	{COUNTER_USS, "zmem_group_memory_unique_bytes",
	 "USS: resident pages that are mapped once. " WITHOUT},
	{COUNTER_FREED, "zmem_group_freed_bytes",
	 "RAM that becomes free if all processes of the group end."},
	{COUNTER_SWAP, "zmem_group_swap_bytes",
	 "Swap entries of private memory. Entries that fork shares count once for each process."},
	{COUNTER_SWAP_PSS, "zmem_group_swap_proportional_bytes",
	 "Swap entries, each divided by its sharers. " WITHOUT},
	{COUNTER_SWAP_RAM, "zmem_group_swap_ram_bytes",
	 "RAM that its swap takes, compressed, in zram and zswap. " WITHOUT},
	{COUNTER_HUGETLB_PSS, "zmem_group_hugetlb_proportional_bytes",
	 "Pages of hugetlb, each divided by its mappings; they are not part of PSS."},
	{COUNTER_LAZYFREE, "zmem_group_lazyfree_bytes",
	 "Memory after madvise(MADV_FREE) that the kernel has not taken yet."},
	{COUNTER_THP_REST, "zmem_group_thp_rest_bytes",
	 "The rest of huge pages that are mapped in part, shared ones divided."},
	{COUNTER_GPU, "zmem_group_gpu_bytes",
	 "Memory of GPUs that drivers report, each client divided by the processes that hold it."},
	{COUNTER_DMABUF, "zmem_group_dmabuf_bytes",
	 "Open dma-bufs, each divided by the processes that hold it."},
	{COUNTER_KERNEL, "zmem_group_kernel_bytes",
	 "Kernel memory that its processes hold by descriptors, shared ones divided."},
	{COUNTER_MEM_CURRENT, "zmem_group_memory_current_bytes",
	 "Memory charged to the cgroup, page cache and kernel memory included."},
	{COUNTER_MEM_LIMIT, "zmem_group_memory_limit_bytes",
	 "The lowest memory limit of the cgroup and its ancestors."},
	{COUNTER_NEAREST_LIMIT, "zmem_group_memory_nearest_limit_bytes",
	 "The memory limit of the cgroup or of an ancestor that has the least left."},
	{COUNTER_MEM_LEFT, "zmem_group_memory_left_bytes",
	 "What is left of that limit; page cache that was not used lately is free."},
	{COUNTER_MEM_HIGH, "zmem_group_memory_high_bytes",
	 "The lowest memory.high of the cgroup and its ancestors."},
	{COUNTER_MEM_WORKING_SET, "zmem_group_memory_working_set_bytes",
	 "Memory charged to the cgroup, without pages of files that were not used lately."},
	{COUNTER_MEM_KERNEL, "zmem_group_memory_kernel_bytes",
	 "Memory of the kernel charged to the cgroup, such as slab, page tables and stacks."},
	{COUNTER_MEM_SOCK, "zmem_group_memory_sockets_bytes",
	 "Memory of sockets charged to the cgroup."},
	{COUNTER_MEM_SWAP, "zmem_group_memory_swap_bytes", "Swap charged to the cgroup."},
	{COUNTER_MEM_SWAP_LIMIT, "zmem_group_memory_swap_limit_bytes",
	 "The lowest swap limit of the cgroup and its ancestors."},
	{COUNTER_MEM_ZSWAP, "zmem_group_memory_zswap_bytes",
	 "RAM in which zswap holds compressed pages of the cgroup."},
	{COUNTER_MEM_PEAK, "zmem_group_memory_peak_bytes",
	 "The most that was charged to the cgroup, page cache included: no advice for a limit."},
};

/* What happened to cgroups since they were made. */
static const struct {
	enum counter counter;
	const char *name, *help;
} group_events[] = {
	{COUNTER_REFAULTS, "zmem_group_refaults",
	 "Pages of the cgroup that were read back soon after the kernel had taken them."},
	{COUNTER_RECLAIMED, "zmem_group_reclaimed_pages",
	 "Pages that the kernel took from the cgroup (cgroup v2)."},
	{COUNTER_LIMIT_HITS, "zmem_group_limit_hits",
	 "How often the cgroup, or in v2 one below it, was at its memory limit."},
	{COUNTER_HIGH_HITS, "zmem_group_high_hits",
	 "How often its tasks had to free memory because it was above memory.high (cgroup v2)."},
};

static void put_counts(struct metrics_writer *w, const struct metric_groups *groups)
{
	metrics_family(w, GAUGE("zmem_group_processes", NULL, "Processes of the group."));
	for (size_t i = 0; i < groups->count; i++)
		put_group(w, &groups->item[i], NULL, groups->item[i].sum.processes);
	metrics_family(w, GAUGE("zmem_group_proportional_missing_processes", NULL,
				"Processes with memory and without measured PSS."));
	for (size_t i = 0; i < groups->count; i++)
		put_group(w, &groups->item[i], NULL, groups->item[i].sum.pss_missing);
}

/* Without a value a family is there all the same, but for what is there only if asked for. */
static bool shows_family(const struct metric_groups *groups, enum counter c)
{
	bool any = c != COUNTER_FREED;

	for (size_t i = 0; i < groups->count; i++)
		any |= metric_group_has(&groups->item[i], c);
	return any;
}

/* PSS by node, where it was asked for. */
static void put_nodes(struct metrics_writer *w, const struct metric_groups *groups)
{
	bool any = false;

	for (size_t i = 0; i < groups->count; i++)
		any |= groups->item[i].sum.nodes.count != 0;
	if (!any)
		return;
	metrics_family(w, BYTES("zmem_group_node_proportional", "PSS by NUMA node. " WITHOUT));
	for (size_t i = 0; i < groups->count; i++) {
		const struct node_shares *n = &groups->item[i].sum.nodes;

		for (uint32_t k = 0; k < n->count; k++) {
			char number[16];

			snprintf(number, sizeof(number), "%u", n->node[k].node);
			put_labels(w, &groups->item[i], NULL);
			metrics_label(w, "node", number);
			metrics_u64(w, n->node[k].pss);
		}
	}
}

static void put_groups(struct metrics_writer *w, const struct metric_groups *groups)
{
	put_resident(w, groups);
	for (size_t i = 0; i < ARRAY_SIZE(group_bytes); i++) {
		const struct metric_part part = {NULL, group_bytes[i].counter};

		if (!shows_family(groups, part.counter))
			continue;
		metrics_family(w, GAUGE(group_bytes[i].name, "bytes", group_bytes[i].help));
		put_parts(w, groups, &part, 1);
	}
	put_nodes(w, groups);
	/* It is no counter: a process that ends takes its time with it. */
	if (shows_family(groups, COUNTER_MEM_WAIT))
		put_scaled(w, groups, COUNTER_MEM_WAIT, 1000000,
			   GAUGE("zmem_group_memory_wait_seconds", "seconds",
				 "Time that the living threads of the group lost to reclaim, "
				 "swap-in, thrashing and compaction."));
	put_charged(w, groups);
	for (size_t i = 0; i < ARRAY_SIZE(group_events); i++) {
		const struct metric_part part = {NULL, group_events[i].counter};

		if (!shows_family(groups, part.counter))
			continue;
		metrics_family(w, COUNTER(group_events[i].name, NULL, group_events[i].help));
		put_parts(w, groups, &part, 1);
	}
	put_scaled(
		w, groups, COUNTER_PSI_SOME_10, 10000,
		GAUGE("zmem_group_memory_pressure_some_ratio", "ratio",
		      "Share of the last 10 s in which a task of the cgroup waited for memory."));
	put_scaled(
		w, groups, COUNTER_PSI_FULL_10, 10000,
		GAUGE("zmem_group_memory_pressure_full_ratio", "ratio",
		      "Share of the last 10 s in which all tasks of the cgroup waited for memory."));
	put_counts(w, groups);
}

/* ---- the machine ---- */

static const struct {
	enum meminfo_counter counter;
	const char *name, *help;
} machine_bytes[] = {
	{MEMINFO_TOTAL, "zmem_memory_total_bytes", "Total RAM (MemTotal)."},
	{MEMINFO_AVAILABLE, "zmem_memory_available_bytes",
	 "RAM available without swapping (MemAvailable)."},
	{MEMINFO_ANON, "zmem_memory_anon_bytes", "Anonymous memory of processes (AnonPages)."},
	{MEMINFO_MAPPED, "zmem_memory_mapped_bytes",
	 "Page cache that processes map, shared memory included (Mapped)."},
	{MEMINFO_SHMEM, "zmem_memory_shmem_bytes", "Shared memory and tmpfs (Shmem)."},
	{MEMINFO_SWAP_TOTAL, "zmem_swap_total_bytes", "Total swap space (SwapTotal)."},
	{MEMINFO_SWAP_FREE, "zmem_swap_free_bytes", "Unused swap space (SwapFree)."},
	{MEMINFO_ZSWAP_POOL, "zmem_zswap_pool_bytes", "RAM that zswap uses."},
	{MEMINFO_ZSWAP_STORED, "zmem_zswap_stored_bytes",
	 "Uncompressed size of the data in zswap."},
};

static void put_residual(struct metrics_writer *w, const struct metric_family *f, bool known,
			 int64_t v)
{
	metrics_family(w, f);
	if (!known || v > JSON_INTEGER_MAX || v < -JSON_INTEGER_MAX)
		return;
	metrics_sample(w);
	metrics_i64(w, v);
}

/* Writes one value for each device. */
static void put_zram(struct metrics_writer *w, const struct metric_family *f,
		     const struct system_info *s, size_t offset)
{
	metrics_family(w, f);
	for (size_t i = 0; i < s->zram_count; i++) {
		const struct zram_device *z = &s->zram[i];
		uint64_t v = *(const uint64_t *)((const char *)&z->stat + offset);

		if (v > JSON_INTEGER_MAX)
			continue;
		metrics_sample(w);
		metrics_label_text(w, "device", z->name);
		metrics_u64(w, v);
	}
}

/* Files that no process maps, which are in no process's memory. */
static void put_shmem(struct metrics_writer *w, const struct machine_files *f)
{
	metrics_family(w, BYTES("zmem_shmem_unmapped",
				"Shared memory and tmpfs in RAM, of files that no process maps."));
	for (int kind = 0; f->shmem_known && kind < FILE_KINDS; kind++) {
		uint64_t v = f->unmapped[kind];

		if (file_kind_is_shmem((enum file_kind)kind) && v <= JSON_INTEGER_MAX)
			put_labelled(w, "kind", file_kind_name((enum file_kind)kind), v);
	}
}

static void put_seconds(struct metrics_writer *w, const struct metric_family *f, bool known,
			uint64_t us)
{
	metrics_family(w, f);
	if (!known)
		return;
	metrics_sample(w);
	metrics_fixed(w, us, 1000000);
}

/* A census of all page frames, where one was taken. */
static void put_ram(struct metrics_writer *w, const struct ram *ram)
{
	bool counted = ram_is_counted(ram);

	metrics_family(w,
		       BYTES("zmem_ram", "RAM by what its page frames are. The classes add up to "
					 "all RAM."));
	for (int i = 0; counted && i < RAM_CLASSES; i++) {
		if (ram->figure[i].known && ram->figure[i].bytes <= JSON_INTEGER_MAX)
			put_labelled(w, "class", ram_class_table[i].key, ram->figure[i].bytes);
	}
	put_seconds(w,
		    GAUGE("zmem_ram_time_seconds", "seconds",
			  "When the page frames were counted, since the epoch."),
		    counted, counted ? (uint64_t)ram->taken_ms * 1000 : 0);
	counted = counted && ram->deleted_known;
	put_known(w,
		  GAUGE("zmem_deleted_cgroups", NULL,
			"Memory cgroups that were removed and still hold memory."),
		  counted, counted ? ram->deleted_cgroups : 0);
	put_known(w, BYTES("zmem_deleted_cgroup", "Memory that removed memory cgroups hold."),
		  counted, counted ? ram->deleted_bytes : 0);
}

/* Counters since boot. */
static void put_activity(struct metrics_writer *w, const struct system_info *s)
{
	const struct memory_pressure *p = &s->pressure;

	put_seconds(w,
		    COUNTER("zmem_memory_pressure_some_seconds", "seconds",
			    "Time in which a task of the machine waited for memory (PSI)."),
		    p->known, p->some_total_us);
	put_seconds(w,
		    COUNTER("zmem_memory_pressure_full_seconds", "seconds",
			    "Time in which all tasks that were not idle waited for memory (PSI)."),
		    p->known, p->full_total_us);
	put_known(
		w,
		COUNTER("zmem_swap_in_bytes", "bytes", "What was read from swap devices (pswpin)."),
		s->swapped.known, s->swapped.in);
	put_known(w,
		  COUNTER("zmem_swap_out_bytes", "bytes",
			  "What was written to swap devices (pswpout)."),
		  s->swapped.known, s->swapped.out);
	put_known(w,
		  COUNTER("zmem_kernel_oom_kills", NULL,
			  "OOM kills that the kernel counted (oom_kill of /proc/vmstat)."),
		  s->oom_kills.known, s->oom_kills.count);
}

static void put_machine(struct metrics_writer *w, const struct result *r)
{
	const struct system_info *s = &r->snapshot->system;
	const struct machine_balance *balance = &r->snapshot->balance;

	for (size_t i = 0; i < ARRAY_SIZE(machine_bytes); i++) {
		enum meminfo_counter f = machine_bytes[i].counter;

		put_known(w, GAUGE(machine_bytes[i].name, "bytes", machine_bytes[i].help),
			  meminfo_has(&s->meminfo, f), s->meminfo.value[f]);
	}
	put_activity(w, s);
	put_ram(w, s->ram);
	put_shmem(w, &s->files);
	put_known(w,
		  BYTES("zmem_swap_unattributed",
			"Swap in use that no process accounts for: swapped shared memory, tmpfs, "
			"swap cache."),
		  balance->swap_unattributed_known, balance->swap_unattributed);
	put_residual(w,
		     BYTES("zmem_memory_anon_residual",
			   "AnonPages minus the anonymous PSS of all processes."),
		     balance->residual_known, balance->anon_residual);
	put_residual(w,
		     BYTES("zmem_memory_mapped_residual",
			   "Mapped minus the PSS of files and shared memory of all processes."),
		     balance->residual_known, balance->mapped_residual);
	put_zram(w, BYTES("zmem_zram_stored", "Uncompressed size of the data on the device."), s,
		 offsetof(struct zram_stat, stored));
	put_zram(w, BYTES("zmem_zram_compressed", "Compressed size of the data on the device."), s,
		 offsetof(struct zram_stat, compressed));
	put_zram(w, BYTES("zmem_zram_used", "RAM that the device uses."), s,
		 offsetof(struct zram_stat, used));
}

/* ---- what is wrong ---- */

static void put_finding(struct metrics_writer *w, const struct findings *all, enum finding_key key)
{
	for (int level = 0; level < FINDING_LEVELS; level++) {
		if (!finding_can_be(key, level))
			continue;
		metrics_sample(w);
		metrics_label(w, "key", finding_key_name(key));
		metrics_label(w, "level", finding_level_name(level));
		metrics_u64(w, all->subjects[key][level]);
	}
}

/* 0 says that it was looked for in vain. What was not measured has no sample. */
static int put_findings(struct metrics_writer *w, const struct result *r)
{
	cleanup_free struct findings *all = malloc(sizeof(*all));

	if (!all)
		return -ENOMEM;
	findings_find(r->snapshot, r, all);
	metrics_family(w, GAUGE("zmem_finding", NULL,
				"What is wrong with the memory of the machine: how many cgroups, "
				"processes or devices it is about."));
	for (int key = 0; key < FINDING_KEYS; key++) {
		if (all->known >> key & 1)
			put_finding(w, all, key);
	}
	return 0;
}

/* ---- the collection ---- */

static void put_reasons(struct metrics_writer *w, const struct metric_family *f,
			const struct collection *c)
{
	metrics_family(w, f);
	put_labelled(w, "reason", "gone", c->gone);
	put_labelled(w, "reason", "denied", c->denied);
	put_labelled(w, "reason", "timeout", c->timeout);
	put_labelled(w, "reason", "raced", c->raced);
	if (c->not_seen_known)
		put_labelled(w, "reason", "not_seen", c->not_seen);
}

static void put_left_out(struct metrics_writer *w, const struct collection *c)
{
	metrics_family(w, GAUGE("zmem_collect_cgroups_left_out", NULL,
				"Cgroups with processes, of which the last collection left out "
				"the memory counters, by reason."));
	for (int b = 0; b < MEMCG_BOUNDS; b++)
		put_labelled(w, "reason", memcg_bound_name(b), c->cgroups_left_out[b]);
}

static void put_cross_check(struct metrics_writer *w, const struct cross_check *c)
{
	metrics_family(w, GAUGE("zmem_cross_check_processes", NULL,
				"Processes of the last collection that were compared with "
				"smaps_rollup."));
	if (!c->done)
		return;
	put_labelled(w, "verdict", "same", c->same);
	put_labelled(w, "verdict", "moved", c->moved);
	put_labelled(w, "verdict", "different", c->different);
	put_labelled(w, "verdict", "gone", c->gone);
}

static void put_infos(struct metrics_writer *w, const struct result *r)
{
	const char *counters = origin_name(r->snapshot->counters_source);
	const char *pss = pss_source_name(r->pss);

	metrics_family(w, INFO("zmem_build", "The version of zmem-bpf."));
	put_labelled(w, "version", ZMEM_VERSION, 1);
	metrics_family(w, INFO("zmem_source",
			       "Sources of the values, and the column that makes the groups."));
	metrics_sample(w);
	metrics_label(w, "counters", counters ? counters : "none");
	metrics_label(w, "pss", pss ? pss : "none");
	metrics_label(w, "group_by", r->group ? r->group->key : "name");
	metrics_u64(w, 1);
}

static void put_times(struct metrics_writer *w, const struct snapshot *s)
{
	metrics_family(w, GAUGE("zmem_collect_duration_seconds", "seconds",
				"How long the last collection took."));
	metrics_sample(w);
	metrics_fixed(w, s->collection.duration_us, 1000000);
	metrics_family(w, GAUGE("zmem_last_collect_timestamp_seconds", "seconds",
				"Time of the last collection, since the epoch."));
	if (s->time_ms < 0)
		return;
	metrics_sample(w);
	metrics_fixed(w, (uint64_t)s->time_ms, 1000);
}

/* `self`: counts since the start; NULL if this collection is the only one. */
static void put_collection(struct metrics_writer *w, const struct result *r,
			   const struct metrics_self *self)
{
	const struct collection *c = &r->snapshot->collection;
	struct collection since_start = *c;

	if (self) {
		since_start.gone = self->collected.gone;
		since_start.denied = self->collected.denied;
		since_start.timeout = self->collected.timeout;
		since_start.raced = self->collected.raced;
		since_start.not_seen = self->collected.not_seen;
		since_start.not_seen_known |= self->collected.not_seen > 0;
	}

	put_infos(w, r);
	put_times(w, r->snapshot);
	put_known(w,
		  GAUGE("zmem_collect_complete", NULL,
			"1 if only kernel threads and ended processes are missing."),
		  true, c->complete);
	put_known(w,
		  GAUGE("zmem_collect_processes", NULL,
			"Processes seen, kernel threads and zombies included."),
		  true, c->seen);
	put_reasons(w,
		    GAUGE("zmem_collect_missing_processes", NULL,
			  "Processes that the last collection could not read, by reason."),
		    c);
	put_reasons(w,
		    COUNTER("zmem_collect_errors", NULL,
			    "Processes that could not be read since the start, by reason."),
		    &since_start);
	put_left_out(w, c);
	put_cross_check(w, &c->cross_check);
}

/* ---- the program itself ---- */

/* The names that Prometheus' client libraries use for a process. */
static void put_processes(struct metrics_writer *w, const struct metrics_self *self)
{
	size_t n = ARRAY_SIZE(self->process);

	metrics_family(w, COUNTER("process_cpu_seconds", "seconds",
				  "CPU time of this program's processes."));
	for (size_t i = 0; i < n; i++) {
		metrics_sample(w);
		metrics_label(w, "role", self->process[i].role);
		metrics_fixed(w, self->process[i].cost.cpu_us, 1000000);
	}
	metrics_family(w, BYTES("process_resident_memory",
				"Resident memory of this program's processes."));
	for (size_t i = 0; i < n; i++) {
		if (self->process[i].cost.resident)
			put_labelled(w, "role", self->process[i].role,
				     self->process[i].cost.resident);
	}
	metrics_family(w, GAUGE("process_open_fds", NULL,
				"Open file descriptors of this program's processes."));
	for (size_t i = 0; i < n; i++)
		put_labelled(w, "role", self->process[i].role, self->process[i].cost.fds);
	metrics_family(w, GAUGE("process_start_time_seconds", "seconds",
				"Start time of this program since the Unix epoch."));
	if (self->start_ms < 0)
		return;
	metrics_sample(w);
	metrics_fixed(w, (uint64_t)self->start_ms, 1000);
}

static void put_requests(struct metrics_writer *w, const struct metrics_self *self)
{
	metrics_family(
		w, COUNTER("zmem_http_requests", NULL, "HTTP requests answered, by status code."));
	for (size_t i = 0; i < ARRAY_SIZE(self->responses) && self->responses[i].code; i++) {
		char code[16];

		snprintf(code, sizeof(code), "%u", self->responses[i].code);
		put_labelled(w, "code", code, self->responses[i].count);
	}
	put_known(w, GAUGE("zmem_http_connections", NULL, "Open HTTP connections."), true,
		  self->connections);
}

static int put_kills(struct metrics_writer *w, const struct result *kills, bool numeric)
{
	cleanup(metric_groups_done) struct metric_groups groups = {};
	int error = kills ? metric_groups_make(kills, kills->row_count, numeric, &groups) : 0;

	if (error)
		return error;
	put_known(w,
		  GAUGE("zmem_oom_kills_watched", NULL,
			"1 if OOM kills are counted, 0 if their program could not be loaded."),
		  true, kills != NULL);
	metrics_family(w, COUNTER("zmem_oom_kills", NULL,
				  "OOM kills since the start, by the victim's group."));
	for (size_t i = 0; i < groups.count; i++)
		put_group(w, &groups.item[i], NULL, groups.item[i].sum.processes);
	return 0;
}

static void put_self(struct metrics_writer *w, const struct metrics_self *self)
{
	put_known(w, COUNTER("zmem_collections", NULL, "Collections since the start."), true,
		  self->collected.collections);
	put_known(
		w,
		COUNTER("zmem_collect_failures", NULL, "Collections that failed since the start."),
		true, self->collected.failures);
	put_known(w,
		  GAUGE("zmem_groups_tracked", NULL,
			"Groups tracked to choose those with series, at most four for each of "
			"these."),
		  true, self->groups_tracked);
	put_known(w,
		  BYTES("zmem_groups_error",
			"Upper bound of an untracked group's PSS and swap, as a mean over the "
			"last minutes."),
		  self->groups_error >= 0 && self->groups_error < 9e15,
		  (uint64_t)self->groups_error);
	put_requests(w, self);
	put_processes(w, self);
}

void render_metrics(struct strbuf *out, const struct result *r, bool numeric, bool open_metrics,
		    const struct metrics_self *self)
{
	cleanup(metric_groups_done) struct metric_groups groups = {};
	struct metrics_writer w = {.out = out, .open_metrics = open_metrics};
	int error = metric_groups_make(r, METRICS_GROUPS_MAX, numeric, &groups);

	if (error) {
		if (!out->error)
			out->error = error;
		return;
	}
	put_groups(&w, &groups);
	put_machine(&w, r);
	error = put_findings(&w, r);
	put_collection(&w, r, self);
	if (self && !error)
		error = put_kills(&w, self->kills, numeric);
	if (self)
		put_self(&w, self);
	if (error && !out->error)
		out->error = error;
	metrics_end(&w);
}

void render_openmetrics(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	render_metrics(out, r, style->numeric, true, NULL);
}

void render_prometheus(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	render_metrics(out, r, style->numeric, false, NULL);
}
