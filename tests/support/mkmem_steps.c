// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The language of mkmem's shapes: words, and steps that are separated by semicolons.
 *
 *	a = KIND SIZE		maps an area: one of `kinds`
 *	f = FILE SIZE		opens a file: one of `files`
 *	a = shared f		maps a file, or a range of it; also private, aligned_shared, ...
 *	VERB RANGE, VERB	one of `verbs`
 *	move RANGE RANGE	moves memory to the place of the second range; move_off leaves a VMA
 *	grow a SIZE		moves an area to where it has room
 *	merge a 0x5a		fills an area with these bytes, and waits until KSM has merged it
 *	ROLE { STEPS }		starts a process that does these steps
 *	ROLE##*12 { STEPS }	twelve of them, ROLE00 to ROLE11; # has no zeros before it
 *	forever { STEPS }	starts one process after the other that does these steps and ends
 *	write f, close f	of a file; send f: only a socket keeps it; register f: only io_uring
 *	group A			moves this process to a cgroup; it no longer ends with its parent
 *	mount tmpfs		mounts one at the working directory (after new_mounts)
 *	become memfd SIZE	goes on as a program in such a file, or one that is named or unnamed
 *
 * Names of areas and files are letters. A size is "1.5M" or "1H-3P" (see unit_of()); "12P#" is
 * 12 pages times the number of the role. A range is "a", "a+2M" (from there to the end), "a+2M:1M"
 * (so much of it), "a:1M/2P" (one page at each multiple of two pages).
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mkmem.h"

static struct area {
	char *p;
	size_t size;
	int fd;
} areas[26];

/* The number of the role that this process is. */
static int turn;

struct range {
	struct area *area;
	size_t at, size, step;
};

/* ---- words ---- */

#define WORD 48

/* Takes the next word; "" at the end. A brace is a word. */
static char *next(const char **text, char word[WORD])
{
	const char *from = *text + strspn(*text, " ;");
	size_t len = strcspn(from, " ;{}");

	if (*from == '{' || *from == '}')
		len = 1;
	snprintf(word, WORD, "%.*s", (int)len, from);
	*text = from + len;
	return word;
}

static double unit_of(char letter)
{
	switch (letter) {
	case 'K':
		return KIB;
	case 'P':
		return PAGE;
	case 'M':
		return MIB;
	case 'H':
		return HUGE;
	case 'L':
		return hugetlb_size();
	case 'T':
		return (size_t)1 << 40;
	default:
		return 1; /* B */
	}
}

static size_t take_size(const char **at)
{
	double sum = 0;

	while (isdigit(**at) || **at == '.' || **at == '+' || **at == '-') {
		char *end;
		double n = strtod(*at, &end);

		if (isupper(*end))
			n *= unit_of(*end++);
		if (*end == '#') {
			n *= turn;
			end++;
		}
		sum += n;
		*at = end;
	}
	return sum;
}

static size_t size_of(const char *word)
{
	return take_size(&word);
}

static struct area *area_of(const char *word)
{
	if (!islower(*word))
		shape_fail(word);
	return &areas[*word - 'a'];
}

static struct range range_of(const char *word)
{
	struct range r = {.area = area_of(word)};
	const char *at = word + 1;

	r.at = take_size(&at);
	r.size = r.area->size - r.at;
	if (*at == ':') {
		at++;
		r.size = take_size(&at);
	}
	if (*at == '/') {
		at++;
		r.step = take_size(&at);
	}
	errno = 0;
	if (*at || r.at + r.size > r.area->size)
		shape_fail(word);
	return r;
}

/* ---- what is mapped ---- */

static const struct kind {
	const char *name;
	char *(*map)(size_t size); /* NULL: with these flags */
	int flags;		   /* of a mapped file, too */
} kinds[] = {
	{"memory", NULL, MAP_PRIVATE},
	{"private", NULL, MAP_PRIVATE},
	{"shared", NULL, MAP_SHARED},
	{"reserved", NULL, MAP_PRIVATE | MAP_NORESERVE},
	{"shared_reserved", NULL, MAP_SHARED | MAP_NORESERVE},
	{"small", map_small},
	{"apart", map_apart},
	{"aligned", map_aligned},
	{"aligned_shared", map_aligned, MAP_SHARED},
	{"aligned_private", map_aligned, MAP_PRIVATE},
	{"huge", map_huge},
	{"heap", map_heap},
	{"swapped", map_swapped},
	{"hugetlb", map_hugetlb},
	{"shared_hugetlb", map_shared_hugetlb},
	{"sysv", map_sysv},
	{"segment", map_segment},
	{},
};

