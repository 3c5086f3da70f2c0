/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cleanup attributes: a variable declared with one is released at the end of its scope. */
#ifndef ZMEM_BASE_CLEANUP_H
#define ZMEM_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns the value of a variable and resets it, so that its cleanup does nothing. */
#define TAKE_PTR(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})
#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Closes a descriptor if it is open, and sets it to -1. */
static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(TAKE_FD(*fd));
}

static inline void cleanup_closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static inline void cleanup_fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* A macro is not expanded within itself, so the inner word is the attribute of the compiler. */
#define cleanup(fn)	 __attribute__((cleanup(fn)))
#define cleanup_free	 cleanup(cleanup_freep)
#define cleanup_close	 cleanup(cleanup_closep)
#define cleanup_closedir cleanup(cleanup_closedirp)
#define cleanup_fclose	 cleanup(cleanup_fclosep)

#endif
