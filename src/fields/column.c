// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Defines the columns: how each is read from a process, and lists of columns. */
#include "fields/column.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"

#define NS_PER_MS 1000000

#define TEXT_OF(key, expression)                                                                   \
	static const char *text_##key(const struct process *p)                                     \
	{                                                                                          \
		return expression;                                                                 \
	}
TEXT_OF(user, p->user)
TEXT_OF(comm, p->pid ? p->comm : NULL)
TEXT_OF(name, p->name)
TEXT_OF(cmdline, p->cmdline)
TEXT_OF(unit, p->unit)
TEXT_OF(container, p->container)
TEXT_OF(container_id, p->container_id)
TEXT_OF(container_status, container_status_name(p->container_status))
TEXT_OF(pod, p->pod)
TEXT_OF(namespace, p->space)
TEXT_OF(cgroup, p->cgroup)
TEXT_OF(pss_source, pss_source_name(p->pss_source))
TEXT_OF(pss_status, pss_status_name(p->pss_status))
TEXT_OF(swap_pss_status, pss_status_name(process_swap_pss_status(p)))
TEXT_OF(swap_ram_status, pss_status_name(process_swap_ram_status(p)))
TEXT_OF(counters_source, origin_name(p->counters_source))
TEXT_OF(exe_deleted, p->exe == EXE_UNKNOWN ? NULL : p->exe == EXE_DELETED ? "true" : "false")
TEXT_OF(mm_owner, !p->pid ? NULL : p->mm_owner ? "true" : "false")

#define NUMBER_OF(key, expression, known)                                                          \
	static bool number_##key(const struct snapshot *s, const struct row *r, int64_t *ret)      \
	{                                                                                          \
		const struct process *p = r->process;                                              \
		(void)s, (void)p;                                                                  \
		if (!(known))                                                                      \
			return false;                                                              \
		*ret = (int64_t)(expression);                                                      \
		return true;                                                                       \
	}
/* A group is not a process: it has no pid, parent or start time. */
NUMBER_OF(pid, p->pid, p->pid)
NUMBER_OF(ppid, p->ppid, p->pid)
NUMBER_OF(uid, p->uid, p->uid != UID_NONE)
NUMBER_OF(threads, p->threads, true)
NUMBER_OF(procs, row_processes(r), true)
NUMBER_OF(start, s->host.boot_ms + p->start_ns / NS_PER_MS, p->pid && s->host.boot_ms)
NUMBER_OF(oom_score_adj, p->oom_score_adj, p->pid)
NUMBER_OF(mm_id, p->mm_id, p->mm_id)
NUMBER_OF(grew, r->grew_ticks, r->ticks)

#define NUMBER_AS(key_, json_key_, header_, kind_, most_first_, help_)                             \
	static const struct column column_##key_ = {.key = #key_,                                  \
						    .json_key = json_key_,                         \
						    .header = header_,                             \
						    .help = help_,                                 \
						    .kind = kind_,                                 \
						    .most_first = most_first_,                     \
						    .number = number_##key_}
#define NUMBER(key_, header_, help_) NUMBER_AS(key_, #key_, header_, COLUMN_NUMBER, false, help_)
#define AMOUNT(key_, header_, help_) NUMBER_AS(key_, #key_, header_, COLUMN_NUMBER, true, help_)
#define TEXT(key_, header_, needs_, help_)                                                         \
	static const struct column column_##key_ = {.key = #key_,                                  \
						    .json_key = #key_,                             \
						    .header = header_,                             \
						    .help = help_,                                 \
						    .kind = COLUMN_TEXT,                           \
						    .needs = needs_,                               \
						    .text = text_##key_}

