// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks the helper of a user, and checks what it answers. */
#include "code/code_reader.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/code_helper.h"
#include "privilege/privilege.h"

struct code_reader {
	struct helper helper;
	struct code_helper state; /* the helper's copy changes */
	/* For each file, the start of the helper that was asked to open it. */
	unsigned *asked;
	size_t files;
	unsigned lost;
};

/*
 * A request for a file had the helper killed. Its user may have any number of such files: after so
 * many nothing of it is opened.
 */
#define LOST_MAX 2

/* A program of 500 MiB with a million symbols takes less CPU. */
static const struct helper_kind kind = {
	.answer = code_helper_answer,
	.memory = (size_t)512 << 20,
	.limits = {.cpu_us = 5000000, .idle_us = 1000000},
};

int code_reader_new(const struct libdw *dw, uid_t uid, gid_t gid, struct helpers *shared,
		    struct code_reader **ret)
{
	struct code_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->state.dw = dw;
	/* The rights are still those of root. */
	r->state.everybody = geteuid() == 0 && uid != 0 && !privilege_can_leave();
	helper_init(&r->helper, &kind, uid, gid, &r->state, shared);
	*ret = r;
	return 0;
}

bool code_reader_is_of(const struct code_reader *r, uid_t uid, gid_t gid)
{
	return r->helper.uid == uid && r->helper.gid == gid;
}

int code_reader_begin(struct code_reader *r)
{
	int error = helper_start(&r->helper);

	return error < 0 ? error : (int)r->helper.starts;
}

void code_reader_free(struct code_reader *r)
{
	helper_done(&r->helper);
	free(r->asked);
	free(r);
}

/* ---- requests ---- */

static void begin(struct code_reader *r, enum code_ask what, const void *head, size_t len)
{
	helper_begin(&r->helper, what);
	message_put(&r->helper.request, head, len);
}

/* A new helper would have no files: see code_reader_begin(). */
static int call(struct code_reader *r)
{
	return helper_runs(&r->helper) ? helper_call(&r->helper, 0) : -ECHILD;
}

/* Calls the helper about a file. */
static int call_file(struct code_reader *r)
{
	bool runs = helper_runs(&r->helper);
	int error = r->lost >= LOST_MAX ? -EBUSY : runs ? helper_call_file(&r->helper) : -ECHILD;

	/* Lines of large programs may cost too much, and names do not. */
	r->lost += runs && r->helper.request.kind != CODE_LINES && helper_lost(error);
	return error;
}

bool code_reader_has(const struct code_reader *r, uint32_t file)
{
	return helper_runs(&r->helper) && file < r->files && r->asked[file] == r->helper.starts;
}

static int note_asked(struct code_reader *r, uint32_t file)
{
	if (file >= r->files) {
		size_t count = (size_t)file + 64;
		unsigned *moved = reallocarray(r->asked, count, sizeof(*moved));

		if (!moved)
			return -ENOMEM;
		memset(moved + r->files, 0, (count - r->files) * sizeof(*moved));
		r->asked = moved;
		r->files = count;
	}
	r->asked[file] = r->helper.starts;
	return 0;
}

int code_reader_open(struct code_reader *r, const struct code_file_request *request,
		     struct elf_facts *ret, bool *ret_debug)
{
	const struct code_open ask = {request->file, request->opened};
	struct code_opened opened;
	size_t pos = 0;
	int error;

	begin(r, CODE_OPEN, &ask, sizeof(ask));
	message_put(&r->helper.request, request->path, strlen(request->path) + 1);
	message_put_fd(&r->helper.request, request->found);
	if (request->root_fd >= 0)
		message_put_fd(&r->helper.request, request->root_fd);
	error = call_file(r);
	if (!helper_lost(error) && note_asked(r, request->file) < 0)
		return -ENOMEM;
	if (error < 0)
		return error;
	if (!message_get(&r->helper.answer, &pos, &opened, sizeof(opened)) ||
	    opened.facts.segments > SEGMENTS_MAX || opened.facts.build_id_len > BUILD_ID_MAX)
		return -EBADMSG;
	*ret = opened.facts;
	*ret_debug = opened.debug;
	return 0;
}

int code_reader_add_debug(struct code_reader *r, uint32_t file, int fd)
{
	begin(r, CODE_DEBUG, &file, sizeof(file));
	message_put_fd(&r->helper.request, fd);
	return call_file(r);
}

int code_reader_set_space(struct code_reader *r, uint32_t space, const struct code_space *images)
{
	const size_t most = (HELPER_DATA - sizeof(struct code_space_part)) / sizeof(struct image);
	size_t i = 0;
	int error = 0;

	do {
		const struct code_space_part part = {
			.space = space, .first = (uint32_t)i, .generation = images->generation};
		size_t count = images->count - i < most ? images->count - i : most;

		begin(r, CODE_SPACE, &part, sizeof(part));
		message_put(&r->helper.request, images->image + i, count * sizeof(struct image));
		error = call(r);
		i += count;
	} while (error == 0 && i < images->count);
	return error;
}

