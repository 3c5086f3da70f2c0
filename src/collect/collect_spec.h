/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is measured, and from which source. struct query says which rows are made of it. */
#ifndef ZMEM_COLLECT_SPEC_H
#define ZMEM_COLLECT_SPEC_H

#include "check/compare.h"
#include "source/census_source.h"
#include "source/source.h"

struct app_rules;
struct recording_reader;

enum pss_choice {
	PSS_AUTO,   /* from the kernel's page tables, else from smaps_rollup */
	PSS_KERNEL, /* from the kernel's page tables alone */
	PSS_ROLLUP,
	PSS_NONE,
};

/* Which files are summed. A sum takes time for each inode of the machine. */
enum files_choice {
	FILES_NONE,
	FILES_SHMEM, /* of shared memory and tmpfs */
	FILES_ALL,   /* also of page cache */
};

/* Where the machine's RAM is. */
enum ram_choice {
	RAM_UNASKED,
	RAM_DETAILS, /* also its cgroups and nodes, and the names of allocations */
	RAM_SUMS,    /* as often as their CPU time allows; parts that the frames tell */
};

/* Zeroed memory asks for one snapshot with PSS from any source, without names. */
struct collect_spec {
	enum pss_choice pss;
	enum source_choice source;
	enum pin_choice pin;
	unsigned readers; /* threads that read from BPF; 0: chosen by tasks and page tables */
	bool continuous;  /* several snapshots: names are kept between them */
	int verify;	  /* the number of rows to compare with smaps_rollup, or VERIFY_ALL */
	bool seldom;	  /* if continuous: compare in every tenth snapshot, and after a change */
	enum files_choice files;
	bool shared_files; /* the program for collect/shared_read.h is loaded */
	enum ram_choice ram;
	enum census_method census_method;
	uint32_t census_pause_us; /* RAM_SUMS: the least time between two; 0: two seconds */
	bool figures_only;	  /* of the machine only what tables of processes show */
	bool swap_shmem;	  /* SWAP_SHMEM of each process, while swap is in use */
	bool swap_ram;		  /* SWAP_RAM of each process, while swap is in use */
	bool freed;		  /* FREED of each row, if the query needs it */
	unsigned pages;	    /* NEEDS_NODES, _LAZYFREE, _THP_REST, and while there are such pages
			       _HUGETLB */
	bool pages_named;   /* a column or the order names them: worth more than a pin */
	bool waits;	    /* of a series: what waits for memory, where the kernel does not say */
	bool kernel;	    /* KERNEL of each process */
	bool bpf_maps;	    /* with it: also which maps of BPF no process holds */
	bool gpu;	    /* GPU and DMABUF of each process, where there are GPUs */
	unsigned names;	    /* enum process_needs of every process shown */
	bool largest_named; /* the program names of the processes that hold most of RAM */
	bool all_names;	    /* the names of all processes that are chosen, not of a few rows */
	struct app_rules *apps; /* that name apps before all else; NULL: none */
	bool lazy_names;	/* only collector_name_rows() names rows */
	/* NULL: this machine; else snapshots are the frames of this recording. */
	struct recording_reader *recording;
};

#endif
