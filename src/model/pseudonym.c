// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pseudonyms: eight hexadecimal digits of SipHash-2-4 of the name. */
#include "model/pseudonym.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 8

/* ---- SipHash-2-4 ---- */

static uint64_t rotate(uint64_t v, int bits)
{
	return v << bits | v >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[0] = rotate(v[0], 32);
		v[2] += v[3];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
}

static uint64_t sip_hash(const struct pseudonym_key *key, const char *text, size_t len)
{
	uint64_t v[4] = {key->k[0] ^ 0x736f6d6570736575, key->k[1] ^ 0x646f72616e646f6d,
			 key->k[0] ^ 0x6c7967656e657261, key->k[1] ^ 0x7465646279746573};
	uint64_t last = (uint64_t)len << 56, word;
	size_t i;

	for (i = 0; i + 8 <= len; i += 8) {
		memcpy(&word, text + i, 8);
		sip_word(v, le64toh(word));
	}
	for (; i < len; i++)
		last |= (uint64_t)(unsigned char)text[i] << 8 * (i % 8);
	sip_word(v, last);
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- names ---- */

/* Writes a pseudonym and its terminator. */
static void write_pseudonym(char ret[DIGITS + 1], const struct pseudonym_key *key, const char *text,
			    size_t len)
{
	snprintf(ret, DIGITS + 1, "%08x", (unsigned)(uint32_t)sip_hash(key, text, len));
}

static int hide(struct arena *a, const struct pseudonym_key *key, const char **name)
{
	char *hidden;

	if (!*name)
		return 0;
	hidden = arena_alloc(a, DIGITS + 1);
	if (!hidden)
		return -ENOMEM;
	write_pseudonym(hidden, key, *name, strlen(*name));
	*name = hidden;
	return 0;
}

/* The length of a path, or of the beginning of one, with pseudonyms as components. */
static size_t path_len(const char *path, size_t len)
{
	size_t hidden = 0;

	for (size_t i = 0; i < len; i++) {
		if (path[i] == '/')
			hidden++;
		else if (i == 0 || path[i - 1] == '/')
			hidden += DIGITS;
	}
	return hidden;
}

/* Each component of a path, so that a cgroup stays in its parent. */
static int hide_path(struct arena *a, const struct pseudonym_key *key, const char **path)
{
	const char *from = *path;
	char *to;

	if (!from)
		return 0;
	to = arena_alloc(a, path_len(from, strlen(from)) + 1);
	if (!to)
		return -ENOMEM;
	*path = to;
	while (*from) {
		size_t len = strcspn(from, "/");

		if (!len) {
			*to++ = *from++;
			continue;
		}
		write_pseudonym(to, key, from, len);
		to += DIGITS;
		from += len;
	}
	*to = '\0';
	return 0;
}

static int hide_process(struct arena *a, const struct pseudonym_key *key, struct process *p)
{
	int r;

	if (p->cgroup && p->unit_path)
		p->unit_path = (uint16_t)path_len(p->cgroup, p->unit_path);
	if (p->cgroup && p->container_path)
		p->container_path = (uint16_t)path_len(p->cgroup, p->container_path);
	if (p->cgroup && p->pod_path)
		p->pod_path = (uint16_t)path_len(p->cgroup, p->pod_path);
	p->container_id = NULL;
	p->container_status = CONTAINER_NONE;
	p->cmdline = NULL;
	p->cmdline_truncated = false;
	p->name_cut = false;
	write_pseudonym(p->comm, key, p->comm, strlen(p->comm));
	r = hide(a, key, &p->name);
	if (r == 0)
		r = hide(a, key, &p->user);
	if (r == 0)
		r = hide_path(a, key, &p->cgroup);
	if (r == 0)
		r = hide(a, key, &p->unit);
	/* "prod/web-0/app": each part, so that a container stays in its pod. */
	if (r == 0)
		r = hide_path(a, key, &p->container);
	if (r == 0)
		r = hide_path(a, key, &p->pod);
	return r < 0 ? r : hide(a, key, &p->space);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct memcg *)a)->path, ((const struct memcg *)b)->path);
}

int snapshot_hide_names(struct snapshot *s, const struct pseudonym_key *key)
{
	int r = 0;

	write_pseudonym(s->host.name, key, s->host.name, strlen(s->host.name));
	for (size_t i = 0; r == 0 && i < s->count; i++)
		r = hide_process(&s->arena, key, &s->process[i]);
	for (size_t i = 0; r == 0 && i < s->memcg_count; i++)
		r = hide_path(&s->arena, key, &s->memcg[i].path);
	if (r == 0 && s->memcg_count)
		qsort(s->memcg, s->memcg_count, sizeof(*s->memcg), by_path);
	return r;
}
