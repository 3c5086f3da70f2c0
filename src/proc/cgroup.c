// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parses /proc/PID/cgroup (proc_cgroup_show(), kernel/cgroup/cgroup.c), the names that systemd and
 * container runtimes give to cgroups, and the cgroup file systems in /proc/PID/mountinfo
 * (show_mountinfo(), fs/proc_namespace.c).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "proc/cgroup.h"
#include "proc/container.h"
#include "proc/keyed.h"

/* ---- the path that is shown ---- */

/* In the order of preference. */
enum path_kind { MEMORY_V1, UNIFIED, SYSTEMD, PATH_KINDS };

/*
 * "4:memory:/user.slice", or "3:cpu,cpuacct:/" of a co-mounted hierarchy. Only the path may have
 * colons.
 */
static void parse_line(struct text_part line, struct text_part path[PATH_KINDS])
{
	struct text_part id = part_split(&line, ':');
	struct text_part controllers = part_split(&line, ':');

	if (!line.len || line.s[0] != '/')
		return;
	if (!path[UNIFIED].s && part_is(id, "0") && controllers.len == 0)
		path[UNIFIED] = line;
	if (!path[MEMORY_V1].s && part_lists(controllers, ',', part_of("memory")))
		path[MEMORY_V1] = line;
	if (!path[SYSTEMD].s && part_lists(controllers, ',', part_of("name=systemd")))
		path[SYSTEMD] = line;
}

static enum path_kind choose_path(const struct text_part path[PATH_KINDS])
{
	int root = PATH_KINDS;

	for (int i = 0; i < PATH_KINDS; i++) {
		if (path[i].len > 1)
			return (enum path_kind)i;
		if (path[i].s && root == PATH_KINDS)
			root = i;
	}
	return (enum path_kind)root;
}

/* ---- units and containers in a component of the path ---- */

/*
 * The unit with the name of the component. systemd puts '_' before names that the kernel might want
 * for its own files ("_memory.service"; cg_needs_escape(), src/basic/cgroup-util.c).
 */
static bool unit_name(struct text_part component, struct text_part *ret_unit, bool *ret_slice)
{
	static const char *const suffix[] = {".service", ".scope", ".socket", ".mount", ".swap"};
	struct text_part stem;

	part_cut_prefix(&component, "_");
	stem = component;
	for (size_t i = 0; i < ARRAY_SIZE(suffix); i++)
		if (part_cut_suffix(&stem, suffix[i])) {
			*ret_unit = component;
			*ret_slice = false;
			return true;
		}
	if (!part_cut_suffix(&stem, ".slice") || part_is(stem, "-"))
		return false;
	*ret_unit = component;
	*ret_slice = true;
	return true;
}

/*
 * Runtimes' names for a container's cgroup: "<id>" (docker, kubelet with cgroupfs), "docker-<id>",
 * "libpod-<id>.scope", and "kubepods-….slice:cri-containerd:<id>" where runc was given a name for
 * systemd but does not use systemd. "libpod-conmon-<id>" and "crio-conmon-<id>" are the monitors
 * outside.
 */
static bool runtime_id(struct text_part component, struct text_part *ret_id)
{
	static const char *const runtime[] = {"docker", "libpod", "cri-containerd", "crio",
					      "nerdctl"};
	struct text_part before = component, id;
	char separator;

	part_cut_suffix(&before, ".scope");
	if (before.len < CONTAINER_ID_LEN)
		return false;
	before.len -= CONTAINER_ID_LEN;
	id = (struct text_part){before.s + before.len, CONTAINER_ID_LEN};
	if (!container_id_valid(id))
		return false;
	if (before.len == 0) {
		*ret_id = id;
		return true;
	}
	separator = before.s[--before.len];
	if (separator == ':') {
		const char *colon = memrchr(before.s, ':', before.len);

		if (!colon)
			return false;
		before.len -= colon + 1 - before.s;
		before.s = colon + 1;
	} else if (separator != '-') {
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(runtime); i++)
		if (part_is(before, runtime[i])) {
			*ret_id = id;
			return true;
		}
	return false;
}

