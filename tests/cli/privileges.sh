#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Missing capabilities, bpf(), BTF or /proc: each is named, and the values that remain are shown.
. "$(dirname "$0")/../support/cli.sh"

# A process of root and one of the user nobody, both idle. An ordinary user is nobody itself: the first process is root's.
nobody=users
sleep 1000 &
root_pid=$! pids=$!
if have users; then
	setpriv --reuid=65534 --regid=65534 --clear-groups sleep 1000 &
	nobody_pid=$! pids+=" $!"
	wait_until grep -q '^Uid:.65534' "/proc/$nobody_pid/status"
elif [ "$(id -u)" != 0 ] && [ "$(stat -c %u /proc/1)" = 0 ]; then
	nobody= nobody_pid=$root_pid root_pid=1
	as_nobody() {
		timeout -s KILL "$PATIENCE" "$@"
	}
fi
end_sleepers() {
	# shellcheck disable=SC2086
	kill $pids 2>/dev/null
	lib_cleanup
}
trap end_sleepers EXIT

# A value that was not measured is null; no other value is.
# shellcheck disable=SC2016
honest='.processes | all((.pss_status == "ok") == (.pss_bytes != null)
	and (.pss_bytes == null or .pss_source != null))'
# shellcheck disable=SC2016
row='(.processes[] | select(.pid == $pid))'

# ---- no capability at all ----

if need "$nobody" 'nobody'; then
	run_expect 0 'nobody: exit code' as_nobody "$ZMEM" -J
	expect_stderr_lines 'nobody: one note' 1
	expect_err 'nobody: the note names capabilities' 'CAP_BPF.*CAP_PERFMON'
	expect_err 'nobody: the note names a remedy' '--source proc'
	expect_json 'nobody: counters from /proc' '.source.counters == "proc" and
		(.source.fallback_reason | test("CAP_BPF.*CAP_PERFMON"))'
	expect_json 'nobody: denied processes are counted' '.collection.complete == false and
		.collection.denied == ([.processes[] | select(.pss_status == "denied")] | length)'
	expect_json 'nobody: every row is honest' "$honest"
	expect_json "nobody: root's process has counters and no PSS" \
		"$row | .rss_bytes > 0 and .pss_bytes == null and .pss_status == \"denied\"" \
		--argjson pid "$root_pid"
	expect_json 'nobody: processes without PSS are counted in the totals' \
		'.totals.pss_missing_processes == ([.processes[] | select(.mm_owner and .pss_bytes == null)] | length)'
	run as_nobody "$ZMEM"
	expect_out 'nobody: the total line names them' ' processes.*denied'
	expect_out 'nobody: the summary names the source and why' '; counters from /proc.*CAP_BPF'
	run as_nobody "$ZMEM" -p "$root_pid" -H -o pid,pss,uss,rss,pss_status
	expect_out 'nobody: a missing value is a dash' "^ *$root_pid +- +- +[0-9.]+ [KM]iB +denied"
	run as_nobody "$ZMEM" -q
	expect_stderr_lines 'nobody, -q: no note' 0
	expect_rc 'nobody, -q: exit code' 0
	run as_nobody "$ZMEM" --source proc -J
	expect_stderr_lines 'nobody, --source proc: one note' 1
	expect_err 'nobody, --source proc: a note on denied processes only' \
		'PSS of [0-9]+ process(es)? is denied: CAP_SYS_PTRACE is missing'
	for command in 'doctor --compare' 'pin root'; do
		# shellcheck disable=SC2086
		run as_nobody "$ZMEM" $command
		expect_rc "nobody, $command: exit code" 1
		expect_stderr_lines "nobody, $command: one line" 1
		refuse_err "nobody, $command: no option that it does not take" '--source'
		expect_err "nobody, $command: a remedy" '\(.*root.*\)$'
	done
	run as_nobody "$ZMEM" maps "$root_pid"
	equal 'nobody, maps of a process of root: no empty table' "$rc $out" '1 '
	expect_err 'nobody, maps of a process of root: the reason' "^zmem-bpf: $root_pid: it may not be read \\(run as root"
	run_expect 0 'nobody, maps of two: one is denied' as_nobody "$ZMEM" maps -J "$root_pid" "$nobody_pid"
	expect_stderr_lines 'nobody, maps of two: a line for the denied one' 1
	expect_json 'nobody, maps of two: the other is shown' '.mappings | length > 3 and all(.pid == $pid)' --argjson pid "$nobody_pid"
	run as_nobody "$ZMEM" --total -H -b -o pss
	expect_out 'nobody, --total -H: a plain number' '^[0-9]+$'
	expect_err 'nobody, --total -H: a note' 'the total lacks the PSS of [0-9]+ process(es)?'
	run as_nobody "$ZMEM" -g user
	expect_out 'nobody: sums of some processes are lower bounds' '^ +>=[0-9.]+ .*total$'
	expect_out 'nobody: of how many processes PSS is known' '^PSS of [0-9]+ of [0-9]+ processes in [0-9]+ groups is known: .*; [0-9]+ denied'
	run_expect 0 'nobody, maps of an own process' as_nobody "$ZMEM" maps "$nobody_pid"
	expect_stderr_lines 'nobody, maps of an own process: no note on BPF' 0
	run_expect 0 'nobody, doctor: exit code' as_nobody "$ZMEM" doctor -v
	equal 'nobody, doctor: the verdict' "$(head -n 1 "$TMP/out")" \
		'zmem-bpf reads /proc here: CAP_BPF and CAP_PERFMON are missing.'
	equal 'nobody, doctor: what to do' "$(sed -n 2p "$TMP/out")" \
		'To do: run as root or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE'
	expect_out 'nobody, doctor: CAP_BPF' '^CAP_BPF +no .*root'
	expect_out 'nobody, doctor: CAP_PERFMON' '^CAP_PERFMON +no '
	expect_out 'nobody, doctor: BPF' '^bpf +no .*CAP_BPF'
	expect_out 'nobody, doctor: /proc' '^proc +ok '
	expect_out 'nobody, doctor: PSS of own processes' '^PSS +ok  from smaps_rollup, of your own processes alone'
