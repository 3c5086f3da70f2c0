// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes images of mappings, and tells helpers what they need to know of them. */
#include "code/address_space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/parse.h"
#include "code/trampoline.h"
#include "proc/status.h"

#define FILES_MAX   512 /* that are open, with their debug files */
#define READERS_MAX 64
/* Helpers that may end with one process: then its stacks are not unwound. */
#define FAILURES_MAX 3

/* ---- the sources of code ---- */

void code_ahead_clear(struct code_ahead *a)
{
	if (a->pid) {
		close_fd(&a->pid_fd);
		close_fd(&a->root_fd);
	}
	strbuf_done(&a->code);
	*a = (struct code_ahead){};
}

int code_sources_open(struct code_sources *c, const struct libdw *dw)
{
	*c = (struct code_sources){.dw = dw, .helpers.hurry_fd = -1};
	c->processes = calloc(1, sizeof(*c->processes));
	if (!c->processes)
		return -ENOMEM;
	process_reader_init(c->processes, &c->helpers);
	return 0;
}

static void file_free(struct program_file *f)
{
	close_fd(&f->found_fd);
	close_fd(&f->root_fd);
	free(f->path);
	free(f);
}

void code_sources_close(struct code_sources *c)
{
	for (size_t i = 0; i < c->readers; i++)
		code_reader_free(c->reader[i]);
	free(c->reader);
	code_ahead_clear(&c->ahead);
	if (c->processes)
		helper_done(&c->processes->helper);
	free(c->processes);
	for (size_t i = 0; i < c->files.count; i++)
		file_free(c->files.item[i]);
	free(c->files.item);
	*c = (struct code_sources){.helpers.hurry_fd = -1};
}

enum growth_out code_reason(int error)
{
	switch (error) {
	case 0:
	case -ENOENT:
	case -ENOEXEC:
	case -EINVAL:
	case -ESRCH:
		return GROWTH_OUT_REASONS;
	case -ETIMEDOUT:
		return GROWTH_OUT_TIMEOUT;
	case -EACCES:
	case -EPERM:
		return GROWTH_OUT_DENIED;
	case -EBUSY:
		return GROWTH_OUT_BUSY;
	default:
		return GROWTH_OUT_LIMIT;
	}
}

/* The helper of a user; NULL without memory, or with too many users. */
static struct code_reader *find_reader(struct code_sources *c, uid_t uid, gid_t gid)
{
	for (size_t i = 0; i < c->readers; i++) {
		if (code_reader_is_of(c->reader[i], uid, gid))
			return c->reader[i];
	}
	if (c->readers >= READERS_MAX || !array_room(&c->reader, c->readers, &c->capacity, 4) ||
	    code_reader_new(c->dw, uid, gid, &c->helpers, &c->reader[c->readers]) < 0)
		return NULL;
	return c->reader[c->readers++];
}

/* ---- files ---- */

/* Code that allocates on behalf of others, or reads and copies into their memory. */
static bool is_library_name(const char *name)
{
	static const char begins[] =
		"libc.so,libc-2,libc-,ld-linux,ld-musl,libc.musl,ld-2,ld.so,libpthread,libgcc_s.so,"
		"libstdc++.so,libc++.so,libc++abi.so,libjemalloc,libtcmalloc,libmimalloc,"
		"libmemusage,libheaptrack,libasan.so,libthp";

	return part_begins_any(part_of(name), begins);
}

/*
 * Has a reader open a file. If its user may not read the file, because it belongs to another user
 * in a container, this process may open it (process_open_file()).
 */
static int open_in_reader(struct code_sources *c, const struct address_space *s, uint32_t number,
			  struct code_reader *reader)
{
	struct program_file *f = c->files.item[number];
	struct code_file_request request = {.file = number,
					    .found = f->found_fd,
					    .root_fd = f->root_fd,
					    .opened = f->opened,
					    .path = f->path};
	int start = code_reader_begin(reader), fd, r;

