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
#include "kread.bpf.h"

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

struct scramble_state {
	const struct zmem_scramble *key;
	__u32 x, y;
	__u32 tweak;
	__u32 hide;
};

/* The rounds of a turn. More of them are faster at run time, and more for the verifier to check. */
#define TURN_ROUNDS 3
_Static_assert(ZMEM_SCRAMBLE_ROUNDS % TURN_ROUNDS == 0, "whole turns");

static long scramble_turn(__u32 turn, struct scramble_state *s)
{
	const __u32 *key = s->key->round;
	__u32 x = s->x, y = s->y, at = turn * TURN_ROUNDS;

	if (at > ZMEM_SCRAMBLE_ROUNDS - TURN_ROUNDS)
		return 1;
	if (s->hide) {
		for (__u32 i = 0; i < TURN_ROUNDS; i++) {
			x = (ROTATE(x, 24) + y) ^ key[at + i] ^ s->tweak;
			y = ROTATE(y, 3) ^ x;
		}
	} else {
		at = ZMEM_SCRAMBLE_ROUNDS - TURN_ROUNDS - at;
		for (__u32 i = TURN_ROUNDS; i > 0; i--) {
			y = ROTATE(y ^ x, 29);
			x = ROTATE((x ^ key[at + i - 1] ^ s->tweak) - y, 8);
		}
	}
	s->x = x;
	s->y = y;
	return 0;
}

/*
 * Scrambles an address (hide 1) or restores it (hide 0); 0 stays 0. The same value has another
 * number under each `tweak`. A global function: the verifier checks it once.
 */
__noinline __u64 scramble_word(__u64 value, __u32 tweak, int hide)
{
	struct scramble_state s = {
		.x = value >> 32, .y = (__u32)value, .tweak = tweak, .hide = hide};
	__u32 zero = 0;

	s.key = bpf_map_lookup_elem(&scramble, &zero);
	if (!s.key || !value)
		return 0;
	kloop(ZMEM_SCRAMBLE_ROUNDS / TURN_ROUNDS, scramble_turn, &s);
	return (__u64)s.x << 32 | s.y;
}

#endif
