// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "source/nvml_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/unpack.h"
#include "privilege/helper.h"

#include "nvml.inc"

#define LIMIT_US 10000000 /* where a GPU sleeps, the first answer takes seconds */
#define AGAIN_US 60000000

struct nvml_source {
	struct helper_kind kind;
	struct helper helper;
	struct helpers helpers;
	struct strbuf program;
	uint64_t again_us; /* before it is not asked */
	int error;	   /* of the last time that it was asked */
	char why[NVML_WHY];
	struct gpu_part part[NVML_USES];
};

int nvml_source_open(struct nvml_source **ret)
{
	struct nvml_source *n = calloc(1, sizeof(*n));
	const void *program = n ? unpacked(&nvml_program, &n->program) : NULL;

	if (!program) {
		free(n);
		return -ENOMEM;
	}
	n->kind = (struct helper_kind){.limits = {LIMIT_US, LIMIT_US, 0},
				       .memory = (size_t)1 << 30,
				       .network = true,
				       .program = program,
				       .program_size = n->program.len};
	n->helpers.hurry_fd = -1;
	helper_init(&n->helper, &n->kind, geteuid(), getegid(), NULL, &n->helpers);
	*ret = n;
	return 0;
}

void nvml_source_close(struct nvml_source *n)
{
	if (!n)
		return;
	helper_done(&n->helper);
	strbuf_done(&n->program);
	free(n);
}

/* ---- the answer ---- */

static bool is_text(const char *s, size_t cap)
{
	const char *end = memchr(s, '\0', cap);

	for (; end && *s; s++) {
		if (*s < ' ' || *s > '~')
			return false;
	}
	return end;
}

static struct gpu_part part_of(const struct nvml_use *u)
{
	struct gpu_part p = {.pid = u->pid,
			     .kind = GPU_NVML,
			     .resident_known = u->bytes <= GPU_BYTES_MAX,
			     .driver = "nvidia",
			     .region = "usedGpuMemory"};

	p.resident = p.resident_known ? u->bytes : 0;
	snprintf(p.device, sizeof(p.device), "%04x:%02x:%02x.0", u->domain, u->bus & 0xff,
		 u->device & 0xff);
	return p;
}

static int compare_parts(const void *pa, const void *pb)
{
	const struct gpu_part *a = pa, *b = pb;
	int r = ORDER_OF(a->pid, b->pid);

	return r ? r : strcmp(a->device, b->device);
}

/* A divided device has several uses of a process. */
static size_t join_uses(struct gpu_part *part, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(part, count, sizeof(*part), compare_parts);
	for (size_t i = 0; i < count; i++) {
		struct gpu_part *last = kept ? &part[kept - 1] : NULL;

		if (!last || compare_parts(last, &part[i]) != 0) {
			part[kept++] = part[i];
			continue;
		}
		last->resident_known &= part[i].resident_known &&
					last->resident + part[i].resident <= GPU_BYTES_MAX;
		last->resident = last->resident_known ? last->resident + part[i].resident : 0;
	}
	return kept;
}

ssize_t nvml_parse(const void *data, size_t len, struct gpu_part *ret, char why[NVML_WHY])
{
	struct nvml_answer a;

	if (len < sizeof(a))
		return -EBADMSG;
	memcpy(&a, data, sizeof(a));
	if (a.count > NVML_USES || len != sizeof(a) + a.count * sizeof(struct nvml_use) ||
	    !is_text(a.call, sizeof(a.call)) || !is_text(a.words, sizeof(a.words)))
		return -EBADMSG;
	if (*a.call || *a.words) {
		snprintf(why, NVML_WHY, "libnvidia-ml: %s: %s", a.call, a.words);
		return -EIO;
	}
	for (uint32_t i = 0; i < a.count; i++) {
		struct nvml_use use;

		memcpy(&use, (const char *)data + sizeof(a) + i * sizeof(use), sizeof(use));
		if (use.pid <= 0)
			return -EBADMSG;
		ret[i] = part_of(&use);
	}
	return (ssize_t)join_uses(ret, a.count);
}

static const char *reason_of(int error)
{
	switch (error) {
	case -ETIMEDOUT:
		return "no answer within 10 s";
	case -EOVERFLOW:
		return "it used 10 s of a CPU";
	case -ECHILD:
		return "it crashed";
	case -EBADMSG:
		return "its answer is invalid";
	case -ENOENT:
		return "this system has no glibc to load it with";
	default:
		return strerror(-error);
	}
}

static ssize_t call_helper(struct nvml_source *n)
{
	ssize_t r = helper_call(&n->helper, 0);

	if (r == 0)
		r = nvml_parse(n->helper.answer.data, n->helper.answer.len, n->part, n->why);
	if (r < 0 && r != -EIO)
		snprintf(n->why, sizeof(n->why), "libnvidia-ml: %s", reason_of((int)r));
	if (r < 0)
		n->again_us = clock_us(CLOCK_MONOTONIC) + AGAIN_US;
	return r;
}

ssize_t nvml_source_read(struct nvml_source *n, const struct gpu_part **ret, const char **ret_why)
{
	ssize_t r = n->error;

	if (clock_us(CLOCK_MONOTONIC) >= n->again_us)
		r = call_helper(n);
	n->error = r < 0 ? (int)r : 0;
	*ret = n->part;
	*ret_why = n->why;
	return r;
}
