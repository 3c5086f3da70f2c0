// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of unpack: output of gzip is restored; other data is an error and appends nothing. */
#include "unit.h"

#include <zlib.h>

#include "base/unpack.h"

#define ROOM 200000

/* Compresses like gzip -9n. */
static size_t pack(unsigned char *to, const unsigned char *from, size_t len)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)from,
		      .avail_in = (uInt)len,
		      .next_out = to,
		      .avail_out = ROOM};

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return ROOM - z.avail_out;
}

/* Text with repetitions, longer than the window of deflate. */
static unsigned char *contents(size_t len)
{
	unsigned char *data = malloc(len + 1);
	uint32_t x = 1;

	assert_non_null(data);
	for (size_t i = 0; i < len; i++) {
		x = x * 1103515245 + 12345;
		data[i] = (unsigned char)(x >> 29);
	}
	return data;
}

static int count(void *arg, const char *data, size_t len)
{
	(void)data;
	*(size_t *)arg += len;
	return 0;
}

TEST(comes_back)
{
	static const size_t lengths[] = {0, 1, 1000, STRBUF_CHUNK, 150000};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		cleanup(strbuf_done) struct strbuf out = {};
		size_t sunk = 0;
		cleanup(strbuf_done) struct strbuf sink = {.sink = count, .sink_arg = &sunk};
		cleanup_free unsigned char *data = contents(lengths[i]);
		cleanup_free unsigned char *packed = malloc(ROOM);
		struct packed p = {packed, 0};

		assert_non_null(packed);
		p.size = pack(packed, data, lengths[i]);
		strbuf_puts(&out, "before ");
		unpack(&out, p);
		strbuf_puts(&out, " after");
		assert_int_equal(strbuf_error(&out), 0);
		assert_int_equal(out.len, 7 + lengths[i] + 6);
		assert_memory_equal(out.data, "before ", 7);
		assert_memory_equal(out.data + 7, data, lengths[i]);
		assert_memory_equal(out.data + 7 + lengths[i], " after", 6);

		strbuf_puts(&sink, "before ");
		unpack(&sink, p);
		assert_int_equal(strbuf_flush(&sink), 0);
		assert_int_equal(sunk, 7 + lengths[i]);
	}
}

static void expect_refused(const unsigned char *data, size_t size)
{
	cleanup(strbuf_done) struct strbuf out = {};

	strbuf_puts(&out, "before");
	unpack(&out, (struct packed){data, size});
	assert_int_equal(strbuf_error(&out), -EINVAL);
	assert_int_equal(out.len, 6);
}

TEST(refused)
{
	cleanup(strbuf_done) struct strbuf out = {.error = -EPIPE};
	cleanup_free unsigned char *data = contents(5000);
	cleanup_free unsigned char *packed = malloc(ROOM);
	size_t size;

	assert_non_null(packed);
	size = pack(packed, data, 5000);
	/* An error stays. */
	unpack(&out, (struct packed){packed, size});
	assert_int_equal(strbuf_error(&out), -EPIPE);
	assert_int_equal(out.len, 0);
	expect_refused(packed, 0);
	expect_refused(packed, 17);
	expect_refused(data, 5000);
	/* The size at the end is one too large, then one too small. */
	packed[size - 4]++;
	expect_refused(packed, size);
	packed[size - 4] -= 2;
	expect_refused(packed, size);
	packed[size - 4]++;
	/* A byte before the trailer is superfluous, then missing. */
	memmove(packed + size - 7, packed + size - 8, 8);
	expect_refused(packed, size + 1);
	memmove(packed + size - 9, packed + size - 7, 8);
	expect_refused(packed, size - 1);
}
