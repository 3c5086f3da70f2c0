// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parses the headers of a request: Host, Origin and Sec-Fetch-Site, Authorization (RFC 6750),
 * Accept (RFC 9110, 12.5.1). Reads the token file.
 */
#include "serve/request_headers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "privilege/privilege.h"
#include "session/log.h"

/* ---- Host, Origin, Sec-Fetch-Site ---- */

bool host_is_own(const char *host, const char *name)
{
	char text[INET6_ADDRSTRLEN + 1];
	struct in6_addr address;
	size_t len;

	/* HTTP/1.0 clients may omit it; browsers never do. */
	if (!host)
		return true;
	if (*host == '[') {
		len = strcspn(++host, "]");
	} else {
		len = strcspn(host, ":");
	}
	if (name && parse_same_word(name, host, len))
		return true;
	if (len >= sizeof(text))
		return false;
	memcpy(text, host, len);
	text[len] = '\0';
	return parse_same_word("localhost", text, len) || inet_pton(AF_INET, text, &address) == 1 ||
	       inet_pton(AF_INET6, text, &address) == 1;
}

bool host_is_foreign(const char *host, const char *origin, const char *site)
{
	/* "none": the user typed the address. */
	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return true;
	if (!origin)
		return false;
	/* A proxy may speak https: for us. */
	if (strncmp(origin, "http://", 7) == 0)
		origin += 7;
	else if (strncmp(origin, "https://", 8) == 0)
		origin += 8;
	return !host || strcmp(origin, host) != 0;
}

/* ---- the token ---- */

/* Cuts the text to its first line. Returns 0, or an exit code after a message. */
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
	size_t len = sizeof(scheme) - 1, sent_len;
	volatile unsigned char differs = 0;
	const char *sent;

	if (!t->len)
		return true;
	if (!authorization || strlen(authorization) < len ||
	    !parse_same_word(scheme, authorization, len))
		return false;
	sent = authorization + len;
	sent += strspn(sent, " ");
	sent_len = strlen(sent);
	/* White space after a value is not part of it (RFC 9110, 5.5). */
	while (sent_len && (sent[sent_len - 1] == ' ' || sent[sent_len - 1] == '\t'))
		sent_len--;
	for (size_t i = 0; i < t->len; i++)
		differs |= (unsigned char)t->text[i] ^
			   (unsigned char)(sent_len ? sent[i % sent_len] : 0);
	return !differs && sent_len == t->len;
}

/* ---- Accept ---- */

#define WEIGHT_MAX 1000 /* q=1; a weight has at most three decimals */

static unsigned read_weight(const char *s)
{
	unsigned weight = *s == '1' ? WEIGHT_MAX : 0;

	if (!weight && s[0] == '0' && s[1] == '.') {
		s += 2;
		for (unsigned part = WEIGHT_MAX / 10; part && is_digit(*s); part /= 10)
			weight += (unsigned)(*s++ - '0') * part;
	}
	return weight;
}

/* The weight of one item of the list; the item ends at `end`. */
static unsigned weight_of(const char *s, const char *end)
{
	while ((s = memchr(s, ';', (size_t)(end - s)))) {
		s++;
		s += strspn(s, " \t");
		if (parse_same_word("q=", s, 2))
			return read_weight(s + 2);
	}
	return WEIGHT_MAX;
}

/* Returns 0 if the list lacks the type or gives it q=0. */
static unsigned weight(const char *accept, const char *type)
{
	size_t len = strlen(type);

	for (const char *s = accept; *s; s += *s == ',') {
		const char *end;

		s += strspn(s, " \t");
		end = s + strcspn(s, ",");
		if (strcspn(s, ",; \t") == len && parse_same_word(type, s, len))
			return weight_of(s, end);
		s = end;
	}
	return 0;
}

bool accept_open_metrics(const char *accept)
{
	unsigned open = accept ? weight(accept, "application/openmetrics-text") : 0;

	return open && open >= weight(accept, "text/plain");
}
