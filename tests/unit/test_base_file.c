// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of whole files: read to the end, replaced atomically, no temporary file left. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/cleanup.h"
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

static void test_read(void **state)
{
	cleanup_close int dirfd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char buf[16];

	(void)state;
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
static void test_read_in_pieces(void **state)
{
	cleanup_close int out = -1;
	char buf[16];
	int fd[2];

	(void)state;
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

static void test_write_errors(void **state)
{
	cleanup_close int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	cleanup_close int in = -1;
	int fd[2];

	(void)state;
	assert_int_equal(file_write_fd(full, "x", 1), -ENOSPC);
	assert_int_equal(file_write_fd(full, "x", 0), 0);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fd), 0);
	in = fd[1];
	close(fd[0]);
	assert_int_equal(file_write_fd(in, "x", 1), -EPIPE);
	assert_int_equal(file_write_fd(-1, "x", 1), -EBADF);
}

static void test_appears_whole(void **state)
{
	struct file_atomic f;

	(void)state;
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

static void test_old_file_stays(void **state)
{
	struct file_atomic f;

	(void)state;
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

static void test_mode(void **state)
{
	static const mode_t masks[] = {022, 077, 002, 0};
	struct stat st;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		mode_t before = umask(masks[i]);

		assert_int_equal(replace("out", "x"), 0);
		assert_int_equal(umask(before), masks[i]);
		assert_int_equal(stat("out", &st), 0);
		assert_int_equal(st.st_mode & 07777, 0666 & ~masks[i]);
		assert_int_equal(unlink("out"), 0);
	}
}

static void test_links(void **state)
{
	struct stat st;

	(void)state;
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

static void test_cannot_open(void **state)
{
	(void)state;
	assert_int_equal(replace("missing/out", "x"), -ENOENT);
	assert_int_equal(replace("", "x"), -ENOENT);
	assert_int_equal(replace(".", "x"), -EISDIR);
	assert_true(replace("/proc/zmem-test", "x") < 0);
	assert_true(replace("/proc/self/status", "x") < 0);
	write_text("file", "");
	assert_int_equal(replace("file/out", "x"), -ENOTDIR);
	assert_entries(1);
}

static void test_cannot_rename(void **state)
{
	struct file_atomic f;

	(void)state;
	assert_int_equal(file_atomic_open(&f, "out"), 0);
	assert_int_equal(mkdir("out", 0700), 0);
	assert_int_equal(file_atomic_commit(&f), -EISDIR);
	file_atomic_close(&f);
	assert_entries(1);
}

/* The directory is removed: neither the new name nor the temporary one exists. */
static void test_directory_vanishes(void **state)
{
	struct file_atomic f;

	(void)state;
	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(file_atomic_open(&f, "dir/out"), 0);
	assert_int_equal(system("rm -r dir"), 0);
	assert_int_equal(file_write_fd(f.fd, "x", 1), 0);
	assert_int_equal(file_atomic_commit(&f), -ENOENT);
	assert_entries(0);
}

static void test_devices_are_written_directly(void **state)
{
	struct file_atomic f;

	(void)state;
	assert_int_equal(replace("/dev/null", "x"), 0);
	assert_int_equal(replace("/dev/full", "x"), -ENOSPC);
	assert_int_equal(symlink("/dev/full", "full"), 0);
	assert_int_equal(replace("full", "x"), -ENOSPC);
	assert_int_equal(file_atomic_open(&f, "/dev/null"), 0);
	assert_false(f.beside);
	file_atomic_close(&f);
	assert_entries(1);
}

static void test_pipes_are_written_directly(void **state)
{
	cleanup_close int fifo = -1;
	cleanup_close int out = -1;
	cleanup_close int in = -1;
	char path[32], buf[16];
	int fd[2];

	(void)state;
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
static void test_open_files_are_appended_to(void **state)
{
	cleanup_close int fd = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct stat before, after;
	char path[32];

	(void)state;
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

static void test_longest_name(void **state)
{
	char name[256];

	(void)state;
	memset(name, 'n', 255);
	name[255] = '\0';
	assert_int_equal(replace(name, "x"), 0);
	assert_content(name, "x");
	assert_entries(1);
}

static void test_zeroed_is_harmless(void **state)
{
	struct file_atomic f = {0};

	(void)state;
	file_atomic_close(&f);
	assert_true(fcntl(0, F_GETFD) >= 0 || errno == EBADF);
	assert_int_equal(file_atomic_open(&f, "missing/out"), -ENOENT);
	assert_int_equal(f.fd, -1);
	file_atomic_close(&f);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter_directory, leave_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_read),
		TEST(test_read_in_pieces),
		TEST(test_write_errors),
		TEST(test_appears_whole),
		TEST(test_old_file_stays),
		TEST(test_mode),
		TEST(test_links),
		TEST(test_cannot_open),
		TEST(test_cannot_rename),
		TEST(test_directory_vanishes),
		TEST(test_devices_are_written_directly),
		TEST(test_pipes_are_written_directly),
		TEST(test_open_files_are_appended_to),
		TEST(test_longest_name),
		TEST(test_zeroed_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
