#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# --replay of recordings that are not of this machine: one of a guest, and what others made of it.
. "$(dirname "$0")/../support/cli.sh"

here=$(realpath "$(dirname "$0")/..")
guest=$here/fixtures/recordings/guest-6.12.zmem
golden=$here/golden/replay_guest-6.12.json
golden_compare=$here/golden/replay_guest-6.12_compare.json
edited=$TMP/edited

# edit CHANGE…: of the guest's recording makes $edited.
edit() {
	check 'edited' "$PYTHON" "$SUPPORT/recording.py" edit "$guest" "$edited" "$@"
}

# ---- the guest's ----

zmem --replay "$guest" --json -o +cmdline
expect_rc 'a guest' 0
expect_json 'a guest: a document' '.host.kernel_release[:5] == "6.12." and .host.cpus == 4'
sed 's/"tool":{[^}]*}/"tool":{}/' "$TMP/out" >"$TMP/mine"
[ "${UPDATE_GOLDEN:-}" != 1 ] || cp "$TMP/mine" "$golden"
check 'a guest: to the byte' diff "$golden" "$TMP/mine"
zmem --replay "$guest" --json -o +cmdline
sed 's/"tool":{[^}]*}/"tool":{}/' "$TMP/out" >"$TMP/again"
check 'a guest: twice the same' cmp "$TMP/mine" "$TMP/again"
zmem --replay "$guest" -a -w -o pid,user,swap_shmem,pss,rss,cgroup,unit,pss_source,name,cmdline
expect_rc 'a guest: a table' 0
expect_printable 'a guest: hostile names reach no terminal' "$TMP/out"
expect_out 'a guest: its unit' 'test\.service'
zmem compare --replay "$guest" --json -a
expect_rc 'a guest: compared' 0
sed 's/"tool":{[^}]*}/"tool":{}/' "$TMP/out" >"$TMP/mine"
[ "${UPDATE_GOLDEN:-}" != 1 ] || cp "$TMP/mine" "$golden_compare"
check 'a guest: compared, to the byte' diff "$golden_compare" "$TMP/mine"
expect_json 'a guest: compared, what it cost then' '.summary.different == 0 and .summary.same > 500 and
	.cost.proc_us > .cost.bpf_us and .cost.bpf_us > 0 and .cost.proc_files > 50'
zmem compare --replay "$guest" -p 1 --verify 0
expect_rc 'a guest: compared, one process without smaps_rollup' 0
expect_out 'a guest: compared, that one' '^1 process, [0-9]+ figures: [0-9]+ same'
for options in '-s swap_pss -r' '-s cgroup,pid' '-n 1' '-n 7 -s pss_swap' '-n 5 --pss rollup' \
	'-f mkmem' '-f .' '-u 0' '-p 1' '--total' '--pss kernel' '--pss none -s user' '--verify all'; do
	# shellcheck disable=SC2086
	zmem --replay "$guest" $options
	expect_rc "a guest: $options" 0
	expect_printable "a guest: $options: printable" "$TMP/out"
	# shellcheck disable=SC2086
	zmem --replay "$guest" $options --json
	expect_json "a guest: $options: a document"
done
zmem --replay "$guest" -n 5 --json
equal 'a guest: --top is exact' "$(jq -c '[.processes[].pid]' "$TMP/out")" \
	"$(jq -c '[.processes[:5][].pid]' "$golden")"

# ---- a difference that was recorded ----

pid=$(jq '[.processes[] | select(.pss_source == "kernel" and .name == "mkmem")][0].pid' "$golden")
wrong='Rss: 4 kB\nPss: 4 kB\nSwap: 0 kB\nSwapPss: 0 kB\n'
edit "$pid/smaps_rollup=$wrong" "$pid/smaps_rollup+=$wrong" "$pid/smaps_rollup+=$wrong" \
	"$pid/smaps_rollup+=$wrong" "$pid/smaps_rollup+=$wrong" "$pid/smaps_rollup+=$wrong" \
	"$pid/smaps_rollup+=$wrong"
zmem --replay "$edited" --json
expect_rc 'different, six times: exit code' 4
expect_json 'different, six times: counted' '.collection.cross_check.different == 1'
expect_err 'different, six times: told' "PID $pid: PSS [0-9]+ bytes from the kernel, 4096 from smaps_rollup"
edit "$pid/smaps_rollup=$wrong" "$pid/smaps_rollup+=$wrong" "$pid/smaps_rollup+=$wrong" \
	"$pid/smaps_rollup+=$wrong" "$pid/smaps_rollup+=$wrong" "$pid/smaps_rollup+=$wrong"