int code_reader_unwind(struct code_reader *r, uint32_t space,
		       const struct zmem_grow_stack *const *stack, size_t count,
		       struct unwound *ret)
{
	const size_t head = offsetof(struct unwound, ip);
	const uint32_t number[2] = {space};
	const uint64_t none = 0;
	size_t pos = 0;
	int error;

	begin(r, CODE_UNWIND, number, sizeof(number));
	for (size_t i = 0; i < count; i++) {
		size_t len = sizeof(*stack[i]) + stack[i]->len;

		message_put(&r->helper.request, stack[i], len);
		message_put(&r->helper.request, &none, unwind_size(stack[i]->len) - len);
	}
	error = call(r);
	for (size_t i = 0; error == 0 && i < count; i++) {
		if (!message_get(&r->helper.answer, &pos, &ret[i], head) ||
		    ret[i].count > UNWIND_FRAMES ||
		    !message_get(&r->helper.answer, &pos, ret[i].ip,
				 ret[i].count * sizeof(ret[i].ip[0])))
			error = -EBADMSG;
	}
	return error;
}

void code_reader_forget_space(struct code_reader *r, uint32_t space)
{
	if (!helper_runs(&r->helper))
		return;
	begin(r, CODE_FORGET, &space, sizeof(space));
	call(r);
}

/* ---- names ---- */

/* Calls fn for each name of an answer. *next: the address with which the next part begins. */
static int each_name(const struct helper_message *m, size_t first, size_t count, code_name_fn fn,
		     void *arg, uint32_t *next)
{
	struct code_names_head head;
	struct code_named named;
	size_t pos = 0;
	int r = 0;

	if (!message_get(m, &pos, &head, sizeof(head)) || head.next > count || head.next < *next ||
	    head.error > 0)
		return -EBADMSG;
	while (r == 0 && message_get(m, &pos, &named, sizeof(named))) {
		const char *name = message_next(m, &pos, named.len);

		if (!name || !named.len || name[named.len - 1] || named.i < *next ||
		    named.i >= head.next)
			return -EBADMSG;
		*next = named.i + 1;
		r = fn(arg, first + named.i, named.start, name);
	}
	*next = head.next;
	return r ? r : head.error;
}

/* A request has as many addresses as fit, and the answer may come in parts. */
int code_reader_name(struct code_reader *r, enum code_ask by, uint32_t number,
		     const uint64_t *address, size_t count, code_name_fn fn, void *arg)
{
	const size_t most = (HELPER_DATA - sizeof(struct code_names)) / sizeof(*address);
	int error = 0, limited = 0;

	for (size_t i = 0, n; error == 0 && i < count; i += n) {
		struct code_names ask = {.number = number};

		n = count - i < most ? count - i : most;
		while (error == 0 && ask.first < n) {
			uint32_t before = ask.first;

			begin(r, by, &ask, sizeof(ask));
			if (!before)
				message_put(&r->helper.request, address + i, n * sizeof(*address));
			error = call_file(r);
			if (error == 0)
				error = each_name(&r->helper.answer, i, n, fn, arg, &ask.first);
			if (error == -EFBIG) {
				limited = error;
				error = 0;
			}
			if (error == 0 && ask.first == before)
				error = -EBADMSG;
		}
	}
	return error ? error : limited;
}

int code_reader_functions(struct code_reader *r, uint32_t file, const struct function_names *names,
			  struct found_function *ret, size_t cap)
{
	const struct code_functions ask = {.file = file, .locals = (uint32_t)names->locals};
	size_t pos = 0, count = 0;
	int error;

	begin(r, CODE_FUNCTIONS, &ask, sizeof(ask));
	for (size_t i = 0; i < names->count; i++)
		message_put(&r->helper.request, names->name[i], strlen(names->name[i]) + 1);
	error = call_file(r);
	if (error < 0)
		return error;
	while (count < cap && message_get(&r->helper.answer, &pos, &ret[count], sizeof(*ret)))
		count += ret[count].i < names->count;
	return (int)count;
}

int code_reader_version(struct code_reader *r, uint32_t file, char ret[CODE_VERSION_MAX])
{
	size_t pos = 0;
	int error;

	begin(r, CODE_VERSION, &file, sizeof(file));
	error = call_file(r);
	if (error == 0 && !message_get(&r->helper.answer, &pos, ret, CODE_VERSION_MAX))
		error = -EBADMSG;
	ret[error ? 0 : CODE_VERSION_MAX - 1] = '\0';
	return error;
}

int code_reader_open_perf_map(struct code_reader *r, uint32_t map, int root_fd, pid_t own_pid)
{
	const struct code_perf_map ask = {.map = map, .owner = r->helper.uid, .own_pid = own_pid};

	begin(r, CODE_PERF_MAP, &ask, sizeof(ask));
	message_put_fd(&r->helper.request, root_fd);
	return call_file(r);
}
