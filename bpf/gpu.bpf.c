// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds which processes have files of GPUs or dma-bufs open: writes a record for each such file.
 * The inode shows what a file is, so no other process is looked at in /proc.
 *
 * The iterator holds references on the task and the open file that it visits.
 */
#define ZMEM_PROBE_READS
#include "vmlinux.h"
#include "flavors.h"
#include "inodes.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "zmem/files.h"
#include "kread.bpf.h"
#include "member.bpf.h"
#include "pid_view.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* include/uapi/linux/stat.h */
#define S_IFMT	      0170000
#define S_IFCHR	      0020000

#define MINOR_BITS    20	 /* of the kernel's dev_t: include/linux/kdev_t.h */
#define DRM_MAJOR     226	 /* include/drm/drm_drv.h */
#define NVIDIA_MAJOR  195	 /* Documentation/admin-guide/devices.txt */
#define ACCEL_MAJOR   261	 /* Documentation/admin-guide/devices.txt */
#define MAGIC_DMA_BUF 0x444d4142 /* include/uapi/linux/magic.h */

static __noinline int is_gpu_or_dma_buf(__u64 file)
{
	__u64 inode = kread64(file + koffset(struct file___files, f_inode));
	__u64 super = kread64(inode + koffset(struct inode, i_sb));
	__u32 mode = kread32(inode + koffset(struct inode, i_mode)) & S_IFMT;
	__u32 major = kread32(inode + koffset(struct inode, i_rdev)) >> MINOR_BITS;

	if (mode == S_IFCHR)
		return major == DRM_MAJOR || major == NVIDIA_MAJOR || major == ACCEL_MAJOR;
	return kread64(super + member_offset(super_block, s_magic)) == MAGIC_DMA_BUF;
}

SEC("iter/task_file")
int list_gpu_files(struct bpf_iter__task_file *ctx)
{
	const struct task_struct *leader;
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct zmem_gpu_holder h = {};
	struct pid_view view;

	if (!task || !file)
		return 0;
	/* Read as a number, because the verifier tracks pointers. */
	if (!is_gpu_or_dma_buf(kread_raw(__u64, &ctx->file)))
		return 0;
	view = reader_view();
	leader = kcast(struct task_struct, kread_raw(__u64, &task->group_leader));
	h.pid = pid_number(kget(leader, thread_pid), &view);
	if (h.pid)
		bpf_seq_write(ctx->meta->seq, &h, sizeof(h));
	return 0;
}