	if (start < 0)
		return start;
	r = code_reader_open(reader, &request, &f->facts, &f->has_debug);
	if ((r == -EACCES || r == -EPERM) && s && !f->opened &&
	    process_open_file(c->processes, s->pid_fd, f->found_fd, &fd) == 0) {
		close(f->found_fd);
		f->found_fd = request.found = fd;
		f->opened = request.opened = true;
		r = code_reader_open(reader, &request, &f->facts, &f->has_debug);
	}
	return r;
}

/* The file is not opened again. */
static void refuse_file(struct program_file *f, int error)
{
	f->reader = NULL;
	f->reason = code_reason(error);
}

int code_file_ready(struct code_sources *c, uint32_t file)
{
	struct program_file *f = c->files.item[file];
	int r;

	if (!f->reader)
		return -ENOENT;
	if (code_reader_has(f->reader, file))
		return 0;
	r = open_in_reader(c, NULL, file, f->reader);
	if (r < 0)
		refuse_file(f, r);
	return r;
}

static void find_program(struct code_sources *c, struct address_space *s,
			 const struct code_mapping *m, uint32_t number)
{
	struct program_file *f = c->files.item[number];
	int r = process_find_file(c->processes, s->pid_fd, s->root_fd, m, f->path, &f->found_fd);

	if (r == 0 && s->root_fd >= 0)
		f->root_fd = fcntl(s->root_fd, F_DUPFD_CLOEXEC, 0);
	if (r == 0)
		r = open_in_reader(c, s, number, s->reader);
	if (r == 0)
		f->reader = s->reader;
	else
		refuse_file(f, r);
}

static int add_file(struct code_sources *c, struct address_space *s, const struct code_mapping *m,
		    char *path, uint32_t *ret)
{
	struct file_table *t = &c->files;
	struct program_file *f = calloc(1, sizeof(*f));
	const char *slash = strrchr(path, '/');

	if (!f || !array_room(&t->item, t->count, &t->capacity, 64)) {
		free(f);
		free(path);
		return -ENOMEM;
	}
	*f = (struct program_file){
		.path = path,
		.name = slash ? slash + 1 : path,
		.inode = m->inode,
		.device = m->device,
		.reason = GROWTH_OUT_REASONS,
		.found_fd = -1,
		.root_fd = -1,
	};
	f->is_library = is_library_name(f->name);
	*ret = (uint32_t)t->count;
	t->item[t->count++] = f;
	if (!s->reader)
		f->reason = GROWTH_OUT_BUSY;
	else if (t->count <= FILES_MAX)
		find_program(c, s, m, *ret);
	else
		f->reason = GROWTH_OUT_LIMIT;
	return 0;
}

/* The file of a mapping. Returns 0, or -ENOMEM. */
static int find_file(struct code_sources *c, struct address_space *s, const struct code_mapping *m,
		     struct text_part path, uint32_t *ret)
{
	const struct file_table *t = &c->files;
	char *copy;

	part_cut_suffix(&path, " (deleted)");
	for (size_t i = 0; i < t->count; i++) {
		const struct program_file *f = t->item[i];

		if (f->inode != m->inode || f->device != m->device || !part_is(path, f->path))
			continue;
		*ret = (uint32_t)i;
		return 0;
	}
	copy = strndup(path.s, path.len);
	return copy ? add_file(c, s, m, copy, ret) : -ENOMEM;
}

/* ---- mappings ---- */

/*
 * Memory without a file, which a program can only fill itself; the kernel's own code has a name
 * like [vdso].
 */
static bool is_anonymous(const struct code_mapping *m, struct text_part name)
{
	return !m->inode && (!name.len || part_begins_any(name, "[heap],[stack],[anon:"));
}

/*
 * Shared memory without a path. It may hold a program, which then is an ELF file. Files of other
 * devices can have such a name, too.
 */
static bool is_shared_memory(const struct code_mapping *m, struct text_part name)
{
	return m->shmem && part_begins_any(name, "/memfd:,/dev/zero,/SYSV");
}

struct reading {
	struct address_space *space;
	struct code_sources *sources;
	struct code_space code;
};

