/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs of bpf/grow.bpf.c hand to user space: a message for each change of a resident
 * counter of a target, through a ring buffer, and sums in maps. A target is an address space.
 */
#ifndef ZMEM_GROW_H
#define ZMEM_GROW_H

#include "zmem/record.h"
#include "zmem/setup.h"

#define ZMEM_GROW_TARGETS 256
/* Bytes; a power of two and of pages. Of the ring, for up to 8 CPUs. */
#define ZMEM_GROW_RING	    (1 << 23)
#define ZMEM_GROW_WAKE_RING (1 << 16)
/* The pt_regs of the machine from the beginning: 21 words of x86-64, 34 of arm64. */
#define ZMEM_GROW_REGS	 34
#define ZMEM_GROW_FRAMES 127
/* A copy of a stack has at most this size. */
#define ZMEM_GROW_STACK_MAX 32768

/* At most so many messages say that a target has mapped code: JIT code comes and goes. */
#define ZMEM_GROW_MAPS 64

/* How stacks are taken. */
enum zmem_grow_mode {
	ZMEM_GROW_COPY, /* registers and a copy of the user stack */
	ZMEM_GROW_WALK, /* return addresses, by frame pointers */
};

struct zmem_grow_settings {
	__u32 mode;
	__u32 targets; /* room for so many, at most ZMEM_GROW_TARGETS */
	__u32 follow;  /* 1: children are targets, too */
	/* One page of so many is sampled, at random; 0: by rate. */
	__u32 sample;
	__u32 stopped;	       /* 1: changes are left to visits */
	__u32 visit;	       /* the number of the visit; each has another one */
	__u32 faults;	       /* 1: the end of each page fault is an event (before Linux 6.2) */
	__u32 ring;	       /* bytes of the ring */
	struct zmem_layout at; /* of the kernel; 0: pages that are copied are not known */
	__u32 heap_coarser;    /* n: one sample in 2^n times as many bytes */
	__u32 heap_refuses;    /* enum zmem_heap_refuses: those that matter */
	__u64 heap_bytes;      /* one sample in so many bytes, on average; 1: each block */
	__u64 look_mapping;    /* of heap_locks: a struct address_space; 0: of any file */
	__u64 look_at;	       /* of heap_mapping: an address */
};

/* In place of a member: pages, also of other processes, that were copied for a write. */
#define ZMEM_GROW_COPIED ZMEM_RSS_COUNT

/*
 * When a quarter of the ring is full, its reader is woken. An eighth of it is for messages about
 * processes, and for CPUs at the same time; and half of that for blocks, which are few then, and
 * stand for much.
 */
#define ZMEM_GROW_WAKES(ring)	    ((ring) / 4)
#define ZMEM_GROW_FULL(ring)	    ((ring) / 8 * 7)
#define ZMEM_GROW_FULL_BLOCKS(ring) ((ring) / 16 * 15)

/*
 * By rate: so many changes in a window of each CPU have their stacks, then one page in 16 is
 * sampled; and one in 16 while the ring is half full.
 *
 * The stack of a change is taken if one of its pages is sampled, and stands for 16 pages for each
 * of them: on average for what the change is. A change of 16 pages or more always has its stack,
 * which stands for its own pages.
 */
#define ZMEM_GROW_WINDOW_NS  1000000000ULL
#define ZMEM_GROW_WINDOW_MAX 60000
#define ZMEM_GROW_RARELY     16

enum zmem_grow_what {
	ZMEM_GROW_STACK = 1, /* struct zmem_grow_stack with its copy */
	ZMEM_GROW_ADDRESSES, /* struct zmem_grow_addresses */
	ZMEM_GROW_TASK,	     /* struct zmem_grow_task: no stack of the target */
	ZMEM_GROW_FORK,	     /* struct zmem_grow_process: a child became a target */
	ZMEM_GROW_EXEC,	     /* the same: a target has a new address space */
	ZMEM_GROW_END,	     /* the same: the address space is being torn down */
	ZMEM_GROW_MAP,	     /* the same: a target has mapped code */
	ZMEM_GROW_MOVE,	     /* struct zmem_grow_move: a target moves memory */
};

/*
 * The member of a stack that allocated a block. `carried` is the time of the allocation
 * (CLOCK_MONOTONIC, ns), `pages` the size in bytes. With the size is, from bit ZMEM_HEAP_COARSER
 * on, n: it was sampled with heap_bytes * 2^n. A free has no message: its block is no longer in the
 * map of blocks.
 */
