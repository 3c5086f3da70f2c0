#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Only serve loads libmicrohttpd; a message names it if it is missing.
. "$(dirname "$0")/../support/cli.sh"

LIBRARY=libmicrohttpd.so.12
ANY='--listen 127.0.0.1:0'

run env LD_TRACE_LOADED_OBJECTS=1 "$ZMEM"
expect_out 'the loader prints what it loads' 'libbpf\.so'
refuse_out 'no command but serve loads what speaks HTTP' 'microhttpd|gnutls'
zmem doctor
expect_out 'doctor: the library is installed' '^serve +ok '

# An empty file in its place.
there=$(ldconfig -p | sed -n "s/.*$LIBRARY .*=> //p" | head -n 1)
if [ -z "$there" ]; then
	not_ok 'the library' 'is not installed (make deps-test)'
fi
without() {
	run timeout -s KILL "$PATIENCE" unshare -m sh -c 'mount --bind /dev/null "$0" && exec "$@"' \
		"$(realpath "$there")" "$@"
}
# shellcheck disable=SC2086
without "$ZMEM" serve $ANY
expect_rc 'serve without it: exit code' 1
expect_stderr_lines 'serve without it: one line' 1
expect_err 'serve without it: names the package' \
	"^zmem-bpf: serve: $LIBRARY cannot be loaded: .* \(install libmicrohttpd12\)$"
without "$ZMEM" doctor
expect_rc 'doctor without it: exit code' 0
unfolded
expect_out 'doctor without it: names the package' "^serve +no +$LIBRARY cannot .*libmicrohttpd12"
without "$ZMEM" -J --pss none -p $$
expect_json 'a snapshot does not need it' '.processes | length == 1'

# A library of that name that lacks a function.
mkdir "$TMP/lib"
echo 'void MHD_add_connection(void) {}' |
	"${CC:-gcc}" -shared -fPIC -x c - -o "$TMP/lib/$LIBRARY"
# shellcheck disable=SC2086
run timeout -s KILL "$PATIENCE" env LD_LIBRARY_PATH="$TMP/lib" "$ZMEM" serve $ANY
expect_rc 'a library that lacks a function: exit code' 1
expect_err 'a library that lacks a function: it is named' 'cannot be loaded: .*MHD_add_response_header'

if [ "$STATIC" != "$PROGRAM" ]; then
	run "$STATIC" doctor
	unfolded
	expect_out 'the static program: doctor reports no serve' '^serve +no +the static program has none'
fi
