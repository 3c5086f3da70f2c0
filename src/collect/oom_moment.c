// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Completes the moment of an OOM kill and describes the kill. */
#include "collect/oom_moment.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "collect/collect_rows.h"
#include "proc/cgroup.h"

/* ---- the victim's cgroup ---- */

#define SEEN_MAX (OOM_CGROUP_MAX + 3 * ZMEM_OOM_LEVELS) /* "/.." for each level of the root */

/* The path as our cgroup namespace has it. False if the kernel side did not read the cgroups. */
static bool see_cgroup(const struct oom_kill *kill, const char *path, char ret[SEEN_MAX])
{
	return kill->cgroup.status == ZMEM_OOM_PATH_KNOWN &&
	       cgroup_seen_from(kill->cgroup.root, path, ret, SEEN_MAX);
}

/*
 * Whether the line of the log is about this kill: it has the memory cgroup that the kernel side
 * found, and the limit of that one or of one above it. What the line does not tell, or the kernel
 * side did not find, is no difference.
 */
static bool line_agrees(const struct oom_kill *kill)
{
	const struct oom_line *line = &kill->line;
	const char *memory = kill->cgroup.memory;

	return kill->cgroup.status != ZMEM_OOM_PATH_KNOWN ||
	       ((!*line->task_cgroup || strcmp(line->task_cgroup, memory) == 0) &&
		(!*line->cgroup || cgroup_below(line->cgroup, memory)));
}

/* Why the cgroup is not known. NULL: the process has ended, and nothing else names it. */
static const char *no_cgroup(const struct oom_kill *kill)
{
	switch (kill->cgroup.status) {
	case ZMEM_OOM_PATH_LONG:
		return "its path has more levels or bytes than are read at a kill";
	case ZMEM_OOM_PATH_RACED:
		return "a cgroup was renamed at that moment";
	default:
		return NULL;
	}
}

/* ---- names ---- */

/*
 * Whether it is a process of the last snapshot that has not called exec since: names are then
 * known.
 */
static const struct process *find_known(const struct collector *c, const struct process *p)
{
	const struct process *known = snapshot_find_again(&c->snapshot, p);

	return known && strcmp(known->comm, p->comm) == 0 ? known : NULL;
}

/*
 * Names of processes that the last snapshot did not have, and the cgroup of the victim, which may
 * have moved. Returns 0 or a negative errno.
 */
static int name_new(struct oom_moment *m, struct collector *c, pid_t victim)
{
	cleanup(process_list_done) struct process_list processes = {};
	struct snapshot *s = &m->snapshot;
	int r = process_list_reserve(&processes, s->count);

	for (size_t i = 0; r == 0 && i < s->count; i++) {
		if (s->process[i].pid == victim || !find_known(c, &s->process[i]))
			processes.item[processes.count++] = &s->process[i];
	}
	if (r == 0)
		r = collect_names(c, s, NEEDS_USER | NEEDS_CGROUP, 0, &processes);
	/* An exit moves a process to the root cgroup (cgroup_exit() in kernel/cgroup/cgroup.c). */
	for (size_t i = 0; r == 0 && i < processes.count; i++) {
		if (processes.item[i]->cgroup && strcmp(processes.item[i]->cgroup, "/") == 0)
			process_copy_cgroup(processes.item[i], &(const struct process){});
	}
	return r;
}

/*
 * The cgroup of the victim, as the kernel side found it. The root has no names of its own: another
 * hierarchy, which /proc shows, may have one. Returns 0 or a negative errno.
 */
static int name_cgroup(struct oom_moment *m, const struct oom_kill *kill)
{
	struct process *p = snapshot_find(&m->snapshot, kill->pid);
	char path[SEEN_MAX];

	if (!p || !see_cgroup(kill, kill->cgroup.path, path) || strcmp(path, "/") == 0)
		return 0;
	return enrich_cgroup_path(&m->snapshot, p, path);
}

