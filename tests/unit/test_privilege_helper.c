// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Helpers that answer, end, hang, use too much, and what they may still do. */
#include "unit.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "privilege/helper.h"
#include "privilege/privilege.h"
#include "privilege/sandbox.h"

#define MEMORY ((size_t)64 << 20)

enum deed {
	DEED_COUNT, /* how many requests came before */
	DEED_SEND,  /* the descriptor back */
	DEED_WAIT,  /* for what the descriptor never has */
	DEED_END,
	DEED_BURN,
	DEED_ALLOCATE,
	DEED_TRY, /* what it must not do */
	DEED_FAIL,
	DEED_POSITIVE,
	DEED_LARGE,
};

struct state {
	int count;
};

static volatile int sink;

/* Bits of what succeeded though it must not. */
static int try_all(void)
{
	static const char path[] = "/tmp/zmem-test-helper";
	int done = 0;

	done |= openat(AT_FDCWD, path, O_WRONLY | O_CREAT, 0600) >= 0 ? 1 : 0;
	done |= openat(AT_FDCWD, "/dev/null", O_WRONLY) >= 0 ? 2 : 0;
	done |= socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 4 : 0;
	done |= kill(getppid(), 0) == 0 ? 8 : 0;
	done |= fork() >= 0 ? 16 : 0;
	done |= openat(AT_FDCWD, "/etc/shadow", O_RDONLY) >= 0 ? 32 : 0;
	return done;
}

static int answer(void *arg, struct helper_message *request, struct helper_message *ret)
{
	struct state *s = arg;
	char byte = 0;
	int done;

	switch ((enum deed)request->kind) {
	case DEED_COUNT:
		message_put(ret, &s->count, sizeof(s->count));
		s->count++;
		return 0;
	case DEED_SEND:
		ret->fd[ret->fds++] = TAKE_FD(request->fd[0]);
		return 0;
	case DEED_WAIT:
		return read(request->fd[0], &byte, 1) == 1 ? 0 : -EIO;
	case DEED_END:
		_exit(0);
	case DEED_BURN:
		for (;;)
			sink++;
	case DEED_ALLOCATE:
		for (size_t i = 0; i < 2 * MEMORY >> 20; i++) {
			volatile char *at = malloc(1 << 20);

			if (!at)
				return -ENOMEM;
			at[0] = at[1 << 19] = 1;
		}
		return 0;
	case DEED_TRY:
		done = try_all();
		message_put(ret, &done, sizeof(done));
		return 0;
	case DEED_FAIL:
		return -ENOTTY;
	case DEED_POSITIVE:
		return 1;
	case DEED_LARGE:
		memset(ret->data, 'x', sizeof(ret->data));
		ret->len = sizeof(ret->data);
		return 0;
	default:
		return -EINVAL;
	}
}

static const struct helper_kind kind = {.answer = answer, .memory = MEMORY};
static const struct helper_limits patient = {.cpu_us = 5000000, .idle_us = 10000000};
static const struct helper_limits hasty = {.cpu_us = 100000, .idle_us = 50000};
/* On a busy machine a helper may wait long for a CPU. */
static const struct helper_limits frugal = {.cpu_us = 100000, .idle_us = 10000000};

struct fixture {
	struct state state;
	struct helpers shared;
	struct helper helper;
};

static void begin(struct fixture *f)
{
	f->shared.hurry_fd = -1;
	helper_init(&f->helper, &kind, 65534, 65534, &f->state, &f->shared);
}

static void end(struct fixture *f)
{
	helper_done(&f->helper);
}

FIXTURE(begin, end)

static int ask(struct fixture *f, enum deed deed, const struct helper_limits *limits)
{
	f->helper.request.kind = deed;
	f->helper.limits = *limits;
	return helper_call(&f->helper, 1);
}

static int count(struct fixture *f)
{
	int n = -1;

	assert_int_equal(ask(f, DEED_COUNT, &patient), 0);
	assert_int_equal(f->helper.answer.len, sizeof(n));
	memcpy(&n, f->helper.answer.data, sizeof(n));
	return n;
}

