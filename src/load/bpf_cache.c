// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "load/bpf_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#include <zlib.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "load/bpf_load.h"
#include "proc/cgroup_room.h"

#define BOOT_ID	       "/proc/sys/kernel/random/boot_id"
#define SIZE_MOST      (4 << 20)
#define PATH_SIZE      128
#define FUNCTIONS_MOST 256
/* libbpf has the kernel's BTF three times in memory, which is then all but a few MiB. */
#define TYPES_IN_MEMORY 8

/* A file: the head, the maps, the types; then a head, instructions and functions a program. */
struct head {
	struct key {
		char magic[8];
		char boot_id[40];
		uint64_t kernel_types; /* size of the kernel's BTF */
		uint64_t object;
	} key;
	uint32_t sum; /* CRC-32 of what follows */
	uint32_t maps, programs;
	uint32_t types_len; /* bytes of the object's BTF; zeros fill it up to a multiple of 8 */
};

struct map {
	char name[32];
	uint32_t type, key_size, value_size, entries, flags, unused;
};

struct program {
	char name[32]; /* first, as in struct map */
	uint32_t type, attach_type, attach_id, flags, instructions, functions;
};

/* ---- the place ---- */

static uint32_t sum_of(const struct strbuf *s)
{
	return (uint32_t)crc32(0, (const unsigned char *)s->data + sizeof(struct head),
			       (uInt)(s->len - sizeof(struct head)));
}

static bool is_roots(const char *path, mode_t others)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == 0 &&
	       !(st.st_mode & others);
}

/* True if we are root, and root alone can change the directory. */
static bool find_place(uint64_t object, char path[PATH_SIZE], struct key *key)
{
	struct stat types;

	*key = (struct key){.magic = "zmembpf1", .object = object};
	snprintf(path, PATH_SIZE, CACHE_PLACE "/%016llx", (unsigned long long)object);
	if (geteuid() != 0)
		return false;
	mkdir(CACHE_PLACE, 0700);
	if (!is_roots("/run", 0022) || !is_roots(CACHE_PLACE, 0077) || stat(BTF_PATH, &types) < 0)
		return false;
	key->kernel_types = (uint64_t)types.st_size;
	return file_read(-1, BOOT_ID, key->boot_id, sizeof(key->boot_id) - 1) > 0;
}

static int write_place(const char *path, const void *data, size_t len)
{
	cleanup(file_atomic_close) struct file_atomic file = {.fd = -1, .dir = -1};
	int r = file_atomic_open_private(&file, path);

	if (r == 0)
		r = file_write_fd(file.fd, data, len);
	return r < 0 ? r : file_atomic_commit(&file);
}

/* libbpf takes ten times the memory of a light skeleton: no cgroup may be full for that. */
static bool has_memory(const struct key *key)
{
	const uint64_t need = TYPES_IN_MEMORY * key->kernel_types;
	struct sysinfo info;

	return sysinfo(&info) == 0 && (uint64_t)info.freeram * info.mem_unit >= need &&
	       cgroup_room() >= need;
}

/* True if all parts are in the file, and nothing is behind them. */
static bool adds_up(const struct strbuf *s)
{
	const struct head *head = (const void *)s->data;
	uint64_t at = sizeof(*head) + (uint64_t)head->maps * sizeof(struct map) +
		      ((uint64_t)head->types_len + 7) / 8 * 8;

	if ((uint64_t)head->maps + head->programs > CACHE_FDS)
		return false;
	for (uint32_t i = 0; i < head->programs; i++) {
		const struct program *p = (const void *)(s->data + at);

		if (at + sizeof(*p) > s->len)
			return false;
		at += sizeof(*p) + (uint64_t)p->instructions * sizeof(struct bpf_insn) +
		      (uint64_t)p->functions * sizeof(struct bpf_func_info);
	}
	return at == s->len;
}

/*
 * Returns 0, -ENODATA for an empty file, or -ENOENT after it has left one. A file that is to be
 * filled has the key alone: if that fails, in whatever way, no other run tries.
 */