/* Takes over what was found out about the beginning of this code. */
static void copy_trampolines(const struct code_space *old, struct image *image)
{
	const struct image *same = code_space_find(old, image->start);

	if (!same || same->start != image->start || same->end != image->end || !same->jit)
		return;
	image->looked = same->looked;
	image->trampolines = same->trampolines;
}

static int add_image(void *arg, const struct code_mapping *m, const char *text)
{
	struct reading *r = arg;
	const struct text_part name = {text, m->name_len};
	struct image image = {.start = m->start, .end = m->end, .low = m->start, .file = NO_FILE};
	const struct program_file *f;
	uint64_t vaddr = m->offset;
	int error = m->inode ? find_file(r->sources, r->space, m, name, &image.file) : 0;

	if (error < 0)
		return error;
	f = image.file == NO_FILE ? NULL : r->sources->files.item[image.file];
	image.jit = is_anonymous(m, name) || (is_shared_memory(m, name) && !f->reader);
	if (image.jit) {
		image.file = NO_FILE;
		copy_trampolines(&r->space->code, &image);
	} else if (f) {
		if (f->reader)
			elf_find_vaddr(&f->facts, m->offset, &vaddr);
		image.base = m->start - vaddr;
		image.low = image.base + f->facts.first_vaddr;
	}
	return code_space_add(&r->code, &image);
}

void address_space_look_ahead(const struct address_space *s, struct code_sources *c)
{
	bool again = c->ahead.pid == s->pid;
	struct code_ahead a = again ? c->ahead : (struct code_ahead){.pid_fd = -1};
	int fd = s->pid_fd >= 0 ? s->pid_fd : a.pid_fd;

	if (fd < 0)
		return;
	a.code = (struct strbuf){};
	if (process_read_code(c->processes, fd, &a.code, &a.root_fd) < 0) {
		close_fd(&a.root_fd);
		strbuf_done(&a.code);
		return;
	}
	a.pid = s->pid;
	a.pid_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (s->reader) {
		a.own_pid = s->own_pid;
		a.reader = s->reader;
	}
	code_ahead_clear(&c->ahead);
	c->ahead = a;
}

static int read_code(const struct address_space *s, struct code_sources *c, struct code_ahead *ret)
{
	*ret = (struct code_ahead){.pid = s->pid, .pid_fd = -1, .root_fd = -1};
	if (c->ahead.pid == s->pid) {
		*ret = c->ahead;
		c->ahead = (struct code_ahead){};
		return 0;
	}
	if (s->pid_fd < 0)
		return -ESRCH;
	return process_read_code(c->processes, s->pid_fd, &ret->code, &ret->root_fd);
}

int address_space_update(struct address_space *s, struct code_sources *c)
{
	struct reading reading = {.space = s, .sources = c};
	cleanup(code_ahead_clear) struct code_ahead now;
	int r = read_code(s, c, &now);
	/* Above 0. */
	uint64_t hash = hash_bytes(HASH_START, now.code.data, now.code.len) | 1;

	/* The root of the beginning stays. */
	if (s->root_fd < 0)
		s->root_fd = TAKE_FD(now.root_fd);
	if (r == 0 && hash == s->code_hash)
		return s->error = 0;
	if (r == 0)
		r = process_each_code(&now.code, add_image, &reading);
	s->error = r;
	if (r < 0 || !reading.code.count) {
		code_space_done(&reading.code);
		return r < 0 ? r : -ESRCH;
	}
	reading.code.generation = s->code.generation + 1;
	code_space_done(&s->code);
	s->code = reading.code;
	s->code_hash = hash;
	return 0;
}

