// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The requests, and the helper that answers them. */
#include "code/process_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "code/code_file.h"
#include "proc/mounts.h"
#include "proc/smaps.h"

#define MAPS_MAX ((size_t)32 << 20)

/* Documentation/admin-guide/mm/pagemap.rst */
#define PRESENT	       (UINT64_C(1) << 63)
#define SWAPPED	       (UINT64_C(1) << 62)
#define BLOCK	       512 /* entries that are read at once */
#define WINDOW_LARGEST 512 /* pages of one fault: a huge page */

enum ask {
	ASK_CODE,   /* uint64: bytes of the answer that the asker has; 0: read it anew */
	ASK_FIND,   /* struct code_mapping, the path; the root may be a second descriptor */
	ASK_OPEN,   /* the second descriptor is the file */
	ASK_TYPE,   /* the same; the answer: the type of its file system, 1: it is local */
	ASK_PAGES,  /* struct fault_pages … */
	ASK_MEMORY, /* uint64 address, uint64 length */
};

/* ---- the helper ---- */

static int error_of(int fd)
{
	if (fd >= 0)
		return fd;
	return errno == ENOENT ? -ESRCH : -errno;
}

/* Memory without a path is of the kernel's own mount: a memfd is there, too. */
static uint64_t shmem_device(void)
{
	cleanup_close int fd = memfd_create("zmem-bpf", MFD_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	return (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
}

static int read_code(struct strbuf *code, int pid_fd)
{
	cleanup_close int fd = error_of(openat(pid_fd, "maps", O_RDONLY | O_CLOEXEC));
	cleanup_fclose FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	const uint64_t shmem = shmem_device();
	cleanup_free char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (fd < 0)
		return fd;
	if (!file)
		return -ENOMEM;
	TAKE_FD(fd);
	strbuf_clear(code);
	while ((len = getline(&line, &size, file)) > 0 && code->len < MAPS_MAX) {
		struct code_mapping m;
		struct smaps_header h;

		if (line[len - 1] == '\n')
			len--;
		if (smaps_header_parse(line, (size_t)len, &h) < 0 || h.perm[2] != 'x' ||
		    h.name_len > PATH_MAX * 4)
			continue;
		m = (struct code_mapping){
			.start = h.start,
			.end = h.end,
			.offset = h.offset,
			.inode = h.inode,
			.device = h.device,
			.shmem = shmem && h.inode && h.device == shmem,
			.name_len = (uint32_t)h.name_len,
		};
		strbuf_put(code, &m, sizeof(m));
		strbuf_put(code, h.name, h.name_len);
	}
	if (strbuf_error(code))
		return strbuf_error(code);
	return code->len ? 0 : -ESRCH;
}

static int answer_code(void *state, struct helper_message *request, struct helper_message *ret)
{
	uint64_t at = *(const uint64_t *)(const void *)request->data, total;
	struct strbuf *code = state;
	size_t len;
	int root, r;

	if (!at) {
		r = read_code(code, request->fd[0]);
		if (r < 0)
			return r;
		root = openat(request->fd[0], "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root >= 0)
			message_put_fd(ret, root);
	}
	total = code->len;
	if (at > total)
		return -EBADMSG;
	message_put(ret, &total, sizeof(total));
	len = total - at < HELPER_DATA - sizeof(total) ? total - at : HELPER_DATA - sizeof(total);
	message_put(ret, code->data + at, len);
	return 0;
}

/* The kernel's own link, also if the file was deleted or another one has its path now. */
static int find_mapped(int pid_fd, const struct code_mapping *m)
{
	char link[64];

	snprintf(link, sizeof(link), "map_files/%" PRIx64 "-%" PRIx64, m->start, m->end);
	return openat(pid_fd, link, O_PATH | O_CLOEXEC);
}

/* Takes a descriptor. Returns it if it is of this inode, or -1. */
static int if_inode(int fd, uint64_t inode)
{
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_ino == inode))
		return fd;
	close(fd);
	return -1;
}

static int answer_find(void *state, struct helper_message *request, struct helper_message *ret)
{
	const struct code_mapping *m = (const void *)request->data;
	int fd;

	(void)state;
	/* A mapped file is right even where maps has the inode of the layer below (overlayfs). */
	fd = find_mapped(request->fd[0], m);
	if (fd < 0)
		fd = if_inode(openat(request->fd[0], "exe", O_PATH | O_CLOEXEC), m->inode);
	if (fd < 0 && request->fds > 1)
		fd = if_inode(code_find_below(request->fd[1], request->data + sizeof(*m), 0),
			      m->inode);
	if (fd < 0)
		return -ENOENT;
	message_put_fd(ret, fd);
	return 0;
}

/* ---- files of other users ---- */

/* The number of the mount, without a question to the file system (seq_show(), fs/proc/fd.c). */
static int mount_id(int fd, uint64_t *ret)
{
	static const char key[] = "mnt_id:";
	char path[64], text[1024];
	const char *at;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	n = file_read(AT_FDCWD, path, text, sizeof(text));
	at = n < 0 ? NULL : strstr(text, key);
	if (!at)
		return n < 0 ? (int)n : -EINVAL;
	at += sizeof(key) - 1;
	at += strspn(at, "\t ");
	return scan_u64(&at, text + n, ret) ? 0 : -EINVAL;
}

/* File systems on disks and in memory: no user and no other machine answers for them. */
static bool is_local(const char *type)
{
	return parse_has_item("ext2,ext3,ext4,xfs,btrfs,f2fs,zfs,jfs,bcachefs,tmpfs,overlay,"
			      "squashfs,erofs,vfat,iso9660,ramfs,rootfs",
			      type);
}

static const struct mount *find_mount(const struct mounts *mounts, uint64_t id)
{
	for (size_t i = 0; i < mounts->count; i++) {
		if (mounts->mount[i].id == id)
			return &mounts->mount[i];
	}
	return NULL;
}

/* True for the kernel's own mount of shared memory (memfd_create()). It does not ask a server. */
static bool is_of_kernel(int fd)
{
	struct statx theirs;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &theirs) == 0 &&
	       shmem_device() == ((uint64_t)theirs.stx_dev_major << 32 | theirs.stx_dev_minor);
}