/* A machine of systemd-nspawn: "machine-NAME.scope", or its service without a scope. */
static bool machine_name(struct text_part *name)
{
	if (part_cut_prefix(name, "machine-"))
		return part_cut_suffix(name, ".scope");
	return part_cut_prefix(name, "systemd-nspawn@") && part_cut_suffix(name, ".service");
}

/* The container of this outermost cgroup. */
static bool container_name(struct text_part parent, struct text_part component,
			   struct text_part *ret_container, struct text_part *ret_id)
{
	struct text_part name = component, id = {};

	if (runtime_id(component, &name)) {
		id = name;
		name.len = CONTAINER_ID_SHOWN;
	} else if (part_cut_prefix(&name, "lxc.monitor.")) {
		return false; /* LXC's own process, outside */
	} else if (part_cut_prefix(&name, "lxc.payload.")) {
		/* LXC 4 */
	} else if (part_is(parent, "lxc") || part_is(parent, "lxc.payload")) {
		/* LXC until 2 and 3. */
	} else if (!part_is(parent, "machine.slice") || !machine_name(&name)) {
		return false;
	}
	*ret_container = name;
	*ret_id = id;
	return true;
}

bool cgroup_in_container(struct text_part path)
{
	struct text_part parent = {"", 0}, name, id;

	while (path.len) {
		struct text_part component = part_split(&path, '/');

		if (component.len && container_name(parent, component, &name, &id))
			return true;
		parent = component;
	}
	return false;
}

bool cgroup_pod_uid(struct text_part component, struct text_part *ret_uid)
{
	static const char *const prefix[] = {"kubepods-besteffort-pod", "kubepods-burstable-pod",
					     "kubepods-pod", "pod"};
	struct text_part uid = component;

	part_cut_suffix(&uid, ".slice");
	for (size_t i = 0; i < ARRAY_SIZE(prefix); i++) {
		if (!part_cut_prefix(&uid, prefix[i]))
			continue;
		for (size_t k = 0; k < uid.len; k++)
			if (hex_value(uid.s[k]) < 0 && uid.s[k] != '-' && uid.s[k] != '_')
				return false;
		*ret_uid = uid;
		return true;
	}
	return false;
}

/* ---- jobs in a component of the path ---- */

/* Where a path is, in the cgroups of a scheduler that names them after the work in them. */
enum job_place { JOB_NONE, JOB_ABOVE, JOB_OF_USER, JOB_JOB, JOB_STEP, JOB_ALLOCATIONS, JOB_TASK };

/*
 * From one component to the next. '#' is a number, '*' any text, '%' a UUID. A row from JOB_NONE
 * holds anywhere.
 */
static const struct {
	enum job_place from;
	const char *pattern;
	enum job_place to;
} job_rows[] = {
	/* Slurm with cgroup v1; several slurmd on a machine have their node in the name. */
	{JOB_NONE, "slurm", JOB_ABOVE},
	{JOB_NONE, "slurm_*", JOB_ABOVE},
	{JOB_ABOVE, "uid_#", JOB_OF_USER},
	{JOB_OF_USER, "job_#", JOB_JOB},
	/* Slurm with cgroup v2. */
	{JOB_NONE, "slurmstepd.scope", JOB_OF_USER},
	{JOB_NONE, "*_slurmstepd.scope", JOB_OF_USER},
	{JOB_JOB, "step_*", JOB_STEP},
	/* Nomad with cgroup v2, and with v1. */
	{JOB_NONE, "nomad.slice", JOB_ALLOCATIONS},
	{JOB_NONE, "nomad", JOB_ALLOCATIONS},
	{JOB_ALLOCATIONS, "share.slice", JOB_ALLOCATIONS},
	{JOB_ALLOCATIONS, "share", JOB_ALLOCATIONS},
	{JOB_ALLOCATIONS, "reserve.slice", JOB_ALLOCATIONS},
	{JOB_ALLOCATIONS, "reserve", JOB_ALLOCATIONS},
	{JOB_ALLOCATIONS, "%.*", JOB_TASK},
	{JOB_ALLOCATIONS, "%-*", JOB_TASK},
};

