/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts references of open files of shared memory (bpf/held.bpf.c), and of files that carry
 * others. bpf/freed.bpf.c meets mappings in its walk; user space adds both.
 */
#ifndef ZMEM_HELD_FILE_BPF_H
#define ZMEM_HELD_FILE_BPF_H

#include "zmem/held.h"
#include "member.bpf.h"

/* include/uapi/linux/magic.h; NSFS_MAGIC; SOCKFS_MAGIC */
#define MAGIC_TMPFS	 0x01021994
#define MAGIC_SECRETMEM	 0x5345434d
#define MAGIC_ANON_INODE 0x09041934
#define MAGIC_NSFS	 0x6e736673
#define MAGIC_SOCKFS	 0x534f434b

/* The first words of the names of anonymous inodes: "[io_uring]", "[perf_event]", "bpf-map". */
#define NAME_IO_URING 0x6e6972755f6f695bULL
#define NAME_PERF     0x76655f667265705bULL
#define NAME_BPF_MAP  0x0070616d2d667062ULL

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct zmem_held_file);
} held SEC(".maps");

static __always_inline __u64 inode_of(__u64 file)
{
	return kread64(file + koffset(struct file___files, f_inode));
}

static __always_inline __u64 dentry_of(__u64 file)
{
	return kread64(file + koffset(struct file, f_path.dentry));
}

/* Since 6.13 0 stands for one reference (FILE_REF_ONEREF, include/linux/file_ref.h). */
static __always_inline __s64 references(__u64 file)
{
	if (bpf_core_field_exists(struct file___files, f_ref))
		return (__s64)kread64(file + koffset(struct file___files, f_ref)) + 1;
	return (__s64)kread64(file + koffset(struct file___count, f_count));
}

static __always_inline __s32 names_of(__u64 dentry)
{
	return (__s32)kread32(dentry + koffset(struct dentry___files, d_lockref.count));
}

static __always_inline __u32 kind_by_name(__u64 name)
{
	if (name == NAME_IO_URING)
		return ZMEM_HELD_CARRIER;
	return name == NAME_PERF || name == NAME_BPF_MAP ? ZMEM_HELD_MAPPED : ZMEM_HELD_NOTHING;
}

/* A socket may be a carrier. Returns enum zmem_held_kind. */
static __always_inline __u32 kind_of(__u64 file, __u64 inode)
{
	__u64 magic = kread64(kread64(inode + koffset(struct inode, i_sb)) +
			      member_offset(super_block, s_magic));

	switch (magic) {
	case MAGIC_TMPFS:
		return ZMEM_HELD_SHMEM;
	case MAGIC_SECRETMEM:
		return ZMEM_HELD_SECRET;
	case MAGIC_SOCKFS:
		return ZMEM_HELD_CARRIER;
	case MAGIC_NSFS:
		return ZMEM_HELD_SPACE;
	case MAGIC_ANON_INODE:
		return kind_by_name(
			kread64(kread64(dentry_of(file) + koffset(struct dentry, d_name.name))));
	default:
		return ZMEM_HELD_NOTHING;
	}
}

/*
 * do_shmat() (ipc/shm.c) opens the file of the segment once more for each attach: private_data has
 * the first file and the namespace, and a reference of each.
 */
static __always_inline void find_segment(struct zmem_held_file *f)
{
	__u64 data = kread64(f->file + koffset(struct file___files, private_data)), base;

	if (!data || !bpf_core_type_exists(struct shm_file_data))
		return;
	base = kread64(data + koffset(struct shm_file_data, file));
	if (base == f->file || inode_of(base) != f->inode)
		return;
	f->segment = base;
	f->space = kread64(data + koffset(struct shm_file_data, ns)) +
		   koffset(struct ipc_namespace, ns);
}

/*
 * The references of the file at this moment. `by_kernel`: references that the kernel holds for the
 * visit.
 */
static __always_inline void read_file(struct zmem_held_file *f, __u32 by_kernel)
{
	f->refs = references(f->file) - by_kernel;
	f->names = names_of(f->dentry);
	f->links = kread32(f->inode + koffset(struct inode, i_nlink));
	f->pages = kread64(f->inode + koffset(struct inode, i_data.nrpages));
}

/* The record of the file, a new one if there is none; NULL: no room. */
static __always_inline struct zmem_held_file *record_of(__u64 file, __u64 inode, __u32 kind)
{
	struct zmem_held_file *f = bpf_map_lookup_elem(&held, &file), new = {};

	if (f)
		return f;
	new.file = file;
	new.inode = inode;
	new.kind = kind;
	new.group = ZMEM_HELD_NONE;
	new.dentry = dentry_of(file);
	new.number = kread64(inode + koffset(struct inode, i_ino));
	new.device = kread32(kread64(inode + koffset(struct inode, i_sb)) +
			     member_offset(super_block, s_dev));
	if (kind == ZMEM_HELD_SHMEM)
		find_segment(&new);
	bpf_map_update_elem(&held, &file, &new, 0);
	return bpf_map_lookup_elem(&held, &file);
}

/* The group that a reference of `group` leaves to what `all` has. */
static __always_inline __u32 join_group(__u32 all, __u32 group)
{
	return all == ZMEM_HELD_NONE || all == group ? group : ZMEM_HELD_MIXED;
}

/* What holds a file. */
enum holder {
	BY_NOTHING, /* it is recorded alone */
	BY_DESCRIPTOR,
	BY_MAPPING,
	BY_MEMORY, /* mm->exe_file */
};

/* Counts one reference of the file, if it is of interest. Returns 1 if there was no room. */
__noinline int meet_file(__u64 file, __u32 group, __u32 by)
{
	__u64 inode = inode_of(file);
	__u32 kind = kind_of(file, inode);
	struct zmem_held_file *f;

	if (kind == ZMEM_HELD_NOTHING || kind == ZMEM_HELD_SPACE)
		return 0;
	f = record_of(file, inode, kind);
	if (!f)
		return 1;
	/* The iterator of open files holds one itself. */
	read_file(f, by == BY_DESCRIPTOR);
	if (by == BY_NOTHING)
		return 0;
	if (group == ZMEM_HELD_READER) {
		f->own++;
		return 0;
	}
	f->group = join_group(f->group, group);
	f->met++;
	f->maps += by == BY_MAPPING;
	return 0;
}

#endif
