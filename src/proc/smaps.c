// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parses /proc/PID/smaps piece by piece, and /proc/PID/smaps_rollup.
 *
 * smaps has for each mapping (show_map_vma(), fs/proc/task_mmu.c) a line "start-end perm offset dev
 * inode   name", then one for each key. In the name of a file the kernel writes '\n' as \012 and
 * all other characters unchanged; a file with these four characters in its name looks the same.
 */
#include "proc/smaps.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "proc/keyed.h"

static const struct text_part names[] = {
	[SMAPS_RSS] = KEYED_NAME("Rss"),
	[SMAPS_PSS] = KEYED_NAME("Pss"),
	[SMAPS_PSS_ANON] = KEYED_NAME("Pss_Anon"),
	[SMAPS_PSS_FILE] = KEYED_NAME("Pss_File"),
	[SMAPS_PSS_SHMEM] = KEYED_NAME("Pss_Shmem"),
	[SMAPS_SHARED_CLEAN] = KEYED_NAME("Shared_Clean"),
	[SMAPS_SHARED_DIRTY] = KEYED_NAME("Shared_Dirty"),
	[SMAPS_PRIVATE_CLEAN] = KEYED_NAME("Private_Clean"),
	[SMAPS_PRIVATE_DIRTY] = KEYED_NAME("Private_Dirty"),
	[SMAPS_LAZYFREE] = KEYED_NAME("LazyFree"),
	[SMAPS_ANON_HUGE] = KEYED_NAME("AnonHugePages"),
	[SMAPS_SHMEM_PMD] = KEYED_NAME("ShmemPmdMapped"),
	[SMAPS_FILE_PMD] = KEYED_NAME("FilePmdMapped"),
	[SMAPS_SHARED_HUGETLB] = KEYED_NAME("Shared_Hugetlb"),
	[SMAPS_PRIVATE_HUGETLB] = KEYED_NAME("Private_Hugetlb"),
	[SMAPS_SWAP] = KEYED_NAME("Swap"),
	[SMAPS_SWAP_PSS] = KEYED_NAME("SwapPss"),
	[SMAPS_LOCKED] = KEYED_NAME("Locked"),
};
_Static_assert(ARRAY_SIZE(names) == SMAPS_KEYS, "a key without a name");

#define BIT(key) (1u << (key))

/* The keys that each counter is the sum of: all of `must`, and those of `may` that the first
 * mapping has. */
static const struct {
	uint32_t must, may;
} parts[MAPS_THP_REST] = {
	[MAPS_RSS] = {BIT(SMAPS_RSS)},
	[MAPS_PSS] = {BIT(SMAPS_PSS)},
	[MAPS_PRIVATE] = {BIT(SMAPS_PRIVATE_CLEAN) | BIT(SMAPS_PRIVATE_DIRTY)},
	[MAPS_SHARED] = {BIT(SMAPS_SHARED_CLEAN) | BIT(SMAPS_SHARED_DIRTY)},
	[MAPS_SWAP] = {BIT(SMAPS_SWAP)},
	[MAPS_SWAP_PSS] = {BIT(SMAPS_SWAP_PSS)},
	[MAPS_LOCKED] = {BIT(SMAPS_LOCKED)},
	/* Older kernels lack the other two keys and such pages (4.8, 5.4). */
	[MAPS_THP] = {BIT(SMAPS_ANON_HUGE), BIT(SMAPS_SHMEM_PMD) | BIT(SMAPS_FILE_PMD)},
	[MAPS_HUGETLB] = {BIT(SMAPS_SHARED_HUGETLB) | BIT(SMAPS_PRIVATE_HUGETLB)},
	[MAPS_LAZYFREE] = {BIT(SMAPS_LAZYFREE)},
};

static void set_counter(struct smaps *s, int counter)
{
	uint32_t keys = parts[counter].must | (parts[counter].may & s->known);
	uint64_t sum = 0;

	if (!keys || (s->have & keys) != keys)
		return;
	for (int key = 0; key < SMAPS_KEYS; key++) {
		/* A sum of three does not overflow: keyed.c ignores values above 2^62. */
		if (keys & BIT(key))
			sum += s->value[key];
	}
	s->mapping.counters.value[counter] = sum;
	s->mapping.counters.have |= BIT(counter);
}

/* Reports the mapping, which is complete. */
static void end_mapping(struct smaps *s)
{
	if (!s->open)
		return;
	s->open = false;
	if (!s->known)
		s->known = s->have;
	for (int i = 0; i < MAPS_THP_REST; i++)
		set_counter(s, i);
	s->error = s->fn(s->arg, &s->mapping);
}

static bool scan_hex(const char **pos, const char *end, uint64_t *ret)
{
	const char *p = *pos;
	uint64_t v = 0;

	for (; p < end; p++) {
		int digit = hex_value(*p);

		if (digit < 0)
			break;
		if (v >> 60)
			return false;
		v = v << 4 | (unsigned)digit;
	}
	if (p == *pos)
		return false;
	*pos = p;
	*ret = v;
	return true;
}

static bool scan_char(const char **pos, const char *end, char c)
{
	return *pos < end && *(*pos)++ == c;
}

