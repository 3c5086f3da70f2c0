#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The commands of README.md for the first run, in a Debian with only make. With FRESH_TEST=1 also make
# test, which takes some more minutes.
# tests/deb/fresh.sh [SUITE]: bookworm (Debian 12), or another suite of the archive, such as trixie.
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
read -r packages_before mb_before <<<"$(packages)"
seconds=$(date +%s)
done_inside 'make run: installs, builds, runs' 'cd /clone && make run'
seconds=$(($(date +%s) - seconds))
expect_out 'make run: a snapshot, from the kernel' '^PSS from page tables'
read -r packages_after mb_after <<<"$(packages)"
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
