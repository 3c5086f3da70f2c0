// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which processes pass a filter. */
#include "unit.h"

#include <dlfcn.h>

#include "query/filter.h"
#include "query/pattern.h"

static const struct process user = {.pid = 10, .uid = 1000, .name = "bash", .comm = "other"};
static const struct process kthread = {.pid = 2, .kind = PROCESS_KTHREAD, .name = "kthreadd"};
static const struct process zombie = {.pid = 30, .uid = 1000, .kind = PROCESS_ZOMBIE};

TEST(uids)
{
	static const uid_t uids[] = {0, 1000, UINT32_MAX};
	static const pid_t pids[] = {30};
	struct filter f = {.uids = uids, .uid_count = ARRAY_SIZE(uids)};
	struct process p = user;

	assert_true(filter_matches(&f, &user));
	assert_false(filter_matches(&f, &kthread));
	p.uid = 1001;
	assert_false(filter_matches(&f, &p));
	p.uid = UINT32_MAX;
	assert_true(filter_matches(&f, &p));
	/* Both conditions must hold. */
	f.pids = pids;
	f.pid_count = 1;
	assert_false(filter_matches(&f, &user));
	assert_true(filter_matches(&f, &zombie));
}

TEST(pattern)
{
	static const pid_t pids[] = {2, 10, 30};
	struct process p = user;
	struct filter f = {0};
	const char *why;

	assert_int_equal(pattern_compile("^(ba|z)sh$|--serve", &f.pattern, &why), 0);
	assert_true(filter_matches(&f, &p));
	p.name = "python3";
	assert_true(filter_matches_id(&f, &p));
	assert_false(filter_matches(&f, &p));
	p.cmdline = "python3 tool --serve";
	assert_true(filter_matches(&f, &p));
	p.cmdline = NULL;
	p.name = NULL;
	assert_false(filter_matches(&f, &p));
	/* A name may contain any byte. */
	p.name = "\xff\xfe bash";
	assert_false(filter_matches(&f, &p));
	/* A process selected by pid must pass the pattern, too. */
	f.pids = pids;
	f.pid_count = ARRAY_SIZE(pids);
	assert_true(filter_matches(&f, &user));
	assert_false(filter_matches(&f, &kthread));
	assert_false(filter_matches(&f, &zombie));
	pattern_free(f.pattern);
}

TEST(cgroup)
{
	static const struct {
		const char *glob, *path;
		bool want;
	} cases[] = {
		{"/a/b", "/a/b", true},
		{"/a/b", "/a/b/c/d", true},
		{"/a/b", "/a/bc", false},
		{"/a", "/a/b", true},
		{"/", "/", true},
		{"/", "/a", true},
		{"/a", "/", false},
		{"/a/*", "/a/b", true},
		{"/a/*", "/a", false},
		{"/a/*.service", "/a/x/y.service/z", true},
		{"*/y.service", "/a/x/y.service/z", true},
		{"b", "/a/b/c", true},
		{"c", "/a/b/c", true},
		{"d", "/a/b/c", false},
		{"docker-*", "/system.slice/docker-0123.scope", true},
		{"docker-*", "/system.slice/notdocker-0123.scope", false},
		{"[ab].slice", "/b.slice", true},
		{"*", "/a", true},
		{"", "/a", false},
		{"..", "/../a", true},
		{"*/b", "/a/b/c", true},
		{"/*", "/a/b", true},
		{"/a*", "/ab/c", true},
		{"/a?b", "/a/b/c", true},
		{"/a/", "/a/b", false},
		{"/[ab]/c", "/b/c/d", true},
		{"*/c*e", "/a/c/d/e/f", true},
		{"/a/b/c", "/a/b", false},
		{"a", "/", false},
		/* A backslash is a byte as any other, and each name matches itself. */
		{"a\\x2db.scope", "/m.slice/a\\x2db.scope/c", true},
		{"/m.slice/a\\x2db.scope", "/m.slice/a\\x2db.scope/c", true},
		{"/m.slice/a\\*", "/m.slice/a\\x2db.scope", true},
		{"a\\*", "/m.slice/a*", false},
		{"a[\\]b", "/a\\b", true},
		{"\\", "/\\", true},
		{"a\\", "/b/a\\/c", true},
		{"a-b", "/a\\-b", false},
		{"a[1]", "/a[1]/b", true},
		{"/a[1]", "/a[1]/b", true},
		{"/a[1]", "/a[1]b", false},
	};
	struct filter f = {.cgroup = "/a"};
	struct process p = user;
	char path[5000] = "/a";

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(filter_matches_cgroup(cases[i].glob, cases[i].path),
				 cases[i].want);
	assert_false(filter_matches(&f, &p));
	p.cgroup = "/a/b";
	assert_true(filter_matches(&f, &p));
	assert_true(filter_matches_id(&f, &user));
	memset(path + 2, 'a', sizeof(path) - 3);
	assert_false(filter_matches_cgroup("/a", path));
}

