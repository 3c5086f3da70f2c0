/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The secret that a request must contain, with --token-file. */
#ifndef ZMEM_SERVE_TOKEN_H
#define ZMEM_SERVE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_MAX 512

struct token {
	char text[TOKEN_MAX + 1];
	size_t len; /* 0: no token is needed */
};

/*
 * Reads the token: the first line of a file that other users cannot access. Returns 0, or an exit
 * code after a message.
 */
int token_read(struct token *t, const char *path);
/* Whether an Authorization header has the token. The time does not depend on the wrong byte. */
bool token_fits(const struct token *t, const char *authorization);

#endif