static int answer_type(void *state, struct helper_message *request, struct helper_message *ret)
{
	cleanup(mounts_done) struct mounts theirs = {}, ours = {};
	const struct mount *m = NULL;
	const char *type;
	uint64_t id;
	bool local;

	(void)state;
	if (mount_id(request->fd[1], &id) == 0) {
		if (mounts_read(request->fd[0], "mountinfo", &theirs) == 0)
			m = find_mount(&theirs, id);
		if (!m && mounts_read(AT_FDCWD, "/proc/self/mountinfo", &ours) == 0)
			m = find_mount(&ours, id);
	}
	type = m ? m->type : is_of_kernel(request->fd[1]) ? "tmpfs" : "";
	local = is_local(type);
	message_put(ret, &local, sizeof(local));
	message_put(ret, type, strlen(type));
	return 0;
}

static bool is_mounted_here(int pid_fd, int fd)
{
	cleanup(mounts_done) struct mounts theirs = {}, ours = {};
	const struct mount *of_file = NULL;
	uint64_t id;

	if (mount_id(fd, &id) < 0 || mounts_read(pid_fd, "mountinfo", &theirs) < 0 ||
	    mounts_read(AT_FDCWD, "/proc/self/mountinfo", &ours) < 0)
		return false;
	of_file = find_mount(&theirs, id);
	for (size_t i = 0; of_file && i < ours.count; i++) {
		const struct mount *m = &ours.mount[i];

		if (m->device == of_file->device && strcmp(m->type, of_file->type) == 0)
			return is_local(m->type);
	}
	return false;
}

static bool has_our_root(int pid_fd)
{
	struct stat ours, theirs;

	return stat("/", &ours) < 0 || fstatat(pid_fd, "root/", &theirs, 0) < 0 ||
	       (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino);
}

static int answer_open(void *state, struct helper_message *request, struct helper_message *ret)
{
	int fd;

	(void)state;
	if (has_our_root(request->fd[0]) || !is_mounted_here(request->fd[0], request->fd[1]))
		return -EACCES;
	fd = code_open_found(request->fd[1], false);
	if (fd < 0)
		return fd == -EINVAL ? -EACCES : fd;
	message_put_fd(ret, fd);
	return 0;
}

/* ---- pages ---- */

struct pagemap {
	int fd;
	uint64_t first; /* page of entry[0]; UINT64_MAX: none was read */
	size_t count;
	uint64_t entry[BLOCK];
};

