// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rights of each Landlock ABI, and what a restricted child of the test can no longer do. */
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "privilege/sandbox.h"
#include "temp_directory.h"

static bool make_ruleset(struct landlock_rights rights)
{
	long fd = syscall(__NR_landlock_create_ruleset, &rights, sizeof(rights), 0);

	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

TEST(each_abi)
{
	/* Documentation/userspace-api/landlock.rst */
	static const struct landlock_rights want[] = {
		{0},	     {0x1fff},	     {0x3fff},	     {0x7fff},	     {0x7fff, 3},
		{0xffff, 3}, {0xffff, 3, 3}, {0xffff, 3, 3}, {0xffff, 3, 3}, {0x1ffff, 3, 3},
	};

	for (int abi = 0; abi <= 20; abi++) {
		struct landlock_rights is = landlock_rights(abi);
		size_t at = (size_t)abi < ARRAY_SIZE(want) ? (size_t)abi : ARRAY_SIZE(want) - 1;

		assert_memory_equal(&is, &want[at], sizeof(is));
	}
}

/* The kernel accepts the rights of its ABI and refuses those of a newer one. */
TEST(this_kernel)
{
	int abi = landlock_abi();
	struct landlock_rights all = landlock_rights(abi);

	if (!abi)
		skip();
	for (int older = 1; older <= abi; older++)
		assert_true(make_ruleset(landlock_rights(older)));
	for (int newer = abi + 1; newer <= 9; newer++) {
		struct landlock_rights more = landlock_rights(newer);

		assert_int_equal(make_ruleset(more), memcmp(&more, &all, sizeof(all)) == 0);
	}
}

/* ---- a restricted child ---- */

/* Binds to port 0, which disturbs no other program; connects to a port without a listener. */
static int try_tcp(int (*call)(int fd, const struct sockaddr *to, socklen_t size), int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};

	return call(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr *)&to, sizeof(to));
}

/* A name that the parent has bound. */
static socklen_t abstract(struct sockaddr_un *ret, pid_t parent)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "zmem-test-%d", (int)parent);
	return offsetof(struct sockaddr_un, sun_path) + 1 + (socklen_t)strlen(ret->sun_path + 1);
}

static int try_abstract(void)
{
	struct sockaddr_un to;
	socklen_t size = abstract(&to, getppid());

	return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&to, size);
}

enum deed { READ, WRITE, CREATE, TRUNCATE, BIND, CONNECT, ABSTRACT, SIGNAL };

static int try(enum deed deed)
{
	switch (deed) {
	case READ:
		return open("/", O_RDONLY | O_DIRECTORY);
	case WRITE:
		return open("file", O_WRONLY);
	case CREATE:
		return open("new", O_WRONLY | O_CREAT, 0600);
	case TRUNCATE:
		return truncate("file", 0);
	case BIND:
		return try_tcp(bind, 0);
	case CONNECT:
		return try_tcp(connect, 1);
	case ABSTRACT:
		return try_abstract();
	default:
		return kill(getppid(), 0);
	}
}

static const struct {
	const char *name;
	int abi;
	int before, after; /* errors: without Landlock, with that ABI */
} deeds[] = {
	[READ] = {"read", 1, 0, EACCES},	[WRITE] = {"write", 1, 0, EACCES},
	[CREATE] = {"create", 1, 0, EACCES},	[TRUNCATE] = {"truncate", 3, 0, EACCES},
	[BIND] = {"bind", 4, 0, EACCES},	[CONNECT] = {"connect", 4, ECONNREFUSED, EACCES},
	[ABSTRACT] = {"abstract", 6, 0, EPERM}, [SIGNAL] = {"signal", 6, 0, EPERM},
};

/* The error, or 0. */
static int in_child(enum deed deed, bool restricted)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (restricted && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || landlock_enter(false)))
			_exit(255);
		_exit(try(deed) < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST_WITH(taken, enter_directory, leave_directory)
{
	cleanup_close int fd = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	cleanup_close int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un here;
	socklen_t size = abstract(&here, getpid());

	assert_true(fd >= 0);
	assert_int_equal(bind(listener, (const struct sockaddr *)&here, size), 0);
	assert_int_equal(listen(listener, (int)ARRAY_SIZE(deeds)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(deeds); i++) {
		bool taken = landlock_abi() >= deeds[i].abi;
		int before = in_child((enum deed)i, false), after = in_child((enum deed)i, true);

		if (before != deeds[i].before || after != (taken ? deeds[i].after : before))
			fail_msg("%s: %s, then %s", deeds[i].name, strerror(before),
				 strerror(after));
		unlink("new");
	}
}
