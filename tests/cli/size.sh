#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The static program, which is copied to servers: small when stripped, with the same functions.
. "$(dirname "$0")/../support/cli.sh"

# libzstd is a quarter of it.
LIMIT=$((7 << 19))
static=$O/zmem-bpf-static
if [ ! -x "$static" ]; then
	skip 'the static program' 'not built'
	exit 0
fi

# functions FILE: the number of functions with unwind tables.
functions() {
	readelf -wf "$1" 2>/dev/null | grep -c ' FDE '
}

strip -R .eh_frame -o "$TMP/stripped" "$static"
size=$(stat -c %s "$TMP/stripped")
check "stripped, it has less than 3.5 MiB ($size bytes)" [ "$size" -lt "$LIMIT" ]
equal 'it needs no shared library' "$(readelf -d "$static" | grep -c NEEDED)" 0
# For a debugger: lines and unwind tables, also of libraries.
check 'unstripped, it has debug information' grep -q '\.debug_line' <(readelf -SW "$static")
check 'unstripped, it has unwind tables' [ "$(functions "$static")" -gt 2000 ]
equal 'stripped, it has no unwind tables' "$(functions "$TMP/stripped")" 0

ZMEM=$TMP/stripped
zmem --version
expect_rc 'stripped: --version' 0
zmem -J -p $$
expect_rc 'stripped: a snapshot' 0
equal 'stripped: the snapshot has the process' "$(jq '.processes[].pid' "$TMP/out")" $$
zmem doctor -v
expect_rc 'stripped: doctor' 0
zmem -F html -p $$
expect_rc 'stripped: a page' 0
equal 'stripped: the page is complete' "$(tail -n 1 "$TMP/out")" '</html>'
