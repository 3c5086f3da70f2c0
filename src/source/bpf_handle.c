// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is done with a loaded object, whoever loaded it. */
#include <bpf/bpf.h>
#include <errno.h>

#include "source/bpf_handle.h"

int bpf_handle_run(int prog_fd, void *args, uint32_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = size);

	return bpf_prog_test_run_opts(prog_fd, &opts) < 0 ? -errno : (int)opts.retval;
}

void bpf_handle_close(struct bpf_handle *l)
{
	if (l->destroy)
		l->destroy(l->object);
	*l = (struct bpf_handle){};
}
