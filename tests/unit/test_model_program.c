// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests of program_name(): the program that runs, from executable, comm and command line. Changed
 * and cut command lines: fuzz_model_program.
 */
#include "program_cases.h"

#include "base/cleanup.h"
#include "model/program.h"

static void check(const struct sample *s)
{
	cleanup_free char *copy = copy_cmdline(s);
	struct text_part n = program_name(s->exe, s->comm, copy, s->len);
	struct text_part bare = program_name(s->exe, s->comm, NULL, 0);

	judge(s, n.s, n.len, n.s == bare.s || program_needs_cmdline(s->exe, s->comm));
}

TEST(executables)
{
	static const struct sample samples[] = {
		UNREAD("cat", "cat", "cat"),
		/* What is not an interpreter keeps its name, despite titles and prctl(). */
		S("postgres", "postgres", "postgres: writer process", "postgres"),
		S("nginx", "nginx", "nginx: worker process\0\0\0", "nginx"),
		S("firefox", "Web Content", "/usr/lib/firefox/firefox\0-contentproc", "firefox"),
		S("systemd", "(sd-pam)", "(sd-pam)", "systemd"),
		S("php-fpm8.2", "php-fpm8.2", "php-fpm: pool www", "php-fpm8.2"),
		S("node_exporter", "node_exporter", "node_exporter\0--x", "node_exporter"),
		S("node-problem-detector", "node-problem-de", "npd\0x.py", "node-problem-detector"),
		S("shred", "shred", "shred\0file", "shred"),
		S("rubyist", "rubyist", "rubyist\0file", "rubyist"),
		S("pythonista", "pythonista", "pythonista\0file", "pythonista"),
		/* Files may be named so; that one was removed is told by another bit. */
		UNREAD("foo (deleted)", "foo (deleted)", "foo (deleted)"),
		UNREAD("foo (updated)", "foo (updated)", "foo (updated)"),
		/* Never a file: the name is comm, or the name of the memfd. */
		UNREAD("memfd:payload", "runc:[2:INIT]", "runc:[2:INIT]"),
		UNREAD("memfd:payload", "3", "memfd:payload"),
		UNREAD("memfd:runc_cloned:/proc/self/exe", "6", "memfd:runc_cloned:/proc/self/exe"),
		UNREAD("memfd:a long payload", "memfd:a long pa", "memfd:a long payload"),
		UNREAD("memfd:", "3", "memfd:"),
		UNREAD("", "", ""),
		S("", "", "x", ""),
		/* comm is cut, and the executable was not visible. */
		S("a-long-name-of-", "a-long-name-of-", "/opt/a-long-name-of-mine\0-x",
		  "a-long-name-of-mine"),
		S("a-long-name-of-", "a-long-name-of-", "/bin/interp\0/opt/a-long-name-of-mine.py",
		  "a-long-name-of-mine.py"),
		S("a-long-name-of-", "a-long-name-of-", "other\0words", "a-long-name-of-"),
		UNREAD("a-long-name-of-", "a-long-name-of-", "a-long-name-of-"),
	};

	CHECK_ALL(samples);
}

