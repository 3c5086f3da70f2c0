// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Answers in the helper of a user. */
#include "code/code_helper.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"

#define JIT_BYTES_MAX ((size_t)32 << 20) /* of a file its last ones are read */

/* ---- files ---- */

static int find_file(struct code_helper *h, uint32_t number, struct code_file **ret)
{
	if (number >= CODE_FILES)
		return -EBADMSG;
	while (h->files.count <= number) {
		if (!array_room(&h->files.item, h->files.count, &h->files.capacity, 64))
			return -ENOMEM;
		h->files.item[h->files.count++] = (struct code_file)CODE_FILE_CLOSED;
	}
	*ret = &h->files.item[number];
	return 0;
}

static int answer_open(void *state, struct helper_message *request, struct helper_message *ret)
{
	const struct code_open *ask = (const void *)request->data;
	struct code_opened opened = {};
	struct code_helper *h = state;
	struct code_file *f;
	int fd, r = find_file(h, ask->file, &f);

	if (r < 0)
		return r;
	code_file_close(f);
	fd = ask->opened ? TAKE_FD(request->fd[0]) : code_open_found(request->fd[0], h->everybody);
	if (fd < 0)
		return fd;
	r = code_file_open(f, fd, request->data + sizeof(*ask),
			   request->fds > 1 ? request->fd[1] : -1, h->everybody);
	opened.facts = f->facts;
	opened.debug = f->debug_fd >= 0;
	message_put(ret, &opened, sizeof(opened));
	return r;
}

static int answer_debug(void *state, struct helper_message *request, struct helper_message *ret)
{
	struct code_file *f;
	int r = find_file(state, *(const uint32_t *)(const void *)request->data, &f);

	(void)ret;
	return r < 0 ? r : code_file_add_debug(f, TAKE_FD(request->fd[0]));
}

/* ---- stacks ---- */

static int answer_space(void *state, struct helper_message *request, struct helper_message *ret)
{
	const struct code_space_part *part = (const void *)request->data;
	struct code_helper *h = state;
	struct code_space *s;
	struct image image;
	size_t pos = sizeof(*part);
	int r = 0;

	(void)ret;
	if (part->space >= CODE_SPACES)
		return -EBADMSG;
	s = &h->space[part->space].images;
	if (!part->first)
		s->count = 0;
	s->generation = part->generation;
	while (r == 0 && message_get(request, &pos, &image, sizeof(image)))
		r = code_space_add(s, &image);
	return r;
}

static int answer_forget(void *state, struct helper_message *request, struct helper_message *ret)
{
	uint32_t number = *(const uint32_t *)(const void *)request->data;
	struct code_helper *h = state;

	(void)ret;
	if (number >= CODE_SPACES)
		return -EBADMSG;
	unwinder_free(h->space[number].unwinder);
	h->space[number].unwinder = NULL;
	code_space_done(&h->space[number].images);
	return 0;
}

static int answer_unwind(void *state, struct helper_message *request, struct helper_message *ret)
{
	uint32_t number = *(const uint32_t *)(const void *)request->data;
	const struct zmem_grow_stack *stack;
	struct code_helper *h = state;
	struct unwound unwound;
	size_t pos = 2 * sizeof(number);
	int r = 0;

	if (number >= CODE_SPACES || !h->dw)
		return -EBADMSG;
	if (!h->space[number].unwinder)
		r = unwinder_new(h->dw, &h->space[number].images, &h->files,
				 &h->space[number].unwinder);
	while (r == 0 && pos < request->len) {
		stack = (const void *)(request->data + pos);
		if (request->len - pos < sizeof(*stack) ||
		    !message_next(request, &pos, unwind_size(stack->len)))
			return -EBADMSG;
		unwinder_run(h->space[number].unwinder, stack, &unwound);
		message_put(ret, &unwound,
			    offsetof(struct unwound, ip) + unwound.count * sizeof(unwound.ip[0]));
	}
	return r;
}

/* ---- names ---- */