FIXTURE_TEST(state)
{
	assert_false(helper_runs(&f->helper));
	assert_int_equal(count(f), 0);
	assert_true(helper_runs(&f->helper));
	assert_int_equal(count(f), 1);
	assert_int_equal(f->helper.starts, 1);
	assert_int_equal(ask(f, DEED_FAIL, &patient), -ENOTTY);
	assert_int_equal(ask(f, DEED_LARGE, &patient), 0);
	assert_int_equal(f->helper.answer.len, HELPER_DATA);
	assert_int_equal(f->helper.answer.data[HELPER_DATA - 1], 'x');
	/* An answer has no such error. */
	assert_int_equal(ask(f, DEED_POSITIVE, &patient), -ECHILD);
	assert_false(helper_runs(&f->helper));
	/* It begins anew after its end. */
	assert_int_equal(ask(f, DEED_END, &patient), -ECHILD);
	assert_false(helper_runs(&f->helper));
	assert_int_equal(count(f), 0);
	assert_int_equal(f->helper.starts, 3);
	/* This process has its own copy. */
	assert_int_equal(f->state.count, 0);
}

FIXTURE_TEST(descriptors)
{
	int pair[2];
	char byte = 0;

	assert_int_equal(pipe(pair), 0);
	f->helper.request.fd[0] = pair[0];
	f->helper.request.fds = 1;
	assert_int_equal(ask(f, DEED_SEND, &patient), 0);
	assert_int_equal(f->helper.answer.fds, 1);
	assert_int_equal(write(pair[1], "a", 1), 1);
	assert_int_equal(read(f->helper.answer.fd[0], &byte, 1), 1);
	assert_int_equal(byte, 'a');
	close(f->helper.answer.fd[0]);
	close(pair[0]);
	/* The helper has kept none: it closes them before the next request. */
	f->helper.request.fds = 0;
	count(f);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(write(pair[1], "b", 1), -1);
	assert_int_equal(errno, EPIPE);
	assert_true(helper_runs(&f->helper));
	close(pair[1]);
}

/* What this process has open at the start is closed: the reader of a pipe sees its end. */
FIXTURE_TEST(inherits_nothing)
{
	char byte;
	int pair[2];

	assert_int_equal(pipe(pair), 0);
	count(f);
	close(pair[1]);
	assert_int_equal(read(pair[0], &byte, 1), 0);
	close(pair[0]);
}

/* Waits for the end of helpers that were killed, which a busy machine delays. */
static bool killed_have_ended(struct helpers *shared, size_t others)
{
	for (int i = 0; i < 10000 && helpers_left(shared) > others; i++)
		usleep(1000);
	return helpers_left(shared) == others;
}

FIXTURE_TEST(limits)
{
	struct helper_limits hurried = patient;
	int ready[2], never[2];

	assert_int_equal(pipe(ready) | pipe(never), 0);
	f->helper.request.fd[0] = never[0];
	f->helper.request.fds = 1;
	assert_int_equal(ask(f, DEED_WAIT, &hasty), -ETIMEDOUT);
	assert_false(helper_runs(&f->helper));
	assert_int_equal(ask(f, DEED_BURN, &frugal), -EOVERFLOW);
	assert_int_equal(count(f), 0);
	if (!SANITIZED)
		assert_int_equal(ask(f, DEED_ALLOCATE, &patient), -EFBIG);
	/* The user wants an end: one that waits is not waited for, one that answers is. */
	assert_int_equal(write(ready[1], "x", 1), 1);
	f->shared.hurry_fd = ready[0];
	assert_int_equal(ask(f, DEED_FAIL, &hurried), -ENOTTY);
	assert_int_equal(ask(f, DEED_WAIT, &hurried), -ETIMEDOUT);
	hurried.cpu_us = UINT64_MAX / 2;
	assert_int_equal(ask(f, DEED_BURN, &hurried), -EOVERFLOW);
	f->shared.hurry_fd = -1;
	/* All of them could be ended. */
	assert_true(killed_have_ended(&f->shared, 0));
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(never[i]);
	}
}

