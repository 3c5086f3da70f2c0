#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tables on terminals of any size, with hostile names.
. "$(dirname "$0")/../support/cli.sh"

mkmem_begin names anon shmem many_maps threads || not_ok 'mkmem' 'did not start'
names=$(sed -n 's/^READY names [a-z0-9_]* //p' "$TMP/mkmem" | paste -sd,)
equal 'hostile names are running' "$(grep -c '^READY names' "$TMP/mkmem")" "$(echo "$names" | tr , '\n' | wc -l)"
helper fleet
mkfifo "$TMP/fleet.in"
"$TMP/fleet" 60 8 <"$TMP/fleet.in" >"$TMP/fleet.out" 9>&- &
exec 8>"$TMP/fleet.in"
wait_until grep -q READY "$TMP/fleet.out" || not_ok fleet 'did not start'

# term ROWS COLUMNS COMMAND…: runs it on a terminal of this size; sets $rc, $out, $err, $screen (the
# number of lines) and $wide (the number of too wide lines, except the last).
term() {
	local rows=$1 columns=$2
	shift 2
	timeout -s KILL "$PATIENCE" env TERM=xterm "$PYTHON" "$SUPPORT/pty_run.py" "$rows" "$columns" \
		"$TMP/out" "$@" >"$TMP/lines" 2>"$TMP/err" </dev/null
	rc=$?
	read -r screen wide <"$TMP/lines"
	out=$(tr -d '\0' <"$TMP/out")
	err=$(cat "$TMP/err")
}

# plain: the output of the last run without colors.
plain() {
	sed 's/\x1b\[[0-9;]*m//g' "$TMP/out"
}

# fits NAME ROWS: output and prompt fit without scrolling; the total is the last line.
fits() {
	expect_rc "$1: exit code" 0
	if [ "$screen" -lt "$2" ]; then
		ok "$1: header to total are visible"
	else
		not_ok "$1: header to total are visible" "$screen lines and a prompt, of $2"
	fi
	equal "$1: one total" "$(plain | grep -cE '(^| )total$')" 1
	equal "$1: header first" "$(plain | grep -cE '^ *PID ')" 1
	# A narrow terminal may cut it: "… 105 m…".
	equal "$1: the others are counted" "$(plain | grep -c '… [0-9]')" 1
}
# Without BPF, the terminal has a line on stderr that says so.
have counters
notes=$?
for size in '24 80' '50 200' '40 60'; do
	# shellcheck disable=SC2086
	term $size "$ZMEM"
	too_wide=$notes
	[ "$size" != '50 200' ] || too_wide=0
	fits "terminal ${size/ /×}" "${size% *}"
	expect_printable "terminal ${size/ /×}: printable" "$TMP/out" --color
	equal "terminal ${size/ /×}: no row is too wide" "$wide" $too_wide
done
# The note on stderr takes a line, and the total line gets longer.
if need users 'terminal 24×80, nobody'; then
	term 24 80 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$ZMEM"
	fits 'terminal 24×80, nobody' 24
fi
for size in '1 1' '24 1' '5 20' '3 200' '0 0'; do
	# shellcheck disable=SC2086
	term $size "$ZMEM"
	expect_rc "terminal ${size/ /×}: exit code" 0
	# Narrow terminals break it between words.
	equal "terminal ${size/ /×}: a summary" "$(plain | tr -s '\r\n' ' ' | grep -o 'PSS from' | wc -l)" 1
