/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes free when a group of processes ends (bpf/freed.bpf.c): what user space asks and the
 * programs answer, in maps that only the process that loaded them has.
 */
#ifndef ZMEM_FREED_H
#define ZMEM_FREED_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "zmem/record.h"
#include "zmem/setup.h"

/* Groups are numbered from `first` on; this one stands for several groups and for none. */
#define ZMEM_FREED_MIXED 0

/* A process: what it is asked, and the sums of its visits so far. */
struct zmem_freed_want {
	struct zmem_visit_want visit; /* by visits */
	/* Set by user space. */
	__u64 start_boottime_ns; /* as in struct zmem_record */
	__u32 group;		 /* of the process and its descriptors */
	__u32 mm_group;		 /* of its address space; ZMEM_FREED_MIXED: it is not walked */
	__u32 alone;		 /* 1: no other address space is of that group */
	__u32 every;		 /* enum zmem_freed_every: what is walked beside shared memory */
	/* By visits. */
	__u32 state; /* enum zmem_freed_state */
	__u32 life;  /* enum zmem_freed_life */
	__u32 forks; /* changes with each fork of its address space */
	__s64 anon;  /* anonymous pages by its counter, after the last visit */
	/* Mappings of anonymous pages that are looked up: mapped more than once, or of large
	 * folios. */
	__u64 shared;
	/* Pages of which a visit met the last mapping, all of the same group; for a large folio,
	 * all of its pages.
	 */
	__u64 complete;
	/*
	 * What shared swap slots take in RAM, shifted left by ZMEM_PSS_SHIFT: the shares of the
	 * process, and those slots in full of which a visit met the last reference, as of pages.
	 */
	__u64 slots, slots_complete;
};

/* Bits. */
enum zmem_freed_every {
	ZMEM_FREED_PARTS = 1,  /* large folios may be mapped in part: anonymous mappings */
	ZMEM_FREED_CACHED = 2, /* pages may be in the swap cache: all that have anonymous pages */
};

enum zmem_freed_state {
	ZMEM_FREED_BEGIN,
	ZMEM_FREED_MORE,
	ZMEM_FREED_DONE,
	ZMEM_FREED_RACED,   /* another process or address space, or something torn */
	ZMEM_FREED_UNKNOWN, /* pages that the walk does not understand */
};

enum zmem_freed_life {
	ZMEM_FREED_UNSEEN,
	ZMEM_FREED_ALONE,    /* it lived before the walks, and shared no pages */
	ZMEM_FREED_SHARING,  /* it lived, and may have shared some */
	ZMEM_FREED_SURVIVED, /* and it lived after the walks */
};

enum zmem_freed_pass {
	ZMEM_FREED_MARK,  /* which live */
	ZMEM_FREED_WALK,  /* the pages */
	ZMEM_FREED_CHECK, /* which have forked, and live */
};

/* A page that is mapped more than once, a large folio, or a swap slot that is shared. */
struct zmem_freed_page {
	__u32 group;
	__u32 maps; /* met so far */
	__u64 ram;  /* the shares of the swap entries met: of what their slots take in RAM */
};

struct zmem_freed {
	/* Set by user space. */
	struct zmem_layout at;
	__u32 first; /* the lowest number of a group; entries with a lower one are of earlier times
		      */
	__u32 full;  /* not 0: a map was full */
	__u64 pass;  /* set by user space: what the next pass does (enum zmem_freed_pass) */
	__u64 more;  /* processes that the last pass met and did not finish */
};

#endif
