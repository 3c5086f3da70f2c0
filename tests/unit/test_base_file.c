// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of whole files: read to the end, replaced atomically, no temporary file left. */
#include "unit.h"

#include <dirent.h>
#include <signal.h>

#include "base/file.h"
#include "temp_directory.h"

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

static void assert_entries(size_t want)
{
	cleanup_closedir DIR *dir = opendir(".");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	assert_int_equal(count, want + 2);
}

/* Writes text to path as the program does. */
static int replace(const char *path, const char *text)
{
	struct file_atomic f;
	int r = file_atomic_open(&f, path);

	if (!r)
		r = file_write_fd(f.fd, text, strlen(text));
	if (!r)
		r = file_atomic_commit(&f);
	file_atomic_close(&f);
	return r;
}

TEST_WITH(read, enter_directory, leave_directory)
{
	cleanup_close int dirfd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char buf[16];

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
}

/* /proc returns a file in pieces. */
TEST_WITH(read_in_pieces, enter_directory, leave_directory)
{
	cleanup_close int out = -1;
	char buf[16];
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	out = fd[0];
	if (fork() == 0) {
		for (int i = 0; i < 10; i++) {
			if (write(fd[1], "x", 1) != 1)
				_exit(1);
			usleep(1000);
		}
		_exit(0);
	}
	close(fd[1]);
	assert_int_equal(file_read_fd(out, buf, sizeof(buf)), 10);
	assert_string_equal(buf, "xxxxxxxxxx");
}

TEST_WITH(write_errors, enter_directory, leave_directory)
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

TEST_WITH(appears_whole, enter_directory, leave_directory)
{
	struct file_atomic f;

	assert_int_equal(file_atomic_open(&f, "out"), 0);
	assert_int_equal(access("out", F_OK), -1);
	assert_int_equal(file_write_fd(f.fd, "new", 3), 0);
	assert_int_equal(access("out", F_OK), -1);
	assert_int_equal(file_atomic_commit(&f), 0);
	assert_content("out", "new");
	file_atomic_close(&f);
	assert_content("out", "new");
	assert_entries(1);
}

TEST_WITH(old_file_stays, enter_directory, leave_directory)
{
	struct file_atomic f;

	write_text("out", "old");
	assert_int_equal(file_atomic_open(&f, "out"), 0);
	assert_int_equal(file_write_fd(f.fd, "half", 4), 0);
	assert_content("out", "old");
	file_atomic_close(&f);
	file_atomic_close(&f);
	assert_content("out", "old");
	assert_entries(1);
	assert_int_equal(replace("out", "new"), 0);
	assert_content("out", "new");
	assert_entries(1);
}

TEST_WITH(mode, enter_directory, leave_directory)
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

TEST_WITH(links, enter_directory, leave_directory)
{
	struct stat st;

	assert_int_equal(mkdir("dir", 0700), 0);
	write_text("dir/target", "old");
	assert_int_equal(symlink("target", "dir/inner"), 0);
	assert_int_equal(symlink("dir/inner", "outer"), 0);
	assert_int_equal(replace("outer", "new"), 0);
	assert_content("dir/target", "new");
	assert_int_equal(lstat("outer", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat("dir/inner", &st), 0);
	assert_true(S_ISLNK(st.st_mode));

	assert_int_equal(symlink("dir/later", "dangling"), 0);
	assert_int_equal(replace("dangling", "made"), 0);
	assert_content("dir/later", "made");
	assert_int_equal(symlink("nowhere/later", "lost"), 0);
	assert_int_equal(replace("lost", "x"), -ENOENT);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(replace("loop", "x"), -ELOOP);
	assert_entries(5);
}

TEST_WITH(cannot_open, enter_directory, leave_directory)
{
	assert_int_equal(replace("missing/out", "x"), -ENOENT);
	assert_int_equal(replace("", "x"), -ENOENT);
	assert_int_equal(replace(".", "x"), -EISDIR);
	assert_true(replace("/proc/zmem-test", "x") < 0);
	assert_true(replace("/proc/self/status", "x") < 0);
	write_text("file", "");
	assert_int_equal(replace("file/out", "x"), -ENOTDIR);
	assert_entries(1);
}

TEST_WITH(cannot_rename, enter_directory, leave_directory)
{
	struct file_atomic f;

	assert_int_equal(file_atomic_open(&f, "out"), 0);
	assert_int_equal(mkdir("out", 0700), 0);
	assert_int_equal(file_atomic_commit(&f), -EISDIR);
	file_atomic_close(&f);
	assert_entries(1);
}

/* The directory is removed: neither the new name nor the temporary one exists. */
TEST_WITH(directory_vanishes, enter_directory, leave_directory)
{
	struct file_atomic f;

	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(file_atomic_open(&f, "dir/out"), 0);
	assert_int_equal(system("rm -r dir"), 0);
	assert_int_equal(file_write_fd(f.fd, "x", 1), 0);
	assert_int_equal(file_atomic_commit(&f), -ENOENT);
	assert_entries(0);
}

TEST_WITH(devices_are_written_directly, enter_directory, leave_directory)
{
	struct file_atomic f;

	assert_int_equal(replace("/dev/null", "x"), 0);
	assert_int_equal(replace("/dev/full", "x"), -ENOSPC);
	assert_int_equal(symlink("/dev/full", "full"), 0);
	assert_int_equal(replace("full", "x"), -ENOSPC);
	assert_int_equal(file_atomic_open(&f, "/dev/null"), 0);
	assert_false(f.beside);
	file_atomic_close(&f);
	assert_entries(1);
}

TEST_WITH(pipes_are_written_directly, enter_directory, leave_directory)
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
	assert_entries(1);
}

/* A file behind a link of /proc is an open file of a process, not a name to replace. */
TEST_WITH(open_files_are_appended_to, enter_directory, leave_directory)
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
	assert_entries(0);
}

TEST_WITH(longest_name, enter_directory, leave_directory)
{
	char name[256];

	memset(name, 'n', 255);
	name[255] = '\0';
	assert_int_equal(replace(name, "x"), 0);
	assert_content(name, "x");
	assert_entries(1);
}

TEST_WITH(zeroed_is_harmless, enter_directory, leave_directory)
{
	struct file_atomic f = {0};

	file_atomic_close(&f);
	assert_true(fcntl(0, F_GETFD) >= 0 || errno == EBADF);
	assert_int_equal(file_atomic_open(&f, "missing/out"), -ENOENT);
	assert_int_equal(f.fd, -1);
	file_atomic_close(&f);
}
