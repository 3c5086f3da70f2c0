// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* proc_cgroup_parse(): the path, and the unit and container in its components. */
#include "test_proc.h"

#include "proc/cgroup.h"

#define ID    "3f9a6b5d1c0e2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c"
#define OTHER "aaaaaaaaaaaa2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c"
#define SHORT "3f9a6b5d1c0e"
#define POD   "kubepods-burstable-pod1b0c.slice"

static void assert_part(struct text_part part, const char *expected, const char *where)
{
	if (!expected) {
		if (part.s)
			fail_msg("'%.*s' instead of none in %s", (int)part.len, part.s, where);
	} else if (!part.s || part.len != strlen(expected) ||
		   memcmp(part.s, expected, part.len) != 0) {
		fail_msg("'%.*s' instead of '%s' in %s", (int)part.len, part.s ? part.s : "",
			 expected, where);
	}
}

static void assert_parsed(const char *text, const char *path, const char *unit,
			  const char *container)
{
	size_t len = strlen(text);
	cleanup_free char *copy = exact_copy(text, len);
	struct proc_cgroup c;

	assert_int_equal(proc_cgroup_parse(copy, len, &c), 0);
	assert_part(c.path, path, text);
	assert_part(c.unit, unit, text);
	assert_part(c.container, container, text);
}

/* In the unified hierarchy. */
static void assert_path(const char *path, const char *unit, const char *container)
{
	char text[1024];

	snprintf(text, sizeof(text), "0::%s\n", path);
	assert_parsed(text, path, unit, container);
}

static void assert_fixture(const char *name, const char *path, const char *unit,
			   const char *container)
{
	size_t len;
	cleanup_free char *text = fixture(name, &len);
	struct proc_cgroup c;

	assert_int_equal(proc_cgroup_parse(text, len, &c), 0);
	assert_part(c.path, path, name);
	assert_part(c.unit, unit, name);
	assert_part(c.container, container, name);
}

TEST(hierarchies)
{
	assert_fixture("cgroup-v2", "/system.slice/ssh.service", "ssh.service", NULL);
	assert_fixture("cgroup-v1", "/user.slice/user-1000.slice/session-3.scope",
		       "session-3.scope", NULL);
	assert_fixture("cgroup-hybrid-docker", "/docker/" ID, NULL, SHORT);

	/* The memory controller's hierarchy, alone or mounted with others, and by its whole name.
	 */
	assert_parsed("0::/u\n1:name=systemd:/s\n4:memory:/m\n", "/m", NULL, NULL);
	assert_parsed("0::/u\n4:cpu,memory:/m\n", "/m", NULL, NULL);
	assert_parsed("0::/u\n4:memory,cpu:/m\n", "/m", NULL, NULL);
	assert_parsed("0::/u\n4:memoryx:/m\n5:xmemory:/m\n6:cpu,memor:/m\n", "/u", NULL, NULL);
	assert_parsed("0::/u\n4:name=memory:/m\n", "/u", NULL, NULL);
	/* The process is in the root: the next path counts. */
	assert_parsed("4:memory:/\n1:name=systemd:/s\n0::/u\n", "/u", NULL, NULL);
	assert_parsed("4:memory:/\n1:name=systemd:/s\n0::/\n", "/s", NULL, NULL);
	assert_parsed("4:memory:/\n1:name=systemd:/\n0::/\n", "/", NULL, NULL);
	assert_parsed("1:name=systemd:/s\n", "/s", NULL, NULL);
	/* Only "0" without controllers is the unified hierarchy. */
	assert_parsed("1::/x\n0:cpu:/y\n0::/u\n", "/u", NULL, NULL);
	/* The first line counts. */
	assert_parsed("0::/a\n0::/b\n", "/a", NULL, NULL);
	assert_parsed("4:memory:/a\n5:memory:/b\n", "/a", NULL, NULL);
	assert_parsed("1:name=systemd:/a\n2:name=systemd:/b\n", "/a", NULL, NULL);
}

