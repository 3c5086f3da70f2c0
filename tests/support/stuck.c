// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stuck exec|load[_TASK]|mmap DIR [MAPPED]: starts a process that hangs in a FUSE file system with
 * a server that stopped answering, as any user can do. Mounts the file system on DIR, prints the
 * pid of the process and ends everything with its standard input. Run it in its own mount
 * namespace.
 *
 *  exec  within execve(), which closes a file: holds exec_update_lock, so that opening smaps_rollup
 *        and reading stat or exe of it block
 *  load  within execve() of a file that is not read: holds no lock, but the pages of its arguments
 *        count as its anonymous memory already (acct_arg_size(), fs/exec.c) and are not mapped.
 * With TASK another task of its address space is in execve(): a second thread ("thread"), a child
 *        that a second thread waits for in vfork() ("spawn"), or another process ("share")
 *  mmap  within mmap(), which writes pages back: holds mmap_lock, so that reading smaps_rollup and
 *        cmdline of it block. It maps the file MAPPED, too
 *
 * stuck serve DIR FILE [UID]: starts no process. DIR/file is a copy of FILE, and so has any other
 * name there. From the first line of its standard input on, it is no longer opened: the open hangs.
 * With UID it belongs to this user, and everybody may open it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_SIZE 65536
#define FILE_NODE 2

struct request {
	struct fuse_in_header head;
	union {
		struct fuse_open_in open;
		struct fuse_read_in read;
		char bytes[256 * 1024];
	};
};

enum where {
	IN_EXEC,
	IN_LOAD,
	IN_MMAP,
	NOWHERE,
};

static int device;
static enum where where;
/* Of the file: pages of zeros, or a copy. */
static char *contents;
static size_t file_size = FILE_SIZE;
static uid_t owner;
static volatile int *hangs; /* shared with the server */

static void reply(const struct request *r, int error, const void *data, size_t len)
{
	static char text[FILE_SIZE + sizeof(struct fuse_out_header)];
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + len), .error = -error, .unique = r->head.unique};

	memcpy(text, &head, sizeof(head));
	if (len)
		memcpy(text + sizeof(head), data, len);
	/* The process that asked may have been killed meanwhile. */
	if (write(device, text, head.len) < 0 && errno != ENOENT)
		_exit(1);
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){.ino = node,
				  .mode = node == FILE_NODE ? S_IFREG | 0700 : S_IFDIR | 0700,
				  .nlink = 1,
				  .uid = owner,
				  .size = node == FILE_NODE ? file_size : 0,
				  .blksize = 4096};
}

static void reply_read(const struct request *r)
{
	size_t left = r->read.offset < file_size ? file_size - r->read.offset : 0;
	size_t len = r->read.size < FILE_SIZE ? r->read.size : FILE_SIZE;

	reply(r, 0, contents + r->read.offset, len < left ? len : left);
}

