# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For shell tests: . "$(dirname "$0")/../support/lib.sh"
#
# Sets $PROGRAM, $STATIC (the static program, if it is built), $MKMEM and $TMP (a directory that is
# removed at the end), and defines the functions below. A test goes on after a failure; the file
# exits with 1 if one failed.

set -u
LC_ALL=C
export LC_ALL
LIB=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
# Tables have local times.
export TZ=UTC0
O=$(realpath "${O:-build}")
PROGRAM=$(realpath "${PROGRAM:-$O/zmem-bpf}")
STATIC=$PROGRAM
[ ! -x "$O/zmem-bpf-static" ] || [ "${PROGRAM#"$O/zmem-bpf-san"}" != "$PROGRAM" ] ||
	STATIC=$O/zmem-bpf-static
if ! lacks=$("$LIB/needs" -f "$0"); then
	echo "skip ${0##*/}: needs $lacks"
	exit 0
fi
TMP=$(mktemp -d)
# A copy: a process of another test would share its pages, and change their PSS when it ends.
MKMEM=$TMP/bin/mkmem
mkdir "$TMP/bin" && cp "$O/mkmem" "$MKMEM"
mkmem_pid=
failed=0

lib_cleanup() {
	local rc=$?
	mkmem_end
	rm -rf "$TMP"
	[ "$rc" != 0 ] || rc=$failed
	exit "$rc"
}
trap lib_cleanup EXIT
trap 'exit 130' INT TERM

# Makes a text one printable line.
lib_line() {
	printf '%s' "$*" | tr '\n\t' '  ' | tr -cd '[:print:]' | cut -c 1-400
}

# ok NAME; not_ok NAME WHY; skip NAME REASON
ok() {
	printf 'ok %s\n' "$(lib_line "$1")"
}

not_ok() {
	failed=1
	printf 'not ok %s: %s\n' "$(lib_line "$1")" "$(lib_line "$2")"
}

skip() {
	printf 'skip %s: %s\n' "$(lib_line "$1")" "$(lib_line "$2")"
}

# run COMMAND…: leaves $rc, $out and $err (the texts also in $TMP/out and $TMP/err).
run() {
	"$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	rc=$?
	out=$(tr -d '\0' <"$TMP/out")
	err=$(tr -d '\0' <"$TMP/err")
}

# run_expect RC NAME COMMAND…: passes if the exit code is RC.
run_expect() {
	local want=$1 name=$2
	shift 2
	run "$@"
	if [ "$rc" = "$want" ]; then
		ok "$name"
	else
		not_ok "$name" "exit code $rc, not $want; stderr: $err"
		return 1
	fi
}

# check NAME COMMAND…: passes if the command succeeds.
check() {
	local name=$1 said
	shift
	if said=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name" "failed: $* ${said:+($said)}"
		return 1
	fi
}

# expect_out NAME ERE, expect_err, refuse_out, refuse_err: check the output of the last run.
expect_out() {
	if grep -qaE -e "$2" "$TMP/out"; then ok "$1"; else not_ok "$1" "no /$2/ in: $out"; fi
}

expect_err() {
	if grep -qaE -e "$2" "$TMP/err"; then ok "$1"; else not_ok "$1" "no /$2/ in stderr: $err"; fi
}

refuse_out() {
	if grep -qaE -e "$2" "$TMP/out"; then not_ok "$1" "/$2/ is in: $out"; else ok "$1"; fi
}

refuse_err() {
	if grep -qaE -e "$2" "$TMP/err"; then not_ok "$1" "/$2/ is in stderr: $err"; else ok "$1"; fi
}

equal() { # NAME GOT WANT
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got '$2', not '$3'"; fi
}

# wait_until COMMAND…: repeats it every 0.05 s until it succeeds, for at most $PATIENCE (30) seconds. False if it
# never does. What depends on the time is part of the command: eval '…', or a function.
wait_until() {
	local end=$((SECONDS + ${PATIENCE:-30}))
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# mkmem_begin SHAPE…: starts mkmem; its lines are in $TMP/mkmem.
mkmem_begin() {
	mkfifo "$TMP/mkmem.in"
	: >"$TMP/mkmem" # an earlier mkmem has left its DONE there
	"$MKMEM" "$@" <"$TMP/mkmem.in" >"$TMP/mkmem" &
	mkmem_pid=$!
	exec 9>"$TMP/mkmem.in"
	PATIENCE=300 wait_until eval 'grep -q ^DONE "$TMP/mkmem" || ! kill -0 "$mkmem_pid" 2>/dev/null'
	grep -q ^DONE "$TMP/mkmem"
}

# mkmem_end: ends mkmem and its processes; also done at the end of the test.
mkmem_end() {
	[ -n "$mkmem_pid" ] || return 0
	exec 9>&-
	wait "$mkmem_pid" 2>/dev/null
	mkmem_pid=
	rm -f "$TMP/mkmem.in"
}

# mkmem_pid_of SHAPE ROLE
mkmem_pid_of() {
	sed -n "s/^READY $1 $2 //p" "$TMP/mkmem"
}

# see_own_processes_only: restarts the test in a pid and mount namespace, where it sees no process of other tests, if one
# can be had. OOM kills of other tests are still seen.
see_own_processes_only() {
	[ -z "${OWN_PROCESSES:-}" ] && have mount || return 0
	rm -rf "$TMP"
	OWN_PROCESSES=1 exec unshare --pid --fork --kill-child --mount-proc "$0"
}

# need "NEED…" NAME: false, with a skip of the checks NAME, if something is missing here that the test itself does not
# need (support/needs).
need() {
	local lacks
	# shellcheck disable=SC2086
	lacks=$("$LIB/needs" $1) && return
	skip "$2" "needs $lacks"
	return 1
}

# have "NEED…": the same without a skip.
have() {
	# shellcheck disable=SC2086
	"$LIB/needs" $1 >/dev/null
}
