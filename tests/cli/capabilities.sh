#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Three capabilities suffice for what root sees; a missing one is named; unused ones are dropped.
# needs: bpf caps mount
. "$(dirname "$0")/../support/cli.sh"

# Idle processes of root that share pages only with each other.
mkmem_begin anon cow_many file shmem memfd2 || { not_ok mkmem 'not ready'; exit 1; }
targets=$(sed -n 's/^READY [^ ]* [^ ]* //p' "$TMP/mkmem" | paste -sd,)
root_pid=${targets%%,*}
all=bpf,perfmon,sys_ptrace

# ---- the three are enough ----

# values: the values and sources of the last run. Each run numbers mms anew, and the clock drifts
# against the boot time.
values() {
	jq -S --argjson pids "[$targets]" '.source, .collection.complete,
		[.processes[] | select(.pid as $p | $pids | index($p)) | del(.mm_id, .start_time_ms)]' "$TMP/out"
}

# Every process that reads the clock maps the vdso page: PSS changes with the number of processes.
# shellcheck disable=SC2016
differences() {
	jq -c -n --slurpfile want "$TMP/want" --slurpfile got "$TMP/got" '
		def near($a; $b; $key): $a == $b or (($key | tostring | test("pss|shared")) and
			($a | type) == "number" and ($b | type) == "number" and ($a - $b | fabs) <= 2048);
		($want | [paths(scalars)]) as $w | if $w != ($got | [paths(scalars)]) then ["other keys"] else
		[$w[] | . as $p | ($want | getpath($p)) as $a | ($got | getpath($p)) as $b |
		 select(near($a; $b; $p[-1]) | not) | [$p[-1], $a, $b]] end'
}

# like_root NAME ARG… -- COMMAND…: run by the command, the program shows what it shows to root.
like_root() {
	local name=$1 args=()
	shift
	while [ "$1" != -- ]; do
		args+=("$1")
		shift
	done
	shift
	run "$ZMEM" -J "${args[@]}" -p "$targets"
	values >"$TMP/want"
	run_expect 0 "$name: exit code" "$@" "$ZMEM" -J "${args[@]}" -p "$targets"
	expect_stderr_lines "$name: no note" 0
	expect_json "$name: all processes are shown" \
		'(.processes | length) == $n and all(.processes[]; .pss_bytes > 0 and .user == "root")' \
		--argjson n "$(tr ',' '\n' <<<"$targets" | wc -l)"
	values >"$TMP/got"
	equal "$name: all values, users, cgroups" "$(differences)" '[]'
}

three() {
	with_caps +bpf,+perfmon,+sys_ptrace "$@"
}
like_root 'the three' -- three
like_root 'the three, --pss kernel' --pss kernel -- three
like_root 'the three, --pss rollup' --pss rollup -- three
like_root 'the three, --source proc' --source proc -- three
like_root 'root with nothing else' -- setpriv --inh-caps="-all" --bounding-set=-all,+bpf,+perfmon,+sys_ptrace
run three "$ZMEM" -J --verify all -p "$targets"
expect_json 'the three: PSS comes from the kernel and all of it is checked' '.source.counters == "bpf" and
	(.source.pss | IN("kernel", "mixed")) and .collection.cross_check.same == (.processes | length)'
run_expect 0 'the three, compare: nothing differs' three "$ZMEM" doctor --compare -p "$targets"
run three "$ZMEM" doctor -v
for what in CAP_BPF CAP_PERFMON CAP_SYS_PTRACE 'bpf with pages' 'bpf with pages \(libbpf\)' \
	'bpf with pages \(probe reads\)' bpf \
	'bpf \(libbpf\)' 'bpf \(probe reads\)' proc counters PSS; do
	expect_out "the three, doctor: $what" "^$what +ok "
done
unfolded
expect_out 'the three, doctor: dropped capabilities' \
	'^capabilities given up +ok +at the start none; once loaded CAP_PERFMON, CAP_BPF; kept to read CAP_SYS_PTRACE$'
