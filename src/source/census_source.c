// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs bpf/census.bpf.c again and again until all frames were looked at, or a sample of them.
 *
 * The sample is stratified: the frames are cut into as many parts of equal size as a request has
 * pieces, and of each part a random piece of PIECE frames is looked at. A request is repeated with
 * other pieces until the time is used up. The requests are independent of each other and each is an
 * estimate by itself, so their spread tells the error of their sum.
 */
#include "source/census_source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "load/bpf_diagnose.h"
#include "load/bpf_load.h"
#include "source/source.h"

#define SUBJECT	    "page frames"
#define NEEDS_PAGES "they need PSS from page tables"

/* Up to here all frames are counted unless a sample is asked for. */
#define EXACT_BYTES    ((uint64_t)64 << 30)
#define PIECE	       64
#define REQUESTS_LEAST 8
#define REQUESTS_MOST  32
#define SAMPLE_CPU_US  25000
/* Student's t of 95 % for about 15 requests. */
#define INTERVAL 2.13

struct census_source {
	struct bpf_handle handle;
	struct zmem_census *visit; /* what a run of the program is asked and answers */
	uint32_t page_size;
	uint64_t random;
	double scale; /* all frames, in those that were looked at */
	struct census_node *node;
	size_t nodes;
	bool mixed;
	struct census_cgroup *cgroup;
	size_t cgroups;
};

int census_source_open(const struct source *from, struct diag *diag, struct census_source **ret)
{
	struct census_source *s;
	struct zmem_layout layout;
	struct bpf_missing missing = {};
	int r = source_layout(from, &layout);

	if (r < 0) {
		diag_add(diag, SUBJECT, r, NULL, NEEDS_PAGES);
		return r;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	r = bpf_load(OBJECT_CENSUS, LOADER_EITHER, NULL, &s->handle, &missing);
	if (r < 0 && r != -ENOMEM)
		r = bpf_load(OBJECT_CENSUS_OLD, LOADER_LIBBPF, NULL, &s->handle, &missing);
	if (r < 0) {
		bpf_diagnose_note(diag, SUBJECT, "loading the program", r, &missing);
		census_source_close(s);
		return r;
	}
	s->visit = s->handle.answers;
	s->visit->vmemmap = layout.vmemmap;
	s->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	if (getrandom(&s->random, sizeof(s->random), GRND_NONBLOCK) < 0)
		s->random = clock_ns(CLOCK_MONOTONIC);
	*ret = s;
	return 0;
}

void census_source_close(struct census_source *s)
{
	if (!s)
		return;
	bpf_handle_close(&s->handle);
	free(s->node);
	free(s->cgroup);
	free(s);
}

/* ---- requests ---- */

/* Looks at the pieces of the request. */
static int run_request(struct census_source *s)
{
	struct zmem_census *v = s->visit;

	v->at = v->done = 0;
	v->pfn = v->end = 0;
	while (!v->done) {
		uint64_t steps = v->steps;
		int r = bpf_program_run(s->handle.fd[BPF_RUN]);

		if (r < 0)
			return r;
		/* The program did not go on: it is not what we know. */
		if (!v->done && v->steps == steps)
			return -EPROTO;
	}
	return 0;
}

static void add_frames(struct census_frames *to, const struct census_frames *from)
{
	for (int i = 0; i < ZMEM_FRAMES; i++)
		to->kind[i] += from->kind[i];
	for (int i = 0; i < ZMEM_CENSUS_ORDERS; i++)
		to->block[i] += from->block[i];
	for (int i = 0; i < ZMEM_CENSUS_TYPES; i++)
		to->type[i] += from->type[i];
	to->charged += from->charged;
}

/* The sums of the last request, which then begin at 0. */
static struct census_frames drain_sums(struct census_source *s)
{
	struct zmem_census *v = s->visit;
	struct census_frames sums = {.charged = v->charged};

	memcpy(sums.kind, v->frames, sizeof(sums.kind));
	memcpy(sums.block, v->blocks, sizeof(sums.block));
	memcpy(sums.type, v->types, sizeof(sums.type));
	memset(v->frames, 0, sizeof(v->frames));
	memset(v->blocks, 0, sizeof(v->blocks));
	memset(v->types, 0, sizeof(v->types));
	v->charged = 0;
	return sums;
}

/* Makes room for the nodes of the spans, with all their frames 0. */
static int prepare_nodes(struct census_source *s, const struct frame_span *span, size_t count)
{
	struct census_node *node = calloc(count ? count : 1, sizeof(*node));

	free(s->node);
	s->node = node;
	s->nodes = 0;
	if (!node)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t n = 0;

		while (n < s->nodes && node[n].node != span[i].node)
			n++;
		if (n == s->nodes)
			node[s->nodes++].node = span[i].node;
	}
	return 0;
}