static const struct file_kind {
	const char *name;
	int (*open)(size_t size);
} files[] = {
	{"temp", temp_file},	   {"filled", filled_file},
	{"written", written_file}, {"memfd", memory_file},
	{"dev_zero", dev_zero},	   {"secret", secret_file},
	{"huge_file", huge_file},  {"named", named_file},
	{"unnamed", unnamed_file}, {},
};

static char *map_range(const struct kind *k, const struct range *r)
{
	int flags = k->flags | (k->map ? MAP_FIXED : 0);
	char *p = mmap(k->map ? k->map(r->size + HUGE) : NULL, r->size, PROT_READ | PROT_WRITE,
		       flags, r->area->fd, r->at);

	if (p == MAP_FAILED)
		shape_fail("mmap of a file");
	return p;
}

void set_area(char name, char *p, size_t size)
{
	areas[name - 'a'] = (struct area){p, size, -1};
}

static void define(char name, const char **text)
{
	char kind[WORD], word[WORD];
	struct range r;

	next(text, kind);
	next(text, word);
	for (const struct file_kind *f = files; f->name; f++) {
		if (!strcmp(f->name, kind)) {
			areas[name - 'a'] =
				(struct area){NULL, size_of(word), f->open(size_of(word))};
			return;
		}
	}
	for (const struct kind *k = kinds; k->name; k++) {
		if (strcmp(k->name, kind))
			continue;
		if (islower(*word)) {
			r = range_of(word);
			set_area(name, map_range(k, &r), r.size);
		} else {
			set_area(name,
				 k->map ? k->map(size_of(word))
					: map_memory(size_of(word), k->flags),
				 size_of(word));
		}
		return;
	}
	shape_fail(kind);
}

/* ---- what is done with it ---- */

static void unmap(char *p, size_t size)
{
	munmap(p, size);
}

static void lock(char *p, size_t size)
{
	if (mlock(p, size))
		shape_skip("mlock is not allowed");
}

static void none(char *p, size_t size)
{
	protect(p, size, PROT_NONE);
}

static void readonly(char *p, size_t size)
{
	protect(p, size, PROT_READ);
}

static const struct verb {
	const char *name;
	void (*act)(char *p, size_t size); /* on a range */
	int advice;			   /* or what madvise() is told of it */
	void (*call)(void);		   /* or without a range */
} verbs[] = {
	{"fill", fill},
	{"touch", touch},
	{"fill_mixed", fill_mixed},
	{"unmap", unmap},
	{"lock", lock},
	{"out", page_out},
	{"none", none},
	{"none_huge", none_huge},
	{"readonly", readonly},
	{"guard", guard},
	{"collapse", collapse_small},
	{"need_huge_shmem", need_huge_shmem},
	{"nohuge", .advice = MADV_NOHUGEPAGE},
	{"hugepage", .advice = MADV_HUGEPAGE},
	{"drop", .advice = MADV_DONTNEED},
	{"free", .advice = MADV_FREE},
	{"dontfork", .advice = MADV_DONTFORK},
	{"dofork", .advice = MADV_DOFORK},
	{"wipeonfork", .advice = MADV_WIPEONFORK},
	{"unmerge", .advice = MADV_UNMERGEABLE},
	{"program", .call = role_exec},
	{"exec_and_end", .call = exec_and_end},
	{"fork_and_end", .call = fork_and_end},
	{"vfork_and_exec", .call = vfork_and_exec},
	{"need_thp", .call = need_thp},
	{"watch_writes", .call = watch_writes},
	{"new_mounts", .call = new_mounts},
	{"new_ipc", .call = new_ipc},
	{"new_pids", .call = new_pids},
	{"new_users", .call = new_users},
	{"go_home", .call = go_home},
	{},
};

static const struct verb *find_verb(const char *name)
{
	const struct verb *v = verbs;

	while (v->name && strcmp(v->name, name))
		v++;
	return v;
}

static void act_once(const struct verb *v, char *p, size_t size)
{
	if (v->act)
		v->act(p, size);
	/* A kernel without huge pages does not know the word. */
	else if (madvise(p, size, v->advice) && v->advice != MADV_HUGEPAGE &&
		 v->advice != MADV_NOHUGEPAGE)
		shape_fail(v->name);
}

