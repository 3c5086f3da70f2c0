// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "command/targets.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "collect/unseen.h"
#include "enrich/enrich.h"
#include "session/launch.h"
#include "session/log.h"
#include "session/query_args.h"
#include "session/session.h"

struct adding {
	const struct options *o;
	const struct procfs *proc;
	const char *doing;
	int (*add)(void *arg, pid_t pid);
	void *arg;
	size_t added;
	bool interrupted;
};

int targets_ways(const struct options *o)
{
	return !!o->pids + !!o->name + !!o->cgroup + !!o->run;
}

int targets_check(const struct options *o)
{
	if (targets_ways(o) > 1)
		return log_usage(o, "%s: one of a PID, --name, --cgroup and -- COMMAND",
				 o->command->name);
	if (o->name && !*o->name)
		return log_usage(o, "--name: no name in it");
	return 0;
}

static int add_listed(void *arg, pid_t pid)
{
	struct process *p = snapshot_add(arg);

	if (!p)
		return -ENOMEM;
	p->pid = pid;
	return 0;
}

static int report_missing(const struct adding *a, pid_t pid)
{
	cleanup(snapshot_done) struct snapshot all = {};
	pid_t process;

	procfs_each_pid(a->proc, add_listed, &all);
	process = collect_process_of_thread(&all, pid);
	if (process)
		log_error(COLLECT_THREAD_TEXT, pid, process);
	else
		log_error("%d: %s", pid, collect_why_no_memory(a->proc, pid));
	return EXIT_NOT_FOUND;
}

static int add_pid(struct adding *a, pid_t pid, bool named)
{
	int r = a->add(a->arg, pid);

	if (r == 0) {
		a->added++;
		return 0;
	}
	if (r == -EINTR) {
		a->interrupted = true;
		return 0;
	}
	if (r == -ESRCH)
		return named ? report_missing(a, pid) : 0;
	if (r == -ENOSPC)
		return 0; /* the report tells it */
	return log_errno(r, "%s process %d", a->doing, pid);
}

static int add_pids(struct adding *a)
{
	const char *pos = a->o->pids, *item;
	int missing = 0, r = 0;
	size_t len;

	while (r != EXIT_FAILED && r != EXIT_USAGE && !a->interrupted &&
	       (item = parse_item(&pos, &len))) {
		uint64_t pid;

		if (parse_u64(item, len, INT32_MAX, &pid) < 0 || !pid)
			return log_usage(a->o, "--pid %.*s: not a process number", (int)len, item);
		r = add_pid(a, (pid_t)pid, true);
		missing |= r;
	}
	return r == EXIT_FAILED || (!a->added && !a->interrupted) ? missing : 0;
}

/* Processes by name or cgroup, as a snapshot finds them. */
static int add_matching(struct adding *a)
{
	cleanup(session_close) struct session s = SESSION_CLOSED;
	struct options o = *a->o;
	struct collect_spec spec;
	const struct process_list *processes;
	int r;

	o.verify = 0;
	o.quiet = true;
	spec = session_spec(&o);
	spec.pss = PSS_NONE;
	r = session_open(&s, &o, &spec);
	if (r == 0)
		r = session_begin(&s);
	processes = &s.collector.rows.matched;
	if (r == 0 && enrich_programs(collector_pool(&s.collector), &s.collector.snapshot,
				      &s.collector.rows.matched) < 0)
		r = log_error("reading the names of processes: out of memory");
	for (size_t i = 0; r == 0 && !a->interrupted && i < processes->count; i++) {
		const struct process *p = processes->item[i];
		const char *name = p->name ? p->name : p->comm;

		if (p->kind == PROCESS_USER && p->pid != getpid() &&
		    (!o.name || strcmp(name, o.name) == 0 || strcmp(p->comm, o.name) == 0))
			r = add_pid(a, p->pid, false);
	}
	if (r == 0 && !a->added && !a->interrupted) {
		log_error("no process matches --%s %s%s", o.name ? "name" : "cgroup",
			  o.name ? o.name : o.cgroup,
			  query_args_cgroup_lacks_slash(&o) ? " (a path begins with /)" : "");
		r = EXIT_NOT_FOUND;
	}
	return r;
}

int targets_add(const struct options *o, const struct procfs *proc, const char *doing,
		int (*add)(void *arg, pid_t pid), void *arg)
{
	struct adding a = {.o = o, .proc = proc, .doing = doing, .add = add, .arg = arg};

	if (o->run)
		return add_pid(&a, o->run->pid, true);
	return o->pids ? add_pids(&a) : add_matching(&a);
}
