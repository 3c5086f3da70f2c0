#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# zmem-bpf system: the machine's values, their sums, texts of /proc that are damaged, recordings.
. "$(dirname "$0")/../support/cli.sh"

# The parts add up, to the byte, whichever values are missing.
adds_up='def n: . // 0;
	(.kernel | [.[] | n] | add) == (.memory.kernel_bytes | n) and
	(.user | [.[] | n] | add) == (.memory.user_bytes | n) and
	(.memory | (.unaccounted_bytes == null or .total_bytes == (.kernel_bytes | n) + (.user_bytes | n) +
		(.cache_bytes | n) + (.hugetlb_bytes | n) + (.free_bytes | n) + .unaccounted_bytes))'

# The classes are all of RAM, to the byte.
closes='(.ram | .frames_bytes == ([.classes[].bytes // 0] | add) and (.classes | length) > 10)'

# ---- this machine ----

# fuzz_proc_meminfo has the value of each key, golden/system_ordinary.json where it is shown.
works 'json' system --json
expect_json 'the parts add up' "$adds_up"
expect_json 'MemTotal' '.memory.total_bytes == $kb * 1024' --argjson kb "$(awk '/^MemTotal/ { print $2 }' /proc/meminfo)"
expect_json 'most memory is accounted for' '.memory | .unaccounted_bytes < .total_bytes / 2 and
	.unaccounted_bytes > -(.total_bytes / 2)'
expect_json 'swap devices: every device' '(.swap_devices | length) == $n' \
	--argjson n "$(($(wc -l </proc/swaps) - 1))"
if need counters 'the books'; then
	expect_json 'the totals: sums over processes and residuals' '. as $d | .books |
		.processes > 1 and if .pss_missing_processes == 0 then
			.pss_anon_bytes > 0 and .pss_mapped_bytes > 0 and
			.anon_residual_bytes == $d.user.anon_bytes - .pss_anon_bytes and
			.mapped_residual_bytes == $d.across.mapped_bytes - .pss_mapped_bytes
		else .anon_residual_bytes == null or .mapped_residual_bytes == null end'
fi

# ---- page frames ----

zmem system --json
if need counters 'each page frame is counted'; then
	expect_json 'each page frame is counted, and the classes are all of RAM' "$closes"' and .ram.method == "exact" and
		.ram.reason == null and .ram.frames_bytes > .memory.total_bytes and .ram.duration_us > 0'
	# Marks against counters; what others do meanwhile is less than the slack.
	expect_json 'each class agrees with its counter' '[.ram.classes[] | select(.counter_bytes != null and
		(.class | IN("free", "anon", "page_cache", "shmem", "slab", "page_tables", "hugetlb", "reserved"))) |
		(.bytes - .counter_bytes | fabs) < 134217728] | length == 8 and all'
	expect_json 'slab has the names of caches' '.ram.classes[] | select(.class == "slab") | .parts |
		length >= 10 and all(.bytes > 0 and (.name | length) > 0)'
	zmem system --json --by cgroup
	expect_json 'by cgroup: what is charged, largest first' '.cgroups | length > 0 and
		(map(.bytes) == (map(.bytes) | sort | reverse)) and
		all(.bytes == .anon_bytes + .page_cache_bytes + .shmem_bytes + .kernel_bytes)'
	expect_json 'by cgroup: at most the classes' '([.cgroups[].anon_bytes] | add) <= ([.ram.classes[] |
		select(.class | IN("anon", "anon_unmapped")) | .bytes] | add)'
	expect_json 'deleted ones are counted' '([.cgroups[] | select(.deleted)] | length) == .ram.deleted_cgroups'
	zmem system --json --by node
	expect_json 'by node: each adds up, and all are RAM' '(.nodes | length) > 0 and .cgroups == null and
		all(.nodes[]; .frames_bytes == ([.classes[].bytes] | add)) and
		([.nodes[].frames_bytes] | add) == .ram.frames_bytes'
	zmem system
	expect_out 'short: what holds most, and the command that shows more' '^kernel +[0-9.]+ [MG]iB +[0-9.]+ .* system -l +slab [0-9.]+[MG]'
	expect_out 'short: how it was counted' '^Each page frame was counted, in [0-9.]+ m?s\.$'
	check 'short: it fits on a screen of 24 lines' [ "$(wc -l <"$TMP/out")" -le 24 ]
	says 'by cgroup: table' '^ +[0-9.]+ [KMG]iB +.* (true|false)  /' system --by cgroup
	says 'by node: table' '^total +[0-9.]+ [MG]iB' system --by node
