// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of replaced files: owner and mode, and kernels or file systems without some features. */
#include "unit.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file.h"
#include "temp_directory.h"

#define LONG_TEXT 100000

static size_t entries(void)
{
	cleanup_closedir DIR *dir = opendir(".");
	size_t count = 0;

	while (dir && readdir(dir))
		count++;
	return count - 2;
}

/* Replaces path with exactly len letters, as the program does. */
static int replace(const char *path, size_t len)
{
	cleanup_free char *text = malloc(len + 2);
	struct file_atomic f;
	int r;

	memset(text, 'x', len);
	r = file_atomic_open(&f, path);
	if (!r)
		r = file_write_fd(f.fd, text, len);
	if (!r)
		r = file_atomic_commit(&f);
	file_atomic_close(&f);
	if (!r && file_read(AT_FDCWD, path, text, len + 2) != (ssize_t)len)
		r = -EIO;
	return r;
}

/* Makes system call nr fail with that error, if `flag` is 0 or all of it is in argument 2. */
static int deny(int nr, uint32_t flag, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, flag),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, flag, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = ARRAY_SIZE(code), .filter = code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int status_of(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void replace_without(int nr, uint32_t flag, int error)
{
	struct stat st;
	pid_t pid = fork();

	if (pid == 0) {
		if (deny(nr, flag, error))
			_exit(1);
		if (replace("out", LONG_TEXT) || replace("out", 5) || replace("out", LONG_TEXT))
			_exit(2);
		_exit(chmod("out", 0640) || replace("out", 1) || entries() != 1 ? 3 : 0);
	}
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

TEST_WITH(without_nameless_files, enter_directory, leave_directory)
{
	replace_without(SYS_openat, O_TMPFILE, EOPNOTSUPP);
}

TEST_WITH(without_links, enter_directory, leave_directory)
{
	replace_without(SYS_linkat, 0, ENOENT);
}

/* The process is killed before it commits. */
TEST_WITH(killed, enter_directory, leave_directory)
{
	struct file_atomic f;
	pid_t pid = fork();

	if (pid == 0) {
		if (file_atomic_open(&f, "out") || file_write_fd(f.fd, "x", 1))
			_exit(1);
		_exit(f.temp ? 77 : 0);
	}
	if (status_of(pid) == 77 << 8)
		skip();
	assert_int_equal(entries(), 0);
}

TEST_WITH(mode_is_kept, enter_directory, leave_directory)
{
	static const mode_t modes[] = {0600, 0644, 0640, 0400, 0777, 04755, 0};
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		mode_t before;

		assert_int_equal(replace("out", 1), 0);
		assert_int_equal(chmod("out", modes[i]), 0);
		before = umask(077);
		/* Without 0400 replace() may be unable to read the new file back. */
		assert_true(replace("out", 3) == 0 || !(modes[i] & 0400));
		umask(before);
		assert_int_equal(stat("out", &st), 0);
		assert_int_equal(st.st_size, 3);
		assert_int_equal(st.st_mode & 07777, modes[i] & 0777);
	}
	assert_int_equal(entries(), 1);
}

TEST_WITH(owner_is_kept, enter_directory, leave_directory)
{
	struct stat st;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	assert_int_equal(replace("out", 1), 0);
	assert_int_equal(chown("out", 1234, 2345), 0);
	assert_int_equal(chmod("out", 0664), 0);
	assert_int_equal(replace("out", 2), 0);
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_uid, 1234);
	assert_int_equal(st.st_gid, 2345);
	assert_int_equal(st.st_mode & 07777, 0664);
	/* Without the right to keep the group, the new group gets no more than other users have. */
	pid = fork();
	if (pid == 0)
		_exit(setgid(65534) || setuid(65534) || replace("out", 3));
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_mode & 07777, 0644);
}
