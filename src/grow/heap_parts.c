// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "grow/heap_parts.h"

#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/hash.h"

#define PART_MIN_NS   20000000ULL
#define PART_MAX_NS   1000000000ULL
#define PAUSE_MAX_NS  10000000000ULL
#define WITHOUT_PAUSE 0.8 /* a larger share of the time is worth no pause */

/* ---- parts ---- */

void heap_parts_begin(struct heap_parts *p, uint64_t now)
{
	if (getrandom(&p->random, sizeof(p->random), GRND_NONBLOCK) != sizeof(p->random))
		p->random = now;
	heap_parts_anew(p, now, (struct heap_count){});
}

void heap_parts_anew(struct heap_parts *p, uint64_t now, struct heap_count count)
{
	p->count = 0;
	p->open = p->pauses = false;
	p->finer = 0;
	p->leaves = 0;
	p->seen = p->unseen = p->between = (struct heap_count){};
	p->forgotten = count;
	heap_parts_open(p, now, count);
	p->next = now + HEAP_FIRST_NS;
}

void heap_parts_done(struct heap_parts *p)
{
	free(p->part);
	*p = (struct heap_parts){};
}

/* With an exponential distribution, within bounds. */
static uint64_t draw(struct heap_parts *p, double mean, uint64_t min, uint64_t max)
{
	double u, length;

	p->random = hash_number(p->random, p->count);
	u = (double)((p->random >> 11) + 1) / (double)((uint64_t)1 << 53);
	length = -log(u) * mean;
	return length < (double)min ? min : length > (double)max ? max : (uint64_t)length;
}

/* The share of the time that may be in parts, by the rate of the last one. */
static double allowed(const struct heap_part *last, uint64_t now, uint64_t calls)
{
	double rate = (double)(calls - last->before.calls) * 1e9 / (double)(now - last->start + 1);

	return rate > HEAP_CALLS_MAX ? HEAP_CALLS_MAX / rate : 1;
}

/* How long calls have probes for each part, ns: also while these are opened and closed. */
static double cost_time(const struct heap_parts *p)
{
	return HEAP_PART_NS + (double)p->between.time / (double)p->count;
}

/* Calls cost much, and samples little: in parts there are as many as the program hardly feels. */
static uint8_t choose_finer(const struct heap_part *last, uint64_t now,
			    const struct heap_count *count, double share)
{
	double samples = (double)(count->samples - last->before.samples) / (1 << last->finer);
	double rate = samples * 1e9 / (double)(now - last->start + 1) * share;
	uint8_t finer = 0;

	while (finer < HEAP_FINER_MAX && rate * (2 << finer) <= HEAP_SAMPLES_MAX)
		finer++;
	return finer;
}

enum heap_turn heap_parts_turn(struct heap_parts *p, uint64_t now, struct heap_count count)
{
	struct heap_part *last = p->count ? &p->part[p->count - 1] : NULL;
	double share;
	bool early;

	if (!last)
		return HEAP_WAIT;
	early = p->open && !p->pauses && count.calls - last->before.calls > HEAP_FIRST_CALLS;
	if (now < p->next && !early)
		return HEAP_WAIT;
	if (!p->open)
		return p->leaves ? HEAP_WAIT : HEAP_OPEN;
	share = allowed(last, now, count.calls);
	if (share >= WITHOUT_PAUSE) {
		/* It goes on, and the rate is measured anew. */
		if (!p->pauses) {
			last->before.calls = count.calls;
			p->next = now + HEAP_FIRST_NS;
			return HEAP_WAIT;
		}
		share = WITHOUT_PAUSE;
	}
	p->pauses = true;
	p->finer = choose_finer(last, now, &count, share);
	p->next = now + draw(p, cost_time(p) * (1 / share - 1), HEAP_SETTLE_NS, PAUSE_MAX_NS);
	return HEAP_CLOSE;
}

static void count_up(struct heap_count *sum, const struct heap_count *from,
		     const struct heap_count *to)
{
	sum->calls += to->calls - from->calls;
	sum->work += to->work - from->work;
	sum->time += to->time - from->time;
	sum->samples += to->samples - from->samples;
}

void heap_parts_wait(struct heap_parts *p, uint64_t now)
{
	p->next = now + HEAP_SETTLE_NS;
}

void heap_parts_count(struct heap_parts *p, bool ends, struct heap_count count)
{
	count_up(ends ? &p->unseen : &p->between, &p->last, &count);
	p->last = count;
}

void heap_parts_close(struct heap_parts *p, uint64_t now, struct heap_count count)
{
	struct heap_part *last = &p->part[p->count - 1];

	last->end = now;
	if (last->pauses)
		count_up(&p->seen, &last->before, &count);
	p->last = count;
	p->open = false;
	p->leaves = now + HEAP_SETTLE_NS / 2;
}

