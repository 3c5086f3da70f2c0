// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * recount PID…		the memory of these processes, counted again from /proc/PID/pagemap and the
 *files /proc/kpagecount and /proc/kpageflags recount frames	all page frames by what they are
 *
 * It has no line in common with zmem-bpf, which it is to prove. A process is a line PID KEY VALUE…;
 * sizes are in bytes, but shares (pss_*) are in bytes times 4096, as the kernel keeps them.
 *
 * "held" is the rest of huge pages that no process maps and that stays in RAM: a share, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE	  ((uint64_t)4096)
#define HUGE_PFNS ((uint64_t)512)
#define BATCH	  ((uint64_t)4096)

/* Documentation/admin-guide/mm/pagemap.rst */
#define PM_PRESENT  (1ull << 63)
#define PM_SWAPPED  (1ull << 62)
#define PM_PFN	    ((1ull << 55) - 1)
#define KPF(number) (1ull << (number))
#define SLAB	    KPF(7)
#define BUDDY	    KPF(10)
#define ANON	    KPF(12)
#define SWAPBACKED  KPF(14)
#define HEAD	    KPF(15)
#define TAIL	    KPF(16)
#define HUGETLB	    KPF(17)
#define NOPAGE	    KPF(20)
#define KSM	    KPF(21)
#define THP	    KPF(22)
#define ZERO_PAGE   KPF(24)
#define PGTABLE	    KPF(26)
#define LRU	    KPF(5)
#define DIRTY	    KPF(4)
#define UNEVICTABLE KPF(18)
#define RESERVED    KPF(32)

static int counts, flags;

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		fprintf(stderr, "recount: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	return fd;
}

/* The words from `first` on; those that cannot be read are 0. */
static void words(int fd, uint64_t first, uint64_t count, uint64_t *to)
{
	ssize_t got = pread(fd, to, count * sizeof(*to), first * sizeof(*to));

	if (got < 0)
		got = 0;
	memset((char *)to + got, 0, count * sizeof(*to) - got);
}

/* ---- processes ---- */

enum kind { ANONYMOUS, FILES, SHARED, KINDS };

struct sums {
	uint64_t rss[KINDS], pss[KINDS], uss, swap, lazyfree, hugetlb, hugetlb_pss, held, ksm;
	uint64_t last_head, last_end, last_share; /* of the large page that was looked at last */
};

/* The block of page frames that a large page is in, and where in it the page of this frame begins.
 */
static uint64_t around(uint64_t pfn, uint64_t *of_flags)
{
	uint64_t block = pfn & ~(HUGE_PFNS - 1), at = pfn - block;

	words(flags, block, HUGE_PFNS, of_flags);
	while (at && of_flags[at] & TAIL)
		at--;
	return at;
}

/* For each page that is mapped of a large page: the share of its rest, by all mappings of it. */
static void add_held(struct sums *s, uint64_t pfn)
{
	uint64_t block = pfn & ~(HUGE_PFNS - 1), of_count[HUGE_PFNS], of_flags[HUGE_PFNS];
	uint64_t rest = 0, mappings = 0, head, end;

	if (pfn < s->last_head || pfn >= s->last_end) {
		head = around(pfn, of_flags);
		for (end = head + 1; end < HUGE_PFNS && of_flags[end] & TAIL;)
			end++;
		s->last_head = block + head;
		s->last_end = block + end;
		s->last_share = 0;
		words(counts, block, HUGE_PFNS, of_count);
		for (uint64_t i = head; i < end; i++) {
			rest += of_count[i] ? 0 : PAGE;
			mappings += of_count[i];
		}
		if (of_flags[head] & HEAD && mappings)
			s->last_share = rest * PAGE / mappings;
	}
	s->held += s->last_share;
}

