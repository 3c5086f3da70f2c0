// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Corrupt recordings of format 2: corrupt frames are refused and named, others are unchanged. Few
 * bytes never take much memory.
 */
#include "unit.h"

#include <sys/resource.h>
#include <zstd.h>

#include "model/column_codec.h"
#include "recorded_frames.h"

/* Each frame of a corrupt recording is refused or unchanged. */
static void check_damaged(const char *data, size_t len, const struct recorded_frames *f)
{
	cleanup(reader_done) struct recording_reader *r = NULL;
	char why[RECORDING_REASON] = "";
	int error = recording_reader_open_memory(data, len, &r, why);

	if (error < 0) {
		assert_true(error == -EBADMSG || error == -ENOTSUP);
		assert_true(*why);
		return;
	}
	assert_true(recording_reader_info(r)->frames <= FRAMES);
	assert_true(recording_reader_info(r)->end <= len);
	for (size_t i = 0; i < recording_reader_info(r)->frames; i++) {
		const struct snapshot *s = NULL;

		error = recording_reader_frame(r, i, &s, why);
		if (error < 0) {
			assert_int_equal(error, -EBADMSG);
			continue;
		}
		/* Frames behind corrupt bytes are still numbered. */
		assert_true(same_snapshot(s, &f->frame[s->time_ms / 1000]));
	}
}

TEST(cut)
{
	cleanup(forget) struct recorded_frames f;

	record(&f, 4, true);
	for (size_t len = 0; len < f.bytes.len; len++) {
		cleanup_free char *copy = malloc(len + 1);
		struct recording_reader *r;
		size_t whole = 0;

		memcpy(copy, f.bytes.data, len);
		check_damaged(copy, len, &f);
		if (len < f.end[0])
			continue;
		/* Every complete frame is readable, and the missing rest is reported. */
		while (whole < FRAMES && f.end[whole + 1] <= len)
			whole++;
		r = opened(copy, len);
		assert_int_equal(recording_reader_info(r)->frames, whole);
		assert_int_equal(recording_reader_info(r)->end, f.end[whole]);
		assert_int_equal(recording_reader_info(r)->torn, len != f.end[whole]);
		assert_false(recording_reader_info(r)->ended);
		recording_reader_free(r);
	}
}

TEST(flipped)
{
	cleanup(forget) struct recorded_frames f;

	record(&f, 4, true);
	for (size_t i = 0; i < f.bytes.len; i++) {
		f.bytes.data[i] ^= (char)(1 << i % 8);
		check_damaged(f.bytes.data, f.bytes.len, &f);
		f.bytes.data[i] ^= (char)(1 << i % 8);
	}
}

/* A byte of frame 3 is wrong: frames before it and from the next key frame on are readable. */
static void check_named(size_t at, bool hole)
{
	cleanup(reader_done) struct recording_reader *r = NULL;
	char named[64];
	cleanup(forget) struct recorded_frames f;

	record(&f, 10, true);
	f.bytes.data[f.end[2] + at] ^= 1;
	snprintf(named, sizeof(named), "the recording is corrupt: snapshot 3 at byte %zu",
		 f.end[2]);
	r = opened(f.bytes.data, f.bytes.len);
	assert_int_equal(recording_reader_info(r)->frames, FRAMES);
	assert_true(recording_reader_info(r)->ended);
	for (size_t i = 0; i < FRAMES; i++) {
		if (i != 2 && i != 3) {
			check_frame(r, &f, i);
			continue;
		}
		assert_bad(r, i, named);
		assert_true(recording_reader_lost(r, i));
		assert_int_equal(recording_reader_time(r, 2), hole ? 1000 : 2000);
	}
	/* The moments of frames that are lost are those of the frame before them. */
	for (size_t i = 0; i < FRAMES; i++) {
		size_t at = 0;

		assert_true(recording_reader_find(r, 1000 * (int64_t)i, &at));
		assert_int_equal(at, i == 2 || i == 3 ? 1 : i);
	}
}

TEST(named)
{
	check_named(RECORDING_PART_SIZE + 7, false); /* its payload */
	check_named(9, true);			     /* its length */
	check_named(0, true);			     /* its mark */
}