/* Names that the last snapshot has: at this moment nothing is read of /proc for them. */
static void name_known(struct oom_moment *m, const struct collector *c)
{
	for (size_t i = 0; i < m->snapshot.count; i++) {
		struct process *p = &m->snapshot.process[i];
		const struct process *known = find_known(c, p);

		if (!known)
			continue;
		p->name = known->name;
		p->name_cut = known->name_cut;
		p->program_known = known->program_known;
		p->user = known->user;
		p->cmdline = known->cmdline;
		p->cmdline_truncated = known->cmdline_truncated;
		/* Otherwise it was read now; the same one has its container's name there. */
		if (!p->cgroup || (known->cgroup && strcmp(p->cgroup, known->cgroup) == 0))
			process_copy_cgroup(p, known);
	}
}

/* A container has the names that other processes of its cgroup have in the last snapshot. */
static void name_container(struct process *p, const struct collector *c)
{
	for (size_t i = 0; i < c->snapshot.count; i++) {
		const struct process *known = &c->snapshot.process[i];

		if (known->cgroup && strcmp(known->cgroup, p->cgroup) == 0) {
			process_copy_cgroup(p, known);
			return;
		}
	}
}

/* The kill is written before a home that hangs answers. */
#define CONTAINERS_US 20000

/*
 * The cgroup of a victim that is in the root, unless another hierarchy has a name for it; or that
 * of the kernel's log, if the kernel side has none. Returns 0 or a negative errno.
 */
static int name_root(struct oom_moment *m, struct process *p, const struct oom_kill *kill)
{
	char path[SEEN_MAX];

	if (see_cgroup(kill, kill->cgroup.path, path)) {
		if (strcmp(path, "/") != 0 || (p->cgroup && !p->controlled))
			return 0;
		process_copy_cgroup(p, &(const struct process){});
		return enrich_cgroup_path(&m->snapshot, p, path);
	}
	if (p->cgroup || kill->cgroup.status != ZMEM_OOM_PATH_NONE || !kill->line_known ||
	    !*kill->line.task_cgroup)
		return 0;
	return enrich_cgroup_path(&m->snapshot, p, kill->line.task_cgroup);
}

/*
 * The names of the victim that a process of the last snapshot would have. Returns 0 or a negative
 * errno.
 */
static int name_victim(struct oom_moment *m, struct collector *c, const struct oom_kill *kill)
{
	struct process *p = snapshot_find(&m->snapshot, kill->pid);
	struct process_list victim = {&p, 1, 0};
	int r;

	if (!p)
		return 0;
	r = name_root(m, p, kill);
	if (r == 0 && p->cgroup && p->container_status == CONTAINER_UNREAD)
		name_container(p, c);
	if (r < 0)
		return r;
	return collect_names(c, &m->snapshot, p->program_known ? 0 : NEEDS_PROGRAM, CONTAINERS_US,
			     &victim);
}

/* Removes processes that the filters refused from the moment, but not the victim. */
static void drop_refused(struct oom_moment *m, const struct collector *c, pid_t victim)
{
	struct snapshot *s = &m->snapshot;
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->process[i].pid == victim ||
		    snapshot_find_again(&c->snapshot, &s->process[i]))
			s->process[kept++] = s->process[i];
	}
	s->count = kept;
}

/* ---- the moment ---- */

/* For the memory cgroups at a kill, of what the last collection left. */
#define MEMCG_TIME_US 100000