NUMBER(pid, "PID", "process id, in our pid namespace");
NUMBER(ppid, "PPID", "pid of the parent, 0 if it is outside our pid namespace");
TEXT(user, "USER", NEEDS_USER, "name of the effective user");
NUMBER(uid, "UID", "effective user id");
TEXT(comm, "COMM", 0, "what the kernel calls the process, 15 bytes at most");
TEXT(name, "NAME", NEEDS_PROGRAM, "program: base name of the executable, or of the script it runs");
TEXT(cmdline, "CMDLINE", NEEDS_CMDLINE, "arguments; may hold secrets");
TEXT(unit, "UNIT", NEEDS_CGROUP, "systemd unit");
TEXT(container, "CONTAINER", NEEDS_CGROUP, "name of the container, or the beginning of its id");
TEXT(pod, "POD", NEEDS_CGROUP, "Kubernetes pod");
TEXT(namespace, "NAMESPACE", NEEDS_CGROUP, "Kubernetes namespace of the pod");
TEXT(container_id, "CONTAINER_ID", NEEDS_CGROUP, "id of the container, where it has one");
TEXT(container_status, "CONTAINER_STATUS", NEEDS_CGROUP,
     "ok, or why the container with this id has no name");
TEXT(cgroup, "CGROUP", NEEDS_CGROUP, "path of the memory cgroup");
AMOUNT(threads, "THREADS", "threads, exiting ones included");
AMOUNT(procs, "PROCS", "processes of the group, or of the tree below");
NUMBER_AS(start, "start_time_ms", "START", COLUMN_TIME, false, "when the process started");
AMOUNT(oom_score_adj, "OOM_SCORE_ADJ",
       "how readily the kernel kills the process, from -1000 (never) to 1000");
TEXT(pss_source, "PSS_SOURCE", 0, "where PSS came from: kernel or smaps_rollup");
TEXT(pss_status, "PSS_STATUS", 0, "ok, or why there is no PSS");
TEXT(swap_pss_status, "SWAP_PSS_STATUS", 0, "ok, or why there is no swap_pss");
TEXT(swap_ram_status, "SWAP_RAM_STATUS", 0, "ok, or why there is no swap_ram");
TEXT(counters_source, "COUNTERS_SOURCE", 0, "where the counters came from: bpf or proc");
NUMBER(mm_id, "MM_ID", "the same for processes that share an address space");
TEXT(exe_deleted, "EXE_DELETED", 0,
     "true if the executable was removed or replaced since the process started");
TEXT(mm_owner, "MM_OWNER", 0, "true for the process that represents its address space in totals");

static const struct column column_pss_percent = {
	.key = "%pss",
	.json_key = "%pss",
	.header = "%RAM",
	.help = "pss as a share of all RAM",
	.kind = COLUMN_PERCENT,
	.counter = COUNTER_PSS,
};

/*
 * A share of swap, not of swap_pss, because swap is known for every process. Swap entries shared by
 * fork count for each process, so the column may add up to more than 100.
 */
static const struct column column_swap_percent = {
	.key = "%swap",
	.json_key = "%swap",
	.header = "%SWAP",
	.help = "swap as a share of all swap space",
	.kind = COLUMN_PERCENT,
	.counter = COUNTER_SWAP,
};

static const struct column column_swap_ratio = {
	.key = "swap_ratio",
	.json_key = "swap_ratio",
	.header = "SWAP_RATIO",
	.help = "the size of the swapped pages that are not on disk, divided by swap_ram",
	.kind = COLUMN_PERCENT,
	.counter = COUNTER_SWAP_RAM,
	.needs = NEEDS_SWAP_COSTS,
	.own_whole = true,
};

static const struct column column_limit_percent = {
	.key = "%limit",
	.json_key = "%limit",
	.header = "%LIMIT",
	.help = "mem_current as a share of mem_limit, which is shared if an ancestor cgroup sets it",
	.kind = COLUMN_PERCENT,
	.counter = COUNTER_MEM_CURRENT,
	.needs = NEEDS_MEMCG,
	.own_whole = true,
};