#define UUID_LEN 36

/* "8ba85cef-5b0e-4c1c-9f3a-0a1b2c3d4e5f", also with more behind it. */
static bool begins_with_uuid(struct text_part text)
{
	if (text.len < UUID_LEN)
		return false;
	for (size_t i = 0; i < UUID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text.s[i] != '-' : hex_value(text.s[i]) < 0)
			return false;
	}
	return true;
}

/* How many it begins with. */
static size_t digits(struct text_part text)
{
	size_t len = 0;

	while (len < text.len && is_digit(text.s[len]))
		len++;
	return len;
}

static bool matches_job(struct text_part text, const char *pattern)
{
	if (*pattern == '*')
		return part_cut_suffix(&text, pattern + 1) && text.len;
	for (; *pattern && *pattern != '*'; pattern++) {
		size_t len = *pattern == '%'   ? (begins_with_uuid(text) ? UUID_LEN : 0)
			     : *pattern == '#' ? digits(text)
					       : (size_t)(text.len && *text.s == *pattern);

		if (!len)
			return false;
		text = part_behind(text, len);
	}
	return *pattern ? text.len : !text.len;
}

static enum job_place job_next(enum job_place place, struct text_part component)
{
	for (size_t i = 0; i < ARRAY_SIZE(job_rows); i++) {
		if ((job_rows[i].from == place || job_rows[i].from == JOB_NONE) &&
		    matches_job(component, job_rows[i].pattern))
			return job_rows[i].to;
	}
	return JOB_NONE;
}

/* Whether the component is above the work, as the directory of an engine is above containers. */
static bool is_above_work(enum job_place place)
{
	return place != JOB_NONE && place != JOB_STEP && place != JOB_TASK;
}

/*
 * A step below its job, or a task with its allocation: false if the component is neither. It is in
 * whatever container was found above.
 */
static bool set_task(enum job_place place, struct text_part parent, struct text_part component,
		     struct proc_cgroup *cgroup)
{
	const size_t end = (size_t)(component.s + component.len - cgroup->path.s);
	struct text_part task = component, pod = parent;

	if (place == JOB_TASK) {
		pod = (struct text_part){component.s, UUID_LEN};
		task = part_behind(component, UUID_LEN + 1);
		part_cut_suffix(&task, ".scope");
	}
	if ((place != JOB_STEP && place != JOB_TASK) || !task.len)
		return false;
	cgroup->pod = pod;
	cgroup->pod_path = place == JOB_STEP ? (size_t)(parent.s + parent.len - cgroup->path.s) : 0;
	cgroup->container = task;
	cgroup->container_id = (struct text_part){};
	cgroup->container_path = end;
	return true;
}

size_t cgroup_unescape(struct text_part name, char *buf, size_t cap)
{
	size_t len = 0;

	while (name.len) {
		char c = hex_next(&name);

		if (len == cap || !c || c == '/')
			return 0;
		buf[len++] = c;
	}
	return len;
}

/* ---- managers ---- */

/* "user@1000.service", which the system's manager starts for a user. */
static bool user_of_manager(struct text_part unit, struct text_part *ret_uid)
{
	uint64_t uid;

	if (!part_cut_prefix(&unit, "user@") || !part_cut_suffix(&unit, ".service") ||
	    parse_u64(unit.s, unit.len, UINT32_MAX, &uid) < 0)
		return false;
	*ret_uid = unit;
	return true;
}

static void add_manager(struct cgroup_managers *m, enum cgroup_manager_kind kind,
			struct text_part name)
{
	const struct cgroup_manager manager = {kind, name};

	if (!m->outer.kind)
		m->inner = m->outer = manager;
	else if (kind != MANAGER_OTHER)
		m->inner = manager;
}

/*
 * True for a cgroup of root's between the hierarchy's root and a unit or container of root's: a
 * slice, a directory of an engine or of the kubelet, or one above our cgroup namespace ("..").
 */
