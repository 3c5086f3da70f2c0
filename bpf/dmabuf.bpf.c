// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a record for each dma-buf, whether a process has a descriptor of it or maps it, or only a
 * driver holds it. Linux 6.16 has the iterator (76ea95534995, "bpf: Add dmabuf iterator").
 */
#include "vmlinux.h"
#include "flavors.h"
#include "inodes.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "zmem/files.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("iter/dmabuf")
int list_dmabufs(struct bpf_iter__dmabuf *ctx)
{
	struct dma_buf *buffer = ctx->dmabuf;
	struct zmem_dmabuf d = {};

	if (!buffer)
		return 0;
	d.inode = buffer->file->f_inode->i_ino;
	d.bytes = buffer->size;
	bpf_seq_write(ctx->meta->seq, &d, sizeof(d));
	return 0;
}
