// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the token file and checks Authorization headers (RFC 6750). */
#include "serve/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/log.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "privilege/privilege.h"

/* Keeps the first line. Returns 0, or an exit code after a message. */
static int parse_line(struct token *t, size_t n, const char *path)
{
	const char *end = memchr(t->text, '\n', n);

	t->len = end ? (size_t)(end - t->text) : n;
	if (t->len && t->text[t->len - 1] == '\r')
		t->len--;
	if (!t->len)
		return log_error("--token-file %s: the first line is empty (write the token "
				 "there)",
				 path);
	if (n == TOKEN_MAX)
		return log_error("--token-file %s: the file is longer than %d bytes (write "
				 "only the token)",
				 path, TOKEN_MAX - 1);
	for (size_t i = 0; i < t->len; i++) {
		if (t->text[i] <= ' ' || t->text[i] > '~')
			return log_error("--token-file %s: the first line is not one word of "
					 "printable ASCII (write the token there)",
					 path);
	}
	t->text[t->len] = '\0';
	return 0;
}

int token_read(struct token *t, const char *path)
{
	cleanup_close int fd = privilege_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	*t = (struct token){};
	if (fd < 0)
		return log_errno(fd, "--token-file %s", path);
	if (fstat(fd, &st) < 0)
		return log_errno(-errno, "--token-file %s", path);
	if (st.st_mode & (S_IROTH | S_IWOTH))
		return log_error("--token-file %s: every user can read or write it (chmod 600)",
				 path);
	n = file_read_fd(fd, t->text, sizeof(t->text));
	if (n < 0)
		return log_errno((int)n, "--token-file %s", path);
	return parse_line(t, (size_t)n, path);
}

bool token_fits(const struct token *t, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	size_t len = sizeof(scheme) - 1, given_len;
	volatile unsigned char differs = 0;
	const char *given;

	if (!t->len)
		return true;
	if (!authorization || strlen(authorization) < len ||
	    !parse_same_word(scheme, authorization, len))
		return false;
	given = authorization + len;
	given += strspn(given, " ");
	given_len = strlen(given);
	/* White space after a value is not part of it (RFC 9110, 5.5). */
	while (given_len && (given[given_len - 1] == ' ' || given[given_len - 1] == '\t'))
		given_len--;
	for (size_t i = 0; i < t->len; i++)
		differs |= (unsigned char)t->text[i] ^
			   (unsigned char)(given_len ? given[i % given_len] : 0);
	return !differs && given_len == t->len;
}