static void add_page(struct sums *s, uint64_t pfn, uint64_t count, uint64_t flag)
{
	enum kind kind = flag & ANON ? ANONYMOUS : flag & SWAPBACKED ? SHARED : FILES;

	if (flag & (ZERO_PAGE | NOPAGE))
		return;
	if (flag & HUGETLB) {
		s->hugetlb += PAGE;
		s->hugetlb_pss += PAGE * PAGE / (count ? count : 1);
		return;
	}
	if (!(flag & ANON) && (flag & RESERVED))
		kind = FILES;
	/* An anonymous page that lost PG_swapbacked is lazily freed. */
	if (kind == ANONYMOUS && !(flag & (SWAPBACKED | KSM | DIRTY)))
		s->lazyfree += PAGE;
	s->rss[kind] += PAGE;
	s->pss[kind] += PAGE * PAGE / (count ? count : 1);
	s->uss += count <= 1 ? PAGE : 0;
	s->ksm += flag & KSM ? PAGE : 0;
	if (flag & THP && flag & ANON)
		add_held(s, pfn);
}

static void add_run(struct sums *s, uint64_t pfn, uint64_t length)
{
	static uint64_t count[BATCH], flag[BATCH];
	uint64_t head = 0;

	words(counts, pfn, length, count);
	words(flags, pfn, length, flag);
	for (uint64_t i = 0; i < length; i++) {
		/* Most flags of a large page are those of its first one; newer kernels copy them.
		 */
		if (flag[i] & HEAD) {
			head = flag[i];
		} else if (flag[i] & TAIL && !head) {
			uint64_t of_flags[HUGE_PFNS];

			head = of_flags[around(pfn + i, of_flags)];
		}
		if (!(flag[i] & (HEAD | TAIL)))
			head = 0;
		add_page(s, pfn + i, count[i], flag[i] & TAIL ? (head & ~HEAD) | flag[i] : flag[i]);
	}
}

static void add_mapping(struct sums *s, int pagemap, uint64_t from, uint64_t to)
{
	static uint64_t entry[BATCH];

	for (uint64_t at = from; at < to; at += BATCH) {
		uint64_t size = to - at < BATCH ? to - at : BATCH;

		words(pagemap, at, size, entry);
		for (uint64_t i = 0; i < size; i++) {
			uint64_t n = 1, pfn = entry[i] & PM_PFN;

			if (entry[i] & PM_SWAPPED)
				s->swap += PAGE;
			if (!(entry[i] & PM_PRESENT) || !pfn)
				continue;
			while (i + n < size && entry[i + n] & PM_PRESENT &&
			       (entry[i + n] & PM_PFN) == pfn + n)
				n++;
			add_run(s, pfn, n);
			i += n - 1;
		}
	}
}

static void recount_process(const char *pid)
{
	struct sums s = {};
	unsigned long from, to;
	char path[64], line[4096];
	int pagemap;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "re");
	snprintf(path, sizeof(path), "/proc/%s/pagemap", pid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (!maps || pagemap < 0) {
		printf("%s gone 1\n", pid);
		return;
	}
	while (fgets(line, sizeof(line), maps)) {
		/* Pages of the kernel, which no counter has. */
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && !strstr(line, "[vvar") &&
		    !strstr(line, "[vsyscall]"))
			add_mapping(&s, pagemap, from / PAGE, to / PAGE);
	}
	fclose(maps);
	close(pagemap);
	printf("%s rss_anon %lu rss_file %lu rss_shmem %lu pss_anon %lu pss_file %lu pss_shmem %lu "
	       "uss %lu swap %lu lazyfree %lu hugetlb %lu hugetlb_pss %lu held %lu ksm %lu\n",
	       pid, s.rss[ANONYMOUS], s.rss[FILES], s.rss[SHARED], s.pss[ANONYMOUS], s.pss[FILES],
	       s.pss[SHARED], s.uss, s.swap, s.lazyfree, s.hugetlb, s.hugetlb_pss, s.held, s.ksm);
}

/* ---- page frames ---- */

static const char *frame_name(uint64_t count, uint64_t flag)
{
	if (flag & NOPAGE)
		return NULL;
	if (flag & BUDDY)
		return "free";
	if (flag & SLAB)
		return "slab";
	if (flag & PGTABLE)
		return "page_tables";
	if (flag & HUGETLB)
		return "hugetlb";
	if (flag & ZERO_PAGE)
		return NULL;
	if (flag & ANON)
		return count ? "anon" : "anon_unmapped";
	if (!(flag & (LRU | UNEVICTABLE)))
		return NULL;
	if (flag & SWAPBACKED)
		return count ? "shmem_mapped" : "shmem_unmapped";
	return count ? "page_cache_mapped" : "page_cache_unmapped";
}

