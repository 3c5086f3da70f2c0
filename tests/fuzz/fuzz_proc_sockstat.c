// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/net/sockstat: the memory of sockets is a sum of numbers of the text. */
#include <errno.h>
#include <inttypes.h>

#include "fuzz.h"
#include "model/system.h"

#define PAGE 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct socket_memory s = {false, 7}, again = {};
	char text[128];
	size_t len;

	if (sockstat_parse((const char *)data, size, PAGE, &s) < 0) {
		FUZZ_CHECK(!s.known && s.bytes == 7);
		return 0;
	}
	FUZZ_CHECK(s.known && (memmem(data, size, "mem ", 4) || memmem(data, size, "memory ", 7)));
	if (s.bytes / PAGE >= UINT64_MAX / 4 / PAGE)
		return 0; /* more than one line may say */
	len = (size_t)sprintf(text,
			      "UDP: inuse 1 mem %" PRIu64 "\nFRAG: inuse 0 memory %" PRIu64 "\n",
			      s.bytes / PAGE, s.bytes % PAGE);
	FUZZ_CHECK(sockstat_parse(text, len, PAGE, &again) == 0 && again.bytes == s.bytes);
	FUZZ_CHECK(sockstat_parse(text, strlen("UDP: inuse 1 mem"), PAGE, &again) == -EINVAL);
	return 0;
}
