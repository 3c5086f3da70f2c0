#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The commands that src/doc/comparison.md names for those who come from other tools: each is run, and shows rows.
. "$(dirname "$0")/../support/cli.sh"

PATH=$TMP:$PATH
cd "$TMP" || exit 1
page=$SUPPORT/../../src/doc/comparison.md
sleep 300 &
one=$!

# The right column, a command a line, with somebody's pid and name put in.
sed -n '/^## Coming from/,$p' "$page" | awk -F ' [|] ' '{ print $2 }' |
	grep -o '`zmem-bpf[^`]*`' | tr -d '`' |
	sed "s/PID/$one/g; s/ERE/sleep/; s/USER/root/" >commands
equal 'comparison.md names more than 24 commands' "$(($(wc -l <commands) > 24))" 1
while read -r command; do
	name=${command//$one/PID}
	run timeout -s KILL "$PATIENCE" sh -c "$command"
	expect_rc "$name" 0
	case $command in
	*' record '* | *--output*) check "$name: writes the file" test -s "$TMP/FILE" ;;
	*--min*) ;; # there may be no swap
	*--total*) expect_out "$name: bytes alone, as ps_mem -t" '^[0-9]+$' ;;
	*) equal "$name: rows and a total" "$(($(wc -l <"$TMP/out") > 2))" 1 ;;
	esac
	# --replay reads the recording made before; the document is not a recording.
	case $command in *--replay*) rm FILE ;; esac
done <commands

# The columns are those of the other tool, in the same order.
header() { # NAME COMMAND WORDS
	run sh -c "$2"
	equal "$1" "$(head -n 1 "$TMP/out" | awk '{ $1 = $1; print }')" "$3"
}
header 'as ps_mem' "$(grep -m 1 -- '-g name -o uss' commands)" 'USS SHARED PSS PROCS NAME'
header 'as smem' "$(grep -m 1 -- '-r -o pid,user,cmdline' commands)" 'PID USER CMDLINE SWAP USS PSS RSS'
header 'as smem -u' "$(grep -m 1 -- '-g user' commands)" 'USER PROCS SWAP USS PSS RSS'
header 'as procrank' "$(grep -m 1 -- 'vsize' commands)" 'PID VSIZE RSS PSS USS CMDLINE'

# Smallest first, like ps_mem and smem.
rising() {
	sed '/ total$/,$d' "$TMP/out" | awk '$1 != "-" { print $1 }' | sort -nc
}
run zmem-bpf -b -H -o pss,pid -r
check 'the largest rows are last' rising

# Private + shared = RAM used, to the byte.
adds_up() {
	sed '/ total$/,$d' "$TMP/out" | awk '$3 != "-" && $1 + $2 != $3 { bad = 1 } END { exit bad || !NR }'
}
run zmem-bpf -b -H -g name -o uss,shared,pss,name
check 'private and shared add up to RAM used' adds_up
kill "$one"
