// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "load/kernel_members.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "load/bpf_diagnose.h"
#include "zmem/members.h"

#define READ_LEAST  (64 * 1024)
#define SECTION_MAX (32u << 20) /* all BTF of Linux 6.18 has 6 MB */
#define DEPTH_MAX   8		/* anonymous members within each other */
#define INDEX_STEP  64		/* types */
#define INDEX_FIRST 64

static const struct {
	const char *type, *member;
	bool enumerator;
} wanted[] = {
#define WANTED(type, member) {#type, #member, false},
	ZMEM_MEMBERS(WANTED)
#undef WANTED
#define WANTED(type, name) {#type, #name, true},
		ZMEM_ENUMERATORS(WANTED)
#undef WANTED
};

/*
 * A section of the file. If it is not mapped, it is read from its beginning on, as far as it is
 * needed.
 */
struct section {
	int fd;
	uint64_t at; /* in the file */
	size_t len, read;
	const char *bytes;
	char *room; /* for all of them; where nothing was read it takes no memory. NULL: mapped */
};

struct types {
	struct section types, names;
	void *map; /* the whole file; NULL: it cannot be mapped */
	size_t map_len;
	/* Where each INDEX_STEPth type begins, as far as find_all() has come. */
	uint32_t *at;
	size_t indexed, capacity;
};

static void types_done(struct types *t)
{
	free(t->types.room);
	free(t->names.room);
	free(t->at);
	if (t->map)
		munmap(t->map, t->map_len);
}

/*
 * Maps the file of the kernel, since Linux 6.16 (a539e2a6d51d). Others might become shorter, and
 * then the access is fatal.
 */
static void map_file(struct types *t, int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) < 0 || fs.f_type != SYSFS_MAGIC || fstat(fd, &st) < 0 ||
	    st.st_size <= 0)
		return;
	t->map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	t->map_len = (size_t)st.st_size;
	if (t->map == MAP_FAILED)
		t->map = NULL;
}

static int section_open(struct section *s, const struct types *t, int fd, uint64_t at, size_t len)
{
	if (len > SECTION_MAX)
		return -EBADMSG;
	*s = (struct section){.fd = fd, .at = at, .len = len};
	if (t->map) {
		if (at > t->map_len || len > t->map_len - at)
			return -EBADMSG;
		s->bytes = (const char *)t->map + at;
		s->read = len;
		return 0;
	}
	s->room = malloc(len + 1);
	s->bytes = s->room;
	return s->room ? 0 : -ENOMEM;
}

/* Reads up to `end`, and at least twice as much as was read before. */
static int section_read(struct section *s, uint64_t end)
{
	size_t upto = 2 * s->read > READ_LEAST ? 2 * s->read : READ_LEAST;
	ssize_t n;

	if (end > s->len)
		return -EBADMSG;
	if (upto < end)
		upto = end;
	if (upto > s->len)
		upto = s->len;
	n = file_read_at(s->fd, s->at + s->read, s->room + s->read, upto - s->read);
	if (n < 0)
		return (int)n;
	s->read += (size_t)n;
	return end <= s->read ? 0 : -EBADMSG;
}

static inline int section_need(struct section *s, uint64_t end)
{
	return end <= s->read ? 0 : section_read(s, end);
}

/* The size of a type with what follows the struct btf_type (Documentation/bpf/btf.rst). */
static inline size_t size_of(uint32_t info)
{
	static const struct {
		uint8_t once, each;
	} rest[BTF_INFO_KIND(UINT32_MAX) + 1] = {
		[BTF_KIND_INT] = {.once = sizeof(__u32)},
		[BTF_KIND_VAR] = {.once = sizeof(struct btf_var)},
		[BTF_KIND_DECL_TAG] = {.once = sizeof(struct btf_decl_tag)},
		[BTF_KIND_ARRAY] = {.once = sizeof(struct btf_array)},
		[BTF_KIND_STRUCT] = {.each = sizeof(struct btf_member)},
		[BTF_KIND_UNION] = {.each = sizeof(struct btf_member)},
		[BTF_KIND_ENUM] = {.each = sizeof(struct btf_enum)},
		[BTF_KIND_FUNC_PROTO] = {.each = sizeof(struct btf_param)},
		[BTF_KIND_DATASEC] = {.each = sizeof(struct btf_var_secinfo)},
		[BTF_KIND_ENUM64] = {.each = 3 * sizeof(__u32)},
	};
	const unsigned kind = BTF_INFO_KIND(info);

	return sizeof(struct btf_type) + rest[kind].once + rest[kind].each * BTF_INFO_VLEN(info);
}

/* Moves *at behind the type that begins there, which can be read then. */
static inline int pass_type(struct section *types, size_t *at)
{
	int r = section_need(types, *at + sizeof(struct btf_type));

	if (r == 0)
		*at += size_of(((const struct btf_type *)(types->bytes + *at))->info);
	return r < 0 ? r : section_need(types, *at);
}

