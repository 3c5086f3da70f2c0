// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Paths of cgroups of the names that BPF programs wrote (bpf/cgroup_path.bpf.h). */
#include "source/cgroup_path.h"

#include <string.h>

/* A path that is written from its end to its beginning. */
struct path {
	char text[OOM_CGROUP_MAX];
	size_t at;
};

/* Puts a name before the path. */
static enum zmem_oom_path_status prepend_name(struct path *p, const char *name, size_t len)
{
	/* A name that was freed meanwhile may be any text. */
	if (!len || memchr(name, '/', len) || (len <= 2 && memcmp(name, "..", len) == 0))
		return ZMEM_OOM_PATH_RACED;
	if (p->at < len + 1)
		return ZMEM_OOM_PATH_LONG;
	p->at -= len;
	memcpy(p->text + p->at, name, len);
	p->text[--p->at] = '/';
	return ZMEM_OOM_PATH_KNOWN;
}

/* The path up to a byte before its end. */
static void copy_path(const struct path *p, size_t end, char ret[OOM_CGROUP_MAX])
{
	size_t len = end - p->at;

	memcpy(ret, len ? p->text + p->at : "/", len ? len : 1);
	ret[len ? len : 1] = '\0';
}

enum zmem_oom_path_status cgroup_path_read(const struct zmem_oom_path *from, const __u64 *words,
					   char ret[OOM_CGROUP_MAX],
					   char ret_memory[OOM_CGROUP_MAX])
{
	struct path path = {.at = sizeof(path.text) - 1};
	const char *name = (const char *)words, *end = (const char *)(words + from->words);
	enum zmem_oom_path_status status = from->status;
	size_t memory = path.at;

	for (uint32_t i = 0; status == ZMEM_OOM_PATH_KNOWN && i < from->levels; i++) {
		size_t len = strnlen(name, (size_t)(end - name));

		if (i == from->memory_up)
			memory = path.at;
		status = len < (size_t)(end - name) ? prepend_name(&path, name, len)
						    : ZMEM_OOM_PATH_RACED;
		name += len / sizeof(*words) * sizeof(*words) + sizeof(*words);
	}
	if (status != ZMEM_OOM_PATH_KNOWN)
		return status;
	if (from->memory_up >= from->levels)
		memory = path.at;
	copy_path(&path, sizeof(path.text) - 1, ret);
	if (ret_memory)
		copy_path(&path, memory, ret_memory);
	return status;
}