static struct census_frames *frames_of(struct census_source *s, uint32_t node)
{
	size_t n = 0;

	while (n < s->nodes - 1 && s->node[n].node != node)
		n++;
	return &s->node[n].frames;
}

static int count_all(struct census_source *s, const struct frame_span *span, size_t count)
{
	s->scale = 1;
	for (size_t i = 0; i < count; i++) {
		struct census_frames sums;
		int r;

		s->visit->piece[0][0] = span[i].first;
		s->visit->piece[0][1] = span[i].end;
		s->visit->pieces = 1;
		r = run_request(s);
		if (r < 0)
			return r;
		sums = drain_sums(s);
		add_frames(frames_of(s, span[i].node), &sums);
	}
	return 0;
}

/* ---- a sample ---- */

/* A random number below `limit` (xorshift64*; Vigna, 2016). */
static uint64_t random_below(struct census_source *s, uint64_t limit)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (uint64_t)(((unsigned __int128)(s->random * 0x2545f4914f6cdd1dULL) * limit) >> 64);
}

/* The piece with that frame, by its number among those of all spans. */
static void set_piece(const struct frame_span *span, size_t count, uint64_t place, __u64 piece[2])
{
	size_t i = 0;

	while (i < count - 1 && place >= span[i].end - span[i].first)
		place -= span[i].end - span[i].first, i++;
	piece[0] = (span[i].first + place) & ~(PIECE - 1ULL);
	piece[1] = piece[0] + PIECE < span[i].end ? piece[0] + PIECE : span[i].end;
	piece[0] = piece[0] > span[i].first ? piece[0] : span[i].first;
}

static uint64_t looked_at(const struct census_frames *f)
{
	uint64_t sum = 0;

	for (int i = 0; i < ZMEM_FRAMES; i++)
		sum += f->kind[i];
	return sum;
}

/*
 * Half of the interval of the sum of `count` estimates with these sums of their squares. If few
 * pieces or none had such frames, their spread says nothing. But what no piece of many has is, with
 * 95 %, in fewer than three of as many others.
 */
static uint64_t interval(uint64_t sum, double squares, unsigned count)
{
	double variance = (squares - (double)sum * (double)sum / count) / (count - 1);
	uint64_t half = variance > 0 ? (uint64_t)(INTERVAL * sqrt(variance * count)) : 0;

	return half > 3 * PIECE ? half : 3 * PIECE;
}

static int count_sample(struct census_source *s, const struct frame_span *span, size_t count,
			struct census *ret)
{
	uint64_t all = 0, start = clock_us(CLOCK_THREAD_CPUTIME_ID);
	double squares[ZMEM_FRAMES] = {}, charged = 0;
	unsigned requests = 0;

	for (size_t i = 0; i < count; i++)
		all += span[i].end - span[i].first;
	while (requests < REQUESTS_LEAST ||
	       (requests < REQUESTS_MOST &&
		clock_us(CLOCK_THREAD_CPUTIME_ID) - start < SAMPLE_CPU_US)) {
		struct census_frames one;
		uint64_t part = all / ZMEM_CENSUS_PIECES;
		int r;

		for (unsigned i = 0; i < ZMEM_CENSUS_PIECES; i++)
			set_piece(span, count, part * i + random_below(s, part ? part : 1),
				  s->visit->piece[i]);
		s->visit->pieces = ZMEM_CENSUS_PIECES;
		r = run_request(s);
		if (r < 0)
			return r;
		one = drain_sums(s);
		add_frames(&ret->all, &one);
		for (int i = 0; i < ZMEM_FRAMES; i++)
			squares[i] += (double)one.kind[i] * (double)one.kind[i];
		charged += (double)one.charged * (double)one.charged;
		requests++;
	}
	for (int i = 0; i < ZMEM_FRAMES; i++)
		ret->error.kind[i] = interval(ret->all.kind[i], squares[i], requests);
	ret->error.charged = interval(ret->all.charged, charged, requests);
	s->scale = (double)all / (double)looked_at(&ret->all);
	ret->sampled = true;
	return 0;
}

