// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proc/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "proc/keyed.h"

/* A line is shorter: options of a mount have 4 KiB. The stack has little room for more. */
#define CHUNK (16 * 1024)

struct text_part line_word(struct text_part *line)
{
	struct text_part word;

	while (line->len && (*line->s == ' ' || *line->s == '\t'))
		*line = part_behind(*line, 1);
	word = (struct text_part){line->s, 0};
	while (word.len < line->len && word.s[word.len] != ' ' && word.s[word.len] != '\t')
		word.len++;
	*line = part_behind(*line, word.len);
	return word;
}

int lines_read(int dir, const char *path, void (*fn)(void *arg, struct text_part line), void *arg)
{
	cleanup_close int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	char buf[CHUNK];
	struct text_part rest = {buf, 0}, line;

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n = read(fd, buf + rest.len, sizeof(buf) - rest.len);

		if (n <= 0)
			return n < 0 ? -errno : 0;
		rest = (struct text_part){buf, rest.len + (size_t)n};
		while (line_next(&rest, &line))
			fn(arg, line);
		memmove(buf, rest.s, rest.len);
		if (rest.len == sizeof(buf))
			return -EFBIG;
	}
}
