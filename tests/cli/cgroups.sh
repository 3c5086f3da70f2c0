#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# zmem-bpf cgroups: all memory cgroups, what hurts first, against the files of the kernel.
# needs: cgroups
. "$(dirname "$0")/../support/cli.sh"

v2=
top=/sys/fs/cgroup/memory
if ! [ -f $top/memory.limit_in_bytes ]; then
	v2=1
	top=/sys/fs/cgroup
fi
name=zmem-test-cgroups-$$
dir=$top/$name

# limit DIR BYTES
limit() {
	echo "$2" >"$1/$([ $v2 ] && echo memory.max || echo memory.limit_in_bytes)"
}
end_cgroups() {
	[ -z "$eater" ] || kill "$eater"
	wait
	find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null
	lib_cleanup
}
eater=
trap end_cgroups EXIT
mkdir "$dir"
[ $v2 ] && echo +memory >"$dir/cgroup.subtree_control"
mkdir "$dir/pod"
[ $v2 ] && echo +memory >"$dir/pod/cgroup.subtree_control"
mkdir "$dir/pod/web" "$dir/pod/db" "$dir/idle"
limit "$dir/pod" 64M
limit "$dir/pod/web" 48M
limit "$dir/idle" 32M

# 40 MiB in db, which has no limit: 24 MiB are left to it and to web; the own limit of web is farther.
bash -c 'echo $$ >"$1" && exec "$2" -c "import time
held = bytes([1]) * (40 << 20)
time.sleep(1000)"' _ "$dir/pod/db/cgroup.procs" "$PYTHON" & # a process: it holds the memory
eater=$!
# The kernel makes the sums of memory.stat when it has time.
is_summed() {
	awk '/^(total_rss|anon) / && $2 > 40 * 1048576 { found = 1 } END { exit !found }' "$dir/pod/memory.stat"
}
wait_until is_summed

works 'json' cgroups --cgroup "/$name" --json
expect_json 'a document like that of snapshot -g cgroup' '.schema == "zmem.snapshot" and .group_by == "cgroup"'
expect_json 'each cgroup is a row, also without processes' \
	'[.groups[].group] | sort == ["/\($n)", "/\($n)/idle", "/\($n)/pod", "/\($n)/pod/db", "/\($n)/pod/web"]' \
	--arg n "$name"
expect_json 'processes are counted where they are' \
	'[.groups[] | select(.procs > 0) | .group] == ["/\($n)/pod/db"]' --arg n "$name"
expect_json 'the limit of the pod is nearest for all in it' \
	'[.groups[] | select(.group | contains("/pod")) | [.nearest_limit_bytes, .limit_cgroup]] | unique
	== [[67108864, "/\($n)/pod"]]' --arg n "$name"
expect_json 'how many levels above' \
	'[.groups[] | {(.group): .limit_up}] | add == {"/\($n)": null, "/\($n)/pod": 0, "/\($n)/pod/web": 1,
	"/\($n)/pod/db": 1, "/\($n)/idle": 0}' --arg n "$name"
expect_json 'what is left is the same for all in the pod, and less than what db does not hold' \
	'[.groups[] | select(.group | contains("/pod")) | .mem_left_bytes] | unique | length == 1 and .[0] < 24 * 1048576'
expect_json 'the nearest is first' '.groups[0].limit_cgroup == "/\($n)/pod" and .groups[-1].group == "/\($n)"' \
	--arg n "$name"
expect_json 'anonymous memory of db is charged to db and to those above' \
	'[.groups[] | select(.mem_anon_bytes > 40 * 1048576) | .group] | sort == ["/\($n)", "/\($n)/pod", "/\($n)/pod/db"]' \
	--arg n "$name"
[ $v2 ] || expect_json 'no task waits for the OOM killer' '[.groups[].under_oom] | unique == [0]'

tells '-g cgroup sorted by what cgroups are charged has all of them' '.groups | length == 5' -g cgroup --cgroup "/$name" -s mem_current --json
zmem -g cgroup --cgroup "/$name" --json
expect_json '-g cgroup has those with processes' '[.groups[].group] == ["/\($n)/pod/db"]' --arg n "$name"
works 'none matches' cgroups --cgroup /zmem-no-such
expect_out 'none matches: said' 'no memory cgroup matches'
zmem cgroups --cgroup "/$name" --source proc
expect_out 'without page frames: deleted ones are not known, and why' '^5 memory cgroups: first what hurts, then by the nearest limit; deleted ones are not known: .'

finish
