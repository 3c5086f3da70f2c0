/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scrambles addresses before they leave the kernel, because readers of a pin have no capability.
 * The same address always becomes the same number, two addresses never become one number, and the
 * numbers do not reveal the addresses. The cipher is Speck64 (Beaulieu et al., 2013) with random
 * round keys.
 */
#ifndef ZMEM_SCRAMBLE_BPF_H
#define ZMEM_SCRAMBLE_BPF_H

#include "zmem/setup.h"

/*
 * User space sets the keys once, before the first read. They are in a map, not in a constant: a
 * light skeleton would copy a constant with bpf_probe_read_kernel(), which lockdown=confidentiality
 * refuses.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_scramble);
} scramble SEC(".maps");

#define ROTATE(word, left) ((word) << (left) | (word) >> (32 - (left)))

/*
 * Scrambles an address (hide 1) or restores it (hide 0); 0 stays 0. The same value has another
 * number under each `tweak`. A global function: the verifier checks it once.
 */
__noinline __u64 scramble_word(__u64 value, __u32 tweak, int hide)
{
	__u32 x = value >> 32, y = (__u32)value, zero = 0;
	const struct zmem_scramble *key;

	key = bpf_map_lookup_elem(&scramble, &zero);
	if (!key || !value)
		return 0;
	if (hide) {
		for (__u32 i = 0; i < ZMEM_SCRAMBLE_ROUNDS; i++) {
			x = (ROTATE(x, 24) + y) ^ key->round[i] ^ tweak;
			y = ROTATE(y, 3) ^ x;
		}
	} else {
		for (__u32 i = ZMEM_SCRAMBLE_ROUNDS; i > 0; i--) {
			y = ROTATE(y ^ x, 29);
			x = ROTATE((x ^ key->round[i - 1] ^ tweak) - y, 8);
		}
	}
	return (__u64)x << 32 | y;
}

#endif
