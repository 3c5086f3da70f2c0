#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Loads each BPF object by libbpf and as a light skeleton, and prints the number of instructions that the
# verifier checked and the time, to compare compilers. Applies rules of the verifiers of Linux 6.2 to 6.8, too.
. "$(dirname "$0")/../support/lib.sh"

need_bpf objects || exit 0

# load OBJECT: prints the messages of libbpf and the verifier; uses its own bpffs.
load() {
	unshare --mount bash -c 'mount -t bpf bpf "$1" && bpftool --debug prog loadall "$2" "$1/all"' - "$TMP" "$1" 2>&1
}

looked=0
for object in task_counters task_counters_probe task_counters_old task_pss task_pss_probe task_pss_old files holders swap \
	oom_kill oom_kill_probe oom_kill_old; do
	if load "$O/bpf/$object.bpf.o" >"$TMP/log"; then
		n=$(awk '/^processed [0-9]+ insns/ { n += $2 } END { print n + 0 }' "$TMP/log")
		us=$(awk '/^verification time/ { n += $3 } END { print n + 0 }' "$TMP/log")
		ok "$object: loads ($n instructions looked at in $us us)"
		looked=$((looked + n))
	else
		not_ok "$object: loads" "$(grep -aE 'stack size|^libbpf: prog .*failed|Error' "$TMP/log" | tail -n 3)"
	fi
done
for object in task_counters task_counters_probe task_counters_old task_pss task_pss_probe task_pss_old swap \
	oom_kill oom_kill_probe oom_kill_old; do
	run_expect 0 "$object: only jumps lead back into loops" \
		"$(dirname "$0")/../support/old_verifier.py" "$O/bpf/$object.bpf.o" 32
	read -r stack _ <"$TMP/out"
	check "$object: frames of 32 bytes take $stack bytes of stack" [ "$stack" -le 512 ]
done
check 'the verifier checked instructions' [ "$looked" -gt 1000 ]

# Each way to load an object, light skeletons first, but for objects that do not know the counters of this kernel.
run "$PROGRAM" doctor -v
for way in 'bpf with pages' 'bpf with pages (libbpf)' 'bpf with pages (probe reads)' 'bpf' 'bpf (libbpf)' 'bpf (probe reads)'; do
	line=$(awk -v way="$way  " 'index($0, way) == 1' "$TMP/out")
	check "doctor: $way (${line##* opened in })" grep -qE ' ok +opened in' <<<"$line"
done