/* Answers all requests but the flush of a process that is to hang, and write, which hang. */
static void serve_one(const struct request *r)
{
	struct fuse_init_out init = {.major = 7, .minor = 31, .max_write = FILE_SIZE};
	struct fuse_entry_out entry = {
		.nodeid = FILE_NODE, .attr_valid = 1000, .entry_valid = 1000};
	struct fuse_attr_out attr = {.attr_valid = 1000};
	struct fuse_open_out opened = {.open_flags = FOPEN_KEEP_CACHE};

	switch (r->head.opcode) {
	case FUSE_INIT:
		reply(r, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		entry.attr = attributes(FILE_NODE);
		reply(r, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		attr.attr = attributes(r->head.nodeid);
		reply(r, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		if (*hangs)
			break;
		/* The second opener sets this flag; its mmap() writes dirty pages back. */
		if (r->open.flags & O_NOATIME)
			opened.open_flags |= FOPEN_DIRECT_IO;
		reply(r, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		if (where == IN_LOAD)
			break;
		reply_read(r);
		break;
	case FUSE_RELEASE:
		reply(r, 0, NULL, 0);
		break;
	case FUSE_FLUSH:
		if (where == NOWHERE)
			reply(r, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_WRITE:
		break;
	default:
		reply(r, ENOSYS, NULL, 0);
	}
}

static void serve(void)
{
	static struct request request;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(device, &request, sizeof(request)) > 0)
		serve_one(&request);
	_exit(0);
}

#define ARGUMENT 100000 /* bytes, in one of them */

/* Which task of the process: "", "thread", "spawn" or "share". */
static const char *task;

static struct load {
	const char *path;
	int said;
	char argument[ARGUMENT];
} loading;

static int load(void *unused)
{
	(void)unused;
	if (write(loading.said, "", 1) == 1)
		execl(loading.path, "stuck", loading.argument, NULL);
	_exit(1);
}

static int spawn(void *unused)
{
	if (vfork() == 0)
		load(unused);
	_exit(1);
}

static void get_stuck_loading(const char *path, int said)
{
	static char stack[65536];
	int thread = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
	bool shares = strcmp(task, "share") == 0;

	loading.path = path;
	loading.said = said;
	memset(loading.argument, 'x', sizeof(loading.argument) - 1);
	if (!*task)
		load(NULL);
	if (clone(strcmp(task, "spawn") == 0 ? spawn : load, stack + sizeof(stack),
		  shares ? CLONE_VM | SIGCHLD : thread, NULL) < 0)
		_exit(1);
	while (1)
		pause();
}

static void get_stuck(const char *path, int said)
{
	char *page;
	int fd, again;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (where == IN_LOAD)
		get_stuck_loading(path, said);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		_exit(1);
	if (where == IN_EXEC) {
		if (write(said, "", 1) == 1)
			execl("/proc/self/exe", "stuck", "end", NULL);
		_exit(1);
	}
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	again = open(path, O_RDWR | O_NOATIME | O_CLOEXEC);
	if (page == MAP_FAILED || again < 0)
		_exit(1);
	page[0] = 1;
	if (write(said, "", 1) == 1)
		mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, again, 0);
	_exit(1);
}

/* The copy of a file, or zeros. */
static int read_contents(const char *path)
{
	struct stat st;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (path && (fd < 0 || fstat(fd, &st) < 0))
		return -1;
	file_size = path ? (size_t)st.st_size : FILE_SIZE;
	contents = calloc(1, file_size + 1);
	return !contents || (path && read(fd, contents, file_size) != (ssize_t)file_size) ? -1 : 0;
}

static int map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED ? 0 : -1;
}

/* Until its standard input ends. */
static void serve_file(void)
{
	char byte;

	printf("ready\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0) {
		if (byte != '\n')
			continue;
		*hangs = 1;
		printf("hangs\n");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	char options[100], path[512], byte;
	pid_t server, victim;
	int said[2];

	if (argc == 2)
		return 0; /* if exec had succeeded */
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	hangs = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	where = strcmp(argv[1], "exec") == 0	? IN_EXEC
		: strcmp(argv[1], "serve") == 0 ? NOWHERE
		: argv[1][0] == 'l'		? IN_LOAD
						: IN_MMAP;
	if (argc < 3 || device < 0 || pipe2(said, O_CLOEXEC) ||
	    read_contents(where == NOWHERE ? argv[3] : NULL) ||
	    (where == IN_MMAP && argc > 3 && map_file(argv[3]))) {
		perror("stuck: /dev/fuse");
		return 1;
	}
	task = strchr(argv[1], '_') ? strchr(argv[1], '_') + 1 : "";
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	owner = argc > 4 ? (uid_t)atoi(argv[4]) : 0;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=0%s", device,
		 owner, argc > 4 ? ",allow_other" : "");
	if (mount("stuck", argv[2], "fuse", 0, options)) {
		perror("stuck: mount");
		return 1;
	}
	server = fork();
	if (server == 0)
		serve();
	if (where == NOWHERE) {
		serve_file();
		kill(server, SIGKILL);
		umount2(argv[2], MNT_FORCE | MNT_DETACH);
		close(device);
		waitpid(server, NULL, 0);
		return 0;
	}
	snprintf(path, sizeof(path), "%s/file", argv[2]);
	victim = fork();
	if (victim == 0) {
		close(device);
		get_stuck(path, said[1]);
	}
	close(said[1]);
	if (server < 0 || victim < 0 || read(said[0], &byte, 1) != 1) {
		fprintf(stderr, "stuck: the process did not reach the system call\n");
		return 1;
	}
	usleep(200 * 1000);
	printf("%d\n", victim);
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	kill(victim, SIGKILL);
	kill(server, SIGKILL);
	umount2(argv[2], MNT_FORCE | MNT_DETACH);
	close(device); /* the last descriptor: waiting requests fail */
	waitpid(victim, NULL, 0);
	waitpid(server, NULL, 0);
	return 0;
}
