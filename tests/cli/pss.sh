#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The source of PSS (--pss), its checks (--verify) and the messages about both.
# alone: a shared page differs from smaps_rollup only in a moment in which no process of another test starts
. "$(dirname "$0")/../support/cli.sh"

# ---- not from the kernel ----

zmem -J --pss rollup
expect_json '--pss rollup: no PSS from the kernel' '.source.pss == "smaps_rollup" and
	.source.pss_fallback_reason == null and all(.processes[]; .pss_source != "kernel")'
zmem --pss kernel --source proc
expect_rc '--pss kernel --source proc: refused' 1
expect_stderr_lines '--pss kernel --source proc: one line' 1
if need users 'nobody'; then
	run as_nobody "$ZMEM" --pss kernel
	expect_rc '--pss kernel, nobody: refused' 1
	expect_err '--pss kernel, nobody: names the missing capability' 'CAP_BPF'
fi
need counters 'PSS from the kernel' || exit 0

# ---- PSS from the kernel ----

works '--pss kernel' -J --pss kernel
expect_json '--pss kernel: all PSS from the kernel' '.source.pss == "kernel" and
	.source.pss_fallback_reason == null and
	all(.processes[]; .pss_source == "kernel" or .pss_status == "raced") and
	([.processes[] | select(.pss_source == "kernel")] | length) > 3'
expect_json '--pss kernel: parts add up' 'all(.processes[] | select(.pss_status == "ok");
	(.pss_bytes - .pss_anon_bytes - .pss_file_bytes - .pss_shmem_bytes | fabs) <= 3 and
	.uss_bytes <= .pss_bytes and .pss_bytes <= .rss_bytes)'
tells 'auto: from the kernel on this machine' '.source.pss == "kernel" or .source.pss == "mixed"' -J

# ---- --pss kernel where it is impossible ----

if need caps 'two capabilities'; then
	run_expect 0 '--pss kernel, two capabilities' with_caps +bpf,+perfmon "$ZMEM" -J --pss kernel
	expect_json '--pss kernel, two capabilities: PSS of all processes' '.source.pss == "kernel" and
		([.processes[] | select(.uid == 0 and .pss_source == "kernel")] | length) > 0'
fi
if need mount 'no zoneinfo'; then
	run unshare -m bash -c 'mount --bind /dev/null /proc/zoneinfo && exec "$0" -J -q' "$ZMEM"
	expect_json 'no zoneinfo: calibration gives a reason' \
		'.source.pss_fallback_reason | test("calibration.*zoneinfo")'
	run unshare -m bash -c 'mount --bind /dev/null /proc/zoneinfo && exec "$0" --pss kernel' "$ZMEM"
	expect_rc 'no zoneinfo, --pss kernel: refused' 1
	expect_err 'no zoneinfo, --pss kernel: names the failed check' 'calibration.*zoneinfo'
fi

# ---- --verify ----

zmem --verify all
# The first number of the summary, and the sum of those that say how the checks ended.
read -r shown checked < <(awk '/^[0-9]+ processes|^PSS of/ { n = /^PSS of/ ? $5 : $1 }
	match($0, /checked with smaps_rollup: [^;]*/) {
		said = substr($0, RSTART, RLENGTH)
		gsub(/\([^)]*\)/, "", said)
		count = split(said, number, /[^0-9]+/)
		for (i = 1; i <= count; i++)
			sum += number[i]
	}
	END { print n, sum }' "$TMP/out")
equal '--verify all: the counts add up to the processes' "$checked" "$shown"
expect_out '--verify all: zmem-bpf itself is not checked' 'not checked \(.*zmem-bpf itself\)'
works '--verify all' -J --verify all
expect_json '--verify all: checked, none different' '.collection.cross_check |
	.checked > 3 and .different == 0 and .checked == .same + .moved + .gone'
zmem -J
# smaps_rollup is also read, and then compared, for a process with an uncertain walk.
uncertain='([.processes[] | select(.pss_source == "smaps_rollup" or .pss_status == "gone")] | length)'
expect_json 'at most three are checked' ".collection.cross_check.checked <= 3 + $uncertain and
	.collection.cross_check.different == 0"
