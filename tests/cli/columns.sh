#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tables: columns, units, header, sums; and the same values as JSON.
. "$(dirname "$0")/../support/cli.sh"

mkmem_begin anon shmem fork prot_none || not_ok 'mkmem' 'did not start'
pids=$(sed -n 's/^READY [^ ]* [^ ]* //p' "$TMP/mkmem" | paste -sd,)
one=${pids%%,*}

# table: the lines up to the total.
table() {
	sed '/\(^\| \)total$/q' "$TMP/out" | grep -vE '^(PSS |[0-9]+ process|swap in use )'
}

zmem -o help
expect_rc '-o help: exit code' 0
expect_stderr_lines '-o help: nothing on stderr' 0
cut -d' ' -f1 "$TMP/out" >"$TMP/keys"
for key in pid ppid user uid comm name cmdline unit container cgroup threads start oom_score_adj swap \
	swap_pss uss pss pss_anon pss_file pss_shmem rss rss_anon rss_file rss_shmem pss_swap shared \
	vsize locked pinned pgtables hugetlb thp %pss %swap pss_source pss_status; do
	check "-o help lists $key" grep -qx -e "$key" "$TMP/keys"
done
for command in maps system compare doctor; do
	refused "$command -o help: it has no such columns" 2 'does not take --columns' "$command" -o help
done
refused 'nobody -o help' 2 'there is no such command' nobody -o help
equal '-o help lists each column once' "$(sort "$TMP/keys" | uniq -d)" ''
while read -r key; do
	# Columns of the memory controller exist only for cgroups.
	case $key in
	mem_* | %limit | oom_kills | psi_*) zmem -o "$key" -s "$key" -p "$one" -g cgroup ;;
	*) zmem -o "$key" -s "$key" -p "$one" ;;
	esac
	[ "$rc" = 0 ] || not_ok "column $key" "exit code $rc: $err"
	equal "column $key: header, row, total" "$(table | wc -l)" 3
	equal "column $key: no blank line, nothing on stderr" "$(grep -c '^ *$' "$TMP/out")$err" 0
done <"$TMP/keys"
zmem -o "$(paste -sd, "$TMP/keys")" -w -p "$one" -g cgroup
expect_rc 'all columns at once' 0
equal 'all columns at once: a header for each' "$(head -n 1 "$TMP/out" | wc -w)" "$(wc -l <"$TMP/keys")"
# Every byte value of JSON is a column, and every counter column is in JSON.
zmem -J -p "$one"
equal 'counters of JSON are columns' "$(jq -r '.processes[0] | keys[] | select(endswith("_bytes")) |
	rtrimstr("_bytes")' "$TMP/out" | grep -vxf "$TMP/keys")" ''

zmem -o pid,rss,name -p "$one"
expect_out '-o: the named columns in their order' '^ *PID +RSS +NAME$'
zmem -o NAME,Pid -p "$one"
expect_out '-o: letters of any case' '^NAME +PID *$'
zmem -o %RAM,Psi_Some,SWAP_INCOMPR -s PSS+SWAP -g cgroup -p "$one"
expect_out '-o, -s: headings that are not the key' '^ *%RAM +PSI_SOME +SWAP_INCOMPR$'
zmem -o pid,pid -p "$one"
expect_out '-o: a column twice' '^ *PID +PID *$'
zmem -o +vsize -p "$one"
expect_out '-o +COL: before the name' '^ *PID +USER .* +VSIZE +NAME$'
zmem -o +vsize,cmdline -p "$one"
expect_out '-o +COL,COL: command lines come last' ' VSIZE +NAME +CMDLINE$'
expect_out '-o +cmdline: the command line' 'mkmem --shape'
zmem -o +pid -p "$one"
expect_out '-o +COL of a default column: only once' '^ *PID +USER .* NAME$'
zmem -p "$one"
expect_out 'default columns' '^ *PID +USER +PSS +%RAM +USS +SWAP_PSS +RSS +NAME$'
zmem -l -p "$one"
expect_out '--long: more columns' '^ *PID +USER +PSS +%RAM +USS +SWAP_PSS +SWAP +RSS +RSS_ANON +RSS_FILE +RSS_SHMEM +NAME$'
zmem -p "$one"
cp "$TMP/out" "$TMP/with"
zmem -H -p "$one"
equal '-H: the same without the header' "$(cut -c 2- "$TMP/out" | sed 's/  */ /g' | head -n 1)" \
	"$(sed -n 2p "$TMP/with" | cut -c 2- | sed 's/  */ /g')"
refuse_out '-H: no header' PID
zmem -o pid,user,uid -p "$one"
expect_out 'user by name' "^ *$one +root +0\$"
zmem --numeric -o pid,user,uid -p "$one"
expect_out '--numeric: user by number' "^ *$one +0 +0\$"
refuse_out '--numeric: no name' root
zmem --total
equal '--total: header and total' "$(sed -n '$!N; / PID\n/d; 2,$p' "$TMP/out" | grep -c 'total$')" 1
equal '--total: no rows' "$(grep -cE '^ *[0-9]+ +[a-z]+ +[0-9]' "$TMP/out")" 0
expect_out '--total: the summary' '^[0-9]+ processes hold'
zmem --total -H
equal '--total -H: the total alone' "$(wc -l <"$TMP/out")" 1
zmem --total -H -o pss
expect_out '--total -H -o pss: one value' '^[0-9.]+ [KMG]iB$'
zmem --total -H -b -o user,pss,rss,name
expect_out '--total -H: values without words' '^[0-9]+ +[0-9]+$'
zmem --total -H -o pss --pss rollup -n 1
expect_out '--total: -n leaves nothing out' '^[0-9.]+ [KMG]iB$'
zmem --total -p "$one"
expect_out '--total of one' '^1 process holds '

