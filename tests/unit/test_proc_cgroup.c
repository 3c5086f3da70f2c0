// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* proc_cgroup_parse(): the path, and the unit and container in its components. */
#include "test_proc.h"

#include "proc/cgroup.h"

#define ID63	"3f9a6b5d1c0e2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3"
#define ID	ID63 "c"
#define OTHER	"aaaaaaaaaaaa2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c"
#define SHORT	"3f9a6b5d1c0e"
#define POD	"kubepods-burstable-pod1b0c.slice"
#define USER	"/user.slice/user-1000.slice"
#define DELETED " (deleted)"

static void assert_part(struct text_part part, const char *expected, const char *where)
{
	if (!expected != !part.s ||
	    (expected && (part.len != strlen(expected) || memcmp(part.s, expected, part.len))))
		fail_msg("'%.*s' instead of '%s' in %s", (int)part.len, part.s ? part.s : "",
			 expected ? expected : "none", where);
}

/* `len` is that of the path as far as the component that the name is in. */
static void assert_way(size_t len, struct text_part name, struct text_part path, const char *where)
{
	char rest[1024] = "", *deleted;

	if (name.s)
		snprintf(rest, sizeof(rest), "%.*s", (int)(path.s + path.len - name.s), name.s);
	deleted = strstr(rest, DELETED);
	if (deleted)
		*deleted = '\0';
	if (len != (name.s ? (size_t)(name.s - path.s) + strcspn(rest, "/") : 0))
		fail_msg("'%.*s' leads to '%s' in %s", (int)len, path.s, rest, where);
}

struct sample {
	const char *text;
	const char *path;
	bool controlled;
	const char *unit, *container;
};

static void check_text(const struct sample *s, const char *text, size_t len)
{
	cleanup_free char *copy = exact_copy(text, len);
	struct proc_cgroup c;

	assert_int_equal(proc_cgroup_parse(copy, len, &c), 0);
	assert_part(c.path, s->path, s->text);
	assert_part(c.unit, s->unit, s->text);
	assert_part(c.container, s->container, s->text);
	assert_way(c.unit_path, c.unit, c.path, s->text);
	assert_way(c.container_path, c.container, c.path, s->text);
	if (c.controlled != s->controlled)
		fail_msg("%scontrolled: %s", s->controlled ? "not " : "", s->text);
}

