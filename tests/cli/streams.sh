#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Readers that end, streams that are closed or full, unusual environments.
. "$(dirname "$0")/../support/cli.sh"

# Without BPF, a line on stderr says that counters come from /proc.
have counters
notes=$?
works 'ordinary streams: exit code' -J
expect_stderr_lines 'all is well: silent on stderr' "$notes"

# to WHERE ARG…: runs the program with stdout closed, full or without a reader.
to() {
	local where=$1
	shift
	case $where in
	closed) timeout -s KILL "$PATIENCE" "$ZMEM" "$@" >&- 2>"$TMP/err" ;;
	full) timeout -s KILL "$PATIENCE" "$ZMEM" "$@" >/dev/full 2>"$TMP/err" ;;
	gone)
		# The reader ends before the first byte.
		{
			read -r -t 10 _ <>"$TMP/gone"
			timeout -s KILL "$PATIENCE" "$ZMEM" "$@" 2>"$TMP/err"
			echo $? >"$TMP/rc"
		} | {
			exec <&-
			echo >"$TMP/gone"
		}
		(exit "$(cat "$TMP/rc")")
		;;
	esac
	rc=$?
	: >"$TMP/out"
	err=$(cat "$TMP/err")
}
mkfifo "$TMP/gone"
for args in '' -J '-o help' --help -V doctor '--total'; do
	case $args in '' | -J | --total) told=$notes ;; *) told=0 ;; esac
	# shellcheck disable=SC2086
	for where in closed gone; do
		to $where $args
		expect_rc "stdout $where, '$args': exit code" 0
		expect_stderr_lines "stdout $where, '$args': quiet" "$told"
	done
	# shellcheck disable=SC2086
	to full $args
	expect_rc "stdout full, '$args': exit code" 1
	expect_stderr_lines "stdout full, '$args': one line" $((1 + told))
	expect_err "stdout full, '$args': the reason" 'No space left'
done

helper fleet
mkfifo "$TMP/fleet.in"
"$TMP/fleet" 1500 8 <"$TMP/fleet.in" >"$TMP/fleet.out" &
exec 8>"$TMP/fleet.in"
wait_until grep -q . "$TMP/fleet.out"
equal 'many processes, more output than a pipe holds' "$(cat "$TMP/fleet.out")" READY
for args in '' -J '--color=always -o +cmdline'; do
	# shellcheck disable=SC2086
	"$ZMEM" --pss none $args 2>"$TMP/err" | head -n 1 >"$TMP/out"
	equal "head -n 1 of a large output, '$args': exit code" "${PIPESTATUS[0]}" 0
	expect_stderr_lines "head -n 1 of a large output, '$args': quiet" "$notes"
	equal "head -n 1 of a large output, '$args': a line" "$(wc -l <"$TMP/out")" 1
done
# With the default action of SIGPIPE the result is the same.
(trap - PIPE && exec "$ZMEM" --pss none 2>"$TMP/err") | head -c 100 >/dev/null
equal 'SIGPIPE at its default: exit code' "${PIPESTATUS[0]}" 0
# A slow reader gets the complete output.
"$ZMEM" -J --pss none | {
	sleep 0.3 # time itself: the reader is slow
	cat
} >"$TMP/out"
expect_json 'a slow reader: complete' '.processes | length > 1500'
exec 8>&-
wait

timeout "$PATIENCE" "$ZMEM" -p $$ 2>&- >"$TMP/out"
equal 'stderr closed' "$?" 0
expect_out 'stderr closed: no message in the output' '^ *PID'
timeout "$PATIENCE" "$ZMEM" -p 4194303 2>&- >"$TMP/out"
equal 'stderr closed and a message' "$?" 3
refuse_out 'stderr closed: the message is not in the output' 'zmem-bpf: '
timeout "$PATIENCE" "$ZMEM" -p 4194303 2>/dev/full >"$TMP/out"
equal 'stderr full' "$?" 3
timeout "$PATIENCE" "$ZMEM" -J <&- >"$TMP/out" 2>"$TMP/err"
expect_json 'stdin closed'
echo old >"$TMP/file"
timeout "$PATIENCE" "$ZMEM" -J --output "$TMP/file" <&- >&- 2>&-
equal 'all three closed, to a file' "$?" 0
cp "$TMP/file" "$TMP/out"
expect_json 'all three closed: the file holds the document and nothing else'

# ---- environment ----

run env -i "$ZMEM" -J
expect_json 'empty environment; cli/environment.sh has the variables'
run "$ZMEM" --pss none -p "$(seq -s, 1 20000)"
expect_rc 'a list of 20,000 pids' 3
# shellcheck disable=SC2046
run "$ZMEM" --pss none -J $(for _ in $(seq 20000); do echo -p $$; done)
expect_json '20,000 options' '.processes | length == 1'
cd / && run bash -c 'd=$(mktemp -d) && cd "$d" && rmdir "$d" && exec "$0" -J' "$ZMEM"
expect_json 'a working directory that is gone'
