#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tables of this machine: the columns, units and sums that options ask for, and the values of JSON and of
# /proc. unit/test_fields_column.c and the golden tables have every list of columns and every layout.
. "$(dirname "$0")/../support/cli.sh"

mkmem_begin anon shmem fork prot_none || not_ok 'mkmem' 'did not start'
pids=$(sed -n 's/^READY [^ ]* [^ ]* //p' "$TMP/mkmem" | paste -sd,)
one=${pids%%,*}

works '-o help: exit code' -o help
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

says '-o, -s: headings that are not the key' '^ *%RAM +PSI_SOME +SWAP_INCOMPR$' -o %RAM,Psi_Some,SWAP_INCOMPR -s PSS+SWAP -g cgroup -p "$one"
zmem -o +vsize,cmdline -p "$one"
expect_out '-o +COL: before the name, command lines last' '^ *PID +USER .* VSIZE +NAME +CMDLINE$'
expect_out '-o +cmdline: the command line' 'mkmem --shape'
says 'default columns' '^ *PID +USER +PSS +%RAM +USS +SWAP_PSS +RSS +NAME$' -p "$one"
says '--long: more columns' '^ *PID +USER +PSS +%RAM +USS +SWAP_PSS +SWAP +RSS +RSS_ANON +RSS_FILE +RSS_SHMEM +KERNEL +NAME$' -l -p "$one"
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
says 'units: MiB, three digits' "^ *$big +1[6-9]\.[0-9] MiB +1[6-9]\.[0-9] MiB\$" -H -o pid,rss,vsize -p "$big"
# live/test_world.py: the numbers of tables are those of JSON, and those of the kernel.

# ---- stderr ----

zmem --timing --pss rollup -J -p "$one"
expect_json '--timing: the document is unchanged'
for phase in load collect filter pss check names render all; do
	expect_err "--timing: $phase" "^$phase +[0-9]+\.[0-9]+ ms$"
done
expect_err '--timing: reads' '^smaps_rollup reads: 1$'
warns '--timing --pss none: no read' '^smaps_rollup reads: 0$' --timing --pss none
warns '-v: the source' '^zmem-bpf: counters come from (bpf|proc)' -v -p "$one"
zmem -q -p "$one"
expect_stderr_lines '-q: nothing' 0
