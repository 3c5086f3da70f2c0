/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a walk goes on is an address of another process, and is handed to its reader and back. So
 * that readers without capabilities (of a pin) neither learn addresses nor search with them, it is
 * enciphered: with Speck64 (Beaulieu and others, 2013), whose round keys are random here, and for
 * each mm others.
 */
#ifndef ZMEM_CURSOR_BPF_H
#define ZMEM_CURSOR_BPF_H

#define ROTATE(word, left) ((word) << (left) | (word) >> (32 - (left)))

/* From address to cursor, or back; 0 stays 0. A global function: the verifier proves it once. */
__noinline __u64 cursor_code(__u64 mm, __u64 value, int hide)
{
	__u32 x = value >> 32, y = (__u32)value, of_mm = (__u32)(mm >> 6), zero = 0;
	const struct zmem_scramble *key;

	key = bpf_map_lookup_elem(&scramble, &zero);
	if (!key || !value)
		return 0;
	if (hide) {
		for (__u32 i = 0; i < ZMEM_CURSOR_ROUNDS; i++) {
			x = (ROTATE(x, 24) + y) ^ key->cursor[i] ^ of_mm;
			y = ROTATE(y, 3) ^ x;
		}
	} else {
		for (__u32 i = ZMEM_CURSOR_ROUNDS; i > 0; i--) {
			y = ROTATE(y ^ x, 29);
			x = ROTATE((x ^ key->cursor[i - 1] ^ of_mm) - y, 8);
		}
	}
	return (__u64)x << 32 | y;
}

#endif
