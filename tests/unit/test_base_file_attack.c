// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Root replaces files in a directory that others can write to, while another user exchanges the
 * names in it in a loop. Root's own files must not change, and root must not wait.
 * ATTACK_SECONDS=20: the duration of each attack.
 */
#include "unit.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/file.h"
#include "become.h"
#include "temp_directory.h"

#define ROUNDS	250
#define SECRET	"root's own\n"
#define PATIENT 60 /* seconds; after that, root is waiting for something */

/* The two names that the attacker makes and exchanges, and the name that root writes to. */
struct attack {
	const char *name;
	void (*make)(const char *a, const char *b);
	const char *below; /* the first name: root writes to this path */
};

static void make_file(const char *path)
{
	close(open(path, O_WRONLY | O_CREAT | O_EXCL, 0666));
}

#define MAKE(name, call)                                                                           \
	static void name(const char *a, const char *b)                                             \
	{                                                                                          \
		make_file(a);                                                                      \
		(void)!call;                                                                       \
	}
MAKE(make_link, symlink("../roots/secret", b))
MAKE(make_dangling, symlink("../roots/new", b))
MAKE(make_fifo, mkfifo(b, 0666))
/* Root makes that link (restore_names()), as a user could if fs.protected_hardlinks is 0. */
MAKE(make_hard_link, rename("hard", b))
MAKE(make_chain, symlink("../roots/link", b))

static void make_directory(const char *a, const char *b)
{
	(void)!mkdir(a, 0777);
	(void)!symlink("../roots", b);
}

static const struct attack attacks[] = {
	{"a link to root's file", make_link, ""},
	{"a dangling link", make_dangling, ""},
	{"a FIFO", make_fifo, ""},
	{"a hard link to root's file", make_hard_link, ""},
	{"a link to root's link", make_chain, ""},
	{"a link instead of a directory", make_directory, "/secret"},
	{"a link instead of a directory, a new file", make_directory, "/new"},
};

static void write_file(const char *path, mode_t mode)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	assert_int_equal(file_write_fd(fd, SECRET, strlen(SECRET)), 0);
}

/* Makes root's directory, and one that all users can write to. */
static void make_directories(mode_t mode)
{
	assert_int_equal(chmod(".", 0755), 0);
	assert_int_equal(mkdir("roots", 0755), 0);
	write_file("roots/secret", 0600);
	assert_int_equal(symlink("secret", "roots/link"), 0);
	assert_int_equal(mkdir("shared", 0755), 0);
	assert_int_equal(chmod("shared", mode), 0);
}

/* Does what the attacker cannot do, or can no longer do. */
static void restore_names(const struct attack *attack, int round)
{
	if (attack->make == make_hard_link)
		(void)!link("roots/secret", round % 2 ? "shared/hard" : "shared/a");
	/* In a sticky directory the attacker cannot remove root's files. */
	if (!*attack->below && round % 5 == 0)
		unlink("shared/a");
}

/* The attacking process of another user, which runs until it is killed. */
static void exchange(const struct attack *attack, uid_t uid)
{
	/* A change of the user resets the death signal. */
	if (chdir("shared") || setgid(uid) || setuid(uid) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		_exit(1);
	umask(0);
	for (;;) {
		/* Removes what root has put in place of a name. */
		unlink("a");
		unlink("b");
		rmdir("a");
		rmdir("b");
		attack->make("a", "b");
		for (int i = 0; i < 500; i++)
			renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE);
	}
}

static int replace(const char *path, bool private, bool sticky)
{
	struct file_atomic f;
	struct stat st;
	int r = file_atomic_open(&f, path, private);

	if (r == 0)
		r = file_write_fd(f.fd, "x", 1);
	if (r == 0 && (sticky || private)) {
		assert_int_equal(fstat(f.fd, &st), 0);
		assert_int_equal(st.st_uid, 0);
	}
	if (r == 0)
		r = file_atomic_commit(&f);
	file_atomic_close(&f);
	return r;
}

static int append(const char *path)
{
	const char *refusal;
	cleanup_close int fd = file_append_open(path, &refusal);

	return fd < 0 ? fd : file_write_fd(fd, "x", 1);
}

static void assert_untouched(const struct stat *before)
{
	struct stat st;
	char text[64];

	assert_int_equal(stat("roots/secret", &st), 0);
	assert_int_equal(st.st_ino, before->st_ino);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(st.st_gid, before->st_gid);
	assert_int_equal(st.st_mode, before->st_mode);
	assert_int_equal(file_read(AT_FDCWD, "roots/secret", text, sizeof(text)), strlen(SECRET));
	assert_string_equal(text, SECRET);
	assert_int_equal(access("roots/new", F_OK), -1);
	assert_int_equal(lstat("roots/link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static long seconds(void)
{
	const char *text = getenv("ATTACK_SECONDS");

	return text ? strtol(text, NULL, 10) : 0;
}

static void run_attack(const struct attack *attack, mode_t mode, uid_t uid)
{
	int done = 0, refused = 0, round = 0;
	time_t start = time(NULL);
	struct stat before;
	char path[32];
	pid_t pid;

	make_directories(mode);
	assert_int_equal(stat("roots/secret", &before), 0);
	snprintf(path, sizeof(path), "shared/a%s", attack->below);
	pid = fork();
	if (pid == 0)
		exchange(attack, uid);
	alarm(PATIENT + (unsigned)seconds());
	/* If no file has the name, the attack did not happen. */
	for (; seconds() ? time(NULL) - start < seconds() : done + refused < ROUNDS; round++) {
		int r = round % 3 == 2 ? append(path) : replace(path, round % 3, mode & S_ISVTX);

		done += r == 0;
		refused += r == -EPERM;
		assert_untouched(&before);
		restore_names(attack, round);
	}
	alarm(0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	print_message("%s, %o, uid %u: %d rounds, %d written, %d refused\n", attack->name, mode,
		      uid, round, done, refused);
	assert_int_equal(system("rm -r roots shared"), 0);
}

static void test_attacks(mode_t mode)
{
	if (!can_become(65534) || !can_become(12345))
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++)
		run_attack(&attacks[i], mode, i % 2 ? 12345 : 65534);
}

IN_DIRECTORY(sticky)
{
	test_attacks(01777);
}

IN_DIRECTORY(open_to_all)
{
	test_attacks(0777);
}
