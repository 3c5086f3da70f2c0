// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parses files about the machine: /proc/meminfo, zram's mm_stat, /proc/loadavg, /proc/swaps,
 * /proc/pressure/memory, /proc/vmstat, /proc/net/sockstat and /proc/zoneinfo.
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

/* ---- meminfo ---- */

static const struct keyed_name names[] = {
#define ZMEM_MEMINFO(id, name) [MEMINFO_##id] = KEYED_NAME(name),
#include "model/meminfo.def"
#undef ZMEM_MEMINFO
};
_Static_assert(ARRAY_SIZE(names) == MEMINFO_COUNTERS, "a counter without a name");
_Static_assert(MEMINFO_COUNTERS <= 32, "a counter without a bit");

/*
 * Lines that are no part of RAM, or that only count pages of the lines above (fs/proc/meminfo.c,
 * arch_report_meminfo()). A name that ends in '*' stands for all that begin so.
 */
static const struct keyed_name elsewhere[] = {
	KEYED_NAME("Active*"),
	KEYED_NAME("Inactive*"),
	KEYED_NAME("Unevictable"),
	KEYED_NAME("Mlocked"),
	KEYED_NAME("HighTotal"),
	KEYED_NAME("HighFree"),
	KEYED_NAME("LowTotal"),
	KEYED_NAME("LowFree"),
	KEYED_NAME("MmapCopy"),
	KEYED_NAME("Dirty"),
	KEYED_NAME("Writeback"),
	KEYED_NAME("Slab"),
	KEYED_NAME("NFS_Unstable"),
	KEYED_NAME("Quicklists"),
	KEYED_NAME("CommitLimit"),
	KEYED_NAME("Committed_AS"),
	KEYED_NAME("VmallocTotal"),
	KEYED_NAME("VmallocChunk"),
	KEYED_NAME("AnonHugePages"),
	KEYED_NAME("ShmemHugePages"),
	KEYED_NAME("ShmemPmdMapped"),
	KEYED_NAME("FileHugePages"),
	KEYED_NAME("FilePmdMapped"),
	KEYED_NAME("CmaTotal"),
	KEYED_NAME("CmaFree"),
	KEYED_NAME("Unaccepted"),
	KEYED_NAME("Hugepagesize"),
	KEYED_NAME("DirectMap*"),
	KEYED_NAME("EarlyMemtestBad"),
	KEYED_NAME("ShadowCallStack"), /* of vmalloc (kernel/scs.c) */
};

static bool is_elsewhere(const struct keyed_line *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++) {
		const struct keyed_name *name = &elsewhere[i];
		bool begins = name->s[name->len - 1] == '*';
		size_t len = begins ? name->len - 1 : name->len;

		if ((begins ? line->key_len >= len : line->key_len == len) &&
		    memcmp(line->key, name->s, len) == 0)
			return true;
	}
	return false;
}