TEST(unit)
{
	static const struct {
		const char *globs, *unit;
		bool want;
	} cases[] = {
		{"ssh", "ssh.service", true},
		{"ssh.service", "ssh.service", true},
		{"ssh", "ssh.socket", false},
		{"ssh.socket", "ssh.socket", true},
		{"ssh", "ssh", true},
		{"ssh", "sshd.service", false},
		{"ss", "ssh.service", false},
		{"ssh*", "sshd.service", true},
		{"session-*", "session-3.scope", true},
		{"getty@*", "getty@tty1.service", true},
		{"cron,ssh", "ssh.service", true},
		{"cron, ssh", "cron.service", true},
		{"cron,ssh", "dbus.service", false},
		{"cron,*.scope", "session-3.scope", true},
		{"[cs]*", "cron.service", true},
		{"*", "a.slice", true},
		{"", "ssh.service", false},
		{",", "ssh.service", false},
		{"SSH", "ssh.service", false},
		{".service", "ssh.service", false},
		/* A unit of a user's manager is another one; its name has blanks. */
		{"ssh", "ssh.service (user 1000)", false},
		{"ssh.service (user 1000)", "ssh.service (user 1000)", true},
		{"ssh.service (user 1000)", "ssh.service", false},
		{"cron , ssh.service (user 1000) ,x", "ssh.service (user 1000)", true},
		{"ssh.service (user *)", "ssh.service (user 1000)", true},
		{"ssh.service*", "ssh.service (in 3f9a6b5d1c0e of user 1000)", true},
		{"*(user 1000)", "ssh.service (user 1000)", true},
		{"cron\nssh", "ssh.service", true},
		{"machine-qemu\\x2d3\\x2dvm01.scope", "machine-qemu\\x2d3\\x2dvm01.scope", true},
		{"a\\x2db", "a\\x2db.service", true},
		{"cron,a\\x2d*", "a\\x2db.service", true},
		{"a\\*", "a*", false},
		{"a\\", "a\\", true},
		{"a[\\]x2db", "a\\x2db.service", true},
	};
	const struct filter f = {.units = "cron,ssh"};
	struct process p = user;
	char name[FILTER_UNIT_MAX + 2];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (filter_matches_unit(cases[i].globs, cases[i].unit) != cases[i].want)
			fail_msg("%s of %s", cases[i].unit, cases[i].globs);
	}
	p.unit = NULL;
	assert_false(filter_matches(&f, &p));
	p.unit = "ssh.service";
	assert_true(filter_matches(&f, &p));
	p.unit = "dbus.service";
	assert_false(filter_matches(&f, &p));
	/* The longest name, and one byte more. */
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_false(filter_matches_unit(name, name));
	assert_true(filter_matches_unit(name + 1, name + 1));
}

/* ---- how often a glob is matched ---- */

static unsigned matched;

/* Replaces fnmatch() of glibc and counts its calls. */
int fnmatch(const char *pattern, const char *text, int flags)
{
	int (*real)(const char *, const char *, int) = NULL;

	*(void **)&real = dlsym(RTLD_NEXT, "fnmatch");
	matched++;
	return real(pattern, text, flags);
}

/* A path of 2,000 levels costs one match for any number of processes. */
TEST(deep_cgroups)
{
	static char paths[4][4001];
	const struct filter f = {.cgroup = "*/b/*x"};
	struct snapshot s = {0};
	struct process_list rows = {0};

	for (int k = 0; k < 4; k++) {
		for (int i = 0; i < 4000; i++)
			paths[k][i] = i % 2 ? (char)('a' + k % 3) : '/';
	}
	for (int i = 0; i < 1000; i++) {
		struct process *p = snapshot_add(&s);

		assert_non_null(p);
		p->pid = i + 1;
		p->cgroup = i % 8 == 7 ? NULL : paths[i % 4];
	}
	matched = 0;
	assert_int_equal(filter_rows(&s, &f, filter_matches, &rows), 0);
	assert_int_equal(rows.count, 0);
	assert_int_equal(matched, 3);
	process_list_done(&rows);
	snapshot_done(&s);
}
