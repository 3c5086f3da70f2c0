// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parses files about the machine: /proc/meminfo, zram's mm_stat, /proc/loadavg, /proc/swaps,
 * /proc/pressure/memory, /proc/vmstat and /proc/net/sockstat.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "model/system.h"
#include "proc/keyed.h"
#include "proc/lines.h"

/* ---- meminfo ---- */

static const struct text_part names[] = {
#define ZMEM_MEMINFO(id, number, name) [MEMINFO_##id] = KEYED_NAME(name),
#include "model/meminfo.def"
#undef ZMEM_MEMINFO
};
_Static_assert(ARRAY_SIZE(names) == MEMINFO_COUNTERS, "a counter without a name");
_Static_assert(MEMINFO_COUNTERS <= 32, "a counter without a bit");

/*
 * Lines that are no part of RAM, or that only count pages of the lines above (fs/proc/meminfo.c,
 * arch_report_meminfo()). ShadowCallStack is of vmalloc (kernel/scs.c).
 */
static const char elsewhere[] =
	"HighTotal HighFree LowTotal LowFree MmapCopy Writeback Slab "
	"NFS_Unstable Quicklists VmallocTotal VmallocChunk AnonHugePages "
	"ShmemHugePages ShmemPmdMapped FileHugePages FilePmdMapped CmaTotal CmaFree Unaccepted "
	"Hugepagesize EarlyMemtestBad ShadowCallStack";
/* All lines that begin so are no part of RAM, either. */
static const char elsewhere_begins[] = "Active,Inactive,DirectMap";

static void add_unplaced(const struct keyed_line *line, struct meminfo *m)
{
	struct meminfo_line *l = &m->unplaced[m->unplaced_count];

	if (m->unplaced_count == MEMINFO_UNPLACED_MAX || !line->key.len ||
	    part_lists(part_of(elsewhere), ' ', line->key) ||
	    part_begins_any(line->key, elsewhere_begins) || !keyed_bytes(line, &l->bytes))
		return;
	snprintf(l->name, sizeof(l->name), "%.*s", (int)line->key.len, line->key.s);
	m->unplaced_count++;
}

struct meminfo meminfo_read(int proc_fd)
{
	char text[16 * 1024];
	ssize_t len = file_read(proc_fd, "meminfo", text, sizeof(text));
	struct meminfo m = {};

	if (len > 0)
		meminfo_parse(text, (size_t)len, &m);
	return m;
}

void meminfo_parse(const char *text, size_t len, struct meminfo *ret)
{
	struct meminfo meminfo = {0};
	struct keyed_counters counters = {names, MEMINFO_COUNTERS, .value = meminfo.value};
	struct keyed_line line;

	if (len)
		for (const char *pos = text, *end = text + len; keyed_next(&pos, end, &line);)
			if (!keyed_counter(&line, &counters))
				add_unplaced(&line, &meminfo);
	meminfo.have = counters.have;
	*ret = meminfo;
}

/* ---- zram ---- */

int zram_stat_parse(const char *text, size_t len, struct zram_stat *ret)
{
	uint64_t v[3];
	const char *pos = text, *end;

	if (!len)
		return -EINVAL;
	end = text + len;
	for (unsigned i = 0; i < ARRAY_SIZE(v); i++)
		/* A number at the end of the text may be incomplete. */
		if (!scan_u64(&pos, end, &v[i]) || pos == end || (*pos != ' ' && *pos != '\n'))
			return -EINVAL;
	*ret = (struct zram_stat){.stored = v[0], .compressed = v[1], .used = v[2]};
	return 0;
}

/* zram0 … zram999…; false for partitions and other names. */
static bool zram_number(const char *name, uint64_t *ret)
{
	return strncmp(name, "zram", 4) == 0 &&
	       parse_u64(name + 4, strlen(name + 4), UINT32_MAX, ret) == 0;
}

/* Reads one device. Returns 1, 0 if it is not initialised or went away, or a negative errno. */
static int zram_read(int dirfd, const char *name, struct zram_stat *ret_stat)
{
	char path[NAME_MAX + sizeof("/initstate")];
	char text[256];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/initstate", name);
	n = file_read(dirfd, path, text, sizeof(text));
	if (n >= 0 && text[0] != '1')
		return 0;
	if (n >= 0) {
		snprintf(path, sizeof(path), "%s/mm_stat", name);
		n = file_read(dirfd, path, text, sizeof(text));
	}
	if (n < 0)
		return n == -ENOENT || n == -ENODEV ? 0 : (int)n;
	n = zram_stat_parse(text, (size_t)n, ret_stat);
	return n < 0 ? (int)n : 1;
}

/*
 * The next device after number `after`. The directory is read again for each of the few devices,
 * which takes no memory.
 */