fi

# ---- other sets of capabilities: cli/capabilities.sh has all subsets of the three ----

if need 'counters caps mount' 'CAP_SYS_ADMIN'; then
	run with_caps +sys_admin "$ZMEM" -J
	expect_json 'only CAP_SYS_ADMIN: replaces both' '.source.counters == "bpf"'
fi
# Root in name only.
if need users 'root without capabilities'; then
	run setpriv --inh-caps=-all --bounding-set=-all "$ZMEM" -J
	expect_json 'root without capabilities: falls back' \
		'.source.counters == "proc" and (.source.fallback_reason | contains("CAP_BPF"))'
	# The kernel shows it only to a reader that has all capabilities of the process.
	# shellcheck disable=SC2016
	run setpriv --inh-caps=-all --bounding-set=-all,+chown,+dac_override,+kill,+setuid \
		sh -c 'sleep 1000 & "$0" -J -p $!; kill $!' "$ZMEM"
	expect_json 'root of a container: PSS of its own processes' '[.processes[].pss_status] == ["ok"]'
fi

# ---- bpf() blocked ----

helper deny_bpf
if need counters 'bpf() blocked'; then
	for error in EPERM ENOSYS; do
		run_expect 0 "bpf() gives $error: exit code" "$TMP/deny_bpf" "$error" "$ZMEM" -J
		expect_stderr_lines "bpf() gives $error: one note" 1
		expect_json "bpf() gives $error: falls back with a reason" \
			'.source.counters == "proc" and (.source.fallback_reason | length > 10 and
			 (contains("CAP_") | not))'
		expect_json "bpf() gives $error: PSS is measured" \
			"$row | .pss_status == \"ok\"" --argjson pid "$root_pid"
		run "$TMP/deny_bpf" "$error" "$ZMEM" --source bpf
		expect_rc "bpf() gives $error, --source bpf: exit code" 1
		expect_stderr_lines "bpf() gives $error, --source bpf: one line" 1
		run_expect 0 "bpf() gives $error, doctor: exit code" "$TMP/deny_bpf" "$error" "$ZMEM" doctor -v
		expect_out "bpf() gives $error, doctor: reported" '^bpf +no '
		expect_out "bpf() gives $error, doctor: the verdict" '^zmem-bpf reads /proc here: '
		run_expect 0 "bpf() gives $error, -v: exit code" "$TMP/deny_bpf" "$error" "$ZMEM" -v -p $$
	done
	if need bpf 'seccomp is named'; then
		run "$TMP/deny_bpf" EPERM "$ZMEM" -p $$
		expect_err 'bpf() gives EPERM: seccomp is named' 'seccomp'
	fi
fi

# ---- BTF hidden ----

# hidden COMMAND: bash code in a mount namespace of its own, with $ZMEM.
hidden() {
	run env ZMEM="$ZMEM" TMP="$TMP" timeout -s KILL "$PATIENCE" unshare -m bash -c "$1"
}
if need 'bpf mount' 'BTF hidden'; then
	# shellcheck disable=SC2016
	hidden 'mount --bind /dev/null /sys/kernel/btf/vmlinux || exit 99; exec "$ZMEM" -J'
	expect_rc 'BTF hidden: exit code' 0
	expect_json 'BTF hidden: the kernel still has it, or a reason is given' \
		'.source.counters == "bpf" or (.source.fallback_reason | contains("BTF"))'
	# shellcheck disable=SC2016
	hidden 'mount -t tmpfs tmpfs /sys/kernel/btf || exit 99; exec "$ZMEM" doctor'
	expect_rc 'BTF hidden, doctor: exit code' 0
	expect_out 'BTF hidden, doctor: reported' '^BTF +no '
	# shellcheck disable=SC2016
	hidden 'mount -t tmpfs tmpfs /sys/kernel/btf || exit 99
		exec "$TMP/deny_bpf" EPERM "$ZMEM" --source bpf'
	expect_rc 'BTF hidden and bpf() refused, --source bpf: exit code' 1
	expect_stderr_lines 'BTF hidden and bpf() refused, --source bpf: one line' 1