static void act(const struct verb *v, const struct range *r)
{
	char *p = r->area->p + r->at;

	if (!r->step)
		act_once(v, p, r->size);
	for (size_t i = 0; r->step && i < r->size; i += r->step)
		act_once(v, p + i, PAGE);
}

static void move(const char *from_word, const char *to_word, int flags)
{
	struct range from = range_of(from_word), to = range_of(to_word);

	if (mremap(from.area->p + from.at, from.size, to.size,
		   MREMAP_MAYMOVE | MREMAP_FIXED | flags, to.area->p + to.at) == MAP_FAILED)
		shape_fail("mremap");
}

static void grow(struct area *a, size_t size)
{
	a->p = mremap(a->p, a->size, size, MREMAP_MAYMOVE);
	a->size = size;
	if (a->p == MAP_FAILED)
		shape_fail("mremap");
}

/* Its length; removes only pages of the file, if the file system supports holes. */
static void change_file(const char *name, const struct range *r)
{
	if (!strcmp(name, "truncate")
		    ? ftruncate(r->area->fd, r->at)
		    : fallocate(r->area->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, r->at,
				r->size) &&
			      errno != EOPNOTSUPP)
		shape_fail(name);
}

static void close_file(int fd)
{
	close(fd);
}

static const struct file_verb {
	const char *name;
	void (*act)(int fd);
} file_verbs[] = {
	{"close", close_file},
	{"send", send_file},
	{"register", register_file},
	{},
};

/* False if it is no verb of a file. */
static bool act_on_file(const char *name, const char *word)
{
	const struct file_verb *v = file_verbs;
	struct range r;

	while (v->name && strcmp(v->name, name))
		v++;
	if (!v->name && strcmp(name, "write"))
		return false;
	r = range_of(word);
	if (v->name)
		v->act(r.area->fd);
	else
		write_file(r.area->fd, r.at, r.size);
	return true;
}

/* ---- steps ---- */

static void run_steps(void *text)
{
	steps(text);
}

static void start_roles(const char *word, const char *text)
{
	char name[WORD], role[WORD];
	int count = 1;
	char *mark;

	sscanf(word, "%47[^*]*%d", name, &count);
	for (turn = 0; turn < count; turn++) {
		strcpy(role, name);
		mark = strchr(role, '#');
		if (mark)
			sprintf(mark, mark[1] ? "%02d" : "%d", turn);
		role_start(role, run_steps, (void *)text);
	}
}

static void skip_block(const char **text)
{
	char word[WORD];

	for (int depth = 1; depth && *next(text, word);)
		depth += (*word == '{') - (*word == '}');
}

__attribute__((noreturn)) static void forever(const char *text)
{
	if (role_fd())
		role_is_ready(role_fd());
	else
		shape_ready();
	for (;;) {
		pid_t self = getpid(), pid = fork();

		if (!pid) {
			die_with_parent(self);
			steps(text);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

void steps(const char *text)
{
	char word[WORD], second[WORD], third[WORD];

	while (*next(&text, word) && *word != '}') {
		const struct verb *v = find_verb(word);

		if (v->call) {
			v->call();
			continue;
		}
		next(&text, second);
		if (!strcmp(word, "forever")) {
			forever(text);
		} else if (*second == '{') {
			start_roles(word, text);
			skip_block(&text);
		} else if (*second == '=') {
			define(*word, &text);
		} else if (!strncmp(word, "move", 4)) {
			move(second, next(&text, third),
			     !strcmp(word, "move_off") ? MREMAP_DONTUNMAP : 0);
		} else if (!strcmp(word, "grow")) {
			grow(area_of(second), size_of(next(&text, third)));
		} else if (!strcmp(word, "merge")) {
			merge(area_of(second)->p, area_of(second)->size,
			      size_of(next(&text, third)));
		} else if (!strcmp(word, "truncate") || !strcmp(word, "hole")) {
			struct range r = range_of(second);

			change_file(word, &r);
		} else if (!strcmp(word, "group")) {
			change_group(second);
		} else if (!strcmp(word, "mount")) {
			mount_here(second);
		} else if (!strcmp(word, "become")) {
			size_t size = size_of(next(&text, third));

			become(second, size, text);
		} else if (!act_on_file(word, second)) {
			struct range r = range_of(second);

			if (!v->name)
				shape_fail(word);
			act(v, &r);
		}
	}
}
