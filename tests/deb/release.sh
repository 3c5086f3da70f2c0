#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make release: what it makes, that the checksums are theirs, and that the programs are static and run.
. "$(dirname "$0")/../support/cli.sh"
SOURCE=$(realpath "$(dirname "$0")/../..")

machine=$(uname -m)
run_expect 0 'make release' make --no-print-directory -C "$SOURCE" O="${O#"$SOURCE"/}" release
cd "$O/release" || exit 1
version=$(ls ./zmem-bpf-*-linux-"$machine" | sed 's|^./zmem-bpf-||; s|-linux-.*||')
{
	echo SHA256SUMS
	[ "$machine" != x86_64 ] || echo "zmem-bpf-$version-linux-aarch64"
	echo "zmem-bpf-$version-linux-$machine"
	echo "zmem-bpf_${version}_$(dpkg --print-architecture).deb"
} | LC_ALL=C sort >"$TMP/wanted"
check 'its files' diff "$TMP/wanted" <(find . -type f -printf '%P\n' | LC_ALL=C sort)
check 'their checksums' sha256sum --quiet -c SHA256SUMS
equal 'the checksums of all others' "$(wc -l <SHA256SUMS)" "$(($(wc -l <"$TMP/wanted") - 1))"
for program in ./zmem-bpf-*-linux-*; do
	check "$program: static" sh -c '! readelf -l "$0" | grep -q INTERP' "$program"
	check "$program: without symbols" sh -c '! readelf -S "$0" | grep -q symtab' "$program"
	equal "$program: its machine" "$(readelf -h "$program" | sed -n 's/^ *Machine: *//p')" \
		"$(case $program in *-x86_64) echo 'Advanced Micro Devices X86-64' ;; *) echo AArch64 ;; esac)"
done
equal 'its version' "$("./zmem-bpf-$version-linux-$machine" --version | head -n 1)" "zmem-bpf $version"
check 'it takes a snapshot' sh -c '"$0" --json --source bpf | jq -e ".processes | length > 0"' "./zmem-bpf-$version-linux-$machine"
