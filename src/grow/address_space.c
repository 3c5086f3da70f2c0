// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads /proc/PID/maps, and opens the files in it. */
#include "grow/address_space.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "privilege/privilege.h"
#include "proc/smaps.h"
#include "proc/status.h"

#define FILES_MAX  512 /* files that stay open; with those that libdw opens too */
#define IMAGES_MAX (1u << 16)
#define DELETED	   " (deleted)"

/* ---- files ---- */

static void file_free(struct program_file *f)
{
	if (!f)
		return;
	symbols_free(f->symbols);
	if (f->fd >= 0)
		close(f->fd);
	if (f->debug_fd >= 0)
		close(f->debug_fd);
	free(f->path);
	free(f);
}

void file_table_done(struct file_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		file_free(t->item[i]);
	free(t->item);
	*t = (struct file_table){};
}

/*
 * The rights with which files are opened: those of the user of the process, so that what the
 * process has as a library or as symbols names nothing that its user cannot read. A user who may
 * not become another one has fewer rights, and keeps them.
 */
struct rights {
	struct privilege_before before;
	bool everybody; /* they are still those of root: only what everybody may read is opened */
};

static int read_status(const struct address_space *s, struct proc_status *ret)
{
	char buf[4096];
	ssize_t len = file_read(s->pid_fd, "status", buf, sizeof(buf));
	int r = len < 0 ? (int)len : proc_status_parse(buf, (size_t)len, ret);

	return r == 0 && ret->egid == (gid_t)-1 ? -EINVAL : r;
}

/* `status` is NULL if the user is not known. */
static void rights_of(const struct proc_status *status, struct rights *ret)
{
	int r = privilege_as_user(status ? status->euid : (uid_t)-1,
				  status ? status->egid : (gid_t)-1, &ret->before);

	ret->everybody = r < 0 && geteuid() == 0;
}

static void rights_take(const struct address_space *s, struct rights *ret)
{
	struct proc_status status;

	rights_of(read_status(s, &status) == 0 ? &status : NULL, ret);
}

static void rights_restore(const struct rights *rights)
{
	privilege_as_before(&rights->before);
}

/*
 * Opens what is behind an O_PATH descriptor, which it closes: only a regular file, for to open a
 * FIFO or a device is to use it. The kernel checks the rights to the file here.
 */