int address_space_open(struct address_space *s, const struct procfs *proc, pid_t pid,
		       uint32_t number, struct code_sources *c)
{
	struct code_ahead *ahead = c->ahead.pid == pid ? &c->ahead : NULL;
	struct proc_status status;
	char buf[4096];
	ssize_t len;

	*s = (struct address_space){
		.pid = pid, .number = number, .pid_fd = -1, .root_fd = -1, .own_pid = pid};
	s->pid_fd = procfs_open_pid(proc, pid);
	if (s->pid_fd < 0 && !ahead)
		return s->error = s->pid_fd;
	if (s->pid_fd < 0)
		s->pid_fd = TAKE_FD(ahead->pid_fd);
	len = file_read(s->pid_fd, "status", buf, sizeof(buf));
	if (len >= 0 && proc_status_parse(buf, (size_t)len, &status) == 0 &&
	    status.egid != (gid_t)-1) {
		s->reader = find_reader(c, status.euid, status.egid);
		/* A kernel without pid namespaces has one number for each process. */
		s->own_pid = status.own_pid ? status.own_pid : pid;
	} else if (ahead) {
		s->own_pid = ahead->own_pid;
		s->reader = ahead->reader;
	}
	return address_space_update(s, c);
}

int address_space_inherit(struct address_space *s, const struct address_space *parent)
{
	int r = 0;

	if (s->code.count || !parent->code.count)
		return 0;
	for (size_t i = 0; r == 0 && i < parent->code.count; i++)
		r = code_space_add(&s->code, &parent->code.image[i]);
	s->code.generation++;
	/* The process had the user of its parent when it began. */
	if (!s->reader)
		s->reader = parent->reader;
	return r;
}

/* ---- unwinding ---- */

/* Looks at the beginning of code that the program has made. Its pages are not faulted in. */
static void look_for_trampolines(struct address_space *s, struct code_sources *c)
{
	unsigned char code[TRAMPOLINE_MAX];

	for (size_t i = 0; s->pid_fd >= 0 && i < s->code.count; i++) {
		struct image *image = &s->code.image[i];
		int n;

		if (!image->jit || image->looked)
			continue;
		n = process_read_memory(c->processes, s->pid_fd, image->start, code, sizeof(code));
		if (n < 0)
			return;
		image->looked = n > 0;
		image->trampolines = n > 0 && trampoline_is(code, (size_t)n);
	}
}

int address_space_ready(const struct address_space *s, struct code_sources *c, uint32_t file)
{
	const struct program_file *f = c->files.item[file];
	int start = s->reader ? code_reader_begin(s->reader) : -ENOENT;

	if (start < 0 || !f->reader)
		return start < 0 ? start : -ENOENT;
	if (code_reader_has(s->reader, file))
		return 0;
	return f->reader == s->reader ? code_file_ready(c, file)
				      : open_in_reader(c, s, file, s->reader);
}

/* Gives the reader the files and images that it does not have. */
static int send_space(struct address_space *s, struct code_sources *c)
{
	int start = code_reader_begin(s->reader), r = 0;

	if (start < 0 || (start == s->sent_start && s->sent_generation == s->code.generation))
		return start < 0 ? start : 0;
	look_for_trampolines(s, c);
	for (size_t i = 0; r == 0 && i < s->code.count; i++) {
		uint32_t file = s->code.image[i].file;

		/* A file that another user's helper has opened may be refused here. */
		if (file != NO_FILE)
			r = address_space_ready(s, c, file);
		r = helper_lost(r) ? r : 0;
	}
	if (r == 0)
		r = code_reader_set_space(s->reader, s->number, &s->code);
	if (r == 0) {
		s->sent_start = start;
		s->sent_generation = s->code.generation;
	}
	return r;
}

void address_space_unwind(struct address_space *s, struct code_sources *c,
			  const struct zmem_grow_stack *const *stack, size_t count,
			  struct unwound *ret)
{
	bool fails = !s->reader || s->failures >= FAILURES_MAX;
	int r = fails ? -ENODATA : send_space(s, c);

	if (r == 0)
		r = code_reader_unwind(s->reader, s->number, stack, count, ret);
	for (size_t i = 0; r < 0 && i < count; i++)
		ret[i].count = ret[i].truncated = 0;
	s->unwound = r;
	s->failures += helper_lost(r);
}

void address_space_close(struct address_space *s)
{
	if (s->reader)
		code_reader_forget_space(s->reader, s->number);
	close_fd(&s->pid_fd);
	close_fd(&s->root_fd);
	code_space_done(&s->code);
	*s = (struct address_space){.pid = s->pid, .pid_fd = -1, .root_fd = -1};
}
