// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * FUZZ_TARGET FILE|DIRECTORY…: runs a fuzz target without libFuzzer on existing inputs: the corpus
 * as an ordinary test, with any compiler or sanitizer, and on changes of each input that are the
 * same every run (fuzz_changes). Prints one "ok" for all, or "not ok" with the input that failed.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>

#include "base/cleanup.h"
#include "fuzz.h"

static const char *name;
static char current[PATH_MAX] = "the empty input"; /* the current input */
static unsigned change;				   /* and its current change, from 1 */

static void tell_input(void)
{
	dprintf(STDOUT_FILENO, "not ok %s: broken by %s, change %u: %s\n", name, current, change,
		fuzz_property);
}

static void on_abort(int signal)
{
	(void)signal;
	tell_input();
}

/* A sanitizer ends the program by itself. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#define SPAN  24
#define SMALL 3000

/* Makes one change at a random place; returns the new length. `text` has room for SPAN more. */
static size_t change_once(uint8_t *text, size_t len, uint64_t *seed)
{
	static const char odd[] = "\n:0915 \t()\\k/B.-,+\r_\0\xff";
	size_t at = next_random(seed) % (len + 1), span = next_random(seed) % SPAN;

	if (span > len - at)
		span = len - at;
	switch (next_random(seed) % 6) {
	case 0:
	case 1: /* one byte, often one that has a meaning */
		if (at < len)
			text[at] = next_random(seed) % 2
					   ? (uint8_t)odd[next_random(seed) % (sizeof(odd) - 1)]
					   : (uint8_t)next_random(seed);
		return len;
	case 2:
		memmove(text + at, text + at + span, len - at - span);
		return len - span;
	case 3: /* duplicated */
		memmove(text + at + span, text + at, len - at);
		return len + span;
	case 4: /* digits inserted */
		memmove(text + at + span, text + at, len - at);
		for (size_t i = 0; i < span; i++)
			text[at + i] = (uint8_t)('0' + next_random(seed) % 10);
		return len + span;
	default: /* cut off, but not always early */
		return next_random(seed) % 4 ? len : at;
	}
}

static void run_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);

	FUZZ_CHECK(!size || copy);
	change++;
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

/* Each byte of a small input in three ways, then fuzz_changes at random. */
static void run_changes(const uint8_t *data, size_t size)
{
	static const uint8_t flip[] = {1, 0x80, 0xff};
	uint64_t seed = 0x9e3779b97f4a7c15u;
	uint8_t *work = malloc(size + 4 * SPAN);

	FUZZ_CHECK(work);
	for (size_t i = 0; size < SMALL && i < size * sizeof(flip); i++) {
		memcpy(work, data, size);
		work[i / sizeof(flip)] ^= flip[i % sizeof(flip)];
		run_copy(work, size);
	}
	for (unsigned i = 0; i < fuzz_changes; i++) {
		size_t len = size;

		memcpy(work, data, size);
		for (uint64_t left = 1 + next_random(&seed) % 4; left; left--)
			len = change_once(work, len, &seed);
		run_copy(work, len);
	}
	change = 0;
	free(work);
}

static bool run_file(const char *path)
{
	cleanup_fclose FILE *file = fopen(path, "re");
	cleanup_free uint8_t *data = NULL;
	long size = -1;

	snprintf(current, sizeof(current), "%s", path);
	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size < 0 || fseek(file, 0, SEEK_SET) != 0)
		return false;
	/* A copy of exactly the input's size. */
	data = malloc((size_t)size);
	if (size && (!data || fread(data, 1, (size_t)size, file) != (size_t)size))
		return false;
	LLVMFuzzerTestOneInput(data, (size_t)size);
	if (&fuzz_changes && size)
		run_changes(data, (size_t)size);
	return true;
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Runs all files of a directory. Returns how many, or -1. */
static int run_directory(const char *path)
{
	struct dirent **entry;
	int count = scandir(path, &entry, not_hidden, alphasort);
	bool good = true;

	if (count < 0)
		return -1;
	for (int i = 0; i < count; i++) {
		char file[PATH_MAX];

		snprintf(file, sizeof(file), "%s/%s", path, entry[i]->d_name);
		good = good && run_file(file);
		free(entry[i]);
	}
	free(entry);
	return good ? count : -1;
}

int main(int argc, char **argv)
{
	int total = 0;

	name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	signal(SIGABRT, on_abort);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(tell_input);
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		int count = run_directory(argv[i]);

		if (count < 0 && errno == ENOTDIR)
			count = run_file(argv[i]) ? 1 : -1;
		if (count < 0) {
			printf("not ok %s: %s cannot be read: %s\n", name, argv[i],
			       strerror(errno));
			return 1;
		}
		total += count;
	}
	if (!total) {
		printf("not ok %s: it was given no input\n", name);
		return 1;
	}
	printf("ok %s: %d inputs\n", name, total);
	return 0;
}
