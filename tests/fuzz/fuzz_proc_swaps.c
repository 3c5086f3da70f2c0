// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/swaps: parsed values, printed and parsed again, are the same. */
#include <errno.h>
#include <inttypes.h>

#include "fuzz.h"
#include "model/system.h"

#define DEVICES 8

static const char *const kinds[] = {
	[SWAP_OTHER] = "?", [SWAP_PARTITION] = "partition", [SWAP_FILE] = "file"};

/* As the kernel writes it; every byte as an escape. */
static size_t print_device(char *text, const struct swap_device *d)
{
	size_t len = 0;

	FUZZ_CHECK(d->name[0] && (!d->name_cut || strlen(d->name) == SWAP_NAME_MAX));
	for (const char *c = d->name; *c; c++)
		len += (size_t)sprintf(text + len, "\\%03o", (unsigned char)*c);
	FUZZ_CHECK(d->size % 1024 == 0 && d->used % 1024 == 0);
	return len + (size_t)sprintf(text + len, " %s\t%" PRIu64 "\t\t%" PRIu64 "\t\t%d\n",
				     kinds[d->kind], d->size / 1024, d->used / 1024, d->priority);
}

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[64 + DEVICES * 1200];
	struct swap_device device[DEVICES], again[DEVICES];
	int count = swaps_parse((const char *)data, size, device, DEVICES), lines = 0;
	size_t len = (size_t)sprintf(text, "Filename\n");

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	FUZZ_CHECK(count == -EINVAL || (count >= 0 && count <= DEVICES));
	FUZZ_CHECK(count <= 0 || count < lines);
	for (int i = 0; i < count; i++)
		len += print_device(text + len, &device[i]);
	if (count < 0)
		return 0;
	FUZZ_CHECK(swaps_parse(text, len, again, DEVICES) == count);
	for (int i = 0; i < count; i++) {
		FUZZ_CHECK(!strcmp(device[i].name, again[i].name));
		FUZZ_CHECK(device[i].kind == again[i].kind && device[i].size == again[i].size &&
			   device[i].used == again[i].used &&
			   device[i].priority == again[i].priority);
	}
	/* In a cut text, the last line may be incomplete. */
	if (count)
		FUZZ_CHECK(swaps_parse(text, len - 1, again, DEVICES) == count - 1);
	return 0;
}
