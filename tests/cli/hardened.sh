#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The programs as they are built. Protection against overflows, read from their headers: position independent code, no
# writable code or function tables, canaries, checked calls of libc.
. "$(dirname "$0")/../support/cli.sh"

if sanitized; then
	skip 'hardened' 'sanitizers have checks of their own'
	exit 0
fi

# hardened NAME PROGRAM OBJECTS: checks one program and the archives it was linked from.
hardened() {
	local name=$1 program=$2 objects=$3 module
	readelf -lWd "$program" >"$TMP/elf" || not_ok "$name: readelf" 'failed'
	check "$name: position independent" grep -q '^Elf file type is DYN (Position-Independent' "$TMP/elf"
	check "$name: flagged as PIE" grep -q 'FLAGS_1.*PIE' "$TMP/elf"
	check "$name: bound before main" grep -qE '\((FLAGS|FLAGS_1)\).*NOW' "$TMP/elf"
	check "$name: function tables are read-only" grep -q '^ *GNU_RELRO ' "$TMP/elf"
	equal "$name: the stack is not executable" "$(awk '$1 == "GNU_STACK" { print $(NF - 1) }' "$TMP/elf")" RW
	equal "$name: no segment is writable and executable" "$(grep -cE '^ *LOAD .* [R ]WE ' "$TMP/elf")" 0
	equal "$name: no code is relocated" "$(grep -c TEXTREL "$TMP/elf")" 0
	for module in command proc recording report session source; do
		check "$name: $module has canaries" grep -q ' U __stack_chk_fail$' <(nm "$objects/lib$module.a")
		check "$name: $module has checked calls" grep -qE ' U __[a-z]+_chk$' <(nm "$objects/lib$module.a")
	done
}

hardened 'the program' "$PROGRAM" "${B:-$O/obj}"
check 'the program: linked with checked calls' \
	grep -q ' __stack_chk_fail@' <(readelf -W --dyn-syms "$PROGRAM")
if [ -x "$O/zmem-bpf-static" ]; then
	hardened 'the static program' "$O/zmem-bpf-static" "$O/obj-static"
else
	not_ok 'the static program' 'not built (make test-build)'
	exit
fi

# ---- the static program, which is copied to servers: small when stripped, with the same functions ----

# 3.2 MiB, rounded, with libdw. tests/bench/size.py says what takes it.
LIMIT=$((325 * (1 << 20) / 100))
static=$O/zmem-bpf-static
# functions FILE: the number of functions with unwind tables.
functions() {
	readelf -wf "$1" 2>/dev/null | grep -c ' FDE '
}

strip -R .eh_frame -o "$TMP/stripped" "$static"
size=$(stat -c %s "$TMP/stripped")
check "stripped, it has less than $LIMIT bytes ($size)" [ "$size" -lt "$LIMIT" ]
run_expect 0 'the table of its parts' "$SUPPORT/../bench/size.py" "$static"
# expect_part NAME AT_LEAST: a part has that many bytes.
expect_part() {
	check "the table has $1" [ "$(sed -n "s/^| $1 | \([0-9,]*\) .*/\1/p" "$TMP/out" | tr -d ,)" -ge "$2" ]
}
expect_part 'the file, stripped' "$size"
expect_part 'src\/command' 30000
expect_part libc 300000
expect_part 'BPF programs, packed' 100000
check 'what it has in place of parts of libraries does the same' "$O/static_parts"
equal 'it needs no shared library' "$(readelf -d "$static" | grep -c NEEDED)" 0
# For a debugger: lines and unwind tables, also of libraries.
check 'unstripped, it has debug information' grep -q '\.debug_line' <(readelf -SW "$static")
check 'unstripped, it has unwind tables' [ "$(functions "$static")" -gt 2000 ]
equal 'stripped, it has no unwind tables' "$(functions "$TMP/stripped")" 0

ZMEM=$TMP/stripped
works 'stripped: a snapshot' -J -p $$
equal 'stripped: the snapshot has the process' "$(jq '.processes[].pid' "$TMP/out")" $$
works 'stripped: a page' -F html -p $$
equal 'stripped: the page is complete' "$(tail -n 1 "$TMP/out")" '</html>'