static uint64_t page_entry(struct pagemap *m, uint64_t page)
{
	if (m->first == UINT64_MAX || page - m->first >= m->count) {
		uint64_t first = page - page % BLOCK;
		ssize_t n = pread(m->fd, m->entry, sizeof(m->entry), (off_t)(first * 8));

		m->first = first;
		m->count = n > 0 ? (size_t)n / 8 : 0;
	}
	return page - m->first < m->count ? m->entry[page - m->first] : 0;
}

/* How many of the pages around an address, which one fault added, are there. */
static uint32_t count_there(struct pagemap *m, uint64_t page, uint32_t added)
{
	uint32_t window = 1, there = 0;

	while (window < added && window < WINDOW_LARGEST)
		window *= 2;
	page -= page % window;
	for (uint32_t i = 0; i < window; i++)
		there += (page_entry(m, page + i) & (PRESENT | SWAPPED)) != 0;
	return there < added ? there : added;
}

static void pagemap_close(struct pagemap *m)
{
	close_fd(&m->fd);
}

/* Fails if the process is gone. */
static int pagemap_open(struct pagemap *m, int pid_fd)
{
	ssize_t n;

	m->first = UINT64_MAX;
	m->fd = error_of(openat(pid_fd, "pagemap", O_RDONLY | O_CLOEXEC));
	if (m->fd < 0)
		return m->fd;
	n = pread(m->fd, m->entry, 8, 0);
	if (n < 0)
		return -errno;
	return n ? 0 : -ESRCH;
}

static int answer_pages(void *state, struct helper_message *request, struct helper_message *ret)
{
	cleanup(pagemap_close) struct pagemap map = {.fd = -1};
	struct fault_pages item;
	size_t pos = 0;
	int r = pagemap_open(&map, request->fd[0]);

	(void)state;
	if (r < 0)
		return r;
	while (message_get(request, &pos, &item, sizeof(item))) {
		item.there = count_there(&map, item.page, item.added);
		message_put(ret, &item, sizeof(item));
	}
	return 0;
}

