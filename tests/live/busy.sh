#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A busy machine: compilers run, memory is mapped and unmapped, programs are exec'ed continuously.
# Each process with a consistent PSS walk is compared with smaps_rollup, which is read between two
# walks. doctor --compare, with all counters, runs in turns. BUSY_SECONDS=600 makes it long.
# needs: counters
. "$(dirname "$0")/../support/lib.sh"

see_own_processes_only
seconds=${BUSY_SECONDS:-10}
kernel_log() {
	dmesg 2>/dev/null | grep -cE 'WARNING: |BUG: |Oops|general protection|rcu:.*stall|lockup'
}
log_before=$(kernel_log)

# Compilers, each a storm of execs, file mappings and copies of its memory.
compile() {
	local i
	for i in {1..400}; do
		echo "int f$i(int x) { int a[64]; for (int i = 0; i < 64; i++) a[i] = x * i + $i; return a[x & 63]; }"
	done >"$TMP/busy.c"
	while :; do
		"${CC:-gcc}" -O2 -c -o "$TMP/busy.$1.o" "$TMP/busy.c" 2>/dev/null
	done
}
execs() {
	while :; do
		/bin/true
		/bin/sh -c 'ls / >/dev/null; exit 0'
	done
}
jobs=()
compile 1 & jobs+=($!)
execs & jobs+=($!)
# Other tests run meanwhile.
renice -n 10 -p "${jobs[@]}" >/dev/null
coproc MKMEM_CHURN { exec nice -n 10 "$MKMEM" churn anon fork thp shmem file cow_tree many_maps; }
lib_at_exit() {
	kill "${jobs[@]}" 2>/dev/null
	wait "${jobs[@]}" 2>/dev/null || :
}
trap 'lib_at_exit; (exit 0); lib_cleanup' EXIT

end=$((SECONDS + seconds))
: >"$TMP/busy.json"
: >"$TMP/compare.json"
errors=0 unexplained=0
while [ $SECONDS -lt $end ]; do
	"$STATIC" -Jq --verify all >"$TMP/one.json" 2>>"$TMP/busy.err"
	rc=$?
	[ $rc = 0 ] || errors=$((errors + 1))
	jq -c '[.collection.cross_check // {}, (.processes | group_by(.pss_source) |
		map({(.[0].pss_source // "none"): length}) | add)]' "$TMP/one.json" >>"$TMP/busy.json"
	if ! "$STATIC" doctor --compare -Jq >"$TMP/one.json" 2>>"$TMP/busy.err"; then
		unexplained=$((unexplained + 1))
		jq -c '.cells[] | select(.verdict == "DIFFERENT")' "$TMP/one.json" >>"$TMP/busy.err"
	fi
	jq -c '.summary' "$TMP/one.json" >>"$TMP/compare.json"
done
equal 'every snapshot under load succeeds' "$errors: $(head -c 500 "$TMP/busy.err")" '0: '
sums=$(jq -s '[length, (map(.[0].checked // 0) | add), (map(.[0].same // 0) | add),
	(map(.[0].moved // 0) | add), (map(.[0].gone // 0) | add), (map(.[0].different // 0) | add),
	(map(.[1].kernel // 0) | add), (map(.[1].smaps_rollup // 0) | add)] | @tsv' -r "$TMP/busy.json")
read -r snapshots checked same moved gone different kernel rollup <<<"$sums"
echo "# busy: $snapshots snapshots, $checked checked: $same the same, $moved moved, $gone gone; PSS of" \
	"$kernel from the kernel, $rollup from smaps_rollup"
equal 'under load no difference to smaps_rollup' "$different" 0
check "under load many processes are compared" test "$same" -gt $((checked / 4))
check 'under load nearly all walks are consistent' test "$kernel" -gt $((20 * rollup))
sums=$(jq -s '[length, (map(.cells) | add), (map(.same) | add), (map(.moved) | add), (map(.gone) | add)] | @tsv' \
	-r "$TMP/compare.json")
read -r compares cells same moved gone <<<"$sums"
echo "# busy: $compares compares, $cells values: $same the same, $moved moved, $gone gone"
equal 'under load compare finds no unexplained difference' "$unexplained: $(head -c 500 "$TMP/busy.err")" '0: '
check 'under load most values of compare are the same' test "$same" -gt $((cells / 2))
if need log 'nothing in the kernel log'; then
	equal 'nothing in the kernel log' "$(kernel_log)" "$log_before"
fi
