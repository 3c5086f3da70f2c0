// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * load_objects [-m | -p] FILE…: loads each BPF object by libbpf and removes it again. Prints how
 * many instructions the verifier looked at in all its programs, and how long that took, or why the
 * kernel refuses it. -p: prints how many loads of its programs may fault (PROBE_MEM), each of which
 * the kernel replaces by several instructions and an entry in a table. An object that needs more
 * than INSTRUCTIONS_MOST instructions takes too long on slow machines, and a later kernel,
 * which follows more paths, may refuse it: that is "not ok". -m: as on a kernel without the members
 * of zmem/members.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "load/kernel_members.h"

#define INSTRUCTIONS_MOST 75000
#define LOG_SIZE	  ((16 << 20) - 1)
/* include/linux/bpf_verifier.h: BPF_LOG_LEVEL2, which shows registers, and BPF_LOG_STATS. */
#define REGISTERS 2
#define STATS	  4
#define TOO_LARGE "BPF program is too large. Processed "

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

/* True if the log's line "N: (79) r1 = *(u64 *)(r2 +8) ; R2=…" reads by a pointer into a type. */
static bool is_probed(const char *line, const char *end, unsigned *ret_number)
{
	char address[8], reg[10];
	const char *state;
	int read = 0;

	if (sscanf(line, "%u: (%*2x) %*[rw0-9] = *(%*[us0-9] *)(%7[r0-9]%n", ret_number, address,
		   &read) != 2 ||
	    !read)
		return false;
	snprintf(reg, sizeof(reg), " R%s", address + 1);
	state = memmem(line, (size_t)(end - line), reg, strlen(reg));
	if (!state)
		return false;
	state += strlen(reg);
	state += strspn(state, "_wrs");
	return *state == '=' &&
	       (!strncmp(state, "=untrusted_ptr_", 15) ||
		!strncmp(state, "=rdonly_untrusted_mem", 21) || !strncmp(state, "=ptr_", 5)) &&
	       strncmp(state, "=ptr_bpf_iter", 13) != 0;
}

/* Instructions are visited many times and counted once. */
static unsigned long count_probed(const char *log)
{
	static bool seen[1 << 16];
	unsigned long count = 0;
	unsigned number;

	memset(seen, 0, sizeof(seen));
	for (const char *line = log; *line;) {
		const char *end = line + strcspn(line, "\n");

		if (is_probed(line, end, &number) && number < sizeof(seen) && !seen[number]) {
			seen[number] = true;
			count++;
		}
		line = *end ? end + 1 : end;
	}
	return count;
}

static unsigned long milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long)t.tv_sec * 1000 + (unsigned long)t.tv_nsec / 1000000;
}

/* Every program has a log of its own: those before the one that is refused counted, too. */
static int load(struct bpf_object *object, bool members, unsigned level,
		unsigned long *ret_instructions, unsigned long *ret_probed)
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
		bpf_program__set_log_level(p, level);
		count++;
	}
	r = members ? kernel_members_set(object) : 0;
	if (r == 0)
		r = bpf_object__load(object);
	*ret_instructions = *ret_probed = 0;
	for (size_t i = 0; i < count; i++) {
		*ret_instructions += strstr(logs[i], TOO_LARGE) ? sum_behind(logs[i], TOO_LARGE)
								: sum_behind(logs[i], "processed ");
		*ret_probed += count_probed(logs[i]);
		free(logs[i]);
	}
	return r;
}

static bool has_function(const struct btf *kernel, const char *name)
{
	return kernel && btf__find_by_name_kind(kernel, name, BTF_KIND_FUNC) > 0;
}

/*
 * Some machines refuse all programs on functions (fentry, fexit), and some functions are not in
 * each kernel: the program does without them.
 */
static struct bpf_object *open_object(const char *path, bool functions)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct btf *kernel = object ? btf__load_vmlinux_btf() : NULL;
	struct bpf_program *p;

	if (!object)
		return NULL;
	bpf_object__for_each_program(p, object)
	{
		const char *section = bpf_program__section_name(p), *name = strchr(section, '/');

		if ((strncmp(section, "fentry/", 7) == 0 || strncmp(section, "fexit/", 6) == 0) &&
		    (!functions || !has_function(kernel, name + 1)))
			bpf_program__set_autoload(p, false);
	}
	btf__free(kernel);
	return object;
}

static int look_at(const char *path, bool members, unsigned level)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int length = (int)strcspn(name, "."), r = 0;
	unsigned long instructions = 0, probed = 0, since = milliseconds(), took;
	struct bpf_object *object = NULL;

	for (int functions = 1; functions >= 0 && (functions || r == -EPERM); functions--) {
		bpf_object__close(object);
		object = open_object(path, functions);
		r = object ? load(object, members, level, &instructions, &probed) : -errno;
	}
	if (!object) {
		printf("not ok objects: %.*s: %s\n", length, name, strerror(errno));
		return 1;
	}
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
	else if (level & REGISTERS)
		printf("ok objects: %.*s: %lu loads may fault\n", length, name, probed);
	else
		printf("ok objects: %.*s: loads, %lu instructions in %lu ms\n", length, name,
		       instructions, took);
	return 0;
}

int main(int argc, char **argv)
{
	bool probed = argc > 1 && strcmp(argv[1], "-p") == 0;
	bool none = argc > 1 && strcmp(argv[1], "-m") == 0;
	int failed = 0;

	libbpf_set_print(discard);
	for (int i = 1 + (probed || none); i < argc; i++)
		failed |= look_at(argv[i], !none, probed ? STATS | REGISTERS : STATS);
	return failed;
}
