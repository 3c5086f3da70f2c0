#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make deb: what is in the package, and that it comes and goes without a trace.
. "$(dirname "$0")/root.sh" package

run_expect 0 'make deb, with lintian' make --no-print-directory -C "$SOURCE" O="${O#"$SOURCE"/}" deb
package=$(find "$O" -maxdepth 1 -name 'zmem-bpf_*.deb')
equal 'one package' "$(wc -l <<<"$package")" 1

{
	echo '755 usr/bin/zmem-bpf'
	echo '644 lib/systemd/system/zmem-bpf-pin.service'
	echo '644 lib/systemd/system/zmem-bpf.service'
	echo '644 usr/share/bash-completion/completions/zmem-bpf'
	echo '644 usr/share/doc/zmem-bpf/README.md.gz'
	echo '644 usr/share/doc/zmem-bpf/changelog.gz'
	echo '644 usr/share/doc/zmem-bpf/copyright'
	(cd "$SOURCE/src/man" && ls ./*.[1-9]; echo ./zmem-bpf-columns.7) |
		sed 's|^\./\(.*\)\.\(.\)$|644 usr/share/man/man\2/\1.\2.gz|'
	echo '644 usr/share/zsh/vendor-completions/_zmem-bpf'
	cd "$SOURCE/src/dist" && find . -type f ! -name '*.mk' ! -path './completion/*' ! -path './systemd/*' ! -path './debian/*' \
		-printf '644 usr/share/zmem-bpf/%P\n'
} | sort >"$TMP/wanted"
mkdir "$TMP/in"
dpkg-deb -x "$package" "$TMP/in"
(cd "$TMP/in" && find . ! -type d -printf '%m %P\n' | sort) >"$TMP/there"
check 'the contents and their modes' diff "$TMP/wanted" "$TMP/there"
equal 'the unit names its program' "$(sed -n 's/^ExecStart=//p' "$TMP/in/lib/systemd/system/zmem-bpf.service")" \
	'/usr/bin/zmem-bpf serve $OPTIONS'
check 'it does not depend on libmicrohttpd' sh -c 'dpkg-deb -f "$0" Depends | grep -v microhttpd' "$package"
equal 'it recommends libmicrohttpd' "$(dpkg-deb -f "$package" Recommends)" 'libmicrohttpd12 | libmicrohttpd12t64'
check_package "$package"
