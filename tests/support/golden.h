/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Comparison with files of tests/golden, to the byte. UPDATE_GOLDEN=1 in the environment rewrites
 * them; review the difference before a commit. One that is like another one begins with its name.
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

/* ---- what is like another golden file ---- */

#define GOLDEN_LIKE  "like "
#define GOLDEN_LINES 400

struct golden_line {
	const char *text;
	size_t len;
};

static inline size_t golden_split(const char *text, struct golden_line *ret)
{
	size_t count = 0;

	for (; *text; text += ret[count++].len + 1) {
		assert_true(count < GOLDEN_LINES);
		ret[count] = (struct golden_line){text, strcspn(text, "\n")};
		assert_int_equal(text[ret[count].len], '\n');
	}
	return count;
}

static inline bool golden_same(const struct golden_line *a, const struct golden_line *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/*
 * What makes `text` of `base`, by the lines of `base`, from 1 on: "N=TEXT" replaces a line, "N-"
 * removes it, and "N+TEXT" adds one behind it.
 */
static inline void golden_differ(const char *base, const char *text, struct strbuf *out)
{
	static struct golden_line a[GOLDEN_LINES], b[GOLDEN_LINES];
	/* The longest common subsequence from these two lines on. */
	static unsigned short common[GOLDEN_LINES + 1][GOLDEN_LINES + 1];
	size_t n = golden_split(base, a), m = golden_split(text, b);

	for (size_t i = n + 1; i-- > 0;)
		for (size_t k = m + 1; k-- > 0;) {
			if (i == n || k == m)
				common[i][k] = 0;
			else if (golden_same(&a[i], &b[k]))
				common[i][k] = common[i + 1][k + 1] + 1;
			else
				common[i][k] = common[i + 1][k] > common[i][k + 1]
						       ? common[i + 1][k]
						       : common[i][k + 1];
		}
	for (size_t i = 0, k = 0; i < n || k < m; i++, k++) {
		size_t line = i, at = k;

		while ((i < n || k < m) && !(i < n && k < m && golden_same(&a[i], &b[k]))) {
			if (k == m || (i < n && common[i + 1][k] >= common[i][k + 1]))
				i++;
			else
				k++;
		}
		for (; line < i && at < k; at++)
			strbuf_printf(out, "%zu=%.*s\n", ++line, (int)b[at].len, b[at].text);
		while (line < i)
			strbuf_printf(out, "%zu-\n", ++line);
		for (; at < k; at++)
			strbuf_printf(out, "%zu+%.*s\n", line, (int)b[at].len, b[at].text);
	}
}

/* A golden file that begins with "like NAME": that line, and what makes `data` of that one. */
static inline void golden_like(const char *want, const char *data, struct strbuf *out)
{
	size_t head = strcspn(want, "\n") + 1, len;
	cleanup_free char *base = NULL;
	char path[512];

	snprintf(path, sizeof(path), "%s/golden/%.*s", TESTS_DIR, (int)(head - sizeof(GOLDEN_LIKE)),
		 want + strlen(GOLDEN_LIKE));
	base = golden_read(path, &len);
	strbuf_put(out, want, head);
	golden_differ(base, data, out);
}

/* `data` is terminated, too. */
static inline void golden_compare(const char *name, const char *data, size_t len, const char *file,
				  int line)
{
	cleanup(strbuf_done) struct strbuf made = {};
	cleanup_free char *want = NULL;
	bool update = getenv("UPDATE_GOLDEN");
	char path[512];
	size_t want_len = 0, at = 0, row = 1;

	snprintf(path, sizeof(path), "%s/golden/%s", TESTS_DIR, name);
	want = update && access(path, F_OK) ? strdup("") : golden_read(path, &want_len);
	if (strncmp(want, GOLDEN_LIKE, strlen(GOLDEN_LIKE)) == 0) {
		golden_like(want, data, &made);
		data = strbuf_str(&made);
		len = made.len;
	}
	if (update) {
		golden_write(path, data, len);
		return;
	}
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
