// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of whole files: read to the end, replaced atomically, no temporary file left. */
#include "unit.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file.h"
#include "become.h"
#include "temp_directory.h"

#define LONG_TEXT 100000

static void write_text(const char *path, const char *text)
{
	cleanup_fclose FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
}

static void assert_content(const char *path, const char *text)
{
	char buf[256];

	assert_int_equal(file_read(AT_FDCWD, path, buf, sizeof(buf)), strlen(text));
	assert_string_equal(buf, text);
}

static size_t entries(void)
{
	cleanup_closedir DIR *dir = opendir(".");
	size_t count = 0;

	while (dir && readdir(dir))
		count++;
	return count - 2;
}

/* Writes to path as the program does. */
static int replace_bytes(const char *path, const char *bytes, size_t len)
{
	struct file_atomic f;
	int r = file_atomic_open(&f, path, false);

	if (!r)
		r = file_write_fd(f.fd, bytes, len);
	if (!r)
		r = file_atomic_commit(&f);
	file_atomic_close(&f);
	return r;
}

static int replace(const char *path, const char *text)
{
	return replace_bytes(path, text, strlen(text));
}

/* Replaces path with exactly len letters. */
static int replace_letters(const char *path, size_t len)
{
	cleanup_free char *text = malloc(len + 2);
	int r;

	memset(text, 'x', len);
	r = replace_bytes(path, text, len);
	if (!r && file_read(AT_FDCWD, path, text, len + 2) != (ssize_t)len)
		r = -EIO;
	return r;
}

IN_DIRECTORY(read)
{
	cleanup_close int dirfd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char buf[16];
	int fd[2];

	write_text("f", "0123456789");
	assert_int_equal(file_read(dirfd, "f", buf, sizeof(buf)), 10);
	assert_string_equal(buf, "0123456789");
	assert_int_equal(file_read(dirfd, "f", buf, 5), 4);
	assert_string_equal(buf, "0123");
	assert_int_equal(file_read(dirfd, "f", buf, 1), 0);
	assert_string_equal(buf, "");
	assert_int_equal(file_read(dirfd, "f", buf, 0), -EINVAL);
	assert_int_equal(file_read(dirfd, "missing", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(file_read(dirfd, ".", buf, sizeof(buf)), -EISDIR);
	assert_int_equal(file_read(-1, "/dev/null", buf, sizeof(buf)), 0);
	assert_int_equal(file_read_fd(-1, buf, sizeof(buf)), -EBADF);
	/* /proc returns a file in pieces. */
	assert_int_equal(pipe(fd), 0);
	if (fork() == 0) {
		for (int i = 0; i < 10; i++) {
			if (write(fd[1], "x", 1) != 1)
				_exit(1);
			usleep(1000);
		}
		_exit(0);
	}
	close(fd[1]);
	assert_int_equal(file_read_fd(fd[0], buf, sizeof(buf)), 10);
	assert_string_equal(buf, "xxxxxxxxxx");
	close(fd[0]);
}

IN_DIRECTORY(write_errors)
{
	cleanup_close int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	cleanup_close int in = -1;
	int fd[2];

	assert_int_equal(file_write_fd(full, "x", 1), -ENOSPC);
	assert_int_equal(file_write_fd(full, "x", 0), 0);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fd), 0);
	in = fd[1];
	close(fd[0]);
	assert_int_equal(file_write_fd(in, "x", 1), -EPIPE);
	assert_int_equal(file_write_fd(-1, "x", 1), -EBADF);
}

IN_DIRECTORY(mode)
{
	static const mode_t masks[] = {022, 077, 002, 0};
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		mode_t before = umask(masks[i]);

		assert_int_equal(replace("out", "x"), 0);
		assert_int_equal(umask(before), masks[i]);
		assert_int_equal(stat("out", &st), 0);
		assert_int_equal(st.st_mode & 07777, 0666 & ~masks[i]);
		assert_int_equal(unlink("out"), 0);
	}
}

IN_DIRECTORY(links)
{
	struct stat st;

	assert_int_equal(mkdir("dir", 0700), 0);
	write_text("dir/target", "old");
	assert_int_equal(symlink("target", "dir/inner"), 0);
	assert_int_equal(symlink("dir/inner", "outer"), 0);
	assert_int_equal(replace("outer", "new"), 0);
	assert_content("dir/target", "new");
	assert_true(lstat("outer", &st) == 0 && S_ISLNK(st.st_mode));
	assert_true(lstat("dir/inner", &st) == 0 && S_ISLNK(st.st_mode));

	assert_int_equal(symlink("dir/later", "dangling"), 0);
	assert_int_equal(replace("dangling", "made"), 0);
	assert_content("dir/later", "made");
	assert_int_equal(symlink("nowhere/later", "lost"), 0);
	assert_int_equal(replace("lost", "x"), -ENOENT);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(replace("loop", "x"), -ELOOP);
	assert_int_equal(entries(), 5);
}

IN_DIRECTORY(cannot_open)
{
	char name[257];

	assert_int_equal(replace("missing/out", "x"), -ENOENT);
	assert_int_equal(replace("", "x"), -ENOENT);
	assert_int_equal(replace(".", "x"), -EISDIR);
	assert_true(replace("/proc/zmem-test", "x") < 0);
	assert_true(replace("/proc/self/status", "x") < 0);
	write_text("file", "");
	assert_int_equal(replace("file/out", "x"), -ENOTDIR);
	assert_int_equal(entries(), 1);
	/* The longest name, and a longer one. */
	snprintf(name, sizeof(name), "%0256d", 7);
	assert_int_equal(replace(name, "x"), -ENAMETOOLONG);
	assert_int_equal(replace(name + 1, "x"), 0);
	assert_content(name + 1, "x");
	assert_int_equal(entries(), 2);
}

