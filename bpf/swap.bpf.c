// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Swap, slot by slot: the sharers of each swap entry that a process has, and what its slots take in
 * RAM. It finds entries as the walk of pages does (page_walk.bpf.h), and looks at no page.
 *
 * It is loaded while swap is in use. No lock and no reference is taken: user space compares the
 * swap devices before and after, and the entries found with the counter of the process.
 */
#define ZMEM_SWAP_SLOTS
/*
 * task_struct and swap_info_struct have one place in the kernel's cache of types (kread.bpf.h).
 * posix_cputimer_base has another one, and its first member is a __u64.
 */
#define RAW_TYPE   posix_cputimer_base
#define RAW_MEMBER nextevt
#include "vmlinux.h"
#include "flavors.h"
#include "inodes.h"
#include "swap.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "kfuncs.h"
#include "zmem/record.h"
#include "zmem/setup.h"
#include "kread.bpf.h"
#include "user_regs.bpf.h"
#include "percpu.bpf.h"
#include "mm.bpf.h"
#include "pid_view.bpf.h"
#include "walk_state.bpf.h"
#include "slots.bpf.h"

#define WANT struct zmem_visit_want
#include "visit.bpf.h"

/* ---- the swap devices ---- */

/* include/linux/swap.h; include/uapi/linux/stat.h */
#define SWP_USED    1
#define SWP_WRITEOK 2
#define S_IFMT	    0170000
#define S_IFBLK	    0060000

/* In inuse_pages of a full device, since 6.13 (SWAP_USAGE_OFFLIST_BIT, mm/swapfile.c). */
#define OFFLIST (1ULL << 30)

/* No kernel has more (MAX_SWAPFILES_SHIFT is 5). Only ZMEM_SWAP_DEVICES are recorded. */
#define RING_MAX     32

#define INFO(member) koffset(struct swap_info_struct, member)

/* A whole block device is its swap file: then the number of a slot is that of its page. */
static __always_inline bool is_whole_disk(__u64 info, __u64 disk)
{
	__u64 file = kread64(info + INFO(swap_file)), host;

	host = kread64(kread64(file + koffset(struct file, f_mapping)) +
		       koffset(struct address_space___host, host));
	return (kread32(host + koffset(struct inode, i_mode)) & S_IFMT) == S_IFBLK &&
	       bpf_core_field_exists(struct gendisk, part0) &&
	       kread64(disk + koffset(struct gendisk, part0)) == kread64(info + INFO(bdev));
}

/* A disk of zram is the one that its private data says. */
static __always_inline int record_zram(struct zmem_swap_device *d, __u64 info)
{
	__u64 disk, zram;

	if (!d || !bpf_core_type_exists(struct zram) ||
	    !bpf_core_enum_value_exists(enum zram_pageflags, ZRAM_SAME))
		return 0;
	disk = kread64(kread64(info + INFO(bdev)) + koffset(struct block_device, bd_disk));
	zram = kread64(disk + koffset(struct gendisk, private_data));
	if (!disk || !zram || kread64(zram + koffset(struct zram, disk)) != disk)
		return 0;
	d->disk_bytes = kread64(zram + koffset(struct zram, disksize));
	if (is_whole_disk(info, disk))
		d->table = kread64(zram + koffset(struct zram, table));
	return 0;
}

static __always_inline bool is_active(__u64 info)
{
	return (kread64(info + INFO(flags)) & (SWP_USED | SWP_WRITEOK)) ==
		       (SWP_USED | SWP_WRITEOK) &&
	       kread_raw(__u8, info + INFO(type)) < ZMEM_SWAP_DEVICES;
}

static __noinline int record_device(struct zmem_swap *s, __u64 info)
{
	struct zmem_swap_device *d;
	__u32 type;

	if (!s || info >> 56 != 0xff || !is_active(info))
		return 0;
	type = kread_raw(__u8, info + INFO(type));
	d = &s->dev[type & (ZMEM_SWAP_DEVICES - 1)];
	d->info = info;
	d->slots = kread32(info + INFO(max));
	d->pages = kread32(info + INFO(pages));
	d->priority = (__s16)kread_raw(__u16, info + INFO(prio));
	d->in_use = bpf_core_field_exists(struct swap_info_struct, inuse_pages.counter)
			    ? kread64(info + INFO(inuse_pages.counter))
			    : kread32(info + koffset(struct swap_info_struct___plain, inuse_pages));
	d->in_use &= ~OFFLIST;
	d->clusters = kread64(info + INFO(cluster_info));
	d->map = has_swap_map() ? kread64(info + INFO(swap_map)) : 0;
	d->zeroes = bpf_core_field_exists(struct swap_info_struct, zeromap)
			    ? kread64(info + INFO(zeromap))
			    : 0;
	d->trees = s->zswap_trees ? kread64(s->zswap_trees + type * 8) : 0;
	d->tree_count = s->zswap_tree_counts ? kread32(s->zswap_tree_counts + type * 4) : 0;
	d->cache = s->swapper_spaces ? kread64(s->swapper_spaces + type * 8) : 0;
	record_zram(d, info);
	return 0;
}

