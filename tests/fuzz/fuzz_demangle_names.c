// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of Rust: a name that is refused writes nothing, and the path is not longer than the name.
 */
#include "demangle/demangle.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf out = {};
	char *name = fuzz_string(data, size);
	bool is;

	strbuf_puts(&out, "before");
	is = demangle_rust(name, &out);
	FUZZ_CHECK(memcmp(out.data, "before", 6) == 0);
	FUZZ_CHECK(is ? out.len > 6 : out.len == 6);
	/* Each length of a name has a digit, and "::" takes no more. */
	FUZZ_CHECK(out.len - 6 <= 2 * strlen(name));
	if (is)
		FUZZ_CHECK(strncmp(name, "_ZN", 3) == 0);
	out.len = 6;
	/* A back reference may make it longer than the name, up to a bound. */
	is = demangle_rust_v0(name, &out);
	FUZZ_CHECK(memcmp(out.data, "before", 6) == 0);
	FUZZ_CHECK(is ? out.len > 6 && out.len <= 6 + 4096 : out.len == 6);
	strbuf_clear(&out);
	demangle(name, &out);
	FUZZ_CHECK(strbuf_error(&out) == 0);
	strbuf_done(&out);
	free(name);
	return 0;
}
