/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The secret that whoever asks must know, if there is one. */
#ifndef ZMEM_SERVE_TOKEN_H
#define ZMEM_SERVE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_MAX 512

struct token {
	char text[TOKEN_MAX + 1];
	size_t len; /* 0: there is none */
};

/* The first line of a file that not everybody may read. Returns 0, or an exit code after a message.
 */
int token_read(struct token *t, const char *path);
/* Whether the value of an Authorization header has it; takes as long whatever is wrong. */
bool token_fits(const struct token *t, const char *authorization);

#endif
