// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows what may be asked for; finds nothing itself but users. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/query_args.h"
#include "base/cleanup.h"
#include "base/parse.h"

static int read_columns(const char *option, const char *spec, struct column_list *list)
{
	const char *bad;
	size_t len;

	if (column_list_parse(list, spec, &bad, &len) < 0)
		return log_usage("%s: there is no column '%.*s'; -o help lists them", option,
				 (int)len, bad);
	return 0;
}

static size_t count_items(const char *list)
{
	size_t len, count = 0;

	while (parse_item(&list, &len))
		count++;
	return count;
}

static int read_pids(struct session *s, const char *list)
{
	const char *item;
	size_t len;

	s->pids = calloc(count_items(list) + 1, sizeof(*s->pids));
	if (!s->pids)
		return log_error("reading --pid: out of memory");
	while ((item = parse_item(&list, &len))) {
		uint64_t pid;

		if (parse_u64(item, len, PID_MAX, &pid) < 0 || pid == 0)
			return log_usage("--pid %.*s: not a process number", (int)len, item);
		s->pids[s->filter.pid_count++] = (pid_t)pid;
	}
	if (!s->filter.pid_count)
		return log_usage("--pid: no process number in it");
	filter_sort_pids(s->pids, s->filter.pid_count);
	s->filter.pids = s->pids;
	return 0;
}

static int find_in_frame(const struct snapshot *s, const char *name, uid_t *ret)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->user && strcmp(p->user, name) == 0) {
			*ret = p->uid;
			return 0;
		}
	}
	return -ENOENT;
}

/* A recording knows the users of its processes: those of the frame at hand and of the last one. */
static int find_user(struct session *s, const char *name, uid_t *ret)
{
	cleanup(snapshot_done) struct snapshot last = {};

	if (!session_replays(s))
		return user_find(s->users, name, ret);
	if (find_in_frame(&s->snapshot, name, ret) == 0)
		return 0;
	return replay_frame(&s->replay, s->replay.frames, &last) ? -ENOENT
								 : find_in_frame(&last, name, ret);
}

static int read_users(struct session *s, const char *list, uid_t *uids, size_t *ret_count)
{
	const char *item;
	size_t len, asked = 0, count = 0;

	for (; (item = parse_item(&list, &len)); asked++) {
		cleanup_free char *name = strndup(item, len);
		uint64_t number;
		uid_t uid;

		if (!name)
			return log_error("reading --user: out of memory");
		if (find_user(s, name, &uid) == 0) {
			uids[count++] = uid;
		} else if (parse_u64(item, len, UINT32_MAX - 1, &number) == 0) {
			uids[count++] = (uid_t)number;
		} else {
			log_error("--user %s: there is no such user", name);
			s->exit_code = EXIT_NOT_FOUND;
		}
	}
	if (!asked)
		return log_usage("--user: no user in it");
	*ret_count = count;
	return count ? 0 : EXIT_NOT_FOUND;
}

int request_users(struct session *s, const char *list)
{
	cleanup_free uid_t *uids = calloc(count_items(list) + 1, sizeof(*uids));
	size_t count = 0;
	int r = 0;

	if (!uids)
		return log_error("reading --user: out of memory");
	if (*list)
		r = read_users(s, list, uids, &count);
	if (r)
		return r;
	filter_sort_uids(uids, count);
	free(s->uids);
	s->uids = TAKE_PTR(uids);
	s->filter.uids = *list ? s->uids : NULL;
	s->filter.uid_count = count;
	return 0;
}

int request_pattern(struct session *s, const char *text)
{
	struct pattern *pattern = NULL;
	const char *why;
	int r = *text ? pattern_compile(text, &pattern, &why) : 0;

	if (r == -ENOMEM)
		return log_error("reading --filter: out of memory");
	if (r < 0)
		return log_usage("--filter %s: %s", text, why);
	pattern_free(s->pattern);
	s->pattern = s->filter.pattern = pattern;
	return 0;
}

int request_failed(int error, const char *what)
{
	return error == -E2BIG ? log_usage("--filter: " PATTERN_EXPENSIVE)
			       : log_errno(error, "%s", what);
}

