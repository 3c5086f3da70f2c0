#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make install and make uninstall: the installed files, their modes, that they work, and that
# uninstall removes all of them.
. "$(dirname "$0")/../support/cli.sh"

if sanitized; then
	skip 'install' 'it installs the plain program'
	exit 0
fi
if [ ! -w "$O" ]; then
	skip 'install' 'the build is of another user, and make may have to write there'
	exit 0
fi
source=$(realpath "$SUPPORT/../..")
root="$TMP/some root"
at=$root/opt/zmem
# As it was given: another spelling of the same directory is another build.
build=${O#"$source"/}

made() {
	make --no-print-directory -C "$source" O="$build" PREFIX=/opt/zmem DESTDIR="$root" "$@" >"$TMP/made" 2>&1 ||
		not_ok "make $*" "$(tail -n 5 "$TMP/made")"
}

# Files and links with their modes, below the prefix.
there() {
	(cd "$root" && find . ! -type d -printf '%m %P\n' | sed 's| opt/zmem/| |' | sort -k 2)
}

# The files for share/zmem-bpf.
data() {
	(cd "$source/src/dist" && find . -type f ! -name '*.mk' ! -path './completion/*' ! -path './systemd/*' \
		! -path './debian/*' ! -path './python/*' ! -name image.py ! -name 'documents.*' -printf '%P\n')
}

# Below share/man; three pages are made by the build.
manual_pages() {
	(cd "$source/src/man" && ls ./*.[1-9]; echo ./zmem-bpf-columns.7; echo ./zmem-bpf-findings.7; echo ./zmem-bpf-json.5) | sed 's|^\./\(.*\)\.\(.\)$|man\2/\1.\2|'
}

{
	echo '755 bin/zmem-bpf'
	manual_pages | sed 's|^|644 share/man/|'
	echo '644 share/bash-completion/completions/zmem-bpf'
	echo '644 share/zsh/site-functions/_zmem-bpf'
	echo '644 lib/systemd/system/zmem-bpf-pin.service'
	echo '644 lib/systemd/system/zmem-bpf-record.service'
	echo '644 lib/systemd/system/zmem-bpf.service'
	for header in read record setup; do echo "644 include/zmem/$header.h"; done
	echo '644 lib/python3/dist-packages/zmem_bpf.py'
	# All files for users, without their sources.
	data | sed 's|^|644 share/zmem-bpf/|'
	sed -n 's|^document \([^ ]*\) .*|644 share/zmem-bpf/\1.schema.json|p' "$source/src/dist/documents.txt"
} | sort -k 2 >"$TMP/wanted"
check 'more than 12 files are installed' [ "$(wc -l <"$TMP/wanted")" -gt 12 ]

made all
umask 077
made install
umask 022
there >"$TMP/there"
check 'the installed files and their modes' diff "$TMP/wanted" "$TMP/there"
equal 'directories have mode 755' "$(find "$at" -type d ! -perm 755)" ''
check 'the program is the one that was built' cmp "$O/zmem-bpf" "$at/bin/zmem-bpf"
run_expect 0 'the program runs' "$at/bin/zmem-bpf" --version
for file in $(data); do
	cmp -s "$source/src/dist/$file" "$at/share/zmem-bpf/$file" || not_ok "$file" 'differs from its source'
done
check 'bash: its completions are valid' bash -n "$at/share/bash-completion/completions/zmem-bpf"
check 'bash: completions have the columns' grep -q 'pss_shmem' "$at/share/bash-completion/completions/zmem-bpf"
equal 'zsh: the first line of its completions' "$(head -n 1 "$at/share/zsh/site-functions/_zmem-bpf")" '#compdef zmem-bpf'
check 'zsh: completions have the columns' grep -q 'pss_shmem' "$at/share/zsh/site-functions/_zmem-bpf"
check 'the unit names its program' grep -q '^ExecStart=/opt/zmem/bin/zmem-bpf serve ' \
	"$at/lib/systemd/system/zmem-bpf.service"
check 'the manual page names its directory' grep -q '^\.It Pa /opt/zmem/share/zmem-bpf$' "$at/share/man/man1/zmem-bpf.1"
check 'the page of columns has columns' grep -q '^\.It Li pss_shmem$' "$at/share/man/man7/zmem-bpf-columns.7"
check 'the page of findings has findings' grep -q '^\.Li cgroup_limit$' "$at/share/man/man7/zmem-bpf-findings.7"
check 'and names the directory of rules' grep -q '^\.Pa /opt/zmem/share/zmem-bpf/prometheus$' "$at/share/man/man7/zmem-bpf-findings.7"
if need man 'man finds it'; then
	run_expect 0 'man finds it' env MANPATH="$at/share/man" MANPAGER=cat man zmem-bpf
	expect_out 'and shows it' 'show the memory and swap of every process'
	run env MANPATH="$at/share/man" MANPAGER=cat man zmem-bpf watch
	expect_out 'man finds the page of a command' 'ZMEM-BPF-WATCH\(1\)'
fi

made install
there >"$TMP/there"
check 'installed over itself: the same' diff "$TMP/wanted" "$TMP/there"

touch "$at/share/man/man8/other.8" "$at/bin/other"
made uninstall
equal 'uninstalled: only the files of others are left' "$(there | cut -d' ' -f2 | tr '\n' ' ')" \
	'bin/other share/man/man8/other.8 '
equal 'uninstalled: no directory of ours is left' "$(find "$root" -name 'zmem-bpf*')" ''
made uninstall
made install STATIC=1
equal 'the static program: no unit of serve, which it lacks' "$(ls "$at/lib/systemd/system" | paste -sd" ")" 'zmem-bpf-pin.service zmem-bpf-record.service'
made uninstall
