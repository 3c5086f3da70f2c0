#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Kernel memory by descriptor in a snapshot, a recording and doctor, and why it is not known. The values: live/test_kernel_memory.py.
. "$(dirname "$0")/../support/cli.sh"

warns 'without BPF: says why' 'KERNEL is not known: this needs BPF' --source proc -n 1 -o +kernel
tells 'without BPF: null, and a status' 'all(.processes[];
	.kernel_bytes == null and .kernel_parts == null and (.kernel_status | IN("unsupported", "kernel_thread")))' \
	-q --source proc -J -o +kernel
tells 'not asked for: skipped' 'all(.processes[];
	.kernel_bytes == null and .kernel_parts == null and (.kernel_status | IN("skipped", "kernel_thread")))' -q -J
works 'record without BPF' record "$TMP/no" --source proc -q -o +kernel
tells 'a recording without BPF: null, and a status' 'all(.processes[]; .kernel_bytes == null and
	(.kernel_status | IN("unsupported", "kernel_thread")))' -q --replay "$TMP/no" -J
need counters 'kernel memory' || exit 0

# A process that holds full pipes of 8 MiB.
helper fill || not_ok 'fill' 'not built'
"$TMP/fill" pipes 8 >"$TMP/ready" 2>"$TMP/fill.err" </dev/null & # a process: it holds 8 MiB
pid=$!
wait_until grep -q READY "$TMP/ready"

adds_up=".kernel_bytes == ([.kernel_parts[].bytes] | add // 0)"
holds=".processes[] | select(.pid == $pid) | .kernel_status == \"ok\" and $adds_up and
	([.kernel_parts[] | select(.kind == \"pipe\")] | length == 1 and
	(.[0] | .bytes >= 8388608 and .bytes < 9000000 and .mapped_bytes == 0 and .descriptors >= 16))"
tells 'a snapshot: pipes' "$holds" -J -p "$pid" -o +kernel
tells 'a group: its parts' ".groups[] | .kernel_bytes >= 8388608 and $adds_up" -J -g name -p "$pid" -o +kernel
says '-s kernel: it has a row' "^ *$pid .* 8\\.[0-9]+ MiB .* fill\$" -o +kernel -s kernel -p "$pid"
says 'metrics' '^zmem_group_kernel_bytes\{group="fill"\} 8[0-9]{6}$' -F openmetrics -g name -p "$pid" -o +kernel

# ---- recordings ----

for columns in +kernel +cmdline,kernel; do
	zmem record "$TMP/rec$columns" -p "$pid" -c 2 -i 0.1 -q -o $columns -J
	expect_rc "record -o $columns" 0
	tells "record -o $columns: a replay has the parts" "$holds" -q --replay "$TMP/rec$columns" -J
done
zmem --replay "$TMP/rec+kernel" -q -J -o +cmdline
expect_json 'record -o +kernel: no command line' 'all(.processes[]; .cmdline == null)'
tells 'record -o +cmdline,kernel: both' "any(.processes[]; .cmdline != null)" -q --replay "$TMP/rec+cmdline,kernel" -J -o +cmdline
works 'record without it' record "$TMP/without" -p "$pid" -q
tells 'record without it: skipped' 'all(.processes[]; .kernel_bytes == null and .kernel_status == "skipped")' -q --replay "$TMP/without" -J

# ---- doctor ----

run timeout -s KILL "$PATIENCE" "$ZMEM" doctor
unfolded
expect_out 'doctor: how many descriptors' '^kernel memory +ok +by BPF, [0-9]+ descriptors? of [0-9]+ process(es)? in [0-9.]+ '

kill "$pid"