/* The addresses of a request, as names that are not known yet. */
static int read_addresses(struct code_helper *h, struct helper_message *request, size_t pos)
{
	size_t count = (request->len - pos) / sizeof(uint64_t);
	struct code_name *moved = reallocarray(h->name, count + 1, sizeof(*moved));
	uint64_t address;

	if (!moved)
		return -ENOMEM;
	h->name = moved;
	h->names = 0;
	h->names_error = 0;
	while (message_get(request, &pos, &address, sizeof(address)))
		h->name[h->names++] = (struct code_name){.address = address};
	return 0;
}

/* Writes as many names as there is room for. */
static void put_names(const struct code_helper *h, size_t first, struct helper_message *ret)
{
	struct code_names_head head = {.error = h->names_error};
	size_t i = first;

	ret->len = sizeof(head);
	for (; i < h->names; i++) {
		const struct code_name *n = &h->name[i];
		struct code_named named = {.i = (uint32_t)i, .start = n->start};

		const char *name = n->name ? n->name : "";

		if (!n->name && !n->start)
			continue;
		named.len = (uint32_t)strlen(name) + 1;
		if (sizeof(named) + named.len > HELPER_DATA - ret->len)
			break;
		message_put(ret, &named, sizeof(named));
		message_put(ret, name, named.len);
	}
	head.next = (uint32_t)i;
	memcpy(ret->data, &head, sizeof(head));
}

/* What names may cost in a minute. A program of 500 MiB with a million symbols costs 24 MiB. */
#define BUDGET_BYTES ((uint64_t)4 << 30)
#define BUDGET_STEPS ((uint64_t)1 << 30)
#define BUDGET_US    60000000

static void fill_budget(struct code_helper *h)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC), passed = now - h->budget_us;

	if (!h->budget_us || passed > BUDGET_US)
		passed = BUDGET_US;
	h->budget_us = now;
	h->budget.bytes += BUDGET_BYTES / BUDGET_US * passed;
	h->budget.steps += BUDGET_STEPS / BUDGET_US * passed;
	if (h->budget.bytes > BUDGET_BYTES)
		h->budget.bytes = BUDGET_BYTES;
	if (h->budget.steps > BUDGET_STEPS)
		h->budget.steps = BUDGET_STEPS;
}

static int look_up(struct code_helper *h, uint32_t number)
{
	struct code_file *f;
	int r = find_file(h, number, &f);

	return r < 0 ? r : code_file_look_up(f, h->name, h->names, &h->budget);
}

static int find_lines(struct code_helper *h, uint32_t number)
{
	struct code_file *f;
	int r = h->dw ? find_file(h, number, &f) : -EBADMSG;

	return r < 0 ? r : code_file_find_lines(f, h->dw, h->name, h->names);
}

static int look_up_jit(struct code_helper *h, uint32_t number)
{
	cleanup_free char *text = NULL;
	const char *begin, *end;
	struct stat st;
	size_t size, want;
	ssize_t len;
	int fd;

	if (number >= CODE_MAPS)
		return -EBADMSG;
	fd = h->perf_map[number] - 1;
	arena_clear(&h->name_arena);
	for (size_t i = 1; i < h->names; i++) {
		if (h->name[i - 1].address > h->name[i].address)
			return -EBADMSG;
	}
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0)
		return 0;
	size = (size_t)st.st_size;
	want = size < JIT_BYTES_MAX ? size : JIT_BYTES_MAX;
	if (h->budget.bytes < want)
		return -EFBIG;
	h->budget.bytes -= want;
	text = malloc(want);
	if (!text)
		return -ENOMEM;
	len = file_read_at(fd, size - want, text, want);
	/* A file that cannot be read has no names. */
	if (len < 0)
		return 0;
	begin = text;
	/* The first line may lack its beginning. */
	if (want < size) {
		end = memchr(text, '\n', (size_t)len);
		begin = end ? end + 1 : text + len;
	}
	return perf_map_name(begin, (size_t)(text + len - begin), h->name, h->names,
			     &h->name_arena);
}

