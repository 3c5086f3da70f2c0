// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pseudonyms: no name is left, equal names stay equal, cgroups stay in their parents. */
#include "unit.h"

#include "model/pseudonym.h"

static void fill(struct snapshot *s)
{
	static const char *const name[] = {"secret", "secret", "other"};

	strcpy(s->host.name, "machine");
	for (int i = 0; i < 3; i++) {
		struct process *p = snapshot_add(s);

		p->pid = i + 1;
		strcpy(p->comm, name[i]);
		p->name = name[i];
		p->user = "anna";
		p->cmdline = "secret --password x";
		p->cgroup = i ? "/a.slice/secret.service/sub" : "/";
		p->unit = i ? "secret.service" : NULL;
		p->unit_path = i ? strlen("/a.slice/secret.service") : 0;
	}
	s->process[2].cgroup = "/pods/pod-1/cri-0123.scope";
	s->process[2].pod_path = strlen("/pods/pod-1");
	s->process[2].container_id = "0123";
	s->process[2].container = "prod/web-0/app";
	s->process[2].pod = "prod/web-0";
	s->process[2].space = "prod";
	s->memcg_count = 2;
	s->memcg = arena_zalloc(&s->arena, 2, sizeof(*s->memcg));
	s->memcg[0].path = "/a.slice/secret.service";
	s->memcg[1].path = "/b";
}

TEST(names)
{
	cleanup(snapshot_done) struct snapshot s = {}, again = {}, other = {};
	const struct pseudonym_key key = {{1, 2}}, another = {{1, 3}};
	const struct process *p;
	struct process *prefix;

	fill(&s);
	fill(&again);
	fill(&other);
	assert_int_equal(snapshot_hide_names(&s, &key), 0);
	assert_int_equal(snapshot_hide_names(&again, &key), 0);
	assert_int_equal(snapshot_hide_names(&other, &another), 0);
	p = s.process;
	assert_int_equal(strlen(s.host.name), 8);
	assert_int_equal(strlen(p[0].name), 8);
	assert_string_equal(p[0].name, p[0].comm);
	assert_string_equal(p[0].name, p[1].name);
	assert_string_not_equal(p[0].name, p[2].name);
	assert_string_equal(p[0].name, again.process[0].name);
	assert_string_not_equal(p[0].name, other.process[0].name);
	assert_string_not_equal(p[0].user, "anna");
	assert_null(p[0].cmdline);
	assert_string_equal(p[0].cgroup, "/");
	assert_null(p[0].unit);
	assert_int_equal(strlen(p[1].cgroup), strlen("/12345678/12345678/12345678"));
	assert_int_equal(p[1].unit_path, strlen("/12345678/12345678"));
	/* A container stays in its pod, and a pod in its namespace. */
	assert_int_equal(strlen(p[2].container), strlen("12345678/12345678/12345678"));
	assert_memory_equal(p[2].container, p[2].pod, strlen("12345678/12345678"));
	assert_memory_equal(p[2].pod, p[2].space, strlen("12345678"));
	assert_int_equal(strlen(p[2].space), strlen("12345678"));
	assert_null(p[2].container_id);
	assert_int_equal(p[2].pod_path, strlen("/12345678/12345678"));
	prefix = &s.process[1];
	((char *)prefix->cgroup)[prefix->unit_path] = '\0';
	assert_non_null(snapshot_find_memcg(&s, prefix->cgroup));
	assert_null(snapshot_find_memcg(&s, "/a.slice/secret.service"));
}
