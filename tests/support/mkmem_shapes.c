// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes, in the language of mkmem_steps.c. */
#include "mkmem.h"

#define FIVE_VMAS                                                                                  \
	"a = apart .5M; b = apart .5M; c = apart .5M; d = apart .5M; e = apart .5M; fill a;"       \
	"fill b; fill c; fill d; fill e;"

/* The new half of a VMA shared by fork, and the part of the heap that is new. */
#define MAP_NEW "n = small .5M; fill n; grow a 1M; fill a+.5M; h = heap .5M; fill h:.5M-1P;"

/* Cuts the middle out of the VMAs in several ways, each process at another place. */
#define SPLIT(at)                                                                                  \
	"readonly a+" at ":64P; none b+" at ":64P; unmap c+" at ":64P; drop d+" at                 \
	":64P; readonly e+" at ":64P/2P; fill e+1P+" at ":63P/2P; free f+" at ":64P;"

/* b's old place stays as an empty VMA and is reused. */
#define MOVE                                                                                       \
	"p = small .5M+1P; move a p+1P; fill p+1P:.125M;"                                          \
	"q = small .5M+1P; move_off b q+1P; fill b:.0625M;"                                        \
	"r = small .25M+1P; move c+.125M:.25M r+1P; s = small .25M+1P; move d s+1P;"

/* Cuts each of the five pages of a differently, each process at another place. */
#define CUT(at)                                                                                    \
	"unmap a+" at ":100P; readonly a+1H+" at ":100P; drop a+2H+" at ":100P; fill a+3H+" at     \
	":100P; none a+4H+" at ":100P;"

#define SHARED "a = shared 32M; nohuge a; b = small 32M; fill a; fill b;"

/* Of a table of this size. */
#define BORDER(at, unit)                                                                           \
	"a = at " at "+1" unit "-6P 6P; b = at " at "+2" unit " 6P; c = at " at "+4" unit          \
	"-6P 12P; fill a; fill b; fill c; writer" unit " { fill a/2P; fill b/2P; fill c/2P } "

/*
 * Fewer pages than a CPU batches in its per-CPU counter (max(32, 2 * CPUs)) with 64 CPUs. Every
 * other CPU frees memory that its neighbour allocated: its part of the sum is negative.
 */
#define ON_CPUS(thread)                                                                            \
	"a = reserved 122880P; nohuge a; f = temp 122880P; b = shared f;"                          \
	"c = shared_reserved 122880P; nohuge c; " thread                                           \
	"*.5C+.5 { pin 2#; fill a+240P#:120P; touch b+240P#:120P; fill c+240P#:40P } " thread      \
	"*.5C { pin 1+2#; fill c+240P#+120P:20P; drop a+240P#:20P; drop b+240P#:30P;"              \
	"drop c+240P#:10P } "

