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
		/* What is not an interpreter keeps its name, despite titles and prctl(). */
		S("firefox", "Web Content", "/usr/lib/firefox/firefox\0-contentproc", "firefox"),
		S("node-problem-detector", "node-problem-de", "npd\0x.py", "node-problem-detector"),
		S("rubyist", "rubyist", "rubyist\0file", "rubyist"),
		/* Files may be named so; that one was removed is told by another bit. */
		UNREAD("foo (deleted)", "foo (deleted)", "foo (deleted)"),
		/* Never a file: the name is comm, or the name of the memfd. */
		UNREAD("memfd:payload", "runc:[2:INIT]", "runc:[2:INIT]"),
		UNREAD("memfd:runc_cloned:/proc/self/exe", "6", "memfd:runc_cloned:/proc/self/exe"),
		UNREAD("memfd:", "3", "memfd:"),
		/* comm is cut, and the executable was not visible. */
		S("a-long-name-of-", "a-long-name-of-", "/opt/a-long-name-of-mine\0-x",
		  "a-long-name-of-mine"),
		S("a-long-name-of-", "a-long-name-of-", "/bin/interp\0/opt/a-long-name-of-mine.py",
		  "a-long-name-of-mine.py"),
		S("a-long-name-of-", "a-long-name-of-", "other\0words", "a-long-name-of-"),
	};

	CHECK_ALL(samples);
}

/* comm and argv[0] have the name of a link that a program was started by. */
TEST(links)
{
	static const struct sample samples[] = {
		S("redis-check-rdb", "redis-server", "/usr/bin/redis-server *:6379\0\0",
		  "redis-server"),
		S("1.2.3", "agent", "agent\0--token\0secret", "agent"),
		S("a-b", "a-link-with-a-l", "./a-link-with-a-long-name\0x",
		  "a-link-with-a-long-name"),
		/* Only one of both says so: a title, a thread's name, `exec -a`. */
		S("app", "app", "worker\0x", "app"),
		S("app", "worker", "other\0worker", "app"),
		S("app", "worker", "worker2\0x", "app"),
		S("app", "a-link-with-a-l", "a-link-with-a\0x", "app"),
		/* The same name, which the kernel cut. */
		S("a-long-name-of-mine", "a-long-name-of-", "a-long-name-of-yours",
		  "a-long-name-of-mine"),
		/* They look like no file. */
		S("app", "1.2.3", "1.2.3", "app"),
		S("app", ".hidden", ".hidden", "app"),
		S("app", "\x1b[31m", "\x1b[31m", "app"),
	};

	CHECK_ALL(samples);
}

TEST(wine)
{
	static const struct sample samples[] = {
		S("wine-preloader", "explorer.exe", "C:\\windows\\system32\\explorer.exe\0/desktop",
		  "explorer.exe"),
		S("wine64", "A Long Name of ", "Z:\\home\\u\\A Long Name of Mine.EXE\0-x y.exe",
		  "A Long Name of Mine.EXE"),
		/* As it was started, without a directory and an ending. */
		S("wine", "notepad", "notepad\0secret.exe", "notepad"),
		/* The words of the loader are still there. */
		S("wine64-preloader", "wine64-preloade",
		  "/usr/lib/wine/wine64-preloader\0/usr/lib/wine/wine64\0C:\\a\\b.exe\0secret.exe",
		  "b.exe"),
		S("wine64", "wine64", "wine64\0secret\0x.exe", "wine64"),
		S("wine64", "", "secret", "wine64"),
		UNREAD("wine64-preloader", "services.exe", "services.exe"),
		/* Another program. */
		S("wineserver64", "wineserver64", "/usr/lib/wine/wineserver64\0a.exe",
		  "wineserver64"),
	};

	CHECK_ALL(samples);
}

