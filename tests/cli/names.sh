#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Names of programs as users know them: processes of every kind, in every output.
. "$(dirname "$0")/../support/cli.sh"

SECRET=hunter2-of-the-tests
here=$TMP/bin
chmod 755 "$here"
jobs_started=()
want=()

end_jobs() {
	kill "${jobs_started[@]}" 2>/dev/null
	lib_cleanup
}
trap end_jobs EXIT

# expect_name NAME: the expected name of the last started job.
expect_name() {
	jobs_started+=("$!")
	want+=("$!	$1")
}

# script NAME FIRST-LINE: makes a script that waits forever in any interpreter.
script() {
	case $2 in
	*python*) printf '%s\nimport time\ntime.sleep(1000)\n' "$2" ;; # a process: its name is read
	*perl*) printf '%s\nsleep 1000;\n' "$2" ;;
	*) printf '%s\nmkfifo "$0.$$"\nread -r line <"$0.$$"\n' "$2" ;;
	esac >"$here/$1"
	chmod 755 "$here/$1"
}

script zmem-names-of-a-long-script.py "#!$PYTHON -u"
script zmem_names_module.py '# python'
script zmem-names.sh '#!/bin/bash'
script zmem-names.pl '#!/usr/bin/perl'
# shellcheck disable=SC2016
printf '$0 = "zmemd: worker of %s"; sleep 1000;\n' "$SECRET" >"$here/title.pl" # a process: its name is read
cp "$(command -v sleep)" "$here/zmem_names_exe"
cp "$here/zmem_names_exe" "$here/zmem_names_gone"
cp "$here/zmem_names_exe" "$here/zmem_names_new"

"$here/zmem-names-of-a-long-script.py" "$SECRET" &
expect_name zmem-names-of-a-long-script.py
long=$!
"$PYTHON" -W ignore "$here/zmem_names_module.py" --password "$SECRET" &
expect_name zmem_names_module.py
(cd "$here" && exec "$PYTHON" -Bm zmem_names_module "$SECRET") &
expect_name zmem_names_module
"$PYTHON" -c "import time; time.sleep(1000) # $SECRET" & # a process: its name is read
expect_name "$(basename "$PYTHON")"
"$here/zmem-names.sh" "$SECRET" &
expect_name zmem-names.sh
bash -eu -o pipefail "$here/zmem-names.sh" "$SECRET" &
expect_name zmem-names.sh
# shellcheck disable=SC2016
bash -c 'mkfifo "$1.$$"; read -r line <"$1.$$"' bash "$here/inline" "$SECRET" &
expect_name bash
perl -w "$here/zmem-names.pl" "$SECRET" &
expect_name zmem-names.pl
perl "$here/title.pl" &
expect_name zmemd
title=$!
(exec -a 'zmemdb: writer process' "$here/zmem_names_exe" 1000) &
expect_name zmem_names_exe
# A file that is there, and one with such a name that is not.
cp "$here/zmem_names_exe" "$here/zmem_names_odd (deleted)"
cp "$here/zmem_names_exe" "$here/zmem_names_odd_gone (deleted)"
"$here/zmem_names_odd (deleted)" 1000 &
expect_name 'zmem_names_odd (deleted)'
odd=$!
"$here/zmem_names_odd_gone (deleted)" 1000 &
expect_name 'zmem_names_odd_gone (deleted)'
odd_gone=$!
# Wine is one executable with any name in its arguments and in comm.
cp "$here/zmem_names_exe" "$here/wine64-preloader"
(exec -a 'C:\windows\system32\zmem names.exe' "$here/wine64-preloader" 1000) &
expect_name 'zmem names.exe'
"$here/zmem_names_gone" 1000 &
expect_name zmem_names_gone
gone=$!
"$here/zmem_names_new" 1000 &
expect_name zmem_names_new
new=$!
# A program in memory: the kernel calls every memfd deleted.
"$PYTHON" -c 'import os, sys
fd = os.memfd_create("zmem_names_memfd")
with open(sys.argv[1], "rb") as program:
    os.write(fd, program.read())
os.execve(fd, ["x", "1000"], os.environ)' "$here/zmem_names_exe" &
expect_name memfd:zmem_names_memfd
memfd=$!
for loader in /lib64/ld-linux-x86-64.so.2 /lib/ld-musl-x86_64.so.1; do
	# That of another C library does not run it.
	"$loader" "$here/zmem_names_exe" 0 2>/dev/null || continue
	"$loader" "$here/zmem_names_exe" 1000 &
	expect_name zmem_names_exe
done
if need busybox 'applets of busybox'; then
	ln -s "$(command -v busybox)" "$here/sleep"
	"$here/sleep" 1000 &
	expect_name sleep
	busybox sleep 1000 &
	expect_name sleep
	busybox sh "$here/zmem-names.sh" "$SECRET" &
	expect_name zmem-names.sh
fi
mkmem_begin anon || not_ok 'mkmem' 'did not start'
anon=$(mkmem_pid_of anon main)
want+=("$anon	mkmem")
# A container sees no kernel thread.
kthreadd=$(grep -x kthreadd /proc/2/comm 2>/dev/null) && want+=("2	kthreadd")

# Wait until all have called exec and reached their final state.
for line in "${want[@]}"; do
	pid=${line%%	*}
	[ "$pid" = 2 ] || wait_until test ! "/proc/$pid/exe" -ef /proc/$$/exe \
		-o "${line#*	}" = zmem-names.sh -o "${line#*	}" = bash
