// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes results of the texts that workers read. Reads no file. */
#include "enrich/pool_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "model/program.h"

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

void pool_understand(enum pool_file file, const char *text, ssize_t len, struct pool_result *ret)
{
	*ret = (struct pool_result){.status = PSS_OK};
	if (len < 0)
		set_error(ret, (int)len);
	else if (file == POOL_ROLLUP && len == 0)
		ret->status = PSS_GONE;
	else if (file == POOL_ROLLUP && smaps_rollup_parse(text, (size_t)len, &ret->counters) < 0)
		ret->status = PSS_UNSUPPORTED;
	if (len < 0 || file == POOL_ROLLUP)
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

void pool_make_names(struct process *const *rows, size_t count, struct pool_result *results)
{
	for (size_t i = 0; i < count; i++)
		make_name(rows[i], &results[i]);
}
