// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Completes the moment of an OOM kill and describes the kill. */
#include "collect/oom_moment.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/collect_rows.h"
#include "proc/cgroup.h"

/* ---- the victim's cgroup ---- */

#define SEEN_MAX                                                                                   \
	sizeof(((struct oom_reason *)NULL)->cgroup) /* "/.." for each level of the root            \
						     */

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
 * Whether the process is in the last snapshot and has not called exec since: then names are known.
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
		r = collect_names(c, s, NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM, 0, &processes);
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
		p->app = known->app;
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
 * The names of the victim, or of a sender, that a process of the last snapshot would have. Returns
 * 0 or a negative errno.
 */
static int name_victim(struct oom_moment *m, struct collector *c, const struct oom_kill *kill,
		       pid_t pid)
{
	struct process *p = snapshot_find(&m->snapshot, pid);
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

int oom_moment_name(struct oom_moment *m, struct collector *c, const struct oom_kill *kill)
{
	int r = name_cgroup(m, kill);

	if (r == 0)
		r = name_new(m, c, kill->pid);
	name_known(m, c);
	if (r == 0)
		r = name_victim(m, c, kill, kill->pid);
	return r == 0 ? name_victim(m, c, kill, kill->sender) : r;
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

/* ---- which limit ---- */

/* The path of a level, from the root of the hierarchy: of the memory cgroup without its last names.
 */
static void level_path(const struct oom_kill *kill, int level, char ret[OOM_CGROUP_MAX])
{
	char *end;

	snprintf(ret, OOM_CGROUP_MAX, "%s", kill->cgroup.memory);
	while (level-- > 0 && (end = strrchr(ret, '/')))
		*end = '\0';
	if (!*ret)
		snprintf(ret, OOM_CGROUP_MAX, "/");
}

/* The level of a path from the root of the hierarchy; -1: it is not above the victim. */
static int level_of(const struct oom_kill *kill, const char *path)
{
	char above[OOM_CGROUP_MAX];

	for (int i = 0; kill->cgroup.status == ZMEM_OOM_PATH_KNOWN && i < (int)kill->limits.count;
	     i++) {
		level_path(kill, i, above);
		if (strcmp(above, path) == 0)
			return i;
	}
	return -1;
}

/* The reason that the call to oom_kill_process() had. */
static void reason_of_call(const struct oom_kill *kill, struct oom_reason *ret)
{
	static const char *const name[] = {
		[ZMEM_OOM_NONE] = "none",
		[ZMEM_OOM_CPUSET] = "cpuset",
		[ZMEM_OOM_MEMORY_POLICY] = "memory_policy",
		[ZMEM_OOM_MEMCG] = "memcg",
	};
	const struct oom_limits *l = &kill->limits;
	char path[OOM_CGROUP_MAX];

	ret->known = l->call && l->constraint < ARRAY_SIZE(name);
	if (!ret->known)
		return;
	ret->source = EVENT_FROM_KERNEL;
	snprintf(ret->constraint, sizeof(ret->constraint), "%s", name[l->constraint]);
	ret->at = l->at;
	if (ret->at < 0)
		return;
	level_path(kill, ret->at, path);
	if (!see_cgroup(kill, path, ret->cgroup))
		*ret->cgroup = '\0';
}

/* The reason by the kernel's log, which has paths from the root of the hierarchy. */
static void reason_of_log(const struct oom_kill *kill, struct oom_reason *ret)
{
	const struct oom_line *line = &kill->line;

	ret->known = kill->line_known && line_agrees(kill) && *line->constraint;
	if (!ret->known)
		return;
	ret->source = EVENT_FROM_LOG;
	snprintf(ret->constraint, sizeof(ret->constraint), "%s", line->constraint);
	if (!*line->cgroup)
		return;
	ret->at = level_of(kill, line->cgroup);
	if (!see_cgroup(kill, line->cgroup, ret->cgroup))
		snprintf(ret->cgroup, sizeof(ret->cgroup), "%s", line->cgroup);
}

/* What fills the cgroup: the sooner after the kill, the nearer to what it was. */
static int read_parts(struct oom_moment *m, struct collector *c)
{
	struct oom_reason *reason = &m->reason;

	if (!*reason->cgroup)
		return 0;
	reason->parts_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
	return memcg_read(&c->proc, &m->snapshot, reason->cgroup, &reason->parts);
}

void oom_moment_find_reason(struct oom_moment *m, const struct oom_kill *kill)
{
	m->reason = (struct oom_reason){.at = -1};
	reason_of_call(kill, &m->reason);
	if (!m->reason.known)
		reason_of_log(kill, &m->reason);
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
 * Without the call and a line of the log: the lowest cgroup above the victim that was out of memory
 * is the one that reached its limit (memory.events of v2). If there is none, it was the machine, a
 * cpuset or a memory policy, and stays unknown. So it does if the lowest ones were not read or are
 * not known, because the event is counted in all cgroups above.
 */
int oom_moment_infer_reason(struct oom_moment *m, struct collector *c, const struct oom_kill *kill)
{
	const struct process *victim = snapshot_find(&m->snapshot, kill->pid);
	struct oom_reason *reason = &m->reason;
	const char *cgroup = victim && victim->cgroup ? victim->cgroup : "";
	size_t len = strlen(cgroup);
	char path[SEEN_MAX];

	if (!len || len + 1 >= sizeof(path) || memcg_reach(cgroup, MEMCG_DEPTH_MAX) < len)
		return 0;
	memcpy(path, cgroup, len + 1);
	for (char *end = path + len; end && end > path + 1; end = strrchr(path, '/')) {
		*end = '\0';
		if (!was_out(m, c, path))
			continue;
		*reason = (struct oom_reason){.known = true,
					      .constraint = "memcg",
					      .source = EVENT_FROM_COUNTS,
					      .at = -1};
		snprintf(reason->cgroup, sizeof(reason->cgroup), "%s", path);
		/* The cgroup may have no memory controller of its own. */
		for (int i = 0; i < (int)kill->limits.count; i++) {
			char named[OOM_CGROUP_MAX], seen[SEEN_MAX];

			level_path(kill, i, named);
			if (see_cgroup(kill, named, seen) && strcmp(seen, path) == 0)
				reason->at = i;
		}
		return read_parts(m, c);
	}
	return 0;
}

/* ---- processes that were not read ---- */

/* Adds them as the last snapshot has them. Returns 0 or a negative errno. */
static int fill_unread(struct oom_moment *m, const struct collector *c, const struct oom_kill *kill)
{
	struct snapshot *s = &m->snapshot;

	m->filled = 0;
	for (size_t i = 0; i < kill->unread_listed; i++) {
		const struct oom_unread *u = &kill->unread_list[i];
		const struct process *known = snapshot_find(&c->snapshot, u->pid);
		struct process *p;

		if (!known || known->start_ns != u->start_ns)
			continue;
		p = snapshot_add(s);
		if (!p)
			return -ENOMEM;
		*p = *known;
		p->counters_source = FROM_EARLIER;
		p->charged = NULL;
		p->pss_source = PSS_FROM_NOTHING;
		p->pss_status = PSS_SKIPPED;
		for (int counter = 0; counter < COUNTERS_OF_PROCESS; counter++) {
			if (counter_table[counter].origin != ORIGIN_KERNEL)
				p->have &= ~COUNTER_BIT(counter);
		}
		m->filled++;
	}
	return m->filled ? snapshot_finish(s) : 0;
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
		r = memcgs_read(&c->proc, s, &processes, MEMCGS_FIGURES,
				victim && victim->controlled ? victim->cgroup : NULL, NULL, &left);
	c->memcg_left_us -= most - left;
	return r;
}

int oom_moment_complete(struct oom_moment *m, struct collector *c, const struct oom_kill *kill)
{
	struct snapshot *s = &m->snapshot;
	int r;

	oom_moment_find_reason(m, kill);
	r = read_parts(m, c);
	if (r == 0)
		r = fill_unread(m, c, kill);
	if (r < 0)
		return r;
	machine_read(&c->proc, &s->host, &s->system);
	s->time_ms = (int64_t)(s->host.boot_ms + kill->boottime_ns / 1000000);
	s->counters_source = FROM_BPF;
	s->self = c->self;
	s->selection = m->selection;
	s->collection.seen = kill->listed + kill->lost + m->filled;
	s->collection.not_seen = kill->lost + kill->unread - m->filled;
	s->collection.earlier = m->filled;
	s->collection.not_seen_known = kill->table && (!kill->late || kill->counted);
	s->collection.complete =
		!kill->lost &&
		(!kill->late || (s->collection.not_seen_known && !s->collection.not_seen));
	r = oom_moment_name(m, c, kill);
	if (m->selection)
		drop_refused(m, c, kill->pid);
	if (r == 0)
		r = limit_moment(m, c, kill->pid);
	if (r == 0 && !m->reason.known)
		r = oom_moment_infer_reason(m, c, kill);
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

/* "pod default/web-0", "container web", "unit app.service": what the victim's path ends with there.
 */
static void describe_owner(const struct process *p, const char *cgroup, struct event_record *e)
{
	const struct {
		const char *kind, *name;
		size_t path;
	} owner[] = {{"container", p->container, p->container_path},
		     {"pod", p->pod, p->pod_path},
		     {"unit", p->unit, p->unit_path}};
	char text[EVENT_TEXT], line[sizeof("1:memory:\n") + SEEN_MAX];
	struct proc_cgroup slice;
	int len;

	for (size_t i = 0; i < ARRAY_SIZE(owner); i++) {
		if (!owner[i].name || !owner[i].path || owner[i].path != strlen(cgroup))
			continue;
		snprintf(text, sizeof(text), "%s %s", owner[i].kind, owner[i].name);
		event_set_text(e, EVENT_LIMIT_OWNER, text);
		return;
	}
	/* The victim's own unit is the lowest one: a scope or a service in a slice. */
	len = snprintf(line, sizeof(line), "1:memory:%s\n", cgroup);
	if (p->pod_path == strlen(cgroup) || proc_cgroup_parse(line, (size_t)len, &slice) < 0 ||
	    slice.unit_path != strlen(cgroup))
		return;
	snprintf(text, sizeof(text), "unit %.*s", (int)slice.unit.len, slice.unit.s);
	event_set_text(e, EVENT_LIMIT_OWNER, text);
}

static void describe_parts(const struct oom_reason *reason, struct event_record *e)
{
	static const struct {
		enum event_member member;
		enum counter counter;
	} part[] = {{EVENT_PART_ANON, COUNTER_MEM_ANON},
		    {EVENT_PART_FILE, COUNTER_MEM_FILE},
		    {EVENT_PART_SHMEM, COUNTER_MEM_SHMEM},
		    {EVENT_PART_KERNEL, COUNTER_MEM_KERNEL},
		    {EVENT_PART_SLAB, COUNTER_MEM_SLAB},
		    {EVENT_PART_PAGETABLES, COUNTER_MEM_PAGETABLES},
		    {EVENT_PART_SOCK, COUNTER_MEM_SOCK},
		    {EVENT_PART_SWAP, COUNTER_MEM_SWAP}};
	const struct memcg *m = &reason->parts;

	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (memcg_has(m, part[i].counter))
			event_set(e, part[i].member, memcg_detail(m, part[i].counter));
	}
	if (m->details)
		event_set(e, EVENT_PARTS_MS, (uint64_t)reason->parts_ms);
}

static void describe_levels(const struct oom_kill *kill, struct event_record *e)
{
	_Static_assert(EVENT_LEVELS_MOST == ZMEM_OOM_LEVELS + 1, "match");

	e->levels = kill->limits.count;
	for (unsigned i = 0; i < e->levels; i++) {
		const struct oom_level *l = &kill->limits.level[i];

		e->level[i] = (struct event_level){l->usage, l->max, l->swap_usage, l->swap_max};
	}
	if (e->levels) {
		event_set(e, EVENT_V2, kill->limits.v2);
		event_set(e, EVENT_OOM_GROUP, kill->limits.group);
	}
	if (kill->limits.call)
		event_set(e, EVENT_CALL, kill->limits.call);
}

static void describe_reason(const struct oom_moment *m, const struct oom_kill *kill,
			    struct event_record *e)
{
	const struct oom_reason *reason = &m->reason;
	const struct process *victim = snapshot_find(&m->snapshot, kill->pid);
	const struct event_level *level;

	if (kill->line_known && line_agrees(kill) && *kill->line.request.gfp) {
		event_set_text(e, EVENT_GFP, kill->line.request.gfp);
		event_set(e, EVENT_ORDER, kill->line.request.order);
	} else if (kill->limits.call && kill->limits.order >= 0) {
		event_set(e, EVENT_ORDER, (uint64_t)kill->limits.order);
	}
	if (!reason->known)
		return;
	event_set_text(e, EVENT_CONSTRAINT, reason->constraint);
	event_set(e, EVENT_SOURCE, reason->source);
	if (reason->at >= 0)
		event_set(e, EVENT_AT_LEVEL, (uint64_t)reason->at);
	if (!*reason->cgroup)
		return;
	event_set_text(e, EVENT_LIMIT_CGROUP, reason->cgroup);
	level = event_level_at_limit(e);
	if (level && event_limit_of(e, level) != EVENT_UNLIMITED)
		event_set(e, EVENT_LIMIT, event_limit_of(e, level));
	else
		set_limit(e, m, reason->cgroup);
	if (victim)
		describe_owner(victim, reason->cgroup, e);
	describe_parts(reason, e);
}

void oom_moment_describe(const struct oom_moment *m, const struct oom_kill *kill,
			 struct event_record *ret)
{
	*ret = (struct event_record){.time_ms = m->snapshot.time_ms};
	event_set(ret, EVENT_KIND, EVENT_OOM_KILL);
	event_set(ret, EVENT_LISTED, kill->listed);
	event_set(ret, EVENT_LOST, kill->lost);
	event_set(ret, EVENT_MISSED, kill->missed);
	event_set(ret, EVENT_TOOK_NS, kill->took_ns);
	event_set(ret, EVENT_TABLE, kill->table);
	event_set(ret, EVENT_LATE, kill->late);
	event_set(ret, EVENT_FILLED, m->filled);
	describe_victim(m, kill, ret);
	describe_levels(kill, ret);
	event_set(ret, EVENT_LOG_READ,
		  !m->log_read				   ? EVENT_LOG_DENIED
		  : kill->line_known && !line_agrees(kill) ? EVENT_LOG_OTHER
							   : EVENT_LOG_OPEN);
	describe_reason(m, kill, ret);
}

void oom_moment_describe_signal(const struct oom_moment *m, const struct oom_kill *kill,
				struct event_record *ret)
{
	const struct process *sender = snapshot_find(&m->snapshot, kill->sender);

	*ret = (struct event_record){.time_ms = m->snapshot.time_ms};
	event_set(ret, EVENT_KIND, EVENT_SIGNAL);
	event_set(ret, EVENT_SIGNAL_NUMBER, (uint64_t)kill->signal);
	event_set(ret, EVENT_SIGNALS_MISSED, kill->missed);
	describe_victim(m, kill, ret);
	if (!sender)
		return;
	event_set(ret, EVENT_SENDER_PID, (uint64_t)sender->pid);
	event_set(ret, EVENT_SENDER_UID, sender->uid);
	event_set_text(ret, EVENT_SENDER_COMM, sender->comm);
	event_set_text(ret, EVENT_SENDER_NAME, sender->name);
	event_set_text(ret, EVENT_SENDER_UNIT, sender->unit);
	event_set_text(ret, EVENT_SENDER_CONTAINER, sender->container);
}
