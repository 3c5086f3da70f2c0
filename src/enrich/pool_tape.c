// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows what a text that was read of a process is worth, whether it was read now or long ago, and
 * under which key it is on a tape. Reads no file.
 */
#include "enrich/pool_tape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "model/program.h"

static const struct {
	enum pss_status status;
	int error; /* that stands for it on a tape */
} failures[] = {
	{PSS_GONE, -ESRCH},
	{PSS_DENIED, -EACCES},
	{PSS_TIMEOUT, -ETIMEDOUT},
	{PSS_UNSUPPORTED, -EOPNOTSUPP},
};

static enum pss_status status_of(int error)
{
	switch (error) {
	case -ENOENT:
	case -ESRCH:
		return PSS_GONE;
	case -EACCES:
	case -EPERM:
		return PSS_DENIED;
	case -ETIMEDOUT:
		return PSS_TIMEOUT;
	default:
		return PSS_UNSUPPORTED;
	}
}

static int error_of(enum pss_status status)
{
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
		if (failures[i].status == status)
			return failures[i].error;
	}
	return -EOPNOTSUPP;
}

static void set_error(struct pool_result *ret, int error)
{
	ret->status = status_of(error);
	ret->error = file_exhausted(error) ? error : 0;
}

const char *pool_file_name(enum pool_file file)
{
	static const char *const names[] = {
		[POOL_ROLLUP] = "smaps_rollup",
		[POOL_STATUS] = "status",
		[POOL_CGROUP] = "cgroup",
		[POOL_CMDLINE] = "cmdline",
		[POOL_EXE] = "exe",
		[POOL_MAPS] = "smaps",
		[POOL_NAMES] = "smaps",
		[POOL_PROGRAM] = "cmdline",
	};

	return names[file];
}

void pool_fail(struct pool_result *ret, int error)
{
	*ret = (struct pool_result){};
	set_error(ret, error);
}

void pool_understand(enum pool_file file, bool keep_text, const char *text, ssize_t len,
		     struct pool_result *ret)
{
	*ret = (struct pool_result){.status = PSS_OK};
	if (len < 0)
		set_error(ret, (int)len);
	else if (file == POOL_ROLLUP && len == 0)
		ret->status = PSS_GONE;
	else if (file == POOL_ROLLUP && smaps_rollup_parse(text, (size_t)len, &ret->counters) < 0)
		ret->status = PSS_UNSUPPORTED;
	if (len < 0 || (file == POOL_ROLLUP && !keep_text))
		return;
	ret->text = malloc((size_t)len + 1);
	if (!ret->text) {
		set_error(ret, -ENOMEM);
		return;
	}
	memcpy(ret->text, text, (size_t)len);
	ret->text[len] = '\0';
	ret->len = (size_t)len;
}

/*
 * One process answers for all that have its cgroups, and another one may be asked when the
 * recording is played.
 */
static bool is_shared(enum pool_file file, const struct process *p)
{
	return file == POOL_CGROUP && p->cgroup_key;
}

static struct tape_key key_of(enum pool_file file, const struct process *p)
{
	struct tape_key key;

	if (is_shared(file, p))
		snprintf(key.text, sizeof(key.text), "cgroup/%" PRIx64, p->cgroup_key);
	else
		snprintf(key.text, sizeof(key.text), "%d/%s", p->pid,
			 file == POOL_PROGRAM ? "program" : pool_file_name(file));
	return key;
}

/* ---- programs: the name is taken down, not the arguments, which hold secrets ---- */

struct text_part pool_program_name(const struct process *p, const char *cmdline, size_t len)
{
	/* Of the last word there may be more. */
	while (len >= POOL_CMDLINE_MAX && cmdline[len - 1] != '\0') {
		const char *end = memrchr(cmdline, '\0', len);

		len = end ? (size_t)(end - cmdline) + 1 : 0;
	}
	return program_name(p->name, p->comm, len ? cmdline : NULL, len);
}

static void make_name(const struct process *p, struct pool_result *result)
{
	struct text_part name;
	char *text;

	if (!result->text)
		return;
	name = pool_program_name(p, result->text, result->len);
	text = strndup(name.s, name.len);
	free(result->text);
	result->text = text;
	result->len = name.len;
	if (!text)
		set_error(result, -ENOMEM);
}

void pool_keep(struct tape *tape, enum pool_file file, struct process *const *rows, size_t count,
	       struct pool_result *results)
{
	if (file == POOL_MAPS || file == POOL_NAMES)
		return;
	for (size_t i = 0; file == POOL_PROGRAM && i < count; i++)
		make_name(rows[i], &results[i]);
	for (size_t i = 0; tape_recording(tape) && i < count; i++) {
		struct pool_result *r = &results[i];
		struct tape_key key = key_of(file, rows[i]);

		if (r->text)
			tape_put(tape, key.text, 0, r->text, r->len);
		else if (!is_shared(file, rows[i]))
			tape_put(tape, key.text, error_of(r->status), NULL, 0);
		if (file == POOL_ROLLUP) {
			free(r->text);
			r->text = NULL;
			r->len = 0;
		}
	}
}

static enum tape_answer play(struct tape *tape, enum pool_file file, const struct process *p,
			     struct pool_result *result)
{
	struct tape_reading reading = {.error = -EOPNOTSUPP};
	enum tape_answer answer = tape_next(tape, key_of(file, p).text, &reading);
	size_t len = reading.len < POOL_TEXT_MAX ? reading.len : POOL_TEXT_MAX - 1;

	pool_understand(file, false, reading.data, reading.error ? reading.error : (ssize_t)len,
			result);
	return answer;
}

size_t pool_play(struct tape *tape, enum pool_file file, struct process *const *rows, size_t count,
		 struct pool_result *results)
{
	size_t played = 0;

	for (size_t i = 0; i < count; i++) {
		enum tape_answer answer = play(tape, file, rows[i], &results[i]);

		/* Where command lines were asked for, the name is in there. */
		if (file == POOL_PROGRAM && answer == TAPE_NONE) {
			answer = play(tape, POOL_CMDLINE, rows[i], &results[i]);
			make_name(rows[i], &results[i]);
		}
		results[i].again = answer != TAPE_NEXT;
		played += answer == TAPE_NEXT;
	}
	return played;
}

bool pool_has_played(const struct tape *tape, enum pool_file file, const struct process *p)
{
	return tape_has_next(tape, key_of(file, p).text);
}
