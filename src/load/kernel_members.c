// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "load/kernel_members.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "load/bpf_diagnose.h"
#include "zmem/members.h"

#define READ_LEAST  (64 * 1024)
#define SECTION_MAX (32u << 20) /* all BTF of Linux 6.18 has 6 MB */
#define DEPTH_MAX   8		/* anonymous members within each other */
#define TYPES_FIRST 4096

static const struct {
	const char *type, *member;
} wanted[] = {
#define WANTED(type, member) {#type, #member},
	ZMEM_MEMBERS(WANTED)
#undef WANTED
};

/* A section of the file. It is read from its beginning on, as far as it is needed. */
struct section {
	int fd;
	uint64_t at; /* in the file */
	size_t len, read;
	char *bytes; /* room for all of them; where nothing was read it takes no memory */
};

struct types {
	struct section types, names;
	uint32_t *at; /* where each type begins; the first has number 1 */
	size_t count, capacity;
	size_t next; /* where the next one begins */
};

static void types_done(struct types *t)
{
	free(t->types.bytes);
	free(t->names.bytes);
	free(t->at);
}

static int section_open(struct section *s, int fd, uint64_t at, size_t len)
{
	if (len > SECTION_MAX)
		return -EBADMSG;
	*s = (struct section){.fd = fd, .at = at, .len = len, .bytes = malloc(len + 1)};
	return s->bytes ? 0 : -ENOMEM;
}

/* Reads up to `end`, and at least twice as much as was read before. */
static int section_need(struct section *s, uint64_t end)
{
	size_t upto = 2 * s->read > READ_LEAST ? 2 * s->read : READ_LEAST;
	ssize_t n;

	if (end <= s->read)
		return 0;
	if (end > s->len)
		return -EBADMSG;
	if (upto < end)
		upto = end;
	if (upto > s->len)
		upto = s->len;
	n = file_read_at(s->fd, s->at + s->read, s->bytes + s->read, upto - s->read);
	if (n < 0)
		return (int)n;
	s->read += (size_t)n;
	s->bytes[s->read] = '\0';
	return end <= s->read ? 0 : -EBADMSG;
}

/* What follows a struct btf_type (Documentation/bpf/btf.rst). */
static size_t rest_of(const struct btf_type *type)
{
	size_t count = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(__u32);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return count * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return count * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return count * sizeof(struct btf_var_secinfo);
	case BTF_KIND_ENUM64:
		return count * 3 * sizeof(__u32);
	default:
		return 0;
	}
}

static int read_type(struct types *t)
{
	int r = section_need(&t->types, t->next + sizeof(struct btf_type));
	size_t end;

	if (r < 0)
		return r;
	end = t->next + sizeof(struct btf_type) + rest_of((void *)(t->types.bytes + t->next));
	r = section_need(&t->types, end);
	if (r < 0)
		return r;
	if (!array_room(&t->at, t->count, &t->capacity, TYPES_FIRST))
		return -ENOMEM;
	t->at[t->count++] = (uint32_t)t->next;
	t->next = end;
	return 0;
}

/* Returns a type by its number. NULL and a negative errno if it cannot be read. */
static const struct btf_type *type_of(struct types *t, uint32_t number, int *ret)
{
	*ret = number ? 0 : -EBADMSG;
	while (*ret == 0 && t->count < number)
		*ret = read_type(t);
	return *ret == 0 ? (const void *)(t->types.bytes + t->at[number - 1]) : NULL;
}

/* Returns 1 if the name at an offset is this one, 0 or a negative errno. */
static int is_name(struct types *t, uint32_t at, const char *name)
{
	size_t size = strlen(name) + 1;
	int r;

	if (at >= t->names.len || size > t->names.len - at)
		return 0;
	r = section_need(&t->names, at + size);
	return r < 0 ? r : memcmp(t->names.bytes + at, name, size) == 0;
}

/* Returns 1 and the offset in bits, 0 if there is no such member, or a negative errno. */
static int find_member(struct types *t, uint32_t number, const char *name, int depth,
		       uint32_t *ret_bits)
{
	int r;
	const struct btf_type *type = type_of(t, number, &r);
	const struct btf_member *member;
	bool fields;

	if (!type)
		return r;
	if ((BTF_INFO_KIND(type->info) != BTF_KIND_STRUCT &&
	     BTF_INFO_KIND(type->info) != BTF_KIND_UNION) ||
	    depth == DEPTH_MAX)
		return 0;
	member = (const void *)(type + 1);
	fields = BTF_INFO_KFLAG(type->info);
	for (uint32_t i = 0; r == 0 && i < BTF_INFO_VLEN(type->info); i++) {
		uint32_t bits = fields ? BTF_MEMBER_BIT_OFFSET(member[i].offset) : member[i].offset;

		*ret_bits = bits;
		if (member[i].name_off) {
			r = is_name(t, member[i].name_off, name);
		} else {
			r = find_member(t, member[i].type, name, depth + 1, ret_bits);
			*ret_bits += bits;
		}
	}
	return r;
}

/* True for the first member of each type in the list. */
static bool begins_type(size_t i)
{
	return i == 0 || strcmp(wanted[i].type, wanted[i - 1].type) != 0;
}

/* Finds the members from the one at `first` on that are of this type. */
static int find_members(struct types *t, uint32_t number, size_t first, uint32_t *offsets)
{
	int r = 0;

	for (size_t i = first; r >= 0 && i < ARRAY_SIZE(wanted) && (i == first || !begins_type(i));
	     i++) {
		uint32_t bits = 0;

		r = find_member(t, number, wanted[i].member, 0, &bits);
		if (r > 0)
			offsets[i] = bits / 8 + 1;
	}
	return r < 0 ? r : 0;
}

/* Finds the members of a type, if it is in the list and not in `found`. */
static int look_at(struct types *t, uint32_t number, bool *found, uint32_t *offsets)
{
	int r;
	const struct btf_type *type = type_of(t, number, &r);

	if (!type || BTF_INFO_KIND(type->info) != BTF_KIND_STRUCT)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (found[i] || !begins_type(i))
			continue;
		r = is_name(t, type->name_off, wanted[i].type);
		if (r == 0)
			continue;
		found[i] = true;
		return r < 0 ? r : find_members(t, number, i, offsets);
	}
	return 0;
}

static bool found_all(const bool *found)
{
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (begins_type(i) && !found[i])
			return false;
	}
	return true;
}

int kernel_members_find(const char *path, struct zmem_members *ret)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	cleanup(types_done) struct types t = {};
	bool found[ARRAY_SIZE(wanted)] = {};
	struct btf_header head;
	ssize_t n;
	int r;

	*ret = (struct zmem_members){};
	if (fd < 0)
		return -errno;
	n = file_read_at(fd, 0, &head, sizeof(head));
	if (n < 0)
		return (int)n;
	if (n < (ssize_t)sizeof(head) || head.magic != BTF_MAGIC)
		return -EBADMSG;
	r = section_open(&t.types, fd, (uint64_t)head.hdr_len + head.type_off, head.type_len);
	if (r == 0)
		r = section_open(&t.names, fd, (uint64_t)head.hdr_len + head.str_off, head.str_len);
	for (uint32_t i = 1; r == 0 && !found_all(found); i++) {
		if (t.next == t.types.len && i > t.count)
			break;
		r = look_at(&t, i, found, ret->offset);
	}
	return r;
}

int kernel_members_set(const struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata.members");
	struct zmem_members members;
	int r;

	if (!map)
		return 0;
	r = kernel_members_find(BTF_PATH, &members);
	return r < 0 ? r : bpf_map__set_initial_value(map, &members, sizeof(members));
}