/* A directory takes the name; then a directory is removed with the temporary file in it. */
IN_DIRECTORY(cannot_rename)
{
	struct file_atomic f;

	assert_int_equal(file_atomic_open(&f, "dir", false), 0);
	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(file_atomic_commit(&f), -EISDIR);
	file_atomic_close(&f);
	assert_int_equal(entries(), 1);
	assert_int_equal(file_atomic_open(&f, "dir/out", false), 0);
	assert_int_equal(system("rm -r dir"), 0);
	assert_int_equal(file_write_fd(f.fd, "x", 1), 0);
	assert_int_equal(file_atomic_commit(&f), -ENOENT);
	assert_int_equal(entries(), 0);
}

IN_DIRECTORY(pipes_are_written_directly)
{
	cleanup_close int fifo = -1;
	cleanup_close int out = -1;
	cleanup_close int in = -1;
	char path[32], buf[16];
	int fd[2];

	assert_int_equal(mkfifo("fifo", 0600), 0);
	fifo = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fifo >= 0);
	assert_int_equal(replace("fifo", "piped"), 0);
	assert_int_equal(file_read_fd(fifo, buf, sizeof(buf)), 5);
	assert_string_equal(buf, "piped");

	assert_int_equal(pipe(fd), 0);
	out = fd[0];
	in = fd[1];
	snprintf(path, sizeof(path), "/dev/fd/%d", in);
	assert_int_equal(replace(path, "through"), 0);
	assert_int_equal(read(out, buf, sizeof(buf)), 7);
	assert_memory_equal(buf, "through", 7);
	assert_int_equal(entries(), 1);
}

/* A file behind a link of /proc is an open file of a process, not a name to replace. */
IN_DIRECTORY(open_files_are_appended_to)
{
	cleanup_close int fd = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct stat before, after;
	char path[32];

	assert_int_equal(fstat(fd, &before), 0);
	assert_int_equal(file_write_fd(fd, "a", 1), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(replace(path, "b"), 0);
	assert_content("file", "ab");
	assert_int_equal(stat("file", &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	/* Even if the file has no name any more. */
	assert_int_equal(unlink("file"), 0);
	assert_int_equal(replace(path, "c"), 0);
	assert_int_equal(entries(), 0);
}

/* ---- owner and mode, and kernels or file systems without some features ---- */

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
		if (replace_letters("out", LONG_TEXT) || replace_letters("out", 5) ||
		    replace_letters("out", LONG_TEXT))
			_exit(2);
		_exit(chmod("out", 0640) || replace_letters("out", 1) || entries() != 1 ? 3 : 0);
	}
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

/* O_TMPFILE is not supported, or /proc is not mounted, which linkat() needs. */
IN_DIRECTORY(without_nameless_files)
{
	replace_without(SYS_openat, O_TMPFILE, EOPNOTSUPP);
	assert_int_equal(unlink("out"), 0);
	replace_without(SYS_linkat, 0, ENOENT);
}

/* What is not on the disk gets no name: after a power failure the file would be empty. */
IN_DIRECTORY(not_synced)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(deny(SYS_fsync, 0, EIO) || replace("out", "x") != -EIO || entries() != 0);
	assert_int_equal(status_of(pid), 0);
}

/* A directory that cannot be listed does not stay open. */
IN_DIRECTORY(directory_without_memory)
{
	pid_t pid = fork();

	if (pid == 0) {
		int unused = open("/", O_PATH);

		/* fdopendir() asks for the flags. */
		close(unused);
		_exit(deny(SYS_fcntl, 0, ENOMEM) || dir_open(AT_FDCWD, ".") || errno != ENOMEM ||
		      open("/", O_PATH) != unused);
	}
	assert_int_equal(status_of(pid), 0);
}

/* The process is killed before it commits. */
IN_DIRECTORY(killed)
{
	struct file_atomic f;
	pid_t pid = fork();

	if (pid == 0) {
		if (file_atomic_open(&f, "out", false) || file_write_fd(f.fd, "x", 1))
			_exit(1);
		_exit(f.temp ? 77 : 0);
	}
	if (status_of(pid) == 77 << 8)
		skip();
	assert_int_equal(entries(), 0);
}

IN_DIRECTORY(mode_is_kept)
{
	static const mode_t modes[] = {0600, 0644, 0640, 0400, 0777, 04755, 0};
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		mode_t before;

		assert_int_equal(replace_letters("out", 1), 0);
		assert_int_equal(chmod("out", modes[i]), 0);
		before = umask(077);
		/* Without 0400 replace_letters() may be unable to read the new file back. */
		assert_true(replace_letters("out", 3) == 0 || !(modes[i] & 0400));
		umask(before);
		assert_int_equal(stat("out", &st), 0);
		assert_int_equal(st.st_size, 3);
		assert_int_equal(st.st_mode & 07777, modes[i] & 0777);
	}
	assert_int_equal(entries(), 1);
}

IN_DIRECTORY(owner_is_kept)
{
	struct stat st;
	pid_t pid;

	if (!can_become(65534))
		skip();
	assert_int_equal(replace_letters("out", 1), 0);
	assert_int_equal(chown("out", 1234, 2345), 0);
	assert_int_equal(chmod("out", 0664), 0);
	assert_int_equal(replace_letters("out", 2), 0);
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_uid, 1234);
	assert_int_equal(st.st_gid, 2345);
	assert_int_equal(st.st_mode & 07777, 0664);
	/* Without the right to keep the group, the new group gets no more than other users have. */
	pid = fork();
	if (pid == 0)
		_exit(setgid(65534) || setuid(65534) || replace_letters("out", 3));
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_mode & 07777, 0644);
}