int census_source_read(struct census_source *s, const struct zones *zones,
		       enum census_method method, struct census *ret)
{
	struct frame_span span[ZONES_MAX];
	uint64_t start = clock_us(CLOCK_MONOTONIC);
	size_t count = zones_spans(zones, span, &s->mixed);
	int r = prepare_nodes(s, span, count);

	if (r < 0)
		return r;
	if (!count || zones->cut)
		return -ENODATA;
	if (method == CENSUS_AUTO)
		method = zones_present(zones) * s->page_size > EXACT_BYTES ? CENSUS_SAMPLE
									   : CENSUS_EXACT;
	*ret = (struct census){};
	memset(s->visit->others, 0, sizeof(s->visit->others));
	memset(s->visit->owners, 0, sizeof(s->visit->owners));
	memset(s->visit->pools, 0, sizeof(s->visit->pools));
	drain_sums(s);
	if (method == CENSUS_SAMPLE) {
		r = count_sample(s, span, count, ret);
		s->nodes = 0;
	} else {
		r = count_all(s, span, count);
	}
	for (size_t n = 0; n < s->nodes; n++)
		add_frames(&ret->all, &s->node[n].frames);
	ret->old_types = !(s->visit->marks & ZMEM_MARKS_TYPES);
	ret->zsmalloc_marked = s->visit->marks & ZMEM_MARKS_ZSMALLOC;
	ret->kmalloc_marked = s->visit->marks & ZMEM_MARKS_KMALLOC;
	ret->percpu_marked = s->visit->marks & ZMEM_MARKS_PERCPU;
	ret->duration_us = clock_us(CLOCK_MONOTONIC) - start;
	return r;
}

const struct census_node *census_source_nodes(const struct census_source *s, size_t *ret_count)
{
	*ret_count = s->mixed ? 0 : s->nodes;
	return s->mixed ? NULL : s->node;
}

/* ---- cgroups ---- */

/* A row of the program's table with its memory cgroup. */
struct owner {
	uint64_t memcg; /* the key of compare_leading_u64() */
	struct census_cgroup cgroup;
};

static int name_owner(struct census_source *s, const struct zmem_census_owner *from,
		      struct arena *arena, struct owner *ret)
{
	struct zmem_census *v = s->visit;
	char path[OOM_CGROUP_MAX];
	int known = census_source_owner(s, from->key, path);

	if (known < 0)
		return known;
	*ret = (struct owner){.memcg = v->memcg, .cgroup.deleted = v->deleted};
	for (int i = 0; i < ZMEM_CHARGES; i++)
		ret->cgroup.bytes[i] =
			(uint64_t)((double)from->frames[i] * s->scale) * s->page_size;
	if (!known)
		return 0;
	ret->cgroup.path = arena_strndup(arena, path, strlen(path));
	return ret->cgroup.path ? 0 : -ENOMEM;
}

static int compare_cgroups(const void *a, const void *b)
{
	uint64_t x = census_cgroup_bytes(a), y = census_cgroup_bytes(b);

	return x < y ? 1 : x > y ? -1 : 0;
}

/* A memory cgroup has one row for itself and, until 7.0, one for what the kernel charges to it. */
static void merge_owners(struct census_source *s, struct owner *owner, size_t count)
{
	qsort(owner, count, sizeof(*owner), compare_leading_u64);
	s->cgroups = 0;
	for (size_t i = 0; i < count; i++) {
		if (!i || owner[i].memcg != owner[i - 1].memcg) {
			s->cgroup[s->cgroups++] = owner[i].cgroup;
			continue;
		}
		for (int k = 0; k < ZMEM_CHARGES; k++)
			s->cgroup[s->cgroups - 1].bytes[k] += owner[i].cgroup.bytes[k];
	}
	qsort(s->cgroup, s->cgroups, sizeof(*s->cgroup), compare_cgroups);
}

