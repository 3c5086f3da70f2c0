/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ranges of invisible characters from the names in Unicode's charts, one range for each reason.
 * Tests compare base/utf8.c, which is made from Unicode's properties, with them.
 */
#ifndef TESTS_INVISIBLE_H
#define TESTS_INVISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static const struct {
	const char *name;
	uint32_t first, last;
} invisible_class[] = {
	{"soft hyphen", 0xad, 0xad},
	{"combining grapheme joiner", 0x34f, 0x34f},
	{"Arabic letter mark", 0x61c, 0x61c},
	{"Hangul fillers", 0x115f, 0x1160},
	{"Khmer inherent vowels", 0x17b4, 0x17b5},
	{"Mongolian variation selectors and vowel separator", 0x180b, 0x180f},
	{"zero width space, joiners, direction marks", 0x200b, 0x200f},
	{"embeddings and overrides", 0x202a, 0x202e},
	{"word joiner and mathematical operators", 0x2060, 0x2064},
	{"reserved for such", 0x2065, 0x2065},
	{"isolates and deprecated controls", 0x2066, 0x206f},
	{"Hangul filler", 0x3164, 0x3164},
	{"private use", 0xe000, 0xf8ff},
	{"noncharacters", 0xfdd0, 0xfdef},
	{"variation selectors", 0xfe00, 0xfe0f},
	{"byte order mark", 0xfeff, 0xfeff},
	{"halfwidth Hangul filler", 0xffa0, 0xffa0},
	{"reserved for specials", 0xfff0, 0xfff8},
	{"interlinear annotation", 0xfff9, 0xfffb},
	{"noncharacters at the end of plane 0", 0xfffe, 0xffff},
	{"hieroglyph joiners", 0x13430, 0x1343f},
	{"shorthand format controls", 0x1bca0, 0x1bca3},
	{"beams, ties and slurs", 0x1d173, 0x1d17a},
	{"noncharacters at the end of plane 1", 0x1fffe, 0x1ffff},
	{"language tag", 0xe0001, 0xe0001},
	{"tags", 0xe0020, 0xe007f},
	{"more variation selectors", 0xe0100, 0xe01ef},
	{"private use of plane 15", 0xf0000, 0xfffff},
	{"private use of plane 16", 0x100000, 0x10ffff},
};

#define INVISIBLE_CLASSES (sizeof(invisible_class) / sizeof(invisible_class[0]))

static inline bool invisible_char(uint32_t c)
{
	for (size_t i = 0; i < INVISIBLE_CLASSES; i++) {
		if (c >= invisible_class[i].first && c <= invisible_class[i].last)
			return true;
	}
	return false;
}

#endif
