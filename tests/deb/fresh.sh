#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The commands of README.md for the first run, in a Debian with only make. With FRESH_TEST=1 also make
# test, which takes some more minutes.
# tests/deb/fresh.sh [SUITE]: bookworm (Debian 12), or another suite of the archive, such as trixie. In sid, which has
# the newest compilers, also with these, and with the flags of other distributions.
export SUITE=${1:-${SUITE:-bookworm}}
. "$(dirname "$0")/root.sh" "fresh-$SUITE"

packages() {
	inside "dpkg-query -W -f '\${Installed-Size}\n'" | awk '{ kb += $1 } END { print NR, int(kb / 1000) }'
}

git clone -q --depth 1 "file://$SOURCE" "$ROOT/clone" || not_ok 'clone' 'failed'
# A clone by a user has no path of this machine.
rm -rf "$ROOT/clone/.git"
if ! done_inside 'apt install make' 'apt-get -q update && apt-get -qy install --no-install-recommends make'; then
	exit
fi
# A day may come when packages of sid do not fit together.
if [ "$SUITE" = sid ]; then
	run inside 'cd /clone && make deps deps-unit'
	if [ "$rc" != 0 ]; then
		skip "$SUITE" "its packages cannot be installed today: $(tail -n 3 "$TMP/err")"
		exit 0
	fi
fi
read -r packages_before mb_before <<<"$(packages)"
seconds=$(date +%s)
done_inside 'make run: installs, builds, runs' 'cd /clone && make run'
seconds=$(($(date +%s) - seconds))
expect_out 'make run: a snapshot, from the kernel' '^PSS from page tables'
read -r packages_after mb_after <<<"$(packages)"
[ "$SUITE" = sid ] ||
	check "make run in $SUITE: $((packages_after - packages_before)) packages of $((mb_after - mb_before)) MB, $seconds seconds" \
		[ "$packages_after" -gt "$packages_before" ]
done_inside 'again: no package is missing' 'cd /clone && make run'
refuse_out 'again: no package is installed' '^installing:'
if [ "${FRESH_TEST:-0}" = 1 ]; then
	run inside 'cd /clone && make test'
	cp "$TMP/out" "$O/debian/fresh.test"
	if [ "$rc" = 0 ]; then
		ok "make test: $(tail -n 1 "$TMP/out")"
	else
		not_ok 'make test' "exit code $rc: $(grep -aE 'FAILED|not ok|error' "$TMP/out" "$TMP/err" | head -n 20)"
	fi
fi
# newest COMPILER: of those that have a number
newest() {
	inside "apt-cache search --names-only '^$1-[0-9]+\$'" | cut -d' ' -f1 | sort -V | tail -n 1
}
if [ "$SUITE" = sid ]; then
	gcc=$(newest gcc) clang=$(newest clang)
	done_inside "make test-compilers: $gcc, $clang, musl" "cd /clone && make test-compilers COMPILERS='$gcc $clang musl-gcc'"
	refuse_out 'no compiler is left out' '^    skip'
	done_inside "make unit: $gcc" "cd /clone && make unit CC=$gcc O=build/compilers/$gcc"
	# Those of Fedora 42 and of Arch, without what names a processor.
	fedora='-O2 -flto=auto -ffat-lto-objects -fexceptions -g -grecord-gcc-switches -pipe -Wall -Wno-complain-wrong-lang
		-Werror=format-security -Wp,-U_FORTIFY_SOURCE,-D_FORTIFY_SOURCE=3 -Wp,-D_GLIBCXX_ASSERTIONS
		-fstack-protector-strong -fasynchronous-unwind-tables -fstack-clash-protection -fno-omit-frame-pointer'
	arch='-O2 -flto=auto -pipe -fno-plt -fexceptions -Wp,-D_FORTIFY_SOURCE=3 -Wformat -Werror=format-security
		-fstack-clash-protection -fno-omit-frame-pointer'
	linked='-Wl,-z,relro -Wl,--as-needed -Wl,-z,pack-relative-relocs -Wl,-z,now -Wl,--build-id=sha1'
	for flags in "$fedora" "$arch"; do
		for static in 0 1; do
			done_inside "STATIC=$static CFLAGS='${flags//[[:space:]]/ }'" "cd /clone && rm -rf build/flags && export LDFLAGS='$linked' &&
				CFLAGS='${flags//[[:space:]]/ }' make -j\$(nproc) O=build/flags STATIC=$static >&2 && build/flags/zmem-bpf* -J"
			check 'values of the kernel' jq -e '.source.counters == "bpf"' "$TMP/out"
		done
	done
fi
done_inside 'make STATIC=1' 'cd /clone && make STATIC=1'
done_inside 'the static file, stripped' 'cd /clone/build && strip -R .eh_frame zmem-bpf-static && ./zmem-bpf-static -J'
check 'values of the kernel' jq -e '.source.counters == "bpf"' "$TMP/out"
done_inside 'make install' 'cd /clone && make install && zmem-bpf --version'
done_inside 'make uninstall' 'cd /clone && make uninstall && ! find /usr/local -name "*zmem*" | grep .'
done_inside 'make install-caps' 'cd /clone && make install-caps && getcap /usr/local/bin/zmem-bpf | grep cap_bpf'
done_inside 'make uninstall, and the group' 'cd /clone && make uninstall && groupdel zmem'
if done_inside 'make deb' 'cd /clone && make deb'; then
	check_package "$(find "$ROOT/clone/build" -maxdepth 1 -name 'zmem-bpf_*.deb')"
fi
