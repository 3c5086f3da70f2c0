/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Other layouts of the types in vmlinux.h. CO-RE drops the part of a name behind ___. The BTF of a
 * kernel decides which layout it has, never its version.
 */
#ifndef ZMEM_FLAVORS_H
#define ZMEM_FLAVORS_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/*
 * Until Linux 6.1 the resident set was one atomic per kind, plus what each thread had not added
 * yet. f1a7941243c1 ("mm: convert mm's rss stats into percpu_counter", 6.2) replaced both.
 */
struct mm_rss_stat___pre62 {
	atomic_long_t count[1];
};

struct mm_struct___pre62 {
	struct mm_rss_stat___pre62 rss_stat;
};

struct task_rss_stat___pre62 {
	int count[1];
};

struct task_struct___pre62 {
	struct task_rss_stat___pre62 rss_stat;
};

#pragma clang attribute pop

#endif
