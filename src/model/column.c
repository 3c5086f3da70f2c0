// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a row can say. Knows how each column is read from a process; refuses to know how it is
 * written and which ones are asked for.
 */
#include "model/column.h"

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
TEXT_OF(cgroup, p->cgroup)
TEXT_OF(pss_source, pss_source_name(p->pss_source))
TEXT_OF(pss_status, pss_status_name(p->pss_status))
TEXT_OF(swap_pss_status, pss_status_name(process_swap_pss_status(p)))
TEXT_OF(counters_source, origin_name(p->counters_source))
TEXT_OF(mm_owner, !p->pid ? NULL : p->mm_owner ? "true" : "false")

#define NUMBER_OF(key, expression, known)                                                          \
	static bool number_##key(const struct snapshot *s, const struct process *p, int64_t *ret)  \
	{                                                                                          \
		(void)s;                                                                           \
		if (!(known))                                                                      \
			return false;                                                              \
		*ret = (int64_t)(expression);                                                      \
		return true;                                                                       \
	}
/* A group is no process and has no number, parent or start. */
NUMBER_OF(pid, p->pid, p->pid)
NUMBER_OF(ppid, p->ppid, p->pid)
NUMBER_OF(uid, p->uid, p->uid != UID_NONE)
NUMBER_OF(threads, p->threads, true)
NUMBER_OF(procs, process_count(p), true)
NUMBER_OF(start, s->host.boot_ms + p->start_ns / NS_PER_MS, p->pid && s->host.boot_ms)
NUMBER_OF(oom_score_adj, p->oom_score_adj, p->pid)
NUMBER_OF(mm_id, p->mm_id, p->mm_id)

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
NUMBER(ppid, "PPID", "the parent's, 0 if it is outside our pid namespace");
TEXT(user, "USER", NEEDS_USER, "name of the effective user");
NUMBER(uid, "UID", "effective user id");
TEXT(comm, "COMM", 0, "what the kernel calls the process, 15 bytes at most");
TEXT(name, "NAME", NEEDS_PROGRAM, "program: base name of the executable, or of the script it runs");
TEXT(cmdline, "CMDLINE", NEEDS_CMDLINE, "arguments; may hold secrets");
TEXT(unit, "UNIT", NEEDS_CGROUP, "systemd unit");
TEXT(container, "CONTAINER", NEEDS_CGROUP, "id or name of the container");
TEXT(cgroup, "CGROUP", NEEDS_CGROUP, "path of the memory cgroup");
AMOUNT(threads, "THREADS", "threads, exiting ones included");
AMOUNT(procs, "PROCS", "processes of the group, or of the tree below");
NUMBER_AS(start, "start_time_ms", "START", COLUMN_TIME, false, "when the process started");
AMOUNT(oom_score_adj, "OOM_SCORE_ADJ",
       "how willingly the kernel kills it, from -1000 (never) to 1000");
TEXT(pss_source, "PSS_SOURCE", 0, "where PSS came from: kernel or smaps_rollup");
TEXT(pss_status, "PSS_STATUS", 0, "ok, or why there is no PSS");
TEXT(swap_pss_status, "SWAP_PSS_STATUS", 0, "ok, or why there is no swap_pss");
TEXT(counters_source, "COUNTERS_SOURCE", 0, "where the counters came from: bpf or proc");
NUMBER(mm_id, "MM_ID", "the same for processes that share an address space");
TEXT(mm_owner, "MM_OWNER", 0, "true for the one of them that carries it in totals");

/* A share of all RAM. */
static const struct column column_pss_percent = {
	.key = "%pss",
	.json_key = "%pss",
	.header = "%PSS",
	.help = "pss as a share of all RAM",
	.kind = COLUMN_PERCENT,
	.counter = COUNTER_PSS,
};

/*
 * Of swap and not of swap_pss, since that is known of every process. What processes share by fork
 * counts for each of them, so the column may add up to more than 100.
 */
