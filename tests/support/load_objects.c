// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * load_objects FILE…: loads each BPF object by libbpf and removes it again. Prints how many
 * instructions the verifier looked at in all its programs, and how long that took, or why the
 * kernel refuses it. An object that needs more than INSTRUCTIONS_MOST instructions takes too long
 * on slow machines, and a later kernel, which follows more paths, may refuse it: that is "not ok".
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define INSTRUCTIONS_MOST 50000
#define LOG_SIZE	  (1 << 20)
#define STATS		  4 /* BPF_LOG_STATS (include/linux/bpf_verifier.h) */
#define TOO_LARGE	  "BPF program is too large. Processed "

static int discard(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

/* The sum of the numbers behind `word` in the text. */
static unsigned long sum_behind(const char *text, const char *word)
{
	unsigned long sum = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		sum += strtoul(text + strlen(word), NULL, 10);
	return sum;
}

static unsigned long milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long)t.tv_sec * 1000 + (unsigned long)t.tv_nsec / 1000000;
}

/* Every program has a log of its own: those before the one that is refused counted, too. */
static int load(struct bpf_object *object, unsigned long *ret_instructions)
{
	struct bpf_program *p;
	char *logs[64] = {};
	size_t count = 0;
	int r;

	bpf_object__for_each_program(p, object)
	{
		if (count == sizeof(logs) / sizeof(logs[0]))
			break;
		logs[count] = calloc(1, LOG_SIZE);
		if (!logs[count] || bpf_program__set_log_buf(p, logs[count], LOG_SIZE) < 0)
			exit(2);
		bpf_program__set_log_level(p, STATS);
		count++;
	}
	r = bpf_object__load(object);
	*ret_instructions = 0;
	for (size_t i = 0; i < count; i++) {
		*ret_instructions += strstr(logs[i], TOO_LARGE) ? sum_behind(logs[i], TOO_LARGE)
								: sum_behind(logs[i], "processed ");
		free(logs[i]);
	}
	return r;
}

static int look_at(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int length = (int)strcspn(name, "."), r;
	unsigned long instructions, since = milliseconds(), took;
	struct bpf_object *object = bpf_object__open_file(path, NULL);

	if (!object) {
		printf("not ok objects: %.*s: %s\n", length, name, strerror(errno));
		return 1;
	}
	r = load(object, &instructions);
	took = milliseconds() - since;
	bpf_object__close(object);
	if (instructions > INSTRUCTIONS_MOST) {
		printf("not ok objects: %.*s: more than %d instructions: %lu in %lu ms\n", length,
		       name, INSTRUCTIONS_MOST, instructions, took);
		return 1;
	}
	if (r < 0)
		printf("ok objects: %.*s: is not for this kernel (%s)\n", length, name,
		       strerror(-r));
	else
		printf("ok objects: %.*s: loads, %lu instructions in %lu ms\n", length, name,
		       instructions, took);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	libbpf_set_print(discard);
	for (int i = 1; i < argc; i++)
		failed |= look_at(argv[i]);
	return failed;
}
