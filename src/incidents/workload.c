// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a victim belongs to, in words that stay when it is started again. */
#include <stdio.h>
#include <string.h>

#include "incidents/incidents.h"
#include "proc/cgroup.h"

/* The shortest uid of a pod: that of a static one is a hash. */
#define POD_UID_LEN 32

/* A container without a name has the beginning of its id instead. */
static bool has_name(const struct event_record *e)
{
	const char *name = event_text(e, EVENT_CONTAINER), *id = event_text(e, EVENT_CONTAINER_ID);

	return name && !(id && strncmp(id, name, strlen(name)) == 0);
}

/* Of a pod without a name: its uid, in the path of its containers. */
static bool find_pod_uid(const char *path, struct text_part *ret)
{
	bool found = false;

	while (path && *path) {
		const size_t len = strcspn(path, "/");
		struct text_part uid;

		if (cgroup_pod_uid((struct text_part){path, len}, &uid) && uid.len >= POD_UID_LEN) {
			*ret = uid;
			found = true;
		}
		path += len + (path[len] == '/');
	}
	return found;
}

static void put_pod_uid(struct text_part uid, char buf[EVENT_WORKLOAD])
{
	snprintf(buf, EVENT_WORKLOAD, "pod %.*s", (int)uid.len, uid.s);
	/* As Kubernetes shows it. */
	for (char *c = buf; *c; c++)
		*c = *c == '_' ? '-' : *c;
}

const char *event_workload(const struct event_record *e, char buf[EVENT_WORKLOAD])
{
	const char *namespace = event_text(e, EVENT_NAMESPACE), *pod = event_text(e, EVENT_POD);
	const char *unit = event_text(e, EVENT_UNIT), *cgroup = event_text(e, EVENT_CGROUP);
	struct text_part uid;

	if (pod)
		snprintf(buf, EVENT_WORKLOAD, "pod %s%s%s", namespace ? namespace : "",
			 namespace ? "/" : "", pod);
	else if (find_pod_uid(cgroup, &uid))
		put_pod_uid(uid, buf);
	else if (has_name(e))
		snprintf(buf, EVENT_WORKLOAD, "container %s", event_text(e, EVENT_CONTAINER));
	else if (unit)
		snprintf(buf, EVENT_WORKLOAD, "unit %s", unit);
	else
		return cgroup;
	return buf;
}
