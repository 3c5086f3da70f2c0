// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Files of container engines and names of log directories: a name is part of the text, has none of
 * the bytes that other programs refuse, and a text that is cut has no name that the whole lacks.
 */
#include "base/json_scan.h"
#include "fuzz.h"
#include "proc/cgroup.h"
#include "proc/container.h"

struct input {
	const char *text;
	size_t size, strings;
};

static void check_part(struct text_part part, const struct input *in)
{
	fuzz_check_part(part.s, part.len, in->text, in->size);
	FUZZ_CHECK(!part.s || (part.len && part.len <= CONTAINER_NAME_MAX));
	for (size_t i = 0; i < part.len; i++)
		FUZZ_CHECK(is_letter(part.s[i]) || is_digit(part.s[i]) ||
			   (i && strchr("_.-", part.s[i]) && part.s[i]));
}

static void check_name(const struct container_name *name, const struct input *in)
{
	check_part(name->name, in);
	check_part(name->pod, in);
	check_part(name->namespace, in);
	FUZZ_CHECK(!name->pod.s == !name->namespace.s);
	FUZZ_CHECK(name->name.s || name->pod.s);
}

static int check_string(void *arg, const struct json_found *found)
{
	struct input *in = arg;

	FUZZ_CHECK(found->depth <= JSON_SCAN_DEPTH);
	fuzz_check_part(found->value.s, found->value.len, in->text, in->size);
	for (unsigned i = 0; i < found->depth; i++)
		fuzz_check_part(found->key[i].s, found->key[i].len, in->text, in->size);
	in->strings++;
	return 0;
}

static void check_stored(void *arg, struct text_part id, const struct container_name *name)
{
	FUZZ_CHECK(container_id_valid(id));
	check_name(name, arg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {(const char *)data, size, 0};
	struct text_part all = {in.text, size}, part;
	struct container_name name;
	char buf[64];
	int r = json_scan(in.text, size, check_string, &in);

	FUZZ_CHECK(r <= 0);
	if (container_docker_parse(in.text, size, &name) == 0) {
		FUZZ_CHECK(r == 0 && in.strings);
		check_name(&name, &in);
		FUZZ_CHECK(name.name.s);
	}
	if (container_bundle_parse(in.text, size, &name) == 0) {
		FUZZ_CHECK(r == 0 && in.strings);
		check_name(&name, &in);
	}
	FUZZ_CHECK(container_store_parse(in.text, size, check_stored, &in) == r);
	if (container_log_parse(all, &name, &part)) {
		check_name(&name, &in);
		FUZZ_CHECK(name.name.s && name.pod.s && container_id_valid(part));
	}
	if (container_pod_parse(all, &name, &part)) {
		check_name(&name, &in);
		FUZZ_CHECK(!name.name.s);
	}
	if (container_name_parse(all, &name))
		check_name(&name, &in);
	if (cgroup_pod_uid(all, &part))
		fuzz_check_part(part.s, part.len, in.text, size);
	size = cgroup_unescape(all, buf, sizeof(buf));
	FUZZ_CHECK(size <= sizeof(buf) && !memchr(buf, '/', size) && !memchr(buf, 0, size));
	return 0;
}