/* ---- the list of swap devices, without symbols ---- */

/* Bytes on each side of the wait queue, and words in both. */
#define NEAR	   (16 * 1024)
#define NEAR_WORDS (2 * NEAR / 8)

#define has_epoll()                                                                                \
	(bpf_core_field_exists(struct eventpoll, rbr) &&                                           \
	 bpf_core_field_exists(struct epitem, rbn) &&                                              \
	 bpf_core_field_exists(struct epitem, pwqlist) &&                                          \
	 bpf_core_field_exists(struct eppoll_entry, whead))

/* The wait queue of /proc/swaps: the one file that our own epoll descriptor waits for. */
static __always_inline __u64 find_queue(const struct zmem_swap *s)
{
	__u64 task = (__u64)bpf_get_current_task(), table, file, item;

	if (s->epoll < 0 || !has_epoll())
		return 0;
	table = kread64(kread64(task + koffset(struct task_struct___files, files)) +
			koffset(struct files_struct, fdt));
	file = kread64(kread64(table + koffset(struct fdtable, fd)) + 8 * (__u64)(__u32)s->epoll);
	item = kread64(kread64(file + koffset(struct file___files, private_data)) +
		       koffset(struct eventpoll, rbr)) -
	       koffset(struct epitem, rbn);
	return kread64(kread64(item + koffset(struct epitem, pwqlist)) +
		       koffset(struct eppoll_entry, whead));
}

/*
 * mm/swapfile.c defines the wait queue (proc_poll_wait) and the head of the list of swap devices
 * (swap_active_head) as static variables with a value, so the linker puts both close together. The
 * head is known by what it leads to: a swap_info_struct with a node that points back. Other memory
 * may look like one: if its devices are not those of /proc/swaps, user space searches behind it.
 */
static long find_head(__u32 turn, void *unused)
{
	struct zmem_swap *s = swap_get();
	__u64 at, node, info;
	__u32 pages;

	if (!s)
		return 1;
	if (turn < s->next)
		return 0;
	at = (s->queue & ~7ULL) - NEAR + (__u64)turn * 8;
	node = kread64(at);
	if (node >> 56 != 0xff || node == at || kread64(node + 8) != at)
		return 0;
	info = node - INFO(list.node_list);
	pages = kread32(info + INFO(pages));
	if (!is_active(info) || !pages || pages >= kread32(info + INFO(max)))
		return 0;
	s->head = at;
	s->next = turn + 1;
	return 1;
}

/* All devices are in an array, or in a ring with a head that is no device. */
struct devices {
	__u64 array, head, node;
};

/* By bpf_loop(): the verifier goes through record_device() once, not for each device. */
static long record_next(__u32 i, struct devices *all)
{
	struct zmem_swap *s = swap_get();

	if (!s)
		return 1;
	if (all->array) {
		record_device(s, kread64(all->array + i * 8));
		return 0;
	}
	record_device(s, all->node - INFO(list.node_list));
	all->node = kread64(all->node);
	return !all->node || all->node == all->head;
}

/* User space runs it. */
SEC("raw_tp/find_swap")
int find_swap(void *ctx)
{
	struct zmem_swap *s = swap_get();
	struct devices all = {};

	if (!s || !zmem_kread_works())
		return 0;
	s->unknown_clusters = !has_swap_map() && !cluster_slots();
	for (__u32 i = 0; i < ZMEM_SWAP_DEVICES; i++)
		s->dev[i].info = s->dev[i].table = s->dev[i].disk_bytes = s->dev[i].slots = 0;
	if (!s->swap_info && !s->queue)
		s->queue = find_queue(s);
	if (!s->swap_info && !s->head && s->queue)
		bpf_loop(NEAR_WORDS, find_head, NULL, 0);
	all.array = s->swap_info;
	all.head = s->head;
	all.node = s->head ? kread64(s->head) : 0;
	if (!all.array && all.node == all.head)
		return 0;
	bpf_loop(all.array ? ZMEM_SWAP_DEVICES : RING_MAX, record_next, &all, 0);
	return 0;
}

/* ---- processes ---- */

/* A global function, for its own stack frame. */
__noinline __s64 swap_entries(__u64 mm)
{
	struct rss_pages rss = {};

	read_rss(mm, &rss);
	return rss.count[ZMEM_RSS_SWAP];
}

