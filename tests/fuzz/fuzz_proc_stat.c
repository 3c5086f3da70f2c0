// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/PID/stat: parsed values, printed and parsed again, are the same. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

#include "fuzz.h"
#include "proc/status.h"

static size_t print_stat(const struct proc_stat *s, char *text, size_t cap)
{
	return (size_t)snprintf(text, cap,
				"%d (%s) %c %d 1 1 0 -1 %u 0 0 %" PRIu64
				" 0 0 0 0 0 20 0 %u 0 %" PRIu64 " %" PRIu64 " -1 0 0 0 %" PRIu64
				" 0\n",
				s->pid, s->comm, s->state, s->ppid, s->flags, s->majflt, s->threads,
				s->start_ticks, s->vsize, s->start_stack);
}

/* Field `number` (from 4) behind the last ')', as strtoull() reads it. */
static uint64_t field(const uint8_t *data, size_t size, int number)
{
	char *copy = fuzz_string(data, size), *p;
	uint64_t value;

	for (size_t i = 0; i < size; i++)
		copy[i] = copy[i] ? copy[i] : 'x';
	p = strrchr(copy, ')');
	FUZZ_CHECK(p);
	for (p += 2, number -= 3; number; number--)
		p += strcspn(p, " \n") + 1;
	value = strtoull(p, NULL, 10);
	free(copy);
	return value;
}

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_stat stat = {.pid = 42}, again;
	char text[512];
	size_t len;
	int r = proc_stat_parse((const char *)data, size, &stat);

	if (r < 0) {
		FUZZ_CHECK(r == -EINVAL && stat.pid == 42);
		return 0;
	}
	FUZZ_CHECK(stat.pid >= 0 && stat.ppid >= 0 && isalpha((unsigned char)stat.state));
	FUZZ_CHECK(memchr(stat.comm, '\0', sizeof(stat.comm)));
	FUZZ_CHECK(memmem(data, size, stat.comm, strlen(stat.comm)));
	FUZZ_CHECK(
		(uint64_t)stat.ppid == field(data, size, 4) && stat.flags == field(data, size, 9) &&
		stat.majflt == field(data, size, 12) && stat.threads == field(data, size, 20) &&
		stat.start_ticks == field(data, size, 22) && stat.vsize == field(data, size, 23) &&
		stat.start_stack == field(data, size, 28));
	len = print_stat(&stat, text, sizeof(text));
	FUZZ_CHECK(len < sizeof(text) && proc_stat_parse(text, len, &again) == 0);
	FUZZ_CHECK(!strcmp(stat.comm, again.comm) && stat.pid == again.pid &&
		   stat.state == again.state && stat.ppid == again.ppid &&
		   stat.flags == again.flags && stat.majflt == again.majflt &&
		   stat.threads == again.threads && stat.start_ticks == again.start_ticks &&
		   stat.vsize == again.vsize && stat.start_stack == again.start_stack);
	return 0;
}