fi
if need counters 'a census without PSS'; then
	tells 'without PSS: each page frame is counted all the same' "$closes"' and .ram.method == "exact"' system --json --pss none
fi
if need bpf 'BPF is refused'; then
	helper deny_bpf
	run "$TMP/deny_bpf" EPERM "$PROGRAM" system --json -q
	expect_json 'BPF is refused: the counters, and why' '.ram | .method == "counters" and
		.reason == "the frames were not counted: loading the program was refused: Operation not permitted"'
fi
zmem system --json --source proc
expect_json 'without BPF: the counters, and why' '.ram | .method == "counters" and
	(.reason | startswith("the frames were not counted: ")) and .frames_bytes > 0 and
	(.classes[] | select(.class == "net_rings") | .bytes == null and .reason == "it has no counter")'
tells 'from /proc: likewise' '.ram.method == "counters" and .cgroups == null and .nodes == null' system --json --exact --source proc
says 'by cgroup: it is not known' '^The memory of cgroups is not known: the frames were not counted: ' system --by cgroup --source proc

# ---- memory pressure and swap activity, in the system part of a snapshot ----

# activity: [some total, full total, bytes in, bytes out] of this machine; null where it has none.
activity() {
	local page=$(getconf PAGE_SIZE)

	{ cat /proc/pressure/memory 2>/dev/null || echo none; cat /proc/vmstat; } |
		jq -Rn --argjson page "$page" '[inputs] as $lines |
			def first_of($re): [$lines[] | capture($re) | .value | tonumber] | first;
			[first_of("^some .*total=(?<value>[0-9]+)$"), first_of("^full .*total=(?<value>[0-9]+)$"),
			 (first_of("^pswpin (?<value>[0-9]+)$") | if . then . * $page else . end),
			 (first_of("^pswpout (?<value>[0-9]+)$") | if . then . * $page else . end)]'
}
activity >"$TMP/activity.before"
zmem --json --pss none
activity >"$TMP/activity.after"
expect_json 'memory pressure and swap activity: between two readings of /proc' \
	'[.system | .psi_some_total_us, .psi_full_total_us, .swapped_in_bytes, .swapped_out_bytes] as $v |
	 all(range(4); ($b[0][.] == null and $v[.] == null) or ($b[0][.] <= $v[.] and $v[.] <= $a[0][.])) and
	 (.system | (.psi_some_avg10_hundredths == null) == (.psi_some_total_us == null) and
		.psi_full_avg10_hundredths <= .psi_some_avg10_hundredths)' \
	--slurpfile b "$TMP/activity.before" --slurpfile a "$TMP/activity.after"

zmem system --json --pss none
expect_json 'without PSS: unknown, not 0' "$adds_up"' and (.books | .pss_anon_bytes == null and
	.anon_residual_bytes == null and .mapped_residual_bytes == null and
	.pss_missing_processes == .processes and .processes > 0)'
# An ordinary user is nobody itself.
nobody=users
if [ "$(id -u)" != 0 ] && [ "$(stat -c %u /proc/1)" = 0 ]; then
	nobody=
	as_nobody() {
		timeout -s KILL "$PATIENCE" "$@"
	}
fi
if need "$nobody" 'nobody'; then
	run as_nobody "$ZMEM" -q system --json
	expect_json 'nobody: values of the machine, no totals' "$adds_up"' and .memory.unaccounted_bytes != null and
		.books.pss_missing_processes > 0 and .books.anon_residual_bytes == null'
	run as_nobody "$ZMEM" -q system
	expect_out 'nobody: the reason' '^PSS of [0-9]+ of [0-9]+ processes is known.*; [0-9]+ denied'
fi

# ---- the table ----

works 'table' system -l
expect_out 'table: the whole is 100 percent' '^total +[0-9.]+ [MGT]iB +100\.0'
left_over='[0-9.]+ [MGT]iB +-?[0-9.]+ [KMG]iB' sums='[0-9]+ processes hold'
if ! have ptrace && grep -q '^PSS of' "$TMP/out"; then
	left_over='- +-' sums='PSS of [0-9]+ of [0-9]+ processes is known:'
