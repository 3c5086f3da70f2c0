// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of strbuf: appended bytes come out complete, and errors stick. */
#include "unit.h"

#include <inttypes.h>

#include "base/strbuf.h"

/* Make the sanitizer's malloc return NULL for huge sizes instead of aborting. */
const char *__asan_default_options(void), *__msan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *__msan_default_options(void)
{
	return "allocator_may_return_null=1";
}

struct collector {
	char *data;
	size_t len;
	size_t largest;
	int calls;
	int error; /* returned by the sink */
};

static int collect(void *arg, const char *data, size_t len)
{
	struct collector *c = arg;

	c->calls++;
	if (c->error)
		return c->error;
	c->data = realloc(c->data, c->len + len);
	assert_non_null(c->data);
	memcpy(c->data + c->len, data, len);
	c->len += len;
	c->largest = len > c->largest ? len : c->largest;
	return 0;
}

TEST(grows)
{
	cleanup(strbuf_done) struct strbuf b = {0};

	for (int i = 0; i < 100000; i++)
		strbuf_printf(&b, "%06d", i);
	assert_int_equal(strbuf_error(&b), 0);
	assert_int_equal(b.len, 600000);
	assert_memory_equal(b.data + 6 * 54321, "054321", 6);
	/* Every length around a power of two: there must always be a byte for the terminator. */
	for (size_t len = 0; len < 1100; len++) {
		cleanup(strbuf_done) struct strbuf one = {0};

		strbuf_fill(&one, 'x', len);
		assert_int_equal(strlen(strbuf_str(&one)), len);
	}
}

TEST(overflow_sticks)
{
	volatile size_t too_much = SIZE_MAX; /* volatile: else the compiler warns */
	cleanup(strbuf_done) struct strbuf b = {0};

	strbuf_puts(&b, "kept");
	strbuf_put(&b, "x", too_much);
	assert_int_equal(strbuf_error(&b), -ENOMEM);
	strbuf_puts(&b, "dropped");
	strbuf_putc(&b, 'x');
	strbuf_printf(&b, "%d", 1);
	strbuf_putu(&b, 1);
	assert_string_equal(strbuf_str(&b), "kept");
	assert_int_equal(strbuf_flush(&b), -ENOMEM);
	strbuf_clear(&b);
	assert_int_equal(strbuf_error(&b), 0);
	strbuf_puts(&b, "again");
	assert_string_equal(strbuf_str(&b), "again");
	strbuf_clear(&b);
	/* Too large to allocate, but no overflow. */
	strbuf_fill(&b, ' ', SIZE_MAX / 2 - 2);
	assert_int_equal(strbuf_error(&b), -ENOMEM);
}

TEST(sink)
{
	struct collector c = {0};
	cleanup(strbuf_done) struct strbuf b = {.sink = collect, .sink_arg = &c};
	const int count = 200000;

	for (int i = 0; i < count; i++)
		strbuf_printf(&b, "%07d\n", i);
	assert_true(c.calls > 10);
	assert_true(c.largest <= STRBUF_CHUNK);
	assert_true(b.cap <= 2 * STRBUF_CHUNK);
	assert_int_equal(strbuf_flush(&b), 0);
	assert_int_equal(strbuf_flush(&b), 0);
	assert_int_equal(c.len, 8 * count);
	for (int i = 0; i < count; i++)
		assert_int_equal(atoi(c.data + 8 * i), i);
	/* More than a chunk at once. */
	c.len = 0;
	strbuf_puts(&b, "first");
	strbuf_fill(&b, 'x', 3 * STRBUF_CHUNK);
	strbuf_puts(&b, "last");
	assert_int_equal(strbuf_flush(&b), 0);
	assert_int_equal(c.len, 3 * STRBUF_CHUNK + 9);
	assert_memory_equal(c.data, "firstx", 6);
	assert_memory_equal(c.data + c.len - 5, "xlast", 5);
	free(c.data);
}

TEST(sink_error_sticks)
{
	struct collector c = {.error = -EPIPE};
	cleanup(strbuf_done) struct strbuf b = {.sink = collect, .sink_arg = &c};

	for (int i = 0; i < 300000; i++)
		strbuf_puts(&b, "line\n");
	assert_int_equal(strbuf_error(&b), -EPIPE);
	assert_int_equal(strbuf_flush(&b), -EPIPE);
	/* The sink is not called again. */
	assert_int_equal(c.calls, 1);
}

/* decimal_put() writes what printf writes. */
static void check_decimal(uint64_t v)
{
	char got[DECIMAL_MAX + 2], want[DECIMAL_MAX + 2];
	size_t len;

	memset(got, '#', sizeof(got));
	len = decimal_put(got, v);
	snprintf(want, sizeof(want), "%" PRIu64, v);
	assert_true(len <= DECIMAL_MAX);
	assert_int_equal(got[len], '#');
	got[len] = '\0';
	assert_string_equal(got, want);
}

TEST(decimal)
{
	uint64_t power = 1;

	for (uint64_t v = 0; v < 100000; v++)
		check_decimal(v);
	/* Every length. */
	for (int digits = 1; digits <= DECIMAL_MAX; digits++, power *= 10) {
		check_decimal(power - 1);
		check_decimal(power);
		check_decimal(power + power / 7 + 1);
		check_decimal(power * 9 / 10 * 9);
	}
	check_decimal(UINT64_MAX);
	check_decimal(UINT64_MAX - 1);
}