TEST(units)
{
	assert_path("/", NULL, NULL);
	assert_path("/init.scope", "init.scope", NULL);
	assert_path("/user.slice/user-1000.slice/user@1000.service/app.slice/app-foo.scope",
		    "app-foo.scope", NULL);
	assert_path("/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service",
		    "foo.service", NULL);
	assert_path("/user.slice/user-1000.slice/user@1000.service/init.scope", "init.scope", NULL);
	/* Below the unit, and in a slice inside it. */
	assert_path("/system.slice/foo.service/worker/1", "foo.service", NULL);
	assert_path("/user.slice/user-1000.slice/user@1000.service/app.slice", "user@1000.service",
		    NULL);
	assert_path("/system.slice/dbus.socket", "dbus.socket", NULL);
	assert_path("/system.slice/home.mount", "home.mount", NULL);
	assert_path("/system.slice/dev-sda2.swap", "dev-sda2.swap", NULL);
	/* A slice counts only without another unit; the root slice never. */
	assert_path("/user.slice/user-1000.slice", "user-1000.slice", NULL);
	assert_path("/user.slice/user-1000.slice/tmux", "user-1000.slice", NULL);
	assert_path("/-.slice/x", NULL, NULL);
	assert_path("/a/.service/.slice/b.services/service", NULL, NULL);
	/* systemd puts '_' before a name that could be a file of the kernel. */
	assert_path("/system.slice/_memory.service", "memory.service", NULL);
	assert_path("/system.slice/foo@a\\x2db.service", "foo@a\\x2db.service", NULL);
	/* Colons and blanks belong to the path. */
	assert_path("/system.slice/a:b c.service", "a:b c.service", NULL);
}

TEST(kept_as_they_are)
{
	assert_path("/system.slice/foo.service (deleted)", "foo.service", NULL);
	assert_path("/docker/" ID " (deleted)", NULL, SHORT);
	assert_path("/../../system.slice/foo.service", "foo.service", NULL);
	assert_path("/..", NULL, NULL);
	assert_path("/../docker-" ID ".scope", "docker-" ID ".scope", SHORT);
	assert_path("//a///b.service//", "b.service", NULL);
}

TEST(containers)
{
	assert_path("/docker/" ID, NULL, SHORT);
	assert_path("/docker/" ID "/system.slice/ssh.service", "ssh.service", SHORT);
	assert_path("/system.slice/docker-" ID ".scope", "docker-" ID ".scope", SHORT);
	assert_path("/build/" ID, NULL, SHORT); /* docker run --cgroup-parent=/build */
	assert_path("/machine.slice/libpod-" ID ".scope/container", "libpod-" ID ".scope", SHORT);
	assert_path("/libpod_parent/libpod-" ID, NULL, SHORT);
	assert_path("/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope",
		    NULL);
	assert_path("/kubepods.slice/" POD "/cri-containerd-" ID ".scope",
		    "cri-containerd-" ID ".scope", SHORT);
	assert_path("/kubepods/burstable/pod1b0c/" ID, NULL, SHORT);
	assert_path("/kubepods/besteffort/pod1b0c", NULL, NULL);
	assert_path("/system.slice/containerd.service/" POD ":cri-containerd:" ID,
		    "containerd.service", SHORT);
	assert_path("/system.slice:docker:" ID, NULL, SHORT);
	assert_path("/kubepods.slice/" POD "/crio-" ID ".scope", "crio-" ID ".scope", SHORT);
	assert_path("/kubepods.slice/" POD "/crio-conmon-" ID ".scope", "crio-conmon-" ID ".scope",
		    NULL);
	/* A container in a container: the inner container. */
	assert_path("/docker/" OTHER "/docker/" ID, NULL, SHORT);
	assert_path("/lxc.payload.web/system.slice/docker-" ID ".scope", "docker-" ID ".scope",
		    SHORT);
}