fi
expect_out 'table: the totals' "^anonymous +[0-9.]+ [MGT]iB +$left_over\$"
expect_out 'table: the processes in the sums' "^$sums "
expect_printable 'table: printable' "$TMP/out"

# ---- a /proc with other values ----

if need mount 'a /proc with other values'; then
	# faked FILE TEXT ARG…: runs it with this text in that file of /proc.
	faked() {
		printf '%b' "$2" >"$TMP/fake"
		# shellcheck disable=SC2016
		run env ZMEM="$ZMEM" FAKE="$TMP/fake" timeout -s KILL "$PATIENCE" unshare -m bash -c \
			'mount --bind "$FAKE" "/proc/$1" || exit 99; shift; exec "$ZMEM" -q system "$@"' - "$1" "${@:3}"
	}
	# unit/test_proc_swaps.c, unit/test_proc_system.c and unit/test_model_overview.c have other texts.
	for text in '' 'nonsense\n' '\0\n'; do
		faked swaps "$text" -J
		expect_json "/proc/swaps says '$(lib_line "$text")': not known" '.swap_devices == null'
	done
	faked meminfo 'MemTotal: 1000 kB\nMemFree: 100 kB\nCached: 300 kB\nAnonPages: 400 kB\nMapped: 50 kB\nSlab: 90 kB\n' -J
	! need counters 'counters that the frames contradict' ||
		expect_json 'counters that the frames contradict: no census' '.ram.method == "counters" and
			(.ram.reason | test("^the frames contradict the counters: [a-z_]+ has [0-9]+ MiB, .* says [0-9]+ MiB$|add up"))'
	for text in '' 'nonsense\n' 'MemTotal: 99999999999999999999 kB\n'; do
		faked meminfo "$text" -J
		expect_json "/proc/meminfo says '$(lib_line "$text")': not measured is null" "$adds_up"' and
			([(.memory | del(.kernel_bytes)[]), (.kernel | del(.compressed_swap_bytes)[]), .user[], (.across | del(.sockets_bytes, .unplaced, .anon_partly_mapped_bytes)[]),
				.swap.total_bytes] | all(. == null or . == 0)) and .across.unplaced == [] and
			.memory.total_bytes == null and .memory.unaccounted_bytes == null'
		faked meminfo "$text"
		expect_out "/proc/meminfo says '$(lib_line "$text")': table" '^RAM not known$'
	done
fi

# ---- hidden processes ----

if need 'mount users' 'hidden processes'; then
	for hidepid in 1 2; do
		# shellcheck disable=SC2016
		run env ZMEM="$ZMEM" timeout -s KILL "$PATIENCE" unshare -m -p -f bash -c \
			'mount -t proc -o hidepid='$hidepid' proc /proc || exit 99
			setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
				"$ZMEM" -q system -J; exit $?'
		if [ "$rc" = 99 ]; then
			skip "hidepid=$hidepid" 'cannot be mounted'
		else
			expect_json "hidepid=$hidepid, nobody: other processes are hidden" "$adds_up"' and .books.hidden_processes and
				.books.processes == 1'
		fi
	done
fi

# ---- recordings ----

works 'recorded' -q record "$TMP/rec"
zmem --replay "$TMP/rec" --json
jq -S '.system, .timestamp, .host' "$TMP/out" >"$TMP/snapshot"
zmem system --replay "$TMP/rec" --json
expect_json 'replayed' "$adds_up"' and (.swap_devices | length) == $n' \
	--argjson n "$(($(wc -l </proc/swaps) - 1))"
equal 'replayed: the same machine at the same time' "$(jq -c '[.memory.total_bytes, .user.anon_bytes,
	.books.anon_residual_bytes, .books.mapped_residual_bytes, .swap.unattributed_bytes]' "$TMP/out")" \
	"$(jq -sc '.[0] | [.memory_total_bytes, .anon_bytes, .anon_residual_bytes, .mapped_residual_bytes,
	.swap_unattributed_bytes]' "$TMP/snapshot")"
check 'edited' "$EDIT" edit "$TMP/rec" "$TMP/edited" swap=/x
tells 'replayed: swap devices are in the recording' '[.swap_devices[].name] == ["/x"]' system --replay "$TMP/edited" --json
# ---- refusals ----

refused 'system: not a recording' 1 'not a recording' system --replay "$0"