zmem --replay "$edited" --json
expect_rc 'different, and then there is no more of it: exit code' 0
expect_json 'different, and then there is no more of it: nobody knows' '.collection.cross_check |
	.different == 0 and .moved == 1'
zmem --replay "$edited" --json --verify 0
expect_json 'different: nobody asked' '.collection.cross_check | . == null or .checked == 0'

# ---- lies ----

edit 'host/name=\x1b[31m\xff\nx' 'user/0=\x1b]0;title\x07' 'source/name=\x1b[2J' 'zram=\x1b[0m 1 2 3\n'
zmem --replay "$edited" --json
expect_json 'hostile words: a document' '.processes | length > 3'
zmem --replay "$edited" -v
expect_printable 'hostile words: on stdout' "$TMP/out"
expect_printable 'hostile words: on stderr' "$TMP/err"
mkdir "$TMP/dir" && chmod 777 "$TMP/dir"
run as_nobody "$ZMEM" -q record "$TMP/dir/rec"
check 'why BPF did not work, edited' "$PYTHON" "$SUPPORT/recording.py" edit "$TMP/dir/rec" "$edited" \
	'diag/what=\x1b[2J' 'diag/why=\x1b[31mred' 'diag/todo=\x9b0m'
zmem --replay "$edited" -v
expect_rc 'hostile reasons' 0
expect_printable 'hostile reasons: on stdout' "$TMP/out"
expect_printable 'hostile reasons: on stderr' "$TMP/err"
expect_err 'hostile reasons: all the same' 'red'
edit 'source/origin=elsewhere'
refused 'an origin that is none' 1 'edited: it is damaged' --replay "$edited"
edit 'source/page_size=0'
refused 'pages of no bytes' 1 'edited: it is damaged' --replay "$edited"
edit 'source/name-'
refused 'nothing of a source' 1 'edited: it is damaged' --replay "$edited"
edit 'records=\x02\x00\x00\x00\x01\x00\x00\x00'
refused 'a list that turns back' 1 'edited: it is damaged' --replay "$edited"
edit 'records-'
refused 'no list' 1 'edited: it is damaged' --replay "$edited"
edit '1/record=nonsense'
refused 'a record that is none' 1 'edited: it is damaged' --replay "$edited"
edit 'records='
zmem --replay "$edited" --json
expect_json 'nobody there' '.processes == []'
edit 'meminfo=nonsense' 'time_ms=-1' 'duration_us=x' 'host/boot_ms=99999999999999999999' \
	'session/pss=x' 'session/pid=x' "$pid/smaps_rollup=x"
zmem --replay "$edited" --json
expect_json 'figures that are none' '.system.memory_total_bytes == null'

# ---- damage ----

damaged() { # NAME ERE: $edited
	refused "$1" 1 "edited: $2" --replay "$edited"
}
: >"$edited"
damaged 'empty' 'it is empty'
for size in 1 8 12 31 32 60 1000 $(($(stat -c %s "$guest") - 1)); do
	head -c "$size" "$guest" >"$edited"
	damaged "the first $size bytes" 'it is cut off'
done
for at in 9 30 36 40 100 5000 40000; do
	cp "$guest" "$edited"
	printf '\377' | dd of="$edited" bs=1 seek="$at" conv=notrunc status=none
	damaged "byte $at is another" '(it is damaged|made by a newer|it is cut off)'
done
cp "$guest" "$edited"
printf '\002' | dd of="$edited" bs=1 seek=8 conv=notrunc status=none
damaged 'a newer one' 'made by a newer zmem-bpf \(format 2; this one reads 1\)'
cp "$guest" "$edited"
echo more >>"$edited"
damaged 'more behind it' 'it is damaged \(more than belongs to it'
refused 'a text' 1 'not a recording' --replay "$0"
refused 'a program' 1 'not a recording' --replay "$ZMEM"
refused 'a file without end' 1 'not a recording' --replay /dev/zero
refused 'a directory' 1 'Is a directory' --replay "$TMP"
refused 'no file' 1 'No such file' --replay "$TMP/none"
refused 'no name' 1 'No such file' --replay ''
chmod 600 "$edited"
run as_nobody "$ZMEM" --replay "$edited"
expect_rc "another one's file" 1
expect_err "another one's file: the reason" 'Permission denied'