done
term 10 80 "$ZMEM" -a
expect_rc '-a: exit code' 0
check '-a: every row on a terminal' test "$(plain | wc -l)" -gt 60
equal '-a: no others' "$(plain | grep -c ' more$')" 0
term 10 80 "$ZMEM" -n 20 -u "$(id -un)"
equal '-n 20: 20 rows' "$(plain | grep -cE "^ *[0-9]+ +$(id -un | cut -c 1-10)")" 20
term 10 80 "$ZMEM" -J -q
expect_json 'JSON on a terminal: complete' '.processes | length > 60'
expect_printable 'JSON on a terminal: printable' "$TMP/out"
term 24 40 "$ZMEM" -w -o pid,user,swap,uss,pss,rss,vsize,name -p "$names"
check '-w: lines are not cut' grep -q 'mkmem' "$TMP/out"
"$ZMEM" >"$TMP/out"
check 'a pipe gets every row' test "$(wc -l <"$TMP/out")" -gt 60
equal 'a pipe gets no line of others' "$(grep -c ' more$' "$TMP/out")" 0

# ---- color ----

# colored NAME yes|no COMMAND…: runs it on a terminal; yes: the output has colors.
colored() {
	local name=$1 want=$2 got=no
	shift 2
	term 24 80 "$@"
	! grep -q $'\033' "$TMP/out" || got=yes
	equal "color: $name" "$rc $got" "0 $want"
}
colored 'a terminal' yes "$ZMEM"
colored 'TERM=dumb' no env TERM=dumb "$ZMEM"
colored 'NO_COLOR' no env NO_COLOR=1 "$ZMEM"
colored 'NO_COLOR that is empty' yes env NO_COLOR= "$ZMEM"
colored '--color=never' no "$ZMEM" --color=never
colored '--color=always wins over NO_COLOR and TERM=dumb' yes env NO_COLOR=1 TERM=dumb "$ZMEM" --color=always
colored 'JSON' no "$ZMEM" -J --color=always
zmem
refuse_out 'color: not in a pipe' $'\033'
says 'color: --color=always in a pipe' $'\033' --color=always
# Colors change nothing else.
"$STATIC" --pss none -p "$names" --color=always >"$TMP/out"
plain >"$TMP/plain"
"$STATIC" --pss none -p "$names" --color=never >"$TMP/out"
check 'color: the text is the same' cmp "$TMP/plain" "$TMP/out"

# ---- hostile names ----

for args in '' '-w -o +cmdline,unit,container,cgroup' '-n 3 -f mkmem -v' '--source proc -s cmdline -o cmdline,pid --timing'; do
	for color in never always; do
		# shellcheck disable=SC2086
		zmem -p "$names" --color=$color $args
		cat "$TMP/err" >>"$TMP/out"
		expect_printable "hostile names, color $color: $args" "$TMP/out" --color
		[ $color = always ] || expect_printable "hostile names, no escape: $args" "$TMP/out"
	done
	# shellcheck disable=SC2086
	term 24 80 "$ZMEM" -p "$names" $args
	expect_printable "hostile names on a terminal: $args" "$TMP/out" --color
done
if need users 'hostile names, nobody'; then
	run as_nobody "$ZMEM" -p "$names" -o +cmdline
	cat "$TMP/err" >>"$TMP/out"
	expect_printable 'hostile names, nobody' "$TMP/out"
fi
# Each row is one line with any name.
zmem -H -p "$names" -o pid,comm,name,cmdline
equal 'hostile names: one line each' "$(sed '/ total$/q' "$TMP/out" | wc -l)" \
	"$(($(echo "$names" | tr , '\n' | wc -l) + 1))"
newline=$(mkmem_pid_of names newline)
expect_out 'a newline and an escape are shown as such' "^ *$newline .*a\\\\x0ab\\\\x1b\[31m"
expect_out 'a backslash is shown as it is' "^ *$newline .*\"'\\\\ "

zmem -J -p "$names" -o +cmdline
expect_json 'hostile names: JSON'
expect_printable 'hostile names: JSON is printable' "$TMP/out"
# name_hex and its bytes against the kernel's name of the executable.
hex_of() {
	"$PYTHON" -c 'import os, sys
print(os.path.basename(os.readlink(b"/proc/%d/exe" % int(sys.argv[1]))).removesuffix(b" (deleted)").hex())' "$1"
}
bad=$(mkmem_pid_of names not_utf8)
expect_json 'name_hex exists if the name is not UTF-8' \
	".processes[] | select(.pid == $bad) | .name_hex == \"$(hex_of "$bad")\" and (.name | contains(\"\ufffd\"))"
