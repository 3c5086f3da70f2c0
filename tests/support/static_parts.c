// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * static_parts: what src/static.c has in place of parts of libc and of libzstd, in a static program
 * as it is in ours. Ends with 1, and says what differs, where a result is not that of the library.
 */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <zstd.h>

static int failures;

static void expect(bool right, const char *what)
{
	if (!right) {
		printf("%s\n", what);
		failures++;
	}
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static void check_strings(void)
{
	char buf[16];

	memset(buf, 'x', sizeof(buf));
	expect(strncpy(buf, "ab", 4) == buf && memcmp(buf, "ab\0\0x", 5) == 0, "strncpy, shorter");
	expect(memcmp(strncpy(buf, "abcdef", 3), "abc\0x", 5) == 0, "strncpy, longer");
	expect(strcmp(strcpy(buf, "one"), "one") == 0, "strcpy");
	expect(strcat(buf, "two") == buf && strcmp(buf, "onetwo") == 0, "strcat");
	expect(strncat(buf, "three", 2) == buf && strcmp(buf, "onetwoth") == 0, "strncat");
	expect(strcmp(strncat(buf, "r", 9), "onetwothr") == 0, "strncat, shorter");
	expect(sign(strncasecmp("ABc", "abD", 2)) == 0, "strncasecmp: the same");
	expect(sign(strncasecmp("ABc", "abD", 3)) == -1, "strncasecmp: less");
	expect(sign(strncasecmp("abc", "ab", 3)) == 1, "strncasecmp: longer");
	expect(sign(strncasecmp("\xc4", "a", 1)) == 1, "strncasecmp: no ASCII");
	expect(sign(strncasecmp("ab", "AB", 9)) == 0, "strncasecmp: until the end");
	expect(strcasestr("one Two", "TW") != NULL && !strcasestr("one", "net"), "strcasestr");
	expect(fnmatch("*[a-c]?x", "hellobyx", 0) == 0 && fnmatch("[[:digit:]]", "x", 0) != 0,
	       "fnmatch");
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
	check_strings();
	check_frames();
	return failures > 0;
}
