#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# zmem-bpf doctor --compare: its output, differences that it finds, and refused options.
. "$(dirname "$0")/../support/cli.sh"

words='["same", "moved", "approximate", "gone", "denied", "timeout", "DIFFERENT"]'

# ---- refusals ----

refused 'doctor --compare --source proc' 2 'doctor --compare: --source proc leaves nothing.* doctor --compare --help\)$' \
	doctor --compare --source proc
refused 'compare --source proc' 2 'compare: --source proc leaves nothing' compare --source proc
zmem doctor --compare --help
expect_out 'doctor --compare --help: its options' '^ +--source FROM '
refused 'only doctor takes --compare' 2 'snapshot does not take --compare' --compare
# An ordinary user has as few rights as the user nobody.
as=()
! have users || as=(as_nobody)
run "${as[@]}" "$ZMEM" doctor --compare
expect_rc 'compare, nobody: refused' 1
expect_err 'compare, nobody: names the missing capability' 'nothing to compare.*CAP_BPF'
equal 'compare, nobody: nothing on stdout' "$out" ''
need counters 'compare' || exit 0

# ---- all processes ----

zmem doctor --compare -J -a
expect_rc 'compare: no difference here' 0
expect_json 'compare: the summary is the sum of the cells' '. as $s | .summary.cells == (.cells | length) and
	([.cells[].verdict] | group_by(.) | map({(.[0] | ascii_downcase): length}) | add) as $n |
	all("same", "moved", "approximate", "gone", "denied", "timeout", "different";
	. as $w | $s.summary[$w] == ($n[$w] // 0))'
# What README.md and the pages say.
counters=$(jq '[.cells[].counter] | unique - ["all"] | length' "$TMP/out")
for page in README.md src/man/zmem-bpf-compare.1 src/doc/accuracy.md; do
	check "$page: $counters counters" grep -qE "(compares|each of|every process and) $counters( of these)? counters" "$SUPPORT/../../$page"
done
expect_json 'compare: most are the same' '.summary.different == 0 and .summary.same > 100 and
	.summary.same > .summary.cells / 2'
expect_json 'compare: PSS and counters of every kind' '[.cells[] | select(.verdict == "same").counter] |
	contains(["pss", "uss", "rss", "rss_anon", "rss_file", "vsize", "pgtables", "swap", "thp"])'
# unit/test_check_judge.c has what each verdict means.
expect_json 'compare: both sides have a cost' '.cost.bpf_us > 0 and .cost.proc_us > 0 and
	.cost.proc_files > .summary.processes and .cost.bpf_reads < .cost.proc_reads'
expect_json 'compare: the totals reconcile' '.system | .anon_bytes == null or .pss_anon_bytes == null or
	.anon_bytes - .pss_anon_bytes == .anon_residual_bytes'
zmem doctor --compare -J
expect_json 'compare: without -a only cells that differ' 'all(.cells[]; .verdict != "same") and
	.summary.same > 0 and .summary.cells - .summary.same == (.cells | length)'
zmem doctor --compare
expect_rc 'compare: table' 0
expect_out 'compare: table: a line for each counter' '^RSS_ANON +status +[0-9]+ +[0-9]+'
expect_out 'compare: table: PSS against smaps_rollup' '^PSS +smaps_rollup +[0-9]+'
expect_out 'compare: table: the verdict' '^[0-9]+ processes, [0-9]+ values: [0-9]+ same.*no unexplained difference'
expect_printable 'compare: table: printable' "$TMP/out"

# ---- one process in a known state ----

mkmem_begin anon
pid=$(sed -n 's/^READY anon [^ ]* //p' "$TMP/mkmem" | head -n 1)
zmem doctor --compare -J -a -p "$pid"
expect_rc 'compare -p' 0
expect_json 'compare -p: an idle process: all values are the same' '.summary.processes == 1 and
	(.summary.same == .summary.cells) and all(.cells[]; .pid == $p)' --argjson p "$pid"
rss=$(awk '/^RssAnon/ { print $2 * 1024 }' "/proc/$pid/status")
expect_json 'compare -p: the value of /proc' 'all(.cells[] | select(.counter == "rss_anon");
	.bpf_bytes == $r and .proc_before_bytes == $r and .proc_after_bytes == $r)' --argjson r "$rss"
zmem doctor --compare -J -a -u nobody
expect_rc 'compare -u: a user without processes' 0
zmem doctor --compare -J -p "$pid,4194304"
expect_rc 'compare: one of two processes does not exist' 3
expect_json 'compare: the other process is compared' '.summary.processes == 1'

# A stuck or hidden target is reported as such, not as different.
zmem doctor --compare -Ja -p 1
if ! "$ZMEM" -J -p 1 >/dev/null 2>&1; then
	expect_json 'compare: a process that is hidden from BPF is denied' '.summary.processes == 1 and
		.summary.denied == .summary.cells and .summary.cells > 0 and all(.cells[]; .bpf_bytes == null)'
fi

# ---- a /proc with other values ----

# lie EXPRESSION ARG…: compares with a /proc/PID/status of mkmem that sed changed.
lie() {
	local expression=$1
	shift
	# shellcheck disable=SC2016
	run env TMP="$TMP" unshare -m bash -c 'sed "$1" "/proc/$2/status" >"$TMP/status" &&
		mount --bind "$TMP/status" "/proc/$2/status" && shift 2 && exec "$@"' - \
		"$expression" "$pid" "$ZMEM" doctor --compare -p "$pid" "$@"
}
if need mount 'a /proc with other values'; then
	size=$(awk '/^VmSize/ { print $2 }' "/proc/$pid/status")
	lie "s/^VmSize:.*/VmSize: $((size + 4)) kB/" -J
	expect_rc 'compare: a wrong status is a difference' 4
	expect_json 'compare: only the changed value differs' '.summary.different == 1 and ([.cells[] | select(
		.counter == "vsize" and .verdict == "DIFFERENT" and .difference_bytes == -4096)] | length) == 1'
	lie "s/^VmSize:.*/VmSize: $((size - 4)) kB/"
	expect_rc 'compare: table of a difference' 4
	expect_out 'compare: table names the cell' "^ *$pid  VSIZE .* 4 KiB  DIFFERENT +mkmem"
	expect_out 'compare: table counts it in the last line' '; 1 DIFFERENT$'
	# If smaps_rollup agrees with BPF, status lags. A lag beyond what CPUs can hold back is a difference.
	lie "s/^RssAnon:.*/RssAnon: $((rss / 1024 - 4)) kB/" -J
	expect_rc 'compare: a status that lags behind' 0
	expect_json 'compare: the verdict is approximate, with the bound' '.summary.approximate == 1 and
		.summary.different == 0 and .bound_per == "process" and
		.bound_bytes == ([32, 2 * .host.cpus] | max - 1) * .host.cpus * 4096'
	lie "s/^RssAnon:.*/RssAnon: $((rss / 1024 + 100000)) kB/" -J
	expect_rc 'compare: beyond the bound the verdict is different' 4
