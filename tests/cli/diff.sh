#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# diff: two moments, two files, then and now; the rows add up to the change of the totals that
# --replay shows; /proc has the growth of a process that we make grow.
. "$(dirname "$0")/../support/cli.sh"

dir=$TMP/kept
user=$(id -un)
# A process that grows by 64 MiB at a signal, one that ends, and one that begins.
cat >"$TMP/grow.py" <<'END'
import signal
kept = bytearray(8 << 20)
def grow(*_):
    global more
    more = bytearray(64 << 20)
    print("grew", flush=True)
signal.signal(signal.SIGUSR1, grow)
print("ready", flush=True)
while True:
    signal.pause()
END
"$PYTHON" "$TMP/grow.py" >"$TMP/said" &
grows=$!
sleep 1000 &
ends=$!
trap 'kill $grows $ends $begins 2>/dev/null; lib_cleanup' EXIT
wait_until grep -q ready "$TMP/said"
works 'record before' record "$TMP/before.zmem" -q
zmem record --keep 1h "$dir" -c 1 -q
sleep 2.1 # time itself: moments are typed in seconds
kill -USR1 $grows
wait_until grep -q grew "$TMP/said"
kill $ends
wait $ends 2>/dev/null
sleep 1000 &
begins=$!
rss=$(awk '/^RssAnon/ { print $2 * 1024 }' /proc/$grows/status)
zmem record "$TMP/after.zmem" -q
zmem record --keep 1h "$dir" -c 1 -q

# totals FILE: the sum of PSS and swap.
totals() {
	"$PROGRAM" --replay "$1" -J -q | jq .totals.pss_swap_bytes
}

for key in '' name user unit container cgroup user,name; do
	works "two files${key:+ by $key}" diff "$TMP/before.zmem" "$TMP/after.zmem" -J -s rss_anon ${key:+-g $key}
	expect_json "two files${key:+ by $key}: the rows add up" \
		'([.rows[].change_bytes // 0] | add) == .totals.change_bytes and
		.totals.after_bytes - .totals.before_bytes == .totals.change_bytes and
		([.rows[].missing_processes] | add) == .totals.missing_processes'
	expect_json "two files${key:+ by $key}: the change of the totals that --replay shows" \
		'.totals | .missing_processes > 0 or .change_bytes == $after - $before' \
		--argjson before "$("$PROGRAM" --replay "$TMP/before.zmem" -Jq | jq .totals.rss_anon_bytes)" \
		--argjson after "$("$PROGRAM" --replay "$TMP/after.zmem" -Jq | jq .totals.rss_anon_bytes)"
done
zmem diff "$TMP/before.zmem" "$TMP/after.zmem" -J -g user,name
expect_json 'several keys: each has a key of its own' '.group_by == "user,name" and
	all(.rows[]; .user + " / " + .name == .key) and (.rows | map([.user, .name]) | length == (unique | length))'
says 'several keys: columns of CSV' '^state,.*,missing_processes,user,name$' diff "$TMP/before.zmem" "$TMP/after.zmem" -F csv -g user,name
zmem diff "$TMP/before.zmem" "$TMP/after.zmem" -J
if need counters 'classes of RAM'; then
	expect_json 'classes of RAM' '.ram | length > 0 and all(.[]; .change_bytes == .after_bytes - .before_bytes)'
fi
expect_json 'PSS and swap' '.counter == "pss_swap" and .group_by == null'
expect_json 'the totals' '.totals | .missing_processes > 0 or
	(.before_bytes == $before and .after_bytes == $after)' \
	--argjson before "$(totals "$TMP/before.zmem")" --argjson after "$(totals "$TMP/after.zmem")"
# The shares of the pages of the interpreter, 8 MB, change as others begin and end.
expect_json 'what grew' '.rows[] | select(.pid == $pid) | .state == "grew" and .change_bytes >= 59000000 and
	.change_bytes < 75000000 and .user == $user' --argjson pid $grows --arg user "$user"
