// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a recording has around its chapters. */
#include <string.h>

#include "base/strbuf.h"
#include "recording/wire.h"
#include "zmem/record.h"
#include "recording/recording.h"

void recording_begin(struct strbuf *out, const char *tool)
{
	char head[RECORDING_HEADER_SIZE] = {};
	size_t len = strlen(tool);

	memcpy(head, RECORDING_MAGIC, sizeof(RECORDING_MAGIC) - 1);
	wire_set32(head + 8, RECORDING_FORMAT);
	wire_set32(head + 12, ZMEM_RECORD_VERSION);
	memcpy(head + 16, tool, len < RECORDING_TOOL_LEN ? len : RECORDING_TOOL_LEN);
	wire_set32(head + 28, wire_crc(head, 28, NULL, 0));
	strbuf_put(out, head, sizeof(head));
}

void recording_end(struct strbuf *out, uint32_t chapters)
{
	char end[RECORDING_END_SIZE] = "END\n";

	wire_set32(end + 4, chapters);
	wire_set32(end + 8, wire_crc(end, 8, NULL, 0));
	strbuf_put(out, end, sizeof(end));
}