/* Appends a part with these bytes, compressed, that says it has `raw_size`. */
static void put_part(struct strbuf *file, enum recording_part kind, uint32_t raw_size,
		     const char *data, size_t len, int level)
{
	size_t at = file->len, most = ZSTD_compressBound(len), n;
	char head[RECORDING_PART_SIZE] = "PART";

	strbuf_put(file, head, sizeof(head));
	assert_true(strbuf_room(file, most));
	n = ZSTD_compress(file->data + file->len, most, data, len, level);
	assert_false(ZSTD_isError(n));
	file->len += n;
	file->data[at + 4] = (char)kind;
	put_le32(file->data + at + 8, (uint32_t)n);
	put_le32(file->data + at + 12, raw_size);
	set_crcs(file->data + at);
}

/* A small frame that claims to be large is refused before memory is allocated. */
TEST(bomb)
{
	const size_t large = (size_t)RECORDING_RAW_MAX + 1;
	cleanup_free char *zeros = calloc(1, large);
	struct recording_reader *r;
	cleanup(forget) struct recorded_frames f;

	record(&f, 4, false);
	/* One size in the part, another in the zstd frame; then the same, which is too large. */
	for (int what = 0; what < 2; what++) {
		cleanup(strbuf_done) struct strbuf bytes = {};

		strbuf_put(&bytes, f.bytes.data, f.end[0]);
		put_part(&bytes, PART_KEY, what ? (uint32_t)large : 100, zeros, large, 1);
		r = opened(bytes.data, bytes.len);
		assert_int_equal(recording_reader_info(r)->frames, 1);
		assert_bad(r, 0, "the recording is corrupt: snapshot 1 at byte 36");
		recording_reader_free(r);
	}
}

/* A delta frame at the beginning has no reference. */
TEST(no_key)
{
	cleanup(strbuf_done) struct strbuf bytes = {};
	cleanup(reader_done) struct recording_reader *r = NULL;
	cleanup(forget) struct recorded_frames f;

	record(&f, 4, true);
	strbuf_put(&bytes, f.bytes.data, f.end[0]);
	strbuf_put(&bytes, f.bytes.data + f.end[1], f.bytes.len - f.end[1]);
	r = opened(bytes.data, bytes.len);
	assert_int_equal(recording_reader_info(r)->frames, FRAMES - 1);
	assert_bad(r, 0, "the recording is corrupt: snapshot 1 at byte 36 lacks the one before it");
	assert_true(same_snapshot(frame_of(r, KEY_EVERY - 1), &f.frame[KEY_EVERY]));
}

/* ---- recordings that were made to take much memory ---- */

#define MEMORY_MOST (128u << 20) /* of the whole process */
#define MANY	    2000000
#define LONG_TEXT   65000

/* Ids of blocks (model/snapshot_format.h). */
enum {
	ROWS = 1,
	PIDS = 3,
	NAMES = 0x90,
	STRINGS = 0x200,
};

__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

/* Not with a sanitizer, which reserves terabytes. */
static int limit_memory(void **state)
{
	static struct rlimit before;
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &before) < 0)
		return -1;
	*state = &before;
	limit = (struct rlimit){MEMORY_MOST, before.rlim_max};
	return __sanitizer_set_death_callback ? 0 : setrlimit(RLIMIT_AS, &limit);
}

static int unlimit_memory(void **state)
{
	return setrlimit(RLIMIT_AS, *state);
}

#define IN_LITTLE_MEMORY(name) TEST_WITH(name, limit_memory, unlimit_memory)

static void put_number(struct strbuf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		strbuf_putc(out, (char)(v | 0x80));
	strbuf_putc(out, (char)v);
}

static void put_block(struct strbuf *frame, unsigned id, enum codec_type type,
		      const struct strbuf *contents)
{
	put_number(frame, id);
	strbuf_putc(frame, (char)type);
	put_number(frame, contents->len);
	strbuf_put(frame, contents->data, contents->len);
}