void heap_parts_open(struct heap_parts *p, uint64_t now, struct heap_count count)
{
	if (!array_room(&p->part, p->count, &p->capacity, 64))
		return;
	p->part[p->count++] = (struct heap_part){
		.start = now, .before = count, .pauses = p->pauses, .finer = p->finer};
	if (p->pauses)
		count_up(&p->between, &p->last, &count);
	p->open = true;
	p->next = now + draw(p, HEAP_PART_NS, PART_MIN_NS, PART_MAX_NS);
}

uint64_t heap_parts_end(const struct heap_parts *p)
{
	size_t i = p->count;

	while (i > 0 && !p->part[i - 1].end)
		i--;
	return i ? p->part[i - 1].end : 0;
}

/* The part of a time: the last one that had begun. */
static size_t part_of(const struct heap_parts *p, uint64_t time)
{
	size_t i = p->count;

	while (i > 1 && p->part[i - 1].start > time)
		i--;
	return i ? i - 1 : 0;
}

uint64_t heap_parts_sample(const struct heap_parts *p, uint64_t time, uint64_t sample_bytes)
{
	return p->count ? sample_bytes >> p->part[part_of(p, time)].finer : sample_bytes;
}

bool heap_parts_same(const struct heap_parts *p, uint64_t a, uint64_t b)
{
	return part_of(p, a) == part_of(p, b);
}

bool heap_parts_whole(const struct heap_parts *p)
{
	return p->count <= 1 && !p->pauses;
}

uint64_t heap_parts_seen(const struct heap_parts *p, uint64_t now)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->count; i++)
		sum += (p->part[i].end ? p->part[i].end : now) - p->part[i].start;
	return sum;
}

/* The cost of a call is known so well. */
#define COST_ERROR  0.2
#define SHARE_ERROR 0.15
/* A sample, beside its call: measured at 15,000 a second. */
#define SAMPLE_NS 6000
/* A program does something between its calls: less than that share of the time is not believed. */
#define LEAST_WORK 0.01

/*
 * The work of the program itself in such a time: what its probes leave, and not more than in pauses
 * in the same time. A program that waits uses more of the CPU with probes. If it waits for requests
 * it does as much as before; if it waits a while after each, it does less, by the part of the time
 * in which it still waits. The middle of both is taken.
 */
static double own_work(const struct heap_count *c, const struct heap_count *pauses, double cost_ns,
		       bool waits)
{
	double work = (double)c->work, time = (double)c->time, paused = (double)pauses->time;
	double own = work - (double)c->calls * cost_ns - (double)c->samples * SAMPLE_NS;
	double most = paused > 0 ? time * (double)pauses->work / paused : work;

	if (waits && work > 1.15 * most && work < 0.8 * time)
		own = most * (1 + (time - work) / (time - most)) / 2;
	else if (own > most)
		own = most;
	return own > LEAST_WORK * work ? own : LEAST_WORK * work;
}

static double share_at(const struct heap_count *seen, const struct heap_count *between,
		       const struct heap_count *unseen, double cost_ns, bool waits)
{
	double own = own_work(seen, unseen, cost_ns, waits);
	double all = own + own_work(between, unseen, cost_ns, waits) + (double)unseen->work;

	return all > 0 ? own / all : 1;
}

double heap_parts_share(const struct heap_parts *p, const struct heap_count *now, uint64_t cost_ns,
			double *ret_error)
{
	const struct heap_part *last = p->count ? &p->part[p->count - 1] : NULL;
	struct heap_count seen = p->seen, unseen = p->unseen;
	double share, other[3];

	if (p->open && last->pauses)
		count_up(&seen, &last->before, now);
	else if (!p->open && p->pauses)
		count_up(&unseen, &p->last, now);
	share = share_at(&seen, &p->between, &unseen, (double)cost_ns, true);
	/* What it is if the cost is another one, or if the program waits for a CPU alone. */
	other[0] = share_at(&seen, &p->between, &unseen, (double)cost_ns * (1 + COST_ERROR), true);
	other[1] = share_at(&seen, &p->between, &unseen, (double)cost_ns * (1 - COST_ERROR), true);
	other[2] = share_at(&seen, &p->between, &unseen, (double)cost_ns, false);
	*ret_error = p->pauses ? SHARE_ERROR : 0;
	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		/* Of two standard deviations. */
		double error = other[i] > 0 ? fabs(share / other[i] - 1) / 2 : 0;

		if (error > *ret_error)
			*ret_error = error;
	}
	return share > 0 ? share : 1;
}

/* ---- stacks ---- */

double heap_weight(uint64_t size, uint64_t sample_bytes)
{
	if (sample_bytes <= 1)
		return (double)size;
	return (double)size / -expm1(-(double)size / (double)sample_bytes);
}

static bool has_pauses(const struct heap_parts *p, uint64_t time)
{
	return p->count && p->part[part_of(p, time)].pauses;
}

