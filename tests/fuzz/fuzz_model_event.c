// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An event of a recording from any bytes: what is decoded is encoded and decoded again the same. */
#include <errno.h>

#include "fuzz.h"
#include "model/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_record *e = calloc(2, sizeof(*e));
	struct strbuf bytes = {}, again = {};

	FUZZ_CHECK(e);
	if (event_decode(data, size, &e[0]) == 0) {
		FUZZ_CHECK(event_has(&e[0], EVENT_KIND));
		event_encode(&e[0], &bytes);
		FUZZ_CHECK(event_decode(bytes.data, bytes.len, &e[1]) == 0);
		FUZZ_CHECK(memcmp(e[0].have, e[1].have, sizeof(e[0].have)) == 0);
		event_encode(&e[1], &again);
		FUZZ_CHECK(bytes.len == again.len && !memcmp(bytes.data, again.data, bytes.len));
	}
	strbuf_done(&bytes);
	strbuf_done(&again);
	free(e);
	return 0;
}
