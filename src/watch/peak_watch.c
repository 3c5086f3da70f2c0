// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loads the programs of peak, adds processes and reads what they have. */
#include "watch/peak_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "load/bpf_diagnose.h"
#include "load/bpf_load.h"
#include "privilege/privilege.h"
#include "source/iterator.h"

/* Entries of on_cpu, at most: 32 MiB. */
#define ON_CPU_MOST (2 << 20)

static const enum bpf_part programs[] = {BPF_PEAK_RSS, BPF_PEAK_EXEC, BPF_PEAK_FORK, BPF_PEAK_EXIT};

struct peak_watch {
	struct bpf_handle object;
	struct ring_buffer *ring;
	struct zmem_peak_state *state;
	struct zmem_peak_settings settings;
	int link_fd[ARRAY_SIZE(programs)];
	int links;
	bool each;
	int (*fn)(void *arg, const struct zmem_peak_message *message);
	void *arg;
};

static int receive_message(void *arg, void *data, size_t len)
{
	const struct peak_watch *w = arg;

	return len < sizeof(struct zmem_peak_message) ? -EBADMSG : w->fn(w->arg, data);
}

/* ---- opening ---- */

static int attach(struct peak_watch *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		int fd = bpf_raw_tracepoint_open(NULL, w->object.fd[programs[i]]);

		if (fd < 0)
			return fd;
		w->link_fd[w->links++] = fd;
	}
	return 0;
}

static int set_up(struct peak_watch *w)
{
	w->state = w->object.answers;
	w->ring = ring_buffer__new(w->object.fd[BPF_RING], receive_message, w, NULL);
	return w->ring ? attach(w) : -errno;
}

static int open_object(enum bpf_object_id id, struct peak_watch **ret, struct bpf_missing *missing)
{
	struct peak_watch *w = calloc(1, sizeof(*w));
	struct bpf_sizes sizes = {.targets = ON_CPU_MOST / bpf_cpu_numbers()};
	int r;

	if (!w)
		return -ENOMEM;
	w->each = id == OBJECT_PEAK;
	if (sizes.targets > ZMEM_PEAK_TARGETS)
		sizes.targets = ZMEM_PEAK_TARGETS;
	w->settings.targets = sizes.targets;
	r = bpf_load(id, LOADER_EITHER, &sizes, &w->object, missing);
	if (r == 0)
		r = set_up(w);
	if (r == 0)
		*ret = w;
	else
		peak_watch_close(w);
	return r;
}

int peak_watch_open(struct diag *diag, struct peak_watch **ret)
{
	static const enum bpf_object_id id[] = {OBJECT_PEAK, OBJECT_PEAK_PROBE};
	struct bpf_missing missing = {}, later;
	int r = -ENOTSUP;

	for (size_t i = 0; i < ARRAY_SIZE(id); i++) {
		/* What the newest object lacks is the reason. */
		r = open_object(id[i], ret, missing.name[0] ? &later : &missing);
		/* Without a privilege or room another object has no more. */
		if (r == 0 || r == -EMFILE || r == -ENOMEM || !privilege_loads())
			break;
	}
	bpf_diagnose_programs(diag, "peak", "peak", r, &missing);
	if (r < 0 && privilege_loads())
		diag_attach_log(diag, bpf_load_explain(OBJECT_PEAK, NULL));
	return r;
}

bool peak_watch_each(const struct peak_watch *w)
{
	return w->each;
}

void peak_watch_stop(struct peak_watch *w)
{
	while (w->links > 0)
		close(w->link_fd[--w->links]);
}

void peak_watch_close(struct peak_watch *w)
{
	if (!w)
		return;
	peak_watch_stop(w);
	ring_buffer__free(w->ring);
	bpf_handle_close(&w->object);
	free(w);
}

/* ---- processes ---- */

int peak_watch_add(struct peak_watch *w, pid_t pid, bool later)
{
	uint64_t before = w->state->all;
	struct zmem_peak_visit result[2] = {};
	const uint32_t zero = 0;
	ssize_t len;

	w->settings.later = later;
	if (bpf_map_update_elem(w->object.fd[BPF_SETTINGS], &zero, &w->settings, 0) < 0)
		return -errno;
	len = iterator_visit(w->object.fd[BPF_ITER], pid, result, sizeof(result));
	if (len < 0)
		return (int)len;
	if (len < (ssize_t)sizeof(result[0]))
		return w->state->all == before ? -ESRCH : 0;
	return !later && result[0].target >= w->settings.targets ? -ENOSPC : 0;
}

const struct zmem_peak_state *peak_watch_state(const struct peak_watch *w)
{
	return w->state;
}

int64_t peak_watch_take_recent(struct peak_watch *w)
{
	int64_t now = __atomic_load_n(&w->state->rss, __ATOMIC_RELAXED);
	int64_t recent = __atomic_exchange_n(&w->state->recent, now, __ATOMIC_RELAXED);

	return recent > now ? recent : now;
}

struct zmem_peak_high peak_watch_high(const struct peak_watch *w)
{
	struct zmem_peak_high best = {};

	/* If two came at once, the higher one may have the lower number. */
	for (size_t i = 0; i < ZMEM_PEAK_HIGHS; i++) {
		if (w->state->high[i].rss > best.rss)
			best = w->state->high[i];
	}
	return best;
}

int peak_watch_read(struct peak_watch *w,
		    int (*fn)(void *arg, const struct zmem_peak_message *message), void *arg)
{
	int r;

	w->fn = fn;
	w->arg = arg;
	r = ring_buffer__consume(w->ring);
	return r < 0 ? r : 0;
}

int peak_watch_each_target(const struct peak_watch *w,
			   int (*fn)(void *arg, const struct zmem_peak_target *target), void *arg)
{
	struct zmem_peak_target t;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < w->state->targets; i++) {
		if (bpf_map_lookup_elem(w->object.fd[BPF_TARGETS], &i, &t) < 0)
			return -errno;
		if (t.mm)
			r = fn(arg, &t);
	}
	return r;
}

int peak_watch_each_process(const struct peak_watch *w,
			    int (*fn)(void *arg, const struct zmem_peak_process *process,
				      const struct zmem_peak_target *target),
			    void *arg)
{
	int map = w->object.fd[BPF_PROCESSES], r = 0;
	struct zmem_peak_process p;
	struct zmem_peak_target t;
	uint32_t key, *before = NULL;

	/* A process that ends meanwhile may have the walk begin anew. */
	for (size_t i = 0; r == 0 && i < 8 * (size_t)ZMEM_PEAK_TARGETS; i++) {
		uint32_t next;

		if (bpf_map_get_next_key(map, before, &next) < 0)
			break;
		key = next;
		before = &key;
		if (bpf_map_lookup_elem(map, &key, &p) < 0)
			continue;
		r = fn(arg, &p,
		       bpf_map_lookup_elem(w->object.fd[BPF_TARGETS], &p.target, &t) == 0 &&
				       t.mm == p.mm && t.mm && !p.shared
			       ? &t
			       : NULL);
	}
	return r;
}

uint64_t peak_watch_missed(const struct peak_watch *w)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(w->object.fd[BPF_PEAK_RSS], &info, &len) < 0
		       ? 0
		       : info.recursion_misses;
}