static __always_inline void before_walk(struct page_walk *w, __u64 leader, WANT *want)
{
	struct zmem_swap *s = swap_get();

	if (!s)
		return;
	w->has_swap = 1;
	w->all_private = (__u8)s->all_private;
	/* The kernel's part of page tables is the same in each process that runs. */
	s->kernel_table =
		mm_word(kaddr(kcast(struct task_struct, bpf_get_current_task()), mm), MM_PGD);
	s->record.before = swap_entries(w->mm);
}

static __always_inline void after_walk(struct page_walk *w, __u64 leader, WANT *want)
{
	struct zmem_swap *s = swap_get();

	if (!s)
		return;
	if (w->pages.work > s->work)
		s->work = w->pages.work;
	s->record.after = swap_entries(w->mm);
}

SEC("iter/task")
int walk_swap(struct bpf_iter__task *ctx)
{
	struct zmem_swap *s = swap_get();

	return s ? write_visit(ctx, &s->at, &s->record.visit, sizeof(s->record)) : 0;
}

/* ---- files of shared memory ---- */

static __always_inline struct zmem_tree *tree_get(void)
{
	struct zmem_swap *s = swap_get();

	return s ? &s->tree : NULL;
}

/* swp_entry_t in a value entry (include/linux/swapops.h). */
#define VALUE_TYPE(value) ((value) >> 59)
#define VALUE_SLOT(value) ((value) << 5 >> 6)

static long file_slot(__u32 turn, __u64 *value)
{
	count_slot(VALUE_TYPE(*value), VALUE_SLOT(*value) + turn, 1);
	return 0;
}

static __always_inline void tree_pages(__u64 value, __u64 n)
{
	bpf_loop((__u32)n, file_slot, &value, 0);
}

#include "page_tree.bpf.h"

/* Sums the slots of a file, some nodes of its tree in a visit. */
SEC("raw_tp/file_slots")
int file_slots(void *ctx)
{
	struct zmem_swap *s = swap_get();

	if (!s)
		return 0;
	s->file_gone = !tree_is_known() || !tree_is_there(&s->tree);
	if (s->file_gone)
		return 0;
	bpf_loop(ZMEM_SWAP_NODES, tree_step, NULL, 0);
	s->file_gone = !tree_is_there(&s->tree);
	return 0;
}

/* ---- the swap cache ---- */

/* A slot that no entry has: free, or that of a page in the swap cache. */
static long scan_word(__u32 turn, void *unused)
{
	const __u64 ones = 0x0101010101010101ULL;
	struct zmem_swap *s = swap_get();
	const struct zmem_swap_device *d;
	__u64 word, other;

	if (!s)
		return 1;
	d = &s->dev[s->device & (ZMEM_SWAP_DEVICES - 1)];
	if (s->slot >= d->slots)
		return 1;
	if (!has_swap_map()) {
		word = table_entry(d, s->slot++);
		if (word && !TABLE_COUNT(word) && word != TABLE_BAD && (word & ~TABLE_ZERO))
			s->cached++;
		return 0;
	}
	word = kread64(d->map + s->slot);
	/* Bytes that are MAP_CACHED alone: those that are 0 here. */
	other = word ^ ones * MAP_CACHED;
	other = ~(((other & ones * 0x7f) + ones * 0x7f) | other | ones * 0x7f);
	/* The map ends with the last slot. What was read behind it is masked. */
	if (d->slots - s->slot < 8)
		other &= (1ULL << (d->slots - s->slot) * 8) - 1;
	s->cached += (other >> 7) * ones >> 56;
	s->slot += 8;
	return 0;
}

/* Looks at the slots of a device from s->slot on. */
SEC("raw_tp/scan_slots")
int scan_slots(void *ctx)
{
	bpf_loop(ZMEM_SWAP_SCAN / 8, scan_word, NULL, 0);
	return 0;
}

/* ---- symbols ---- */

static const char name_info[] = "swap_info", name_trees[] = "zswap_trees",
		  name_counts[] = "nr_zswap_trees", name_spaces[] = "swapper_spaces";

SEC("syscall")
int swap_symbols(void *ctx)
{
	struct zmem_swap *s = swap_get();

	if (!s)
		return 1;
	bpf_kallsyms_lookup_name(name_info, sizeof(name_info), 0, &s->swap_info);
	bpf_kallsyms_lookup_name(name_trees, sizeof(name_trees), 0, &s->zswap_trees);
	bpf_kallsyms_lookup_name(name_counts, sizeof(name_counts), 0, &s->zswap_tree_counts);
	bpf_kallsyms_lookup_name(name_spaces, sizeof(name_spaces), 0, &s->swapper_spaces);
	return 0;
}
