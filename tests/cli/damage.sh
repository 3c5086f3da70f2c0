#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What is damaged in a recording hides nothing else: each command shows the rest, and says once what it lacks.
. "$(dirname "$0")/../support/cli.sh"

# Three segments of four snapshots, 10 s from a segment to the next; each snapshot of the second one is that of a kill.
whole=$TMP/whole hurt=$TMP/hurt start=1700000000
mkdir -m 700 "$whole"
for n in 1 2 3; do
	zmem record --source proc --keep 1h "$TMP/$n" -c 4 -i 0.1 --dense 0 -q
	changes=("time=$((start + 10 * n))")
	[ $n != 2 ] || changes+=(kill=victim)
	check "segment $n" "$EDIT" edit "$TMP/$n/0000000001.zmem" "$whole/000000000$n.zmem" "${changes[@]}"
done

# hurt HOW SEGMENT FRAME: a copy of the recording with that damage.
hurt() {
	rm -rf "$hurt"
	cp -a "$whole" "$hurt"
	"$PYTHON" - "$hurt/000000000$2.zmem" "$1" "${3:-0}" <<'END'
import sys
name, how, frame = sys.argv[1:]
data = bytearray(open(name, "rb").read())
frames, at = [], int.from_bytes(data[12:16], "little")
while data[at:at + 4] == b"PART":
    if data[at + 4] in (1, 2):
        frames.append(at)
    at += 32 + int.from_bytes(data[at + 8:at + 12], "little")
at = frames[int(frame)]
if how == "zeros":
    data = bytes(len(data))
elif how == "every":
    for at in frames:
        data[at + 40] ^= 255
elif how == "cut":
    data = data[:at + 40]
else:
    at += {"payload": 40, "head": 0}[how]
    data[at:at + 3] = bytes(b ^ 255 for b in data[at:at + 3])
open(name, "wb").write(data)
END
}

# shows NAME NOTICES COMMAND…: it ends well, shows something, and says so often that something is left out.
shows() {
	local name=$1 notices=$2
	shift 2
	works "$name" "$@"
	check "$name: it shows something" test -s "$TMP/out"
	check "$name: it is said" grep -qE "^($notices)\$" <<<"$(grep -c 'left out' "$TMP/err")"
}

# Of the damage and how many snapshots and events with their groups stay. The first and the last snapshot are read by
# all commands, what is in the middle only by those that show it. The event with a snapshot that is cut off has the one before.
while read -r name how segment frame snapshots events at_ends; do
	hurt "$how" "$segment" "$frame"
	said=0
	[ "$at_ends" = no ] || said=1
	shows "$name: --at" "[0$said]" --replay "$hurt" --at -0s
	shows "$name: system" "[0$said]" system --replay "$hurt"
	for to in -0s -15s; do
		shows "$name: diff to $to" "[01]" diff "$hurt" --from -22s --to $to -a
	done
	shows "$name: incidents" '[01]' incidents "$hurt"
	shows "$name: incidents as JSON" '[01]' incidents "$hurt" -J
	equal "$name: events with their groups" "$(jq '[.events[] | select(.largest.name | length > 0)] | length' "$TMP/out")" "$events"
	shows "$name: the page" 1 incidents "$hurt" -F html
	shows "$name: watch" 1 watch --replay "$hurt"
	shows "$name: a series" 1 watch --replay "$hurt" -F ndjson
	equal "$name: snapshots" "$(grep -c '"type":"snapshot"' "$TMP/out")" "$snapshots"
	shows "$name: CSV" 1 watch --replay "$hurt" -F csv -o pid
	equal "$name: CSV: snapshots" "$(sed 1d "$TMP/out" | cut -d, -f1 | sort -u | wc -l)" "$snapshots"
	run timeout 60 env TERM=xterm "$PYTHON" "$SUPPORT/pty_run.py" 24 80 "$TMP/screen" "$ZMEM" top --replay "$hurt" -c 3 -i 0.1
	expect_rc "$name: top" 0
done <<'END'
the_last_snapshot payload 3 3 11 4 yes
the_head_of_the_last_snapshot head 3 3 11 4 yes
the_first_snapshot payload 1 0 8 4 yes
the_key_of_a_chain payload 2 0 8 0 no
the_snapshot_of_an_event payload 2 2 10 2 no
one_in_the_middle payload 1 2 10 4 no
a_segment_of_zeros zeros 2 0 8 0 yes
a_segment_that_is_cut cut 2 2 10 3 yes
END

# A time before the end of the recording is the same one for each command.
zmem --replay "$whole" --at -11s -J
equal 'a time before the end: the snapshot' "$(jq .timestamp_ms "$TMP/out")" $(((start + 22) * 1000))
zmem incidents "$whole" --at -11s -J
equal 'a time before the end: the event' "$(jq -c '[.events[].time_ms]' "$TMP/out")" "[$(((start + 22) * 1000))]"

# ---- events without a snapshot that can be read: the page has them ----

hurt every 2
rm "$hurt/0000000001.zmem" "$hurt/0000000003.zmem"
shows 'no snapshot is readable: the page' 1 incidents "$hurt" -F html
check 'no snapshot is readable: its events' "$PYTHON" - "$TMP/out" <<'END'
import json, re, sys
recording = json.loads(re.search('<script type="application/json" id="recording">(.*?)</script>', open(sys.argv[1]).read(), re.S)[1])
sys.exit(recording["points"] + recording["moments"] != [] or {e["victim"]["name"] for e in recording["incidents"]["events"]} != {"victim"} or
         sum(e["count"] for e in recording["incidents"]["events"]) != 4)
END
refused 'no snapshot is readable, and no event in this time: the page' 1 'corrupt' incidents "$hurt" -F html --since 2100-01-01

# ---- only when nothing can be shown, it is an error ----

rm -rf "$hurt"
mkdir -m 700 "$hurt"
cp "$whole/0000000001.zmem" "$hurt"
truncate -s 40 "$hurt/0000000001.zmem"
for command in '--replay' 'system --replay' 'watch --replay' 'diff -q' incidents; do
	# shellcheck disable=SC2086
	refused "nothing is left: $command" 1 'has no frames|has no snapshots|cut off' $command "$hurt"
done