#define NEEDS_OF(id)                                                                               \
	(COUNTER_##id >= COUNTER_MEM_HIGH		      ? NEEDS_MEMCG | NEEDS_MEMCG_DETAIL   \
	 : COUNTER_##id >= COUNTERS_OF_PROCESS		      ? NEEDS_MEMCG                        \
	 : COUNTER_##id == COUNTER_SWAP_SHMEM		      ? NEEDS_SWAP_SHMEM                   \
	 : COUNTER_BIT(COUNTER_##id) & COUNTERS_OF_SWAP_COSTS ? NEEDS_SWAP_COSTS                   \
							      : 0)
#define ZMEM_COUNTER(id_, key_, header_, origin_, bound_, policy_, help_)                          \
	static const struct column column_##key_ = {.key = #key_,                                  \
						    .json_key = #key_ "_bytes",                    \
						    .header = header_,                             \
						    .help = help_,                                 \
						    .kind = COLUMN_COUNTER,                        \
						    .counter = COUNTER_##id_,                      \
						    .needs = NEEDS_OF(id_)};
#define ZMEM_COUNT(id_, key_, header_, origin_, bound_, policy_, help_)                            \
	static const struct column column_##key_ = {.key = #key_,                                  \
						    .json_key = #key_,                             \
						    .header = header_,                             \
						    .help = help_,                                 \
						    .kind = COLUMN_COUNTER,                        \
						    .counter = COUNTER_##id_,                      \
						    .is_count = true,                              \
						    .needs = NEEDS_OF(id_)};
#define ZMEM_PERCENT(id_, key_, header_, origin_, bound_, policy_, help_)                          \
	static const struct column column_##key_ = {.key = #key_,                                  \
						    .json_key = #key_,                             \
						    .header = header_,                             \
						    .help = help_,                                 \
						    .kind = COLUMN_PERCENT,                        \
						    .counter = COUNTER_##id_,                      \
						    .needs = NEEDS_OF(id_)};
#include "model/counters.def"
#undef ZMEM_COUNTER

const struct column *const column_table[] = {
	&column_pid,
	&column_ppid,
	&column_user,
	&column_uid,
	&column_comm,
	&column_name,
	&column_cmdline,
	&column_unit,
	&column_container,
	&column_pod,
	&column_namespace,
	&column_cgroup,
	&column_threads,
	&column_procs,
	&column_start,
	&column_oom_score_adj,
#define ZMEM_COUNTER(id_, key_, header_, origin_, bound_, policy_, help_) &column_##key_,
#include "model/counters.def"
#undef ZMEM_COUNTER
	&column_pss_percent,
	&column_swap_percent,
	&column_swap_ratio,
	&column_limit_percent,
	&column_pss_source,
	&column_pss_status,
	&column_mm_id,
	&column_mm_owner,
	&column_counters_source,
	&column_swap_pss_status,
	&column_swap_ram_status,
	&column_exe_deleted,
	&column_container_id,
	&column_container_status,
};
const size_t column_count = ARRAY_SIZE(column_table);

/* How each counter of a process changed. Earlier values of a cgroup's counters are not stored. */
#define ZMEM_COUNTER(id_, key_, header_, origin_, bound_, policy_, help_)                          \
	static const struct column column_##key_##_change = {.key = #key_ "_change",               \
							     .json_key = #key_ "_change_bytes",    \
							     .header = "+" header_,                \
							     .help = "by how much " #key_          \
								     " changed",                   \
							     .kind = COLUMN_CHANGE,                \
							     .counter = COUNTER_##id_,             \
							     .needs = NEEDS_OF(id_)};
#define ZMEM_COUNT(id_, key_, header_, origin_, bound_, policy_, help_)                            \
	static const struct column column_##key_##_change = {.key = #key_ "_change",               \
							     .json_key = #key_ "_change",          \
							     .header = "+" header_,                \
							     .help = "by how much " #key_          \
								     " changed",                   \
							     .kind = COLUMN_CHANGE,                \
							     .counter = COUNTER_##id_,             \
							     .is_count = true};
#include "model/counters.def"
#undef ZMEM_COUNTER

