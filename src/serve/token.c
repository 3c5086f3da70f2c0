// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows RFC 6750's header. */
#include "serve/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "app/message.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"

int token_read(struct token *t, const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	*t = (struct token){};
	if (fd < 0 || fstat(fd, &st) < 0)
		return message_error("reading %s: %s", path, strerror(errno));
	if (st.st_mode & (S_IROTH | S_IWOTH))
		return message_error("--token-file %s: everybody may read or write it (chmod 600)",
				     path);
	n = file_read_fd(fd, t->text, sizeof(t->text));
	if (n < 0)
		return message_error("reading %s: %s", path, strerror((int)-n));
	t->len = strcspn(t->text, "\r\n");
	if (!t->len || (size_t)n == TOKEN_MAX)
		return message_error("--token-file %s: its first line is empty, or too long", path);
	for (size_t i = 0; i < t->len; i++) {
		if (t->text[i] <= ' ' || t->text[i] > '~')
			return message_error("--token-file %s: not one word of ASCII", path);
	}
	t->text[t->len] = '\0';
	return 0;
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
	for (size_t i = 0; i < t->len; i++)
		differs |= (unsigned char)t->text[i] ^
			   (unsigned char)(given_len ? given[i % given_len] : 0);
	return !differs && given_len == t->len;
}
