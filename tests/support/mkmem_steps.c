// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The language of mkmem's shapes: words, and steps that are separated by semicolons.
 *
 *	a = KIND SIZE		maps an area: words with `map` or `flags`
 *	a = at ADDRESS SIZE	there; empty if that is behind the end of four levels of page tables
 *	f = FILE SIZE		opens a file: words with `open`
 *	a = shared f		maps a file, or a range of it; also private, aligned_shared, ...
 *	VERB RANGE, VERB f, VERB	words with `act` or `advice`, `file`, `call`
 *	move RANGE RANGE	moves memory to the place of the second range; move_off leaves a VMA
 *	grow a SIZE		moves an area to where it has room
 *	merge a 0x5a		fills an area with these bytes, and waits until KSM has merged it
 *	ROLE { STEPS }		starts a process that does these steps
 *	ROLE##*12 { STEPS }	twelve of them, ROLE00 to ROLE11; # has no zeros before it
 *	forever { STEPS }	starts one process after the other that does these steps and ends
 *	thread*8 { STEPS }	one thread after the other does them and stays; ended_thread ends
 *	repeat*8 { STEPS }	does them again and again
 *	each_node { STEPS }	with memory of one NUMA node after the other
 *	pin 2			runs this thread on that CPU of those that it may use
 *	write f			a file, or a range of it
 *	group A			moves this process to a cgroup; it no longer ends with its parent
 *	mount tmpfs		mounts one at the working directory (after new_mounts)
 *	become memfd SIZE	goes on as a program in such a file, or one that is named or unnamed
 *
 * Names of areas and files are letters. A size is "1.5M" or "1H-3P" (see unit_of()); "12P#" is
 * 12 pages times the number of the role, thread or node. A range is "a", "a+2M" (from there to the
 * end), "a+2M:1M" (so much of it), "a:1M/2P" (one page at each multiple of two pages).
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
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

/* The number of the role, thread or node. */
static int turn;

struct range {
	struct area *area;
	size_t at, size, step;
};

static const struct word *find_word(const char *name)
{
	static const struct word none;
	const struct word *tables[] = {steps_words,  memory_words, huge_words, swap_words,
				       device_words, task_words,   lab_words};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		for (const struct word *w = tables[i]; w->name; w++) {
			if (!strcmp(w->name, name))
				return w;
		}
	}
	return &none;
}

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
	cpu_set_t cpus;

	switch (letter) {
	case 'K':
		return KIB;
	case 'P':
		return PAGE;
	case 'M':
		return MIB;
	case 'H':
		return HUGE;
	case 'U': /* a table of such tables, and one of these */
		return ENTRIES * HUGE;
	case 'D':
		return ENTRIES * ENTRIES * HUGE;
	case 'L':
		return hugetlb_size();
	case 'T':
		return (size_t)1 << 40;
	case 'C': /* CPUs */
		return sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);
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

/* ---- areas and files ---- */

static char *map_range(const struct word *w, const struct range *r)
{
	int flags = w->flags | (w->map ? MAP_FIXED : 0);
	char *p = mmap(w->map ? w->map(r->size + HUGE) : NULL, r->size, PROT_READ | PROT_WRITE,
		       flags, r->area->fd, r->at);

	if (p == MAP_FAILED)
		shape_fail("mmap of a file");
	return p;
}

static struct area define(const char **text)
{
	char kind[WORD], size[WORD];
	const struct word *w = find_word(next(text, kind));
	struct range r;

	if (islower(*next(text, size))) {
		r = range_of(size);
		return (struct area){map_range(w, &r), r.size, -1};
	}
	if (!strcmp(kind, "at")) {
		size_t at = size_of(size), room = size_of(next(text, size));
		char *p = map_at(at, room);

		if (!p && at + room <= SPACE_END)
			shape_fail("a mapping at an address");
		return (struct area){p, p ? room : 0, -1};
	}
	if (w->open)
		return (struct area){NULL, size_of(size), w->open(size_of(size))};
	if (!w->map && !w->flags)
		shape_fail(kind);
	return (struct area){w->map ? w->map(size_of(size)) : map_memory(size_of(size), w->flags),
			     size_of(size), -1};
}

void each_area(void (*act)(char *p))
{
	for (int i = 0; i < 26; i++) {
		if (areas[i].size && areas[i].p)
			act(areas[i].p);
	}
}

static void act_once(const struct word *w, char *p, size_t size)
{
	if (w->act)
		w->act(p, size);
	/* A kernel without huge pages does not know the word. */
	else if (madvise(p, size, w->advice) && w->advice != MADV_HUGEPAGE &&
		 w->advice != MADV_NOHUGEPAGE)
		shape_fail(w->name);
}

static void act(const struct word *w, const struct range *r)
{
	char *p = r->area->p + r->at;

	if (w->file)
		w->file(r->area->fd);
	else if (!r->step)
		act_once(w, p, r->size);
	for (size_t i = 0; r->step && i < r->size; i += r->step)
		act_once(w, p + i, PAGE);
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

/* ---- blocks ---- */

static void run_steps(void *text)
{
	steps(text);
}

void steps_of_turn(const char *text, int n)
{
	turn = n;
	steps(text);
}

static void start_roles(const char *name, int count, const char *text)
{
	char role[WORD], *mark;

	for (int i = 0; i < count; i++) {
		strcpy(role, name);
		mark = strchr(role, '#');
		if (count > 1)
			turn = i;
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

static void forever(const char *text, int unused)
{
	(void)unused;
	tell_ready();
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

static void repeat(const char *text, int count)
{
	for (int i = 0; i < count; i++)
		steps_of_turn(text, i);
}

static void run_block(char *word, const char **text)
{
	char *star = strchr(word, '*');
	int count = star ? size_of(star + 1) : 1;
	const struct word *w;

	if (star)
		*star = '\0';
	w = find_word(word);
	if (w->block)
		w->block(*text, count);
	else
		start_roles(word, count, *text);
	skip_block(text);
}

const struct word steps_words[] = {
	{"forever", .block = forever},
	{"repeat", .block = repeat},
	{},
};

/* ---- steps ---- */

void steps(const char *text)
{
	char word[WORD], second[WORD], third[WORD];

	while (*next(&text, word) && *word != '}') {
		const struct word *w = find_word(word);

		if (w->call) {
			w->call();
			continue;
		}
		next(&text, second);
		if (*second == '{') {
			run_block(word, &text);
		} else if (*second == '=') {
			*area_of(word) = define(&text);
		} else if (!strncmp(word, "move", 4)) {
			move(second, next(&text, third),
			     !strcmp(word, "move_off") ? MREMAP_DONTUNMAP : 0);
		} else if (!strcmp(word, "grow")) {
			grow(area_of(second), size_of(next(&text, third)));
		} else if (!strcmp(word, "merge")) {
			merge(area_of(second)->p, area_of(second)->size,
			      size_of(next(&text, third)));
		} else if (!strcmp(word, "pin")) {
			pin(size_of(second));
		} else if (!strcmp(word, "group")) {
			change_group(second);
		} else if (!strcmp(word, "mount")) {
			mount_here(second);
		} else if (!strcmp(word, "become")) {
			size_t size = size_of(next(&text, third));

			become(second, size, text);
		} else {
			struct range r = range_of(second);

			if (!strcmp(word, "truncate") || !strcmp(word, "hole"))
				change_file(word, &r);
			else if (!strcmp(word, "write"))
				write_file(r.area->fd, r.at, r.size);
			else if (w->act || w->file || w->advice)
				act(w, &r);
			else
				shape_fail(word);
		}
	}
}