const struct column column_grew = {
	.key = "grew",
	.json_key = "grew_ticks",
	.header = "GREW",
	.help = "in how many snapshots PSS and swap grew, of how many",
	.kind = COLUMN_NUMBER,
	.most_first = true,
	.number = number_grew,
};

const struct column *const column_changes[COUNTER_COUNT] = {
#define ZMEM_COUNTER(id_, key_, header_, origin_, bound_, policy_, help_) &column_##key_##_change,
#include "model/counters.def"
#undef ZMEM_COUNTER
};
_Static_assert(ARRAY_SIZE(column_table) + COUNTERS_OF_PROCESS <= COLUMNS_MAX,
	       "a list must be able to hold all");

/* What other tools call a column. */
static const struct column *find_alias(const char *key, size_t len)
{
	static const struct {
		const char *key;
		const struct column *column;
	} alias[] = {{"res", &column_rss},	{"vsz", &column_vsize},
		     {"virt", &column_vsize},	{"%mem", &column_pss_percent},
		     {"args", &column_cmdline}, {"command", &column_cmdline}};

	for (size_t i = 0; i < ARRAY_SIZE(alias); i++) {
		if (parse_same_word(alias[i].key, key, len))
			return alias[i].column;
	}
	return NULL;
}

/* The heading of a table, such as %RAM or PSI_SOME, where it is not the key. */
static const struct column *find_header(const char *header, size_t len)
{
	const struct column *found = NULL;

	for (size_t i = 0; i < column_count; i++) {
		if (!parse_same_word(column_table[i]->header, header, len))
			continue;
		if (found)
			return NULL;
		found = column_table[i];
	}
	return found;
}

const char *column_text(const struct column *c, const struct process *p)
{
	const char *text = c->text(p);

	return p->pid && (c == &column_container || c == &column_pod) ? name_of_pod_part(text)
								      : text;
}

const struct column *column_find(const char *key, size_t len)
{
	const struct column *alias;

	for (size_t i = 0; i < column_count; i++) {
		if (parse_same_word(column_table[i]->key, key, len))
			return column_table[i];
	}
	for (size_t i = 0; i < COUNTERS_OF_PROCESS; i++) {
		if (parse_same_word(column_changes[i]->key, key, len))
			return column_changes[i];
	}
	if (parse_same_word(column_grew.key, key, len))
		return &column_grew;
	alias = find_alias(key, len);
	return alias ? alias : find_header(key, len);
}

const struct column *column_nearest(const char *key, size_t len)
{
	const struct column *nearest = NULL;
	unsigned least = 0;

	for (size_t i = 0; i < column_count; i++) {
		if (parse_is_nearer(column_table[i]->key, key, len, &least))
			nearest = column_table[i];
	}
	return nearest;
}

/* Returns the whole that a percentage refers to; false if it is not known. */
static bool whole_of(const struct snapshot *s, const struct column *c, counter_mask have,
		     const uint64_t *value, uint64_t *ret)
{
	const struct meminfo *m = &s->system.meminfo;
	enum meminfo_counter whole = c == &column_pss_percent ? MEMINFO_TOTAL : MEMINFO_SWAP_TOTAL;

	if (c == &column_limit_percent) {
		*ret = value[COUNTER_MEM_LIMIT];
		return have & COUNTER_BIT(COUNTER_MEM_LIMIT);
	}
	*ret = m->value[whole];
	return meminfo_has(m, whole);
}

bool column_percent(const struct snapshot *s, const struct column *c, counter_mask have,
		    const uint64_t *value, double *ret_percent)
{
	const counter_mask swap = COUNTER_BIT(COUNTER_SWAP_PSS) | COUNTER_BIT(COUNTER_SWAP_DISK) |
				  COUNTER_BIT(COUNTER_SWAP_RAM);
	uint64_t whole;

	if (c == &column_swap_ratio) {
		if ((have & swap) != swap || !value[COUNTER_SWAP_RAM] ||
		    value[COUNTER_SWAP_PSS] < value[COUNTER_SWAP_DISK])
			return false;
		*ret_percent = (double)(value[COUNTER_SWAP_PSS] - value[COUNTER_SWAP_DISK]) /
			       (double)value[COUNTER_SWAP_RAM];
		return true;
	}
	if (counter_table[c->counter].is_percent) {
		*ret_percent = (double)value[c->counter] / 100;
		return have & COUNTER_BIT(c->counter);
	}
	/* Without swap space there is no share of it. */
	if (!(have & COUNTER_BIT(c->counter)) || !whole_of(s, c, have, value, &whole) || !whole)
		return false;
	*ret_percent = 100.0 * (double)value[c->counter] / (double)whole;
	return true;
}