#define ZMEM_GROW_BLOCK	  (ZMEM_GROW_COPIED + 1)
#define ZMEM_HEAP_COARSER 56
/* Not more: bytes of a sample, and n. */
#define ZMEM_HEAP_MEAN_MAX    (1ULL << 36)
#define ZMEM_HEAP_COARSER_MAX 32

/*
 * Which system calls of a thread end it, or fail, also that of the kernel's code behind a return
 * (uretprobe(2), since Linux 6.11).
 */
enum zmem_heap_refuses {
	/* Calls from outside of a range of the process's own code (Wine; Syscall User Dispatch). */
	ZMEM_HEAP_REFUSES_FOREIGN = 1,
	/* Those that a filter does not know (seccomp): in some kernels before 6.14 that one, too
	 * (cf6cb56ef244). */
	ZMEM_HEAP_REFUSES_UNKNOWN = 2,
};

/* What a probed function is: the cookie of its probe. */
enum zmem_heap_function {
	ZMEM_HEAP_FREE,	    /* (block) */
	ZMEM_HEAP_SIZE,	    /* (size, …) */
	ZMEM_HEAP_PRODUCT,  /* (count, size) */
	ZMEM_HEAP_SECOND,   /* (anything, size) */
	ZMEM_HEAP_REALLOC,  /* (block, size, …) */
	ZMEM_HEAP_REALLOCS, /* (block, count, size) */
	ZMEM_HEAP_POSIX,    /* (&block, alignment, size); returns 0 */
	ZMEM_HEAP_FUNCTION = 15,
	/* Each return of the function is looked at: it may call another one, not counted. */
	ZMEM_HEAP_CALLS = 16,
	/* Larger blocks are another function's: pymalloc of CPython. */
	ZMEM_HEAP_SMALL = 32,
	/* The kernel executes the probed instruction out of line: it costs more. */
	ZMEM_HEAP_STEPPED = 64,
};

/*
 * The cookie also says which words of the kernel's struct pt_regs have the arguments at the probe:
 * four bits for each, from bit ZMEM_HEAP_WORDS on.
 */
enum zmem_heap_argument {
	ZMEM_HEAP_BLOCK, /* or where posix_memalign() puts it */
	ZMEM_HEAP_BYTES,
	ZMEM_HEAP_COUNT,
};

#define ZMEM_HEAP_WORDS			 8
#define ZMEM_HEAP_WORD(cookie, argument) ((cookie) >> (ZMEM_HEAP_WORDS + 4 * (argument)) & 15)
/* The function has no such argument. */
#define ZMEM_HEAP_NO_WORD   15

#define ZMEM_HEAP_SMALL_MAX 512
/* Sampled blocks that are not freed, at once. */
#define ZMEM_HEAP_BLOCKS (1 << 20)
/*
 * Distances between samples have an exponential distribution. These are the bounds of equally
 * likely parts of it, with a mean of ZMEM_HEAP_UNIT; the last part has no end. A power of two.
 */
#define ZMEM_HEAP_PARTS 4096
#define ZMEM_HEAP_UNIT	(1ULL << 32)

struct zmem_heap_gaps {
	__u64 bound[ZMEM_HEAP_PARTS + 1]; /* the last two are the same */
};

/* The counts of one CPU. */
struct zmem_heap_cpu {
	__s64 left;	/* bytes until the next sample, with heap_bytes */
	__u64 calls;	/* of all functions, by targets */
	__u64 stepped;	/* of these, those at an instruction that is executed out of line */
	__u64 returns;	/* of these, those of which the return is looked at */
	__u64 coarsest; /* n of samples, where it was largest */
	__u64 samples;	/* blocks that were sent */
	__u64 lost;	/* sampled blocks for which there was no room */
	__u64 passed;	/* calls while one on another stack had not returned: not counted */
	__u64 refused;	/* calls of threads that a probe of the return would end: not counted */
};

struct zmem_heap_key {
	__u32 target;
	__u32 unused;
	__u64 address;
};

struct zmem_heap_block {
	__u64 size;
	__u64 time;
};

