// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of UTF-8; every character: fuzz_base_utf8. */
#include "unit.h"

#include "invisible.h"
#include "utf8_valid.h"

TEST(width)
{
	size_t zero = 0, wide = 0;
	static const struct {
		uint32_t c;
		unsigned width;
	} cases[] = {
		{'a', 1},     {' ', 1},	    {'~', 1},	  {0, 0},	{0x1b, 0},    {0x7f, 0},
		{0x9f, 0},    {0xa0, 1},    {0xad, 1},	  {0xe4, 1},	{0x2ff, 1},   {0x300, 0},
		{0x36f, 0},   {0x370, 1},   {0x5d0, 1},	  {0x64b, 0},	{0x1100, 2},  {0x1160, 0},
		{0x200b, 0},  {0x200d, 0},  {0x20ac, 1},  {0x231a, 2},	{0x3042, 2},  {0x4e2d, 2},
		{0xac00, 2},  {0xfe0f, 0},  {0xfeff, 0},  {0xff01, 2},	{0xff61, 1},  {0xfffd, 1},
		{0x1d165, 1}, {0x1f600, 2}, {0x20000, 2}, {0x3fffd, 2}, {0xe0020, 0}, {0x10ffff, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(utf8_width(cases[i].c), cases[i].width);
	/* The tables are searched by bisection, so they must be sorted without overlap. */
	for (uint32_t c = 0xa0; c <= 0x10ffff; c++) {
		zero += utf8_width(c) == 0;
		wide += utf8_width(c) == 2;
	}
	/* Counts each character once, by the ranges themselves. */
	assert_int_equal(zero, 10919);
	assert_int_equal(wide, 191839);
}

TEST(printable)
{
	static const uint32_t bad[] = {0,      0x07,   0x0a,   0x1b,   0x1f,   0x7f,   0x80,
				       0x9b,   0x9f,   0x61c,  0x200e, 0x200f, 0x202a, 0x202b,
				       0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069};
	static const uint32_t good[] = {' ',	'~',	0xa0,	0xe4,	0x301,	 0x5d0,
					0x61b,	0x1161, 0x2010, 0x2029, 0x202f,	 0x205f,
					0x3042, 0xac00, 0xfffc, 0xfffd, 0x1f600, 0x3fffd};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(utf8_printable(bad[i]));
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(utf8_printable(good[i]));
}

/* All classes of invisible characters are refused, and besides them only the Arabic signs. */
TEST(invisible)
{
	size_t hidden = 0, bad = 0;

	for (uint32_t c = 0xa0; c <= 0x10ffff; c++) {
		bool is_hidden = invisible_char(c) || (c >= 0xd800 && c < 0xe000) ||
				 (c & 0xfffe) == 0xfffe || (c >= 0xe0000 && c < 0xe1000);

		hidden += is_hidden;
		bad += !utf8_printable(c);
		if (is_hidden && utf8_printable(c))
			fail_msg("U+%04X is accepted", c);
	}
	assert_int_equal(bad - hidden, 6 + 1 + 1 + 2 + 1 + 1 + 1);
}