const struct shape shapes[] = {
	/* ---- private memory, and pages of hugetlb ---- */

	/* Half of it in small pages, whatever the machine's THP setting. */
	{"anon", "16 MiB private anonymous memory", "a = memory 16M; nohuge a:8M; fill a"},
	/* smaps_rollup of older kernels (6.1) leaves out huge pages that are PROT_NONE. */
	{"prot_none", "touched, then PROT_NONE", "a = small 8M; fill a; none a:4M"},
	{"mlock", "locked memory", "a = memory 4M; lock a"},
	/* The zero page and, where THP is on, the huge zero page. */
	{"zero", "nothing but read: zero pages",
	 "a = memory 8M; nohuge a:4M; hugepage a+4M:4M; touch a"},
	{"madv_free", "touched, then MADV_FREE", "a = memory 8M; fill a; free a:4M"},
	{"clear_refs", "pages with writes that are watched",
	 "a = small 2M; fill a:1M; b = shared 2M; touch b:1M; watch_writes; fill a:.25M;"
	 "writer { fill a:1M }"},
	{"hugetlb", "two hugetlb pages", "a = hugetlb 2L"},
	{"hugetlb_fork", "a hugetlb page shared by fork, and written",
	 "a = hugetlb 1L; writer { fill a:1P } child {}"},
	{"hugetlb_shared", "shared hugetlb pages",
	 "a = shared_hugetlb 2L; sharer { touch a:1P } readonly a:1L"},

	/* ---- memory shared by fork, in small pages: which process forks, writes and ends ---- */

	{"cow_parent", "shared by fork, the parent wrote before and after",
	 "a = small 3M; fill a; child {} fill a:1.5M; late_child {} fill a+1M:1M"},
	{"cow_child", "shared by fork, the children wrote",
	 "a = small 3M; fill a; first { fill a:1.5M } second { fill a+1M:1.5M }"},
	{"cow_tree", "forks of forks, all wrote some",
	 "a = small 3M; fill a;"
	 "child { fill a:.5M; child_a { fill a+1M:.5M } child_b {} fill a+.5M:.5M } fill a+2.5M;"
	 "child2 { fill a:.5M; child2_a { fill a+1M:.5M } child2_b {} fill a+.5M:.5M }"},
	/* b is private from the moment that the process between ends. The child may take over the
	   area's owner that its parent left without an area. */
	{"cow_orphan", "shared with a grandchild, the process between ended",
	 "a = small 3M; fill a; orphan { fill a+1.5M:1M; b = small 1M; fill b; leave; fill a+2M:.5M;"
	 "orphans_child {} fill a+2.5M:.5M }"},
	/* A write now reuses the page in place. */
	{"cow_ended", "was shared with a child that ended",
	 "a = small 2M; fill a; fork_and_end; fill a:1M"},
	{"cow_exec", "was shared with a child that is another program now",
	 "a = small 2M; fill a; exec { program } fill a:1M"},
	/* Never shared: vfork copies nothing. */
	{"cow_vfork", "started another program by vfork", "a = small 2M; fill a; vfork_and_exec"},
	/* Only the child has the memory, which it inherited. */
	{"cow_left", "shared by fork, then unmapped by the parent",
	 "a = small 3M; fill a; child {} unmap a:2M; drop a+2M:.5M; late_child {}"},
	/* Pages with different numbers of sharers: from all processes down to one. */
	{"cow_many", "shared with 24 children that wrote more and more",
	 "a = small 288P; fill a; child##*24 { fill a:12P# }"},

	/* ---- VMAs before and after a fork ---- */

	{"cow_dontfork", "VMAs that fork leaves out or empties",
	 "a = apart 1M; b = apart 1M; c = apart 1M; fill a; fill b; fill c;"
	 "dontfork a; wipeonfork b; dontfork c+.25M:.5M; child { fill b:.5M }"
	 "dofork a:.5M; child2 {}"},
	{"cow_after", "VMAs mapped or grown after the fork",
	 "a = apart .5M; fill a; h = heap .5M; fill h:.5M-1P; child { " MAP_NEW
	 " } child2 {} " MAP_NEW "late_child {} z = small .5M; fill z"},
	/* Mapped before the fork, touched after it: not shared. */
	{"cow_lazy", "a VMA first touched after the fork",
	 "a = small 1.5M; fill a+1M:1P; child { fill a:1M } fill a:.5M; reader { touch a:1M }"},
	{"cow_split", "VMAs split after the fork by mprotect, munmap, madvise",
	 FIVE_VMAS
	 "f = apart .5M; fill f; readonly a+100P:17P;"
	 "child { " SPLIT("32P") " } child2 {} " SPLIT("60P") "late_child { " SPLIT("32P") " }"},
	{"cow_mremap", "VMAs moved before and after the fork",
	 FIVE_VMAS "z = small 1M+1P; move e z+1P; fill z+.5M+1P:.25M;"
		   "child { " MOVE " } child2 {} " MOVE "fill z+1P:.125M; late_child {}"},
	/* Locking writable memory breaks copy-on-write, as a write does. */
	{"cow_mlock", "VMAs locked before and after the fork",
	 "a = apart 1M; b = apart 1M; fill a; fill b; lock a:.5M; child {} locker { lock b:.5M }"},

	/* ---- transparent huge pages, mapped whole, in part, by PMD and by PTEs ---- */

	/* One in part, one shared and in part written, two shared whole. */
	{"thp", "transparent huge pages: whole, in part, shared by fork",
	 "a = huge 4H; unmap a+3.25H:.25H; writer { fill a:.5H } sharer {}"},
	/* The first one is moved with its table. */
	{"thp_private", "huge pages, one moved, one locked",
	 "a = huge 3H; t = aligned 1H; move a:1H t; lock a+1H:1H"},
	/* By PMD in one process, by PTEs or less in another. */
	{"thp_child", "huge pages shared by fork, cut by the child",
	 "a = huge 5H; child { " CUT("0P") " }"},
	{"thp_parent", "huge pages shared by fork, cut by the parent",
	 "a = huge 5H; child {} " CUT("77P")},
	{"thp_both", "huge pages shared by fork, cut by all in different ways",
	 "a = huge 5H; child { " CUT("0P") " } child2 { " CUT("412P") " } " CUT(
		 "77P") "late_child {}"},
	/* Only the tail pages, only the head; a piece at an address that is unaligned for a huge
	   page. */
	{"thp_pte", "huge pages mapped by small entries",
	 "a = huge 4H; readonly a:1P; unmap a+1H:1P; unmap a+2H+1P:1H-1P; t = small 1H;"
	 "move a+3H+50P:50P t+3P:50P; child {} fill t+3P:25P"},
	{"thp_none", "a huge page that is PROT_NONE", "a = huge 2H; none_huge a:1H; child {}"},
	{"thp_free", "huge pages with MADV_FREE",
	 "a = huge 3H; free a:1H; free a+1H:.5H; child {}"},
	/* This process collapsed them while the other keeps small ones. */
	{"thp_collapse", "small pages made a huge one, still shared small",
	 "need_thp; a = aligned 1H; nohuge a; fill a; hugepage a; child {} fill a:.5H; collapse a"},
	/* Split into as many small zero pages, in part; one huge page written. */
	{"thp_zero", "the huge zero page, whole and split",
	 "need_thp; a = aligned 5H; hugepage a; touch a; readonly a+1H:.25H; unmap a+2H:.25H;"
	 "fill a+3H:1P; writer { fill a:1P } none a+4H:1H"},

	/* ---- other large folios ---- */

	/* The cutter removes unaligned pieces of the folios, at both ends and inside. */
	{"mthp", "anonymous large folios, shared by fork and cut",
	 "a = mthp 1M; child {}"
	 "cutter { unmap a+3P:2P; unmap a+.25M+1P:.125M; readonly a+.5M+2P:33P; drop a+1M-5P:3P }"
	 "writer { fill a+7P:41P } unmap a+11P:2P; fill a+.5M:3P"},
	/* odd: no huge page of it is at a multiple of its size. Splitting removes all entries of
	   the cutter. */
	{"shmem_thp", "huge pages of shared memory, mapped in many ways",
	 "f = huge_file 3H; a = aligned_shared f; hugepage a; fill a; need_huge_shmem a;"
	 "sharer { touch a } odd { b = aligned_shared f+5P:2H; touch b:2H-9P }"
	 "private { b = aligned_private f:2H; touch b:1.5H; fill b+1H:100P }"
	 "cutter { touch a; unmap a+10P:100P; none a+1H+77P:50P; drop a+2H+1P:5P; touch a+110P:1H-33P;"
	 "touch a+2H+100P:55P }"
	 "none { touch a; none_huge a:1H } readonly a:1H"},
	{"file_thp", "huge pages of a program's text",
	 "f = text 2H; a = aligned_private f; executable a; hugepage a; touch a; need_huge_file a;"
	 "sharer { touch a } cutter { touch a; unmap a+99P:100P; touch a+222P:111P }"},

	/* ---- files ---- */

	{"file", "a file mapped shared, and private and in part written",
	 "f = temp 4M; s = shared f; p = private f; fill s; touch p; fill p:1M; sharer { touch s:2M }"},
	/* Writes over pages of the file, over pages shared by fork, and over untouched pages. */
	{"file_cow", "a file mapped private, written before and after forks",
	 "f = filled 4M; p = private f; touch p:3M; fill p+1M:1M; first { fill p:1.5M }"
	 "second { fill p+2.5M:1M } reader { touch p+2.5M:1M } fill p+1.5M:1M"},
	{"file_many", "a file mapped by 13 processes",
	 "f = filled 192P; a = shared f; sharer##*12 { touch a:16P+16P# }"},
	/* The rounding of each share matters. */
	{"file_repeat", "three pages of a file mapped 6,000 times",
	 "f = filled 3P; repeat*1000 { a = shared f:1P; b = shared f:2P; c = shared f; touch a; touch b;"
	 "touch c }"},
	/* The last mapping was never accessible at all. */
	{"file_none", "files that are PROT_NONE",
	 "f = filled 4M; s = shared f; p = private f; touch s; touch p:3M; fill p+1M:1M; none s:2M;"
	 "none p:2M; child {} n = shared f:1M; none n"},
	{"file_mlock", "files that are locked",
	 "f = filled 2M; s = shared f; p = private f; lock s:1M; lock p+.5M:1M"},
	/* Also removes the written private pages past the new end, which lies inside a page. */
	{"file_truncated", "a file cut off and with a hole, mapped before",
	 "f = filled 4M; s = shared f; p = private f; touch s; touch p; fill p+1M:3M; child {}"
	 "truncate f+2M+100B; hole f+.5M:1M"},
	/* Cut within the folios, wherever they begin. */
	{"file_folio", "a file in large folios, where there are such",
	 "f = written 8M; a = shared f; touch a; p = private f; touch p; fill p:2M/7P;"
	 "child { unmap a+1M+3P:5P; unmap a+3M:100P; touch a:1M; touch a+2M:1M; touch a+4M:2M;"
	 "readonly a+5M+7P:77P } odd { b = shared f+1M+5P:3M; touch b }"},

	/* ---- shared memory ---- */

	{"shmem", "shared anonymous memory, wholly and half touched",
	 "a = shared 8M; b = shared 8M; fill a; fill b:4M; sharer { touch a:2M }"},
	{"shmem_half", "shared memory mapped whole, and half by others",
	 "a = shared 4M; fill a; first { unmap a+2M; touch a:2M }"
	 "second { unmap a:2M; touch a+2M; drop a+2M:1M } none a+1M:1M"},
	{"memfd2", "a memfd mapped twice",
	 "f = memfd 4M; a = shared f; b = shared f; fill a; touch b"},
	{"memfd_private", "a memfd mapped private and in part written",
	 "f = memfd 4M; s = shared f; p = private f; fill s:3M; touch p:2M; fill p+1M:2M; unmap s:2M;"
	 "writer { fill p:1.5M } reader { touch p:1.5M }"},
	{"sysv", "System V shared memory", "a = sysv 2M; fill a; sharer { touch a:1M }"},
	/* Mapped private, it is anonymous memory with a file; mapped shared, it is shared memory.
	 */
	{"dev_zero", "/dev/zero mapped private and shared",
	 "f = dev_zero 2M; p = private f; nohuge p; fill p; s = shared f; fill s:1M;"
	 "writer { fill p:1M }"},
	/* Only processes that map it can read it. */
	{"secret", "secret memory, which the kernel cannot read",
	 "f = secret 1M; a = shared f; fill a; sharer { touch a:.5M }"},
	{"shmem_big", "400 MiB mapped by three",
	 "a = shared 400M; fill a; sharer { touch a } half_sharer { touch a:200M }",
	 .on_request = true},

	/* ---- places and numbers of mappings ---- */

	{"sparse", "1 TiB reserved, 64 pages touched",
	 "a = reserved 1T; nohuge a; fill a/.015625T"},
	{"sparse_fork", "8 TiB and 1 TiB reserved, some pages, forked",
	 "a = reserved 8T; nohuge a; fill a/.125T+1P; s = shared_reserved 1T; fill s/.0625T;"
	 "fill s+1P/.0625T; writer { fill a+5T:64P } reader { touch a+5T:64P }"},
	/* Page tables that remain after their pages were freed. */
	{"emptied", "page tables that have lost their pages",
	 "a = reserved 512H; nohuge a; fill a/2H; drop a/2H; fill a/32H"},
	/* Neighbours have different protections, so that each page is a VMA. */
	{"many_maps", "2,000 mappings", "a = memory 2000P; fill a; readonly a/2P"},
	/* So many VMAs that the maple tree has several levels; one in six has a page. */
	{"deep_maps", "20,000 mappings, forked",
	 "a = small 20000P; fill a+1P/6P; readonly a/2P; child { fill a+1P/18P; unmap a/1000P }"},
	/* End at, begin at and cross the border of a table of each level; the last two are
	   neighbours with the border between them. */
	{"borders", "mappings at the borders of page tables",
	 BORDER("16T", "H") BORDER("20T", "U") BORDER(
		 "24T",
		 "D") "y = at 36T-4P 4P; z = at 36T 4P; fill y; fill z; writer { fill y/2P; fill z/2P } readonly z"},
	/* With 5 levels: also the end, which is that of x86 or of arm64, and across an entry of the
	   top table. */
	{"ends", "the lowest and the highest addresses",
	 "a = lowest 4P; b = highest 4P; c = at 65536T-5P 4P; d = at 4096T-5P 4P; e = at 256T-4P 8P;"
	 "f = at 768T 4P; fill a; fill b; fill c; fill d; fill e; fill f;"
	 "writer { fill a/2P; fill c/2P; fill d/2P; fill e/2P; fill f/2P }"},

	/* ---- swap ---- */

	{"swap", "private memory paged out", "a = small 10M; fill a; out a:8M"},
	{"swap_fork", "memory paged out and shared by fork",
	 "a = swapped 8M; child {} reader { touch a:2M } writer { fill a:2M }"},
	{"swap_half", "the same, some of it back again here and there",
	 "a = swapped 4M; child { touch a:1M; fill a+1M:.5M } touch a+.5M:1M; fill a+2M:.5M;"
	 "late_child { touch a:1M; fill a+1M:.5M }"},
	/* Swap entries that were shared and now belong to one process. */
	{"swap_exec", "was shared with a child that is another program now",
	 "a = swapped 2M; exec { program }"},
	{"swap_left", "paged out, shared by fork, unmapped by the parent",
	 "a = swapped 2M; child {} unmap a"},
	/* Resident memory is shared by fork; swapped memory is private to each process. */
	{"swap_own", "memory shared by fork, other memory paged out",
	 "a = apart 2M; fill a; b = small 1M; fill b; dontfork b; out b; child { c = swapped 2M }"
	 "child2 {} c = swapped 2M"},
	{"swap_none", "paged out, then PROT_NONE and read only",
	 "a = swapped 3M; touch a:1M; none a+.5M:1M; readonly a+2M:.5M"},
	{"swap_thp", "huge pages paged out",
	 "a = aligned 3H; hugepage a; fill a; out a:2H; out a+2H:.5H; touch a+.5H:1H"},
	{"swap_file", "written private pages of a file paged out",
	 "f = temp 2M; a = private f; fill a; out a:1M"},
	{"swap_shmem", "shared memory paged out",
	 "a = shared 8M; fill a; out a; child {} reader { touch a:1M }"},
	/* The same swapped pages are mapped in full, in part, and under private pages. */
	{"swap_memfd", "a memfd paged out, mapped whole, in part, private",
	 "f = memfd 4M; a = shared f; fill a; out a; quarter { unmap a+1M; touch a:.5M }"
	 "p = private f; fill p:1M; out p:.5M"},
	/* tmpfs: no process maps it. */
	{"swap_books", "40 MiB each: private, forked, shared, on a tmpfs alone",
	 "private { a = swapped 40M } shmem { a = shared 40M; fill a; out a }"
	 "tmpfs { f = memfd 40M; a = shared f; fill a; out a; unmap a } a = swapped 40M; child {}",
	 .on_request = true},
	/* So many sharers that their count is in further pages (bpf/slots.bpf.h). */
	{"swap_crowd", "2 MiB paged out and shared by fork with 300 processes",
	 "a = swapped 2M; child*300 {}", .on_request = true},
	{"swap_comers", "2 MiB paged out and shared by fork, also with processes that come and go",
	 "a = swapped 2M; comer#*3 { forever { b = small 1M; fill b } }", .on_request = true},
	/* zram keeps the pages in different ways. */
	{"swap_mixed", "16 MiB each, compressed in different ways: forked, shared",
	 "shmem { f = memfd 16M; a = shared f; fill_mixed a; out a } a = apart 16M; fill_mixed a;"
	 "out a; child {}",
	 .on_request = true},

	/* ---- KSM ---- */

	{"ksm", "pages merged by KSM", "a = small 2M; merge a 0x5a"},
	/* Two programs that are not related by fork. */
	{"ksm_pair", "pages merged with those of ksm_pair2", "a = small 2M; merge a 0x5b"},
	{"ksm_pair2", "pages merged with those of ksm_pair", "a = small 2M; merge a 0x5b"},
	{"ksm_fork", "merged pages shared by fork, and in part written",
	 "a = small 2M; merge a 0x5c; child {} writer { fill a:.5M } fill a+.25M:.5M"},
	/* The child inherits merged pages without madvise(). */
	{"ksm_left", "merged pages shared by fork, unmerged by the parent",
	 "a = small 2M; merge a 0x5d; child { fill a:.25M } unmerge a"},
	{"ksm_child", "pages merged by a child only",
	 "a = small 1M; fill a; child { b = small 2M; merge b 0x5e }"},

	/* ---- mappings that a driver or the kernel fills or monitors ---- */

	{"perf_ring", "the ring of a perf event", "f = perf_event 9P; a = shared f; touch a"},
	{"packet_ring", "the ring of a packet socket",
	 "f = packet_ring 128P; a = shared f; touch a; sharer { touch a }"},
	/* The ring has 64 bytes, 512 results and 256 numbers; the requests are at 256 MiB. */
	{"io_uring", "io_uring's rings",
	 "f = uring 1T; a = shared f:9280B; b = shared f+262144K:16K; touch a; touch b; child {}"},
	{"bpf_map", "a BPF map",
	 "f = bpf_map 64P; a = shared f; touch a; fill a; sharer { touch a }"},
	{"aio_ring", "the ring of asynchronous I/O", "a = aio_ring 64000B; touch a; child {}"},
	/* Half of the huge page stays protected as PTEs. */
	{"uffd_wp", "pages write-protected by userfaultfd",
	 "a = small 4M; s = shared 2M; h = aligned 1H; fill a:2M; fill s:1M; hugepage h; fill h;"
	 "write_protect a:3M; write_protect h; write_protect s; child {} none h+.5H"},
	{"guard", "guard pages", "a = small 2M; fill a:1M; guard a+.5M:1M; writer { fill a:.5M }"},
	/* The key is in the entry, above the page's number. */
	{"pkey", "pages with a protection key",
	 "a = small 1M; fill a; key a:.5M; writer { fill a:.75M }"},

	/* ---- processes and threads ---- */

	{"fork", "8 MiB shared by fork with three children, one wrote half",
	 "a = memory 8M; fill a; child1 {} child2 {} writer { fill a:4M }"},
	{"clone_vm", "two processes, one address space", "a = memory 4M; fill a; clone"},
	{"threads", "8 threads that each touched memory", "thread*8 { a = memory 1M; fill a }"},
	/* More than the BPF program for kernels before 5.19 reads. */
	{"threads_many", "300 threads", "thread*300 { a = small 3P; fill a }"},
	{"leader_exit", "the first thread ended, the others hold memory",
	 "thread*4 { a = memory 1M; fill a } leader_ends"},
	{"swap_leader", "2 MiB of shared memory paged out, the first thread ended",
	 "a = shared 2M; fill a; out a; leader_ends", .on_request = true},
	{"zombie", "a child that was not waited for", "zombie"},
	{"pidns", "processes in a pid namespace of their own",
	 "new_pids; inner { a = memory 2M; fill a } second { a = memory 2M; fill a }"},
	{"names", "hostile names of programs and threads", "hostile_names"},
	{"titles", "command lines that are titles, or other memory",
	 "a = small 4P; fill a; b = huge 1H; c = small 3P; touch c:1P; f = memfd 2P; write f;"
	 "d = shared f; touch d; e = small 40P; fill e; n = small 1P;"
	 "fill n; none n; titled { title } shortened { short_title } page { claim a+1P:1P }"
	 "border { claim a+4090B:30B } in_huge { claim b+1M:9000B } absent { claim c+10B:2P }"
	 "in_file { claim d+5B:300B } long { claim e+100B:150000B }"
	 "hidden { claim n:20B } empty { claim a:0B } programmed { title; program }"
	 "ended { title; thread {} leader_ends }"},
	/* All sizes differ and are in no order. */
	{"fleet", "300 processes of different sizes",
	 "odd#*150 { a = small 24K+48K#; fill a } even#*150 { a = small 7200K-48K#; fill a }",
	 .on_request = true},
	/* Each touched as many pages after the fork, so that all counters are equal. */
	{"workers", "200 forks of one process that did the same",
	 "a = small 512K; fill a; #*200 { fill a:64K }", .on_request = true},
	{"quarters", "16 MiB shared with three processes",
	 "a = shared 16M; nohuge a; fill a; sharer#*3 { touch a }", .on_request = true},
	{"sharers", "64 MiB shared with 12 processes, by mmap and by fork",
	 SHARED "sharer#*12 { touch a; touch b }", .on_request = true},
	{"sharers_come", "the same, and others come and go",
	 SHARED "sharer#*12 { touch a; touch b } comer { forever { touch a; touch b } }",
	 .on_request = true},
	{"churn", "forks and execs without end",
	 "forever { a = memory 256K; fill a; exec_and_end }", .on_request = true},

	/* ---- CPUs and NUMA nodes ---- */

	{"percpu", "memory taken and given back on each CPU by threads of its own",
	 "ended { " ON_CPUS("ended_thread") " } " ON_CPUS("thread")},
	{"numa", "memory on each node, private, huge and shared",
	 "each_node { a = shared 2M; b = aligned 1H; c = small 1M; fill a; fill b; fill c;"
	 "node# { touch a } }"},
	{},
};