static int read_place(const char *path, const struct key *key, struct strbuf *contents)
{
	cleanup_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const struct head *head = NULL;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SIZE_MOST &&
	    strbuf_room(contents, (size_t)st.st_size + sizeof(*head)) &&
	    file_read_at(fd, 0, contents->data, (size_t)st.st_size) == st.st_size) {
		contents->len = (size_t)st.st_size;
		head = (const void *)contents->data;
	}
	if (head && !contents->len)
		return has_memory(key) && write_place(path, key, sizeof(*key)) == 0 ? -ENODATA
										    : -ENOENT;
	if (head && contents->len >= sizeof(*key) && !memcmp(&head->key, key, sizeof(*key))) {
		if (contents->len == sizeof(*key))
			return -ENOENT;
		if (contents->len > sizeof(*head) && head->sum == sum_of(contents) &&
		    adds_up(contents))
			return 0;
	}
	unlink(path);
	write_place(path, "", 0);
	return -ENOENT;
}

/* ---- keeping ---- */

/* Replaces the descriptor of a map in an instruction with its index in the object. */
static void number_map(const struct bpf_object *object, struct bpf_insn *insn)
{
	const struct bpf_map *m;
	int place = 0;

	bpf_object__for_each_map(m, object)
	{
		if (bpf_map__fd(m) == insn->imm) {
			insn->src_reg = BPF_PSEUDO_MAP_IDX;
			insn->imm = place;
			return;
		}
		place++;
	}
}

/*
 * The kernel returns the type of each function in their order. Its offsets are those after it has
 * rewritten the program, so they are replaced: a function begins at the target of a call or of the
 * address of a callback.
 */
static int add_program(const struct bpf_object *object, const struct bpf_program *p,
		       struct strbuf *out)
{
	struct bpf_func_info function[FUNCTIONS_MOST];
	struct bpf_prog_info info = {}, types = {.func_info = (uintptr_t)function,
						 .func_info_rec_size = sizeof(function[0])};
	struct program head = {.type = bpf_program__type(p),
			       .attach_type = bpf_program__expected_attach_type(p),
			       .instructions = (uint32_t)bpf_program__insn_cnt(p)};
	cleanup_free struct bpf_insn *insn = malloc(head.instructions * sizeof(*insn));
	cleanup_free bool *begins = calloc(head.instructions, sizeof(*begins));
	uint32_t size = sizeof(info);

	if (!insn || !begins || bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &size) < 0 ||
	    info.nr_func_info > FUNCTIONS_MOST)
		return -EINVAL;
	types.nr_func_info = info.nr_func_info;
	size = sizeof(types);
	if (bpf_obj_get_info_by_fd(bpf_program__fd(p), &types, &size) < 0)
		return -errno;
	memcpy(insn, bpf_program__insns(p), head.instructions * sizeof(*insn));
	begins[0] = true;
	for (uint32_t i = 0; i < head.instructions; i++) {
		bool wide = insn[i].code == (BPF_LD | BPF_IMM | BPF_DW);
		uint32_t target = i + 1 + (uint32_t)insn[i].imm;

		if (wide && insn[i].src_reg == BPF_PSEUDO_MAP_FD)
			number_map(object, &insn[i]);
		else if (insn[i].src_reg == (wide ? BPF_PSEUDO_FUNC : BPF_PSEUDO_CALL) &&
			 (wide || insn[i].code == (BPF_JMP | BPF_CALL)) &&
			 target < head.instructions)
			begins[target] = true;
		i += wide;
	}
	for (uint32_t i = 0; i < head.instructions; i++) {
		if (begins[i] && head.functions++ < info.nr_func_info)
			function[head.functions - 1].insn_off = i;
	}
	head.attach_id = info.attach_btf_id;
	head.flags = head.type == BPF_PROG_TYPE_SYSCALL ? BPF_F_SLEEPABLE : 0;
	strncpy(head.name, bpf_program__name(p), sizeof(head.name) - 1);
	strbuf_put(out, &head, sizeof(head));
	strbuf_put(out, insn, head.instructions * sizeof(*insn));
	strbuf_put(out, function, head.functions * sizeof(*function));
	return head.functions == info.nr_func_info ? strbuf_error(out) : -EINVAL;
}

