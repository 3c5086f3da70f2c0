// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fields of processes and of sums of them. */
#include "fields/process_fields.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "fields/define.h"
#include "fields/descriptor_fields.h"
#include "fields/gpu_fields.h"
#include "fields/result_fields.h"
#include "model/memcg.h"

#define NS_PER_MS 1000000

/* PSS on a node: in JSON all nodes are one array. */
#define ROW const struct node_share *r = row
JSON_KNOWN(share_node, "node", NUMBER, value_signed(true, r->node), "its number");
JSON_KNOWN(share_pss, "pss_bytes", BYTES, value_bytes(true, r->pss), "PSS on it");
static FIELDS(share_fields, &field_share_node, &field_share_pss);
#undef ROW

/* A row `r` of the process `p`, of the snapshot `s`. */
#define ROW                                                                                        \
	const struct row *r = row;                                                                 \
	const struct process *p = r->process;                                                      \
	const struct snapshot *s = of;                                                             \
	(void)p, (void)s

/* A text that groups are made by. */
#define GROUP(name, expression)                                                                    \
	static const char *group_##name(const struct process *p)                                   \
	{                                                                                          \
		return expression;                                                                 \
	}

GROUP(user, p->user)
GROUP(name, p->name)
GROUP(app, p->app)
GROUP(cmdline, p->cmdline)
GROUP(unit, p->unit)
GROUP(container, p->container)
GROUP(pod, p->pod)
GROUP(namespace, p->namespace)
GROUP(cgroup, p->cgroup)
GROUP(joined, p->joined)
GROUP(container_part, name_of_pod_part(p->container))
GROUP(pod_part, name_of_pod_part(p->pod))

#define NEEDS(needs_)	 .needs = NEEDS_##needs_
#define GROUPS_BY(name_) .group = group_##name_
#define PART(part_)	 .part = PART_##part_

/* A group is not a process: it has no pid, parent or start time. */
COLUMN(pid, "pid", "PID", NUMBER, value_signed(p->pid, p->pid), "process id, in our pid namespace");
COLUMN(ppid, "ppid", "PPID", NUMBER, value_signed(p->pid, p->ppid),
       "pid of the parent, 0 if it is outside our pid namespace");
COLUMN(user, "user", "USER", TEXT, value_text(p->user), "name of the effective user", NEEDS(USER),
       GROUPS_BY(user), .max = {0, 64});
COLUMN(uid, "uid", "UID", NUMBER, value_signed(p->uid != UID_NONE, p->uid), "effective user id");
COLUMN(comm, "comm", "COMM", TEXT, value_text(p->pid ? p->comm : NULL),
       "what the kernel calls the process, 15 bytes at most", .flags = FIELD_HEX);
COLUMN(name, "name", "NAME", TEXT, value_text(p->name),
       "program: base name of the executable, or of the script it runs", NEEDS(PROGRAM),
       GROUPS_BY(name), .flags = FIELD_HEX, .max = {0, 255}, .max_hex = {0, 64});
COLUMN(app, "app", "APP", TEXT, value_text(p->app),
       "what people call it: java's class, postgres' role, php-fpm's pool; else name",
       GROUPS_BY(app), .needs = NEEDS_APP | NEEDS_PROGRAM, .flags = FIELD_OPTIONAL | FIELD_HEX,
       .max = {0, 255}, .max_hex = {0, 64});
COLUMN(cmdline, "cmdline", "CMDLINE", TEXT,
       ((struct value){.known = p->cmdline, .text = p->cmdline, .cut = p->cmdline_truncated}),
       "arguments; may hold secrets", NEEDS(CMDLINE), GROUPS_BY(cmdline),
       .flags = FIELD_ASKED | FIELD_OPTIONAL | FIELD_CUT_BOOL | FIELD_HEX, .max = {1024, 352},
       .max_hex = {256, 64});
COLUMN(unit, "unit", "UNIT", TEXT, value_text(p->unit), "systemd unit", NEEDS(CGROUP),
       GROUPS_BY(unit), PART(UNIT), .max = {0, 255});
/* A process has the names of its pod and container alone. */
COLUMN(container, "container", "CONTAINER", TEXT,
       value_text(p->pid ? name_of_pod_part(p->container) : p->container),
       "name of the container, or the beginning of its id", NEEDS(CGROUP), GROUPS_BY(container),
       PART(CONTAINER), .max = {0, 64});
COLUMN(pod, "pod", "POD", TEXT, value_text(p->pid ? name_of_pod_part(p->pod) : p->pod),
       "Kubernetes pod, by its uid where the name is not found; job of Slurm, allocation of Nomad",
       NEEDS(CGROUP), GROUPS_BY(pod), PART(POD), .max = {0, 64});
COLUMN(namespace, "namespace", "NAMESPACE", TEXT, value_text(p->namespace),
       "Kubernetes namespace of the pod", NEEDS(CGROUP), GROUPS_BY(namespace), PART(NAMESPACE),
       .max = {0, 64});
