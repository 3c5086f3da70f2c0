// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows /proc/PID/cgroup (proc_cgroup_show(), kernel/cgroup/cgroup.c) and how systemd and container
 * runtimes name their cgroups. Refuses to ask any of them: a name is all it goes by.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "proc/cgroup.h"

#define CONTAINER_ID_LEN   64
#define CONTAINER_ID_SHOWN 12

/* Takes `prefix` off the front; false if there is none or nothing behind it. */
static bool take_prefix(struct text_part *part, const char *prefix)
{
	size_t len = strlen(prefix);

	if (part->len <= len || memcmp(part->s, prefix, len) != 0)
		return false;
	part->s += len;
	part->len -= len;
	return true;
}

/* Likewise off the end. */
static bool take_suffix(struct text_part *part, const char *suffix)
{
	size_t len = strlen(suffix);

	if (part->len <= len || memcmp(part->s + part->len - len, suffix, len) != 0)
		return false;
	part->len -= len;
	return true;
}

/* ---- which hierarchy ---- */

enum hierarchy { MEMORY_V1, UNIFIED, SYSTEMD, CGROUP_MOUNTS };

/*
 * "4:memory:/user.slice", or "3:cpu,cpuacct:/" of a co-mounted hierarchy. The path may hold colons,
 * the rest does not.
 */
static void take_line(struct text_part line, struct text_part path[CGROUP_MOUNTS])
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

static enum hierarchy choose_path(const struct text_part path[CGROUP_MOUNTS])
{
	int root = CGROUP_MOUNTS;

	for (int i = 0; i < CGROUP_MOUNTS; i++) {
		if (path[i].len > 1)
			return (enum hierarchy)i;
		if (path[i].s && root == CGROUP_MOUNTS)
			root = i;
	}
	return (enum hierarchy)root;
}

/* ---- what a component of the path says ---- */

/*
 * The unit of that name. systemd puts '_' before names that the kernel might want for its own files
 * ("_memory.service"; cg_needs_escape(), src/basic/cgroup-util.c).
 */
static bool unit_name(struct text_part component, struct text_part *ret_unit, bool *ret_slice)
{
	static const char *const suffix[] = {".service", ".scope", ".socket", ".mount", ".swap"};
	struct text_part stem;

	take_prefix(&component, "_");
	stem = component;
	for (size_t i = 0; i < ARRAY_SIZE(suffix); i++)
		if (take_suffix(&stem, suffix[i])) {
			*ret_unit = component;
			*ret_slice = false;
			return true;
		}
	if (!take_suffix(&stem, ".slice") || part_is(stem, "-"))
		return false;
	*ret_unit = component;
	*ret_slice = true;
	return true;
}

static bool is_container_id(struct text_part part)
{
	if (part.len != CONTAINER_ID_LEN)
		return false;
	for (size_t i = 0; i < part.len; i++)
		if (hex_value(part.s[i]) < 0)
			return false;
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

	take_suffix(&before, ".scope");
	if (before.len < CONTAINER_ID_LEN)
		return false;
	before.len -= CONTAINER_ID_LEN;
	id = (struct text_part){before.s + before.len, CONTAINER_ID_LEN};
	if (!is_container_id(id))
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

/* The container whose outermost cgroup this is. */
static bool container_name(struct text_part parent, struct text_part component,
			   struct text_part *ret_container)
{
	struct text_part name = component;

	if (runtime_id(component, &name)) {
		name.len = CONTAINER_ID_SHOWN;
	} else if (take_prefix(&name, "lxc.monitor.")) {
		return false; /* LXC's own process, outside */
	} else if (take_prefix(&name, "lxc.payload.")) {
		/* LXC 4 */
	} else if (part_is(parent, "lxc") || part_is(parent, "lxc.payload")) {
		/* LXC until 2 and 3. */
	} else if (!part_is(parent, "machine.slice") || !take_prefix(&name, "machine-") ||
		   !take_suffix(&name, ".scope")) {
		return false;
	}
	*ret_container = name;
	return true;
}

/* ---- all of it ---- */

/* A removed cgroup was what its name says (cgroup_is_dead() in proc_cgroup_show()). */
static const char removed[] = " (deleted)";

static void take_components(struct proc_cgroup *cgroup)
{
	struct text_part rest = cgroup->path, parent = {"", 0};
	bool unit_is_slice = true;

	take_suffix(&rest, removed);
	while (rest.len) {
		struct text_part component = part_split(&rest, '/');
		size_t path = (size_t)(component.s + component.len - cgroup->path.s);
		struct text_part unit;
		bool slice;

		/* What comes later is further in. A slice only counts where nothing else does. */
		if (unit_name(component, &unit, &slice) && (!slice || unit_is_slice)) {
			cgroup->unit = unit;
			cgroup->unit_path = path;
			unit_is_slice = slice;
		}
		if (component.len && container_name(parent, component, &cgroup->container))
			cgroup->container_path = path;
		parent = component;
	}
}

int proc_cgroup_parse(const char *text, size_t len, struct proc_cgroup *ret)
{
	struct text_part rest = {text, len}, path[CGROUP_MOUNTS] = {0}, whole;
	struct proc_cgroup cgroup = {0};
	enum hierarchy chosen;

	/* A line without its end is cut off, and its path would be another one. */
	while (rest.len && memchr(rest.s, '\n', rest.len))
		take_line(part_split(&rest, '\n'), path);
	chosen = choose_path(path);
	if (chosen == CGROUP_MOUNTS)
		return -ENOENT;
	cgroup.path = whole = path[chosen];
	cgroup.controlled = chosen == (path[MEMORY_V1].s ? MEMORY_V1 : UNIFIED) &&
			    !take_suffix(&whole, removed);
	take_components(&cgroup);
	*ret = cgroup;
	return 0;
}