bool column_list_has(const struct column_list *list, const struct column *c)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->item[i] == c)
			return true;
	}
	return false;
}

/* A position before the last column if that is a text, which has no maximum width. */
static size_t insert_position(const struct column_list *list)
{
	size_t last = list->count - 1;

	return list->count && list->item[last]->kind == COLUMN_TEXT ? last : list->count;
}

/* Command lines are too long to stand before other columns. */
static void list_add(struct column_list *list, const struct column *c)
{
	size_t at = c->needs & NEEDS_CMDLINE ? list->count : insert_position(list);

	memmove(list->item + at + 1, list->item + at, (list->count - at) * sizeof(*list->item));
	list->item[at] = c;
	list->count++;
}

/* Whether rows that are sorted by the column begin with the largest value. */
static bool is_amount(const struct column *c)
{
	return c->kind == COLUMN_COUNTER || c->kind == COLUMN_PERCENT || c->kind == COLUMN_CHANGE ||
	       c->most_first;
}

static int parse_list(struct column_list *list, const char *spec, bool keys, const char **ret_bad,
		      size_t *ret_bad_len)
{
	const char *pos = spec, *item = spec + strspn(spec, " \t");
	bool append = *item == '+';
	struct column_list l = append ? *list : (struct column_list){0};
	size_t len = 0;

	while ((item = parse_item(&pos, &len))) {
		size_t plus = append && *item == '+';
		size_t sign = keys && *item == '-' ? 1 : plus;
		const struct column *c = column_find(item + sign, len - sign);

		if (c && sign > plus && !is_amount(c))
			c = NULL;
		/* Appending a column that the list already has does nothing. */
		if (c && append && column_list_has(&l, c))
			continue;
		if (!c || l.count == COLUMNS_MAX) {
			*ret_bad = item;
			*ret_bad_len = len;
			return -EINVAL;
		}
		if (append)
			list_add(&l, c);
		else
			l.item[l.count++] = c;
	}
	if (!l.count) {
		*ret_bad = spec;
		*ret_bad_len = strlen(spec);
		return -EINVAL;
	}
	*list = l;
	return 0;
}

int column_list_parse(struct column_list *list, const char *spec, const char **ret_bad,
		      size_t *ret_bad_len)
{
	return parse_list(list, spec, false, ret_bad, ret_bad_len);
}

int column_list_parse_keys(struct column_list *list, const char *spec, const char **ret_bad,
			   size_t *ret_bad_len)
{
	return parse_list(list, spec, true, ret_bad, ret_bad_len);
}

/* True for groups by cgroup, unit, container or pod, which have counters of their memcg. */
static bool is_memcg_group(const struct column *group)
{
	return group->needs & NEEDS_CGROUP;
}

static void list_append(struct column_list *list, const struct column *const *columns, size_t count)
{
	memcpy(list->item + list->count, columns, count * sizeof(*columns));
	list->count += count;
}

/* Identity, the first counters, the charge and the limit of cgroups, more counters, what fills the
 * cgroups, the name. A narrow terminal shows the first of them. */