static int answer_memory(void *state, struct helper_message *request, struct helper_message *ret)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t *ask = (const void *)request->data;
	cleanup(pagemap_close) struct pagemap map = {.fd = -1};
	cleanup_close int fd = -1;
	ssize_t n;
	int r;

	(void)state;
	if (ask[1] > page - ask[0] % page)
		return -EBADMSG;
	r = pagemap_open(&map, request->fd[0]);
	if (r < 0)
		return r;
	if (!(page_entry(&map, ask[0] / page) & PRESENT))
		return 0;
	fd = error_of(openat(request->fd[0], "mem", O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return fd;
	n = pread(fd, ret->data, ask[1], (off_t)ask[0]);
	ret->len = n > 0 ? (size_t)n : 0;
	return 0;
}

static int answer(void *state, struct helper_message *request, struct helper_message *ret)
{
	static const struct helper_answer answers[] = {
		[ASK_CODE] = {answer_code, sizeof(uint64_t), 1, false},
		[ASK_FIND] = {answer_find, sizeof(struct code_mapping), 1, true},
		[ASK_OPEN] = {answer_open, 0, 2, false},
		[ASK_TYPE] = {answer_type, 0, 2, false},
		[ASK_PAGES] = {answer_pages, 0, 1, false},
		[ASK_MEMORY] = {answer_memory, 2 * sizeof(uint64_t), 1, false},
	};

	return helper_answer(answers, ARRAY_SIZE(answers), state, request, ret);
}

/* ---- the requests ---- */

static const struct helper_kind kind = {
	.answer = answer,
	.memory = (size_t)256 << 20,
	.trusted = true,
	.limits = {.cpu_us = 5000000, .idle_us = 1000000},
};

void process_reader_init(struct process_reader *r, struct helpers *shared)
{
	helper_init(&r->helper, &kind, 0, 0, &r->code, shared);
}

static void begin(struct process_reader *r, enum ask what, int pid_fd)
{
	helper_begin(&r->helper, what);
	message_put_fd(&r->helper.request, pid_fd);
}

/* Asks for a descriptor. */
static int call_for_fd(struct process_reader *r, int *ret)
{
	int error = helper_call(&r->helper, 1);

	if (error == 0 && !r->helper.answer.fds)
		error = -EBADMSG;
	*ret = error < 0 ? -1 : r->helper.answer.fd[0];
	return error;
}

int process_read_code(struct process_reader *r, int pid_fd, struct strbuf *ret, int *ret_root)
{
	const struct helper_message *answer = &r->helper.answer;
	uint64_t total = 1;
	int error = 0;

	*ret_root = -1;
	strbuf_clear(ret);
	while (error == 0 && ret->len < total) {
		uint64_t at = ret->len;
		size_t pos = 0;

		begin(r, ASK_CODE, pid_fd);
		message_put(&r->helper.request, &at, sizeof(at));
		error = helper_call(&r->helper, *ret_root < 0);
		if (error < 0)
			return error;
		if (answer->fds)
			*ret_root = answer->fd[0];
		if (!message_get(answer, &pos, &total, sizeof(total)) || pos == answer->len ||
		    total > 2 * MAPS_MAX)
			return -EBADMSG;
		strbuf_put(ret, answer->data + pos, answer->len - pos);
		error = strbuf_error(ret);
	}
	return error;
}

int process_each_code(const struct strbuf *code,
		      int (*fn)(void *arg, const struct code_mapping *m, const char *name),
		      void *arg)
{
	size_t pos = 0;
	int r = 0;

	while (r == 0 && pos < code->len) {
		struct code_mapping m;

		if (code->len - pos < sizeof(m))
			return -EBADMSG;
		memcpy(&m, code->data + pos, sizeof(m));
		pos += sizeof(m);
		if (m.name_len > code->len - pos)
			return -EBADMSG;
		r = fn(arg, &m, code->data + pos);
		pos += m.name_len;
	}
	return r;
}

int process_find_file(struct process_reader *r, int pid_fd, int root_fd,
		      const struct code_mapping *m, const char *path, int *ret)
{
	begin(r, ASK_FIND, pid_fd);
	if (root_fd >= 0)
		message_put_fd(&r->helper.request, root_fd);
	message_put(&r->helper.request, m, sizeof(*m));
	message_put(&r->helper.request, path, strlen(path) + 1);
	return call_for_fd(r, ret);
}

int process_open_file(struct process_reader *r, int pid_fd, int found, int *ret)
{
	begin(r, ASK_OPEN, pid_fd);
	message_put_fd(&r->helper.request, found);
	return call_for_fd(r, ret);
}

int process_file_type(struct process_reader *r, int pid_fd, int found, char type[FILE_SYSTEM_MAX])
{
	const struct helper_message *answer = &r->helper.answer;
	size_t pos = 0, len;
	bool local;
	int error;

	begin(r, ASK_TYPE, pid_fd);
	message_put_fd(&r->helper.request, found);
	error = helper_call(&r->helper, 0);
	if (error < 0)
		return error;
	if (!message_get(answer, &pos, &local, sizeof(local)))
		return -EBADMSG;
	len = answer->len - pos < FILE_SYSTEM_MAX ? answer->len - pos : FILE_SYSTEM_MAX - 1;
	memcpy(type, answer->data + pos, len);
	type[len] = '\0';
	return local;
}

int process_count_pages(struct process_reader *r, int pid_fd, struct fault_pages *item,
			size_t count)
{
	const size_t most = HELPER_DATA / sizeof(*item);
	int error = 0;

	for (size_t i = 0; error == 0 && i < count;) {
		size_t part = count - i < most ? count - i : most;

		begin(r, ASK_PAGES, pid_fd);
		message_put(&r->helper.request, &item[i], part * sizeof(*item));
		error = helper_call(&r->helper, 0);
		if (error == 0 && r->helper.answer.len != part * sizeof(*item))
			error = -EBADMSG;
		if (error == 0)
			memcpy(&item[i], r->helper.answer.data, r->helper.answer.len);
		i += part;
	}
	return error;
}

int process_read_memory(struct process_reader *r, int pid_fd, uint64_t address, void *ret,
			size_t len)
{
	const uint64_t ask[] = {address, len};
	int error;

	begin(r, ASK_MEMORY, pid_fd);
	message_put(&r->helper.request, ask, sizeof(ask));
	error = helper_call(&r->helper, 0);
	if (error < 0 || r->helper.answer.len > len)
		return error < 0 ? error : -EBADMSG;
	memcpy(ret, r->helper.answer.data, r->helper.answer.len);
	return (int)r->helper.answer.len;
}
