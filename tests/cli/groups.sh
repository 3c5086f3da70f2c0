#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Groups and trees of processes that fork. live/test_world.py has the sums by each key, unit/test_query_tree.c trees.
. "$(dirname "$0")/../support/cli.sh"

# 40 workers of one program that fork and never exec, like daemons.
cat >"$TMP/zmem_workers" <<'END'
import os, sys, time
keep = bytearray(os.urandom(1 << 20))
for _ in range(40):
    if os.fork() == 0:
        os.setsid()
        break
time.sleep(1000)  # a process: its group is shown
END
cp "$(command -v sleep)" "$TMP/zmem_grp"
"$PYTHON" "$TMP/zmem_workers" &
workers=$!
# Two of other users, if there can be any.
user=$(id -un) other=nobody groups=3
as_user() {
	exec setpriv --reuid="$1" --regid="$1" --clear-groups "${@:2}"
}
have users || { other=$user groups=2; as_user() { exec "${@:2}"; }; }
as_user 65534 "$TMP/zmem_grp" 1000.5 &
nobody=$!
as_user 54321 "$TMP/zmem_grp" 1000.25 &
nameless=$!
# PSS of these two is known, or denied.
denied=false
have users && ! have ptrace && denied=true
# hold COUNT WHERE UNKNOWN: the begin of the sentence about COUNT processes, of which UNKNOWN are of other users.
hold() {
	if $denied; then echo "^PSS of $(($1 - $3)) of $1 processes$2 is known: "; else echo "^$1 processes$2 hold "; fi
}
end_workers() {
	pkill -P "$workers"
	kill "$workers" "$nobody" "$nameless" 2>/dev/null
	lib_cleanup
}
trap end_workers EXIT
forked() {
	[ "$(pgrep -cP "$workers")" = 40 ]
}
wait_until forked
wait_until grep -q zmem_grp "/proc/$nobody/comm"
wait_until grep -q zmem_grp "/proc/$nameless/comm"
pids=$workers,$(pgrep -P "$workers" | paste -sd,)

# ---- sums ----

zmem -J -g name -p "$pids"
expect_json '40 forked workers and their parent are 41 processes' '[.groups[].procs] == [41]'
expect_json 'shared memory of forked workers is counted once' \
	'.groups[0] | .pss_bytes < .rss_bytes / 3 and .uss_bytes <= .pss_bytes and .pss_missing_processes == 0'
if need users 'a user without a name'; then
	tells 'a user without a name is shown by number' '[.groups[].group] | sort == ["54321", "nobody"]' -J -g user -p "$nobody,$nameless"
	zmem -g user -o procs,user,name,uid -p "$nobody,$nameless,$workers"
	expect_out 'a name that all processes of a group share is shown' '^ +1 +nobody +zmem_grp +65534$'
fi
# ---- tables; cli/formats.sh and the golden files have the other formats ----

zmem -F ndjson -g user -p "$nobody,$nameless"
check 'ndjson of groups fits the schema' "$PYTHON" "$SUPPORT/validate_json.py" --lines "$TMP/out"
zmem -g unit -p "$nobody"
expect_out 'by unit, with counters of the memory controller' 'MEM_CURRENT +LIMIT +UP +%NEAR +USS +SWAP_PSS +RSS +MEM_ANON +MEM_FILE +MEM_SHMEM +MEM_KERNEL +UNIT$'
# ---- cgroups ----

zmem -J -p "$nobody"
path=$(jq -r '.processes[0].cgroup // empty' "$TMP/out")
if [ -n "$path" ]; then
	zmem -J --cgroup "$path"
	expect_json '--cgroup PATH: the processes in it' "[.processes[].pid] | contains([$nobody])"
	expect_json '--cgroup PATH: no other process' '[.processes[].cgroup | startswith($path)] | all' --arg path "$path"
	zmem -J --cgroup '/*' -u "$other" -f 'zmem_grp 1000[.]5$'
	expect_json '--cgroup, -u and -f: all must hold' \
		"[.processes[].pid] | . == [$nobody] or . == []"
else
	not_ok '--cgroup' 'a process without a cgroup'
fi

# systemd escapes bytes of names by a backslash. The names are those of the memory controller, in v1 or v2.
read -r top hierarchy < <(awk '/ - cgroup [^ ]+ ([^ ]*,)?memory(,|$)/ { print $5, "memory"; exit }' /proc/self/mountinfo)
[ -n "$top" ] || read -r top < <(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
scope='zmem-qemu\x2d'$$'.scope'
if need cgroups 'a name with a backslash' && mkdir "$top/$scope"; then
	echo "$nobody" >"$top/$scope/cgroup.procs"
	for choice in "--unit $scope" "--cgroup $scope" "--cgroup /$scope" '--unit zmem-qemu\x2d*' "--cgroup */$scope"; do
		zmem -J "${choice%% *}" "${choice#* }"
		# shellcheck disable=SC2016
		expect_json "a name with a backslash: $choice" '[.processes[] | [.pid, .unit]] == [[$pid, $unit]]' \
			--argjson pid "$nobody" --arg unit "$scope"
	done
	own=$(sed -n "s/^[0-9]*:$hierarchy://p" /proc/self/cgroup)
	echo "$nobody" >"$top$own/cgroup.procs"
	rmdir "$top/$scope"
fi

# ---- several keys ----

chosen=$pids,$nobody,$nameless
zmem -J -g user,name -p "$chosen"
cp "$TMP/out" "$TMP/keys"
expect_json '-g user,name: each key is a key of JSON, and the group has both' \
	'.group_by == "user,name" and (.groups | length) == $groups and
	all(.groups[]; .group == .user + " / " + .name and .user != null and .name != null) and
	([.groups[].procs] | add) == .totals.processes and ([.groups[].rss_bytes] | add) == .totals.rss_bytes' \
	--argjson groups $groups
zmem -g user,name -p "$chosen"
expect_out 'the table has both in one column' '  USER / NAME$'
expect_out 'the summary counts the groups' "$(hold 43 " in $groups groups" 2)"
zmem --tree -g user,name -b -p "$chosen"
if need users 'levels: three users'; then
	check 'levels: three users, with a program below each' sh -c \
		"[ \$(grep -c '  └─ ' '$TMP/out') = 3 ] && grep -qE '^ +1 .*  54321$' '$TMP/out'"
fi
zmem maps -g user,name -F json -p "$nobody"
expect_json 'maps -g user,name' '.group_by == "user,name" and all(.groups[]; .group | startswith($other + " / ")) and
	(.groups | length > 0 or $denied)' --arg other "$other" --argjson denied $denied

# ---- trees ----

zmem --tree -o pid,procs,name -p "$pids,$nobody"
expect_out 'a tree: the parent has the sum of all' "^ *$workers +41 +[^ ]"
check 'a tree: all children hang below it' \
	[ "$(grep -cE '^ *[0-9]+ +1  (├|└)─ ' "$TMP/out")" = 40 ]
check 'a tree: one child is the last' [ "$(grep -c '└─' "$TMP/out")" = 1 ]
expect_out 'a tree: the total counts each once' "$(hold 42 '' 1)"
# ---- refusals ----

# unit/test_query_parse.c has keys and columns that cannot be.
refused '--tree of groups of one key' 2 '--tree with --group-by name: it needs several keys' --tree -g name
refused 'a key that makes no groups' 2 "--group-by user,pid: 'pid': must be one of name, " -g user,pid
refused '--tree and -n' 2 '--tree cannot be combined with --top' --tree -n 3
