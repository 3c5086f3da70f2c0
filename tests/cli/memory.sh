#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Little memory: a limit of the address space makes allocations fail, a limit of the cgroup kills the
# program at any moment. Afterwards the file is the complete old or the complete new one.
. "$(dirname "$0")/../support/cli.sh"
if sanitized; then
	skip 'little memory' 'sanitizers need more memory'
	exit 0
fi
cp "$STATIC" "$ZMEM"
mkdir "$TMP/dir"
file=$TMP/dir/file
mkmem_begin anon fork || not_ok 'mkmem' 'did not start'
pids=$(sed -n 's/^READY [a-z_]* [a-z0-9_]* //p' "$TMP/mkmem" | paste -sd,)

# Idle processes, in bytes: the expected values.
zmem -J --output "$file" -p "$pids"
jq -c '[.processes[] | {pid, rss_bytes, swap_bytes, uss_bytes}] | sort_by(.pid)' "$file" >"$TMP/whole"

# whole NAME: after a failure the file is the old one, else a correct new one.
whole() {
	if [ "$(ls -A "$TMP/dir")" != file ]; then
		not_ok "$1: no other file is left" "$(ls -A "$TMP/dir")"
	elif [ "$rc" != 0 ]; then
		[ "$(cat "$file")" = old ] || not_ok "$1: the old file" "$(head -c 200 "$file")"
	elif ! jq -c '[.processes[] | {pid, rss_bytes, swap_bytes, uss_bytes}] | sort_by(.pid)' "$file" |
		cmp -s - "$TMP/whole"; then
		not_ok "$1: the values" "$(jq -c '.source, .processes' "$file")"
	fi
}

# ---- address space ----

enough=0 ended=0
for kib in $(seq 1800 64 5000) 8000 16000; do
	echo old >"$file"
	run timeout -s KILL "$PATIENCE" bash -c "ulimit -v $kib; exec \"\$@\"" - \
		"$ZMEM" -J -q --output "$file" -p "$pids"
	case $rc in
	0) enough=$((enough + 1)) ;;
	1)
		ended=$((ended + 1))
		grep -q '^zmem-bpf: ' "$TMP/err" || not_ok "$kib KiB of address space: a message" "$err"
		;;
	*) # The kernel has no room for the program itself.
		[ $enough = 0 ] && [ $ended = 0 ] || not_ok "$kib KiB of address space" "exit code $rc: $err"
		;;
	esac
	whole "$kib KiB of address space"
done
check "address space: 1.8 to 16 MB are not enough ($ended times), or enough ($enough)" \
	test $ended -gt 0 -a $enough -gt 0

# ---- cgroup ----

need cgroups 'a memory limit of the cgroup' || exit 0
v1=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ {print $2; exit}' /proc/mounts)
v2=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/mounts)
group= limit=
if [ -n "$v1" ] && mkdir "$v1/zmem-test-$$" 2>/dev/null; then
	group=$v1/zmem-test-$$ limit=memory.limit_in_bytes
elif grep -qw memory "$v2/cgroup.subtree_control" 2>/dev/null && mkdir "$v2/zmem-test-$$" 2>/dev/null; then
	group=$v2/zmem-test-$$ limit=memory.max
fi
end_cgroup() {
	[ -z "$group" ] || rmdir "$group"
	lib_cleanup
}
trap end_cgroup EXIT
[ -n "$group" ] || not_ok 'a memory limit of the cgroup' 'it cannot be made'
enough=0 ended=0
for kib in $(seq 256 128 4096) 8192 16384; do
	echo old >"$file"
	# What an earlier run left in the page cache of the group would count.
	[ ! -w "$group/memory.force_empty" ] || echo 0 >"$group/memory.force_empty"
	echo $((kib * 1024)) >"$group/$limit" || not_ok "limit of $kib KiB" 'cannot be set'
	# shellcheck disable=SC2016
	run timeout -s KILL "$PATIENCE" bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
		"$ZMEM" -J -q --output "$file" -p "$pids"
	case $rc in
	0) enough=$((enough + 1)) ;;
	1 | 137) ended=$((ended + 1)) ;;
	*) not_ok "a cgroup of $kib KiB" "exit code $rc: $err" ;;
	esac
	[ "$rc" != 1 ] || grep -q '^zmem-bpf: ' "$TMP/err" || not_ok "a cgroup of $kib KiB: a message" "$err"
	whole "a cgroup of $kib KiB"
done
check "cgroup: 256 KiB to 16 MiB are not enough ($ended times), or enough ($enough)" \
	test $ended -gt 0 -a $enough -gt 0
