/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Room on the stack. */
#ifndef ZMEM_CLI_STACK_H
#define ZMEM_CLI_STACK_H

/* Sees to it that there is enough, or says that there is not. Returns 0 or an exit code. */
int stack_suffices(void);

#endif
