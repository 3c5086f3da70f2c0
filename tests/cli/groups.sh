#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Groups, trees and --min. Properties that other tests check for processes hold for sums, too.
. "$(dirname "$0")/../support/cli.sh"

mkmem_begin anon shmem fork clone_vm || not_ok 'mkmem' 'did not start'
mkmem_pids=$(sed -n 's/^READY [^ ]* [^ ]* //p' "$TMP/mkmem" | paste -sd,)

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
# Two of other users, if there can be any: $groups of "user,name" are then 3, with $each process in the last ones.
user=$(id -un) other=nobody number=54321 groups=3 each=1
as_user() {
	exec setpriv --reuid="$1" --regid="$1" --clear-groups "${@:2}"
}
have users || { other=$user number=$UID groups=2 each=2; as_user() { exec "${@:2}"; }; }
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

zmem -J -p "$pids,$mkmem_pids,$nobody,$nameless"
cp "$TMP/out" "$TMP/processes"
# sums EXPRESSION: sums by KEY over the processes that own their address space.
for key in name user unit container cgroup; do
	zmem -J -g "$key" -p "$pids,$mkmem_pids,$nobody,$nameless"
	expect_json "-g $key: a row for each group" \
		'[.groups[].group] | sort == ($p[0].processes | map(.[$key] // (if $key == "user" then "54321" else null end)) | unique | sort)' \
		--slurpfile p "$TMP/processes" --arg key "$key"
	expect_json "-g $key: the document names the key" '.group_by == $key and (has("processes") | not)' --arg key "$key"
	expect_json "-g $key: no process is lost" \
		'([.groups[].procs] | add) == ($p[0].processes | length) and .totals.processes == ($p[0].processes | length) and
		.collection.reported == .totals.processes' --slurpfile p "$TMP/processes"
	expect_json "-g $key: kernel counters add up, an address space once" \
		'. as $d | [.groups[] | .group as $g | .rss_anon_bytes == ($p[0].processes | map(select(.mm_owner and
		((.[$key] // (if $key == "user" then "54321" else null end)) == $g)) | .rss_anon_bytes) | add // null)] | all' \
		--slurpfile p "$TMP/processes" --arg key "$key"
	expect_json "-g $key: groups add up to the totals" \
		'([.groups[].rss_bytes // 0] | add) == .totals.rss_bytes and
		([.groups[].swap_bytes // 0] | add) == .totals.swap_bytes'
done

zmem -J -g name -p "$pids"
expect_json '40 forked workers and their parent are 41 processes' '[.groups[].procs] == [41]'
expect_json 'shared memory of forked workers is counted once' \
	'.groups[0] | .pss_bytes < .rss_bytes / 3 and .uss_bytes <= .pss_bytes and .pss_missing_processes == 0'
shared=$(sed -n 's/^READY clone_vm [^ ]* //p' "$TMP/mkmem" | paste -sd,)
zmem -J -g name -p "$shared"
expect_json 'a shared address space counts once' \
	'.groups[0].procs > 1 and .groups[0].rss_bytes == $p[0].totals.rss_bytes' \
	--slurpfile p <("$ZMEM" -J -p "$shared")
if need users 'a user without a name'; then
	zmem -J -g user -p "$nobody,$nameless"
	expect_json 'a user without a name is shown by number' '[.groups[].group] | sort == ["54321", "nobody"]'
	zmem -g user -o procs,user,name,uid -p "$nobody,$nameless,$workers"
	expect_out 'a name that all processes of a group share is shown' '^ +1 +nobody +zmem_grp +65534$'
fi
zmem -J -g cmdline -p "$nobody,$nameless"
expect_json '-g cmdline' \
	"[.groups[].group] | sort == [\"$TMP/zmem_grp 1000.25\", \"$TMP/zmem_grp 1000.5\"]"

# ---- tables; cli/formats.sh and the golden files have the other formats ----

zmem -F ndjson -g user -p "$nobody,$nameless"
check 'ndjson of groups fits the schema' "$PYTHON" "$SUPPORT/validate_json.py" --lines "$TMP/out"
zmem -g user -p "$nobody,$nameless" --numeric
expect_out '--numeric' " $(id -u "$other")\$"
zmem -g unit -p "$nobody"
expect_out 'by unit, with counters of the memory controller' 'MEM_CURRENT +LIMIT +UP +%NEAR +USS +SWAP_PSS +RSS +MEM_ANON +MEM_FILE +MEM_SHMEM +MEM_KERNEL +UNIT$'
zmem -g name -n 1 -p "$pids,$nobody"
expect_out '-n: the largest group, the others in one line' '… 1 more'
expect_out '-n: total of groups' "$(hold 42 ' in 2 groups' 1)"
zmem -g name --total -H -p "$pids,$nobody"
check '--total of groups: one line' [ "$(wc -l <"$TMP/out")" = 1 ]

# ---- size ----

rss=$(jq '[.processes[] | select(.pid == '"$nobody"')][0].rss_bytes' "$TMP/processes")
zmem -J --min "$rss" -s rss -p "$pids,$nobody"
expect_json '--min: a process of exactly that size stays' "[.processes[].pid] | contains([$nobody])"
expect_json '--min: by the first key' "all(.processes[]; .rss_bytes >= $rss)"
zmem -J --min 64K -n 1 --pss rollup -p "$pids,$nobody"
expect_json '--min with -n: the largest of them' \
	"(.processes | length) == 1 and .totals.pss_missing_processes == if $denied then 1 else 0 end"

# ---- cgroups ----

path=$(jq -r '[.processes[] | select(.pid == '"$nobody"')][0].cgroup // empty' "$TMP/processes")
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
zmem -F csv -g user,name -p "$chosen"
expect_out '-g user,name: each key is a column of CSV' '^user,name,procs,'
expect_out 'a row of CSV' "^$other,"
zmem -F folded -g user,name -p "$chosen"
expect_out '-g user,name: each key is a frame' "^$($denied && echo "$user" || echo "$other");[^;]+;anon [0-9]+\$"
zmem -F prometheus -g user,name -p "$chosen"
expect_out '-g user,name: each key is a label' \
	"^zmem_group_processes\\{group=\"$other / ([^\"]+)\",user=\"$other\",name=\"[^\"]+\"\\} $each\$"
zmem -F prometheus -g user,name --numeric -p "$chosen"
expect_out 'users by number' "^zmem_group_processes\\{group=\"$number / ([^\"]+)\",user=\"$number\",name=\"[^\"]+\"\\} $each\$"
zmem -F html -g user,name -p "$chosen"
expect_out 'the page groups by both' '"group":"user,name"'
zmem -g user,name -p "$chosen"
expect_out 'the table has both in one column' '  USER / NAME$'
expect_out 'the summary counts the groups' "$(hold 43 " in $groups groups" 2)"
zmem -F csv --numeric -g name,user -p "$chosen"
expect_out 'CSV with numbers' ",$number,$each,"
zmem --tree -g user,name -b -p "$chosen"
if need users 'levels: three users'; then
	check 'levels: three users, with a program below each' sh -c \
		"[ \$(grep -c '  └─ ' '$TMP/out') = 3 ] && grep -qE '^ +1 .*  54321$' '$TMP/out'"
fi
! $denied || zmem --tree -g user,name -b -p "$pids"
check 'levels: a user has the sum of its programs' sh -c \
	"awk '/  ($user|nobody|54321)\$/ {above += \$2} /[├└]─/ {below += \$2} /total\$/ {exit !(above > 0 && above == below && above == \$1)}' '$TMP/out'"
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
zmem --tree -o pid,rss,name -b -p "$pids"
check 'a tree: the parent has the sum' sh -c \
	"awk '\$1 == $workers {sum = \$2} /[├└]─/ {rest += \$2} /total/ {exit !(\$1 == sum && rest > 0 && rest < sum)}' '$TMP/out'"
zmem --tree --min 100G -p "$pids"
check 'a tree without processes: no row' sed -n '2{/ total$/!q1}' "$TMP/out"
zmem --tree
expect_rc 'a tree of all' 0
expect_printable 'a tree is printable' "$TMP/out"

# ---- refusals ----

refused '--min without a number' 2 '--min x: not a size' --min x
# unit/test_query_parse.c has the other columns of the memory controller.
refused 'a column of the memory controller of processes' 2 'of groups' -o +mem_current
refused 'a column of the memory controller of a tree' 2 '(of groups|--tree)' -g name --tree -s mem_limit
refused '--tree of groups of one key' 2 '--tree with --group-by name: it needs several keys' --tree -g name
refused 'a key twice' 2 "--group-by user,user: 'user': it is there twice" -g user,user
refused 'a key that makes no groups' 2 "--group-by user,pid: 'pid': must be one of name, " -g user,pid
refused 'groups of files by several keys' 2 'must be one of fs, mount, kind, dir' files -g user,name
refused '--tree and -n' 2 '--tree cannot be combined with --top' --tree -n 3
