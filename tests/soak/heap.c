// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A library to preload into a long-running command. Before each wait in poll(), it writes the heap
 * bytes in use to the file HEAP_FILE: first the value of the initial process, then that of its
 * child. The file is mapped at the start, before the program drops privileges.
 */
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct told {
	volatile uint64_t heap;
};

static struct told *told;
static pid_t first;

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("HEAP_FILE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p;

	first = getpid();
	if (fd < 0)
		return;
	p = mmap(NULL, 2 * sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	told = p == MAP_FAILED ? NULL : p;
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	const struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};

	if (told) {
		struct mallinfo2 info = mallinfo2();

		told[getpid() != first].heap = info.uordblks + info.hblkhd;
	}
	return ppoll(fds, count, timeout_ms < 0 ? NULL : &timeout, NULL);
}
