// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* kernel_members: what libbpf finds, and no end of a file, or other bytes, confuse it.
 */
#include "unit.h"

#include <bpf/btf.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "load/bpf_diagnose.h"
#include "load/kernel_members.h"
#include "zmem/members.h"

static const struct {
	const char *type, *member;
} names[] = {
#define NAMES(type, member) {#type, #member},
	ZMEM_MEMBERS(NAMES)};

/* Returns the bits to a member, as libbpf reads the types; -1: none has the name. */
static long bits_to(const struct btf *btf, __u32 id, const char *name)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const struct btf_member *m = btf_members(type);

	if (!btf_is_composite(type))
		return -1;
	for (__u32 i = 0; i < btf_vlen(type); i++) {
		const char *own = btf__name_by_offset(btf, m[i].name_off);
		long within = *own ? strcmp(own, name) ? -1 : 0 : bits_to(btf, m[i].type, name);

		if (within >= 0)
			return within + (long)btf_member_bit_offset(type, i);
	}
	return -1;
}

/* Returns the value of an enumerator; -1: none has the name. */
static long value_of(const struct btf *btf, __u32 id, const char *name)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const struct btf_enum *item = btf_enum(type);

	for (__u32 i = 0; i < btf_vlen(type); i++)
		if (strcmp(btf__name_by_offset(btf, item[i].name_off), name) == 0)
			return item[i].val;
	return -1;
}

/* The place of a member in bytes, or the value of an enumerator; -1: there is none. */
static long place_of(const struct btf *btf, const char *name, const char *member)
{
	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		long bits;

		if (strcmp(btf__name_by_offset(btf, type->name_off), name) != 0)
			continue;
		bits = btf_is_enum(type)     ? value_of(btf, id, member) * 8
		       : btf_is_struct(type) ? bits_to(btf, id, member)
					     : -1;
		if (bits >= 0)
			return bits / 8;
	}
	return -1;
}

static void expect_as_libbpf(const struct btf *btf, const char *path)
{
	struct zmem_members members;

	assert_int_equal(kernel_members_find(path, &members), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		long place = place_of(btf, names[i].type, names[i].member);

		if (members.offset[i] != place + 1)
			fail_msg("%s.%s: %u, not %ld + 1", names[i].type, names[i].member,
				 members.offset[i], place);
	}
}

TEST(of_this_kernel)
{
	struct btf *btf = btf__parse(BTF_PATH, NULL);

	if (!btf) {
		print_message("%s: %s\n", BTF_PATH, strerror(errno));
		skip();
	}
	expect_as_libbpf(btf, BTF_PATH);
	btf__free(btf);
}

static int ulong_type(struct btf *btf)
{
	return btf__add_int(btf, "unsigned long", 8, 0);
}

/*
 * Anonymous members of structs and unions, bit fields, enumerators, and a type of each kind before
 * them, some of them with names that are sought.
 */
static struct btf *made_btf(void)
{
	struct btf *btf = btf__new_empty();
	int word = ulong_type(btf), list, flags;

	/* More than one entry of the index has. */
	for (int i = 0; i < 150; i++)
		btf__add_ptr(btf, word);
	btf__add_array(btf, word, word, 3);
	btf__add_enum(btf, "folio", 4);
	btf__add_enum_value(btf, "one", 1);
	/* Declared, and not defined; then defined. */
	btf__add_enum(btf, "cgroup_subsys_id", 4);
	btf__add_enum(btf, "cgroup_subsys_id", 4);
	btf__add_enum_value(btf, "cpuset_cgrp_id", 0);
	btf__add_enum_value(btf, "memory_cgrp", 1);
	btf__add_enum_value(btf, "memory_cgrp_id", 4);
	btf__add_union(btf, "folio", 8);
	btf__add_field(btf, "mapping", word, 0, 0);
	btf__add_fwd(btf, "super_block", BTF_FWD_STRUCT);
	btf__add_func_proto(btf, word);
	btf__add_func_param(btf, "folio", word);
	btf__add_var(btf, "anon_vma", BTF_VAR_STATIC, word);
	btf__add_datasec(btf, ".data", 8);
	btf__add_datasec_var_info(btf, btf__type_cnt(btf) - 2, 0, 8);
	list = btf__add_struct(btf, "list_head", 16);
	btf__add_field(btf, "next", word, 0, 0);
	btf__add_field(btf, "prev", word, 64, 0);
	/* These come behind what has them as members. */
	btf__add_struct(btf, "folio", 128);
	btf__add_field(btf, "", (int)btf__type_cnt(btf) + 100, 0, 0);
	btf__add_field(btf, "_flags_1", word, 512, 0);
	/* It is beyond what the index has by then. */
	for (int i = 0; i < 100; i++)
		btf__add_ptr(btf, word);
	btf__add_union(btf, "", 64);
	btf__add_field(btf, "", (int)btf__type_cnt(btf), 0, 0);
	btf__add_field(btf, "page", list, 0, 0);
	flags = btf__add_struct(btf, "", 32);
	btf__add_field(btf, "flags", word, 0, 5);
	btf__add_field(btf, "lru", list, 64, 0);
	btf__add_field(btf, "mapping", word, 192, 0);
	assert_true(flags > 0);
	btf__add_struct(btf, "anon_vma", 16);
	btf__add_field(btf, "root_of", word, 0, 0);
	btf__add_field(btf, "num_children", word, 64, 0);
	return btf;
}

static void write_bytes(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, bytes, len), 0);
	close(fd);
}

TEST(of_any_shape)
{
	char path[] = "/tmp/zmem-members-XXXXXX";
	struct btf *btf = made_btf();
	struct zmem_members members;
	__u32 size;
	const void *raw = btf__raw_data(btf, &size);
	char *bytes = malloc(size);

	assert_non_null(raw);
	assert_non_null(bytes);
	memcpy(bytes, raw, size);
	close(mkstemp(path));
	write_bytes(path, raw, size);
	expect_as_libbpf(btf, path);
	assert_int_equal(kernel_members_find(path, &members), 0);
	assert_int_equal(members.offset[ZMEM_MEMBER_cgroup_subsys_id_memory_cgrp_id], 5);
	assert_int_equal(members.offset[ZMEM_MEMBER_css_set_subsys], 0);
	assert_int_equal(members.offset[ZMEM_MEMBER_folio_lru], 9);
	assert_int_equal(members.offset[ZMEM_MEMBER_folio__flags_1], 65);
	assert_int_equal(members.offset[ZMEM_MEMBER_anon_vma_root], 0);
	/* It ends early. */
	for (size_t len = 0; len < size; len++) {
		int r;

		write_bytes(path, raw, len);
		r = kernel_members_find(path, &members);
		assert_true(r == -EBADMSG || (r == 0 && len >= sizeof(struct btf_header)));
	}
	/* Each byte is another one. */
	for (size_t i = 0; i < size; i++) {
		int r;

		bytes[i] ^= (char)0xff;
		write_bytes(path, bytes, size);
		r = kernel_members_find(path, &members);
		assert_true(r == 0 || r == -EBADMSG);
		bytes[i] ^= (char)0xff;
	}
	unlink(path);
	assert_int_equal(kernel_members_find(path, &members), -ENOENT);
	free(bytes);
	btf__free(btf);
}
