/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names that people gave to containers, as engines and the kubelet write them into files:
 * Docker, containers/storage (Podman, CRI-O), bundles of the OCI runtime (containerd, nerdctl,
 * CRI-O), and the log directories of the kubelet. A name is only accepted if it is one that these
 * programs allow, so it never needs an escape.
 */
#ifndef ZMEM_PROC_CONTAINER_H
#define ZMEM_PROC_CONTAINER_H

#include "base/parse.h"

#define CONTAINER_ID_LEN   64
#define CONTAINER_ID_SHOWN 12  /* of a container without a name */
#define CONTAINER_NAME_MAX 253 /* a DNS subdomain, the longest name of a pod */

/* True for 64 lower-case hexadecimal digits. */
bool container_id_valid(struct text_part id);

/* The slices of a container's names. */
struct container_name {
	struct text_part namespace; /* namespace of the pod; s NULL without a pod */
	struct text_part pod;
	struct text_part name; /* s NULL: only the pod is known */
};

/* /var/log/containers/: "web-0_prod_app-<id>.log". False if it is no such name. */
bool container_log_parse(struct text_part file, struct container_name *ret,
			 struct text_part *ret_id);
/* /var/log/pods/: "prod_web-0_<uid of the pod>". */
bool container_pod_parse(struct text_part dir, struct container_name *ret,
			 struct text_part *ret_uid);

/*
 * The name that an engine stores: "web", Docker's "/web", or the kubelet's
 * "k8s_app_web-0_prod_<uid>_0" of cri-dockerd and CRI-O.
 */
bool container_name_parse(struct text_part text, struct container_name *ret);

/* Docker's config.v2.json. The next three return 0, or -EINVAL if the file has no valid name. */
int container_docker_parse(const char *text, size_t len, struct container_name *ret);
/* config.json of an OCI bundle, by its annotations. */
int container_bundle_parse(const char *text, size_t len, struct container_name *ret);
/*
 * containers.json of containers/storage. Calls fn for each container with a valid id and name.
 * Returns 0, or a negative errno if the file is not JSON; fn has seen the part before.
 */
int container_store_parse(const char *text, size_t len,
			  void (*fn)(void *arg, struct text_part id,
				     const struct container_name *name),
			  void *arg);

#endif