/* The beginning of a frame with `count` new processes, behind `before` of the reference. */
static void begin_frame(struct strbuf *frame, size_t before, size_t count)
{
	cleanup(strbuf_done) struct strbuf rows = {}, pids = {};

	strbuf_put(frame, "ZSNP\1\2", 6);
	strbuf_putc(frame, before != 0);
	strbuf_putc(frame, '\0');
	if (!count)
		return;
	/* Integers: no low bits are left out, then zigzag. The zeros at the end are left out. */
	strbuf_putc(&rows, '\0');
	put_number(&rows, 2 * count);
	if (before)
		put_number(&rows, 2 * before);
	put_block(frame, ROWS, CODEC_INTS, &rows);
	strbuf_putc(&pids, '\0');
	put_number(&pids, 2 * (before + 1));
	strbuf_fill(&pids, 2, count - 1);
	put_block(frame, PIDS, CODEC_INTS, &pids);
}

/* Ends the frame and appends it to the recording, which has a header. */
static void end_frame(struct strbuf *frame, struct strbuf *file)
{
	strbuf_put(frame, "\0\0", 3);
	put_part(file, frame->data[6] ? PART_DELTA : PART_KEY, (uint32_t)frame->len, frame->data,
		 frame->len, RECORDING_LEVEL);
	strbuf_done(frame);
}

static void begin_file(struct strbuf *file)
{
	struct recording_writer w;

	assert_int_equal(recording_writer_init(&w, &options, file), 0);
	recording_writer_done(&w);
}

/* A process takes a byte before compression, and as good as none after it. */
IN_LITTLE_MEMORY(rows)
{
	cleanup(strbuf_done) struct strbuf file = {}, frame = {};
	cleanup(reader_done) struct recording_reader *r = NULL;

	begin_file(&file);
	begin_frame(&frame, 0, MANY);
	end_frame(&frame, &file);
	assert_uint_in_range(file.len, 1, 400);
	r = opened(file.data, file.len);
	assert_bad(r, 0, "the recording is corrupt: snapshot 1 at byte 36");
}

/* Empty texts: each takes a byte, and a pointer. */
IN_LITTLE_MEMORY(strings)
{
	cleanup(strbuf_done) struct strbuf file = {}, frame = {}, texts = {};
	cleanup(reader_done) struct recording_reader *r = NULL;

	begin_file(&file);
	begin_frame(&frame, 0, 0);
	strbuf_fill(&texts, '\0', 4 * MANY);
	put_block(&frame, STRINGS, CODEC_STRINGS, &texts);
	end_frame(&frame, &file);
	assert_uint_in_range(file.len, 1, 1000);
	r = opened(file.data, file.len);
	assert_bad(r, 0, "the recording is corrupt: snapshot 1 at byte 36");
}

/* New processes with the long names of two that there are, in turns: each gets a copy. */
IN_LITTLE_MEMORY(texts)
{
	cleanup(strbuf_done) struct strbuf file = {}, frame = {}, names = {}, strings = {};
	cleanup(reader_done) struct recording_reader *r = NULL;

	begin_file(&file);
	begin_frame(&frame, 0, 2);
	/* The number of the first new text; no low bits; the next new text, twice. */
	strbuf_put(&names, "\0\0\2\2", 4);
	put_block(&frame, NAMES, CODEC_TEXTS, &names);
	for (char c = 'a'; c <= 'b'; c++) {
		strbuf_fill(&strings, c, LONG_TEXT);
		strbuf_putc(&strings, '\0');
	}
	put_block(&frame, STRINGS, CODEC_STRINGS, &strings);
	end_frame(&frame, &file);
	begin_frame(&frame, 2, 15000);
	strbuf_clear(&names);
	/* The two keep theirs; then those of the row before the last one and of the last one. */
	strbuf_put(&names, "\0\0\0\1", 4);
	for (int i = 0; i < 15000; i++)
		strbuf_putc(&names, i % 2 ? 3 : 9);
	put_block(&frame, NAMES, CODEC_TEXTS, &names);
	end_frame(&frame, &file);
	assert_uint_in_range(file.len, 1, 1000);
	r = opened(file.data, file.len);
	assert_int_equal(strlen(frame_of(r, 0)->process[1].name), LONG_TEXT);
	assert_bad(r, 1, "the recording is corrupt: snapshot 2 at byte");
}

