// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * FUZZ_TARGET FILE|DIRECTORY…: runs a fuzz target without libFuzzer on existing inputs: the corpus
 * as an ordinary test, with any compiler, sanitizer or valgrind. Prints one "ok" for all, or "not
 * ok" with the input that failed.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>

#include "base/cleanup.h"
#include "fuzz.h"

static const char *name;
static char current[PATH_MAX] = "the empty input"; /* the current input */

static void tell_input(void)
{
	dprintf(STDOUT_FILENO, "not ok %s: broken by %s: %s\n", name, current, fuzz_property);
}

static void on_abort(int signal)
{
	(void)signal;
	tell_input();
}

/* A sanitizer ends the program by itself. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

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
