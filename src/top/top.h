/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* zmem-bpf top: rows on a terminal, with keys. */
#ifndef ZMEM_TOP_TOP_H
#define ZMEM_TOP_TOP_H

struct options;

/* The command. Returns the exit code of the program. */
int command_top(const struct options *o);

#endif
