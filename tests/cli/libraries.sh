#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Only serve loads libmicrohttpd, and only grow libdw; a message names what is missing.
. "$(dirname "$0")/../support/cli.sh"

LIBRARY=libmicrohttpd.so.12
ANY='--listen 127.0.0.1:0'

run env LD_TRACE_LOADED_OBJECTS=1 "$ZMEM"
expect_out 'the loader prints what it loads' 'libbpf\.so'
others='microhttpd|gnutls|libdw|debuginfod'
sanitized || others+='|stdc' # the sanitizers are in C++
refuse_out 'no command but serve and grow loads what speaks HTTP or unwinds' "$others"
says 'doctor: the library is installed' '^serve +ok ' doctor

# An empty file in its place.
there=$(ldconfig -p | sed -n "s/.*$LIBRARY .*=> //p" | head -n 1)
if [ -z "$there" ]; then
	not_ok 'the library' 'is not installed (make deps-test)'
fi
without() {
	run timeout -s KILL "$PATIENCE" unshare -m sh -c 'mount --bind /dev/null "$0" && exec "$@"' \
		"$(realpath "$there")" "$@"
}
if need mount 'without the library'; then
	# shellcheck disable=SC2086
	without "$ZMEM" serve -q $ANY
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
fi

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

# ---- grow ----

need 'bpf mount' libdw || exit 0
there=$(ldconfig -p | sed -n 's/.*libdw.so.1 .*=> //p' | head -n 1)
without "$ZMEM" grow $$ -c 1
expect_rc 'grow without libdw: exit code' 1
expect_err 'grow without libdw: names the package' '^zmem-bpf: libdw\.so\.1 cannot be loaded: .*install libdw1'
without "$ZMEM" grow $$ -i 0.1 -c 1 --stack fp
expect_rc 'grow --stack fp does not need it' 0
without "$ZMEM" doctor
unfolded
expect_out 'doctor without libdw: names the package' '^grow +no +libdw.so.1 cannot .*libdw1'
there=$(ldconfig -p | sed -n 's/.*libdebuginfod.so.1 .*=> //p' | head -n 1)
if [ -z "$there" ]; then
	not_ok 'libdebuginfod1' 'is not installed (make deps-test)'
fi
without env DEBUGINFOD_URLS=http://127.0.0.1:9 "$ZMEM" grow $$ -c 1 --debuginfod
expect_rc 'grow --debuginfod without libdebuginfod: exit code' 1
expect_err 'grow --debuginfod without libdebuginfod: names the package' \
	'^zmem-bpf: libdebuginfod\.so\.1 cannot be loaded: .*install libdebuginfod1'
without "$ZMEM" grow $$ -i 0.1 -c 1
expect_rc 'grow does not need libdebuginfod' 0
zmem doctor
unfolded
expect_out 'doctor: grow works' '^grow +ok '
if [ "$STATIC" != "$PROGRAM" ]; then
	without "$STATIC" grow $$ -i 0.1 -c 1
	expect_rc 'the static program: grow by tables' 0
	without "$STATIC" doctor
	unfolded
	expect_out 'the static program: doctor: grow works' '^grow +ok '
	run "$STATIC" grow $$ -i 0.1 -c 1 --debuginfod
	expect_err 'the static program: --debuginfod' 'the static program has none'
	run_expect 0 'the static program: grow --stack fp' "$STATIC" grow $$ -i 0.1 -c 1 --stack fp
fi