# ---- units ----

big=$(mkmem_pid_of anon main)
zmem -H -o pid,rss,vsize -p "$big"
expect_out 'units: MiB, three digits' "^ *$big +1[6-9]\.[0-9] MiB +1[6-9]\.[0-9] MiB\$"
zmem -H -b -o pid,rss,rss_anon,vsize,name -p "$pids"
kb() { sed -n "s/^$1:[[:space:]]*\([0-9]*\) kB/\1/p" "/proc/$2/status"; }
same=0
for pid in ${pids//,/ }; do
	read -r rss anon vsize < <(sed -n "s/^ *$pid //p" "$TMP/out")
	if [ "$rss" = $(($(kb VmRSS "$pid") * 1024)) ] && [ "$anon" = $(($(kb RssAnon "$pid") * 1024)) ] &&
		[ "${vsize%% *}" = $(($(kb VmSize "$pid") * 1024)) ]; then
		same=$((same + 1))
	else
		not_ok "-b: bytes of $pid" "$rss $anon $vsize is not what its status says"
	fi
done
equal '-b: exact bytes of all' "$same" "$(echo "$pids" | tr , '\n' | wc -l)"
equal '-b: no units' "$(table | grep -c '[KMG]iB')" 0

# ---- sums ----

# Rows that own their address space add up to the total line.
zmem -H -b -p "$pids" -o swap,uss,pss,rss,rss_anon,rss_file,rss_shmem,vsize,pgtables,name
sums=$(sed '/ total$/,$d' "$TMP/out" | awk '{for (i = 1; i <= 9; i++) s[i] += $i}
	END {for (i = 1; i <= 9; i++) printf "%d ", s[i]}')
total=$(sed -n 's/ *total$//p' "$TMP/out" | awk '{$1 = $1; print $0 " "}')
equal 'the rows add up to the total line' "$sums" "$total"
equal 'only the summary follows the total' "$(sed '1,/ total$/d' "$TMP/out" | grep -cvE '^([0-9]+ process|PSS |swap )')" 0
# With --top, the rows and the line of others add up.
zmem -H -b -p "$pids" -n 2 -o swap,rss,rss_anon,vsize,name
equal 'rows and others add up to the total line' "$(sed '/ total$/,$d' "$TMP/out" |
	awk '{for (i = 1; i <= 4; i++) s[i] += $i} END {for (i = 1; i <= 4; i++) printf "%d ", s[i]}')" \
	"$(sed -n 's/ *total$//p' "$TMP/out" | awk '{$1 = $1; print $0 " "}')"
# Idle processes: both formats show the same values. A static program shares only the vdso page with
# them, which changes PSS by less than the 1 kB resolution of smaps_rollup.
fields='pid ppid uid threads oom_score_adj swap swap_pss uss pss pss_anon pss_file pss_shmem rss rss_anon
	rss_file rss_shmem pss_swap shared vsize locked pinned pgtables hugetlb thp'
keys='.pid, .ppid, .uid, .threads, .oom_score_adj'
for field in $fields; do
	case $field in
	pid | ppid | uid | threads | oom_score_adj) ;;
	*) keys="$keys, .${field}_bytes" ;;
	esac
done
# shellcheck disable=SC2086
"$STATIC" --pss rollup -H -b -p "$pids" -s pid -o "$(echo $fields | tr ' ' ,)" | head -n "$(echo "$pids" | tr , '\n' | wc -l)" |
	awk '{$1 = $1; print}' >"$TMP/table"
"$STATIC" --pss rollup -J -p "$pids" -s pid >"$TMP/out"
jq -r ".processes[] | [$keys | . // \"-\" | tostring] | join(\" \")" "$TMP/out" >"$TMP/json"
check 'table and JSON show the same values' diff "$TMP/table" "$TMP/json"
equal 'table and JSON show all processes' "$(wc -l <"$TMP/table")" "$(echo "$pids" | tr , '\n' | wc -l)"
"$STATIC" --pss rollup -H -b -p "$pids" --total -o swap,uss,name,pss,rss,vsize | tr -s ' ' >"$TMP/table"
jq -r '.totals | [.swap_bytes, .uss_bytes, .pss_bytes, .rss_bytes, .vsize_bytes | tostring] | join(" ")' \
	"$TMP/out" >"$TMP/json"
check 'table and JSON show the same totals' diff "$TMP/table" "$TMP/json"
zmem -H -o pid,pss,pss_swap,thp,pss_status --pss none -p "$one"
expect_out 'not measured is a dash' "^ *$one +- +- +- +skipped"
zmem --total -o pss,rss,name --pss none -p "$one"
expect_out 'a sum without values is a dash' '^ *- +[0-9.]+ MiB +total$'

# ---- stderr ----

zmem --timing --pss rollup -p "$one"
expect_rc '--timing: exit code' 0
for phase in load collect filter pss check names render all; do
	expect_err "--timing: $phase" "^$phase +[0-9]+\.[0-9]+ ms$"
done
expect_err '--timing: reads' '^smaps_rollup reads: 1$'
zmem --timing --pss none
expect_err '--timing --pss none: no read' '^smaps_rollup reads: 0$'
zmem --timing -J -p "$pids"
expect_json '--timing: the document is unchanged'
zmem -v -p "$one"
expect_err '-v: the source' '^zmem-bpf: counters come from (bpf|proc)'
expect_out '-v: the table is unchanged' '^ *PID'
zmem -q -p "$one"
expect_stderr_lines '-q: nothing' 0