tells '--verify 0: no PSS of the kernel is checked' ".collection.cross_check.checked <= $uncertain" -J --verify 0
mkmem_begin anon
anon=$(mkmem_pid_of anon main)
if need mount 'a check differs'; then
	# A check that differs: smaps_rollup of one process has another Pss. Nothing of the kernel's PSS is shown then, of
	# no process and in no later snapshot.
	awk '/^(Pss|Pss_Anon):/ { $2 -= 1024 } { print }' /proc/"$anon"/smaps_rollup >"$TMP/rollup"
	why='PSS from page tables differed from smaps_rollup in 1 spot check'
	# While other processes are started that could share pages, nothing differs.
	differs() {
		run unshare -m bash -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' - "$TMP/rollup" \
			/proc/"$anon"/smaps_rollup "$ZMEM" "$@"
		[ "$rc" = 4 ]
	}
	check 'a check differs: exit code 4' wait_until differs -J --verify all
	expect_err 'a check differs: the reason' "^zmem-bpf: PSS comes from smaps_rollup: $why$"
	expect_json 'a check differs: no PSS from the kernel' '.source.pss == "smaps_rollup" and
		.source.pss_fallback_reason == $why and .collection.cross_check.different == 1 and
		all(.processes[]; .pss_source != "kernel") and
		([.processes[] | select(.pss_source == "smaps_rollup")] | length) > 3' --arg why "$why"
	expect_json 'a check differs: PSS of smaps_rollup' '.processes[] | select(.pid == $pid) |
		.pss_bytes == $pss * 1024' --argjson pid "$anon" --argjson pss "$(awk '/^Pss:/ { print $2 }' "$TMP/rollup")"
	# Processes of other tests end, or cannot be read.
	expect_json 'a check differs: a process without PSS has a reason' '.totals.pss_bytes > 0 and
		all(.processes[]; .pss_bytes != null or (.pss_status | IN("gone", "raced", "denied", "timeout")))'
	check 'a check differs, --pss kernel' wait_until differs -J --verify all --pss kernel
	expect_err 'a check differs, --pss kernel: the reason' "^zmem-bpf: PSS is not known: $why$"
	expect_json 'a check differs, --pss kernel: no PSS' '.source.pss == "none" and
		.source.pss_fallback_reason == $why and
		all(.processes[]; .pss_bytes == null and .uss_bytes == null and .rss_bytes != null)' --arg why "$why"
	check 'a check differs, watch' wait_until differs watch -c 9 -i 0.1 --verify all -p "$anon,$$" -F ndjson
	equal 'a check differs, watch: PSS from there on' \
		"$(jq -r 'select(.type == "process") | .pss_source' "$TMP/out" | uniq | grep -v kernel | xargs)" smaps_rollup
	equal 'a check differs, watch: the reason from there on' \
		"$(jq -r 'select(.type == "snapshot") | .source.pss_fallback_reason' "$TMP/out" | uniq | grep -v null)" "$why"
	equal 'a check differs, watch: the last snapshot' "$(jq -r .source.pss_fallback_reason <(tail -n 1 "$TMP/out"))" "$why"
	equal 'a check differs, watch: a note' "$(grep -c "PSS comes from smaps_rollup: $why" "$TMP/err")" 1
	check 'a check differs, record' wait_until differs record -q --verify all -c 9 -i 0.1 "$TMP/recorded"
	zmem --replay "$TMP/recorded" -J
	expect_json 'a check differs, record: the last snapshot' '.source.pss == "smaps_rollup" and .source.pss_fallback_reason == $why' --arg why "$why"
fi
warns '--verify 0: reads no smaps_rollup' 'smaps_rollup reads: 0' --timing --verify 0 -p "$anon"
# Not while the PSS of a process is missing, for example because the process has just ended.
balance() {
	zmem --timing -p "$anon"
	grep -qE '^balance: AnonPages - PSS_ANON -?[0-9]+ kB, Mapped' <<<"$err"
}
check '--timing: whether the books close' wait_until balance
mkmem_end
# The totals need all processes. Here only the values of invisible processes are missing.
reconciled() {
	zmem -J
	jq -e .system.anon_residual_bytes "$TMP/out" >/dev/null
}
check 'the totals: of all processes' wait_until reconciled
expect_json 'the totals reconcile except for hidden processes' '.system |
	(.anon_residual_bytes | fabs) < 256e6 and (.mapped_residual_bytes | fabs) < 256e6'

# ---- a walk in many steps ----

if mkmem_begin shmem_big && grep -q '^READY' "$TMP/mkmem"; then
	big=$(sed -n 's/^READY shmem_big [^ ]* //p' "$TMP/mkmem" | paste -sd,)
	run "$STATIC" -J --pss kernel -p "$big"
	expect_json 'larger than a step: from the kernel' '(.processes | length) > 2 and
		all(.processes[]; .pss_source == "kernel") and any(.processes[]; .rss_shmem_bytes > 300e6)'
	run_expect 0 'larger than a step: exact' "$STATIC" -J --verify all -p "$big"
	expect_json 'larger than a step: agrees with smaps_rollup' '.collection.cross_check |
		.checked > 2 and .same == .checked'
	mkmem_end
else
	not_ok 'larger than a step' "$(cat "$TMP/mkmem")"
fi
