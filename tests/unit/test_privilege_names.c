// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of the names of capabilities. */
#include "unit.h"

#include "privilege/privilege.h"

/* The list of names that doctor shows. */
TEST(names)
{
	char text[120];

	privilege_names(0, text, sizeof(text));
	assert_string_equal(text, "none");
	privilege_names(UINT64_C(1) << 19 | UINT64_C(1) << 39, text, sizeof(text));
	assert_string_equal(text, "CAP_SYS_PTRACE, CAP_BPF");
	privilege_names(0xfff, text, sizeof(text));
	assert_string_equal(text, "12 capabilities");
	privilege_names(0xff, text, 20);
	assert_string_equal(text, "CAP_CHOWN, CAP_DAC_");
}
