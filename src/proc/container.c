// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses the files in which container engines and the kubelet keep names. */
#include "proc/container.h"

#include <errno.h>

#include "base/array.h"
#include "base/json_scan.h"

bool container_id_valid(struct text_part id)
{
	if (id.len != CONTAINER_ID_LEN)
		return false;
	for (size_t i = 0; i < id.len; i++)
		if (hex_value(id.s[i]) < 0)
			return false;
	return true;
}

/* What Docker, Podman, containerd and Kubernetes allow: [a-zA-Z0-9][a-zA-Z0-9_.-]* */
static bool is_name(struct text_part name)
{
	if (!name.s || !name.len || name.len > CONTAINER_NAME_MAX)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.s[i];

		if (!is_letter(c) && !is_digit(c) && (!i || (c != '_' && c != '.' && c != '-')))
			return false;
	}
	return true;
}

/* Splits at underscores, which no name of Kubernetes has, into exactly `count` parts. */
static bool split_names(struct text_part text, struct text_part *part, size_t count)
{
	size_t n = 0;

	if (!text.len || text.s[text.len - 1] == '_')
		return false;
	while (text.len) {
		if (n == count)
			return false;
		part[n] = part_split(&text, '_');
		if (!is_name(part[n++]))
			return false;
	}
	return n == count;
}

bool container_log_parse(struct text_part file, struct container_name *ret,
			 struct text_part *ret_id)
{
	struct text_part part[3], id;

	if (!part_cut_suffix(&file, ".log") || file.len <= CONTAINER_ID_LEN + 1)
		return false;
	file.len -= CONTAINER_ID_LEN + 1; /* and the '-' */
	id = (struct text_part){file.s + file.len + 1, CONTAINER_ID_LEN};
	if (file.s[file.len] != '-' || !container_id_valid(id) || !split_names(file, part, 3))
		return false;
	*ret = (struct container_name){.pod = part[0], .namespace = part[1], .name = part[2]};
	*ret_id = id;
	return true;
}

bool container_pod_parse(struct text_part dir, struct container_name *ret,
			 struct text_part *ret_uid)
{
	struct text_part part[3];

	if (!split_names(dir, part, 3))
		return false;
	*ret = (struct container_name){.namespace = part[0], .pod = part[1]};
	*ret_uid = part[2];
	return true;
}

bool container_name_parse(struct text_part text, struct container_name *ret)
{
	struct text_part part[6];

	if (text.len && *text.s == '/')
		text = part_behind(text, 1);
	if (part_begins(text, "k8s_") && split_names(text, part, ARRAY_SIZE(part))) {
		*ret = (struct container_name){
			.name = part[1], .pod = part[2], .namespace = part[3]};
		return true;
	}
	if (!is_name(text))
		return false;
	*ret = (struct container_name){.name = text};
	return true;
}

/* ---- Docker ---- */

static int find_docker(void *arg, const struct json_found *found)
{
	static const char *const at[] = {"Name"};
	struct text_part *name = arg;

	if (!json_found_at(found, at, ARRAY_SIZE(at)))
		return 0;
	/* A key that is there twice is no key of Docker. */
	if (name->s || found->escaped)
		return -EINVAL;
	*name = found->value;
	return 0;
}

int container_docker_parse(const char *text, size_t len, struct container_name *ret)
{
	struct text_part name = {};
	int r = json_scan(text, len, find_docker, &name);

	return r == 0 && name.s && container_name_parse(name, ret) ? 0 : -EINVAL;
}

/* ---- OCI bundles ---- */

enum bundle_name { BUNDLE_NAME, BUNDLE_POD, BUNDLE_NAMESPACE, BUNDLE_NAMES };

static const struct {
	const char *key;
	enum bundle_name name;
} annotations[] = {
	/* containerd (internal/cri/annotations), CRI-O (pkg/annotations), nerdctl (pkg/labels) */
	{"io.kubernetes.cri.container-name", BUNDLE_NAME},
	{"io.kubernetes.cri.sandbox-name", BUNDLE_POD},
	{"io.kubernetes.cri.sandbox-namespace", BUNDLE_NAMESPACE},
	{"io.kubernetes.container.name", BUNDLE_NAME},
	{"io.kubernetes.pod.name", BUNDLE_POD},
	{"io.kubernetes.pod.namespace", BUNDLE_NAMESPACE},
	{"nerdctl/name", BUNDLE_NAME},
};

static int find_bundle(void *arg, const struct json_found *found)
{
	struct text_part *name = arg;

	if (found->depth != 2 || !found->key[0].s || !part_is(found->key[0], "annotations"))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(annotations); i++) {
		struct text_part *part = &name[annotations[i].name];

		if (!found->key[1].s || !part_is(found->key[1], annotations[i].key))
			continue;
		if (found->escaped || !is_name(found->value) ||
		    (part->s && !part_same(*part, found->value)))
			return -EINVAL;
		*part = found->value;
	}
	return 0;
}

int container_bundle_parse(const char *text, size_t len, struct container_name *ret)
{
	struct text_part name[BUNDLE_NAMES] = {};
	int r = json_scan(text, len, find_bundle, name);

	if (r < 0 || !name[BUNDLE_POD].s != !name[BUNDLE_NAMESPACE].s ||
	    (!name[BUNDLE_NAME].s && !name[BUNDLE_POD].s))
		return -EINVAL;
	*ret = (struct container_name){.name = name[BUNDLE_NAME],
				       .pod = name[BUNDLE_POD],
				       .namespace = name[BUNDLE_NAMESPACE]};
	return 0;
}

/* ---- containers/storage ---- */

struct store {
	void (*fn)(void *arg, struct text_part id, const struct container_name *name);
	void *arg;
	size_t item; /* of the id and the name */
	struct text_part id, name;
};

static void end_item(struct store *s)
{
	struct container_name name;

	if (s->id.s && s->name.s && container_id_valid(s->id) &&
	    container_name_parse(s->name, &name))
		s->fn(s->arg, s->id, &name);
	s->id = s->name = (struct text_part){};
}

static int find_store(void *arg, const struct json_found *found)
{
	static const char *const id[] = {NULL, "id"}, *const name[] = {NULL, "names", NULL};
	struct store *s = arg;

	if (found->item != s->item)
		end_item(s);
	s->item = found->item;
	if (found->escaped)
		return 0;
	if (json_found_at(found, id, ARRAY_SIZE(id)))
		s->id = found->value;
	else if (!s->name.s && json_found_at(found, name, ARRAY_SIZE(name)))
		s->name = found->value; /* others are aliases */
	return 0;
}

int container_store_parse(const char *text, size_t len,
			  void (*fn)(void *arg, struct text_part id,
				     const struct container_name *name),
			  void *arg)
{
	struct store s = {.fn = fn, .arg = arg};
	int r = json_scan(text, len, find_store, &s);

	if (r == 0)
		end_item(&s);
	return r;
}
