// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program of its own that loads libnvidia-ml, which the driver of NVIDIA brings, and tells how
 * much memory of GPUs each process uses. zmem-bpf carries it and runs it from memory: the library
 * may hang or crash, and the static program can load none. It is started as a helper
 * (privilege/helper.h), which sends requests without data.
 *
 * It is linked such that it names functions of libc without a version, so any glibc will do: that
 * of the machine it runs on may be older than the one it was built with.
 *
 * Names and layouts are those of NVIDIA's documentation (NVML API Reference Guide).
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "privilege/helper.h"
#include "source/nvml_protocol.h"

#define LIBRARY "libnvidia-ml.so.1"

/* nvmlReturn_t */
#define SUCCESS	      0
#define NOT_SUPPORTED 3

/* nvmlPciInfo_t; that of nvmlDeviceGetPciInfo_v2 begins alike, and is shorter. */
struct pci {
	char old_id[16];
	unsigned domain, bus, device, ids, subsystem;
	char id[32];
};

/* nvmlProcessInfo_t of the functions with _v2 and _v3. */
struct process {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};

/* The drivers 535.43 to 535.86 wrote another 8 bytes for each process. */
#define LONGER	  (sizeof(struct process) + 8)

#define DEVICES	  256
#define PROCESSES 4096
#define UNTOUCHED 0xa5

static struct {
	void *library;
	bool begun;
	int (*init)(void);
	int (*count)(unsigned *ret);
	int (*handle)(unsigned index, void **ret);
	int (*pci)(void *device, struct pci *ret);
	const char *(*words)(int error);
	int (*compute)(void *device, unsigned *count, void *ret);
	int (*graphics)(void *device, unsigned *count, void *ret);
} nvml;

static struct nvml_answer answer;
static struct nvml_use use[NVML_USES];
static unsigned char list[PROCESSES * LONGER];

static void copy(char *to, size_t cap, const char *from)
{
	size_t i = 0;

	for (; from && from[i] && i + 1 < cap; i++)
		to[i] = from[i] < ' ' || from[i] > '~' ? '?' : from[i];
	to[i] = '\0';
}

/* Returns false, for the caller. */
static bool fail(const char *call, const char *words)
{
	copy(answer.call, sizeof(answer.call), call);
	copy(answer.words, sizeof(answer.words), words);
	return false;
}

static bool fail_code(const char *call, int code)
{
	return fail(call, nvml.words(code));
}

/* The newer of two functions, or the older one. */
static bool find(void *ret, const char *name, const char *older)
{
	void *function = dlsym(nvml.library, name);

	if (!function && older)
		function = dlsym(nvml.library, older);
	if (!function)
		return fail(name, "the library does not have it");
	memcpy(ret, &function, sizeof(function));
	return true;
}

static bool load(void)
{
	if (!nvml.library)
		nvml.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!nvml.library)
		return fail("dlopen", dlerror());
	return find(&nvml.words, "nvmlErrorString", NULL) &&
	       find(&nvml.init, "nvmlInit_v2", NULL) &&
	       find(&nvml.count, "nvmlDeviceGetCount_v2", NULL) &&
	       find(&nvml.handle, "nvmlDeviceGetHandleByIndex_v2", NULL) &&
	       find(&nvml.pci, "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2") &&
	       find(&nvml.compute, "nvmlDeviceGetComputeRunningProcesses_v3",
		    "nvmlDeviceGetComputeRunningProcesses_v2") &&
	       find(&nvml.graphics, "nvmlDeviceGetGraphicsRunningProcesses_v3",
		    "nvmlDeviceGetGraphicsRunningProcesses_v2");
}

/* A process that computes and draws is in both lists of a device. */
static bool add(uint32_t first, const struct pci *pci, const struct process *p)
{
	for (uint32_t i = first; i < answer.count; i++) {
		const struct nvml_use *u = &use[i];

		if (u->pid == (int32_t)p->pid && u->gpu_instance == p->gpu_instance &&
		    u->compute_instance == p->compute_instance)
			return true;
	}
	if (answer.count == NVML_USES)
		return fail(LIBRARY, "too many processes");
	use[answer.count++] = (struct nvml_use){.domain = pci->domain,
						.bus = pci->bus,
						.device = pci->device,
						.pid = (int32_t)p->pid,
						.bytes = p->bytes,
						.gpu_instance = p->gpu_instance,
						.compute_instance = p->compute_instance};
	return true;
}

static size_t item_size(unsigned count)
{
	for (size_t i = count * sizeof(struct process); i < count * LONGER; i++) {
		if (list[i] != UNTOUCHED)
			return LONGER;
	}
	return sizeof(struct process);
}

/* `first`: the first use of this device. */
static bool add_list(uint32_t first, void *device, const struct pci *pci, bool graphics)
{
	unsigned count = PROCESSES;
	size_t size;
	int r;

	memset(list, UNTOUCHED, sizeof(list));
	r = (graphics ? nvml.graphics : nvml.compute)(device, &count, list);
	/* Devices without graphics, or divided ones. */
	if (r == NOT_SUPPORTED && graphics)
		return true;
	if (r != SUCCESS)
		return fail_code(graphics ? "nvmlDeviceGetGraphicsRunningProcesses"
					  : "nvmlDeviceGetComputeRunningProcesses",
				 r);
	if (count > PROCESSES)
		return fail(LIBRARY, "too many processes");
	size = item_size(count);
	for (unsigned i = 0; i < count; i++) {
		struct process p;

		memcpy(&p, list + i * size, sizeof(p));
		if (!add(first, pci, &p))
			return false;
	}
	return true;
}

static bool add_device(unsigned index)
{
	struct pci pci = {};
	void *device = NULL;
	uint32_t first = answer.count;
	int r = nvml.handle(index, &device);

	if (r != SUCCESS)
		return fail_code("nvmlDeviceGetHandleByIndex", r);
	r = nvml.pci(device, &pci);
	if (r != SUCCESS)
		return fail_code("nvmlDeviceGetPciInfo", r);
	return add_list(first, device, &pci, false) && add_list(first, device, &pci, true);
}

static bool read_devices(void)
{
	unsigned count = 0;
	int r;

	if (!load())
		return false;
	r = nvml.begun ? SUCCESS : nvml.init();
	if (r != SUCCESS)
		return fail_code("nvmlInit", r);
	nvml.begun = true;
	r = nvml.count(&count);
	if (r != SUCCESS)
		return fail_code("nvmlDeviceGetCount", r);
	if (count > DEVICES)
		return fail("nvmlDeviceGetCount", "too many devices");
	for (unsigned i = 0; i < count; i++) {
		if (!add_device(i))
			return false;
	}
	return true;
}

int main(void)
{
	struct helper_head head;

	while (read(HELPER_PROGRAM_FD, &head, sizeof(head)) == (ssize_t)sizeof(head)) {
		struct iovec part[] = {{&head, sizeof(head)}, {&answer, sizeof(answer)}, {use, 0}};

		memset(&answer, 0, sizeof(answer));
		if (!read_devices())
			answer.count = 0;
		part[2].iov_len = answer.count * sizeof(*use);
		if (writev(HELPER_PROGRAM_FD, part, 3) < 0)
			break;
	}
	return 0;
}
