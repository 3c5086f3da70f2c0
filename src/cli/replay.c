// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Opens a recording: a file is read frame by frame, a pipe as a whole. */
#include "cli/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/log.h"
#include "base/cleanup.h"
#include "privilege/privilege.h"

#define CHUNK (64 * 1024)
/* A pipe has no size: one that does not end must not take all memory. */
#define PIPE_MAX ((size_t)4 << 30)

/* Room for a chunk more. Returns 0 or a negative errno. */
static int grow(char **data, size_t len, size_t *capacity)
{
	size_t more = *capacity ? *capacity * 2 : CHUNK;
	char *grown;

	if (len + CHUNK <= *capacity)
		return 0;
	if (more > PIPE_MAX)
		return -EFBIG;
	grown = realloc(*data, more);
	if (!grown)
		return -ENOMEM;
	*data = grown;
	*capacity = more;
	return 0;
}

/* Stops early where the first bytes are not those of a recording. */
static int read_whole(int fd, char **data, size_t *ret_len)
{
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
		if (n == 0 || (len >= 8 && !recording_is_one(*data)))
			return 0;
	}
}

static int open_reader(struct replay *r, int fd, char why[RECORDING_WHY])
{
	struct stat st;
	size_t len = 0;
	int err;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode)) {
		err = recording_reader_open(fd, &r->reader, why);
	} else {
		err = read_whole(fd, &r->data, &len);
		if (err == 0)
			err = recording_reader_open_memory(r->data, len, &r->reader, why);
	}
	return err;
}

int replay_open(struct replay *r, const char *path, bool quiet)
{
	cleanup_close int fd = privilege_open(path, O_RDONLY | O_NOCTTY);
	char why[RECORDING_WHY] = "";
	const struct recording_info *info;
	int err;

	*r = (struct replay){.path = path, .fd = -1};
	err = fd < 0 ? fd : open_reader(r, fd, why);
	if (err < 0)
		return *why ? log_error("%s: %s", path, why) : log_errno(err, "reading %s", path);
	r->fd = TAKE_FD(fd);
	info = recording_reader_info(r->reader);
	if (!info->frames)
		return log_error("%s: the recording %s", path,
				 info->torn ? "is cut off in its first frame" : "has no frames");
	r->frames = (uint32_t)info->frames;
	r->has_cmdlines = info->flags & RECORDING_CMDLINES;
	if (info->torn)
		log_notice(quiet, "%s: the recording %s after frame %u at byte %llu", path,
			   info->ended ? "goes on behind its end" : "is cut off", r->frames,
			   (unsigned long long)info->end);
	return 0;
}

int replay_frame(struct replay *r, uint32_t frame, struct snapshot *ret)
{
	char why[RECORDING_WHY];

	return recording_reader_copy(r->reader, frame - 1, ret, why) < 0
		       ? log_error("%s: %s", r->path, why)
		       : 0;
}

void replay_close(struct replay *r)
{
	recording_reader_free(r->reader);
	free(r->data);
	if (r->reader && r->fd >= 0)
		close(r->fd);
	*r = (struct replay){};
}