static void list_build(struct column_list *list, const struct column *group,
		       const struct column *const *counters, size_t count, bool memcg)
{
	static const struct column *const identity[] = {&column_pid, &column_user};
	static const struct column *const charge[] = {&column_mem_current, &column_mem_limit,
						      &column_limit_percent};
	static const struct column *const parts[] = {&column_mem_anon, &column_mem_file,
						     &column_mem_shmem};
	const struct column *procs = &column_procs, *name = group ? group : &column_name;
	/* A namespace is no cgroup. */
	bool charged = memcg && group && is_memcg_group(group) && group != &column_namespace;

	list->count = 0;
	list_append(list, group ? &procs : identity, group ? 1 : ARRAY_SIZE(identity));
	list_append(list, counters, 2);
	if (charged)
		list_append(list, charge, ARRAY_SIZE(charge));
	list_append(list, counters + 2, count - 2);
	if (charged)
		list_append(list, parts, ARRAY_SIZE(parts));
	list_append(list, &name, 1);
}

void column_list_default(struct column_list *list, const struct column *group)
{
	static const struct column *const counters[] = {
		&column_pss, &column_pss_percent, &column_uss, &column_swap_pss, &column_rss,
	};

	list_build(list, group, counters, ARRAY_SIZE(counters), true);
}

void column_list_long(struct column_list *list, const struct column *group)
{
	static const struct column *const counters[] = {
		&column_pss, &column_pss_percent, &column_uss,	    &column_swap_pss,  &column_swap,
		&column_rss, &column_rss_anon,	  &column_rss_file, &column_rss_shmem,
	};

	list_build(list, group, counters, ARRAY_SIZE(counters), true);
}

void column_list_watch(struct column_list *list, const struct column *group)
{
	static const struct column *const counters[] = {
		&column_pss, &column_pss_change, &column_swap_pss, &column_swap_pss_change,
		&column_rss, &column_rss_change,
	};

	list_build(list, group, counters, ARRAY_SIZE(counters), false);
}

void column_list_insert(struct column_list *list, size_t at, const struct column *c)
{
	if (column_list_has(list, c))
		return;
	memmove(list->item + at + 1, list->item + at, (list->count - at) * sizeof(*list->item));
	list->item[at] = c;
	list->count++;
}

bool column_list_changes(const struct column_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->item[i]->kind == COLUMN_CHANGE || list->item[i] == &column_grew)
			return true;
	}
	return false;
}

void column_list_whole(struct column_list *list, const struct column *group)
{
	static const struct column *const identity[] = {
		&column_pid,
		&column_ppid,
		&column_uid,
		&column_user,
		&column_comm,
		&column_name,
		&column_start,
		&column_threads,
		&column_oom_score_adj,
		&column_cgroup,
		&column_unit,
		&column_container,
		&column_container_id,
		&column_container_status,
		&column_pod,
		&column_namespace,
		&column_mm_id,
		&column_mm_owner,
		&column_counters_source,
		&column_pss_source,
		&column_pss_status,
		&column_swap_pss_status,
		&column_swap_ram_status,
		&column_exe_deleted,
	};
	static const struct column *const group_columns[] = {&column_procs, &column_threads,
							     &column_pss_status};
	static const struct column *const counters[] = {
#define ZMEM_COUNTER(id_, key_, header_, origin_, bound_, policy_, help_) &column_##key_,
#include "model/counters.def"
#undef ZMEM_COUNTER
	};
	bool memcg_group = group && is_memcg_group(group);

	list->count = 0;
	if (group)
		list_append(list, &group, 1);
	list_append(list, group ? group_columns : identity,
		    group ? ARRAY_SIZE(group_columns) : ARRAY_SIZE(identity));
	list_append(list, counters, memcg_group ? COUNTER_COUNT : COUNTERS_OF_PROCESS);
}

const struct column *column_list_misplaced(const struct column_list *list,
					   const struct column *group)
{
	if (group && is_memcg_group(group))
		return NULL;
	for (size_t i = 0; i < list->count; i++) {
		if (list->item[i]->needs & NEEDS_MEMCG)
			return list->item[i];
	}
	return NULL;
}

unsigned column_list_needs(const struct column_list *list)
{
	unsigned needs = 0;

	for (size_t i = 0; i < list->count; i++)
		needs |= list->item[i]->needs;
	return needs;
}