expect_json 'name_hex is missing if the name is UTF-8' \
	".processes[] | select(.pid == $newline) | (has(\"name_hex\") | not) and (.name | contains(\"\n\"))"
expect_json 'comm_hex, cmdline_hex likewise' \
	".processes[] | select(.pid == $bad) | has(\"comm_hex\") and has(\"cmdline_hex\")"
zmem -J -p "$names" --source proc
expect_json 'hostile names from /proc: JSON' \
	".processes[] | select(.pid == $bad) | .name_hex | startswith(\"$(hex_of "$bad")\")"

# What is not for eyes does not go to a terminal.
refused_there() { # NAME HINT COMMAND…; CODE: the exit code, if it is not 2
	local name=$1 hint=$2
	shift 2
	term 24 200 "$ZMEM" "$@"
	equal "$name: the exit code" "$rc" "${CODE:-2}"
	check "$name: what to do" grep -qE -- "$hint" "$TMP/out"
	equal "$name: one line, and no bytes of it" "$(grep -c . "$TMP/out")" 1
}
refused_there 'a page' '--format html: the output is a terminal \(name a file: --output FILE, or > FILE\)' -q -F html
! need counters 'a page of files' ||
	refused_there 'a page of files' '--format html: the output is a terminal' files -F html
if need bpf 'pages of growth'; then
	refused_there 'a page of growth' '--format html: the output is a terminal' grow -p $$ -F html -c 1 -i 0.1
	CODE=125 refused_there 'a page of a command' '--format html: the output is a terminal' grow -F html -- touch "$TMP/ran"
	check 'a page of a command: it did not run' [ ! -e "$TMP/ran" ]
	refused_there 'a profile' '--format pprof: the output is a terminal' grow -p $$ -F pprof -c 1 -i 0.1
fi
for to in stdout tty; do
	refused_there "a recording to $to" "record: /dev/$to is a terminal, .*name a file: record FILE" record "/dev/$to"
	refused_there "a recording to $to, --output" "record: /dev/$to is a terminal" record --output "/dev/$to"
done
term 24 200 bash -c '"$0" record /dev/stdout >"$1" && "$0" -F html >"$2"' "$ZMEM" "$TMP/to.zmem" "$TMP/to.html"
equal 'on a terminal, into files: the exit code' "$rc" 0
check 'on a terminal, into files: they are there' test -s "$TMP/to.zmem" -a -s "$TMP/to.html"

# The name of a cgroup may contain escapes, too.
cgroup=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ || $3 == "cgroup2" {print $2; exit}' /proc/mounts)
hostile=$cgroup/$(printf 'zmem-test-%s\033[31m\302\233\342\200\256\377.service' $$)
if need cgroups 'a hostile cgroup'; then
	mkdir "$hostile" || exit
	sleep 1000 &
	sleeper=$!
	end_cgroup() {
		kill "$sleeper" 2>/dev/null
		wait "$sleeper" 2>/dev/null
		rmdir "$hostile"
		lib_cleanup
	}
	trap end_cgroup EXIT
	echo "$sleeper" >"$hostile/cgroup.procs" || not_ok 'a hostile cgroup' 'no process can be moved there'
	zmem -w -p "$sleeper" -o pid,cgroup,unit,container,name
	expect_out 'a hostile cgroup is shown' 'zmem-test-[0-9]+\\x1b\[31m'
	expect_printable 'a hostile cgroup: printable' "$TMP/out"
	zmem -J -p "$sleeper"
	expect_json 'a hostile cgroup: JSON' '.processes[0].cgroup | contains("\u001b[31m")'
	expect_printable 'a hostile cgroup: JSON is printable' "$TMP/out"
fi
