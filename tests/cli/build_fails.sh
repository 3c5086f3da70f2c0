#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make where one of the tools of a step fails: the step fails, too, and leaves no half of a file behind. The shell of
# make has no pipefail.
. "$(dirname "$0")/../support/cli.sh"

if sanitized; then
	skip 'failing tools' 'the makefiles are the same'
	exit 0
fi
source=$(realpath "$SUPPORT/../..")
made=$TMP/made
page=$made/page/report
tools_of_hash='sha256sum tr basenc base64'

# with_failing TOOL COMMAND…: runs the command where TOOL does its work, and then fails.
with_failing() {
	local tool=$1
	mkdir -p "$TMP/bin"
	rm -f "$TMP"/bin/*
	printf '#!/bin/sh\n%s "$@"\nexit 4\n' "$(command -v "$tool")" >"$TMP/bin/$tool"
	chmod 755 "$TMP/bin/$tool"
	shift
	PATH="$TMP/bin:$PATH" run "$@"
}

# fails TOOL FILE: without TOOL, make does not make FILE. With it, make does.
fails() {
	rm -f "$2"
	with_failing "$1" make --no-print-directory -C "$source" O="$made" "$2"
	expect_rc "$1 fails: make ${2##*/} fails" 2
	check "$1 fails: no ${2##*/}" [ ! -e "$2" ]
	rm -f "$2"
	run_expect 0 "make ${2##*/}" make --no-print-directory -C "$source" O="$made" "$2"
	check "${2##*/} has its text" [ -s "$2" ]
}

for tool in $tools_of_hash sed; do fails "$tool" "$page/page.html"; done
fails sed "$page/page_head.part"
fails python3 "$page/parts.inc"
fails infocmp "$made/page/top/xterm.inc"
fails python3 "$made/man/zmem-bpf-json.5"
fails python3 "$made/man/zmem-bpf-findings.7"
for tool in fold sed; do
	with_failing "$tool" "$source/src/man/columns.sh" "$PROGRAM"
	check "$tool fails: the page of columns fails" [ "$rc" != 0 ]
done
run_expect 0 'the page of columns' "$source/src/man/columns.sh" "$PROGRAM"

# A warning of another compiler ends the build of those who change the program alone.
# compiles_with FLAGS GOAL: the flags that its compiler gets
compiles_with() {
	run env -u WERROR make -n V=1 --no-print-directory -C "$source" O="$made" "$2"
	expect_out "make $2: compiles with $1" " -Wall -Wextra +$1-Wno-[^|]* -c src/model/maps\.c "
}
for goal in all run; do compiles_with '' $goal; done
for goal in unit test-build test-gate; do compiles_with '-Werror ' $goal; done
built() {
	run env -u WERROR make --no-print-directory -C "$source" O="${O#"$source"/}" all "$@"
	stat -c %y "$PROGRAM" "$B/main.o"
}
equal 'objects are the same with both' "$(built WERROR=-Werror)" "$(built WERROR=)"

# The package that has bpftool.
# packages_of ID VERSION WANTED
packages_of() {
	printf 'ID=%s\nVERSION_ID="%s"\n' "$1" "$2" >"$TMP/os-release"
	# shellcheck disable=SC2016
	run unshare -m sh -c 'mount --bind "$0" /etc/os-release && exec "$@"' "$TMP/os-release" make -n -C "$source" O="$made" deps
	expect_out "$1 $2: $3" " make $3 libbpf-dev "
}
if need mount 'packages'; then
	packages_of debian 12 bpftool
	packages_of ubuntu 24.04 linux-tools-generic
	packages_of ubuntu 26.04 bpftool
fi

# The files that make install changes on their way.
install=(make --no-print-directory -C "$source" O="${O#"$source"/}" PREFIX=/opt/zmem DESTDIR="$TMP/root")
run "${install[@]}" all
printf '#!/bin/sh\n%s "$@"\ncase $* in *.service*) exit 4 ;; esac\n' "$(command -v sed)" >"$TMP/sed"
rm -f "$TMP"/bin/*
cp "$TMP/sed" "$TMP/bin/sed"
chmod 755 "$TMP/bin/sed"
PATH="$TMP/bin:$PATH" run "${install[@]}" install
expect_rc 'sed fails: make install fails' 2
equal 'sed fails: no unit is installed' "$(find "$TMP/root" -name '*.service')" ''
run_expect 0 'make install' "${install[@]}" install
equal 'units are installed' "$(find "$TMP/root" -name '*.service' -size +0 | wc -l)" 3