/*
 * Reads the flags of BATCH frames, and the words of another file where they matter; else those are
 * 0. Returns how many frames there are.
 */
static size_t read_batch(int other, uint64_t pfn, uint64_t *flag, uint64_t *word)
{
	ssize_t got = pread(flags, flag, BATCH * sizeof(*flag), pfn * sizeof(*flag));
	size_t frames = got > 0 ? got / sizeof(*flag) : 0;
	uint64_t used = 0;

	for (size_t i = 0; i < frames; i++)
		used |= flag[i] & (ANON | LRU | UNEVICTABLE | SWAPBACKED);
	memset(word, 0, BATCH * sizeof(*word));
	if (used)
		words(other, pfn, BATCH, word);
	return frames;
}

static void recount_frames(void)
{
	static uint64_t count[BATCH], flag[BATCH];
	static struct {
		const char *name;
		uint64_t bytes;
	} sums[16];
	uint64_t head = 0;
	size_t frames;

	for (uint64_t pfn = 0; (frames = read_batch(counts, pfn, flag, count)); pfn += BATCH) {
		for (size_t i = 0; i < frames; i++) {
			const char *name;
			int n = 0;

			/* Most flags of a large page are those of its first one. */
			if (flag[i] & HEAD)
				head = flag[i];
			name = frame_name(count[i], flag[i] & TAIL ? head : flag[i]);

			if (!name)
				continue;
			while (sums[n].name && strcmp(sums[n].name, name))
				n++;
			sums[n].name = name;
			sums[n].bytes += PAGE;
		}
	}
	for (int n = 0; sums[n].name; n++)
		printf("%s %lu\n", sums[n].name, sums[n].bytes);
}

/* ---- cgroups ---- */

#define CGROUPS 4096

static void recount_cgroups(void)
{
	static uint64_t flag[BATCH], owner[BATCH];
	static struct {
		uint64_t inode, bytes[KINDS];
	} sums[CGROUPS];
	uint64_t head = 0, head_owner = 0;
	int owners = open_file("/proc/kpagecgroup"), count = 0, at = 0;
	size_t frames;

	for (uint64_t pfn = 0; (frames = read_batch(owners, pfn, flag, owner)); pfn += BATCH) {
		for (size_t i = 0; i < frames; i++) {
			uint64_t f = flag[i], inode = owner[i];

			if (f & HEAD) {
				head = f;
				head_owner = inode;
			} else if (f & TAIL) {
				f = head;
				inode = head_owner;
			}
			if (f & (NOPAGE | BUDDY | SLAB | PGTABLE | HUGETLB | ZERO_PAGE) || !inode ||
			    !(f & (ANON | LRU | UNEVICTABLE)))
				continue;
			for (at = 0; at < count && sums[at].inode != inode;)
				at++;
			if (at == CGROUPS)
				continue;
			count = at == count ? count + 1 : count;
			sums[at].inode = inode;
			sums[at].bytes[f & ANON		? ANONYMOUS
				       : f & SWAPBACKED ? SHARED
							: FILES] += PAGE;
		}
	}
	for (at = 0; at < count; at++)
		printf("%lu %lu %lu %lu\n", sums[at].inode, sums[at].bytes[ANONYMOUS],
		       sums[at].bytes[SHARED], sums[at].bytes[FILES]);
	close(owners);
}

int main(int argc, char **argv)
{
	counts = open_file("/proc/kpagecount");
	flags = open_file("/proc/kpageflags");
	if (argc == 2 && !strcmp(argv[1], "frames")) {
		recount_frames();
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "cgroups")) {
		recount_cgroups();
		return 0;
	}
	for (int i = 1; i < argc; i++)
		recount_process(argv[i]);
	return 0;
}
