#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a run costs on other kernels, in instructions: O=build VM_SCRIPT=tests/bench/guest_cost.sh tests/vm/run 6.12 7.x.
# The clock of a guest counts instructions, 4 ns each (tests/vm/run), so a loaded machine changes nothing. The runs load
# programs or use the pin. They run in an idle guest, and beside 400 exec'ed processes. Probes on functions of the verifier say what the parts of a load cost.
ROUNDS=10

now() {
	awk '{print $1 * 1000}' /proc/uptime
}

# cost TEXT [OPTION…]
cost() {
	local text=$1 begin i=0
	shift
	zmem-bpf-static "$@" >/dev/null 2>&1 || { echo "$text: failed"; return; }
	zmem-bpf-static "$@" >/dev/null
	begin=$(now)
	while [ $i -lt $ROUNDS ]; do
		zmem-bpf-static "$@" >/dev/null
		i=$((i + 1))
	done
	awk -v b="$begin" -v e="$(now)" -v n=$ROUNDS -v t="$text" \
		'BEGIN {printf "%-40s %6.1f M instructions\n", t, (e - b) / n / 4}'
}

costs() {
	cost "$1, loaded"
	cost "$1, loaded, --pss none" --pss none
	mkdir -p /run
	if zmem-bpf-static pin 2>/dev/null; then
		cost "$1, pinned" --pinned
		cost "$1, pinned, --pss none" --pinned --pss none
		zmem-bpf-static pin --remove
	fi
}

# parts FUNCTION…: how long they take while task_pss is loaded, and how often they are called.
parts() {
	local function name
	mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
	cd /sys/kernel/tracing || return
	for function in "$@"; do
		name=$(awk -v f="$function" '$3 == f || index($3, f ".isra") == 1 || index($3, f ".constprop") == 1 \
			{print $3; exit}' /proc/kallsyms)
		[ -n "$name" ] || continue
		echo "p:enter_$function $name" >>kprobe_events 2>/dev/null && echo "r:leave_$function $name" >>kprobe_events
	done
	load_objects /tests/objects/task_pss*.bpf.o >/dev/null
	echo 20000 >buffer_size_kb
	echo 1 >events/kprobes/enable
	load_objects /tests/objects/task_pss.bpf.o
	echo 0 >events/kprobes/enable
	awk '{
		time = name = ""
		for (i = 1; i <= NF; i++) {
			if (time == "" && $i ~ /^[0-9]+\.[0-9]+:$/) time = $i + 0
			if (name == "" && $i ~ /^(enter|leave)_.*:$/) name = substr($i, 1, length($i) - 1)
		}
		if (name == "") next
		function_name = substr(name, 7)
		if (name ~ /^enter/) {
			if (!depth[function_name]++) begin[function_name] = time
		} else if (depth[function_name] > 0 && !--depth[function_name]) {
			sum[function_name] += time - begin[function_name]
			calls[function_name]++
		}
	} END {
		for (f in sum) printf "  %-32s %7.2f M instructions in %d calls\n", f, sum[f] * 250, calls[f]
	}' trace | sort -k 2 -rn
	cd /
}

costs 'idle'
(tail -f /dev/null | workload exec:400x256 >/tmp/ready) &
until grep -q READY /tmp/ready 2>/dev/null; do
	sleep 0.2
done
costs '400 processes of 256 KiB'
parts bpf_check do_check_common bpf_patch_insn_data verifier_remove_insns jit_subprogs bpf_jit_subprogs analyze_subprog \
	do_misc_fixups bpf_do_misc_fixups
echo '1 passed, 0 failed'
exit 0