/* comm and argv[0] have the name of a link that a program was started by. */
TEST(links)
{
	static const struct sample samples[] = {
		S("redis-check-rdb", "redis-server", "/usr/bin/redis-server *:6379\0\0",
		  "redis-server"),
		S("udevadm", "systemd-udevd", "/lib/systemd/systemd-udevd", "systemd-udevd"),
		S("1.2.3", "agent", "agent\0--token\0secret", "agent"),
		S("vim.basic", "vi", "vi\0file", "vi"),
		S("w.procps", "w", "w", "w"),
		S("7zz", "7z", "7z\0x", "7z"),
		S("a-b", "a-link-with-a-l", "./a-link-with-a-long-name\0x",
		  "a-link-with-a-long-name"),
		S("zsh5", "zsh", "-zsh", "zsh"),
		S("mawk", "awk", "awk\0{ print secret }", "awk"),
		UNREAD("redis-check-rdb", "redis-server", "redis-check-rdb"),
		/* Only one of both says so: a title, a thread's name, `exec -a`. */
		S("app", "worker", "app\0x", "app"),
		S("app", "app", "worker\0x", "app"),
		S("app", "worker", "other\0worker", "app"),
		S("app", "worker", "worker2\0x", "app"),
		S("app", "worker-1234567", "worker\0x", "app"),
		S("app", "a-link-with-a-l", "a-link-with-a\0x", "app"),
		/* The same name, which the kernel cut. */
		S("a-long-name-of-mine", "a-long-name-of-", "a-long-name-of-yours",
		  "a-long-name-of-mine"),
		/* They look like no file. */
		S("app", "two words", "two words", "app"),
		S("app", "(child)", "(child)", "app"),
		S("app", "[kworker/0:1]", "[kworker/0:1]", "app"),
		S("app", "title:", "title: x", "app"),
		S("app", "1.2.3", "1.2.3", "app"),
		S("app", ".hidden", ".hidden", "app"),
		S("app", "-", "-", "app"),
		S("app", "\x1b[31m", "\x1b[31m", "app"),
		S("app", "", "", "app"),
		S("app", "x", "\0x", "app"),
		S("app", "x", "/", "app"),
	};

	CHECK_ALL(samples);
}

TEST(wine)
{
	static const struct sample samples[] = {
		S("wine64-preloader", "services.exe", "C:\\windows\\system32\\services.exe\0\0\0",
		  "services.exe"),
		S("wine-preloader", "explorer.exe", "C:\\windows\\system32\\explorer.exe\0/desktop",
		  "explorer.exe"),
		S("wine64", "A Long Name of ", "Z:\\home\\u\\A Long Name of Mine.EXE\0-x y.exe",
		  "A Long Name of Mine.EXE"),
		S("wine64", "app.exe", "/opt/app.exe\0secret", "app.exe"),
		S("wine64", "app.exe", "C:/opt\\app.exe", "app.exe"),
		/* As it was started, without a directory and an ending. */
		S("wine", "notepad", "notepad\0secret.exe", "notepad"),
		/* The words of the loader are still there. */
		S("wine64-preloader", "wine64-preloade",
		  "/usr/lib/wine/wine64-preloader\0/usr/lib/wine/wine64\0C:\\a\\b.exe\0secret.exe",
		  "b.exe"),
		S("wine64", "wine64", "wine64\0--version", "wine64"),
		S("wine64", "wine64", "wine64\0secret\0x.exe", "wine64"),
		S("wine64", "wine64", "wine64", "wine64"),
		S("wine64", "wine64", "C:\\", "wine64"),
		S("wine64", "", "secret", "wine64"),
		UNREAD("wine64-preloader", "services.exe", "services.exe"),
		UNREAD("wine64-preloader", "wine64-preloade", "wine64-preloader"),
		/* Another program. */
		S("wineserver64", "wineserver64", "/usr/lib/wine/wineserver64\0a.exe",
		  "wineserver64"),
	};

	CHECK_ALL(samples);
}

