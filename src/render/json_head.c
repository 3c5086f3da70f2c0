// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows what every document says of itself and of the machine, not what it is about. */
#include "render/json_head.h"

#include "render/format.h"

void json_head(struct json_writer *w, const char *schema, const char *version, int64_t time_ms)
{
	char time[FORMAT_MAX + 1];

	json_newline(w);
	JSON_KEY(w, "schema");
	json_string(w, schema);
	json_newline(w);
	JSON_KEY(w, "schema_version");
	json_string(w, version);
	json_newline(w);
	JSON_KEY(w, "tool");
	json_begin(w, '{');
	JSON_KEY(w, "name");
	json_string(w, "zmem-bpf");
	JSON_KEY(w, "version");
	json_string(w, ZMEM_VERSION);
	json_end(w, '}');
	json_newline(w);
	JSON_KEY(w, "timestamp");
	time[format_time(time, time_ms, TIME_JSON)] = '\0';
	json_string(w, time);
	json_newline(w);
	JSON_KEY(w, "timestamp_ms");
	json_i64(w, time_ms);
}

void json_host(struct json_writer *w, const struct host_info *h)
{
	json_newline(w);
	JSON_KEY(w, "host");
	json_begin(w, '{');
	JSON_KEY(w, "name");
	json_string(w, h->name);
	JSON_KEY(w, "boot_id");
	json_string(w, *h->boot_id ? h->boot_id : NULL);
	JSON_KEY(w, "kernel_release");
	json_string(w, h->kernel_release);
	JSON_KEY(w, "arch");
	json_string(w, h->arch);
	JSON_KEY(w, "page_size_bytes");
	json_u64(w, h->page_size);
	JSON_KEY(w, "cpus");
	json_u64(w, h->cpus);
	json_end(w, '}');
}