TEST(not_ids)
{
	char path[256];

	snprintf(path, sizeof(path), "/docker/%.63s", ID);
	assert_path(path, NULL, NULL);
	assert_path("/docker/" ID "0", NULL, NULL);
	snprintf(path, sizeof(path), "/docker/%.63sg", ID);
	assert_path(path, NULL, NULL);
	snprintf(path, sizeof(path), "/docker/%.63sF", ID);
	assert_path(path, NULL, NULL);
	assert_path("/docker", NULL, NULL);
	assert_path("/system.slice/docker.service", "docker.service", NULL);
	assert_path("/other-" ID ".scope", "other-" ID ".scope", NULL);
	assert_path("/x:other:" ID, NULL, NULL);
	assert_path("/docker:" ID, NULL, NULL);
	assert_path("/docker_" ID, NULL, NULL);
	assert_path("/-" ID, NULL, NULL);
	assert_path("/:" ID, NULL, NULL);
}

TEST(named_containers)
{
	assert_path("/lxc/web", NULL, "web");
	assert_path("/lxc/101/ns/system.slice/ssh.service", "ssh.service", "101");
	assert_path("/lxc", NULL, NULL);
	assert_path("/lxc/", NULL, NULL);
	assert_path("/lxc//web", NULL, NULL);
	assert_path("/lxc.payload/web", NULL, "web");
	assert_path("/lxc.payload.web-1/init.scope", "init.scope", "web-1");
	assert_path("/lxc.payload.", NULL, NULL);
	assert_path("/lxc.monitor.web", NULL, NULL);
	assert_path("/lxc/lxc.monitor.web", NULL, NULL);
	assert_path("/lxc.monitor/web", NULL, NULL);
	assert_path("/machine.slice/machine-web\\x2d1.scope/payload", "machine-web\\x2d1.scope",
		    "web\\x2d1");
	assert_path("/machine.slice/systemd-nspawn@web.service/payload",
		    "systemd-nspawn@web.service", "web");
	assert_path("/machine.slice/systemd-nspawn@.service", "systemd-nspawn@.service", NULL);
	assert_path("/machine.slice/machine-.scope", "machine-.scope", NULL);
	assert_path("/system.slice/machine-web.scope", "machine-web.scope", NULL);
	assert_path("/machine.slice/x/machine-web.scope", "machine-web.scope", NULL);
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
	size_t len;
	cleanup_free char *garbage = fixture("garbage", &len);
	cleanup_free char *line = malloc(65536);
	struct proc_cgroup c;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_refused(refused[i], strlen(refused[i]));
	assert_refused(garbage, len);
	assert_int_equal(proc_cgroup_parse(NULL, 0, &c), -ENOENT);
	assert_non_null(line);
	memset(line, ':', 65536);
	assert_refused(line, 65536);
	memset(line, '/', 65536);
	memcpy(line, "0::", 3);
	assert_refused(line, 65536);
	line[65535] = '\n';
	assert_int_equal(proc_cgroup_parse(line, 65536, &c), 0);
	assert_int_equal(c.path.len, 65532);
	assert_null(c.unit.s);
	/* A cut line does not count, earlier lines do. */
	assert_parsed("0::/u\n1:name=systemd:/s\n4:memory:/m", "/u", NULL, NULL);
}

static void assert_inside(struct text_part outer, struct text_part inner)
{
	if (!inner.s)
		return;
	assert_true(inner.len > 0);
	assert_true(inner.s >= outer.s && inner.s + inner.len <= outer.s + outer.len);
	assert_null(memchr(inner.s, '\n', inner.len));
}

static void check_mutation(const char *text, size_t len)
{
	struct text_part all = {text, len};
	struct proc_cgroup c;

	if (proc_cgroup_parse(text, len, &c) < 0)
		return;
	assert_non_null(c.path.s);
	assert_int_equal(c.path.s[0], '/');
	assert_inside(all, c.path);
	assert_int_equal(c.path.s[c.path.len], '\n');
	assert_int_equal(c.path.s[-1], ':');
	assert_inside(c.path, c.unit);
	assert_inside(c.path, c.container);
	if (c.unit.s)
		assert_null(memchr(c.unit.s, '/', c.unit.len));
	if (c.container.s)
		assert_null(memchr(c.container.s, '/', c.container.len));
}

TEST(mutations)
{
	mutate_fixture("cgroup-v1", check_mutation);
	mutate_fixture("cgroup-v2", check_mutation);
	mutate_fixture("cgroup-hybrid-docker", check_mutation);
}

