// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows the keys of the parts of RAM, for every document that has them. */
#include "render/json_account.h"

#include "base/array.h"

/* A key and whose figure it has. */
struct entry {
	struct json_key key;
	enum account_part part;
};

#define ENTRY(key, part)                                                                           \
	{                                                                                          \
		JSON_KEY_OF(key), part                                                             \
	}

static void put_parts(struct json_writer *w, const struct account *a, const struct entry *e,
		      size_t count)
{
	for (; count--; e++) {
		json_key(w, e->key);
		json_known_i64(w, account_has(a, e->part), a->value[e->part]);
	}
}

void json_account(struct json_writer *w, const struct account *a)
{
	static const struct entry parts[] = {
		ENTRY("total_bytes", ACCOUNT_TOTAL),
		ENTRY("kernel_bytes", ACCOUNT_KERNEL),
		ENTRY("user_bytes", ACCOUNT_USER),
		ENTRY("cache_bytes", ACCOUNT_CACHE),
		ENTRY("hugetlb_bytes", ACCOUNT_HUGETLB),
		ENTRY("free_bytes", ACCOUNT_FREE),
		ENTRY("unaccounted_bytes", ACCOUNT_UNACCOUNTED),
	};
	static const struct entry kernel[] = {
		ENTRY("slab_reclaimable_bytes", ACCOUNT_SLAB_RECLAIMABLE),
		ENTRY("slab_unreclaimable_bytes", ACCOUNT_SLAB_UNRECLAIMABLE),
		ENTRY("page_tables_bytes", ACCOUNT_PAGE_TABLES),
		ENTRY("secondary_page_tables_bytes", ACCOUNT_SEC_PAGE_TABLES),
		ENTRY("stacks_bytes", ACCOUNT_STACKS),
		ENTRY("vmalloc_bytes", ACCOUNT_VMALLOC),
		ENTRY("percpu_bytes", ACCOUNT_PERCPU),
		ENTRY("compressed_swap_bytes", ACCOUNT_COMPRESSED_SWAP),
		ENTRY("other_bytes", ACCOUNT_OTHER),
	};
	static const struct entry user[] = {
		ENTRY("anon_bytes", ACCOUNT_ANON),
		ENTRY("mapped_bytes", ACCOUNT_MAPPED),
	};

	json_newline(w);
	JSON_KEY(w, "memory");
	json_begin(w, '{');
	put_parts(w, a, parts, ARRAY_SIZE(parts));
	json_end(w, '}');
	json_newline(w);
	JSON_KEY(w, "kernel");
	json_begin(w, '{');
	put_parts(w, a, kernel, ARRAY_SIZE(kernel));
	json_end(w, '}');
	json_newline(w);
	JSON_KEY(w, "user");
	json_begin(w, '{');
	put_parts(w, a, user, ARRAY_SIZE(user));
	json_end(w, '}');
}