static bool scan_perm(const char **pos, const char *end, char *perm)
{
	static const char letters[4][3] = {"r-", "w-", "x-", "ps"};

	if (end - *pos < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		if (!(*pos)[i] || !strchr(letters[i], (*pos)[i]))
			return false;
	}
	memcpy(perm, *pos, 4);
	perm[4] = '\0';
	*pos += 4;
	return true;
}

static void copy_name(struct smaps *s, const char *p, const char *end)
{
	size_t len = 0;

	while (p < end) {
		bool newline = end - p >= 4 && memcmp(p, "\\012", 4) == 0;

		s->name[len++] = newline ? '\n' : *p;
		p += newline ? 4 : 1;
	}
	s->name[len] = '\0';
	if (!len)
		strcpy(s->name, "[anon]");
}

int smaps_header_parse(const char *line, size_t len, struct smaps_header *ret)
{
	const char *p = line, *end = line + len;
	struct smaps_header h = {};
	uint64_t major, minor;

	if (!scan_hex(&p, end, &h.start) || !scan_char(&p, end, '-') ||
	    !scan_hex(&p, end, &h.end) || h.end <= h.start || !scan_char(&p, end, ' ') ||
	    !scan_perm(&p, end, h.perm) || !scan_char(&p, end, ' ') ||
	    !scan_hex(&p, end, &h.offset) || !scan_char(&p, end, ' ') ||
	    !scan_hex(&p, end, &major) || !scan_char(&p, end, ':') || !scan_hex(&p, end, &minor) ||
	    !scan_char(&p, end, ' ') || !scan_u64(&p, end, &h.inode))
		return -EINVAL;
	if (p < end && (*p != ' ' || memchr(p, '\0', (size_t)(end - p))))
		return -EINVAL;
	while (p < end && *p == ' ')
		p++;
	h.device = major << 32 | minor;
	h.name = p;
	h.name_len = (size_t)(end - p);
	*ret = h;
	return 0;
}

/* "start-end perm offset major:minor inode   name": the offset and the inode are not needed. */
static bool scan_header(struct smaps *s, const char *p, const char *end)
{
	struct mapping m = {.mappings = 1, .processes = 1, .name = s->name, .name_cut = s->cut};
	struct smaps_header h;

	if (smaps_header_parse(p, (size_t)(end - p), &h) < 0)
		return false;
	m.start = h.start;
	m.end = h.end;
	m.device = h.device;
	memcpy(m.perm, h.perm, sizeof(m.perm));
	copy_name(s, h.name, h.name + h.name_len);
	m.counters.value[MAPS_SIZE] = m.end - m.start;
	m.counters.have = BIT(MAPS_SIZE);
	s->mapping = m;
	return true;
}

/* Keys begin with capital letters. */
static bool begins_mapping(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z');
}

static void parse_line(struct smaps *s, const char *line, size_t len)
{
	struct keyed_counters counters = {names, SMAPS_KEYS, s->next, s->have, s->value};
	struct keyed_line keyed;

	if (len && begins_mapping(*line)) {
		end_mapping(s);
		s->open = scan_header(s, line, line + len);
		s->damaged |= !s->open;
		s->have = s->next = 0;
		return;
	}
	/* Without an open mapping the key belongs to none. */
	if (!s->open || s->cut || !keyed_next(&line, line + len, &keyed))
		return;
	keyed_counter(&keyed, &counters);
	s->next = counters.next;
	s->have = counters.have;
}

static void append_part(struct smaps *s, const char *data, size_t len)
{
	size_t room = SMAPS_LINE_MAX - s->len;

	if (len > room) {
		len = room;
		s->cut = true;
	}
	memcpy(s->line + s->len, data, len);
	s->len += len;
}

void smaps_begin(struct smaps *s, int (*fn)(void *arg, const struct mapping *m), void *arg)
{
	s->fn = fn;
	s->arg = arg;
	s->error = 0;
	s->any = s->damaged = s->open = s->cut = false;
	s->len = 0;
	s->next = 0;
	s->have = s->known = 0;
}

int smaps_feed(struct smaps *s, const char *data, size_t len)
{
	const char *end = data + len;

	s->any |= len != 0;
	while (data < end && !s->error) {
		const char *newline = memchr(data, '\n', (size_t)(end - data));

		append_part(s, data, (size_t)((newline ? newline : end) - data));
		if (!newline)
			break;
		parse_line(s, s->line, s->len);
		s->len = 0;
		s->cut = false;
		data = newline + 1;
	}
	return s->error;
}

int smaps_end(struct smaps *s)
{
	if (!s->error)
		end_mapping(s);
	if (s->error)
		return s->error;
	if (!s->any)
		return -ENODATA;
	/* The kernel ends every line, and its text has a mapping. */
	return s->damaged || s->len || !s->known ? -EINVAL : 0;
}

/* ---- smaps_rollup ---- */

int smaps_rollup_parse(const char *text, size_t len, struct smaps_rollup *ret)
{
	struct smaps_rollup rollup = {0};
	struct keyed_counters counters = {names, SMAPS_KEYS, .value = rollup.value};
	struct keyed_line line;

	if (!len)
		return -EINVAL;
	for (const char *pos = text, *end = text + len; keyed_next(&pos, end, &line);)
		keyed_counter(&line, &counters);
	if (!(counters.have & (1u << SMAPS_RSS | 1u << SMAPS_PSS)))
		return -EINVAL;
	rollup.have = counters.have;
	*ret = rollup;
	return 0;
}