TEST(python)
{
	static const struct sample samples[] = {
		UNREAD("python3.11", "python3", "python3.11"),
		S("python3.11", "python3", "", "python3.11"),
		S("python3.11", "python3", "python3", "python3"),
		S("python3.11", "python3", "python3\0", "python3"),
		S("python3.11", "python3", "/usr/bin/python3\0-i", "python3"),
		S("python3.11", "python3", "python3\0-c\0import secret\0x.py", "python3"),
		S("python3.11", "python3", "python3\0-Bc\0import secret\0x.py", "python3"),
		S("python3.11", "python3", "python3\0-cimport secret\0x.py", "python3"),
		S("python3.11", "python3", "python3\0-\0x.py", "python3"),
		S("python3.11", "foo.py", "/usr/bin/python3\0./foo.py\0secret", "foo.py"),
		S("python3.11", "python3", "python3\0/opt/app/foo.py\0-c\0secret", "foo.py"),
		S("python3.11", "python3", "python3\0-u\0-W\0ignore\0-X\0dev\0a/b.py", "b.py"),
		S("python3.11", "python3", "python3\0-uW\0ignore\0b.py", "b.py"),
		S("python3.11", "python3", "python3\0-Wignore\0-Xdev\0b.py", "b.py"),
		S("python3.11", "python3", "python3\0--check-hash-based-pycs\0always\0b", "b"),
		S("python3.11", "python3", "python3\0--\0b.py", "b.py"),
		S("python3.11", "python3", "python3\0--", "python3"),
		S("python3.11", "python3", "python3\0-W", "python3"),
		S("python3.11", "python3", "python3\0-m", "python3"),
		S("python3.11", "python3", "python3\0-m\0http.server\0008000", "http.server"),
		S("python3.11", "python3", "python3\0-um\0http.server", "http.server"),
		S("python3.11", "python3", "python3\0-mhttp.server", "http.server"),
		S("python3.11", "python3", "python3\0-W\0ignore\0-um\0http.server\00080",
		  "http.server"),
		S("python3.11", "python3", "python3\0/opt/app/", "app"),
		S("python3.11", "python3", "python3\0.", "python3"),
		S("python3.11", "python3", "python3\0/", "python3"),
		S("python3.11", "python3", "python3\0\0secret", "python3"),
		S("python3.11", "python3", "python3\0/dev/fd/63", "python3"),
		S("python3.11", "python3", "python3\0/proc/self/fd/3", "python3"),
		S("python3.11", "python3", "python3\0/dev/stdin", "python3"),
		S("python3.13t", "x", "python3\0x.py", "x.py"),
		S("python3.11-dbg", "x", "python3\0x.py", "x.py"),
		S("python", "x", "python\0x.py", "x.py"),
		S("pypy3-c", "x", "pypy3\0x.py", "x.py"),
		S("pypy3.9", "x", "pypy3\0x.py", "x.py"),
		/* argv[0] is a link of a virtual environment, or another name: the next word. */
		S("python3.11", "gunicorn", "/venv/bin/python\0/venv/bin/gunicorn\0app",
		  "gunicorn"),
		S("python3.11", "svc", "whatever\0/opt/svc.py", "svc.py"),
		/* Titles; that of PM2 names the script. */
		S("node", "node /srv/shop/", "node /srv/shop/app.js\0\0\0", "app.js"),
		S("node", "node /srv/shop/", "/usr/bin/node /srv/shop/app.js\0\0", "app.js"),
		/* It fills its room: it may be cut. */
		S("node", "node /srv/shop/", "node /srv/shop/app.js", "node"),
		S("node", "node /srv/shop/", "node /srv/shop/app.js --key /secret\0\0", "node"),
		S("node", "node secret", "node secret\0\0", "node"),
		S("node", "node /", "node /\0\0", "node"),
		S("node", "python3 /srv/a.", "python3 /srv/a.py\0\0", "python3"),
		S("python3.11", "gunicorn: maste", "gunicorn: master [app]\0\0\0", "gunicorn"),
		S("python3.11", "python3", "[celeryd: celery@host:MainProcess] -active-\0\0",
		  "celeryd"),
		S("python3.11", "x", "/usr/bin/mydaemon --password=x", "mydaemon"),
		S("python3.11", "x", "12345 jobs", "python3.11"),
		S("python3.11", "x", "<idle>", "python3.11"),
		S("python3.11", "y", "-x", "python3.11"),
		S("python3.11", "x", " ", "python3.11"),
		S("python3.11", "x", "[", "python3.11"),
		/* A name may contain any byte. */
		S("python3.11", "x", "python3\0/tmp/a\n\x1b[31m\xff.py", "a\n\x1b[31m\xff.py"),
	};

	CHECK_ALL(samples);
}

