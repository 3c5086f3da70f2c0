// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the whole file first: one that is cut off or damaged is told before anything of it is used.
 */
#include "cli/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "base/cleanup.h"
#include "privilege/privilege.h"

#define CHUNK (64 * 1024)
/* A pipe has no size, and what never ends should not take all memory before it is told. */
#define SIZE_ENDS ((size_t)4 << 30)

/* Room for a chunk more. Returns 0 or a negative errno. */
static int grow(char **data, size_t len, size_t *capacity)
{
	size_t more = *capacity ? *capacity * 2 : CHUNK;
	char *grown;

	if (len + CHUNK <= *capacity)
		return 0;
	if (more > SIZE_ENDS)
		return -EFBIG;
	grown = realloc(*data, more);
	if (!grown)
		return -ENOMEM;
	*data = grown;
	*capacity = more;
	return 0;
}

/* Stops when the beginning is none of a recording's. */
static int read_whole(int fd, char **data, size_t *ret_len)
{
	char why[RECORDING_WHY];
	size_t len = 0, capacity = 0;

	for (;;) {
		int r = grow(data, len, &capacity);
		ssize_t n;

		if (r < 0)
			return r;
		n = read(fd, *data + len, capacity - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		len += (size_t)n;
		*ret_len = len;
		if (n == 0 ||
		    (len >= RECORDING_HEADER_SIZE && recording_check_header(*data, len, why) < 0))
			return 0;
	}
}

int replay_open(struct replay *r, const char *path)
{
	cleanup_close int fd = privilege_open(path, O_RDONLY | O_NOCTTY);
	char why[RECORDING_WHY];
	size_t len = 0;
	int err;

	*r = (struct replay){.path = path};
	err = fd < 0 ? fd : read_whole(fd, &r->data, &len);
	if (err < 0)
		return log_errno(err, "reading %s", path);
	if (recording_parse(r->data, len, &r->recording, why) < 0)
		return log_error("%s: %s", path, why);
	r->tape = tape_of(&r->recording);
	return r->tape ? 0 : log_error("reading %s: out of memory", path);
}

int replay_turn_to(struct replay *r, uint32_t frame, const char *chapter)
{
	int err = tape_turn_to(r->tape, frame, chapter);

	if (err == -ENOENT)
		return log_error("%s: there is nothing for %s in it", r->path, chapter);
	return err < 0 ? log_errno(err, "%s", r->path) : 0;
}

void replay_close(struct replay *r)
{
	tape_free(r->tape);
	recording_done(&r->recording);
	free(r->data);
	*r = (struct replay){};
}