fi
mkmem_end

# ---- fewer rights ----

if need mount 'compare without /proc'; then
	run unshare -m bash -c 'mount -t tmpfs none /proc && exec "$0" doctor --compare' "$ZMEM"
	expect_rc 'compare without /proc: refused' 1
	expect_err 'compare without /proc: the reason' 'no /proc of this pid namespace'
fi
if need caps 'compare without CAP_SYS_PTRACE'; then
	run with_caps +bpf,+perfmon "$ZMEM" doctor --compare -J -a
	expect_rc 'compare without CAP_SYS_PTRACE' 0
	expect_json 'compare without CAP_SYS_PTRACE: every cell has a verdict' \
		".summary.different == 0 and all(.cells[]; .verdict as \$v | $words | index(\$v))"
fi
run bash -c '"$0" doctor --compare -a | head -n 1' "$ZMEM"
expect_stderr_lines 'compare | head: quietly' 0

# ---- the other word ----

zmem compare -J -a -p $$
expect_rc 'compare: the old word' 0
expect_json 'compare: the same document' '.schema == "zmem.compare" and .summary.processes == 1'
equal 'compare: says what it is now, once' "$(cat "$TMP/err")" 'zmem-bpf: compare is doctor --compare now'
zmem compare -q -p $$
expect_stderr_lines 'compare -q: says nothing' 0
zmem doctor $$ --compare -J
expect_json 'doctor PID --compare: any order' '.summary.processes == 1'