static size_t age_of(uint64_t from, uint64_t to)
{
	uint64_t us = to > from ? (to - from) / 1000 : 0;
	size_t i = 0;

	for (; us && i < HEAP_AGES - 1; us /= 4)
		i++;
	return i;
}

/* 0: it is open. */
static double length_of(const struct heap_parts *p, size_t i)
{
	return i < p->count && p->part[i].end ? (double)(p->part[i].end - p->part[i].start) : 0;
}

void heap_stack_add(struct heap_stack *s, const struct heap_parts *p, uint64_t time, uint64_t size,
		    double weight)
{
	bool pauses = has_pauses(p, time);
	size_t part = part_of(p, time);

	s->weight[pauses] += weight;
	s->square[pauses] += weight * weight;
	s->sampling[pauses] += weight * (weight - (double)size);
	if (!pauses)
		return;
	if (s->part != part) {
		s->squares += s->current * s->current;
		s->products += s->current * length_of(p, s->part);
		s->current = 0;
		s->part = (uint32_t)part;
	}
	s->current += weight;
}

void heap_stack_freed(struct heap_stack *s, const struct heap_parts *p, uint64_t time,
		      uint64_t freed, double weight)
{
	s->freed[has_pauses(p, time)][age_of(time, freed)] += (float)weight;
}

void heap_stack_left(struct heap_stack *s, const struct heap_parts *p, uint64_t time, uint64_t end,
		     double weight)
{
	bool pauses = has_pauses(p, time);

	s->left[pauses][age_of(time, end)] += (float)weight;
	s->all_left[pauses] += weight;
}

void heap_stack_late(struct heap_stack *s, const struct heap_parts *p, uint64_t time, bool left,
		     double weight)
{
	if (!left)
		heap_stack_left(s, p, time, p->part[part_of(p, time)].end, weight);
	s->late[has_pauses(p, time)] += weight;
}

/* Both kinds of parts together: what has pauses stands for the pauses, too. */
static double both(const double x[2], double share)
{
	return x[0] + x[1] / share;
}

/*
 * The variance of the sum over all parts and pauses: of what parts have beyond their length. What a
 * stack allocates all the time has little of it, and what it allocates in one part has all.
 */
static double parts_variance(const struct heap_stack *s, const struct heap_parts *p, double share)
{
	double length = 0, squares = 0, n = 0, sum = s->weight[1], rate, rest;

	for (size_t i = 0; i < p->count; i++) {
		double t = p->part[i].pauses ? length_of(p, i) : 0;

		length += t;
		squares += t * t;
		n += t > 0;
	}
	rest = s->squares + s->current * s->current;
	if (n >= 2) {
		rate = sum / length;
		rest += rate *
			(rate * squares - 2 * (s->products + s->current * length_of(p, s->part)));
		rest = (rest > 0 ? rest : 0) * n / (n - 1);
	}
	return rest * (1 - share) / (share * share);
}

void heap_stack_sum(const struct heap_stack *s, const struct heap_parts *p, double share,
		    double share_error, double *ret_allocated, double *ret_held,
		    double *ret_variance)
{
	double all = both(s->weight, share), left = both(s->all_left, share), living = 0;
	double lives = 1, relative = 0, stays, each, variance;

	*ret_allocated = all;
	*ret_held = *ret_variance = 0;
	if (all <= 0)
		return;
	/* Of a sample, with what it stands for in pauses. */
	each = (s->square[0] + s->square[1] / (share * share)) / all;
	for (size_t i = 0; i < HEAP_AGES; i++)
		living += s->freed[0][i] + s->left[0][i] + (s->freed[1][i] + s->left[1][i]) / share;
	for (size_t i = 0; i < HEAP_AGES; i++) {
		double freed = s->freed[0][i] + s->freed[1][i] / share;
		double gone = s->left[0][i] + s->left[1][i] / share;
		/* Of those that are left in this range of ages it is not known. */
		double seen = living - gone;

		if (freed > 0 && seen > 0) {
			double p = freed < seen ? freed / seen : 1;

			lives *= 1 - p;
			if (p < 1)
				relative += p / ((1 - p) * seen / each);
		}
		living -= freed + gone;
	}
	stays = left > 0 ? lives * (1 - both(s->late, share) / left) : 0;
	if (stays < 0)
		stays = 0;
	*ret_held = all * stays;
	/* The sum of all, by sampling and by parts, and the share that lives (Greenwood). */
	variance = s->sampling[0] + s->sampling[1] / (share * share) + parts_variance(s, p, share);
	/* Where none was left, one more sample could have been. */
	if (stays <= 0)
		*ret_variance = each * each;
	variance += s->weight[1] / share * share_error * (s->weight[1] / share * share_error);
	*ret_variance += stays * stays * variance + *ret_held * *ret_held * relative;
}