static bool is_passed(struct text_part component, bool slice)
{
	static const char *const engine[] = {
		"docker",   "libpod_parent", "lxc",	  "lxc.payload",
		"kubepods", "besteffort",    "burstable", ".."};
	struct text_part uid;

	for (size_t i = 0; i < ARRAY_SIZE(engine); i++)
		if (part_is(component, engine[i]))
			return true;
	return slice || !component.len || cgroup_pod_uid(component, &uid);
}

/* The text of a manager. Containers of systemd-nspawn have escapes in their names. */
static struct text_part manager_name(const struct cgroup_manager *m, char *buf, size_t cap)
{
	size_t len = m->kind == MANAGER_CONTAINER ? cgroup_unescape(m->name, buf, cap) : 0;

	return len ? (struct text_part){buf, len} : m->name;
}

size_t cgroup_name(struct text_part name, const struct cgroup_managers *m, char *buf, size_t cap)
{
	char inner_name[256], outer_name[256];
	struct text_part inner = manager_name(&m->inner, inner_name, sizeof(inner_name));
	struct text_part outer = manager_name(&m->outer, outer_name, sizeof(outer_name));
	const char *in = m->inner.kind == MANAGER_USER ? "user" : "in";
	const char *of = m->outer.kind == MANAGER_USER ? "of user" : "in";
	int len;

	if (!m->outer.kind)
		len = snprintf(buf, cap, "%.*s", (int)name.len, name.s);
	else if (m->inner.name.s == m->outer.name.s)
		len = snprintf(buf, cap, "%.*s (%s %.*s)", (int)name.len, name.s, in,
			       (int)inner.len, inner.s);
	else
		len = snprintf(buf, cap, "%.*s (%s %.*s %s %.*s)", (int)name.len, name.s, in,
			       (int)inner.len, inner.s, of, (int)outer.len, outer.s);
	return len < 0 || (size_t)len >= cap ? 0 : (size_t)len;
}

/* ---- /proc/PID/cgroup ---- */

/* The end of the path of a removed cgroup (cgroup_is_dead() in proc_cgroup_show()). */
static const char removed[] = " (deleted)";

/* Adds what manages the cgroups below this one: a container, a user's manager, or another unit. */
static void add_manager_of_component(struct text_part component, struct text_part unit, bool slice,
				     struct text_part container, enum job_place place,
				     struct cgroup_managers *managers)
{
	struct text_part uid;

	if (container.s)
		add_manager(managers, MANAGER_CONTAINER, container);
	else if (unit.s && !slice && user_of_manager(unit, &uid))
		add_manager(managers, MANAGER_USER, uid);
	else if (!is_passed(component, slice) && !is_above_work(place))
		add_manager(managers, MANAGER_OTHER, unit.s ? unit : component);
}

static void find_unit_and_container(struct proc_cgroup *cgroup)
{
	struct text_part rest = cgroup->path, parent = {"", 0};
	struct cgroup_managers managers = {};
	enum job_place place = JOB_NONE;
	bool unit_is_slice = true;

	part_cut_suffix(&rest, removed);
	while (rest.len) {
		struct text_part component = part_split(&rest, '/');
		size_t path = (size_t)(component.s + component.len - cgroup->path.s);
		struct text_part unit = {}, container = {}, id = {}, uid;
		bool slice = false;

		/* The innermost unit counts; a slice counts only without another unit. */
		if (unit_name(component, &unit, &slice) && (!slice || unit_is_slice)) {
			cgroup->unit = unit;
			cgroup->unit_managers = managers;
			cgroup->unit_path = path;
			unit_is_slice = slice;
		}
		if (component.len && container_name(parent, component, &container, &id)) {
			cgroup->container = container;
			cgroup->container_id = id;
			cgroup->container_managers = managers;
			cgroup->container_path = path;
			cgroup->pod_path = 0;
			cgroup->pod = (struct text_part){};
			if (id.s && cgroup_pod_uid(parent, &uid))
				cgroup->pod_path = (size_t)(parent.s + parent.len - cgroup->path.s);
		}
		place = container.s ? JOB_NONE : job_next(place, component);
		if (set_task(place, parent, component, cgroup)) {
			cgroup->container_managers = managers;
			container = cgroup->container;
		}
		add_manager_of_component(component, unit, slice, container, place, &managers);
		parent = component;
	}
}