TEST(shells)
{
	static const struct sample samples[] = {
		S("bash", "bash", "-bash", "bash"),
		S("bash", "bash", "-su", "bash"),
		S("bash", "bash", "bash", "bash"),
		S("bash", "bash", "foo", "bash"),
		S("bash", "bash", "bash\0-i", "bash"),
		S("bash", "bash", "bash\0-c\0sleep 1\0secret", "bash"),
		S("bash", "bash", "bash\0-ec\0sleep 1", "bash"),
		S("bash", "bash", "bash\0-s\0secret", "bash"),
		S("bash", "bash", "bash\0-e\0script.sh", "script.sh"),
		S("bash", "bash", "bash\0-euo\0pipefail\0script.sh", "script.sh"),
		S("bash", "bash", "bash\0-oeu\0pipefail\0script.sh", "script.sh"),
		S("bash", "bash", "bash\0-o\0pipefail\0+x\0+O\0extglob\0a/b.sh", "b.sh"),
		S("bash", "bash", "bash\0--norc\0--rcfile\0/etc/rc\0b.sh", "b.sh"),
		S("bash", "bash", "bash\0-\0b.sh", "b.sh"),
		S("bash", "bash", "bash\0--\0-b.sh", "-b.sh"),
		S("bash", "bash", "bash\0/dev/fd/63", "bash"),
		S("bash", "run-a-long-name", "/bin/bash\0-p\0/usr/bin/run-a-long-name.sh\0secret",
		  "run-a-long-name.sh"),
		S("dash", "sh", "sh\0-c\0x", "sh"),
		S("dash", "sh", "/bin/sh\0/usr/bin/foo", "foo"),
		S("zsh-5.9", "zsh", "zsh\0--emulate\0sh\0foo", "foo"),
		S("zsh5-static", "zsh", "zsh\0foo", "foo"),
		S("ksh93", "ksh", "ksh\0foo", "foo"),
		S("fish", "fish", "fish\0-C\0echo secret\0foo.fish", "foo.fish"),
		S("fish", "fish", "fish\0--command\0echo secret", "fish"),
	};

	CHECK_ALL(samples);
}

TEST(others)
{
	static const struct sample samples[] = {
		S("perl", "perl", "perl\0-w\0x.pl", "x.pl"),
		S("perl", "perl", "perl\0-e\0secret", "perl"),
		S("perl", "perl", "perl\0-lne\0secret", "perl"),
		S("perl", "perl", "perl\0-0777\0-pi.bak\0-e\0secret\0file", "perl"),
		S("perl", "perl", "perl\0-Ilib\0-I\0lib\0-MFoo=bar\0-mBar\0x.pl", "x.pl"),
		S("perl", "perl", "perl\0-CSD\0-Mstrict\0-T\0x.pl", "x.pl"),
		S("perl5.36-x86_64-linux-gnu", "perl", "perl\0x.pl", "x.pl"),
		S("perl", "spamd child", "spamd child", "spamd"),
		S("node", "node", "node\0server.js", "server.js"),
		S("node", "node", "node\0--inspect\0--require\0./x\0-r\0y\0s.js", "s.js"),
		S("node", "node", "node\0--max-old-space-size=1\0s.js", "s.js"),
		S("node", "node", "node\0-e\0secret", "node"),
		S("node", "node", "node\0-pe\0secret", "node"),
		S("node", "node", "node\0--eval\0secret", "node"),
		S("node", "npm run start", "npm run start\0\0\0", "npm"),
		S("nodejs", "node", "node\0s.js", "s.js"),
		S("node18", "node", "node\0s.js", "s.js"),
		S("ruby3.1", "puma", "puma 5.6.5 (tcp://0.0.0.0:3000) [app]\0\0", "puma"),
		S("ruby3.1", "ruby", "ruby\0-Ilib\0-r\0json\0-W0\0-S\0rake", "rake"),
		S("ruby3.1", "ruby", "ruby\0-e\0secret", "ruby"),
		S("ruby3.1", "ruby", "ruby\0--disable\0gems\0--enable=jit\0x.rb", "x.rb"),
		S("php8.2", "php", "php\0artisan\0queue:work", "artisan"),
		S("php8.2", "php", "php\0-d\0a=b\0-dc=d\0-f\0x.php\0--\0secret", "x.php"),
		S("php8.2", "php", "php\0-r\0secret", "php"),
		S("php8.2", "php", "php\0-S\0localhost:80\0-t\0/srv", "php"),
		S("php8.2", "php", "php\0--\0secret", "php"),
		S("lua5.4", "lua", "lua\0-e\0secret\0x.lua", "x.lua"),
		S("lua5.4", "lua", "lua\0-e\0secret", "lua"),
		S("luajit-2.1.0-beta3", "luajit", "luajit\0-jon\0-O3\0x.lua", "x.lua"),
		S("tclsh8.6", "tclsh", "tclsh\0-encoding\0utf-8\0x.tcl", "x.tcl"),
		S("expect", "expect", "expect\0-c\0secret\0-f\0x.exp", "x.exp"),
		S("R", "R", "R\0--no-echo\0--file=/opt/x.R\0--args\0secret", "x.R"),
		S("R", "R", "R\0secret", "R"),
		S("R", "R", "R\0--args\0--file=secret", "R"),
		/* Interpreters with unknown options run scripts by "#!". */
		S("mawk", "report.awk", "/usr/bin/awk\0-f\0./report.awk\0secret", "report.awk"),
		S("mawk", "awk", "awk\0{ print secret }", "awk"),
		S("make", "rules", "/usr/bin/make\0-f\0debian/rules\0build", "rules"),
		S("guile", "x.scm", "guile\0-s\0y.scm", "guile"),
		/* The dynamic loader, started by hand. */
		S("ld-linux-x86-64.so.2", "ld-linux-x86-64",
		  "/lib64/ld-linux-x86-64.so.2\0/opt/x/prog\0-a", "prog"),
		S("ld-linux-x86-64.so.2", "ld-linux-x86-64",
		  "ld.so\0--library-path\0/x\0--argv0\0y\0/usr/bin/python3.11\0x.py", "x.py"),
		S("ld-musl-x86_64.so.1", "x", "ld-musl\0/bin/busybox\0sleep\0001", "sleep"),
		S("ld-2.31.so", "ld-2.31.so", "ld-2.31.so", "ld-2.31.so"),
	};

	CHECK_ALL(samples);
}

