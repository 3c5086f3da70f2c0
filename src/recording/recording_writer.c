// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes snapshots as the bytes of a recording. It keeps the last snapshot for the next delta. */
#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "model/snapshot_codec.h"
#include "recording/recording_file.h"
#include "recording/recording_internal.h"

#define SKIPPED_HEAD 8 /* bytes before those of a frame that zstd skips: a mark, their number */

static size_t append_header(struct strbuf *out, const struct recording_options *o)
{
	char head[RECORDING_HEAD_SIZE + 4] = {};
	size_t len = strlen(o->tool), size = sizeof(head) - (o->interval_ms ? 0 : 4);

	memcpy(head, RECORDING_MAGIC, sizeof(RECORDING_MAGIC) - 1);
	put_le16(head + 8, RECORDING_MAJOR);
	put_le16(head + 10, o->interval_ms ? RECORDING_MINOR : 0);
	put_le32(head + 12, (uint32_t)size);
	memcpy(head + 16, o->tool, len < RECORDING_TOOL_LEN ? len : RECORDING_TOOL_LEN);
	put_le32(head + 28, o->flags);
	put_le32(head + 32, o->interval_ms);
	put_le32(head + size - 4, crc_of(head, size - 4));
	strbuf_put(out, head, size);
	return size;
}

static void append_part(struct strbuf *out, enum recording_part kind, int64_t time_ms,
			uint32_t raw_size, const char *payload, size_t size)
{
	char head[RECORDING_PART_SIZE] = "PART";

	head[4] = (char)kind;
	put_le32(head + 8, (uint32_t)size);
	put_le32(head + 12, raw_size);
	put_le64(head + 16, (uint64_t)time_ms);
	put_le32(head + 24, crc_of(payload, size));
	put_le32(head + 28, crc_of(head, 28));
	strbuf_put(out, head, sizeof(head));
	strbuf_put(out, payload, size);
}

/* Appends a part, and its entry in the index. */
static void append_indexed(struct recording_writer *w, enum recording_part kind, int64_t time_ms,
			   const struct strbuf *payload)
{
	const uint32_t raw_size = (uint32_t)w->raw.len;
	char entry[RECORDING_ENTRY];

	append_part(w->out, kind, time_ms, raw_size, payload->data, payload->len);
	w->at += RECORDING_PART_SIZE + payload->len;
	if (!w->indexed)
		return;
	put_le64(entry, (uint64_t)time_ms);
	put_le32(entry + 8, (uint32_t)payload->len);
	put_le32(entry + 12, raw_size);
	put_le32(entry + 16, kind);
	strbuf_put(&w->index, entry, sizeof(entry));
}

int recording_writer_init(struct recording_writer *w, const struct recording_options *o,
			  struct strbuf *out)
{
	*w = (struct recording_writer){.out = out, .zstd = ZSTD_createCCtx()};
	if (!w->zstd)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, RECORDING_LEVEL);
	/* What this level has for every size; the static program has no other (src/static.c). */
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_strategy, ZSTD_dfast);
	return recording_writer_begin(w, o);
}

int recording_writer_begin(struct recording_writer *w, const struct recording_options *o)
{
	w->key_every = o->key_every ? o->key_every : RECORDING_KEY_EVERY;
	w->indexed = o->interval_ms;
	w->frames = 0;
	w->has_previous = false;
	strbuf_clear(&w->index);
	w->at = append_header(w->out, o);
	return strbuf_error(w->out);
}

/* Compresses w->raw into w->packed. */
static int pack(struct recording_writer *w)
{
	size_t most = ZSTD_compressBound(w->raw.len), n;

	strbuf_clear(&w->packed);
	if (!strbuf_room(&w->packed, most))
		return strbuf_error(&w->packed);
	n = ZSTD_compress2(w->zstd, w->packed.data, most, w->raw.data, w->raw.len);
	/* `most` bytes are always enough, so zstd lacks memory. */
	if (ZSTD_isError(n))
		return -ENOMEM;
	w->packed.len = n;
	return 0;
}

/*
 * Adds zeros to w->packed if a reader would not give the frame this memory for its bytes. Readers
 * give twice as much as is asked for here: the rows of a later version may be larger.
 */
