#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# --replay of recordings from other machines: of a guest, edited ones, corrupt ones.
. "$(dirname "$0")/../support/cli.sh"

here=$(realpath "$(dirname "$0")/..")
guest=$here/fixtures/recordings/guest-6.12.zmem
golden=$here/golden/replay_guest-6.12.json
edited=$TMP/edited

# edit CHANGE…: makes $edited from the recording of the guest.
edit() {
	check 'edited' "$EDIT" edit "$guest" "$edited" "$@"
}

# ---- a guest ----

works 'a guest' --replay "$guest" --json -o +cmdline
expect_json 'a guest: a document' '.host.kernel_release[:5] == "6.12." and .host.cpus == 4'
sed 's/"tool":{[^}]*}/"tool":{}/' "$TMP/out" >"$TMP/mine"
[ "${UPDATE_GOLDEN:-}" != 1 ] || cp "$TMP/mine" "$golden"
check 'a guest: the golden document' diff "$golden" "$TMP/mine"
works 'a guest: a table' --replay "$guest" -a -w -o pid,user,swap_shmem,pss,rss,cgroup,unit,pss_source,name,cmdline
expect_printable 'a guest: hostile names are printable' "$TMP/out"
expect_out 'a guest: its unit' 'test\.service'
in_unit=$(jq -c '[.processes[] | select(.unit == "test.service") | .pid]' "$golden")
for unit in test test.service 't[e]st' 'no-unit,te*' '*.service'; do
	zmem --replay "$guest" --unit "$unit" --json
	equal "a guest: --unit $unit" "$(jq -c '[.processes[].pid]' "$TMP/out")" "$in_unit"
done
works 'a guest: --unit of no process: exit code' --replay "$guest" --unit tes
expect_out 'a guest: the time of the snapshot' '^recorded 20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9:]{8}Z$'
expect_out 'a guest: --unit of no process: a sentence' '^no process matches --unit tes$'
warns 'a guest: the recording version' 'recorded by zmem-bpf 0\.[0-9.]+$' --replay "$guest" -v

# ---- hostile texts ----

edit $'host=\x1b[31m\xff\nx' $'user=\x1b]0;title\x07' $'zram=\x1b[0m'
tells 'hostile texts: a document' '.processes | length > 3' --replay "$edited" --json
for view in '' system '-g user' --tree; do
	# shellcheck disable=SC2086
	zmem $view --replay "$edited" -v
	expect_printable "hostile texts, ${view:-snapshot}: on stdout" "$TMP/out"
	expect_printable "hostile texts, ${view:-snapshot}: on stderr" "$TMP/err"
done
works 'hostile texts: a user is found by such a name' --replay "$edited" -u $'\x1b]0;title\x07'
edit process=none
tells 'no process' '.processes == []' --replay "$edited" --json
works 'no process: the machine' system --replay "$edited"
edit pss=none
zmem --replay "$edited" --json
expect_json 'no PSS: sorted by RSS' '.source.pss == "none" and
	([.processes[].rss_bytes] | . == (sort | reverse))'

# ---- corrupt recordings ----

damaged() { # NAME ERE: $edited
	refused "$1" 1 "edited: $2" --replay "$edited"
}
size=$(stat -c %s "$guest")
: >"$edited"
damaged 'empty' 'it is empty'
# unit/test_recording_damage.c has every length and every byte.
# The end is missing, or a part of it.
for cut in $((size - 32)) $((size - 1)); do
	head -c "$cut" "$guest" >"$edited"
	works "the first $cut bytes: the frame is shown" --replay "$edited" --json -o +cmdline
	sed -i 's/"tool":{[^}]*}/"tool":{}/' "$TMP/out"
	check "the first $cut bytes: the complete frame" diff "$golden" "$TMP/out"
done
expect_err 'the first bytes: a note' "edited: the recording is cut off after snapshot 1 at byte $((size - 32))$"
cp "$guest" "$edited"
printf '\003' | dd of="$edited" bs=1 seek=8 conv=notrunc status=none
damaged 'a newer one' 'it has format 3, this zmem-bpf reads format 2$'
printf '\x89ZMEM\r\n\x1a\1\0\0\0\6\0\0\0000.1.0\0\0\0\0\0\0\0crc.CHAP' >"$edited"
damaged 'an older one' 'recorded by zmem-bpf 0\.1\.0 in format 1: zmem-bpf 0\.1 can show it$'
cp "$guest" "$edited"
echo more >>"$edited"
works 'bytes behind the end' --replay "$edited"
expect_err 'bytes behind the end: a note' "the recording goes on behind its end after snapshot 1 at byte $size$"

# The second of three frames.
zmem record "$TMP/three" -q -c 3 -i 0.1 -p $$
second=$("$PYTHON" - "$TMP/three" <<'END'
import sys
data = open(sys.argv[1], "rb").read()
print(data.index(b"PART", data.index(b"PART") + 4))
END
)
cp "$TMP/three" "$edited"
printf '\377\377\377' | dd of="$edited" bs=1 seek="$((second + 40))" conv=notrunc status=none
lost="edited: the recording is corrupt: snapshot 2 at byte $second; what cannot be read is left out\$"
works 'the last frame needs the second: the first is shown' --replay "$edited"
expect_err 'the last frame needs the second: the reason' "$lost"
expect_err 'the last frame needs the second: which is shown' 'snapshot 1 of 3, '
expect_stderr_lines 'the last frame needs the second: lines' 2
works 'watch: the second frame is corrupt' watch --replay "$edited" -H
equal 'watch: the first frame is shown' "$(grep -c ' total$' "$TMP/out")" 1
expect_err 'watch: the second frame is named' "$lost"
expect_stderr_lines 'watch: a line' 1
works 'diff up to a corrupt frame' diff "$edited" --to -0s
expect_err 'diff up to a corrupt frame: it is named' "$lost"
head -c "$((second + 40))" "$TMP/three" >"$edited"
works 'cut off in the second frame: the first is shown' --replay "$edited"
expect_err 'cut off in the second frame: a note' "is cut off after snapshot 1 at byte $second$"
expect_stderr_lines 'cut off in the second frame: a line' 1

refused 'a program' 1 'not a recording' --replay "$ZMEM"
refused 'a file without end' 1 'not a recording' --replay /dev/zero
mkfifo "$TMP/fifo"
cat "$guest" /dev/zero >"$TMP/fifo" 2>/dev/null &
refused 'a pipe without end' 1 'fifo: of a pipe, 256 MiB are read at most: save the recording to a file$' --replay "$TMP/fifo"
wait
refused 'a directory' 1 'there is no recording in this directory' --replay "$TMP"
refused 'no file' 1 'No such file' --replay "$TMP/none"
chmod 600 "$edited"
if need users 'a file of another user'; then
	run as_nobody "$ZMEM" --replay "$edited"
	expect_rc "a file of another user" 1
	expect_err "a file of another user: the reason" 'Permission denied'
fi