expect_json 'what ended' '.rows[] | select(.pid == $pid) | .state == "ended" and .after_bytes == 0 and
	.change_bytes == -.before_bytes' --argjson pid $ends
expect_json 'what began' '.rows[] | select(.pid == $pid) | .state == "began" and .before_bytes == 0' \
	--argjson pid $begins
expect_json 'the largest change first' '[.rows[].change_bytes // 0 | fabs] | . == (sort | reverse)'
zmem diff "$TMP/before.zmem" "$TMP/after.zmem" -J -s rss_anon -f grow.py -u "$user"
expect_json 'the value of /proc' '.rows[] | select(.pid == $pid) | .after_bytes == $rss' --argjson pid $grows --argjson rss "$rss"

zmem diff "$dir" --from -1h --to -0s
check 'before the recording' test "$rc" = 3
zmem diff "$dir" --to -0s -J -s rss_anon
expect_json 'two moments of a directory' '.rows[] | select(.pid == $pid) | .state == "grew" and .change_bytes >= 66000000' \
	--argjson pid $grows
zmem diff "$dir" -J -s rss_anon
expect_json 'then and now' '(.rows[] | select(.pid == $pid) | .state == "grew" and .change_bytes >= 66000000) and
	.to_ms > .from_ms and .host.name' --argjson pid $grows
zmem diff "$TMP/after.zmem" "$TMP/before.zmem" -J
expect_json 'in the order of the files' '.to_ms < .from_ms and
	(.rows[] | select(.pid == $pid) | .state == "shrank")' --argjson pid $grows
zmem diff "$dir" --from -0s --to -0s -J
expect_json 'a snapshot and itself' '.totals.change_bytes == 0 and any(.rows[]; .state == "same") and
	all(.rows[]; .state == if .missing_processes == 0 then "same" else null end)'
zmem diff "$dir" --from -0s --to -0s
equal 'a snapshot and itself: no row but the sums' "$(grep -vc 'not read in one of the snapshots$' "$TMP/out")" 4

zmem diff "$TMP/before.zmem" "$TMP/after.zmem" -F ndjson -g name
while read -r line; do
	"$PYTHON" "$SUPPORT/validate_json.py" --schema "$O/schema/zmem.ndjson.schema.json" <<<"$line" || echo "$line"
done < <(sed -n '1p; $p' "$TMP/out") >"$TMP/invalid" 2>&1
equal 'NDJSON: valid' "$(cat "$TMP/invalid")" ''
equal 'NDJSON: the last line' "$(tail -n 1 "$TMP/out" | jq -r .type)" diff
zmem diff "$TMP/before.zmem" "$TMP/after.zmem" -a
check 'the table' grep -qE "^ *$grows +$user +\+(5[7-9]|6[0-9]|7[01])\.[0-9] MiB .* grew +" "$TMP/out"
# unit/test_report_diff.c has what a table leaves out.
refused 'no such file' 1 'No such file' -q diff "$TMP/none.zmem"
refused 'a moment that is none' 2 '--from x: not a time' diff "$dir" --from x -q
refused 'an event that is none' 3 'the recording has [0-9]* event' diff "$dir" --from event:99 -q
# Rules name what is taken now.
for now in "$TMP/after.zmem" '--to -0s'; do
	# shellcheck disable=SC2086 # words
	refused "--apps, $now" 2 '--apps cannot be combined with two recorded snapshots' diff "$TMP/before.zmem" $now \
		-g app --apps "$TMP/none.apps"
done
first=$("$PROGRAM" watch --replay "$dir" -F ndjson -q | jq -s '[.[] | .timestamp_ms // empty] | min / 1000 | ceil')
refused 'moments the wrong way round' 2 'is before --from' diff "$dir" --from -0s --to "$(date -d "@$first" +%Y-%m-%dT%H:%M:%S)"
