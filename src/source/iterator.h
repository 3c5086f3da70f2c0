/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens iterators of BPF programs, and reads those with records that all have the same size. */
#ifndef ZMEM_SOURCE_ITERATOR_H
#define ZMEM_SOURCE_ITERATOR_H

#include <linux/bpf.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * These return a descriptor or a negative errno. `only`: the process or the thread, in our pid
 * namespace, that it is over; NULL: all.
 */
int iterator_link(int prog_fd, union bpf_iter_link_info *only);
int iterator_open(int prog_fd, union bpf_iter_link_info *only);
/*
 * Has the program visit all threads of a process, which may write less than `cap` bytes. Returns
 * their number or a negative errno.
 */
ssize_t iterator_visit(int prog_fd, pid_t pid, void *buf, size_t cap);
/*
 * Calls fn for each record until it returns less than 0. Returns the number of records, or a
 * negative errno: that of fn, or -EBADMSG for a part of a record at the end.
 */
ssize_t iterator_read(int fd, size_t size, int (*fn)(void *arg, const void *record), void *arg);

/* Runs an iterator with a program that writes nothing. Returns 0 or a negative errno. */
int iterator_run(int link_fd);

#endif
