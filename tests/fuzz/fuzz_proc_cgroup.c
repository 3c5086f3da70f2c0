// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * /proc/PID/cgroup: units, containers and their managers are parts of the path, and the path is
 * part of the text. A name with its manager ends with that of the outermost one.
 */
#include <errno.h>

#include "fuzz.h"
#include "proc/cgroup.h"

static bool same(struct text_part a, struct text_part b)
{
	return a.len == b.len && !a.s == !b.s && (!a.len || !memcmp(a.s, b.s, a.len));
}

static void check_component(struct text_part part, struct text_part path)
{
	fuzz_check_part(part.s, part.len, path.s, path.len);
	FUZZ_CHECK(!part.s || (part.len && !memchr(part.s, '/', part.len)));
}

/* The path of a unit or container ends with its name or with a runtime's suffix. */
static void check_way(size_t len, struct text_part part, struct text_part path)
{
	FUZZ_CHECK(!len == !part.s && len <= path.len);
	FUZZ_CHECK(!part.s || part.s + part.len <= path.s + len);
	FUZZ_CHECK(!part.s || !memchr(part.s, '/', (size_t)(path.s + len - part.s)));
}

static void check_managers(const struct cgroup_managers *m, struct text_part name,
			   struct text_part path)
{
	char text[CGROUP_NAME_MAX];
	size_t len;

	FUZZ_CHECK(!m->outer.kind == !m->inner.kind && !m->outer.kind == !m->outer.name.s);
	check_component(m->inner.name, path);
	check_component(m->outer.name, path);
	FUZZ_CHECK(!m->outer.kind || (m->outer.name.s <= m->inner.name.s &&
				      m->inner.name.s + m->inner.name.len < name.s));
	/* The longest names that the kernel has, and no NUL, as in its paths. */
	if (!name.s || name.len > 255 || m->inner.name.len > 255 || m->outer.name.len > 255 ||
	    memchr(path.s, '\0', path.len))
		return;
	len = cgroup_name(name, m, text, sizeof(text));
	FUZZ_CHECK(len >= name.len && memcmp(text, name.s, name.len) == 0);
	FUZZ_CHECK(m->outer.kind ? len > name.len + 2 && text[name.len] == ' ' &&
					   text[name.len + 1] == '(' && text[len - 1] == ')'
				 : len == name.len);
	if (m->outer.kind && m->outer.kind != MANAGER_CONTAINER)
		FUZZ_CHECK(memcmp(text + len - 1 - m->outer.name.len, m->outer.name.s,
				  m->outer.name.len) == 0);
}

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_cgroup cgroup = {.path = {"x", 1}}, again;
	const char *text = (const char *)data;
	char *line;
	int len, r = proc_cgroup_parse(text, size, &cgroup);

	if (r < 0) {
		FUZZ_CHECK(r == -ENOENT && cgroup.path.len == 1 && *cgroup.path.s == 'x');
		return 0;
	}
	fuzz_check_part(cgroup.path.s, cgroup.path.len, text, size);
	FUZZ_CHECK(cgroup.path.len && *cgroup.path.s == '/');
	FUZZ_CHECK(!memchr(cgroup.path.s, '\n', cgroup.path.len));
	FUZZ_CHECK(cgroup.path.s[-1] == ':' && cgroup.path.s[cgroup.path.len] == '\n');
	check_component(cgroup.unit, cgroup.path);
	check_component(cgroup.container, cgroup.path);
	check_way(cgroup.unit_path, cgroup.unit, cgroup.path);
	check_way(cgroup.container_path, cgroup.container, cgroup.path);
	/* A pod is the component above its container, or a part of the same one. */
	check_component(cgroup.pod, cgroup.path);
	FUZZ_CHECK(!cgroup.pod.s || (cgroup.container.s && !cgroup.container_id.s &&
				     cgroup.pod.s + cgroup.pod.len < cgroup.container.s));
	FUZZ_CHECK(cgroup.pod_path <= cgroup.container_path);
	if (cgroup.pod.s && cgroup.pod_path)
		check_way(cgroup.pod_path, cgroup.pod, cgroup.path);
	check_managers(&cgroup.unit_managers, cgroup.unit, cgroup.path);
	check_managers(&cgroup.container_managers, cgroup.container, cgroup.path);

	/* The line alone, as a whole file, gives the same result. */
	line = malloc(cgroup.path.len + 4);
	FUZZ_CHECK(line);
	memcpy(line, "0::", 3);
	memcpy(line + 3, cgroup.path.s, cgroup.path.len);
	line[cgroup.path.len + 3] = '\n';
	len = (int)cgroup.path.len + 4;
	FUZZ_CHECK(proc_cgroup_parse(line, (size_t)len, &again) == 0);
	FUZZ_CHECK(same(again.path, cgroup.path) && same(again.unit, cgroup.unit) &&
		   same(again.container, cgroup.container) && same(again.pod, cgroup.pod));
	FUZZ_CHECK(proc_cgroup_parse(line, (size_t)len - 1, &again) == -ENOENT);
	free(line);
	return 0;
}