/* Its user may stop and continue it again and again. */
FIXTURE_TEST(stopped_again_and_again)
{
	const struct helper_limits limits = {.cpu_us = 1000000, .idle_us = 200000};
	pid_t child;

	count(f);
	child = fork();
	if (child == 0) {
		while (kill(f->helper.pid, SIGSTOP) == 0) {
			usleep(30000);
			kill(f->helper.pid, SIGCONT);
			usleep(2000);
		}
		_exit(0);
	}
	assert_int_equal(ask(f, DEED_BURN, &limits), -ETIMEDOUT);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* With the capabilities that the program keeps, too: of another user it is no more than these. */
FIXTURE_TEST(can_be_ended)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (privilege_start(true, false, true, false) < 0 ||
		    privilege_loaded(LATER_NAMES, true) < 0)
			_exit(2);
		if (ask(f, DEED_BURN, &frugal) != -EOVERFLOW)
			_exit(3);
		_exit(killed_have_ended(&f->shared, 0) ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

FIXTURE_TEST(rights)
{
	char path[64], line[256];
	int done = -1, uid = -1, seccomp = -1;
	cleanup_fclose FILE *file = NULL;

	assert_int_equal(ask(f, DEED_TRY, &patient), 0);
	memcpy(&done, f->helper.answer.data, sizeof(done));
	if (!SANITIZED && prctl(PR_GET_SECCOMP) >= 0 && landlock_abi() && privilege_can_leave())
		assert_int_equal(done, 0);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)f->helper.pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "Uid: %d", &uid);
		sscanf(line, "Seccomp: %d", &seccomp);
		if (strncmp(line, "CapPrm:", 7) == 0 || strncmp(line, "CapEff:", 7) == 0)
			assert_string_equal(strrchr(line, '\t'), "\t0000000000000000\n");
		if (strncmp(line, "NoNewPrivs:", 11) == 0)
			assert_string_equal(line, "NoNewPrivs:\t1\n");
	}
	assert_int_equal(uid, privilege_can_leave() ? 65534 : (int)getuid());
	if (!SANITIZED && prctl(PR_GET_SECCOMP) >= 0)
		assert_int_equal(seccomp, 2);
}

/* A process of the same user without capabilities neither reads nor traces it. */
FIXTURE_TEST(is_not_traced)
{
	pid_t child;
	int status;

	count(f);
	child = fork();
	if (child == 0) {
		bool traced;

		if (privilege_leave(65534, 65534) < 0)
			_exit(2);
		traced = ptrace(PTRACE_SEIZE, f->helper.pid, NULL, NULL) == 0;
		_exit(traced ? 1 : errno == EPERM ? 0 : 3);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	/* A sanitizer reads its own memory at exit: there the helper may be traced. */
	if (!SANITIZED)
		assert_int_equal(status, 0);
}

/* No more are started while too many of a user, or of all, have not ended. */
FIXTURE_TEST(left_behind)
{
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	for (size_t i = 0; i < HELPER_LEFT_OF_ONE_UID; i++) {
		f->shared.left[i].pid = child;
		f->shared.left[i].uid = i ? 65534 : 1;
	}
	f->shared.lefts = HELPER_LEFT_OF_ONE_UID;
	assert_int_equal(ask(f, DEED_COUNT, &patient), 0);
	helper_done(&f->helper);
	assert_true(killed_have_ended(&f->shared, HELPER_LEFT_OF_ONE_UID));
	f->shared.left[0].uid = 65534;
	assert_int_equal(ask(f, DEED_COUNT, &patient), -EBUSY);
	f->helper.uid = 1;
	assert_int_equal(ask(f, DEED_COUNT, &patient), 0);
	helper_done(&f->helper);
	assert_true(killed_have_ended(&f->shared, HELPER_LEFT_OF_ONE_UID));
	f->shared.running = HELPER_LEFT_MAX - f->shared.lefts;
	assert_int_equal(ask(f, DEED_COUNT, &patient), -EBUSY);
	f->shared.running = 0;
	kill(child, SIGKILL);
	/* waitpid() of one that was waited for says that it has ended. */
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(helpers_left(&f->shared), 0);
	assert_int_equal(ask(f, DEED_COUNT, &patient), 0);
}
