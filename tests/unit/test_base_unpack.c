// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of unpack: what zstd packed is restored; other data is an error and appends nothing. */
#include "unit.h"

#include <zstd.h>

#include "base/unpack.h"

#define ROOM 200000

/* As src/base/pack.py. */
static size_t pack(unsigned char *to, const unsigned char *from, size_t len, const void *base,
		   size_t base_len)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t n;

	assert_non_null(zstd);
	n = ZSTD_compress_usingDict(zstd, to, ROOM, from, len, base, base_len, 22);
	ZSTD_freeCCtx(zstd);
	assert_false(ZSTD_isError(n));
	return n;
}

/* Text with repetitions. */
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
		struct packed p = {.data = packed};

		assert_non_null(packed);
		p.size = pack(packed, data, lengths[i], NULL, 0);
		strbuf_puts(&out, "before ");
		unpack(&out, &p);
		strbuf_puts(&out, " after");
		assert_int_equal(strbuf_error(&out), 0);
		assert_int_equal(out.len, 7 + lengths[i] + 6);
		assert_memory_equal(out.data, "before ", 7);
		assert_memory_equal(out.data + 7, data, lengths[i]);
		assert_memory_equal(out.data + 7 + lengths[i], " after", 6);

		strbuf_puts(&sink, "before ");
		unpack(&sink, &p);
		assert_int_equal(strbuf_flush(&sink), 0);
		assert_int_equal(sunk, 7 + lengths[i]);
	}
}

/* Three items: as it is, packed with that one as its base, and packed with the second. */
TEST(bases)
{
	cleanup(strbuf_done) struct strbuf out = {}, room = {};
	/* Not one array: zstd uses no base that overlaps its input. */
	cleanup_free unsigned char *data = contents(50000), *copy = contents(50000),
				   *first = malloc(ROOM), *second = malloc(ROOM);
	const struct packed plain = {.data = data, .size = 40000, .plain = true};
	struct packed middle = {.data = first, .base = &plain},
		      last = {.data = second, .base = &middle};

	assert_non_null(first);
	assert_non_null(second);
	middle.size = pack(first, copy + 1000, 45000, data, 40000);
	last.size = pack(second, copy + 2000, 48000, data + 1000, 45000);
	/* Most bytes are taken from the base. */
	assert_uint_in_range(middle.size, 1, 4000);
	assert_uint_in_range(last.size, 1, 4000);
	unpack(&out, &plain);
	unpack(&out, &last);
	assert_int_equal(strbuf_error(&out), 0);
	assert_int_equal(out.len, 88000);
	assert_memory_equal(out.data, data, 40000);
	assert_memory_equal(out.data + 40000, data + 2000, 48000);

	assert_ptr_equal(unpacked(&plain, &room), data);
	assert_int_equal(room.len, 0);
	assert_memory_equal(unpacked(&middle, &room), data + 1000, 45000);
	/* Without its base it is refused, and so is one with a base that is refused. */
	middle.base = NULL;
	strbuf_clear(&room);
	assert_null(unpacked(&middle, &room));
	assert_int_equal(strbuf_error(&room), -EINVAL);
	strbuf_clear(&room);
	assert_null(unpacked(&last, &room));
	assert_int_equal(strbuf_error(&room), -EINVAL);
}
