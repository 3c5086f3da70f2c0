#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Snapshots in a loop under churn: in one process (soak.c) and, at the same time, by the program
# itself, for SOAK_MINUTES (default: 20 seconds); then watch, serve for as long, and top. No resource
# may grow, no object may stay in the kernel, and the kernel log must have no new line.
#
# It has a pid namespace of its own: memory grows with the number of processes, and the others of this
# machine come and go. /proc of all processes is descriptor 9.
# needs: bpf
[ -n "${SOAK_WORLD:-}" ] || [ "$(id -u)" != 0 ] ||
	SOAK_WORLD=1 exec unshare --mount --pid --fork --kill-child --mount-proc "$0" "$@" 9</proc
here=$(dirname "$0")
. "$here/../support/lib.sh"

seconds=20
[ -z "${SOAK_MINUTES:-}" ] || seconds=$((SOAK_MINUTES * 60))

# The new lines of the kernel log; old lines may be dropped meanwhile.
kernel_log() {
	dmesg 2>/dev/null | awk -v begin="$begin" -F '[][]' '$2 + 0 > begin' |
		grep -E 'WARNING: |BUG: |Oops|general protection|rcu:.*stall|lockup'
}
# BPF programs with our names that no process has open.
our_programs() {
	bpftool -j prog show 2>/dev/null | jq -r '.[] | select((.name // "") |
		test("^(task_counters|task_pss|cpu_offset_set)")) | .id' | sort
}
strays() {
	our_programs >"$TMP/before"
	cat /proc/self/fd/9/[1-9]*/fdinfo/* 2>/dev/null | sed -n 's/^prog_id:[[:space:]]*//p' | sort -u >"$TMP/held"
	our_programs | comm -12 - "$TMP/before" | comm -23 - "$TMP/held" | wc -l
}
pins() {
	find /sys/fs/bpf -mindepth 1 2>/dev/null | wc -l
}

# Cgroups for the churn, in the first hierarchy where we can create some below our own.
cgroups=()
make_cgroups() {
	local base
	for base in /sys/fs/cgroup/unified /sys/fs/cgroup /sys/fs/cgroup/memory; do
		base=$base$(sed -n 's/^0:://p' /proc/self/cgroup | sed 's,/$,,')
		[ -e "$base/cgroup.procs" ] && mkdir "$base/zmem-soak-$$" 2>/dev/null || continue
		mkdir "$base/zmem-soak-$$/a.service" "$base/zmem-soak-$$/b.scope"
		cgroups=("$base/zmem-soak-$$/a.service" "$base/zmem-soak-$$/b.scope")
		return
	done
}
drop_cgroups() {
	[ ${#cgroups[@]} != 0 ] || return
	wait_until eval 'rmdir "${cgroups[@]}" "${cgroups[0]%/*}" 2>/dev/null; [ ! -d "${cgroups[0]%/*}" ]'
}
program_loop=
trap '[ -z "$program_loop" ] || kill "$program_loop" 2>/dev/null; wait; drop_cgroups; lib_cleanup' EXIT

# Runs the program repeatedly. The last line has the number of runs, of failures, and of runs in which a
# process with equal counters before and after looked different (exit code 4).
run_program() {
	local count=0 bad=0 different=0 rc
	trap 'echo "$count $bad $different" >"$TMP/program"; exit' TERM
	while :; do
		"$STATIC" --json -q >"$TMP/one.json" 2>>"$TMP/program.err" &
		wait $!
		rc=$?
		[ $rc -lt 128 ] || continue # we were asked to end
		count=$((count + 1))
		[ $rc != 4 ] || different=$((different + 1))
		{ [ $rc = 0 ] || [ $rc = 4 ]; } && [ "$(tail -c 2 "$TMP/one.json")" = '}' ] ||
			bad=$((bad + 1))
	done
}

make_cgroups
# Disables the per-thread caches of malloc, which count as in use.
export GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1

begin=$(cut -d' ' -f1 /proc/uptime) pins_before=$(pins) strays_before=$(strays)
echo '0 0 0' >"$TMP/program"
run_program &
program_loop=$!
"$B/soak" "$seconds" "$O/fleet" "$O/churn" 3 "${cgroups[@]}" || failed=1
# Ten thousand ticks of watch take a minute or two; fewer ticks if there is less time.
"$B/soak_watch" $((seconds < 300 ? seconds * 30 : 10000)) "$O/fleet" "$O/churn" 3 "${cgroups[@]}" || failed=1
"$here/soak_serve.py" "$seconds" "$O/fleet" "$O/churn" 3 "${cgroups[@]}" || failed=1
# Five minutes of ticks, or fewer if there is less time.
"$here/soak_top.py" $((seconds < 200 ? seconds * 15 : 3000)) "$O/fleet" "$O/churn" 3 "${cgroups[@]}" || failed=1
kill "$program_loop"
wait "$program_loop"
program_loop=
read -r count bad different <"$TMP/program"
echo "# soak: the program itself $count times beside it, $different with a difference"
equal 'the program succeeds every time' "$bad: $(head -c 400 "$TMP/program.err")" '0: '
check 'the program ran' test "$count" -gt 0
check 'its PSS agrees with smaps_rollup, with rare exceptions' test $((different * 20)) -le $((count + 20))
check 'no BPF program stays in the kernel' wait_until eval '[ "$(strays)" -le "$strays_before" ]'
equal 'nothing is pinned' "$(pins)" "$pins_before"
equal 'nothing in the kernel log' "$(kernel_log)" ''
check 'the cgroups can be removed' drop_cgroups
cgroups=()
