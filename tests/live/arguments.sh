#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Command lines through page tables: what they are, while processes come and go; and that the program reads no file then.
# needs: counters
. "$(dirname "$0")/../support/lib.sh"
see_own_processes_only

cp "$O/fleet" "$TMP/fleet.$$"
coproc FLEET { "$TMP/fleet.$$" 450 64; }
read -r _ <&"${FLEET[0]}"
mkmem_begin titles churn "crowd:thread*1000 {}" "long:a = small 1P; fill a$(printf '%*s' 30000 '')" ||
	not_ok 'titles' 'did not start'
# Two processes that execute themselves with other arguments, of 0 to 20,000 bytes, without end.
cat >"$TMP/again" <<'END'
#!/bin/sh
n=$(($2 + 1))
letter=$(printf "\\$(printf %o $((97 + n % 26)))")
word=$letter
while [ ${#word} -lt $((n % 20 * 1000)) ]; do word=$word$word; done
exec "$0" turn $n "$word"
END
chmod +x "$TMP/again"
"$TMP/again" turn 0 a 9>&- &
turns="=$!"
"$TMP/again" turn 7 h 9>&- &
turns="$turns =$!"
# The others claim memory that is not where exec puts arguments.
wishes=$(sed -nE 's/^READY titles (absent|in_file|hidden|page|border|in_huge|long) /-/p; s/^READY (titles (titled|shortened|empty|programmed|ended)|long main) /+/p' "$TMP/mkmem")
# shellcheck disable=SC2086
"$B/arguments" 30 $wishes $turns || failed=1
# What executes itself has another name each time.
# shellcheck disable=SC2086
kill ${turns//=/}
# shellcheck disable=SC2086
wait ${turns//=/} 2>/dev/null

# The program itself: names of its table and of its JSON, and what is left for /proc.
reads() {
	run "$PROGRAM" --timing "$@"
	sed -n 's/^cmdline reads: \([0-9]*\).*/\1/p' "$TMP/err"
}
few=$(reads --json -o +cmdline)
[ "${few:-99}" -le 20 ] && ok 'JSON beside 450 processes: command lines from page tables' ||
	not_ok 'JSON beside 450 processes: command lines from page tables' "$few files were read"
all=$(reads --json -o +cmdline --source proc)
[ "${all:-0}" -ge 450 ] && ok '--source proc: from their files' || not_ok '--source proc: from their files' "$all"
run "$PROGRAM" --json -o +cmdline
jq -c '[.processes[] | {pid, name, cmdline}]' "$TMP/out" >"$TMP/bpf"
run "$PROGRAM" --json -o +cmdline --source proc
jq -c '[.processes[] | {pid, name, cmdline}]' "$TMP/out" >"$TMP/proc"
# Those that were there both times.
different=$(jq -n --slurpfile a "$TMP/bpf" --slurpfile b "$TMP/proc" \
	'($b[0] | map({key: (.pid | tostring), value: .}) | from_entries) as $p |
	 [$a[0][] | select($p[.pid | tostring] and $p[.pid | tostring] != .)] | map(select(.name != "mkmem"))')
[ "$different" = '[]' ] && ok 'names are those of /proc' || not_ok 'names are those of /proc' "$different"
mkmem_end
kill "$FLEET_PID" 2>/dev/null