static int pad(struct recording_writer *w, uint64_t before, size_t memory)
{
	const uint64_t packed = before + w->packed.len;
	char head[SKIPPED_HEAD];
	size_t size;

	if (memory <= frame_memory(packed) / 2)
		return 0;
	size = (2 * memory - MEMORY_LEAST) / MEMORY_A_BYTE + 1 - packed;
	put_le32(head, ZSTD_MAGIC_SKIPPABLE_START);
	put_le32(head + 4, (uint32_t)size);
	strbuf_put(&w->packed, head, sizeof(head));
	strbuf_fill(&w->packed, '\0', size);
	return strbuf_error(&w->packed);
}

/*
 * Decodes what was encoded and keeps it as the previous snapshot: the caller may change its own,
 * and a frame that cannot be decoded is found here. `before`: the bytes of the frames that it
 * needs.
 */
static int store_previous(struct recording_writer *w, bool delta, uint64_t before)
{
	struct codec_memory memory = {.most = SIZE_MAX / 4, .used = w->raw.len};
	struct snapshot last;
	int r = snapshot_decode(w->raw.data, w->raw.len, delta ? &w->previous : NULL, &memory,
				&w->next);

	if (r == 0)
		r = pad(w, before, memory.used);
	if (r < 0)
		return r;
	last = w->previous;
	w->previous = w->next;
	w->next = last;
	return 0;
}

int recording_writer_append(struct recording_writer *w, const struct snapshot *s)
{
	bool delta = w->has_previous && w->since_key + 1 < w->key_every;
	uint64_t before = delta ? w->since_key_size : 0;
	int r;

	strbuf_clear(&w->raw);
	r = snapshot_encode(s, delta ? &w->previous : NULL, &w->raw);
	if (r == 0 && w->raw.len > RECORDING_RAW_MAX)
		r = -EFBIG;
	if (r == 0)
		r = pack(w);
	if (r == 0)
		r = store_previous(w, delta, before);
	if (r < 0)
		return r;
	append_indexed(w, delta ? PART_DELTA : PART_KEY, s->time_ms, &w->packed);
	w->has_previous = true;
	w->since_key = delta ? w->since_key + 1 : 0;
	w->since_key_size = before + w->packed.len;
	w->frames++;
	r = strbuf_error(w->out);
	return r < 0 ? r : strbuf_error(&w->index);
}

int recording_writer_event(struct recording_writer *w, const struct event_record *e)
{
	enum recording_part kind = event_has(e, EVENT_BEGAN)			 ? PART_EVENT_END
				   : event_number(e, EVENT_KIND) == EVENT_SIGNAL ? PART_SIGNAL
										 : PART_EVENT;

	strbuf_clear(&w->raw);
	event_encode(e, &w->raw);
	if (strbuf_error(&w->raw) < 0)
		return strbuf_error(&w->raw);
	append_indexed(w, kind, e->time_ms, &w->raw);
	return strbuf_error(w->out);
}

void recording_writer_mark(struct recording_writer *w)
{
	w->mark.index = w->index.len;
	w->mark.at = w->at;
	w->mark.frames = w->frames;
}

void recording_writer_drop(struct recording_writer *w)
{
	w->has_previous = false;
	w->index.len = w->mark.index;
	w->at = w->mark.at;
	w->frames = w->mark.frames;
}

int recording_writer_finish(struct recording_writer *w)
{
	int64_t last_ms = w->has_previous ? w->previous.time_ms : 0;
	char offset[8];

	put_le64(offset, w->at);
	if (w->indexed)
		append_part(w->out, PART_INDEX, last_ms, (uint32_t)(w->index.len / RECORDING_ENTRY),
			    w->index.data, w->index.len);
	append_part(w->out, PART_END, last_ms, w->frames, offset, w->indexed ? sizeof(offset) : 0);
	return strbuf_error(w->out);
}

void recording_writer_done(struct recording_writer *w)
{
	snapshot_done(&w->previous);
	snapshot_done(&w->next);
	strbuf_done(&w->raw);
	strbuf_done(&w->packed);
	strbuf_done(&w->index);
	ZSTD_freeCCtx(w->zstd);
	*w = (struct recording_writer){};
}
