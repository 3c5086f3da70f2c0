/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Codes of keys: a character is its own code, other keys follow the last code of Unicode. */
#ifndef ZMEM_TOP_KEYS_H
#define ZMEM_TOP_KEYS_H

enum top_key {
	TOP_TAB = '\t',
	TOP_ENTER = '\n',
	TOP_ESCAPE = 27,
	TOP_BACKSPACE = 127,
	TOP_UP = 0x110000,
	TOP_DOWN,
	TOP_LEFT,
	TOP_RIGHT,
	TOP_PAGE_UP,
	TOP_PAGE_DOWN,
	TOP_HOME,
	TOP_END,
	TOP_DELETE,
	TOP_F1, /* F1 to F12 */
	TOP_F12 = TOP_F1 + 11,
	TOP_OTHER, /* a key without a meaning here */
};

#define TOP_F(n)    (TOP_F1 + (n)-1)
#define TOP_CTRL(c) ((c)&0x1f)

#endif