/* Each frame adds processes to those before it. */
IN_LITTLE_MEMORY(growing)
{
	cleanup(strbuf_done) struct strbuf file = {}, frame = {};
	cleanup(reader_done) struct recording_reader *r = NULL;

	begin_file(&file);
	for (size_t i = 0; i < 4; i++) {
		begin_frame(&frame, i * 20000, 20000);
		end_frame(&frame, &file);
	}
	assert_uint_in_range(file.len, 1, 1000);
	r = opened(file.data, file.len);
	assert_int_equal(frame_of(r, 0)->count, 20000);
	assert_bad(r, 3, "the recording is corrupt: snapshot 2 at byte");
}

/* Reading a frame takes all frames from its key frame on: they are bounded. */
TEST(chain)
{
	const struct recording_options long_chain = {.tool = "9.8.7",
						     .key_every = 2 * RECORDING_KEY_MOST};
	cleanup(strbuf_done) struct strbuf bytes = {};
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(reader_done) struct recording_reader *r = NULL;
	struct recording_writer w;

	snapshot_add(&s)->pid = 1;
	assert_int_equal(recording_writer_init(&w, &long_chain, &bytes), 0);
	for (s.time_ms = 0; s.time_ms <= 2 * RECORDING_KEY_MOST; s.time_ms++)
		assert_int_equal(recording_writer_append(&w, &s), 0);
	recording_writer_done(&w);
	r = opened(bytes.data, bytes.len);
	assert_int_equal(recording_reader_info(r)->frames, 2 * RECORDING_KEY_MOST + 1);
	assert_int_equal(frame_of(r, RECORDING_KEY_MOST - 1)->time_ms, RECORDING_KEY_MOST - 1);
	assert_bad(r, RECORDING_KEY_MOST, "the recording is corrupt: snapshot 129 at byte");
	assert_bad(r, 2 * RECORDING_KEY_MOST - 1, "the recording is corrupt: snapshot 256");
	frame_of(r, 2 * RECORDING_KEY_MOST);
}

/* ---- many processes that are alike: they take few bytes, and must be readable ---- */

#define ALIKE 40000

/* `ticks`: start times as /proc has them; else in nanoseconds, as BPF reads them. */
static void fill_alike(struct snapshot *s, bool ticks)
{
	struct random r = {5};

	for (int i = 0; i < ALIKE; i++) {
		struct process *p = snapshot_add(s);

		assert_non_null(p);
		p->pid = i + 1;
		p->ppid = 1;
		p->start_ns = ticks ? (uint64_t)(i / 100) * 10000000
				    : (uint64_t)i * 60000 + random_below(&r, 20000);
		p->name = "sleep";
		p->user = "nobody";
		p->cgroup = "/user.slice/user-65534.slice/session-1.scope";
		snprintf(p->comm, sizeof(p->comm), "sleep");
		process_set(p, COUNTER_RSS_ANON, 98304);
		process_set(p, COUNTER_RSS_FILE, 1650688);
		process_set(p, COUNTER_RSS_SHMEM, 0);
		process_set(p, COUNTER_SWAP, 0);
		process_set(p, COUNTER_PGTABLES, 45056);
	}
	assert_int_equal(snapshot_finish(s), 0);
}

static void check_alike(bool ticks, size_t least, size_t most)
{
	cleanup(strbuf_done) struct strbuf bytes = {};
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(reader_done) struct recording_reader *r = NULL;
	struct recording_writer w;

	fill_alike(&s, ticks);
	assert_int_equal(recording_writer_init(&w, &options, &bytes), 0);
	for (int64_t i = 0; i < 3; i++) {
		s.time_ms = i * 1000;
		process_set(&s.process[i * 1000], COUNTER_SWAP, 4096);
		assert_int_equal(recording_writer_append(&w, &s), 0);
		reader_done(&r);
		r = opened(bytes.data, bytes.len);
		assert_true(same_snapshot(&s, frame_of(r, (size_t)i)));
	}
	assert_uint_in_range(bytes.len, least, most);
	recording_writer_done(&w);
}

TEST(alike)
{
	check_alike(false, ALIKE, 8 * ALIKE);
	check_alike(true, ALIKE, 8 * ALIKE);
}
