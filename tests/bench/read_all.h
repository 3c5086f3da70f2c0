/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens, reads and closes a file of every process: the minimum work of any tool that reads it. */
#ifndef BENCH_READ_ALL_H
#define BENCH_READ_ALL_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static inline void read_file(const char *path)
{
	char text[8192];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while (read(fd, text, sizeof(text)) > 0)
		;
	close(fd);
}

static inline void read_all(const char *file)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	char path[300];

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/%s", entry->d_name, file);
		read_file(path);
	}
	closedir(dir);
}

#endif
