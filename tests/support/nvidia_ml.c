// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * In place of libnvidia-ml: two devices. The processes are in the file USES, lines "LIST DEVICE PID
 * BYTES GPU-INSTANCE COMPUTE-INSTANCE", with list c or g. The file MODE says what else it does: a
 * word of those below. Built with -DOLD it has the functions of older drivers.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef OLD
#define LATEST(name) name##_v2
#else
#define LATEST(name) name##_v3
#endif

struct pci {
	char old_id[16];
	unsigned domain, bus, device, ids, subsystem;
#ifndef OLD
	char id[32];
#endif
};

struct process {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};

static char devices[2];

static int is_mode(const char *mode)
{
	char word[32] = "";
	FILE *f = fopen(MODE, "r");

	if (f && fscanf(f, "%31s", word) != 1)
		*word = '\0';
	if (f)
		fclose(f);
	return strcmp(word, mode) == 0;
}

const char *nvmlErrorString(int error)
{
	return error == 9   ? "Driver Not Loaded"
	       : error == 3 ? "Not Supported"
			    : "\033[31mUnknown\n";
}

int nvmlInit_v2(void)
{
	FILE *f = fopen(STATUS, "w"), *own = fopen("/proc/self/status", "r");
	char line[256];

	while (own && f && fgets(line, sizeof(line), own))
		fputs(line, f);
	if (own)
		fclose(own);
	if (f)
		fclose(f);
	while (is_mode("hang"))
		pause();
	while (is_mode("spin"))
		;
	if (is_mode("crash"))
		raise(SIGSEGV);
	if (is_mode("exit"))
		exit(0);
	/* On the descriptor that answers go to. */
	while (is_mode("write"))
		if (write(3, line, sizeof(line)) < 0)
			pause();
	if (is_mode("escape"))
		return 999;
	return is_mode("unloaded") ? 9 : 0;
}

#ifndef MISSING
int nvmlDeviceGetCount_v2(unsigned *ret)
{
	*ret = is_mode("many") ? ~0U : 2;
	return 0;
}
#endif

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret)
{
	*ret = &devices[index & 1];
	return 0;
}

int LATEST(nvmlDeviceGetPciInfo)(void *device, struct pci *ret)
{
	*ret = (struct pci){.bus = (char *)device == devices ? 0x41 : 0xc1};
	return 0;
}

static int list(void *device, unsigned *count, void *ret, char which)
{
	const size_t size = sizeof(struct process) + (is_mode("longer") ? 8 : 0);
	unsigned cap = *count, found = 0, index;
	struct process p = {};
	FILE *f;
	char of;

	if (is_mode("graphics") && which == 'g')
		return 3;
	if (is_mode("lie"))
		*count = 0x7fffffff;
	if (is_mode("lie"))
		return 0;
	for (; is_mode("crowd") && found < cap; found++) {
		p.pid = 1 + found;
		memcpy((char *)ret + found * size, &p, sizeof(p));
	}
	f = fopen(USES, "r");
	while (f && found < cap &&
	       fscanf(f, " %c %u %u %llu %u %u", &of, &index, &p.pid, &p.bytes, &p.gpu_instance,
		      &p.compute_instance) == 6) {
		if (of != which || &devices[index & 1] != device)
			continue;
		memset((char *)ret + found * size, 0, size);
		memcpy((char *)ret + found++ * size, &p, sizeof(p));
	}
	if (f)
		fclose(f);
	*count = found;
	return 0;
}

int LATEST(nvmlDeviceGetComputeRunningProcesses)(void *device, unsigned *count, void *ret)
{
	return list(device, count, ret, 'c');
}

int LATEST(nvmlDeviceGetGraphicsRunningProcesses)(void *device, unsigned *count, void *ret)
{
	return list(device, count, ret, 'g');
}
