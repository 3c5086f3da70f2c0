# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Shared functions of tests/cli, on top of lib.sh. . "$(dirname "$0")/../support/cli.sh"

# shellcheck source=tests/support/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
SUPPORT=$LIB

# The Python of Debian has jsonschema.
PYTHON=/usr/bin/python3
[ -x "$PYTHON" ] || PYTHON=python3
# Edits recordings (tests/support/edit_recording.c).
EDIT=${B:-build/obj}/edit_recording
# Seconds after which a hanging program is killed; timeout(1) then exits with 124.
PATIENCE=${PATIENCE:-30}

# A user without privileges must be able to enter this directory and run the program.
chmod 755 "$TMP"
cp "$PROGRAM" "$TMP/zmem-bpf"
ZMEM=$TMP/zmem-bpf

# Variables that sanitizers need.
sanitized() {
	[ "${PROGRAM%-san-*}" != "$PROGRAM" ]
}

# helper NAME: builds tests/support/NAME.c as $TMP/NAME, if $O has none.
helper() {
	if [ -x "$O/$1" ]; then
		cp "$O/$1" "$TMP/$1"
	else
		"${CC:-gcc}" -std=gnu17 -D_GNU_SOURCE -O2 -static -o "$TMP/$1" "$SUPPORT/$1.c"
	fi
}

# zmem ARG…: runs the program as run does.
zmem() {
	run timeout -s KILL "$PATIENCE" "$ZMEM" "$@"
}

# as_nobody COMMAND…: runs it as the user nobody, without privileges.
as_nobody() {
	timeout -s KILL "$PATIENCE" setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps=-all --bounding-set=-all "$@"
}

# with_caps LIST COMMAND…: runs it as the user nobody, with these capabilities ("+bpf,+perfmon") and no others.
with_caps() {
	local caps=$1
	shift
	timeout -s KILL "$PATIENCE" setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps="-all,$caps" --ambient-caps="-all,$caps" --bounding-set="-all,$caps" "$@"
}

# expect_rc NAME RC: the exit code of the last run; a failure shows its stderr.
expect_rc() {
	if [ "$rc" = "$2" ]; then ok "$1"; else not_ok "$1" "exit code $rc, not $2; stderr: $err"; fi
}

# expect_stderr_lines NAME COUNT: COUNT lines on stderr, each a message of the program.
expect_stderr_lines() {
	local lines foreign
	lines=$(wc -l <"$TMP/err")
	foreign=$(grep -avc '^zmem-bpf: ' "$TMP/err")
	if [ "$lines" = "$2" ] && [ "$foreign" = 0 ]; then
		ok "$1"
	else
		not_ok "$1" "$lines lines on stderr, not $2, $foreign of them not ours: $err"
	fi
}

# works NAME ARG…: exit code 0. says NAME ERE ARG…: what is on stdout; warns: on stderr. tells NAME JQ ARG…: of the document.
works() {
	zmem "${@:2}"
	expect_rc "$1" 0
}

says() {
	zmem "${@:3}"
	expect_out "$1" "$2"
}

warns() {
	zmem "${@:3}"
	expect_err "$1" "$2"
}

tells() {
	zmem "${@:3}"
	expect_json "$1" "$2"
}

# refused NAME RC ERE ARG…: exit code RC, nothing on stdout, one message that matches.
refused() {
	local name=$1 want=$2 pattern=$3
	shift 3
	zmem "$@"
	if [ "$rc" != "$want" ]; then
		not_ok "$name" "exit code $rc, not $want; stderr: $err"
	elif [ -s "$TMP/out" ]; then
		not_ok "$name" "says on stdout: $out"
	elif [ "$(wc -l <"$TMP/err")" != 1 ] || ! grep -qaE "^zmem-bpf: .*$pattern" "$TMP/err"; then
		not_ok "$name" "not one line /$pattern/: $err"
	else
		ok "$name"
	fi
}

# invalid FILE: sets $said to the error in the JSON document in FILE, '' without one. One Python process
# validates all documents of a test, because starting it takes longer than validating. It is not a job of
# the test, so that wait does not wait for it; a subshell has its own.
invalid() {
	if [ "${validator:-}" != "$BASHPID" ]; then
		# bash warns about a coprocess that a subshell inherits.
		{ coproc VALIDATOR { exec "$PYTHON" -B "$SUPPORT/validate_json.py" --serve 2>&1; }; } 2>/dev/null
		disown "$VALIDATOR_PID"
		validator=$BASHPID
	fi
	printf '%s\n' "$1" >&"${VALIDATOR[1]}" && read -r said <&"${VALIDATOR[0]}" || said='the validator ended'
}

# expect_json NAME [JQ [ARG…]]: the output of the last run fits the schema, and the expression is true.
expect_json() {
	local name=$1 expression=${2:-true} said
	shift
	[ $# = 0 ] || shift
	invalid "$TMP/out"
	if [ -n "$said" ]; then
		not_ok "$name" "exit code $rc, no valid document: $said; stderr: $err"
	elif ! said=$(jq -e "$@" "$expression" "$TMP/out" 2>&1); then
		not_ok "$name" "not so: $expression ($(jq -c '.source, .collection' "$TMP/out"))"
	else
		ok "$name"
	fi
}

# unfolded: puts the folded rows of doctor in $TMP/out into one line each.
unfolded() {
	sed -e ':a' -e 'N' -e '$!ba' -e 's/\n  \+/ /g' "$TMP/out" >"$TMP/one" && mv "$TMP/one" "$TMP/out"
}

# expect_printable NAME FILE [--color]
expect_printable() {
	local said
	if said=$("$PYTHON" "$SUPPORT/printable.py" ${3:+"$3"} <"$2"); then
		ok "$1"
	else
		not_ok "$1" "$said"
	fi
}