TEST(multi_call)
{
	static const struct sample samples[] = {
		UNREAD("busybox", "sleep", "sleep"),
		UNREAD("busybox", "busybox", "busybox"),
		S("busybox", "sleep", "sleep\00010", "sleep"),
		S("busybox", "busybox", "/bin/busybox\0httpd\0-f", "httpd"),
		S("busybox", "busybox", "busybox", "busybox"),
		S("busybox", "busybox", "busybox\0--list", "busybox"),
		S("busybox", "sh", "-sh", "sh"),
		S("busybox", "sh", "-sh\0", "sh"),
		S("busybox", "sh", "/bin/sh\0-c\0secret", "sh"),
		S("busybox", "sh", "/bin/sh\0/etc/init.d/rcS", "rcS"),
		S("busybox", "entrypoint.sh", "/bin/sh\0/entrypoint.sh\0secret", "entrypoint.sh"),
		S("busybox", "busybox", "busybox\0sh\0-e\0x.sh", "x.sh"),
		S("busybox.static", "sleep", "sleep\00010", "sleep"),
		S("toybox", "tail", "tail\0-f\0secret", "tail"),
		S("coreutils", "cat", "/usr/bin/coreutils\0--coreutils-prog-shebang=cat\0/bin/cat",
		  "cat"),
		S("coreutils", "coreutils", "coreutils\0--coreutils-prog=ls\0-l", "ls"),
		S("coreutils", "coreutils", "coreutils\0--coreutils-prog=", "coreutils"),
	};

	CHECK_ALL(samples);
}

/* check() proves that all others need it. */
TEST(needs_no_cmdline)
{
	static const char *const names[][2] = {
		{"mawk", "mawk"},
		{"app", "app"},
		{"app", "two words"},
		{"app", "(child)"},
		{"postgres", "postgres"},
		{"firefox", "Web Content"},
		{"node_exporter", "node_exporter"},
		{"memfd:python3", "python3"},
		{"a-long-name-of-mine", "a-long-name-of-"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_false(program_needs_cmdline(names[i][0], names[i][1]));
}

TEST(too_long)
{
	char line[8 + 400 + 1] = "python3";
	struct text_part n;

	memset(line + 8, 'x', 400);
	line[9] = '/';
	n = program_name("python3.11", "python3.11", line, sizeof(line));
	assert_true(n.len == strlen("python3.11"));
	line[8 + 400 - PROGRAM_NAME_MAX - 1] = '/';
	n = program_name("python3.11", "python3", line, sizeof(line));
	assert_true(n.len == PROGRAM_NAME_MAX && n.s[0] == 'x');
}
