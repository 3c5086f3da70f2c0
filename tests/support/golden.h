/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Comparison with files of tests/golden, to the byte. UPDATE_GOLDEN=1 in the environment rewrites
 * them; review the difference before a commit.
 */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include "unit.h"

#include "base/strbuf.h"

/* Golden files of tables have times. */
__attribute__((constructor)) static void golden_zone(void)
{
	setenv("TZ", "UTC0", 1);
}

/* Returns the whole file, terminated; the caller frees it. Fails the test without the file. */
static inline char *golden_read(const char *path, size_t *ret_len)
{
	cleanup_fclose FILE *f = fopen(path, "rb");
	char *data = NULL;
	size_t len = 0, n;

	if (!f)
		fail_msg("%s: no such golden file (UPDATE_GOLDEN=1 writes it)", path);
	do {
		data = realloc(data, len + 4096 + 1);
		assert_non_null(data);
		n = fread(data + len, 1, 4096, f);
		len += n;
	} while (n);
	data[len] = '\0';
	*ret_len = len;
	return data;
}

static inline void golden_write(const char *path, const char *data, size_t len)
{
	cleanup_fclose FILE *f = fopen(path, "wb");

	if (!f || fwrite(data, 1, len, f) != len)
		fail_msg("%s: cannot write", path);
}

/* `data` is terminated, too. */
static inline void golden_compare(const char *name, const char *data, size_t len, const char *file,
				  int line)
{
	cleanup_free char *want = NULL;
	char path[512];
	size_t want_len, at = 0, row = 1;

	snprintf(path, sizeof(path), "%s/golden/%s", TESTS_DIR, name);
	if (getenv("UPDATE_GOLDEN")) {
		golden_write(path, data, len);
		return;
	}
	want = golden_read(path, &want_len);
	while (at < len && at < want_len && data[at] == want[at])
		row += data[at++] == '\n';
	if (at == len && at == want_len)
		return;
	while (at && data[at - 1] != '\n')
		at--;
	print_error("%s:%d: differs from %s in line %zu\nwant: %.*s\ngot:  %.*s\n", file, line,
		    path, row, (int)strcspn(want + at, "\n"), want + at,
		    (int)strcspn(data + at, "\n"), data + at);
	fail();
}

/* A JSON document without the version of the program, which golden files outlive. */
static inline void golden_neutral(struct strbuf *document, struct strbuf *out)
{
	static const char key[] = "\"version\":\"" ZMEM_VERSION "\"";
	const char *text = strbuf_str(document), *at = strstr(text, key);

	assert_non_null(at);
	strbuf_put(out, text, (size_t)(at - text));
	strbuf_puts(out, "\"version\":\"0.0.0\"");
	strbuf_puts(out, at + strlen(key));
	if (!out->error)
		out->error = document->error;
}

/* The contents of a strbuf without error. */
#define golden_check(name, buf)                                                                    \
	do {                                                                                       \
		assert_int_equal(strbuf_error(buf), 0);                                            \
		golden_compare(name, strbuf_str(buf), (buf)->len, __FILE__, __LINE__);             \
	} while (0)

/* What a renderer writes; its further arguments follow. */
#define golden_render(name, render, ...)                                                           \
	do {                                                                                       \
		cleanup(strbuf_done) struct strbuf rendered = {};                                  \
                                                                                                   \
		render(&rendered, __VA_ARGS__);                                                    \
		golden_check(name, &rendered);                                                     \
	} while (0)

/* The same for a JSON document, without the version. */
#define golden_json(name, render, ...)                                                             \
	do {                                                                                       \
		cleanup(strbuf_done) struct strbuf document = {}, neutral = {};                    \
                                                                                                   \
		render(&document, __VA_ARGS__);                                                    \
		golden_neutral(&document, &neutral);                                               \
		golden_check(name, &neutral);                                                      \
	} while (0)

#endif