fi

# ---- a user namespace: capabilities have no effect outside of the initial one ----

first='CAP_BPF and CAP_PERFMON have no effect outside of the initial user namespace .*outside'
if need userns 'a user namespace'; then
	run unshare -Ur "$ZMEM" doctor
	expect_out 'a user namespace, doctor: CAP_BPF' '^CAP_BPF +no .*no effect here'
	expect_out 'a user namespace, doctor: CAP_PERFMON' '^CAP_PERFMON +no '
	expect_out 'a user namespace, doctor: PSS of others is not promised' '^PSS +ok .*own processes alone'
	equal 'a user namespace, doctor: what to do' "$(grep '^To do' "$TMP/out")" 'To do: run as root of the machine, outside of the container'
	for words in -J system files 'grow 1' 'pin root' 'doctor --compare' --source=bpf "record -c 1 $TMP/ns.rec"; do
		# shellcheck disable=SC2086
		run unshare -Ur "$ZMEM" $words
		expect_err "a user namespace, $words: the reason" "$first"
		refuse_err "a user namespace, $words: no capability is missing" 'is missing'
	done
	run unshare -Ur "$ZMEM" --source proc
	expect_err 'a user namespace, --source proc: PSS of others' 'denied: CAP_SYS_PTRACE has no effect outside of the initial user'
fi

# ---- /proc ----

# Sanitizers need it.
if need 'plain counters mount' '/proc not mounted'; then
	# shellcheck disable=SC2016
	hidden 'umount -l /proc || exit 99; exec "$ZMEM" -J'
	expect_rc 'no /proc: exit code' 0
	expect_json 'no /proc: counters are measured' \
		".source.counters == \"bpf\" and ($row | .rss_bytes > 0)" --argjson pid "$root_pid"
	expect_json 'no /proc: no PSS, with a reason' '.source.pss == "none" and
		.collection.complete == false and
		all(.processes[]; .pss_bytes == null and .pss_status == "unsupported")'
	# shellcheck disable=SC2016
	hidden 'umount -l /proc || exit 99; exec "$ZMEM" --source proc'
	expect_rc 'no /proc, --source proc: exit code' 1
	expect_err 'no /proc, --source proc: the reason' '/proc'
	# Only /proc has mappings, and process 1 certainly exists.
	for words in 'maps 1' "maps $root_pid" 'maps --by-file'; do
		hidden "umount -l /proc || exit 99; exec \"\$ZMEM\" $words"
		expect_rc "no /proc, $words: exit code" 1
		expect_err "no /proc, $words: the reason" '^zmem-bpf: maps: .*: there is no /proc .mount -t proc proc /proc.$'
		expect_stderr_lines "no /proc, $words: one line" 1
	done
	# shellcheck disable=SC2016
	hidden 'umount -l /proc || exit 99; exec "$ZMEM" -p 1'
	refuse_err 'no /proc, -p 1: not reported as gone' 'no such process'
	# shellcheck disable=SC2016
	hidden 'umount -l /proc || exit 99; exec "$ZMEM" -p 4194000'
	expect_rc 'no /proc, an unknown pid: exit code' 3
	expect_err 'no /proc, an unknown pid: the message' 'there is no such process'
	# shellcheck disable=SC2016
	hidden 'umount -l /proc || exit 99; exec "$TMP/deny_bpf" EPERM "$ZMEM" -J'
	expect_rc 'no /proc and no bpf(): exit code' 1
	# shellcheck disable=SC2016
	hidden 'umount -l /proc || exit 99; exec "$ZMEM" doctor -v'
	equal 'no /proc, doctor: the verdict' "$(head -n 1 "$TMP/out")" 'PSS is not measured here: /proc is not mounted.'
	equal 'no /proc, doctor: what to do' "$(sed -n 2p "$TMP/out")" 'To do: mount -t proc proc /proc'
	expect_out 'no /proc, doctor: reported' '^/proc +no .*not mounted'
	expect_out 'no /proc, doctor: not a source' '^proc +no '
	for mode in --total '--pss none' '-n 3' '-o +cmdline,unit' '-f sleep'; do
		hidden "umount -l /proc || exit 99; exec \"\$ZMEM\" -J $mode"
		expect_json "no /proc, $mode: valid" "$honest"
	done