/* The length of the path to the unit and to the container, and the hierarchy of the path. */
static void assert_led(const char *text, const char *unit, const char *container, bool controlled)
{
	size_t len = strlen(text);
	cleanup_free char *copy = exact_copy(text, len);
	struct proc_cgroup c;

	assert_int_equal(proc_cgroup_parse(copy, len, &c), 0);
	if (c.unit_path != strlen(unit) || memcmp(c.path.s, unit, c.unit_path) != 0)
		fail_msg("unit: '%.*s' and not '%s' in %s", (int)c.unit_path, c.path.s, unit, text);
	if (c.container_path != strlen(container) ||
	    memcmp(c.path.s, container, c.container_path) != 0)
		fail_msg("container: '%.*s' and not '%s' in %s", (int)c.container_path, c.path.s,
			 container, text);
	if (c.controlled != controlled)
		fail_msg("%scontrolled: %s", controlled ? "not " : "", text);
}

TEST(paths)
{
	static const char docker[] = "/system.slice/docker-" ID ".scope";

	assert_led("0::/\n", "", "", true);
	assert_led("0::/a\n", "", "", true);
	assert_led("0::/system.slice/a.service/worker/1\n", "/system.slice/a.service", "", true);
	assert_led("0::/system.slice/a.service\n", "/system.slice/a.service", "", true);
	/* The innermost unit counts, and a slice without another unit. */
	assert_led("0::/user.slice/user-1.slice/user@1.service/app.slice/x.scope/y\n",
		   "/user.slice/user-1.slice/user@1.service/app.slice/x.scope", "", true);
	assert_led("0::/a.slice/b.slice/c\n", "/a.slice/b.slice", "", true);
	assert_led("0::/system.slice/docker-" ID ".scope/init/x\n", docker, docker, true);
	assert_led("0::/docker/" ID "\n", "", "/docker/" ID, true);
	assert_led("0::/docker/" ID "/docker/" OTHER "/x\n", "", "/docker/" ID "/docker/" OTHER,
		   true);
	assert_led("0::/machine.slice/libpod-" ID ".scope/container\n",
		   "/machine.slice/libpod-" ID ".scope", "/machine.slice/libpod-" ID ".scope",
		   true);
	assert_led("0::/kubepods.slice/" POD "/cri-containerd-" ID ".scope\n",
		   "/kubepods.slice/" POD "/cri-containerd-" ID ".scope",
		   "/kubepods.slice/" POD "/cri-containerd-" ID ".scope", true);
	assert_led("0::/kubepods/burstable/pod1/" ID "/x\n", "", "/kubepods/burstable/pod1/" ID,
		   true);
	assert_led("0::/kubepods.slice/" POD "/crio-" ID ".scope/container\n",
		   "/kubepods.slice/" POD "/crio-" ID ".scope",
		   "/kubepods.slice/" POD "/crio-" ID ".scope", true);
	assert_led("0::/lxc.payload.web/system.slice/x.service\n",
		   "/lxc.payload.web/system.slice/x.service", "/lxc.payload.web", true);
	assert_led("5:memory:/lxc/web/x\n", "", "/lxc/web", true);
	/* A removed cgroup has no values. */
	assert_led("0::/system.slice/a.service/x (deleted)\n", "/system.slice/a.service", "",
		   false);
	/* Memory is in v1: paths of other hierarchies are not those of memory. */
	assert_led("4:memory:/a\n0::/system.slice/a.service\n", "", "", true);
	assert_led("4:memory:/\n0::/system.slice/a.service\n", "/system.slice/a.service", "",
		   false);
	assert_led("4:memory:/\n1:name=systemd:/a.service\n", "/a.service", "", false);
	assert_led("4:memory:/\n1:name=systemd:/\n0::/\n", "", "", true);
	assert_led("4:cpu:/\n1:name=systemd:/a.service\n0::/\n", "/a.service", "", false);
	assert_led("4:cpu:/x\n0::/y\n", "", "", true);
	assert_led("1:name=systemd:/a.service\n", "/a.service", "", false);
}