/* Returns a type by its number, from 1 on. NULL and a negative errno if it cannot be read. */
static const struct btf_type *type_of(struct types *t, uint32_t number, int *ret)
{
	size_t entry = number ? (number - 1) / INDEX_STEP : 0, at = 0, end;

	if (entry >= t->indexed)
		entry = t->indexed - 1;
	end = t->at[entry];
	*ret = number ? 0 : -EBADMSG;
	for (size_t i = entry * INDEX_STEP; *ret == 0 && i < number; i++) {
		at = end;
		*ret = pass_type(&t->types, &end);
	}
	return *ret == 0 ? (const void *)(t->types.bytes + at) : NULL;
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

/* Returns 1 and the value times 8, as if it were an offset, 0 or a negative errno. */
static int find_enumerator(struct types *t, const struct btf_type *type, const char *name,
			   uint32_t *ret_bits)
{
	const struct btf_enum *item = (const void *)(type + 1);
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < BTF_INFO_VLEN(type->info); i++) {
		*ret_bits = 8 * (uint32_t)item[i].val;
		r = is_name(t, item[i].name_off, name);
	}
	return r;
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
	if (BTF_INFO_KIND(type->info) == BTF_KIND_ENUM)
		return find_enumerator(t, type, name, ret_bits);
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

/*
 * Finds the members from the one at `first` on that are of this type. Returns how many, or a
 * negative errno.
 */
static int find_members(struct types *t, uint32_t number, size_t first, uint32_t *offsets)
{
	int r = 0, found = 0;

	for (size_t i = first; r >= 0 && i < ARRAY_SIZE(wanted) && (i == first || !begins_type(i));
	     i++) {
		uint32_t bits = 0;

		r = find_member(t, number, wanted[i].member, 0, &bits);
		if (r <= 0)
			continue;
		offsets[i] = bits / 8 + 1;
		found++;
	}
	return r < 0 ? r : found;
}

/* Types of the list that were not found yet, of one kind. */
struct sought {
	uint8_t kind;
	size_t count;
	struct {
		size_t first; /* its first member in the list */
		char name[4]; /* the beginning of its name, to tell it from most others */
	} item[ARRAY_SIZE(wanted)];
};

static void seek(struct sought *ret, uint8_t kind, bool enumerators)
{
	ret->kind = kind;
	ret->count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (!begins_type(i) || wanted[i].enumerator != enumerators)
			continue;
		ret->item[ret->count].first = i;
		memcpy(ret->item[ret->count++].name, wanted[i].type, sizeof(ret->item->name));
	}
}

/*
 * Finds the members of a struct or an enum, if it is one that is sought, and seeks it no more. One
 * of the same name without these members is another one.
 */
static int look_at(struct types *t, uint32_t number, uint32_t name, struct sought *sought,
		   uint32_t *offsets)
{
	const size_t begin = sizeof(sought->item->name);
	int r;

	if (name >= t->names.len || t->names.len - name < begin)
		return 0;
	r = section_need(&t->names, name + begin);
	for (size_t i = 0; r == 0 && i < sought->count; i++) {
		size_t first = sought->item[i].first;

		if (memcmp(t->names.bytes + name, sought->item[i].name, begin))
			continue;
		r = is_name(t, name, wanted[first].type);
		if (r == 0)
			continue;
		r = r < 0 ? r : find_members(t, number, first, offsets);
		if (r > 0)
			sought->item[i] = sought->item[--sought->count];
		return r < 0 ? r : 0;
	}
	return r;
}

static int find_all(struct types *t, uint32_t *offsets)
{
	struct sought structs, enums;
	size_t at = 0;
	int r = 0;

	seek(&structs, BTF_KIND_STRUCT, false);
	seek(&enums, BTF_KIND_ENUM, true);
	for (uint32_t number = 1; r == 0 && (structs.count || enums.count) && at < t->types.len;
	     number++) {
		const size_t begin = at;
		const struct btf_type *type;
		struct sought *sought;

		if (number % INDEX_STEP == 1) {
			if (!array_room(&t->at, t->indexed, &t->capacity, INDEX_FIRST))
				return -ENOMEM;
			t->at[t->indexed++] = (uint32_t)at;
		}
		r = pass_type(&t->types, &at);
		type = (const void *)(t->types.bytes + begin);
		if (r < 0 || !type->name_off)
			continue;
		sought = BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT ? &structs : &enums;
		if (sought->count && BTF_INFO_KIND(type->info) == sought->kind)
			r = look_at(t, number, type->name_off, sought, offsets);
	}
	return r;
}

int kernel_members_find(const char *path, struct zmem_members *ret)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	cleanup(types_done) struct types t = {};
	struct btf_header head;
	ssize_t n;
	int r;

	*ret = (struct zmem_members){};
	if (fd < 0)
		return -errno;
	n = file_read_at(fd, 0, &head, sizeof(head));
	if (n < 0)
		return (int)n;
	if (n < (ssize_t)sizeof(head) || head.magic != BTF_MAGIC || head.hdr_len % sizeof(__u32) ||
	    head.type_off % sizeof(__u32))
		return -EBADMSG;
	map_file(&t, fd);
	r = section_open(&t.types, &t, fd, (uint64_t)head.hdr_len + head.type_off, head.type_len);
	if (r == 0)
		r = section_open(&t.names, &t, fd, (uint64_t)head.hdr_len + head.str_off,
				 head.str_len);
	return r < 0 ? r : find_all(&t, ret->offset);
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