TEST(hierarchies)
{
	static const struct sample fixtures[] = {
		{"cgroup-v2", "/system.slice/ssh.service", true, "ssh.service"},
		{"cgroup-v1", USER "/session-3.scope", true, "session-3.scope"},
		{"cgroup-hybrid-docker", "/docker/" ID, true, NULL, SHORT},
	};
	static const struct sample texts[] = {
		/* The memory controller's hierarchy, alone or with others, and by its whole name.
		 */
		{"0::/u\n1:name=systemd:/s\n4:memory:/m\n", "/m", true},
		{"0::/u\n4:cpu,memory:/m\n", "/m", true},
		{"0::/u\n4:memory,cpu:/m\n", "/m", true},
		{"0::/u\n4:memoryx:/m\n5:xmemory:/m\n6:cpu,memor:/m\n", "/u", true},
		{"0::/u\n4:name=memory:/m\n", "/u", true},
		{"5:memory:/lxc/web/x\n", "/lxc/web/x", true, NULL, "web"},
		{"4:memory:/a\n0::/system.slice/a.service\n", "/a", true},
		{"4:cpu:/x\n0::/y\n", "/y", true},
		/* The process is in the root: the next path counts, which is not that of memory. */
		{"4:memory:/\n1:name=systemd:/s\n0::/u\n", "/u", false},
		{"4:memory:/\n1:name=systemd:/s.slice\n0::/\n", "/s.slice", false, "s.slice"},
		{"4:memory:/\n1:name=systemd:/\n0::/\n", "/", true},
		{"4:cpu:/\n1:name=systemd:/a.service\n0::/\n", "/a.service", false, "a.service"},
		{"1:name=systemd:/s\n", "/s", false},
		/* Only "0" without controllers is the unified hierarchy. */
		{"1::/x\n0:cpu:/y\n0::/u\n", "/u", true},
		/* The first line counts. */
		{"0::/a\n0::/b\n", "/a", true},
		{"4:memory:/a\n5:memory:/b\n", "/a", true},
		{"1:name=systemd:/a\n2:name=systemd:/b\n", "/a", false},
		/* A cut line does not count, earlier lines do. */
		{"0::/u\n1:name=systemd:/s\n4:memory:/m", "/u", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(fixtures); i++) {
		size_t len;
		cleanup_free char *text = fixture(fixtures[i].text, &len);

		check_text(&fixtures[i], text, len);
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		check_text(&texts[i], texts[i].text, strlen(texts[i].text));
}

struct names {
	const char *path, *unit, *container;
};

#define CHECK(paths) check_paths(paths, ARRAY_SIZE(paths))
static void check_paths(const struct names *n, size_t count)
{
	for (; count; count--, n++) {
		char text[1024];
		struct sample s = {text, n->path, true, n->unit, n->container};

		check_text(&s, text, (size_t)snprintf(text, sizeof(text), "0::%s\n", n->path));
	}
}

TEST(units)
{
	static const struct names paths[] = {
		{"/"},
		/* Below the unit, and in a slice inside it. */
		{USER "/user@1000.service/app.slice", "user@1000.service"},
		{"/system.slice/dbus.socket", "dbus.socket"},
		{"/system.slice/home.mount", "home.mount"},
		{"/system.slice/dev-sda2.swap", "dev-sda2.swap"},
		/* A slice counts only without another unit; the root slice never. */
		{"/-.slice/x"},
		/* systemd puts '_' before a name that could be a file of the kernel. */
		{"/system.slice/_memory.service", "memory.service"},
		/*
		 * Kept as they are. The memory controller may have a cgroup of this name: opening
		 * it decides.
		 */
		{"/system.slice/foo.service" DELETED, "foo.service"},
		{"/docker/" ID DELETED, NULL, SHORT},
		{"/../../system.slice/foo.service", "foo.service"},
		{"/.."},
		{"/../docker-" ID ".scope", "docker-" ID ".scope", SHORT},
		{"//a///b.service//", "b.service"},
	};

	CHECK(paths);
}

TEST(containers)
{
	static const struct names paths[] = {
		{"/docker/" ID "/system.slice/ssh.service", "ssh.service", SHORT},
		{"/build/" ID, NULL, SHORT}, /* docker run --cgroup-parent=/build */
		{"/machine.slice/libpod-" ID ".scope/container", "libpod-" ID ".scope", SHORT},
		{"/libpod_parent/libpod-" ID, NULL, SHORT},
		{"/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope"},
		{"/kubepods.slice/" POD "/cri-containerd-" ID ".scope",
		 "cri-containerd-" ID ".scope", SHORT},
		{"/kubepods/burstable/pod1b0c/" ID, NULL, SHORT},
		{"/system.slice/containerd.service/" POD ":cri-containerd:" ID,
		 "containerd.service", SHORT},
		{"/system.slice:docker:" ID, NULL, SHORT},
		{"/kubepods.slice/" POD "/crio-" ID ".scope/c", "crio-" ID ".scope", SHORT},
		{"/kubepods.slice/" POD "/crio-conmon-" ID ".scope", "crio-conmon-" ID ".scope"},
		/* A container in a container: the inner container. */
		{"/docker/" OTHER "/docker/" ID, NULL, SHORT},
		{"/lxc.payload.web/system.slice/docker-" ID ".scope", "docker-" ID ".scope", SHORT},
		/* No ids. */
		{"/docker/" ID "0"},
		{"/docker/" ID63 "F"},
		{"/other-" ID ".scope", "other-" ID ".scope"},
		{"/docker:" ID},
		{"/:" ID},
		/* Names. */
		{"/lxc/web", NULL, "web"},
		{"/lxc"},
		{"/lxc//web"},
		{"/lxc.payload/web", NULL, "web"},
		{"/lxc.payload."},
		{"/lxc/lxc.monitor.web"},
		{"/lxc.monitor/web"},
		{"/machine.slice/machine-web\\x2d1.scope/payload", "machine-web\\x2d1.scope",
		 "web\\x2d1"},
		{"/machine.slice/systemd-nspawn@web.service/payload", "systemd-nspawn@web.service",
		 "web"},
		{"/machine.slice/systemd-nspawn@.service", "systemd-nspawn@.service"},
		{"/machine.slice/x/machine-web.scope", "machine-web.scope"},
	};

	CHECK(paths);
}

#define ALLOC "8ba85cef-5b0e-4c1c-9f3a-0a1b2c3d4e5f"

/* Jobs of Slurm with their steps, allocations of Nomad with their tasks, and what is like them. */
TEST(jobs)
{
	static const struct {
		const char *path, *pod, *container, *pod_cgroup, *managers;
	} paths[] = {
		{"/system.slice/slurmstepd.scope/job_123/step_0/user/task_0", "job_123", "step_0",
		 "/system.slice/slurmstepd.scope/job_123"},
		{"/system.slice/n1_slurmstepd.scope/job_7/step_batch/slurm", "job_7", "step_batch",
		 "/system.slice/n1_slurmstepd.scope/job_7"},
		{"/slurm/uid_1000/job_123/step_extern/task_0", "job_123", "step_extern",
		 "/slurm/uid_1000/job_123"},
		{"/slurm_n1/uid_0/job_4/step_0", "job_4", "step_0", "/slurm_n1/uid_0/job_4"},
		{"/nomad.slice/share.slice/" ALLOC ".redis.scope", ALLOC, "redis"},
		{"/nomad.slice/reserve.slice/" ALLOC ".web.1.scope", ALLOC, "web.1"},
		{"/nomad.slice/" ALLOC ".redis.scope", ALLOC, "redis"},
		{"/nomad/" ALLOC "-redis", ALLOC, "redis"},
		{"/nomad/share/" ALLOC ".redis", ALLOC, "redis"},
		/* What manages them, if it is not the system. */
		{"/docker/" ID "/slurm/uid_0/job_4/step_0", "job_4", "step_0",
		 "/docker/" ID "/slurm/uid_0/job_4", "step_0 (in " SHORT ")"},
		{USER "/user@1000.service/nomad/" ALLOC ".a", ALLOC, "a", NULL, "a (user 1000)"},
		{"/x/slurm/uid_0/job_4/step_0", "job_4", "step_0", "/x/slurm/uid_0/job_4",
		 "step_0 (in x)"},
		/* A container in a step is no part of the job. */
		{"/slurm/uid_0/job_4/step_0/docker/" ID, NULL, SHORT, NULL, SHORT " (in step_0)"},
		{"/nomad.slice/share.slice/docker-" ID ".scope", NULL, SHORT},
		{"/docker/" ID "/slurm/uid_0/job_4", NULL, SHORT},
		/* Neither. */
		{"/slurm/uid_0/job_4"},
		{"/slurm/uid_0/job_x/step_0"},
		{"/slurm/uid_/job_4/step_0"},
		{"/slurm/uid_0/job_4x/step_0"},
		{"/slurm/uid_0/x/job_4/step_0"},
		{"/uid_0/job_4/step_0"},
		{"/job_4/step_0"},
		{"/slurm/uid_0/job_4/step_"},
		{"/slurm_/uid_0/job_4/step_0"},
		{"/_slurmstepd.scope/job_4/step_0"},
		{"/nomad/" ALLOC},
		{"/nomad/" ALLOC "."},
		{"/nomad/8ba85cef-5b0e-4c1c-9f3a-0a1b2c3d4e5.redis"},
		{"/nomad/8ba85cef-5b0e-4c1c-9f3a0-a1b2c3d4e5f.redis"},
		{"/nomad/x/" ALLOC ".redis"},
		{"/share/" ALLOC ".redis"},
		{"/" ALLOC ".redis.scope"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const char *pod = paths[i].pod_cgroup;
		char text[1024], name[CGROUP_NAME_MAX];
		struct proc_cgroup c;
		int len = snprintf(text, sizeof(text), "0::%s\n", paths[i].path);

		assert_int_equal(proc_cgroup_parse(text, (size_t)len, &c), 0);
		assert_part(c.pod, paths[i].pod, text);
		assert_part(c.container, paths[i].container, text);
		assert_part((struct text_part){c.path.s, c.pod_path}, pod ? pod : "", text);
		if (!paths[i].container)
			continue;
		len = (int)cgroup_name(c.container, &c.container_managers, name, sizeof(name));
		assert_part((struct text_part){name, (size_t)len},
			    paths[i].managers ? paths[i].managers : paths[i].container, text);
	}
}

static void assert_name(struct text_part name, const struct cgroup_managers *managers,
			const char *expected, const char *where)
{
	char text[CGROUP_NAME_MAX];
	size_t len = cgroup_name(name, managers, text, sizeof(text));

	assert_part((struct text_part){text, len}, expected, where);
	/* The longest one that fits, and one byte less. */
	assert_int_equal(cgroup_name(name, managers, text, len + 1), len);
	assert_int_equal(cgroup_name(name, managers, text, len), 0);
}

#define MANAGER USER "/user@1000.service"
#define IN_ID	" (in " SHORT ")"

/* The managers of units and containers: a name below a manager is never one of the system. */
TEST(managers)
{
	static const struct names paths[] = {
		{USER "/session-3.scope", "session-3.scope"},
		{MANAGER, "user@1000.service"},
		{MANAGER "/app.slice", "user@1000.service"},
		{MANAGER "/app.slice/postgresql.service", "postgresql.service (user 1000)"},
		{MANAGER "/init.scope", "init.scope (user 1000)"},
		{MANAGER "/user@0.service/a.service", "a.service (user 0 of user 1000)"},
		{MANAGER "/a.service/b.service", "b.service (user 1000)"},
		/* Not the manager of a user. */
		{"/user@x.service/a.service", "a.service (in user@x.service)"},
		{"/user@4294967296.service/a.service", "a.service (in user@4294967296.service)"},
		/* Units in a unit, and in a cgroup that somebody made by hand. */
		{"/system.slice/a.service/b.service", "b.service (in a.service)"},
		{"/system.slice/a.service/b.service/c.scope", "c.scope (in a.service)"},
		{"/system.slice/_cgroup.service/b.service", "b.service (in cgroup.service)"},
		{"/mine/postgresql.service", "postgresql.service (in mine)"},
		{"/mine/user@0.service/a.service", "a.service (user 0 in mine)"},
		{"/mine/system.slice", "system.slice (in mine)"},
		{"/system.slice/mine/a.service", "a.service (in mine)"},
		/* Above our cgroup namespace. */
		{"/../../system.slice/foo.service", "foo.service"},
		/* In a container. */
		{"/system.slice/docker-" ID ".scope/system.slice/ssh.service", "ssh.service" IN_ID,
		 SHORT},
		{"/kubepods/burstable/pod1b0c/" ID "/a.service", "a.service" IN_ID, SHORT},
		{"/kubepods.slice/" POD "/crio-" ID ".scope/a.service", "a.service" IN_ID, SHORT},
		{"/docker/" ID MANAGER "/a.service", "a.service (user 1000 in " SHORT ")", SHORT},
		{MANAGER "/user.slice/libpod-" ID ".scope", "libpod-" ID ".scope (user 1000)",
		 SHORT " (user 1000)"},
		{MANAGER "/user.slice/libpod-" ID ".scope/container/system.slice/ssh.service",
		 "ssh.service (in " SHORT " of user 1000)", SHORT " (user 1000)"},
		{"/system.slice/containerd.service/" POD ":cri-containerd:" ID "/a.service",
		 "a.service (in " SHORT " in containerd.service)",
		 SHORT " (in containerd.service)"},
		{"/build/" ID "/a.service", "a.service (in " SHORT " in build)",
		 SHORT " (in build)"},
		/* Containers with names. */
		{"/lxc.payload/web/init.scope", "init.scope (in web)", "web"},
		{"/lxc.payload.web/init.scope", "init.scope (in web)", "web"},
		{"/machine.slice/machine-web\\x2d1.scope/payload/a.service", "a.service (in web-1)",
		 "web\\x2d1"},
		{MANAGER "/lxc.payload.web", "user@1000.service", "web (user 1000)"},
		{"/mine/lxc.payload.web", NULL, "web (in mine)"},
		{"/lxc/web/lxc/db", NULL, "db (in web)"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const struct names *n = &paths[i];
		char text[1024];
		struct proc_cgroup c;
		int len = snprintf(text, sizeof(text), "0::%s\n", n->path);

		assert_int_equal(proc_cgroup_parse(text, (size_t)len, &c), 0);
		assert_int_equal(!c.unit.s, !n->unit);
		assert_int_equal(!c.container.s, !n->container);
		if (c.unit.s)
			assert_name(c.unit, &c.unit_managers, n->unit, n->path);
		if (c.container.s)
			assert_name(c.container, &c.container_managers, n->container, n->path);
	}
}

TEST(in_container)
{
	assert_true(cgroup_in_container(part_of("/docker/" ID)));
	assert_true(cgroup_in_container(part_of("/lxc/web/x")));
	assert_true(cgroup_in_container(part_of("/a.slice/docker-" ID ".scope/init.scope")));
	assert_false(cgroup_in_container(part_of("/docker")));
	assert_false(cgroup_in_container(part_of("/kubepods/burstable/pod1b0c")));
	assert_false(cgroup_in_container(part_of("")));
}

static void assert_refused(const char *text, size_t len)
{
	cleanup_free char *copy = exact_copy(text, len);
	struct proc_cgroup c, before;

	memset(&c, 0xa5, sizeof(c));
	before = c;
	assert_int_equal(proc_cgroup_parse(copy, len, &c), -ENOENT);
	assert_memory_equal(&c, &before, sizeof(c));
}

TEST(refused)
{
	static const char *const refused[] = {
		"",	      "\n",	      "0::\n", "0::x\n",      "0:/\n",	   "::/x\n",
		"4:cpu:/x\n", "0::/cut.serv", "/\n",   "memory:/x\n", "0::\0/x\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_refused(refused[i], strlen(refused[i]));
}