static const struct column column_swap_percent = {
	.key = "%swap",
	.json_key = "%swap",
	.header = "%SWAP",
	.help = "swap as a share of all swap space",
	.kind = COLUMN_PERCENT,
	.counter = COUNTER_SWAP,
};

static const struct column column_limit_percent = {
	.key = "%limit",
	.json_key = "%limit",
	.header = "%LIMIT",
	.help = "mem_current as a share of mem_limit, which others may share if it is of a cgroup above",
	.kind = COLUMN_PERCENT,
	.counter = COUNTER_MEM_CURRENT,
	.needs = NEEDS_MEMCG,
};

#define NEEDS_OF(origin) ((origin) == ORIGIN_MEMCG ? NEEDS_MEMCG : 0)
#define ZMEM_COUNTER(id_, key_, header_, origin_, bound_, policy_, help_)                          \
	static const struct column column_##key_ = {.key = #key_,                                  \
						    .json_key = #key_ "_bytes",                    \
						    .header = header_,                             \
						    .help = help_,                                 \
						    .kind = COLUMN_COUNTER,                        \
						    .counter = COUNTER_##id_,                      \
						    .needs = NEEDS_OF(ORIGIN_##origin_)};
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
	&column_limit_percent,
	&column_pss_source,
	&column_pss_status,
	&column_mm_id,
	&column_mm_owner,
	&column_counters_source,
	&column_swap_pss_status,
};
const size_t column_count = ARRAY_SIZE(column_table);