static void add_unplaced(const struct keyed_line *line, struct meminfo *m)
{
	struct meminfo_line *l = &m->unplaced[m->unplaced_count];

	if (m->unplaced_count == MEMINFO_UNPLACED_MAX || !line->key_len || is_elsewhere(line) ||
	    !keyed_bytes(line, &l->bytes))
		return;
	snprintf(l->name, sizeof(l->name), "%.*s", (int)line->key_len, line->key);
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

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next word of the line, NULL if there is none. */
static const char *next_word(const char **pos, const char *end, size_t *ret_len)
{
	const char *word;

	while (*pos < end && is_blank(**pos))
		++*pos;
	word = *pos;
	while (*pos < end && !is_blank(**pos))
		++*pos;
	*ret_len = (size_t)(*pos - word);
	return *ret_len ? word : NULL;
}

/* False for a name with a NUL, which the kernel never writes. */
static bool copy_name(const char *s, size_t len, struct swap_device *d)
{
	size_t n = 0;

	for (size_t i = 0; i < len; n++) {
		char c;

		i += octal_byte(s + i, len - i, &c);
		if (c == '\0')
			return false;
		if (n < SWAP_NAME_MAX)
			d->name[n] = c;
	}
	d->name_cut = n > SWAP_NAME_MAX;
	d->name[d->name_cut ? SWAP_NAME_MAX : n] = '\0';
	return true;
}

static enum swap_kind swap_kind(const char *s, size_t len)
{
	if (len == 9 && memcmp(s, "partition", 9) == 0)
		return SWAP_PARTITION;
	return len == 4 && memcmp(s, "file", 4) == 0 ? SWAP_FILE : SWAP_OTHER;
}

static bool next_number(const char **pos, const char *end, uint64_t max, uint64_t *ret)
{
	size_t len;
	const char *word = next_word(pos, end, &len);

	return word && parse_u64(word, len, max, ret) == 0;
}

static bool next_priority(const char **pos, const char *end, int *ret)
{
	size_t len;
	const char *word = next_word(pos, end, &len);
	bool below = word && *word == '-';
	uint64_t value;

	if (!word || parse_u64(word + below, len - below, INT_MAX, &value) < 0)
		return false;
	*ret = below ? -(int)value : (int)value;
	return true;
}

static bool parse_swap(const char *pos, const char *end, struct swap_device *d)
{
	size_t name_len, kind_len, len;
	const char *name = next_word(&pos, end, &name_len);
	const char *kind = next_word(&pos, end, &kind_len);
	uint64_t size, used;

	if (!name || !kind || !next_number(&pos, end, KB_MAX, &size) ||
	    !next_number(&pos, end, KB_MAX, &used) || !next_priority(&pos, end, &d->priority) ||
	    next_word(&pos, end, &len))
		return false;
	d->kind = swap_kind(kind, kind_len);
	d->size = size * 1024;
	d->used = used * 1024;
	return copy_name(name, name_len, d);
}

int swaps_parse(const char *text, size_t len, struct swap_device *ret, size_t max)
{
	const char *pos = text, *end, *newline;
	size_t count = 0;

	if (len < sizeof(SWAPS_HEADING) - 1 ||
	    memcmp(text, SWAPS_HEADING, sizeof(SWAPS_HEADING) - 1) != 0)
		return -EINVAL;
	end = text + len;
	for (bool heading = true; (newline = memchr(pos, '\n', (size_t)(end - pos)));
	     pos = newline + 1, heading = false) {
		struct swap_device d = {};

		if (heading || count == max || !parse_swap(pos, newline, &d))
			continue;
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

	if (!part_begins(word, key))
		return false;
	word = part_behind(word, strlen(key));
	if (parse_thousandths(word.s, word.len, &number, &thousandths) != (int)word.len ||
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
	if (!part_begins(total, "total="))
		return false;
	total = part_behind(total, strlen("total="));
	return parse_u64(total.s, total.len, UINT64_MAX, ret_total_us) == 0;
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

/* The number of pages behind the name of the line, in bytes. */
static bool parse_pages(struct text_part line, const char *name, uint32_t page_size,
			uint64_t *ret_bytes)
{
	struct text_part word = part_split(&line, ' ');
	uint64_t pages;

	return part_is(word, name) && parse_u64(line.s, line.len, UINT64_MAX, &pages) == 0 &&
	       !__builtin_mul_overflow(pages, page_size, ret_bytes);
}

int swap_activity_parse(const char *text, size_t len, uint32_t page_size, struct swap_activity *ret)
{
	bool in_known = false, out_known = false;
	struct text_part rest = {text, len};
	struct swap_activity a = {.known = true};

	/* The last line is incomplete without its end. */
	while (rest.len && memchr(rest.s, '\n', rest.len)) {
		struct text_part line = part_split(&rest, '\n');

		if (!in_known)
			in_known = parse_pages(line, "pswpin", page_size, &a.in);
		if (!out_known)
			out_known = parse_pages(line, "pswpout", page_size, &a.out);
	}
	if (!in_known || !out_known)
		return -EINVAL;
	*ret = a;
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
	struct text_part rest = {text, len};
	struct socket_memory sockets = {};

	while (rest.len && memchr(rest.s, '\n', rest.len)) {
		struct text_part line = part_split(&rest, '\n');
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

int refaults_parse(const char *text, size_t len, uint32_t page_size, uint64_t *ret)
{
	/* Until Linux 5.8 one line has both. */
	static const char *const name[] = {"workingset_refault_anon", "workingset_refault_file",
					   "workingset_refault"};
	struct text_part rest = {text, len};
	uint64_t sum = 0;
	bool known = false;

	while (rest.len && memchr(rest.s, '\n', rest.len)) {
		struct text_part line = part_split(&rest, '\n');
		uint64_t bytes;

		for (size_t i = 0; i < ARRAY_SIZE(name); i++) {
			if (!parse_pages(line, name[i], page_size, &bytes))
				continue;
			known = true;
			if (__builtin_add_overflow(sum, bytes, &sum))
				return -EINVAL;
		}
	}
	if (!known)
		return -EINVAL;
	*ret = sum;
	return 0;
}

/* ---- zoneinfo: where RAM ends ---- */

#define ZONEINFO_CHUNK (32 * 1024)

/* The zone that the current lines describe. */
struct zone {
	bool device;
	uint64_t spanned;
};

static bool starts_with(const char *s, const char *end, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(end - s) >= len && !memcmp(s, word, len);
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && *s == ' ')
		s++;
	return s;
}

/* The number after a word, 0 without one. */
static uint64_t number_after(const char *s, const char *end, const char *word)
{
	uint64_t v;

	s = skip_blanks(s + strlen(word), end);
	return scan_u64(&s, end, &v) ? v : 0;
}

static void parse_zone_line(struct zone *zone, const char *s, const char *end, uint64_t *max)
{
	uint64_t pfn_end;

	if (starts_with(s, end, "Node ")) {
		*zone = (struct zone){.device = memmem(s, (size_t)(end - s), "Device", 6)};
		return;
	}
	s = skip_blanks(s, end);
	if (starts_with(s, end, "spanned"))
		zone->spanned = number_after(s, end, "spanned");
	if (!starts_with(s, end, "start_pfn:") || zone->device || !zone->spanned)
		return;
	if (!__builtin_add_overflow(number_after(s, end, "start_pfn:"), zone->spanned, &pfn_end) &&
	    pfn_end > *max)
		*max = pfn_end;
}

/* Parses the complete lines. Returns their length. */
static size_t parse_zone_lines(struct zone *zone, const char *text, size_t len, uint64_t *max)
{
	const char *pos = text, *end = text + len, *newline;

	while (pos < end && (newline = memchr(pos, '\n', (size_t)(end - pos)))) {
		parse_zone_line(zone, pos, newline, max);
		pos = newline + 1;
	}
	return (size_t)(pos - text);
}

uint64_t zoneinfo_parse(const char *text, size_t len)
{
	struct zone zone = {};
	uint64_t max = 0;

	if (len)
		parse_zone_lines(&zone, text, len, &max);
	return max;
}

/* Reads in parts, because the file has lines for each CPU of each zone. */
uint64_t zoneinfo_read(int proc_fd)
{
	cleanup_close int fd = openat(proc_fd, "zoneinfo", O_RDONLY | O_CLOEXEC);
	struct zone zone = {};
	uint64_t max = 0;
	char buf[ZONEINFO_CHUNK];
	size_t len = 0;

	while (fd >= 0) {
		ssize_t n = read(fd, buf + len, sizeof(buf) - len);
		size_t used;

		if (n <= 0)
			return n < 0 ? 0 : max;
		len += (size_t)n;
		used = parse_zone_lines(&zone, buf, len, &max);
		len -= used;
		memmove(buf, buf + used, len);
	}
	return 0;
}