COLUMN(container_id, "container_id", "CONTAINER_ID", TEXT, value_text(p->container_id),
       "id of the container, where it has one", NEEDS(CGROUP));
COLUMN(container_status, "container_status", "CONTAINER_STATUS", TEXT,
       value_text(container_status_name(p->container_status)),
       "ok, or why the container with this id has no name", NEEDS(CGROUP));
COLUMN(cgroup, "cgroup", "CGROUP", TEXT, value_text(p->cgroup), "path of the memory cgroup",
       NEEDS(CGROUP), GROUPS_BY(cgroup), PART(CGROUP), .max = {512, 255}, .flags = FIELD_PATH);
COLUMN(threads, "threads", "THREADS", AMOUNT, value_signed(true, p->threads),
       "threads, exiting ones included");
COLUMN(procs, "procs", "PROCS", AMOUNT, value_signed(true, (int64_t)row_processes(r)),
       "processes of the group, or of the tree below");
COLUMN_AS(start, "start", "start_time_ms", "START", TIME,
	  value_signed(p->pid && s->host.boot_ms,
		       (int64_t)(s->host.boot_ms + p->start_ns / NS_PER_MS)),
	  "when the process started");
COLUMN(oom_score_adj, "oom_score_adj", "OOM_SCORE_ADJ", AMOUNT,
       value_signed(p->pid, p->oom_score_adj),
       "how readily the kernel kills the process, from -1000 (never) to 1000");
COLUMN(pss_source, "pss_source", "PSS_SOURCE", TEXT, value_text(pss_source_name(p->pss_source)),
       "where PSS came from: kernel or smaps_rollup", .flags = FIELD_READ);
COLUMN(pss_status, "pss_status", "PSS_STATUS", TEXT, value_text(pss_status_name(p->pss_status)),
       "ok, or why there is no PSS", .flags = FIELD_READ);
