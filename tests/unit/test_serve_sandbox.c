// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A sandboxed process as /proc shows it, and what the process itself can still do. */
#include "unit.h"

#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "serve/sandbox.h"
#include "privilege/privilege.h"

#define FDS    64
#define MEMORY ((size_t)1 << 30)

static bool kernel_filters(void)
{
	return prctl(PR_GET_SECCOMP) >= 0;
}

/* The value of a key in a file of /proc/PID. */
static void line_of(pid_t pid, const char *name, const char *key, char *ret, size_t cap)
{
	char path[64], line[256];
	cleanup_fclose FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(ret, cap, "%s", line + strlen(key) + 1);
		return;
	}
	fail_msg("no %s", key);
}

static void assert_status(pid_t pid, const char *key, const char *want)
{
	char is[256];

	line_of(pid, "status", key, is, sizeof(is));
	assert_string_equal(is, want);
}

/* The same id four times: a free one, or ours if we cannot change it. */
static void assert_user(pid_t pid, const char *key, unsigned self)
{
	unsigned id[4];
	char is[256];

	line_of(pid, "status", key, is, sizeof(is));
	assert_int_equal(sscanf(is, "%u %u %u %u", &id[0], &id[1], &id[2], &id[3]), 4);
	for (size_t i = 0; i < ARRAY_SIZE(id); i++) {
		assert_int_equal(id[i], id[0]);
		assert_true(privilege_can_leave() ? id[i] != 0 && id[i] != 65534 : id[i] == self);
	}
}

/* The process as /proc shows it. */
TEST(rights)
{
	static const char *const none[] = {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"};
	int ready[2], end[2], status;
	unsigned soft, hard;
	char files[256];
	char c = 0;
	pid_t pid;

	assert_int_equal(pipe(ready) | pipe(end), 0);
	pid = fork();
	if (pid == 0) {
		int r = privilege_can_leave() ? setgroups(1, &(gid_t){65534}) : 0;

		r = r ? r : sandbox_enter(FDS, MEMORY);
		close(end[1]);
		_exit(r || write(ready[1], &c, 1) != 1 || read(end[0], &c, 1));
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_status(pid, none[i], "0000000000000000");
	assert_status(pid, "NoNewPrivs:", "1");
	if (!SANITIZED && kernel_filters())
		assert_status(pid, "Seccomp:", "2");
	assert_user(pid, "Uid:", getuid());
	assert_user(pid, "Gid:", getgid());
	if (privilege_can_leave())
		assert_status(pid, "Groups:", " ");
	line_of(pid, "limits", "Max open files", files, sizeof(files));
	assert_int_equal(sscanf(files, "%u %u", &soft, &hard), 2);
	assert_int_equal(soft, FDS);
	assert_int_equal(hard, FDS);
	/* Started as a user that many services share. */
	if (privilege_can_leave()) {
		pid_t other = fork();

		if (other == 0) {
			privilege_leave(65534, 65534);
			_exit(kill(pid, SIGKILL) == 0 || errno != EPERM ||
			      ptrace(PTRACE_SEIZE, pid, 0, 0) == 0 || errno != EPERM);
		}
		assert_int_equal(waitpid(other, &status, 0), other);
		assert_int_equal(status, 0);
	}
	close(end[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(ready[0]);
	close(end[0]);
}

TEST(memory)
{
	int status;
	pid_t pid;

	if (SANITIZED)
		skip();
	pid = fork();
	if (pid == 0)
		_exit(sandbox_enter(FDS, MEMORY) ||
		      mmap(NULL, MEMORY, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
			      MAP_FAILED);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