run "$ZMEM" doctor -v
unfolded
expect_out 'root, doctor: dropped capabilities' \
	'given up +ok +at the start [0-9]+ capabilities; once loaded CAP_CHOWN.*CAP_BPF; kept to read CAP_SYS_PTRACE$'

# ---- all subsets ----

# subset LIST COUNTERS PSS MISSING: the source, root's processes' PSS ("ok", "denied", or "either":
# CAP_PERFMON alone opens smaps_rollup from 6.14 on), and which of the first two are missing.
subset() {
	local list=$1 counters=$2 pss=$3 missing=$4 name caps
	caps=$(tr , '\n' <<<"$list" | sed 's/^./+&/' | paste -sd,)
	name="only {$list}"
	run_expect 0 "$name: exit code" with_caps "${caps:--all}" "$ZMEM" -J -p "$targets"
	expect_json "$name: source and reason" \
		'.source.counters == $c and .source.fallback_reason == (if $m == "" then null else $m end)' \
		--arg c "$counters" --arg m "$missing"
	expect_json "$name: counters of all" 'all(.processes[]; .rss_bytes > 0 and .swap_bytes != null)'
	expect_json "$name: PSS is $pss, and no denied value is a number" \
		'([.processes[].pss_status] | unique) as $s |
		 ($s == [$pss] or ($pss == "either" and ($s == ["ok"] or $s == ["denied"]))) and
		 .collection.complete == ($s == ["ok"]) and
		 all(.processes[]; if .pss_status == "ok" then .pss_bytes > 0 and .uss_bytes != null else
			([.pss_bytes, .uss_bytes, .pss_anon_bytes, .pss_file_bytes, .pss_shmem_bytes,
			  .pss_swap_bytes, .shared_bytes, .pss_source] | all(. == null)) end)' --arg pss "$pss"
	if [ -n "$missing" ]; then
		expect_stderr_lines "$name: one note" 1
		expect_err "$name: the note names the missing capability and a remedy" \
			"counters come from /proc: $missing \(run as root or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE"
	else
		expect_stderr_lines "$name: no note" 0
	fi
	[ -n "$missing" ] || return
	run with_caps "${caps:--all}" "$ZMEM" -J --source bpf
	expect_rc "$name, --source bpf: exit code" 1
	expect_err "$name, --source bpf: the reason" "$missing"
	run with_caps "${caps:--all}" "$ZMEM" -J --pss kernel
	expect_rc "$name, --pss kernel: exit code" 1
}
subset '' proc denied 'CAP_BPF and CAP_PERFMON are missing'
subset bpf proc denied 'CAP_PERFMON is missing'
subset perfmon proc either 'CAP_BPF is missing'
subset sys_ptrace proc ok 'CAP_BPF and CAP_PERFMON are missing'
subset bpf,sys_ptrace proc ok 'CAP_PERFMON is missing'
subset perfmon,sys_ptrace proc ok 'CAP_BPF is missing'
subset bpf,perfmon bpf ok ''
subset "$all" bpf ok ''
# bpf() works, so no other note names it.
run as_nobody "$ZMEM" --source proc -p "$root_pid"
expect_err 'without CAP_SYS_PTRACE: it is named' 'PSS of 1 process is denied: CAP_SYS_PTRACE is missing'

# A /proc that hides the processes of other users.
# hidden CAPS ARG…: in a pid namespace with hidepid=$HIDEPID, with a process of root's.
HIDEPID=2
export HIDEPID
hidden() {
	local caps=$1
	shift
	[ "$caps" = -all ] || caps="-all,$caps"
	run timeout -s KILL "$PATIENCE" unshare -m -p -f bash -c "
		mount -t proc -o hidepid=\$HIDEPID proc /proc || exit 99; sleep 1000 &
		until grep -q sleep /proc/\$!/comm; do :; done
		setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$caps \
			--ambient-caps=$caps --bounding-set=$caps \"\$@\"; kill \$!" - "$ZMEM" -J "$@"
}
for args in '' '--source proc' '--pss rollup'; do
	# shellcheck disable=SC2086
	hidden +bpf,+perfmon,+sys_ptrace $args
	expect_json "hidepid=2, the three${args:+, $args}: all processes are seen" '.collection.complete and
		([.processes[].name] | sort == ["bash", "sleep", "zmem-bpf"]) and
		all(.processes[]; .pss_bytes > 0)'
