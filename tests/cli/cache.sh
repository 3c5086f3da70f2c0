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
# forge HEAD MAPS PROGRAM: numbers for fields, with the right checksum: of maps, programs and bytes of types, the number
# of copies of the first map, and of instructions and functions of the first program. '-' leaves a field.
forge() {
	python3 - "$TMP/kept" "$file" "$@" <<-'END'
		import struct, sys, zlib
		source, target, head, copies, program = sys.argv[1:]
		data = bytearray(open(source, "rb").read())
		_, maps, _, types = struct.unpack_from("<4I", data, 64)
		first = 80 + 56 * maps + (types + 7) // 8 * 8 + 48
		for at, fields in ((68, head), (first, program)):
		    for i, field in enumerate(fields.split(",")):
		        if field != "-":
		            struct.pack_into("<I", data, at + 4 * i, int(field))
		data[80:80] = data[80:136] * int(copies)
		struct.pack_into("<I", data, 64, zlib.crc32(data[80:]))
		open(target, "wb").write(data)
	END
}
forge -,-,- 0 -,-
zmem -v
check 'a file with the right checksum is used' kept
for forged in '60,-,- 52 -,-' '2147483647,-,- 0 -,-' '-,4294967295,- 0 -,-' '-,0,- 0 -,-' '-,-,4294967288 0 -,-' \
	'-,-,- 0 4294967295,-' '-,-,- 0 100000,-' '-,-,- 0 -,536870912'; do
	# shellcheck disable=SC2086
	forge $forged
	ignored "forged: $forged"
done
rm "$file" && cp "$TMP/kept" "$TMP/elsewhere" && ln -s "$TMP/elsewhere" "$file"
ignored 'a symbolic link'
check 'what the link leads to is as it was' cmp -s "$TMP/kept" "$TMP/elsewhere"
rm -f "$file" && mkfifo "$file"
ignored 'a FIFO'
rm -f "$file" && mkdir "$file"
ignored 'a directory'
rmdir "$file"
head -c 64 "$TMP/kept" >"$file"
ignored 'a file that could not be filled'
check 'what could not be filled is not tried again' [ "$(stat -c %s "$file")" = 64 ]
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

# With the fewest files that the first run needs, no later one has less of BPF.
counters() {
	rm -f "$TMP/err"
	(ulimit -n "$1" && exec "$ZMEM" -v) >/dev/null 2>"$TMP/err"
	grep -o 'counters come from bpf with pages' "$TMP/err"
}
rm -rf $place
files=6
until [ -n "$(counters $files)" ] || [ $files = 40 ]; do
	rm -rf $place
	files=$((files + 1))
done
check "$files files are enough" [ $files -lt 40 ]
for number in second third fourth; do
	equal "$files files: the $number run" "$(counters $files)" 'counters come from bpf with pages'
done

if sanitized; then
	skip 'a memory limit of the cgroup' 'sanitizers need more memory'
	exit 0
fi
# A cgroup with the memory of a first run has that of a second one.
v1=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ {print $2; exit}' /proc/mounts)
v2=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/mounts)
group= limit=
if [ -n "$v1" ] && mkdir "$v1/zmem-cache-$$" 2>/dev/null; then
	group=$v1/zmem-cache-$$ limit=memory.limit_in_bytes
elif grep -qw memory "$v2/cgroup.subtree_control" 2>/dev/null && mkdir "$v2/zmem-cache-$$" 2>/dev/null; then
	group=$v2/zmem-cache-$$ limit=memory.max
fi
if [ -z "$group" ]; then
	skip 'a memory limit of the cgroup' 'there is no memory controller to be had'
	exit 0
fi
end_cgroup() {
	rmdir "$group"/inner "$group"
	lib_cleanup
}
trap end_cgroup EXIT
mkdir "$group/inner"
echo $((12 << 20)) >"$group/$limit"
rm -rf $place
for number in first second third; do
	# Also where the limit is that of a cgroup above.
	# shellcheck disable=SC2016
	run bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group/inner" "$ZMEM" -v
	expect_rc "12 MiB in the cgroup: the $number run" 0
done
check '12 MiB in the cgroup: nothing is kept' [ "$(files +1k)" = 0 ]
zmem
zmem -v
check 'without the limit it is' kept