TEST(python)
{
	static const struct sample samples[] = {
		S("python3.11", "python3", "", "python3.11"),
		S("python3.11", "python3", "python3\0-c\0import secret\0x.py", "python3"),
		S("python3.11", "python3", "python3\0-Bc\0import secret\0x.py", "python3"),
		S("python3.11", "python3", "python3\0-\0x.py", "python3"),
		S("python3.11", "python3", "python3\0-u\0-W\0ignore\0-X\0dev\0a/b.py", "b.py"),
		S("python3.11", "python3", "python3\0-Wignore\0-Xdev\0b.py", "b.py"),
		S("python3.11", "python3", "python3\0--check-hash-based-pycs\0always\0b", "b"),
		S("python3.11", "python3", "python3\0-mhttp.server", "http.server"),
		S("python3.11", "python3", "python3\0-W\0ignore\0-um\0http.server\00080",
		  "http.server"),
		S("python3.11", "python3", "python3\0.", "python3"),
		S("python3.11", "python3", "python3\0/", "python3"),
		S("python3.11", "python3", "python3\0\0secret", "python3"),
		S("python3.11", "python3", "python3\0/dev/fd/63", "python3"),
		S("python3.11", "python3", "python3\0/proc/self/fd/3", "python3"),
		S("python3.11", "python3", "python3\0/dev/stdin", "python3"),
		S("python3.13t", "x", "python3\0x.py", "x.py"),
		S("pypy3-c", "x", "pypy3\0x.py", "x.py"),
		S("pypy3.9", "x", "pypy3\0x.py", "x.py"),
		/* argv[0] is a link of a virtual environment, or another name: the next word. */
		S("python3.11", "svc", "whatever\0/opt/svc.py", "svc.py"),
		/* Titles; that of PM2 names the script. */
		S("node", "node /srv/shop/", "node /srv/shop/app.js\0\0\0", "app.js"),
		/* It fills its room: it may be cut. */
		S("node", "node /srv/shop/", "node /srv/shop/app.js", "node"),
		S("node", "node /srv/shop/", "node /srv/shop/app.js --key /secret\0\0", "node"),
		S("node", "python3 /srv/a.", "python3 /srv/a.py\0\0", "python3"),
		S("python3.11", "x", "/usr/bin/mydaemon --password=x", "mydaemon"),
		S("python3.11", "x", "12345 jobs", "python3.11"),
		/* A name may contain any byte. */
		S("python3.11", "x", "python3\0/tmp/a\n\x1b[31m\xff.py", "a\n\x1b[31m\xff.py"),
	};

	CHECK_ALL(samples);
}

TEST(shells)
{
	static const struct sample samples[] = {
		S("bash", "bash", "foo", "bash"),
		S("bash", "bash", "bash\0-c\0sleep 1\0secret", "bash"),
		S("bash", "bash", "bash\0-s\0secret", "bash"),
		S("bash", "bash", "bash\0-e\0script.sh", "script.sh"),
		S("bash", "bash", "bash\0-euo\0pipefail\0script.sh", "script.sh"),
		S("bash", "bash", "bash\0-o\0pipefail\0+x\0+O\0extglob\0a/b.sh", "b.sh"),
		S("bash", "bash", "bash\0--norc\0--rcfile\0/etc/rc\0b.sh", "b.sh"),
		S("bash", "bash", "bash\0--\0-b.sh", "-b.sh"),
		S("bash", "bash", "bash\0/dev/fd/63", "bash"),
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
		S("perl", "perl", "perl\0-lne\0secret", "perl"),
		S("perl", "perl", "perl\0-0777\0-pi.bak\0-e\0secret\0file", "perl"),
		S("perl", "perl", "perl\0-Ilib\0-I\0lib\0-MFoo=bar\0-mBar\0x.pl", "x.pl"),
		S("node", "node", "node\0--inspect\0--require\0./x\0-r\0y\0s.js", "s.js"),
		S("node", "node", "node\0-e\0secret", "node"),
		S("node", "node", "node\0-pe\0secret", "node"),
		S("node", "node", "node\0--eval\0secret", "node"),
		S("nodejs", "node", "node\0s.js", "s.js"),
		S("ruby3.1", "ruby", "ruby\0-Ilib\0-r\0json\0-W0\0-S\0rake", "rake"),
		S("ruby3.1", "ruby", "ruby\0-e\0secret", "ruby"),
		S("ruby3.1", "ruby", "ruby\0--disable\0gems\0--enable=jit\0x.rb", "x.rb"),
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
		S("R", "R", "R\0--args\0--file=secret", "R"),
		/* Interpreters with unknown options run scripts by "#!". */
		S("mawk", "report.awk", "/usr/bin/awk\0-f\0./report.awk\0secret", "report.awk"),
		S("make", "rules", "/usr/bin/make\0-f\0debian/rules\0build", "rules"),
		/* The dynamic loader, started by hand. */
		S("ld-linux-x86-64.so.2", "ld-linux-x86-64",
		  "ld.so\0--library-path\0/x\0--argv0\0y\0/usr/bin/python3.11\0x.py", "x.py"),
		S("ld-musl-x86_64.so.1", "x", "ld-musl\0/bin/busybox\0sleep\0001", "sleep"),
	};

	CHECK_ALL(samples);
}

TEST(multi_call)
{
	static const struct sample samples[] = {
		S("busybox", "busybox", "/bin/busybox\0httpd\0-f", "httpd"),
		S("busybox", "busybox", "busybox\0--list", "busybox"),
		S("busybox", "sh", "/bin/sh\0-c\0secret", "sh"),
		S("busybox", "sh", "/bin/sh\0/etc/init.d/rcS", "rcS"),
		S("busybox", "busybox", "busybox\0sh\0-e\0x.sh", "x.sh"),
		S("coreutils", "cat", "/usr/bin/coreutils\0--coreutils-prog-shebang=cat\0/bin/cat",
		  "cat"),
		S("coreutils", "coreutils", "coreutils\0--coreutils-prog=ls\0-l", "ls"),
		S("coreutils", "coreutils", "coreutils\0--coreutils-prog=", "coreutils"),
	};

	CHECK_ALL(samples);
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