/* The memory cgroups of the moment, first that of the victim and those above it. */
static int limit_moment(struct oom_moment *m, struct collector *c, pid_t pid)
{
	cleanup(process_list_done) struct process_list processes = {};
	uint64_t most = c->memcg_left_us < MEMCG_TIME_US ? c->memcg_left_us : MEMCG_TIME_US;
	uint64_t left = most;
	struct snapshot *s = &m->snapshot;
	const struct process *victim = snapshot_find(s, pid);
	int r;

	r = process_list_reserve(&processes, s->count);
	for (size_t i = 0; r == 0 && i < s->count; i++)
		processes.item[processes.count++] = &s->process[i];
	if (r == 0)
		r = memcgs_read(&c->proc, s, &processes, false,
				victim && victim->controlled ? victim->cgroup : NULL, &left);
	c->memcg_left_us -= most - left;
	return r;
}

int oom_moment_complete(struct oom_moment *m, struct collector *c, const struct oom_kill *kill)
{
	struct snapshot *s = &m->snapshot;
	int r;

	machine_read(&c->proc, &s->host, &s->system);
	s->time_ms = (int64_t)(s->host.boot_ms + kill->boottime_ns / 1000000);
	s->counters_source = FROM_BPF;
	s->self = c->self;
	s->selection = m->selection;
	s->collection.seen = kill->listed + kill->lost;
	s->collection.complete = !kill->lost && !kill->late;
	s->collection.not_seen = kill->lost + kill->unread;
	s->collection.not_seen_known = kill->table && (!kill->late || kill->counted);
	r = name_cgroup(m, kill);
	if (r == 0)
		r = name_new(m, c, kill->pid);
	name_known(m, c);
	if (r == 0)
		r = name_victim(m, c, kill);
	if (m->selection)
		drop_refused(m, c, kill->pid);
	if (r == 0)
		r = limit_moment(m, c, kill->pid);
	if (r == 0)
		snapshot_forget_charges(s);
	return r;
}

/* ---- the event ---- */

static void set_counter(struct event_record *e, enum event_member m, const struct process *p,
			enum counter c)
{
	if (process_has(p, c))
		event_set(e, m, p->value[c]);
}

static void set_limit(struct event_record *e, const struct oom_moment *m, const char *cgroup)
{
	const struct memcg *memcg = snapshot_find_memcg(&m->snapshot, cgroup);

	if (memcg && memcg->limit_known)
		event_set(e, EVENT_LIMIT, memcg->limit);
}

static void describe_victim(const struct oom_moment *m, const struct oom_kill *kill,
			    struct event_record *e)
{
	static const enum event_member count[] = {EVENT_RSS_ANON_COUNT, EVENT_RSS_FILE_COUNT,
						  EVENT_RSS_SHMEM_COUNT, EVENT_SWAP_COUNT};
	const struct process *p = snapshot_find(&m->snapshot, kill->pid);

	if (!p)
		return;
	event_set(e, EVENT_PID, (uint64_t)p->pid);
	event_set(e, EVENT_UID, p->uid);
	event_set(e, EVENT_OOM_SCORE_ADJ, (uint64_t)(int64_t)p->oom_score_adj);
	set_counter(e, EVENT_RSS_ANON, p, COUNTER_RSS_ANON);
	set_counter(e, EVENT_RSS_FILE, p, COUNTER_RSS_FILE);
	set_counter(e, EVENT_RSS_SHMEM, p, COUNTER_RSS_SHMEM);
	set_counter(e, EVENT_SWAP, p, COUNTER_SWAP);
	set_counter(e, EVENT_PGTABLES, p, COUNTER_PGTABLES);
	for (size_t i = 0; kill->counts_known && i < ARRAY_SIZE(count); i++)
		event_set(e, count[i], kill->count[i]);
	event_set_text(e, EVENT_COMM, p->comm);
	event_set_text(e, EVENT_NAME, p->name);
	event_set_text(e, EVENT_USER, p->user);
	event_set_text(e, EVENT_CGROUP, p->cgroup);
	if (p->cgroup)
		set_limit(e, m, p->cgroup);
	else
		event_set_text(e, EVENT_CGROUP_REASON, no_cgroup(kill));
	event_set_text(e, EVENT_UNIT, p->unit);
	event_set_text(e, EVENT_CONTAINER, p->container);
	event_set_text(e, EVENT_CONTAINER_ID, p->container_id);
	event_set_text(e, EVENT_POD, p->pod);
	event_set_text(e, EVENT_NAMESPACE, p->namespace);
}

