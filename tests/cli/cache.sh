#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What root keeps of one run for the next (src/load/bpf_cache.h): who uses it, what is ignored, and that values are the
# same. All of it in a mount namespace with a /run of its own.
. "$(dirname "$0")/../support/cli.sh"
see_own_processes_only
need_bpf cache || exit 0
mount -t tmpfs -o mode=755 tmpfs /run || exit 1
place=/run/zmem-bpf-cache

# kept: the last run used what an earlier one kept.
kept() {
	grep -q 'kept since an earlier run' "$TMP/err"
}

files() {
	find $place -type f -size "$1" 2>/dev/null | wc -l
}

# The first run leaves an empty file, and the second one fills it.
fill() {
	rm -rf $place
	zmem
	zmem
}

zmem -v
expect_rc 'the first run' 0
check 'the first run: nothing was kept' eval '! kept'
check 'the first run leaves an empty file' [ "$(files -1c)" = 1 ]
check 'the first run: for root alone' [ "$(stat -c '%a %u' $place)" = '700 0' ]
zmem -v
expect_rc 'the second run' 0
check 'the second run fills it' [ "$(files +1k)" = 1 ]
check 'the second run: for root alone' [ "$(stat -c '%a %u' $place/*)" = '600 0' ]
zmem -v
expect_rc 'the third run' 0
check 'the third run uses it' kept
zmem doctor
expect_out 'doctor says so' 'programs kept since an earlier run'
zmem -v --pss none
check 'counters alone are another object' eval '! kept'
zmem --pss none
zmem -v --pss none
check 'counters alone are kept as well' kept
check 'each has a file' [ "$(files +1k)" = 2 ]

# The same values, and none of them from smaps_rollup.
sleep 1000 &
child=$!
rows() {
	jq -c '.processes[] | select(.pid == '$child') | [.uss_bytes, .rss_bytes, .pss_source]' "$TMP/out"
}
zmem -J
with=$(rows)
rm -rf $place
zmem -J
equal 'the values are those of programs that were loaded' "$(rows)" "$with"
check 'PSS comes from the kernel' grep -q '"kernel"' <<<"$with"
kill $child

# ignored WHAT: the run works, and uses nothing.
ignored() {
	zmem -v
	expect_rc "$1" 0
	check "$1: ignored" eval '! kept'
}

fill
file=$(echo $place/*)
cp "$file" "$TMP/kept"
size=$(stat -c %s "$file")
for at in 0 20 60 64 100 1000 $((size / 2)) $((size - 1)); do
	cp "$TMP/kept" "$file"
	printf '\xa5' | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
	ignored "another byte at $at"
done
for length in 1 79 80 1000 $((size - 8)); do
	head -c "$length" "$TMP/kept" >"$file"
	ignored "$length bytes of it"
done
{ cat "$TMP/kept" && echo; } >"$file"
ignored 'a byte more'
rm "$file" && cp "$TMP/kept" "$TMP/elsewhere" && ln -s "$TMP/elsewhere" "$file"
ignored 'a symbolic link'
check 'what the link leads to is as it was' cmp -s "$TMP/kept" "$TMP/elsewhere"
rm -f "$file" && mkfifo "$file"
ignored 'a FIFO'
rm -f "$file" && mkdir "$file"
ignored 'a directory'
fill
chmod 755 $place
ignored 'a directory that others can read'
chmod 700 $place && chown 65534 $place
ignored 'the directory of another user'
chown 0 $place && chmod 1777 /run
ignored 'a /run that others can change'
chmod 755 /run
zmem -v
check 'with the right rights it is used' kept
mount -o bind,ro /run /run
rm -rf "$TMP/saved" && cp -r $place "$TMP/saved"
zmem -v
check 'a /run that is read-only' kept
umount /run

# Nobody has nothing to do with it.
rm -rf $place
run as_nobody "$ZMEM" -v
check 'nobody leaves nothing' [ ! -e $place ]
# A full disk: nothing is kept, and nothing is lost.
mount -t tmpfs -o mode=700,size=4k tmpfs $(mkdir -m 700 $place && echo $place)
zmem
zmem
zmem -v
expect_rc 'a full disk' 0
check 'a full disk: nothing is kept' [ "$(files +1k)" = 0 ]
umount $place
