#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Loads each BPF object by libbpf and as a light skeleton, and prints how many instructions the verifier
# looked at and the time, to compare compilers. Applies rules of the verifiers of Linux 6.2 to 6.8, too.
# needs: bpf
. "$(dirname "$0")/../support/lib.sh"

run "$O/load_objects" "$O"/bpf/*.bpf.o
cat "$TMP/out"
equal 'every object loads but those for older kernels' \
	"$(sed -n 's/^ok objects: \([a-z_]*\): is not for .*/\1/p' "$TMP/out" | paste -sd ' ')" 'grow_probe peak_probe'
# What would read a member that the kernel does not have is refused.
run "$O/load_objects" -m "$O"/bpf/{task_pss,pages,files,holders,held,swap,freed}.bpf.o
equal 'no object loads without the members that it reads' "$(grep -c '^ok objects: .*: is not for ' "$TMP/out")" 7
for object in task_counters task_counters_probe task_counters_old task_pss task_pss_memos task_pss_probe task_pss_old swap \
	oom_kill oom_kill_probe oom_kill_old census census_old grow grow_probe peak peak_probe waits descriptors descriptors_old; do
	run_expect 0 "$object: only jumps lead back into loops" \
		"$(dirname "$0")/../support/old_verifier.py" "$O/bpf/$object.bpf.o" 32
	read -r stack _ <"$TMP/out"
	check "$object: frames of 32 bytes take $stack bytes of stack" [ "$stack" -le 512 ]
done

# Each way to load an object, light skeletons first, but for objects that do not know the counters of this kernel.
run "$PROGRAM" doctor -v
for way in 'bpf with pages' 'bpf with pages (libbpf)' 'bpf with pages (probe reads)' 'bpf' 'bpf (libbpf)' 'bpf (probe reads)'; do
	line=$(awk -v way="$way  " 'index($0, way) == 1' "$TMP/out")
	check "doctor: $way (${line##* opened in })" grep -qE ' ok +opened in' <<<"$line"
done