/* What the kernel's log says. */
static void describe_reason(const struct oom_moment *m, const struct oom_kill *kill,
			    struct event_record *e)
{
	const char *cgroup = kill->line.cgroup;
	char seen[SEEN_MAX];

	event_set_text(e, EVENT_CONSTRAINT, kill->line.constraint);
	if (*kill->line.request.gfp) {
		event_set_text(e, EVENT_GFP, kill->line.request.gfp);
		event_set(e, EVENT_ORDER, kill->line.request.order);
	}
	if (!*cgroup)
		return;
	/* The log has paths from the root of the hierarchy. */
	if (see_cgroup(kill, cgroup, seen))
		cgroup = seen;
	event_set_text(e, EVENT_LIMIT_CGROUP, cgroup);
	set_limit(e, m, cgroup);
}

/*
 * Whether the cgroup, or one below it, was out of memory since the last snapshot. Of one that the
 * last snapshot did not have it is not known.
 */
static bool was_out(const struct oom_moment *m, const struct collector *c, const char *path)
{
	const struct memcg *now = snapshot_find_memcg(&m->snapshot, path);
	const struct memcg *last = snapshot_find_memcg(&c->snapshot, path);

	return now && last && now->oom_known && last->oom_known && now->oom > last->oom;
}

/*
 * Without a line of the log: the lowest cgroup above the victim that was out of memory is the one
 * whose limit was reached (memory.events of v2). If there is none, it was the machine, a cpuset or
 * a memory policy, and stays unknown. So it does if the lowest ones were not read or are not known,
 * because the event is counted in all cgroups above.
 */
static void infer_reason(const struct oom_moment *m, const struct collector *c,
			 struct event_record *e)
{
	const char *cgroup = event_text(e, EVENT_CGROUP);
	char path[EVENT_TEXT];
	size_t len = cgroup ? strlen(cgroup) : 0;

	if (!len || len + 1 >= EVENT_TEXT || memcg_reach(cgroup, MEMCG_DEPTH_MAX) < len)
		return;
	memcpy(path, cgroup, len + 1);
	for (char *end = path + len; end && end > path + 1; end = strrchr(path, '/')) {
		*end = '\0';
		if (!was_out(m, c, path))
			continue;
		event_set_text(e, EVENT_CONSTRAINT, "memcg");
		event_set_text(e, EVENT_LIMIT_CGROUP, path);
		event_set(e, EVENT_INFERRED, 1);
		set_limit(e, m, path);
		return;
	}
}

void oom_moment_describe(const struct oom_moment *m, const struct collector *c,
			 const struct oom_kill *kill, struct event_record *ret)
{
	const bool agrees = line_agrees(kill);

	*ret = (struct event_record){.time_ms = m->snapshot.time_ms};
	event_set(ret, EVENT_KIND, EVENT_OOM_KILL);
	event_set(ret, EVENT_LISTED, kill->listed);
	event_set(ret, EVENT_LOST, kill->lost);
	event_set(ret, EVENT_MISSED, kill->missed);
	event_set(ret, EVENT_TOOK_NS, kill->took_ns);
	event_set(ret, EVENT_TABLE, kill->table);
	event_set(ret, EVENT_LATE, kill->late);
	describe_victim(m, kill, ret);
	event_set(ret, EVENT_LOG_READ,
		  !m->log_read			? EVENT_LOG_DENIED
		  : kill->line_known && !agrees ? EVENT_LOG_OTHER
						: EVENT_LOG_OPEN);
	if (kill->line_known && agrees)
		describe_reason(m, kill, ret);
	else
		infer_reason(m, c, ret);
}
