/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses of the kernel and of other processes leave enciphered, since readers of a pin have no
 * capability: the same address is the same number, two are never one, and who reads numbers learns
 * no address. Speck64 (Beaulieu and others, 2013), whose round keys are random here.
 */
#ifndef ZMEM_SCRAMBLE_BPF_H
#define ZMEM_SCRAMBLE_BPF_H

#include "zmem/setup.h"

/*
 * User space sets it once, before the first read. A map and not a constant: a light skeleton would
 * copy the constant with bpf_probe_read_kernel(), and lockdown=confidentiality would refuse that.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_scramble);
} scramble SEC(".maps");

#define ROTATE(word, left) ((word) << (left) | (word) >> (32 - (left)))

/*
 * From address to number (hide), or back; 0 stays 0. Each `tweak` has numbers of its own. A global
 * function: the verifier proves it once.
 */
kfunction __u64 encode(__u64 value, __u32 tweak, int hide)
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