int census_source_cgroups(struct census_source *s, struct arena *arena,
			  const struct census_cgroup **ret, size_t *ret_count)
{
	const struct zmem_census *v = s->visit;
	size_t count = 0, used = 0;
	struct owner *owner;
	int r = 0;

	for (size_t i = 0; i < ZMEM_CENSUS_OWNERS; i++)
		count += v->owners[i].key != 0;
	owner = calloc(count + 1, sizeof(*owner));
	free(s->cgroup);
	s->cgroup = calloc(count + 1, sizeof(*s->cgroup));
	if (!owner || !s->cgroup)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < ZMEM_CENSUS_OWNERS && used < count; i++)
		if (v->owners[i].key)
			r = name_owner(s, &v->owners[i], arena, &owner[used++]);
	/* Owners that found no room in the table are in the row without a name. */
	for (int i = 0; r == 0 && i < ZMEM_CHARGES; i++)
		owner[used].cgroup.bytes[i] =
			(uint64_t)((double)v->others[i] * s->scale) * s->page_size;
	if (r == 0)
		merge_owners(s, owner, used + (census_cgroup_bytes(&owner[used].cgroup) != 0));
	free(owner);
	*ret = s->cgroup;
	*ret_count = s->cgroups;
	return r;
}

int census_source_pools(struct census_source *s,
			void (*fn)(void *arg, const char *device, uint64_t bytes), void *arg)
{
	struct zmem_census *v = s->visit;

	for (size_t i = 0; i < ZMEM_CENSUS_POOLS; i++) {
		char device[ZMEM_DEVICE_NAME];
		int r;

		if (!v->pools[i].key)
			continue;
		v->key = v->pools[i].key;
		r = bpf_program_run(s->handle.fd[BPF_NAME_POOL]);
		if (r < 0)
			return r;
		memcpy(device, v->device, sizeof(device));
		device[sizeof(device) - 1] = '\0';
		fn(arg, *device ? device : "a device without a name",
		   (uint64_t)((double)v->pools[i].frames * s->scale) * s->page_size);
	}
	return 0;
}

/* ---- files ---- */

/* Fills wanted[]; number[]: the file at each place of it. */
static void set_wanted(struct zmem_census *v, const uint64_t *mapping, size_t count,
		       uint32_t number[ZMEM_CENSUS_FILES])
{
	memset(v->wanted, 0, sizeof(v->wanted));
	for (size_t i = 0; i < count && i < CENSUS_FILES_MAX; i++) {
		uint64_t place = ZMEM_CENSUS_FILE_PLACE(mapping[i]);

		for (unsigned p = 0; mapping[i] && p < ZMEM_CENSUS_PROBES; p++) {
			uint64_t at = (place + p) & (ZMEM_CENSUS_FILES - 1);

			if (v->wanted[at])
				continue;
			v->wanted[at] = mapping[i];
			number[at] = (uint32_t)i;
			break;
		}
	}
}

int census_source_owner(struct census_source *s, uint64_t owner, char ret[OOM_CGROUP_MAX])
{
	struct zmem_census *v = s->visit;
	int r;

	if (!owner)
		return 0;
	v->key = owner;
	r = bpf_program_run(s->handle.fd[BPF_NAME]);
	if (r < 0 || !v->memcg)
		return r;
	return cgroup_path_read(&v->path, v->names, ret, NULL) == ZMEM_OOM_PATH_KNOWN;
}

static int call_for_files(struct census_source *s, const uint32_t number[ZMEM_CENSUS_FILES],
			  int (*fn)(void *arg, size_t file, const struct file_charge *charge),
			  void *arg)
{
	struct zmem_census *v = s->visit;

	for (size_t i = 0; i < ZMEM_CENSUS_OWNERS; i++) {
		const struct zmem_census_owner *o = &v->owners[i];
		struct file_charge charge = {.bytes = o->frames[ZMEM_CHARGE_FILE] * s->page_size};
		char path[OOM_CGROUP_MAX];
		int r;

		if (!o->key || o->frames[ZMEM_CHARGE_FILE_AT] >= ZMEM_CENSUS_FILES)
			continue;
		r = census_source_owner(s, o->frames[ZMEM_CHARGE_OWNER_AT], path);
		if (r > 0)
			charge = (struct file_charge){path, v->deleted, charge.bytes};
		if (r >= 0)
			r = fn(arg, number[o->frames[ZMEM_CHARGE_FILE_AT]], &charge);
		if (r < 0)
			return r;
	}
	return 0;
}

int census_source_files(struct census_source *s, const struct zones *zones, const uint64_t *mapping,
			size_t count,
			int (*fn)(void *arg, size_t file, const struct file_charge *charge),
			void *arg)
{
	uint32_t number[ZMEM_CENSUS_FILES];
	struct census census;
	int r;

	set_wanted(s->visit, mapping, count, number);
	s->visit->files = 1;
	r = census_source_read(s, zones, CENSUS_EXACT, &census);
	s->visit->files = 0;
	return r < 0 ? r : call_for_files(s, number, fn, arg);
}