/* How each counter of a process changed; of a cgroup's nobody keeps what they were. */
#define ZMEM_COUNTER(id_, key_, header_, origin_, bound_, policy_, help_)                          \
	static const struct column column_##key_##_change = {.key = #key_ "_change",               \
							     .json_key = #key_ "_change_bytes",    \
							     .header = "+" header_,                \
							     .help = "by how much " #key_          \
								     " changed",                   \
							     .kind = COLUMN_CHANGE,                \
							     .counter = COUNTER_##id_,             \
							     .needs = NEEDS_OF(ORIGIN_##origin_)};
#include "model/counters.def"
#undef ZMEM_COUNTER

const struct column *const column_changes[COUNTER_COUNT] = {
#define ZMEM_COUNTER(id_, key_, header_, origin_, bound_, policy_, help_) &column_##key_##_change,
#include "model/counters.def"
#undef ZMEM_COUNTER
};
_Static_assert(ARRAY_SIZE(column_table) + COUNTERS_OF_PROCESS <= COLUMNS_MAX,
	       "a list must be able to hold all");

const struct column *column_find(const char *key, size_t len)
{
	for (size_t i = 0; i < column_count; i++) {
		if (parse_same_word(column_table[i]->key, key, len))
			return column_table[i];
	}
	for (size_t i = 0; i < COUNTERS_OF_PROCESS; i++) {
		if (parse_same_word(column_changes[i]->key, key, len))
			return column_changes[i];
	}
	return NULL;
}

/* What a column is a share of; false if that is not known. */
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
	uint64_t whole;

	/* Without any swap space there is no share of it. */
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

int column_list_parse(struct column_list *list, const char *spec, const char **ret_bad,
		      size_t *ret_bad_len)
{
	const char *pos = spec, *item = spec + strspn(spec, " \t");
	bool append = *item == '+';
	struct column_list l = append ? *list : (struct column_list){0};
	size_t len = 0;

	while ((item = parse_item(&pos, &len))) {
		size_t plus = append && *item == '+';
		const struct column *c = column_find(item + plus, len - plus);

		/* Whoever appends wants to see it, not to see it twice. */
		if (c && append && column_list_has(&l, c))
			continue;
		if (!c || l.count == COLUMNS_MAX) {
			*ret_bad = item;
			*ret_bad_len = len;
			return -EINVAL;
		}
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

/* Groups of a cgroup, unit or container: what the memory controller says of it is worth a column.
 */
static bool is_controlled(const struct column *group)
{
	return group->needs & NEEDS_CGROUP;
}

static void list_put(struct column_list *list, const struct column *const *columns, size_t count)
{
	memcpy(list->item + list->count, columns, count * sizeof(*columns));
	list->count += count;
}

/* Who it is, some values, what the controller says where it says anything, the name. */
static void list_make(struct column_list *list, const struct column *group,
		      const struct column *const *counters, size_t count, bool controller)
{
	static const struct column *const who[] = {&column_pid, &column_user};
	static const struct column *const charged[] = {&column_mem_current, &column_mem_limit,
						       &column_limit_percent};
	const struct column *procs = &column_procs, *name = group ? group : &column_name;

	list->count = 0;
	list_put(list, group ? &procs : who, group ? 1 : ARRAY_SIZE(who));
	list_put(list, counters, count);
	if (controller && group && is_controlled(group))
		list_put(list, charged, ARRAY_SIZE(charged));
	list_put(list, &name, 1);
}

void column_list_default(struct column_list *list, const struct column *group)
{
	static const struct column *const counters[] = {
		&column_swap,	  &column_uss,	    &column_pss,       &column_rss,
		&column_rss_anon, &column_rss_file, &column_rss_shmem,
	};

	list_make(list, group, counters, ARRAY_SIZE(counters), true);
}

void column_list_watch(struct column_list *list, const struct column *group)
{
	static const struct column *const counters[] = {
		&column_swap,	    &column_swap_change, &column_pss,
		&column_pss_change, &column_rss,	 &column_rss_change,
	};

	list_make(list, group, counters, ARRAY_SIZE(counters), false);
}

bool column_list_changes(const struct column_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->item[i]->kind == COLUMN_CHANGE)
			return true;
	}
	return false;
}

void column_list_narrow(struct column_list *list, const char *asked)
{
	static const struct column_list spared = {
		{&column_rss_anon, &column_rss_file, &column_rss_shmem, &column_rss_change}, 4};
	struct column_list named = {};
	const char *bad;
	size_t len, count = 0;

	/* Without the plus they are all that is to be there. */
	if (asked && (column_list_parse(&named, asked, &bad, &len) < 0 ||
		      asked[strspn(asked, " \t")] != '+'))
		return;
	for (size_t i = 0; i < list->count; i++) {
		if (!column_list_has(&spared, list->item[i]) ||
		    column_list_has(&named, list->item[i]))
			list->item[count++] = list->item[i];
	}
	list->count = count;
}

void column_list_whole(struct column_list *list, const struct column *group)
{
	static const struct column *const who[] = {
		&column_pid,	    &column_ppid,	&column_uid,
		&column_user,	    &column_comm,	&column_name,
		&column_start,	    &column_threads,	&column_oom_score_adj,
		&column_cgroup,	    &column_unit,	&column_container,
		&column_mm_id,	    &column_mm_owner,	&column_counters_source,
		&column_pss_source, &column_pss_status, &column_swap_pss_status,
	};
	static const struct column *const what[] = {&column_procs, &column_threads,
						    &column_pss_status};
	static const struct column *const counters[] = {
#define ZMEM_COUNTER(id_, key_, header_, origin_, bound_, policy_, help_) &column_##key_,
#include "model/counters.def"
#undef ZMEM_COUNTER
	};
	bool controlled = group && is_controlled(group);

	list->count = 0;
	if (group)
		list_put(list, &group, 1);
	list_put(list, group ? what : who, group ? ARRAY_SIZE(what) : ARRAY_SIZE(who));
	list_put(list, counters, controlled ? COUNTER_COUNT : COUNTERS_OF_PROCESS);
}

const struct column *column_list_misplaced(const struct column_list *list,
					   const struct column *group)
{
	if (group && is_controlled(group))
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
