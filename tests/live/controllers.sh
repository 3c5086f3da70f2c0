#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The values of the memory controller against its files, in cgroups of the test: below our cgroup in v1,
# at the top in v2, as this machine has the controller. Guests have the other version (vm/controllers).
. "$(dirname "$0")/../support/lib.sh"

if [ "$(id -u)" != 0 ]; then
	skip 'memory controller' 'needs root'
	exit 0
fi
top=$(awk '/ - cgroup [^ ]+ ([^ ]*,)?memory(,|$)/ { print $5; exit }' /proc/self/mountinfo)
if [ -n "$top" ]; then
	top=$top$(sed -n 's/^[0-9]*:[^:]*\bmemory\b[^:]*://p' /proc/self/cgroup)
	limit=memory.limit_in_bytes current=memory.usage_in_bytes
else
	top=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
	limit=memory.max current=memory.current
fi
slice=zmem-test-$$.slice
dir=$top/$slice
if ! mkdir "$dir" 2>"$TMP/why" || [ ! -e "$dir/$current" ]; then
	rmdir "$dir" 2>/dev/null
	skip 'memory controller' "no cgroup of ours can be made in ${top:-any hierarchy}: $(cat "$TMP/why")"
	exit 0
fi
started=()
clean() {
	kill "${started[@]}" 2>/dev/null
	wait "${started[@]}" 2>/dev/null
	for _ in $(seq 100); do
		find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null
		[ -d "$dir" ] || break
		sleep 0.05
	done
	lib_cleanup
}
trap clean EXIT

MIB=$((1024 * 1024))
id=3f9a6b5d1c0e2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c
mount_v2() { [ "$current" = memory.current ]; }
# group PATH LIMIT [KIB]: makes a cgroup with three processes of KIB each.
group() {
	mkdir -p "$dir/$1"
	[ -z "$2" ] || echo "$2" >"$dir/$1/$limit"
	[ -n "${3:-}" ] || { ! mount_v2 || echo +memory >"$dir/$1/cgroup.subtree_control"; return; }
	mkfifo "$TMP/in.$3"
	(
		echo "$BASHPID" >"$dir/$1/cgroup.procs"
		exec "$O/fleet" 3 "$3" <"$TMP/in.$3" >"$TMP/out.$3" 2>&1 9>&-
	) &
	started+=("$!")
	# Held open: the fleet ends when it is closed.
	eval "exec $((10 + ${#started[@]}))>$TMP/in.$3"
	for _ in $(seq 200); do
		grep -q READY "$TMP/out.$3" && return
		sleep 0.05
	done
	not_ok "fleet in $1" "$(cat "$TMP/out.$3")"
}
group . $((256 * MIB))
group wide.service $((512 * MIB))
group wide.service/inner '' 4096
group tight.service $((64 * MIB)) 6144
group "docker-$id.scope" '' 2048

ask() { run "$STATIC" -J --cgroup "$slice" "$@"; }
# holds NAME FILTER: FILTER is true for the last document
holds() {
	if jq -e "$2" "$TMP/out" >/dev/null; then ok "$1"; else
		not_ok "$1" "$(jq -c '[.groups[] | {group, procs, mem_current_bytes, mem_limit_bytes, rss_anon_bytes}]' "$TMP/out") $err"
	fi
}
# bytes PATH: the value in the file.
bytes() { cat "$dir/$1/$current"; }

for key in unit cgroup; do
	before=$(bytes wide.service)
	ask --group-by $key
	after=$(bytes wide.service)
	case $key in unit) of='endswith("wide.service")' ;; *) of='endswith("/inner")' ;; esac
	holds "$key: the tightest limit is above it" "any(.groups[]; (.group | $of) and
		.procs == 4 and .mem_limit_bytes == $((256 * MIB)))"
	# The kernel sums the counters of a cgroup now and then, and charges pages in advance.
	holds "$key: charged is what the file says" "any(.groups[]; (.group | $of) and
		.mem_current_bytes >= ([$before, $after] | min) - 2 * $MIB and
		.mem_current_bytes <= ([$before, $after] | max) + 2 * $MIB)"
	holds "$key: it is near what processes have" "any(.groups[]; (.group | $of) and
		.mem_current_bytes > 12 * $MIB and .mem_current_bytes - .rss_anon_bytes < 8 * $MIB)"
	holds "$key: a limit of its own" "any(.groups[]; (.group | endswith(\"tight.service\")) and
		.mem_limit_bytes == $((64 * MIB)) and .mem_current_bytes > 18 * $MIB)"
done
ask --group-by container
holds 'container' "any(.groups[]; .group == \"${id:0:12}\" and .mem_limit_bytes == $((256 * MIB)) and
	.mem_current_bytes > 6 * $MIB)"
ask --group-by user
holds 'of a user no controller knows' 'all(.groups[]; has("mem_limit_bytes") | not)'
run "$STATIC" -H --group-by unit --cgroup "$slice" -o +%limit -s %limit
equal 'by %limit: the highest share first' "$(grep -aoE '(wide|tight)\.service' "$TMP/out" | paste -sd' ')" \
	'tight.service wide.service'

run_expect 0 'recorded' "$STATIC" record -q "$TMP/rec" --cgroup "$slice"
for key in unit container cgroup; do
	ask --group-by $key
	jq -c '[.groups[] | [.group, .mem_limit_bytes]] | sort' "$TMP/out" >"$TMP/live"
	ask --group-by $key --replay "$TMP/rec"
	equal "$key: limits of a recording" "$(jq -c '[.groups[] | [.group, .mem_limit_bytes]] | sort' "$TMP/out")" \
		"$(cat "$TMP/live")"
	holds "$key: charges of a recording" 'all(.groups[] | select(.group); .mem_current_bytes > 6e6)'
done