static int open_found(const struct address_space *s, const struct rights *rights, int found)
{
	cleanup_close int path = found;
	char name[32];
	struct stat st;

	if (found < 0 || fstat(found, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (rights->everybody && !(st.st_mode & S_IROTH)))
		return -1;
	snprintf(name, sizeof(name), "self/fd/%d", path);
	/* O_NONBLOCK: the holder of a lease could make us wait. */
	return openat(s->proc->fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* An O_PATH descriptor of what is below the root of a process: no link leads out of it. */
static int find_below(int root_fd, const char *path, unsigned flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return root_fd < 0 ? -1 : (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
}

static int open_below(const struct address_space *s, const struct rights *rights, int root_fd,
		      const char *path)
{
	return open_found(s, rights, find_below(root_fd, path, 0));
}

/* Others can write to the directory: a file of theirs, or another name of a file, is none. */
static bool is_perf_map(int found, uid_t owner)
{
	struct stat st;

	return fstat(found, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	       (st.st_uid == owner || st.st_uid == 0);
}

int address_space_open_perf_map(const struct address_space *s)
{
	struct proc_status status;
	struct rights rights;
	char path[32];
	int found, fd, r = s->pid_fd < 0 ? -ESRCH : read_status(s, &status);

	if (r < 0)
		return r;
	/* A kernel without pid namespaces has one number for each process. */
	snprintf(path, sizeof(path), "tmp/perf-%d.map", status.own_pid ? status.own_pid : s->pid);
	rights_of(&status, &rights);
	found = find_below(s->root_fd, path, O_NOFOLLOW);
	if (found >= 0 && !is_perf_map(found, status.euid))
		close(TAKE_FD(found));
	fd = open_found(s, &rights, found);
	rights_restore(&rights);
	return fd < 0 ? -ENOENT : fd;
}

/* The file belongs to the user of the process, or to root if the process hides from its user. */
int address_space_open_own(const struct address_space *s, const char *name)
{
	int fd = openat(s->pid_fd, name, O_RDONLY | O_CLOEXEC);
	struct rights rights;

	if (fd >= 0 || errno != EACCES)
		return fd < 0 ? -errno : fd;
	rights_take(s, &rights);
	fd = openat(s->pid_fd, name, O_RDONLY | O_CLOEXEC);
	fd = fd < 0 ? -errno : fd;
	rights_restore(&rights);
	return fd;
}

/*
 * The kernel's own link to the file of a mapping, for the directory of the links may be ours or
 * that of the user. Nothing is opened yet.
 */
static int find_mapped(const struct address_space *s, const struct smaps_header *h,
		       struct rights *rights)
{
	char link[64];
	int fd;

	snprintf(link, sizeof(link), "map_files/%" PRIx64 "-%" PRIx64, h->start, h->end);
	fd = openat(s->pid_fd, link, O_PATH | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	rights_restore(rights);
	fd = openat(s->pid_fd, link, O_PATH | O_CLOEXEC);
	rights_take(s, rights);
	return fd;
}

static bool is_inode(int fd, uint64_t inode)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_ino == inode;
}

/* The file of this mapping: also if it was deleted, or another one has its path now. */
static int open_mapped(const struct address_space *s, const struct smaps_header *h,
		       const char *path, struct rights *rights)
{
	int found = find_mapped(s, h, rights), fd;

	/* It is this file, also where maps has the inode of the layer below (overlayfs). */
	if (found >= 0)
		return open_found(s, rights, found);
	found = openat(s->pid_fd, "exe", O_PATH | O_CLOEXEC);
	if (found >= 0 && !is_inode(found, h->inode))
		close(TAKE_FD(found));
	fd = found >= 0 ? open_found(s, rights, found) : open_below(s, rights, s->root_fd, path);
	if (fd >= 0 && !is_inode(fd, h->inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Where a separate file with debugging symbols is looked for. */
struct debug_place {
	const struct address_space *space;
	const struct rights *rights;
	int root_fd;
};

/* The file of this path if it has the debugging symbols, else -1. */
static int try_debug(const struct program_file *f, const struct debug_place *in, const char *path)
{
	int fd = open_below(in->space, in->rights, in->root_fd, path);

	if (fd < 0 || elf_is_debug_of(fd, &f->facts))
		return fd;
	close(fd);
	return -1;
}

static int open_debug_by_id(const struct program_file *f, const struct debug_place *in)
{
	char path[sizeof("/usr/lib/debug/.build-id//.debug") + 2 * BUILD_ID_MAX];
	int len;

	if (f->facts.build_id_len < 2)
		return -1;
	len = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", f->facts.build_id[0]);
	for (size_t i = 1; i < f->facts.build_id_len; i++)
		len += snprintf(path + len, sizeof(path) - (size_t)len, "%02x",
				f->facts.build_id[i]);
	snprintf(path + len, sizeof(path) - (size_t)len, ".debug");
	return try_debug(f, in, path);
}

static int open_debug_by_link(const struct program_file *f, const struct debug_place *in)
{
	static const char *const where[] = {"%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s"};
	char path[PATH_MAX];
	int fd = -1;

	for (size_t i = 0; fd < 0 && *f->facts.debug_link && i < ARRAY_SIZE(where); i++) {
		int dir = (int)(f->name - f->path) - 1;

		/* The format is one of three literals. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(path, sizeof(path), where[i], dir < 0 ? 0 : dir, f->path,
			 f->facts.debug_link);
#pragma GCC diagnostic pop
		fd = try_debug(f, in, path);
	}
	return fd;
}

/* In the root of the process; by its build id also in ours. */
static int open_debug(const struct program_file *f, const struct address_space *s,
		      const struct rights *rights)
{
	cleanup_close int own = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct debug_place theirs = {s, rights, s->root_fd}, ours = {s, rights, own};
	int fd = open_debug_by_id(f, &theirs);

	if (fd < 0)
		fd = open_debug_by_link(f, &theirs);
	return fd < 0 ? open_debug_by_id(f, &ours) : fd;
}

/* Code that allocates on behalf of others, or reads and copies into their memory. */
static bool is_library_name(const char *name)
{
	static const char *const begins[] = {
		"libc.so",     "libc-2",       "libc-",	       "ld-linux",    "ld-musl",
		"libc.musl",   "ld-2",	       "libstdc++.so", "libc++.so",   "libc++abi.so",
		"libgcc_s.so", "libjemalloc",  "libtcmalloc",  "libmimalloc", "libpthread",
		"libmemusage", "libheaptrack", "libasan.so",   "libthp",      "ld.so",
	};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

static void open_files(struct program_file *f, const struct address_space *s,
		       const struct smaps_header *h)
{
	struct rights rights;

	rights_take(s, &rights);
	f->fd = open_mapped(s, h, f->path, &rights);
	if (f->fd >= 0 && elf_read_facts(f->fd, &f->facts) < 0) {
		close(f->fd);
		f->fd = -1;
	}
	if (f->fd >= 0 && !f->facts.has_symtab)
		f->debug_fd = open_debug(f, s, &rights);
	rights_restore(&rights);
}

static int add_file(struct file_table *t, const struct address_space *s,
		    const struct smaps_header *h, char *path, uint32_t *ret)
{
	struct program_file **moved =
		grow_items(t->item, t->count, &t->capacity, 64, sizeof(struct program_file *));
	struct program_file *f = calloc(1, sizeof(*f));
	const char *slash = strrchr(path, '/');

	if (moved)
		t->item = moved;
	if (!moved || !f) {
		free(f);
		free(path);
		return -ENOMEM;
	}
	*f = (struct program_file){
		.path = path,
		.name = slash ? slash + 1 : path,
		.inode = h->inode,
		.device = h->device,
		.fd = -1,
		.debug_fd = -1,
	};
	f->is_library = is_library_name(f->name);
	if (t->count < FILES_MAX)
		open_files(f, s, h);
	*ret = (uint32_t)t->count;
	t->item[t->count++] = f;
	return 0;
}

/* The file of a mapping. Returns 0, or -ENOMEM. */
static int find_file(struct file_table *t, const struct address_space *s,
		     const struct smaps_header *h, uint32_t *ret)
{
	size_t len = h->name_len;
	char *path;

	if (len > strlen(DELETED) &&
	    memcmp(h->name + len - strlen(DELETED), DELETED, strlen(DELETED)) == 0)
		len -= strlen(DELETED);
	for (size_t i = 0; i < t->count; i++) {
		const struct program_file *f = t->item[i];

		if (f->inode != h->inode || f->device != h->device ||
		    strncmp(f->path, h->name, len) != 0 || f->path[len])
			continue;
		*ret = (uint32_t)i;
		return 0;
	}
	path = strndup(h->name, len);
	return path ? add_file(t, s, h, path, ret) : -ENOMEM;
}

const char *file_symbol(struct program_file *f, uint64_t vaddr, uint64_t *ret_start)
{
	if (!f->tried && f->fd >= 0)
		symbols_read(f->fd, f->debug_fd, &f->symbols);
	f->tried = true;
	return f->symbols ? symbols_find(f->symbols, vaddr, ret_start) : NULL;
}

/* ---- mappings ---- */

/*
 * Memory without a file, which a program can only fill itself; the kernel's own code has a name
 * like [vdso].
 */
static bool is_anonymous(const struct smaps_header *h)
{
	static const char *const own[] = {"[heap]", "[stack]", "[anon:"};
	const struct text_part name = {h->name, h->name_len};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (part_begins(name, own[i]))
			return !h->inode;
	}
	return !h->inode && !name.len;
}

/*
 * Shared memory without a path. It may hold a program, which then is an ELF file. Files of other
 * devices can have such a name, too: to read one may mean to wait for its user (FUSE).
 */
static bool is_shared_memory(const struct smaps_header *h, uint64_t device)
{
	static const char *const begins[] = {"/memfd:", "/dev/zero", "/SYSV"};
	const struct text_part name = {h->name, h->name_len};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		if (part_begins(name, begins[i]))
			return h->inode && h->device == device;
	}
	return false;
}

static int add_image(struct address_space *s, struct file_table *files,
		     const struct smaps_header *h)
{
	struct image image = {.start = h->start, .end = h->end, .low = h->start, .file = NO_FILE};
	struct image *moved;
	uint64_t vaddr = h->offset;
	int r = h->inode ? find_file(files, s, h, &image.file) : 0;

	if (r < 0 || s->count >= IMAGES_MAX)
		return r;
	moved = grow_items(s->image, s->count, &s->capacity, 64, sizeof(*s->image));
	if (!moved)
		return -ENOMEM;
	s->image = moved;
	image.jit = is_anonymous(h) ||
		    (is_shared_memory(h, s->shmem_device) && files->item[image.file]->fd < 0);
	if (image.jit)
		image.file = NO_FILE;
	if (image.file != NO_FILE) {
		const struct program_file *f = files->item[image.file];

		if (f->fd >= 0)
			elf_find_vaddr(f->fd, h->offset, &vaddr);
		image.base = h->start - vaddr;
		image.low = image.base + f->facts.first_vaddr;
	}
	s->image[s->count++] = image;
	return 0;
}

int address_space_update(struct address_space *s, struct file_table *files)
{
	cleanup_close int fd = openat(s->pid_fd, "maps", O_RDONLY | O_CLOEXEC);
	cleanup_fclose FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	struct image *old = s->image;
	size_t old_count = s->count, old_capacity = s->capacity, size = 0;
	cleanup_free char *line = NULL;
	ssize_t len;
	int r = 0;

	if (!file)
		return -ESRCH;
	TAKE_FD(fd);
	s->image = NULL;
	s->count = s->capacity = 0;
	while (r == 0 && (len = getline(&line, &size, file)) > 0) {
		struct smaps_header h;

		if (line[len - 1] == '\n')
			len--;
		if (smaps_header_parse(line, (size_t)len, &h) == 0 && h.perm[2] == 'x')
			r = add_image(s, files, &h);
	}
	if (r < 0 || !s->count) {
		free(s->image);
		s->image = old;
		s->count = old_count;
		s->capacity = old_capacity;
		return r < 0 ? r : -ESRCH;
	}
	free(old);
	s->generation++;
	return 0;
}

/* The device of the kernel's own mount of shared memory: a memfd is there. */
static uint64_t find_shmem_device(void)
{
	cleanup_close int fd = memfd_create("zmem-bpf", MFD_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	return (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
}

int address_space_open(struct address_space *s, const struct procfs *proc, pid_t pid,
		       struct file_table *files)
{
	*s = (struct address_space){.pid = pid,
				    .proc = proc,
				    .pid_fd = -1,
				    .root_fd = -1,
				    .shmem_device = find_shmem_device()};
	s->pid_fd = procfs_open_pid(proc, pid);
	if (s->pid_fd < 0)
		return s->pid_fd;
	s->root_fd = openat(s->pid_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return address_space_update(s, files);
}

int address_space_inherit(struct address_space *s, const struct address_space *parent)
{
	struct image *copy;

	if (s->count || !parent->count)
		return 0;
	copy = reallocarray(NULL, parent->count, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, parent->image, parent->count * sizeof(*copy));
	s->image = copy;
	s->count = s->capacity = parent->count;
	s->generation++;
	return 0;
}

const struct image *address_space_find(const struct address_space *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->image[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->count && s->image[low].start <= address ? &s->image[low] : NULL;
}

void address_space_close(struct address_space *s)
{
	if (s->pid_fd >= 0)
		close(s->pid_fd);
	if (s->root_fd >= 0)
		close(s->root_fd);
	free(s->image);
	*s = (struct address_space){
		.pid_fd = -1, .root_fd = -1, .shmem_device = find_shmem_device()};
}
