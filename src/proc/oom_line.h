/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lines of the kernel's log that say why a process is killed (dump_header(), mm/oom_kill.c). */
#ifndef ZMEM_PROC_OOM_LINE_H
#define ZMEM_PROC_OOM_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OOM_CGROUP_MAX 512

/* The allocation that failed. */
struct oom_request {
	char gfp[96];	/* "GFP_KERNEL|__GFP_ZERO"; "": not known */
	uint32_t order; /* 2^order pages */
};

struct oom_line {
	int32_t pid;	     /* in the first pid namespace; of the thread that was chosen */
	char constraint[16]; /* "none", "memcg", "cpuset", "memory_policy" */
	/*
	 * The cgroup that reached its limit; "": the machine, too long, or not known, because the
	 * name of a cgroup or of the process looks like a part of the line.
	 */
	char cgroup[OOM_CGROUP_MAX];
	struct oom_request request;	  /* of the line before; not parsed here */
	char task_cgroup[OOM_CGROUP_MAX]; /* the memory cgroup of the process; "" likewise */
};

/*
 * Parses a record of /dev/kmsg. Only records of the kernel itself count: processes can write there,
 * too. Returns 0, -ENOENT for another record, or -EINVAL.
 */
int oom_line_parse(const char *text, size_t len, struct oom_line *ret);
/* Likewise the line before it: "NAME invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, …".
 */
int oom_request_parse(const char *text, size_t len, struct oom_request *ret);
/*
 * Likewise "Memory cgroup stats for PATH:", before the line of the kill. ret: "" if the path is too
 * long. Returns 0 or -ENOENT.
 */
int oom_group_parse(const char *text, size_t len, char ret[OOM_CGROUP_MAX]);
/*
 * Whether the record is "Out of memory and no killable processes...": an allocation failed in a
 * memory cgroup, and the kernel found nothing to kill (out_of_memory(), mm/oom_kill.c). A machine
 * without a process to kill panics.
 */
bool oom_line_no_victim(const char *text, size_t len);

#endif