static int answer_names(void *state, struct helper_message *request, struct helper_message *ret)
{
	const struct code_names *ask = (const void *)request->data;
	struct code_helper *h = state;
	int r = 0;

	if (!ask->first) {
		fill_budget(h);
		r = read_addresses(h, request, sizeof(*ask));
		if (r == 0)
			r = request->kind == CODE_NAMES	  ? look_up(h, ask->number)
			    : request->kind == CODE_LINES ? find_lines(h, ask->number)
							  : look_up_jit(h, ask->number);
		/* Names that are known are told in any case. */
		h->names_error = r;
	}
	if (r < 0 && r != -EFBIG)
		return r;
	put_names(h, ask->first, ret);
	return 0;
}

static int answer_functions(void *state, struct helper_message *request, struct helper_message *ret)
{
	struct found_function found[CODE_FUNCTIONS_MAX];
	const char *name[CODE_FUNCTIONS_MAX];
	const struct code_functions *ask = (const void *)request->data;
	struct function_names names = {.name = name, .locals = ask->locals};
	struct code_helper *h = state;
	struct code_file *f;
	int r;

	for (size_t pos = sizeof(*ask); pos < request->len;
	     pos += strlen(name[names.count++]) + 1) {
		if (names.count == CODE_FUNCTIONS_MAX)
			return -EBADMSG;
		name[names.count] = request->data + pos;
	}
	r = find_file(h, ask->file, &f);
	if (r < 0 || f->fd < 0)
		return r;
	fill_budget(h);
	r = functions_find(f->fd, &f->facts, &names, &h->budget, found, ARRAY_SIZE(found));
	if (r < 0)
		return r;
	message_put(ret, found, (size_t)r * sizeof(found[0]));
	return 0;
}

static int answer_version(void *state, struct helper_message *request, struct helper_message *ret)
{
	char version[CODE_VERSION_MAX] = "";
	struct code_helper *h = state;
	struct code_file *f;
	int r = find_file(h, *(const uint32_t *)(const void *)request->data, &f);

	if (r == 0)
		r = f->fd < 0 ? -ENOENT : jemalloc_version(f->fd, &h->budget, version);
	message_put(ret, version, sizeof(version));
	return r;
}

static int answer_perf_map(void *state, struct helper_message *request, struct helper_message *ret)
{
	const struct code_perf_map *ask = (const void *)request->data;
	struct code_helper *h = state;
	int fd;

	(void)ret;
	if (ask->map >= CODE_MAPS)
		return -EBADMSG;
	fd = code_open_perf_map(request->fd[0], ask->own_pid, ask->owner, h->everybody);
	if (fd < 0)
		return fd;
	if (h->perf_map[ask->map])
		close(h->perf_map[ask->map] - 1);
	h->perf_map[ask->map] = fd + 1;
	return 0;
}

int code_helper_answer(void *state, struct helper_message *request, struct helper_message *ret)
{
	static const struct helper_answer answers[] = {
		[CODE_OPEN] = {answer_open, sizeof(struct code_open), 1, true},
		[CODE_DEBUG] = {answer_debug, sizeof(uint32_t), 1, false},
		[CODE_SPACE] = {answer_space, sizeof(struct code_space_part), 0, false},
		[CODE_FORGET] = {answer_forget, sizeof(uint32_t), 0, false},
		[CODE_UNWIND] = {answer_unwind, 2 * sizeof(uint32_t), 0, false},
		[CODE_NAMES] = {answer_names, sizeof(struct code_names), 0, false},
		[CODE_PERF_MAP] = {answer_perf_map, sizeof(struct code_perf_map), 1, false},
		[CODE_PERF_NAMES] = {answer_names, sizeof(struct code_names), 0, false},
		[CODE_LINES] = {answer_names, sizeof(struct code_names), 0, false},
		[CODE_FUNCTIONS] = {answer_functions, sizeof(struct code_functions), 0, true},
		[CODE_VERSION] = {answer_version, sizeof(uint32_t), 0, false},
	};

	return helper_answer(answers, ARRAY_SIZE(answers), state, request, ret);
}
