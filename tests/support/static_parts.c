// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * static_parts: what src/static.c has in place of parts of libzstd, in a static program as it is in
 * ours. Ends with 1, and says what differs, where a result is not that of the library.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

static int failures;

static void expect(bool right, const char *what)
{
	if (!right) {
		printf("%s\n", what);
		failures++;
	}
}

/* Frames of zstd before 0.8: their magic numbers, before anything. */
static void check_frames(void)
{
	char text[1000], frame[2000], out[2000];
	size_t n;

	memset(text, 'a', sizeof(text));
	n = ZSTD_compress(frame, sizeof(frame), text, sizeof(text), 3);
	expect(!ZSTD_isError(n) && ZSTD_decompress(out, sizeof(out), frame, n) == sizeof(text) &&
		       memcmp(out, text, sizeof(text)) == 0,
	       "a frame comes back");
	for (uint32_t version = 5; version <= 7; version++) {
		const uint32_t magic = 0xfd2fb520 + version;
		ZSTD_DStream *stream = ZSTD_createDStream();
		ZSTD_inBuffer in = {frame, n, 0};
		ZSTD_outBuffer to = {out, sizeof(out), 0};

		/* Alone, and behind a frame. */
		memcpy(frame + n, &magic, sizeof(magic));
		expect(ZSTD_isError(ZSTD_decompress(out, sizeof(out), frame, 2 * n)), "behind one");
		memcpy(frame, &magic, sizeof(magic));
		expect(ZSTD_isError(ZSTD_decompress(out, sizeof(out), frame, n)), "decompress");
		expect(ZSTD_getFrameContentSize(frame, n) + 2 <= 2, "size of the contents");
		expect(ZSTD_isError(ZSTD_findFrameCompressedSize(frame, n)), "size of the frame");
		expect(ZSTD_isError(ZSTD_decompressStream(stream, &to, &in)), "stream");
		ZSTD_freeDStream(stream);
		ZSTD_compress(frame, sizeof(frame), text, sizeof(text), 3);
	}
}

int main(void)
{
	check_frames();
	return failures > 0;
}
