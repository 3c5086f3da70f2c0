#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tables of this machine: the columns, units and sums that options ask for, and the values of JSON and of
# /proc. unit/test_fields_column.c and the golden tables have every list of columns and every layout.
. "$(dirname "$0")/../support/cli.sh"

mkmem_begin anon shmem fork prot_none || not_ok 'mkmem' 'did not start'
pids=$(sed -n 's/^READY [^ ]* [^ ]* //p' "$TMP/mkmem" | paste -sd,)
one=${pids%%,*}
count=$(echo "$pids" | tr , '\n' | wc -l)

zmem -o help
expect_rc '-o help: exit code' 0
expect_stderr_lines '-o help: nothing on stderr' 0
cut -d' ' -f1 "$TMP/out" >"$TMP/keys"
equal '-o help lists each column once' "$(sort "$TMP/keys" | uniq -d)" ''
cp "$TMP/out" "$TMP/listed"
zmem -s help
check '-s help: the same' cmp "$TMP/listed" "$TMP/out"
refused 'maps -o help: it has no such columns' 2 'does not take --columns' maps -o help
refused 'nobody -o help' 2 'there is no such command' nobody -o help
keys=$(paste -sd, "$TMP/keys")
zmem -o "$keys" -s "$keys" -w -p "$one" -g cgroup
equal 'all columns at once, in each place: a header for each' "$rc $(head -n 1 "$TMP/out" | wc -w)" "0 $(wc -l <"$TMP/keys")"
# Every byte value of JSON is a column, and every counter column is in JSON.
zmem -J -p "$one"
equal 'counters of JSON are columns' "$(jq -r '.processes[0] | keys[] | select(endswith("_bytes")) |
	rtrimstr("_bytes")' "$TMP/out" | grep -vxf "$TMP/keys")" ''

zmem -o %RAM,Psi_Some,SWAP_INCOMPR -s PSS+SWAP -g cgroup -p "$one"
expect_out '-o, -s: headings that are not the key' '^ *%RAM +PSI_SOME +SWAP_INCOMPR$'
zmem -o +vsize,cmdline -p "$one"
expect_out '-o +COL: before the name, command lines last' '^ *PID +USER .* VSIZE +NAME +CMDLINE$'
expect_out '-o +cmdline: the command line' 'mkmem --shape'
zmem -p "$one"
expect_out 'default columns' '^ *PID +USER +PSS +%RAM +USS +SWAP_PSS +RSS +NAME$'
zmem -l -p "$one"
expect_out '--long: more columns' '^ *PID +USER +PSS +%RAM +USS +SWAP_PSS +SWAP +RSS +RSS_ANON +RSS_FILE +RSS_SHMEM +NAME$'
zmem -H --numeric -o pid,user,uid -p "$one"
expect_out '--numeric: user by number' "^ *$one +$UID +$UID\$"
refuse_out '-H: no header' PID
zmem --total
equal '--total: header and total' "$(grep -cE '^ *PID|total$' "$TMP/out")" 2
equal '--total: no rows' "$(grep -cE '^ *[0-9]+ +[a-z]+ +[0-9]' "$TMP/out")" 0
summary='[0-9]+ processes hold'
have ptrace || summary="($summary|PSS of [0-9]+ of [0-9]+ processes is known)"
expect_out '--total: the summary' "^$summary"
zmem --total -H -o pss --pss rollup -n 1
expect_out '--total -H -o pss: one value; -n leaves nothing out' '^[0-9.]+ [KMG]iB$'
equal '--total -H: the total alone' "$(wc -l <"$TMP/out")" 1

# ---- values ----

big=$(mkmem_pid_of anon main)
zmem -H -o pid,rss,vsize -p "$big"
expect_out 'units: MiB, three digits' "^ *$big +1[6-9]\.[0-9] MiB +1[6-9]\.[0-9] MiB\$"
zmem -H -b -o pid,rss,rss_anon,vsize,name -p "$pids"
kb() { sed -n "s/^$1:[[:space:]]*\([0-9]*\) kB/\1/p" "/proc/$2/status"; }
for pid in ${pids//,/ }; do
	echo "$pid $(($(kb VmRSS "$pid") * 1024)) $(($(kb RssAnon "$pid") * 1024)) $(($(kb VmSize "$pid") * 1024))"
done | sort >"$TMP/status"
check '-b: exact bytes of all, as status says' diff "$TMP/status" \
	<(awk '$NF == "mkmem" { print $1, $2, $3, $4 }' "$TMP/out" | sort)
equal '-b: no units' "$(sed '/ total$/q' "$TMP/out" | grep -c '[KMG]iB')" 0
# Rows that own their address space, and the line of others with --top, add up to the total line.
for top in 1000 2; do
	zmem -H -b -n $top -p "$pids" -o swap,rss,rss_anon,rss_file,rss_shmem,vsize,name
	equal "-n $top: rows and others add up to the total line" "$(sed '/ total$/,$d' "$TMP/out" |
		awk '{for (i = 1; i <= 6; i++) s[i] += $i} END {for (i = 1; i <= 6; i++) printf "%d ", s[i]}')" \
		"$(sed -n 's/ *total$//p' "$TMP/out" | awk '{$1 = $1; print $0 " "}')"
done
# Idle processes: both formats show the same values. A static program shares only the vdso page with
# them, which changes PSS by less than the 1 kB resolution of smaps_rollup.
fields='pid ppid uid threads oom_score_adj swap swap_pss uss pss pss_anon pss_file pss_shmem rss rss_anon
	rss_file rss_shmem pss_swap shared vsize locked pinned pgtables hugetlb thp'
keys=$(printf '.%s_bytes, ' $fields | sed -E 's/\.(pid|ppid|uid|threads|oom_score_adj)_bytes/.\1/g; s/, $//')
# shellcheck disable=SC2086
"$STATIC" --pss rollup -H -b -p "$pids" -s pid -o "$(echo $fields | tr ' ' ,)" | head -n "$count" |
	awk '{$1 = $1; print}' >"$TMP/table"
"$STATIC" --pss rollup -J -p "$pids" -s pid >"$TMP/out"
jq -r ".processes[] | [$keys | . // \"-\" | tostring] | join(\" \")" "$TMP/out" >"$TMP/json"
check 'table and JSON show the same values' diff "$TMP/table" "$TMP/json"
equal 'table and JSON show all processes' "$(wc -l <"$TMP/table")" "$count"
"$STATIC" --pss rollup -H -b -p "$pids" --total -o swap,uss,name,pss,rss,vsize | tr -s ' ' >"$TMP/table"
jq -r '.totals | [.swap_bytes, .uss_bytes, .pss_bytes, .rss_bytes, .vsize_bytes | tostring] | join(" ")' \
	"$TMP/out" >"$TMP/json"
check 'table and JSON show the same totals' diff "$TMP/table" "$TMP/json"

# ---- stderr ----

zmem --timing --pss rollup -J -p "$one"
expect_json '--timing: the document is unchanged'
for phase in load collect filter pss check names render all; do
	expect_err "--timing: $phase" "^$phase +[0-9]+\.[0-9]+ ms$"
done
expect_err '--timing: reads' '^smaps_rollup reads: 1$'
zmem --timing --pss none
expect_err '--timing --pss none: no read' '^smaps_rollup reads: 0$'
zmem -v -p "$one"
expect_err '-v: the source' '^zmem-bpf: counters come from (bpf|proc)'
zmem -q -p "$one"
expect_stderr_lines '-q: nothing' 0