unsigned request_needs(const struct session *s)
{
	/* What has its own keys, not columns. */
	static const unsigned needs[] = {
		[FORMAT_TABLE] = 0,
		[FORMAT_JSON] = NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM,
		[FORMAT_NDJSON] = NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM,
		[FORMAT_CSV] = 0,
		[FORMAT_FOLDED] = NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM,
		[FORMAT_OPENMETRICS] = 0,
		[FORMAT_PROMETHEUS] = 0,
		[FORMAT_HTML] = NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM,
	};
	enum format format = s->options->format;
	bool keys = options_metrics(s->options) || format == FORMAT_JSON || format == FORMAT_NDJSON;
	bool controlled = keys && s->group && s->group->needs & NEEDS_CGROUP;
	const struct column *page = request_page_group(s->options);

	/* Of a group nothing is said but what it has in common. */
	return column_list_needs(&s->columns) | (s->group ? 0 : needs[format]) |
	       (page ? page->needs : 0) | (controlled ? NEEDS_MEMCG : 0);
}

const struct column *request_page_group(const struct options *o)
{
	const char *key = o->format == FORMAT_HTML ? options_group_key(o) : NULL;

	return key ? column_find(key, strlen(key)) : NULL;
}

static int refuse_memcg(const struct session *s, const char *option, const struct column_list *list)
{
	const struct column *c = column_list_misplaced(list, s->group);

	return c ? log_usage("%s: %s is of groups (--group-by cgroup, unit or container)", option,
			     c->key)
		 : 0;
}

/* The rows are groups of what --group-by names, or of what the format has unless it does. */
static void read_group(struct session *s)
{
	const struct options *o = s->options;
	const char *key = options_group_key(o);

	if (!key && options_metrics(o))
		key = "name";
	/* A page has the processes, and groups them itself. */
	if (key && o->format != FORMAT_HTML)
		s->group = column_find(key, strlen(key));
}

int request_read(struct session *s)
{
	const struct options *o = s->options;
	int r;

	read_group(s);
	if (o->format == FORMAT_CSV)
		column_list_whole(&s->columns, s->group);
	else if (o->continuous)
		column_list_watch(&s->columns, s->group);
	else
		column_list_default(&s->columns, s->group);
	if (o->columns && (r = read_columns("--columns", o->columns, &s->columns)))
		return r;
	r = read_columns("--sort", o->sort ? o->sort : "pss", &s->order.keys);
	if (r == 0)
		r = refuse_memcg(s, "--columns", &s->columns);
	if (r == 0)
		r = refuse_memcg(s, "--sort", &s->order.keys);
	if (r)
		return r;
	/* Without PSS everybody would be equal: what bounds it is the next best order. */
	if (!o->continuous &&
	    (column_list_changes(&s->columns) || column_list_changes(&s->order.keys)))
		return log_usage("%s: it has no changes to show (watch has)", o->command);
	if (!o->sort && s->pss == PSS_NONE)
		read_columns("--sort", "rss", &s->order.keys);
	s->order.reverse = o->reverse;
	s->filter.cgroup = o->cgroup;
	if (o->pids && (r = read_pids(s, o->pids)))
		return r;
	if (o->users && !*o->users)
		return log_usage("--user: no user in it");
	if (o->users && (r = request_users(s, o->users)))
		return r;
	return o->filter && *o->filter ? request_pattern(s, o->filter) : 0;
}

/* Whether there is one all the same, and why we do not see it. */
static const char *why_missing(const struct session *s, pid_t pid)
{
	cleanup_close int fd = -1;

	if (session_no_proc(s) && (kill(pid, 0) == 0 || errno == EPERM))
		return "the kernel does not show it to BPF, and there is no /proc of this pid "
		       "namespace (mount -t proc proc /proc)";
	if (s->proc.trusted && s->proc.fd >= 0)
		fd = procfs_open_pid(&s->proc, pid);
	if (fd < 0)
		return "there is no such process";
	/* A security module may hide a process from one and not from the other. */
	if (source_origin(s->source) == FROM_BPF)
		return "the kernel does not show it to BPF (--source proc does)";
	return "/proc does not let us read it (hidepid; run as root)";
}

void request_report_missing(struct session *s)
{
	for (size_t i = 0; i < s->filter.pid_count; i++) {
		if (i && s->pids[i] == s->pids[i - 1])
			continue;
		if (snapshot_find(&s->snapshot, s->pids[i]))
			continue;
		log_error("--pid %d: %s", s->pids[i], why_missing(s, s->pids[i]));
		s->exit_code = EXIT_NOT_FOUND;
	}
}

void request_done(struct session *s)
{
	pattern_free(s->pattern);
	free(s->pids);
	free(s->uids);
}