done
wait_until grep -aq zmemd "/proc/$title/cmdline"
wait_until grep -aq long-script "/proc/$long/cmdline"
wait_until test "/proc/$gone/exe" -ef "$here/zmem_names_gone"
wait_until test "/proc/$new/exe" -ef "$here/zmem_names_new"
wait_until test "/proc/$odd/exe" -ef "$here/zmem_names_odd (deleted)"
wait_until test "/proc/$odd_gone/exe" -ef "$here/zmem_names_odd_gone (deleted)"
wait_until grep -q memfd "/proc/$memfd/maps"
rm "$here/zmem_names_gone" "$here/zmem_names_odd_gone (deleted)"
cp "$here/zmem_names_exe" "$here/copy"
mv "$here/copy" "$here/zmem_names_new"
pids=$(printf '%s\n' "${want[@]}" | cut -f1 | paste -sd,)
printf '%s\n' "${want[@]}" | sort -n >"$TMP/want"

# named NAME: lines "pid<TAB>name" are on stdin.
named() {
	sort -n >"$TMP/got"
	equal "$1" "$(paste -sd, "$TMP/got")" "$(paste -sd, "$TMP/want")"
}
quiet_about() { # NAME: what else was in the arguments is nowhere
	if grep -aq -e "$SECRET" "$TMP/out"; then not_ok "$1" "$out"; else ok "$1"; fi
}

# ---- every source, every output ----

for mode in '' '--source proc' '--pss none -s name -n 1000'; do
	# shellcheck disable=SC2086
	zmem -J -p "$pids" $mode
	named "json $mode" < <(jq -r '.processes[] | "\(.pid)\t\(.name)"' "$TMP/out")
	quiet_about "json $mode: no arguments"
done
expect_json 'command lines are not in the document' 'all(.processes[]; has("cmdline") | not)'
zmem -J -p "$pids" -o +cmdline
named 'json, with command lines' < <(jq -r '.processes[] | "\(.pid)\t\(.name)"' "$TMP/out")
# cli/formats.sh: csv, ndjson, folded and html have the values of JSON.
zmem -H -p "$pids" -o pid,name
named table < <(sed -nE -e "s/^ *($gone|$new|$odd_gone)  (.*) \\(deleted\\)\$/\\1\t\\2/p" -e t \
	-e 's/^ *([0-9]+)  (.*)$/\1\t\2/p' "$TMP/out")
if need counters compare; then
	zmem doctor --compare -J -a -p "$pids"
	named compare < <({
		jq -r '.cells[] | "\(.pid)\t\(.name)"' "$TMP/out"
		[ -z "$kthreadd" ] || printf '2\tkthreadd\n'
	} | sort -u)
fi
zmem maps -J -p "${pids%,2}"
named maps < <({
	jq -r '.processes[] | "\(.pid)\t\(.name)"' "$TMP/out"
	[ -z "$kthreadd" ] || printf '2\tkthreadd\n'
})
quiet_about 'maps: no arguments'
zmem record "$TMP/rec" -p "$pids"
if "$EDIT" texts "$TMP/rec" | grep -aq -e "$SECRET"; then not_ok 'a recording: no arguments' "$SECRET"; else
	ok 'a recording: no arguments'
fi
zmem -J --replay "$TMP/rec" -p "$pids"
named 'a recording' < <(jq -r '.processes[] | "\(.pid)\t\(.name)"' "$TMP/out")

# ---- programs that were removed or replaced ----

marked=$(printf '%s\n' "$gone" "$new" "$odd_gone" | sort -n | paste -sd,)
for mode in '' '--source proc' "--replay $TMP/rec"; do
	# shellcheck disable=SC2086
	zmem -J -p "${pids%,2},$$" $mode
	equal "removed or replaced: $mode" \
		"$(jq -r '.processes[] | select(.exe_deleted) | .pid' "$TMP/out" | sort -n | paste -sd,)" "$marked"
	expect_json "the others are not, nor is a memfd: $mode" \
		"any(.processes[]; .pid == $memfd) and all(.processes[]; .exe_deleted != null)"
done
zmem -H -o pid,name -p "${pids%,2}"
equal 'removed or replaced, in a table' \
	"$(sed -nE 's/^ *([0-9]+)  .* \(deleted\)$/\1/p' "$TMP/out" | grep -vx "$odd" | sort -n | paste -sd,)" "$marked"
zmem -F csv -o pid,exe_deleted -p "$gone,$anon"
equal 'removed or replaced, in CSV' "$(sort "$TMP/out" | paste -sd' ')" \
	"$(printf '%s\n' pid,exe_deleted "$gone,true" "$anon,false" | sort | paste -sd' ')"
if [ -n "$kthreadd" ]; then
	tells 'a kernel thread has no executable' '.processes[0].exe_deleted == null' -J -p 2
else
	skip 'a kernel thread has no executable' 'a container sees none'
fi
if need users 'nobody: executables'; then
	run as_nobody "$ZMEM" -J --source proc
	expect_json 'nobody: not known' "any(.processes[]; .pid == $gone and .exe_deleted == null)"
	expect_json 'nobody: the full name of a long script' \
		"any(.processes[]; .pid == $long and .name == \"zmem-names-of-a-long-script.py\")"
fi