struct zmem_grow_head {
	__u32 what;   /* enum zmem_grow_what */
	__u32 target; /* its number */
	__u32 member; /* enum zmem_rss, ZMEM_GROW_COPIED or ZMEM_GROW_BLOCK */
	__u32 tid;    /* in the kernel's first namespace */
	__s64 pages;  /* the change */
	/* Pages of other changes that this stack stands for: not sampled, or without room. */
	__s64 carried;
	__u64 address; /* of the page, or of the first one; 0: none is known */
	/* The variance of `pages + carried` as what this stack has changed, in pages squared. */
	__u64 spread;
};

struct zmem_grow_stack {
	struct zmem_grow_head head;
	__u64 regs[ZMEM_GROW_REGS];
	__u32 len; /* bytes of the copy, which follows */
	/* A bit for each page of 4 KiB of the stack that is not in RAM, from that of its pointer
	 * on: the copy has any bytes there. */
	__u32 absent;
	__u8 copy[];
};

struct zmem_grow_addresses {
	struct zmem_grow_head head;
	__u64 ip[ZMEM_GROW_FRAMES];
	__u32 count;
	__u32 unused;
};

struct zmem_grow_task {
	struct zmem_grow_head head;
	char comm[ZMEM_COMM_LEN];
};

struct zmem_grow_process {
	struct zmem_grow_head head; /* `target`: of the new address space */
	__s32 pid;		    /* in the namespace of the process that loaded the program */
	__u32 parent;		    /* of FORK, EXEC: the target before; of the others: 0 */
};

/* mremap() moves mapped memory, and the pages in it. */
struct zmem_grow_move {
	struct zmem_grow_head head;
	__u64 from, to, len; /* addresses, and bytes */
};

/* What iter/task writes for each address space that it was asked for. */
struct zmem_grow_visit {
	__s32 pid;
	__u32 target; /* ZMEM_GROW_TARGETS: there is no room for another one */
};

/* An address space of which a task has the mmap_lock. */
struct zmem_grow_lock {
	__u64 mm;     /* its address */
	__u64 writer; /* of the thread that has the lock alone; 0: others may have it, too */
	__s32 pid;    /* in the reader's namespace; 0: it is in another one */
	__u32 unused;
	char comm[ZMEM_COMM_LEN];
};

/* A target; its sums of pages are exact. */
struct zmem_grow_target {
	__u64 mm;
	__u64 counters[ZMEM_RSS_COUNT]; /* per-CPU pointers; 0 before Linux 6.2 */
	__s64 last_count[ZMEM_RSS_COUNT];
	__s64 begin[ZMEM_RSS_COUNT];
	__s64 end[ZMEM_RSS_COUNT];     /* at the last visit */
	__s64 settled[ZMEM_RSS_COUNT]; /* changes that visits found before an event */
	__s32 pid;
	__u32 ended;   /* 1: the address space is being torn down */
	__u32 visit;   /* the number of the last visit */
	__u32 begun;   /* of the first one */
	__u64 exec_vm; /* pages of mapped code at the last event */
	__u32 maps;    /* how often it was told that they changed */
	__u32 refuses; /* of all visited threads: enum zmem_heap_refuses */
};

/* Pages that are sampled together: one of them is. */
struct zmem_grow_block {
	__u32 at;      /* pages of the block that have passed */
	__u32 sampled; /* the number of the sampled one */
};

/* A target on one CPU. Before Linux 6.2 `last` is in a map of threads. */
struct zmem_grow_cpu {
	__s32 last[ZMEM_RSS_COUNT];
	__s64 net[ZMEM_RSS_COUNT]; /* pages of all events */
	/* Pages of sampled events, less what their stacks stand for: below 16 or `sample` pages. */
	__s64 rest[ZMEM_RSS_COUNT];
	/*
	 * Pages of messages for which the ring had no room: the next message that is alike carries
	 * them. Alike are changes with the same sign that are below 16 pages, or not.
	 */
	__s64 waiting[4][ZMEM_RSS_COUNT];
	struct zmem_grow_block block[ZMEM_RSS_COUNT][2]; /* of what adds, of what takes */
	__u64 window;					 /* its number */
	__u32 in_window;
	__u32 lost_processes; /* children and new programs that the ring had no room to tell of */
	__u64 events;
	__u64 taken; /* with a stack */
	__u64 lost_messages;
	__u64 copied;	      /* pages */
	__s64 copies_waiting; /* of these, for which the ring had no room: the next one has them */
};

#endif