void bpf_cache_keep(uint64_t object, const struct bpf_object *loaded)
{
	cleanup(strbuf_done) struct strbuf out = {};
	struct head head = {};
	struct bpf_program *p;
	const struct bpf_map *m;
	const void *types = btf__raw_data(bpf_object__btf(loaded), &head.types_len);
	char path[PATH_SIZE];
	int r = types && find_place(object, path, &head.key) ? 0 : -ENOENT;

	strbuf_put(&out, &head, sizeof(head));
	bpf_object__for_each_map(m, loaded)
	{
		struct map map = {.type = bpf_map__type(m),
				  .key_size = bpf_map__key_size(m),
				  .value_size = bpf_map__value_size(m),
				  .entries = bpf_map__max_entries(m),
				  .flags = bpf_map__map_flags(m)};

		strncpy(map.name, bpf_map__name(m), sizeof(map.name) - 1);
		strbuf_put(&out, &map, sizeof(map));
		head.maps++;
	}
	strbuf_put(&out, types, r == 0 ? head.types_len : 0);
	while (out.len % 8)
		strbuf_putc(&out, '\0');
	bpf_object__for_each_program(p, loaded)
	{
		r = r == 0 ? add_program(loaded, p, &out) : r;
		head.programs++;
	}
	if (r < 0 || head.maps + head.programs > CACHE_FDS)
		return;
	head.sum = sum_of(&out);
	memcpy(out.data, &head, sizeof(head));
	write_place(path, out.data, out.len);
}

/* ---- loading ---- */

/*
 * Returns a descriptor or a negative errno. Not by libbpf, which first tries out whether the kernel
 * counts memory in cgroups.
 */
static int sys_bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	int r = (int)syscall(SYS_bpf, command, attr, sizeof(*attr));

	return r < 0 ? -errno : r;
}

static int load_map(const struct map *m, const struct bpf_cache_use *use)
{
	union bpf_attr attr = {.map_type = m->type,
			       .key_size = m->key_size,
			       .value_size = m->value_size,
			       .max_entries = use->entries(use->arg, m->name, m->entries),
			       .map_flags = m->flags};

	memcpy(attr.map_name, m->name, sizeof(attr.map_name) - 1);
	return sys_bpf(BPF_MAP_CREATE, &attr);
}

static int load_types(const char *types, uint32_t size)
{
	return sys_bpf(BPF_BTF_LOAD, &(union bpf_attr){.btf = (uintptr_t)types, .btf_size = size});
}

/* Loads the program at *at, and moves *at behind it. */
static int load_program(const char **at, int types, const int *maps)
{
	const struct program *p = (const void *)*at;
	const struct bpf_insn *insn = (const void *)(p + 1);
	union bpf_attr attr = {.prog_type = p->type,
			       .insns = (uintptr_t)insn,
			       .insn_cnt = p->instructions,
			       .license = (uintptr_t) "Dual BSD/GPL",
			       .prog_flags = p->flags,
			       .expected_attach_type = p->attach_type,
			       .attach_btf_id = p->attach_id,
			       .prog_btf_fd = (uint32_t)types,
			       .func_info = (uintptr_t)(insn + p->instructions),
			       .func_info_cnt = p->functions,
			       .func_info_rec_size = sizeof(struct bpf_func_info),
			       .fd_array = (uintptr_t)maps};

	memcpy(attr.prog_name, p->name, sizeof(attr.prog_name) - 1);
	*at = (const char *)(insn + p->instructions) + p->functions * sizeof(struct bpf_func_info);
	return sys_bpf(BPF_PROG_LOAD, &attr);
}

int bpf_cache_load(uint64_t object, const struct bpf_cache_use *use)
{
	cleanup(strbuf_done) struct strbuf contents = {};
	cleanup_close int types = -1;
	int fd[CACHE_FDS], r;
	const struct head *head;
	const struct map *map;
	char path[PATH_SIZE];
	const char *at;
	struct key key;
	uint32_t count = 0;

	if (!find_place(object, path, &key))
		return -ENOENT;
	r = read_place(path, &key, &contents);
	if (r < 0)
		return r;
	head = (const void *)contents.data;
	map = (const void *)(head + 1);
	at = (const char *)(map + head->maps);
	r = types = load_types(at, head->types_len);
	at += (head->types_len + 7) / 8 * 8;
	for (; r >= 0 && count < head->maps + head->programs; count += r >= 0) {
		const char *part = count < head->maps ? map[count].name : at;

		r = count < head->maps ? load_map(&map[count], use) : load_program(&at, types, fd);
		fd[count] = r;
		if (r >= 0)
			use->found(use->arg, part, r);
	}
	return r < 0 ? r : 0;
}