static int zram_next(int dirfd, int64_t after, uint64_t *ret)
{
	_Alignas(struct dirent) char buf[4096];
	bool found = false;
	ssize_t len;

	if (lseek(dirfd, 0, SEEK_SET) < 0)
		return -errno;
	/* struct dirent is the kernel's linux_dirent64 on 64-bit machines. */
	while ((len = syscall(SYS_getdents64, dirfd, buf, sizeof(buf))) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct dirent *entry = (const struct dirent *)(buf + at);
			uint64_t number;

			at += entry->d_reclen;
			if (!zram_number(entry->d_name, &number) || (int64_t)number <= after ||
			    (found && number > *ret))
				continue;
			*ret = number;
			found = true;
		}
	}
	return len < 0 ? -errno : found;
}

int zram_each(const char *sys_block,
	      void (*fn)(void *arg, const char *name, const struct zram_stat *stat), void *arg)
{
	cleanup_close int dirfd = open(sys_block, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t number = 0;
	int64_t after = -1;
	int result = 0, r;

	if (dirfd < 0)
		return -errno;
	while ((r = zram_next(dirfd, after, &number)) > 0) {
		struct zram_stat stat;
		char name[32];

		snprintf(name, sizeof(name), "zram%" PRIu64, number);
		after = (int64_t)number;
		r = zram_read(dirfd, name, &stat);
		if (r > 0)
			fn(arg, name, &stat);
		else if (r < 0 && result == 0)
			result = r;
	}
	return r < 0 ? r : result;
}

/* ---- loadavg ---- */

uint64_t loadavg_parse_last_pid(const char *text, size_t len)
{
	const char *pos = len ? memrchr(text, ' ', len) : NULL;
	uint64_t pid;

	return pos && scan_u64(&pos, text + len, &pid) ? pid : 0;
}

uint64_t loadavg_parse_tasks(const char *text, size_t len)
{
	const char *slash = len ? memchr(text, '/', len) : NULL, *end = text + len;
	const char *pos = slash ? slash + 1 : NULL;
	uint64_t tasks;

	/* No blanks before it: the next number is another one. */
	if (!pos || pos == end || *pos < '0' || *pos > '9')
		return 0;
	return scan_u64(&pos, end, &tasks) ? tasks : 0;
}

/*
 * ---- swaps ----
 *
 * A line of headings, then "name kind size used priority", sizes in kB, names escaped (swap_show(),
 * mm/swapfile.c).
 */

#define SWAPS_HEADING "Filename"

/* Lines with larger sizes are ignored: their sums would overflow. */
#define KB_MAX ((uint64_t)1 << 52)

static enum swap_kind swap_kind(struct text_part word)
{
	if (part_is(word, "partition"))
		return SWAP_PARTITION;
	return part_is(word, "file") ? SWAP_FILE : SWAP_OTHER;
}

static bool parse_kb(struct text_part word, uint64_t *ret_bytes)
{
	if (parse_u64(word.s, word.len, KB_MAX, ret_bytes) < 0)
		return false;
	*ret_bytes *= 1024;
	return true;
}

static bool parse_priority(struct text_part word, int *ret)
{
	bool below = part_begins(word, "-");
	uint64_t value;

	if (parse_u64(word.s + below, word.len - below, INT_MAX, &value) < 0)
		return false;
	*ret = below ? -(int)value : (int)value;
	return true;
}

static bool parse_swap(struct text_part line, struct swap_device *d)
{
	struct text_part name = line_word(&line);
	size_t len = octal_decode(name, d->name, sizeof(d->name));

	d->name_cut = len > SWAP_NAME_MAX;
	d->kind = swap_kind(line_word(&line));
	return len && parse_kb(line_word(&line), &d->size) &&
	       parse_kb(line_word(&line), &d->used) &&
	       parse_priority(line_word(&line), &d->priority) && !line_word(&line).len;
}

int swaps_parse(const char *text, size_t len, struct swap_device *ret, size_t max)
{
	struct text_part rest = {text, len}, line;
	size_t count = 0;

	if (!part_begins(rest, SWAPS_HEADING))
		return -EINVAL;
	line_next(&rest, &line);
	while (count < max && line_next(&rest, &line)) {
		struct swap_device d = {};

		if (parse_swap(line, &d))
			ret[count++] = d;
	}
	return (int)count;
}

/* ---- memory pressure ---- */

/* "0.12" in hundredths, which fills the word behind the key. */
static bool parse_average(struct text_part word, const char *key, uint32_t *ret)
{
	uint64_t number;
	unsigned thousandths;

	if (!part_cut_prefix(&word, key) ||
	    parse_thousandths(word.s, word.len, &number, &thousandths) != (int)word.len ||
	    number > UINT32_MAX / 100 - 1)
		return false;
	*ret = (uint32_t)number * 100 + thousandths / 10;
	return true;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0" (psi_show(), kernel/sched/psi.c). */
static bool parse_pressure(struct text_part line, const char *kind, uint32_t *ret_avg10,
			   uint64_t *ret_total_us)
{
	struct text_part total;
	uint32_t ignored;

	if (!part_is(part_split(&line, ' '), kind) ||
	    !parse_average(part_split(&line, ' '), "avg10=", ret_avg10) ||
	    !parse_average(part_split(&line, ' '), "avg60=", &ignored) ||
	    !parse_average(part_split(&line, ' '), "avg300=", &ignored))
		return false;
	/* Later kernels may append words. */
	total = part_split(&line, ' ');
	return part_cut_prefix(&total, "total=") &&
	       parse_u64(total.s, total.len, UINT64_MAX, ret_total_us) == 0;
}

int memory_pressure_parse(const char *text, size_t len, struct memory_pressure *ret)
{
	struct text_part rest = {text, len}, some, full;
	struct memory_pressure p = {.known = true};

	/* A line without its end may be incomplete. */
	if (!len || text[len - 1] != '\n')
		return -EINVAL;
	some = part_split(&rest, '\n');
	full = part_split(&rest, '\n');
	if (!parse_pressure(some, "some", &p.some_avg10, &p.some_total_us) ||
	    !parse_pressure(full, "full", &p.full_avg10, &p.full_total_us))
		return -EINVAL;
	*ret = p;
	return 0;
}

/* ---- vmstat: lines "name number" ---- */

/* The number behind the name, in units of so many bytes. */
static bool vmstat_bytes(const char *text, const char *name, uint32_t unit, uint64_t *ret)
{
	uint64_t number;

	return line_number(text, name, &number) && !__builtin_mul_overflow(number, unit, ret);
}

int swap_activity_parse(const char *text, uint32_t page_size, struct swap_activity *ret)
{
	struct swap_activity a = {.known = true};

	if (!vmstat_bytes(text, "pswpin ", page_size, &a.in) ||
	    !vmstat_bytes(text, "pswpout ", page_size, &a.out))
		return -EINVAL;
	*ret = a;
	return 0;
}

int oom_kills_parse(const char *text, struct oom_kills *ret)
{
	uint64_t count;

	if (!line_number(text, "oom_kill ", &count))
		return -EINVAL;
	*ret = (struct oom_kills){true, count};
	return 0;
}

int refaults_parse(const char *text, uint32_t page_size, uint64_t *ret)
{
	/* Until Linux 5.8 one line has both. */
	static const char *const name[] = {"workingset_refault_anon ", "workingset_refault_file ",
					   "workingset_refault "};
	uint64_t sum = 0, bytes;
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(name); i++) {
		if (!vmstat_bytes(text, name[i], page_size, &bytes))
			continue;
		known = true;
		if (__builtin_add_overflow(sum, bytes, &sum))
			return -EINVAL;
	}
	if (!known)
		return -EINVAL;
	*ret = sum;
	return 0;
}

int scans_parse(const char *text, uint32_t page_size, uint64_t *ret)
{
	return vmstat_bytes(text, "pgscan_kswapd ", page_size, ret) ? 0 : -EINVAL;
}

/* ---- dentry-state: numbers, of which the fifth is of negative ones ---- */

/* struct dentry of 64-bit kernels, in a slab of its own (include/linux/dcache.h). */
#define DENTRY_BYTES 192

int dentries_parse(const char *text, size_t len, struct dentries *ret)
{
	struct text_part rest = {text, len}, part;
	uint64_t number;

	for (int i = 0; i < 5; i++) {
		if (!rest.len)
			return -EINVAL;
		part = part_split(&rest, '\t');
		if (parse_u64(part.s, part.len, UINT64_MAX / DENTRY_BYTES, &number) < 0)
			return -EINVAL;
	}
	*ret = (struct dentries){true, number * DENTRY_BYTES};
	return 0;
}

/* ---- sockstat: lines "TCP: inuse 3 orphan 0 tw 0 alloc 4 mem 1" ---- */

/* Adds the number behind `key`, in units of `unit` bytes. */
static bool add_memory(struct text_part line, const char *key, uint64_t unit, uint64_t *sum)
{
	uint64_t v;

	while (line.len) {
		bool found = part_is(part_split(&line, ' '), key);
		struct text_part value = part_split(&line, ' ');

		if (found)
			return parse_u64(value.s, value.len, UINT64_MAX / 4 / unit, &v) == 0 &&
			       !__builtin_add_overflow(*sum, v * unit, sum);
	}
	return false;
}

int sockstat_parse(const char *text, size_t len, uint32_t page_size, struct socket_memory *ret)
{
	const struct {
		const char *protocol, *key;
		uint64_t unit;
	} values[] = {
		{"TCP:", "mem", page_size}, {"UDP:", "mem", page_size}, {"FRAG:", "memory", 1}};
	struct text_part rest = {text, len}, line;
	struct socket_memory sockets = {};

	while (line_next(&rest, &line)) {
		struct text_part protocol = part_split(&line, ' ');

		for (size_t i = 0; i < ARRAY_SIZE(values); i++)
			if (part_is(protocol, values[i].protocol) &&
			    add_memory(line, values[i].key, values[i].unit, &sockets.bytes))
				sockets.known = true;
	}
	if (!sockets.known)
		return -EINVAL;
	*ret = sockets;
	return 0;
}