fi

# in_pidns COMMAND: bash code as pid 1 of a pid namespace.
in_pidns() {
	run env ZMEM="$ZMEM" timeout -s KILL "$PATIENCE" unshare -m -p -f bash -c "$1"
}
source=proc
if have counters; then source=bpf; fi
if need mount 'a pid namespace'; then
	# shellcheck disable=SC2016
	in_pidns 'mount -t proc proc /proc || exit 99; sleep 1000 & "$ZMEM" -J; kill $!'
	expect_json 'a pid namespace: its processes with its pids' '.source.counters == $source and
		([.processes[].pid] | sort | .[0] == 1 and length == 3) and all(.processes[]; .pss_bytes > 0)' --arg source $source
fi
if need 'counters mount' 'a pid namespace with another /proc'; then
	# shellcheck disable=SC2016
	in_pidns 'sleep 1000 & "$ZMEM" -J --pss rollup; kill $!'
	expect_json "a pid namespace with another /proc: no PSS of other processes" \
		'.collection.complete == false and ([.processes[].pid] | max < 100) and
		 all(.processes[]; .pss_bytes == null and .pss_status == "unsupported" and .cgroup == null)'
	# shellcheck disable=SC2016
	in_pidns 'sleep 1000 & "$ZMEM" -J --source proc; kill $!'
	expect_json "a pid namespace with another /proc: not even with --source proc" \
		'all(.processes[]; .pss_bytes == null and .pss_status != "ok" and .cgroup == null)'
	# shellcheck disable=SC2016
	in_pidns 'sleep 1000 & "$ZMEM" -J; kill $!'
	expect_json "a pid namespace with another /proc: PSS from the kernel" \
		'([.processes[].pid] | max < 100) and
		 all(.processes[]; .pss_bytes > 0 and .pss_source == "kernel" and .cgroup == null)'
fi
if need 'counters caps mount' 'hidden processes'; then
	user='setpriv --reuid=65534 --regid=65534 --clear-groups'
	in_pidns "mount -t proc -o hidepid=1 proc /proc || exit 99; sleep 1000 &
		$user --inh-caps=-all --bounding-set=-all \"\$ZMEM\" -J -q; kill \$!"
	if [ "$rc" = 99 ]; then
		skip 'hidepid=1' 'cannot be mounted'
	else
		expect_json 'hidepid=1, nobody: sees itself, and that there are others' \
			'[.processes[].name] == ["zmem-bpf"] and .processes[0].pss_status == "ok" and
			 .collection.denied == 2 and .collection.complete == false'
		in_pidns "mount -t proc -o hidepid=1 proc /proc || exit 99; sleep 1000 &
			$user --inh-caps=-all --bounding-set=-all \"\$ZMEM\" -q -p 1; kill \$!"
		expect_err 'hidepid=1, nobody, -p 1: exists but is not shown' '--pid 1: .*does not let us'
		in_pidns "mount -t proc -o hidepid=1 proc /proc || exit 99; sleep 1000 &
			$user --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon \
				\"\$ZMEM\" -J --pss rollup; kill \$!"
		expect_json 'hidepid=1, CAP_BPF and CAP_PERFMON: counters of all processes, PSS or denied' \
			'any(.processes[]; .name == "sleep" and .rss_bytes > 0) and
			 all(.processes[]; .pss_status == "ok" or .pss_status == "denied") and
			 (.collection.complete == all(.processes[]; .pss_bytes != null))'
	fi
	in_pidns "mount -t proc -o hidepid=2 proc /proc || exit 99; sleep 1000 &
		$user --inh-caps=-all --bounding-set=-all \"\$ZMEM\" -J -q; kill \$!"
	if [ "$rc" = 99 ]; then
		skip 'hidepid=2' 'cannot be mounted'
	else
		expect_json 'hidepid=2, nobody: sees itself' \
			'[.processes[].name] == ["zmem-bpf"] and .processes[0].pss_status == "ok"'
		in_pidns "mount -t proc -o hidepid=2 proc /proc || exit 99; sleep 1000 &
			$user --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon \
				\"\$ZMEM\" -J; kill \$!"
		expect_json 'hidepid=2, CAP_BPF and CAP_PERFMON: counters of all processes' \
			'.source.counters == "bpf" and any(.processes[]; .name == "sleep" and .rss_bytes > 0)'
		expect_json 'hidepid=2, CAP_BPF and CAP_PERFMON: hidden processes are denied, not gone' \
			'all(.processes[]; .pss_status == "ok" or .pss_status == "denied") and
			 (.collection.complete == all(.processes[]; .pss_bytes != null))'
	fi
fi