int proc_cgroup_parse(const char *text, size_t len, struct proc_cgroup *ret)
{
	struct text_part rest = {text, len}, line, path[PATH_KINDS] = {0};
	struct proc_cgroup cgroup = {0};
	enum path_kind kind;

	/* A line without its end is cut off, and its path would be wrong. */
	while (line_next(&rest, &line))
		parse_line(line, path);
	kind = choose_path(path);
	if (kind == PATH_KINDS)
		return -ENOENT;
	cgroup.path = path[kind];
	cgroup.controlled = kind == (path[MEMORY_V1].s ? MEMORY_V1 : UNIFIED);
	find_unit_and_container(&cgroup);
	*ret = cgroup;
	return 0;
}

/* ---- /proc/PID/mountinfo ---- */

/* False if the field is too long, is no path, or has a NUL. */
static bool copy_path(struct text_part field, char *buf, size_t cap)
{
	size_t len = octal_decode(field, buf, cap);

	return len && len < cap && *buf == '/';
}

/* "32 31 0:29 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory" */
static bool parse_mount(struct text_part line, struct cgroup_mount *ret)
{
	struct text_part root, point, kind, field;

	for (int i = 0; i < 3; i++)
		part_split(&line, ' ');
	root = part_split(&line, ' ');
	point = part_split(&line, ' ');
	do {
		field = part_split(&line, ' ');
	} while (line.len && !part_is(field, "-"));
	kind = part_split(&line, ' ');
	part_split(&line, ' ');
	ret->v2 = part_is(kind, "cgroup2");
	if (!ret->v2 && !(part_is(kind, "cgroup") &&
			  part_lists(part_split(&line, ' '), ',', part_of("memory"))))
		return false;
	return copy_path(root, ret->root, sizeof(ret->root)) &&
	       copy_path(point, ret->point, sizeof(ret->point));
}

bool cgroup_mount_next(struct text_part *rest, struct cgroup_mount *ret)
{
	struct text_part line;

	while (line_next(rest, &line)) {
		if (parse_mount(line, ret))
			return true;
	}
	return false;
}

const char *cgroup_below(const char *root, const char *path)
{
	size_t len = strlen(root);

	if (*path != '/')
		return NULL;
	/* Every path is below "/"; "/a" and "/a/b" are below "/a", "/ab" is not. */
	while (len && root[len - 1] == '/')
		len--;
	if (strncmp(path, root, len) != 0 || (path[len] && path[len] != '/'))
		return NULL;
	path += len;
	while (*path == '/')
		path++;
	for (const char *part = path; *part; part += strspn(part, "/")) {
		size_t n = strcspn(part, "/");

		if (n == 2 && memcmp(part, "..", 2) == 0)
			return NULL;
		part += n;
	}
	return path;
}

/* 0 for the root: so each level of any path is a '/' and a name. */
static size_t path_len(const char *path)
{
	return strcmp(path, "/") == 0 ? 0 : strlen(path);
}

size_t cgroup_seen_from(const char *root, const char *path, char *buf, size_t cap)
{
	size_t root_len = path_len(root), len = path_len(path), common = 0, at = 0;

	for (size_t i = 0; i <= root_len && i <= len; i++) {
		if ((i == root_len || root[i] == '/') && (i == len || path[i] == '/'))
			common = i;
		if (i == root_len || i == len || root[i] != path[i])
			break;
	}
	for (size_t i = common; i < root_len; i++) {
		if (root[i] != '/')
			continue;
		if (cap - at <= strlen("/.."))
			return 0;
		at += (size_t)sprintf(buf + at, "/..");
	}
	path = at || common < len ? path + common : "/";
	len = at || common < len ? len - common : 1;
	if (cap - at <= len)
		return 0;
	memcpy(buf + at, path, len);
	buf[at + len] = '\0';
	return at + len;
}
