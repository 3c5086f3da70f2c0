/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PSS of every process without root, from the pin: cc -O2 -o pss pss.c, as a member of its group.
 * Prints pid, PSS, USS, RSS and swap in bytes ("-": not measured), and the name.
 */
#include <stdio.h>
#include <zmem/read.h>

static void print(int known, uint64_t bytes)
{
	if (known)
		printf("%llu\t", (unsigned long long)bytes);
	else
		printf("-\t");
}

int main(void)
{
	struct zmem_pin pin;
	struct zmem_values v;
	int r = zmem_open(&pin);

	while (r == 0 && (r = zmem_next(&pin, &v)) > 0) {
		r = 0;
		if (v.record.kind != ZMEM_PROCESS)
			continue;
		printf("%d\t", v.record.pid);
		print(v.known & ZMEM_KNOWS_PSS, v.pss);
		print(v.known & ZMEM_KNOWS_PSS, v.uss);
		print(v.known & ZMEM_KNOWS_RSS, v.rss);
		print(v.known & ZMEM_KNOWS_RSS, v.swap);
		printf("%.16s\n", v.record.comm);
		if (fflush(stdout) != 0)
			return 1;
	}
	zmem_close(&pin);
	if (r < 0)
		fprintf(stderr, "pss: %s\n", strerror(-r));
	return r < 0;
}