done

# /proc shows which processes share memory only to a reader with access to them.
run as_nobody "$ZMEM" -qJ
expect_json 'without CAP_SYS_PTRACE: shared address spaces are not measured' \
	'.collection.shared_mm == null'
hidden +sys_ptrace -q
expect_json 'only CAP_SYS_PTRACE: shared address spaces are measured' '.collection.shared_mm == 0'

# ---- dropped capabilities ----

# held NAME WANT COMMAND…: WANT is "PERMITTED EFFECTIVE BOUNDING" in hex of the thread that writes,
# while no reader takes its output. Other threads may have no more. No thread has inheritable
# capabilities, and none can gain any.
held() {
	local name=$1 want=$2
	shift 2
	run timeout -s KILL "$PATIENCE" "$PYTHON" "$SUPPORT/held.py" "$@"
	equal "$name" "$(sed -n 1p "$TMP/out")" "$want"
	check "$name: threads, inheritable, ambient, no_new_privs" test "$(sed -n 2p "$TMP/out")" = fine
}
bits() {
	printf '%016x' "$(($1))"
}
none=$(bits 0) ptrace=$(bits '1 << 19') perfmon=$(bits '1 << 38')
# For helpers that read names of containers in homes of users, and to end them.
names='1 << 5 | 1 << 6 | 1 << 7'
writing='1 << 0 | 1 << 1 | 1 << 2 | 1 << 3'
three_bits=$(bits '1 << 19 | 1 << 38 | 1 << 39')
in_front='setpriv --reuid=65534 --regid=65534 --clear-groups'
three_front="$in_front --inh-caps=-all,+bpf,+perfmon,+sys_ptrace
	--ambient-caps=-all,+bpf,+perfmon,+sys_ptrace --bounding-set=-all,+bpf,+perfmon,+sys_ptrace"
two_front="$in_front --inh-caps=-all,+bpf,+perfmon
	--ambient-caps=-all,+bpf,+perfmon --bounding-set=-all,+bpf,+perfmon"
for args in '' '--pss rollup' '--source proc' '--verify all -o +cmdline'; do
	# shellcheck disable=SC2086
	held "root keeps one${args:+, $args}" "$ptrace $none $none" "$ZMEM" -a $args
done
for args in '' '--pss rollup' '-o +container'; do
	# shellcheck disable=SC2086
	held "root keeps three more for names of containers, -J $args" "$(bits "1 << 19 | $names") $none $none" "$ZMEM" -J $args
done
held 'root, compare: keeps one' "$ptrace $none $none" "$ZMEM" doctor --compare -a -J
# shellcheck disable=SC2086
held 'the three: one is kept' "$ptrace $none $three_bits" $three_front "$ZMEM" -J
# shellcheck disable=SC2086
held 'without CAP_SYS_PTRACE: CAP_PERFMON opens smaps_rollup, too' \
	"$perfmon $none $(bits '1 << 38 | 1 << 39')" $two_front "$ZMEM" -J
# shellcheck disable=SC2086
held 'nothing: nothing' "$none $none $none" $in_front --inh-caps=-all --bounding-set=-all "$ZMEM" -J
mkfifo "$TMP/fifo"
held 'root, --output: only the capabilities for files, and only those effective' \
	"$(bits "1 << 19 | $writing") $(bits "$writing") $none" "$ZMEM" -a --output "$TMP/fifo"
helper deny_bpf
held 'a kernel that requires CAP_BPF for bpf()' "$(bits '1 << 19 | 1 << 38 | 1 << 39') $none $none" \
	"$TMP/deny_bpf" EPERM "$ZMEM" -a