/* Why the value of that name is not known. */
#define STATUS(name, heading, kind, of, ...)                                                       \
	COLUMN(name##_status, #name "_status", heading "_STATUS", TEXT,                            \
	       value_text(pss_status_name(process_status(p, VALUE_##kind))),                       \
	       "ok, or why " of " not known", __VA_ARGS__)

STATUS(swap_pss, "SWAP_PSS", SWAP_PSS, "swap_pss is", .flags = 0);
STATUS(swap_shmem, "SWAP_SHMEM", SWAP_SHMEM, "swap_shmem is", NEEDS(SWAP_SHMEM));
STATUS(swap_ram, "SWAP_RAM", SWAP_RAM, "swap_ram and its parts are", NEEDS(SWAP_COSTS));
STATUS(freed, "FREED", FREED, "freed is", NEEDS(FREED));
STATUS(lazyfree, "LAZYFREE", LAZYFREE, "lazyfree is", NEEDS(LAZYFREE));
STATUS(hugetlb_pss, "HUGETLB_PSS", HUGETLB_PSS, "hugetlb_pss is", NEEDS(HUGETLB));
STATUS(thp_rest, "THP_REST", THP_REST, "thp_rest is", NEEDS(THP_REST));
STATUS(nodes, "NODES", NODES, "node0 to node15 are", .flags = 0);
STATUS(gpu, "GPU", GPU, "gpu is", NEEDS(GPU));
STATUS(dmabuf, "DMABUF", DMABUF, "dmabuf is", NEEDS(GPU));
STATUS(kernel, "KERNEL", KERNEL, "kernel is", NEEDS(KERNEL));
STATUS(maps, "MAPS", MAPS, "maps is", .flags = 0);
STATUS(swapins, "SWAPINS", SWAPINS, "swapins is", NEEDS(SWAPINS));
STATUS(mem_wait, "MEM_WAIT", MEM_WAIT, "mem_wait is", NEEDS(WAITS));
STATUS(exe_deleted, "EXE_DELETED", EXE, "exe_deleted is", .flags = 0);

/* In the order of documents. */
#define STATUS_FIELDS                                                                              \
	&field_swap_pss_status, &field_swap_shmem_status, &field_swap_ram_status,                  \
		&field_freed_status, &field_lazyfree_status, &field_hugetlb_pss_status,            \
		&field_thp_rest_status, &field_nodes_status, &field_gpu_status,                    \
		&field_dmabuf_status, &field_kernel_status, &field_maps_status,                    \
		&field_swapins_status, &field_mem_wait_status

COLUMN(counters_source, "counters_source", "COUNTERS_SOURCE", TEXT,
       value_text(origin_name(p->counters_source)),
       "where the counters came from: bpf, proc, or earlier (not read at an OOM kill: the snapshot before)");
COLUMN(mm_id, "mm_id", "MM_ID", NUMBER, value_signed(p->mm_id, p->mm_id),
       "the same for processes that share an address space");
COLUMN(exe_deleted, "exe_deleted", "EXE_DELETED", BOOL,
       value_bool(p->exe != EXE_UNKNOWN, p->exe == EXE_DELETED),
       "true if the executable was removed or replaced since the process started");
COLUMN(mm_owner, "mm_owner", "MM_OWNER", BOOL, value_bool(p->pid, p->mm_owner),
       "true for the process that represents its address space in totals");
static struct value value_growth(const struct row *r)
{
	int64_t bytes = 0;
	bool known = row_growth(r, &bytes);

	return value_signed(known, bytes);
}

COLUMN_AS(grown, "grown", "grown_bytes", "GROWN", CHANGE,
	  value_signed(r->started || r->watched_ms, r->grown),
	  "growth of anonymous and shared memory and swap (else RSS and swap) since the first "
	  "snapshot that has the row",
	  .flags = FIELD_SINCE);
COLUMN_AS(grown_h, "grown_h", "grown_bytes_per_hour", "GROWN/H", CHANGE, value_growth(r),
	  "grown in an hour, at the rate so far; known after 10 s, if it stands out of its noise",
	  .flags = FIELD_SINCE);
COLUMN_AS(swapin, "swapin", "swapins_per_second", "SWAPIN", AMOUNT,
	  value_signed(r->swapin_known, r->swapin),
	  "folios that it read from swap in a second, since the last snapshot (from BPF)",
	  .flags = FIELD_SINCE, NEEDS(SWAPINS));
COLUMN_AS(
	wait, "wait", "mem_wait_ms_per_second", "WAIT", AMOUNT,
	value_signed(r->wait_known, r->wait),
	"ms that its threads lost to memory (reclaim, swap-in, thrashing, compaction) in a second, "
	"since the last snapshot; without kernel.task_delayacct to reclaim alone (from BPF)",
	.flags = FIELD_SINCE, NEEDS(WAITS));
COLUMN_AS(watched, "watched", "watched_seconds", "WATCHED", AMOUNT,
	  value_signed(r->watched_ms, (int64_t)(r->watched_ms / 1000)),
	  "for how many seconds grown_h was watched", .flags = FIELD_SINCE);
COLUMN_AS(grew, "grew", "grew_ticks", "GREW", AMOUNT, value_signed(r->ticks, r->grew_ticks),
	  "in how many snapshots it grew, of how many", .flags = FIELD_SINCE);

/* Null unless columns of nodes are asked for. */
ROWS(nodes, "nodes", &share_fields, struct node_share, p->nodes, p->nodes ? p->nodes->node : NULL,
     p->nodes ? p->nodes->count : 0, "PSS by NUMA node", 0, .max = {0, NODES_MAX});

static struct value value_gpu(const struct snapshot *s, const struct process *p)
{
	size_t count;
	const struct gpu_part *part = gpu_parts_of(&s->gpu, p->pid, &count);

	return value_rows(p->pid && count, part, count);
}

JSON_FIELD(
	gpu_parts, "gpu_parts", ROWS, value_gpu(s, p),
	"of a process that uses GPUs or has dma-bufs open: what gpu_bytes and dmabuf_bytes are the "
	"sums of",
	.fields = &gpu_part_fields, .row_size = sizeof(struct gpu_part), .flags = FIELD_OPTIONAL);

ROWS(kernel_parts, "kernel_parts", &kernel_part_fields, struct kernel_share, p->kernel,
     p->kernel ? p->kernel->kind : NULL, p->kernel ? KERNEL_KINDS : 0,
     "what kernel_bytes is the sum of, by what it is", FIELD_OPTIONAL, .shown = kernel_part_shown);

/* Fields of groups in JSON. A container and its pod have keys of their own. */
JSON_FIELD(container_part, "container", TEXT, value_text(name_of_pod_part(p->container)),
	   "the container, if all processes are in one", GROUPS_BY(container_part), .max = {0, 64});
JSON_FIELD(pod_part, "pod", TEXT, value_text(name_of_pod_part(p->pod)),
	   "the pod, if all processes are in one", GROUPS_BY(pod_part), .max = {0, 64});
JSON_FIELD(pss_missing, "pss_missing_processes", AMOUNT, value_signed(true, r->pss_missing),
	   "processes without PSS");

/* ---- counters, shares and changes ---- */

static struct value get_counter(const struct field *f, const void *row, const void *of);

static struct value get_change(const struct field *f, const void *row, const void *of)
{
	int64_t by = 0;
	bool known = row_change(row, (enum counter)f->counter, &by);

	(void)of;
	return value_signed(known, by);
}

#define SHARE(name, key, heading, counter, help, ...)                                              \
	FIELD_BY(get_counter, COUNTER_##counter, name, key, key, heading, PERCENT, help,           \
		 __VA_ARGS__)

SHARE(pss_percent, "%pss", "%RAM", PSS, "pss as a share of all RAM", .flags = FIELD_SUMS);
/*
 * A share of swap, not of swap_pss, because swap is known for every process. Swap entries shared by
 * fork count for each process, so the field may add up to more than 100.
 */
SHARE(swap_percent, "%swap", "%SWAP", SWAP, "swap as a share of all swap space",
      .flags = FIELD_SUMS);
SHARE(swap_ratio, "swap_ratio", "SWAP_RATIO", SWAP_RAM,
      "the size of the swapped pages that are not on disk, divided by swap_ram",
      .flags = FIELD_SUMS | FIELD_OWN_WHOLE, NEEDS(SWAP_COSTS));
SHARE(limit_percent, "%limit", "%LIMIT", MEM_CURRENT,
      "mem_current as a share of mem_limit, which is shared if an ancestor cgroup sets it",
      .flags = FIELD_OWN_WHOLE, NEEDS(MEMCG));

SHARE(nearest_percent, "%nearest", "%NEAR", NEAREST_LIMIT,
      "how full nearest_limit is, by the working set of its cgroup", .flags = FIELD_OWN_WHOLE,
      .needs = NEEDS_CHARGES);

/* The ends of keys in JSON, by the unit of the counter. */
#define JSON_BYTES   "_bytes"
#define JSON_AMOUNT  ""
#define JSON_COUNT   "_count"
#define JSON_US	     "_us"
#define JSON_PERCENT ""

/* The keys of counters, by bit; behind them that of PSS by node. */
#define KEY_OF(id, key)                                                                            \
	[COUNTER_##id] = (COUNTER_##id < COUNTERS_OF_PROCESS)	 ? key                             \
			 : (COUNTER_##id == COUNTERS_OF_PROCESS) ? "nodes"                         \
								 : NULL,
static const char *const counter_keys[] = {
#define ZMEM_COUNTER(id, key, heading, unit, ...) KEY_OF(id, #key JSON_##unit)
#include "model/counters.def"
#undef ZMEM_COUNTER
};

/* Counters, and behind them that of PSS by node. */
static struct value value_at_least(counter_mask partial)
{
	const counter_mask counters = COUNTER_BITS;
	const counter_mask nodes = partial & COUNTER_BIT(COUNTER_NODES) ? counters + 1 : 0;

	return value_signed(true, (int64_t)((partial & counters) | nodes));
}

JSON_KNOWN(at_least, "at_least", WORDS, value_at_least(r->partial),
	   "the keys of sums that lack the value of some process", .words = counter_keys);

#undef ROW
#define ROW const struct totals *r = row
ROWS(sum_nodes, "nodes", &share_fields, struct node_share, r->nodes.count, r->nodes.node,
     r->nodes.count, "", 0);
JSON_KNOWN(sum_at_least, "at_least", WORDS, value_at_least(r->partial), "", .words = counter_keys);
JSON_KNOWN(sum_processes, "processes", AMOUNT, value_unsigned(true, r->processes), "");
JSON_KNOWN(sum_missing, "pss_missing_processes", AMOUNT, value_unsigned(true, r->pss_missing), "");
FIELDS(totals_fields, &field_sum_nodes, &field_sum_at_least, &field_sum_processes,
       &field_sum_missing);

/* ---- nodes ---- */

#define NODE(p, n)                                                                                 \
	FIELD_BY(get_counter, COUNTER_NODES, node##n, "node" #n, "node" #n "_bytes", "NODE" #n,    \
		 BYTES, "pss on NUMA node " #n, .flags = FIELD_SUMS | FIELD_ASKED, NEEDS(NODES));
#define NODE_ITEM(p, n) &field_node##n,
EACH_NODE(NODE, )
static const struct field *const node_field[NODES_MAX] = {EACH_NODE(NODE_ITEM, )};

static uint32_t process_field_node(const struct field *f)
{
	uint32_t n = 0;

	while (n < NODES_MAX - 1 && node_field[n] != f)
		n++;
	return n;
}

/* A node without RAM has nothing. */
static struct value node_share(const struct node_shares *nodes, bool known, uint32_t node)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; known && i < nodes->count; i++) {
		if (nodes->node[i].node == node)
			bytes = nodes->node[i].pss;
	}
	return value_bytes(known, bytes);
}

/* A number of either unit is shown alike. */
#define TYPE_BYTES	   BYTES
#define TYPE_AMOUNT	   AMOUNT
#define TYPE_COUNT	   AMOUNT
#define TYPE_US		   AMOUNT
#define TYPE_PERCENT	   PERCENT
#define COUNTER_FIELD(...) FIELD_BY(__VA_ARGS__)

/* Counters of cgroups have no sum: cgroups may lie in one another. */
#define SUMS_OF(id) (COUNTER_##id < COUNTERS_OF_PROCESS ? FIELD_SUMS : 0)
#define ZMEM_COUNTER(id, key, heading, unit, origin, bound, policy, number, needs_, help)          \
	COUNTER_FIELD(get_counter, COUNTER_##id, key, #key, #key JSON_##unit, heading,             \
		      TYPE_##unit, help, .flags = SUMS_OF(id), .needs = needs_);
#include "model/counters.def"
#undef ZMEM_COUNTER

/* How each counter of a process changed. Earlier values of a cgroup's counters are not stored. */
#define FIELD_CHANGE_BYTES  FIELD_CHANGE
#define FIELD_CHANGE_AMOUNT FIELD_GROWTH
#define FIELD_CHANGE_US	    FIELD_GROWTH
#define CHANGE_FIELD(id, key, heading, unit, needs_)                                               \
	FIELD_BY(get_change, COUNTER_##id, key##_change, #key "_change",                           \
		 #key "_change" JSON_##unit, "+" heading, CHANGE_##unit,                           \
		 "by how much " #key " changed", .flags = FIELD_SUMS | FIELD_SINCE,                \
		 .needs = needs_);
#define CHANGE_KERNEL  CHANGE_FIELD
#define CHANGE_ROLLUP  CHANGE_FIELD
#define CHANGE_DERIVED CHANGE_FIELD
#define CHANGE_MEMCG(...)
#define ZMEM_COUNTER(id, key, heading, unit, origin, bound, policy, number, needs, help)           \
	CHANGE_##origin(id, key, heading, unit, needs)
#include "model/counters.def"
#undef ZMEM_COUNTER

/* The whole that a share refers to; false if it is not known. */
static bool whole_of(const struct snapshot *s, const struct field *f, const struct charges *charged,
		     uint64_t *ret)
{
	const struct meminfo *m = &s->system.meminfo;
	enum meminfo_counter whole = f == &field_pss_percent ? MEMINFO_TOTAL : MEMINFO_SWAP_TOTAL;

	if (f == &field_limit_percent) {
		if (!charges_have(charged, COUNTER_MEM_LIMIT))
			return false;
		*ret = charge_value(charged, COUNTER_MEM_LIMIT);
		return true;
	}
	*ret = m->value[whole];
	return meminfo_has(m, whole);
}

static bool ratio_of(counter_mask have, const uint64_t *value, double *ret)
{
	const counter_mask swap = COUNTER_BIT(COUNTER_SWAP_PSS) | COUNTER_BIT(COUNTER_SWAP_DISK) |
				  COUNTER_BIT(COUNTER_SWAP_RAM);

	if ((have & swap) != swap || !value[COUNTER_SWAP_RAM] ||
	    value[COUNTER_SWAP_PSS] < value[COUNTER_SWAP_DISK])
		return false;
	*ret = (double)(value[COUNTER_SWAP_PSS] - value[COUNTER_SWAP_DISK]) /
	       (double)value[COUNTER_SWAP_RAM];
	return true;
}

/* How full a cgroup is; with a limit of 0 it is full. */
static double fullness_of(const struct charges *charged)
{
	double limit = (double)charge_value(charged, COUNTER_NEAREST_LIMIT);

	return limit > 0 ? 100 - 100 * (double)charge_value(charged, COUNTER_MEM_LEFT) / limit
			 : 100;
}

/* The values of a row or of totals, which have no cgroup. */
struct counter_values {
	counter_mask have;
	const uint64_t *value;
	const struct charges *charged;
	const struct node_shares *nodes;
};

static bool is_known(const struct counter_values *v, int c)
{
	return c < COUNTERS_OF_PROCESS || c == COUNTER_NODES
		       ? v->have & COUNTER_BIT(c)
		       : charges_have(v->charged, (enum counter)c);
}

static uint64_t amount_of(const struct counter_values *v, int c)
{
	return c < COUNTERS_OF_PROCESS ? v->value[c] : charge_value(v->charged, (enum counter)c);
}

static struct value percent_of(const struct field *f, const struct snapshot *s,
			       const struct counter_values *c)
{
	struct value v = {.known = is_known(c, f->counter)};
	uint64_t whole;

	if (f == &field_swap_ratio) {
		v.known = ratio_of(c->have, c->value, &v.percent);
	} else if (f == &field_nearest_percent) {
		if (v.known)
			v.percent = fullness_of(c->charged);
	} else if (v.known && counter_table[f->counter].unit == UNIT_PERCENT) {
		v.percent = (double)amount_of(c, f->counter) / 100;
	} else {
		/* Without swap space there is no share of it. */
		v.known = v.known && whole_of(s, f, c->charged, &whole) && whole;
		if (v.known)
			v.percent = 100.0 * (double)amount_of(c, f->counter) / (double)whole;
	}
	return v;
}

static struct value value_of_counter(const struct field *f, const struct snapshot *s,
				     const struct counter_values *c)
{
	bool known = is_known(c, f->counter);
	uint64_t amount;

	if (f->counter == COUNTER_NODES)
		return node_share(c->nodes, known, process_field_node(f));
	if (f->type == FIELD_PERCENT)
		return percent_of(f, s, c);
	amount = known ? amount_of(c, f->counter) : 0;
	return f->type == FIELD_BYTES ? value_bytes(known, amount)
				      : value_signed(known, (int64_t)amount);
}

struct value totals_value(const struct field *f, const struct snapshot *s, const struct totals *t)
{
	return value_of_counter(f, s, &(struct counter_values){t->have, t->value, NULL, &t->nodes});
}

static struct value get_counter(const struct field *f, const void *row, const void *of)
{
	const struct process *p = ((const struct row *)row)->process;

	return value_of_counter(f, of,
				&(struct counter_values){p->have, p->value, p->charged, p->nodes});
}

/* ---- what hurts a cgroup ---- */

static struct value value_strain(const void *row, const void *of, bool degree)
{
	const struct process *p = ((const struct row *)row)->process;
	const struct snapshot *s = of;
	uint32_t much;
	enum memcg_strain strain = memcg_strain(p->charged, s->host.page_size, &much);

	if (degree)
		return value_signed(strain > STRAIN_NONE, much);
	return value_text(memcg_strain_name(strain));
}

JSON_FIELD(strain_degree, "strain_degree", AMOUNT, value_strain(row, of, true), "", NEEDS(CHARGES));
COLUMN(strain, "strain", "STRAIN", TEXT, value_strain(row, of, false),
       "what hurts the cgroup now: throttled (slowed, because it is above memory.high), thrashes "
       "(it reads back what the kernel took), waits (for memory)",
       NEEDS(CHARGES), .order = &field_strain_degree);

/* ---- all fields ---- */

/* Fields of several snapshots are last: process_fields.since. */
#define SINCE_BESIDE_CHANGES 6

#define NAME_FIELDS                                                                                \
	&field_pid, &field_ppid, &field_user, &field_uid, &field_comm, &field_name, &field_app,    \
		&field_cmdline, &field_unit, &field_container, &field_pod, &field_namespace,       \
		&field_cgroup, &field_threads, &field_procs, &field_start, &field_oom_score_adj
#define SHARE_FIELDS                                                                               \
	&field_pss_percent, &field_swap_percent, &field_swap_ratio, &field_limit_percent,          \
		&field_nearest_percent, &field_strain
#define SOURCE_FIELDS                                                                              \
	&field_pss_source, &field_pss_status, &field_mm_id, &field_mm_owner,                       \
		&field_counters_source, STATUS_FIELDS, &field_exe_deleted_status,                  \
		&field_exe_deleted, &field_container_id, &field_container_status
#define GROWTH_FIELDS                                                                              \
	&field_swapin, &field_wait, &field_grown, &field_grown_h, &field_watched, &field_grew

static const struct field *const all[] = {
	NAME_FIELDS,
#define ZMEM_COUNTER(id, key, ...) &field_##key,
#include "model/counters.def"
#undef ZMEM_COUNTER
	EACH_NODE(NODE_ITEM, ) SHARE_FIELDS,
	SOURCE_FIELDS,
#undef CHANGE_FIELD
#define CHANGE_FIELD(id, key, ...)			  &field_##key##_change,
#define ZMEM_COUNTER(id, key, heading, unit, origin, ...) CHANGE_##origin(id, key)
#include "model/counters.def"
#undef ZMEM_COUNTER
	GROWTH_FIELDS,
};
_Static_assert(ARRAY_SIZE(all) <= FIELDS_MAX, "a list can hold all");

/* What other tools call them. */
static const struct field_alias aliases[] = {{"res", "rss"},
					     {"vsz", "vsize"},
					     {"virt", "vsize"},
					     {"%mem", "%pss"},
					     {"args", "cmdline"},
					     {"command", "cmdline"},
					     {"refaults_s", "refaults_per_s"},
					     {"limit_hits_s", "limit_hits_per_s"},
					     {"high_hits_s", "high_hits_per_s"},
					     {"reclaim_s", "reclaimed_per_s"},
					     {}};

const struct fields process_fields = {
	.item = all,
	.count = ARRAY_SIZE(all),
	.since = ARRAY_SIZE(all) - COUNTERS_OF_PROCESS - SINCE_BESIDE_CHANGES,
	.alias = aliases,
};

static const struct field *const counters[] = {
#define ZMEM_COUNTER(id, key, ...) &field_##key,
#include "model/counters.def"
#undef ZMEM_COUNTER
};

const struct fields process_counters = {.item = counters, .count = COUNTERS_OF_PROCESS};

const struct field *process_field(const char *key)
{
	return fields_find(&process_fields, key, strlen(key));
}

bool process_field_of_swap(const struct field *f)
{
	return field_is_counter(f) &&
	       (f->counter == COUNTER_SWAP || f->counter == COUNTER_SWAP_PSS ||
		f->counter == COUNTER_SWAP_SHMEM ||
		COUNTER_BIT(f->counter) & COUNTERS_OF_SWAP_COSTS);
}

/* ---- groups by several columns ---- */

static struct value get_joined(const struct field *f, const void *row, const void *of)
{
	(void)f, (void)of;
	return value_text(((const struct row *)row)->process->joined);
}

static bool has_part(const struct group_keys *keys, size_t count, uint8_t part)
{
	for (size_t i = 0; i < count; i++) {
		if (keys->key[i]->part == part)
			return true;
	}
	return false;
}

/*
 * What a group is of its cgroup. It is one if all its keys are parts of it: then no other key
 * divides the processes of the cgroup.
 */
static uint8_t joined_part(const struct group_keys *keys)
{
	static const uint8_t deepest[] = {PART_CGROUP, PART_CONTAINER, PART_POD, PART_UNIT,
					  PART_NAMESPACE};

	if (has_part(keys, keys->count, PART_NONE))
		return PART_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(deepest); i++) {
		if (has_part(keys, keys->count, deepest[i]))
			return deepest[i];
	}
	return PART_NONE;
}

void group_keys_set(struct group_keys *keys, const struct field *const *key, size_t count)
{
	size_t text = 0, heading = 0;

	keys->count = count;
	keys->joined = (struct field){
		.key = keys->text,
		.json_text = JSON_KEY_TEXT("group"),
		.json_len = JSON_KEY_LEN("group"),
		.heading = keys->heading,
		.help = "the values of the columns that groups have in common",
		.get = get_joined,
		.group = group_joined,
		.type = FIELD_TEXT,
		.flags = FIELD_JOINED,
		.counter = -1,
	};
	for (size_t i = 0; i < count; i++) {
		keys->key[i] = key[i];
		keys->joined.needs |= key[i]->needs;
		text += (size_t)snprintf(keys->text + text, sizeof(keys->text) - text, "%s%s",
					 i ? "," : "", key[i]->key);
		heading +=
			(size_t)snprintf(keys->heading + heading, sizeof(keys->heading) - heading,
					 "%s%s", i ? GROUP_JOINT : "", key[i]->heading);
	}
	keys->joined.part = joined_part(keys);
}

static const struct group_keys *keys_of(const struct field *group)
{
	return (const struct group_keys *)((const char *)group -
					   offsetof(struct group_keys, joined));
}

size_t group_key_count(const struct field *group)
{
	return group->flags & FIELD_JOINED ? keys_of(group)->count : 1;
}

const struct field *group_key(const struct field *group, size_t i)
{
	return group->flags & FIELD_JOINED ? keys_of(group)->key[i] : group;
}

/* Whether a key before this one says what stands before the name of a pod or a container. */
static bool is_prefix_said(const struct group_keys *keys, size_t i)
{
	uint8_t part = keys->key[i]->part;

	return part == PART_CONTAINER ? has_part(keys, i, PART_POD)
				      : part == PART_POD && has_part(keys, i, PART_NAMESPACE);
}

const char *group_key_text(const struct field *group, size_t i, const struct process *p)
{
	const struct field *key = group_key(group, i);
	const char *text = key->group(p);

	if (!(group->flags & FIELD_JOINED))
		return text;
	if (keys_of(group)->numeric && key->needs & NEEDS_USER)
		return NULL;
	return is_prefix_said(keys_of(group), i) ? name_of_pod_part(text) : text;
}

void process_list_keys(struct field_list *list, const struct field *group)
{
	for (size_t i = 0; group && i < group_key_count(group); i++) {
		const struct field *key = group_key(group, i);

		if (group->flags & FIELD_JOINED && is_prefix_said(keys_of(group), i))
			key = key->part == PART_POD ? &field_pod_part : &field_container_part;
		field_list_append(list, &key, 1);
	}
}

/* ---- lists ---- */

FIELDS(columns_usual, &field_pss, &field_pss_percent, &field_uss, &field_swap_pss, &field_rss);
FIELDS(columns_live, &field_pss, &field_pss_percent, &field_uss, &field_swap_pss, &field_swapin,
       &field_wait, &field_rss, &field_grown_h, &field_peak);
FIELDS(columns_long, &field_pss, &field_pss_percent, &field_uss, &field_swap_pss, &field_swap,
       &field_rss, &field_rss_anon, &field_rss_file, &field_rss_shmem, &field_kernel);
FIELDS(columns_grow, &field_pss, &field_grown, &field_grown_h, &field_grew, &field_swap_pss,
       &field_rss);
FIELDS(columns_watch, &field_pss, &field_pss_change, &field_swap_pss, &field_swap_pss_change,
       &field_rss, &field_rss_change);

void process_list_columns(struct field_list *list, const struct fields *counters,
			  const struct field *group)
{
	static const struct field *const identity[] = {&field_pid, &field_user};
	static const struct field *const charge[] = {&field_mem_current, &field_nearest_limit,
						     &field_limit_up, &field_nearest_percent};
	static const struct field *const parts[] = {&field_mem_anon, &field_mem_file,
						    &field_mem_shmem, &field_mem_kernel};
	const struct field *procs = &field_procs, *name = group ? group : &field_name;
	/* A namespace is no cgroup. */
	bool charged = counters != &columns_watch && group_is_memcg(group) &&
		       group->part != PART_NAMESPACE;
	/* Processes of a group had their peaks at different times. */
	size_t count = counters->count - (group && counters == &columns_live);

	*list = (struct field_list){};
	field_list_append(list, group ? &procs : identity, group ? 1 : ARRAY_SIZE(identity));
	field_list_append(list, counters->item, 2);
	if (charged)
		field_list_append(list, charge, ARRAY_SIZE(charge));
	field_list_append(list, counters->item + 2, count - 2);
	if (charged)
		field_list_append(list, parts, ARRAY_SIZE(parts));
	field_list_append(list, &name, 1);
}

void process_list_cgroups(struct field_list *list)
{
	static const struct field *const columns[] = {
		&field_strain,	 &field_nearest_percent, &field_mem_left, &field_nearest_limit,
		&field_limit_up, &field_mem_current,	 &field_mem_anon, &field_mem_shmem,
		&field_mem_file, &field_mem_kernel,	 &field_mem_swap, &field_procs,
		&field_cgroup,
	};

	*list = (struct field_list){};
	field_list_append(list, columns, ARRAY_SIZE(columns));
}

/* All of them, of a cgroup with what they say. */
static void append_counters(struct field_list *list, const struct field *group)
{
	const struct field *strain = &field_strain;
	bool charged = group_is_memcg(group);

	field_list_append(list, counters, charged ? COUNTER_COUNT : COUNTERS_OF_PROCESS);
	field_list_append(list, &strain, charged);
}

void process_list_whole(struct field_list *list, const struct field *group)
{
	static const struct field *const identity[] = {&field_pid,
						       &field_ppid,
						       &field_uid,
						       &field_user,
						       &field_comm,
						       &field_name,
						       &field_start,
						       &field_threads,
						       &field_oom_score_adj,
						       &field_cgroup,
						       &field_unit,
						       &field_container,
						       &field_container_id,
						       &field_container_status,
						       &field_pod,
						       &field_namespace,
						       &field_mm_id,
						       &field_mm_owner,
						       &field_counters_source,
						       &field_pss_source,
						       &field_pss_status,
						       STATUS_FIELDS,
						       &field_exe_deleted_status,
						       &field_exe_deleted};
	static const struct field *const of_groups[] = {&field_procs, &field_threads,
							&field_pss_status, STATUS_FIELDS};

	*list = (struct field_list){};
	process_list_keys(list, group);
	field_list_append(list, group ? of_groups : identity,
			  group ? ARRAY_SIZE(of_groups) : ARRAY_SIZE(identity));
	append_counters(list, group);
}

void process_list_json(struct field_list *list, const struct field *group, bool app)
{
	static const struct field *const names[] = {&field_container_part, &field_container_id,
						    &field_pod_part, &field_namespace};
	static const struct field *const of_groups[] = {
		&field_procs,	   &field_pss_missing, &field_threads, &field_counters_source,
		&field_pss_source, &field_pss_status,  STATUS_FIELDS};
	static const struct field *const gpu_parts = &field_gpu_parts;
	const struct field *nodes = &field_nodes, *at_least = &field_at_least;
	const struct field *kernel = &field_kernel_parts;
	size_t at = 0;

	if (!group) {
		process_list_whole(list, NULL);
		while (list->item[at++] != &field_name)
			;
		field_list_insert(list, at, &field_cmdline);
		if (app)
			field_list_insert(list, at, &field_app);
		field_list_append(list, &nodes, 1);
		field_list_append(list, &gpu_parts, 1);
		field_list_append(list, &kernel, 1);
		return;
	}
	*list = (struct field_list){};
	if (group->flags & FIELD_JOINED)
		process_list_keys(list, group);
	else if (group_is_memcg(group))
		field_list_append(list, names, ARRAY_SIZE(names));
	field_list_append(list, of_groups, ARRAY_SIZE(of_groups));
	append_counters(list, group);
	field_list_append(list, &nodes, 1);
	field_list_append(list, &kernel, 1);
	field_list_append(list, &at_least, 1);
}

const struct field *process_list_misplaced(const struct field_list *list, const struct field *group)
{
	if (group_is_memcg(group))
		return NULL;
	for (size_t i = 0; i < list->count; i++) {
		if (list->item[i]->needs & NEEDS_MEMCG)
			return list->item[i];
	}
	return NULL;
}
