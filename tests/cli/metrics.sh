#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# -F openmetrics and prometheus: which groups, how many, what is refused. tests/metrics checks the texts
# with programs of Prometheus.
. "$(dirname "$0")/../support/cli.sh"

guest=$(realpath "$(dirname "$0")/..")/fixtures/recordings/guest-6.12.zmem
edited=$TMP/edited

# labels [METRIC]: the groups of the last run, a line each.
labels() {
	sed -n "s/^${1:-zmem_group_processes}{group=\"\(.*\)\"} .*/\1/p" "$TMP/out"
}

# value SERIES: its value in the last run.
value() {
	awk -v series="$1" 'index($0, series " ") == 1 { print $NF }' "$TMP/out"
}

# json ARG…: writes JSON of the same recording to $TMP/json.
json() {
	cp "$TMP/out" "$TMP/kept"
	zmem -q -J --replay "$guest" "$@"
	mv "$TMP/out" "$TMP/json"
	mv "$TMP/kept" "$TMP/out"
}

# ---- which groups ----

zmem --replay "$guest" -F openmetrics
expect_rc 'openmetrics: exit code' 0
equal 'openmetrics: the end' "$(tail -n 1 "$TMP/out")" '# EOF'
check 'openmetrics: units' grep -qx '# UNIT zmem_group_swap_bytes bytes' "$TMP/out"
check 'openmetrics: the build is an info' grep -qx '# TYPE zmem_build info' "$TMP/out"
expect_printable 'openmetrics: printable' "$TMP/out"
cp "$TMP/out" "$TMP/default"
zmem --replay "$guest" -F openmetrics -g name
check 'the default is -g name' cmp "$TMP/default" "$TMP/out"
json -g name
equal 'few groups: all' "$(labels | wc -l)" "$(jq '.groups | length' "$TMP/json")"
equal 'PSS equals JSON' "$(value 'zmem_group_memory_proportional_bytes{group="mkmem"}')" \
	"$(jq '.groups[] | select(.group == "mkmem") | .pss_bytes' "$TMP/json")"
zmem --replay "$guest" -F prometheus
refuse_out 'prometheus: no end' EOF
refuse_out 'prometheus: no units' '# UNIT'
check 'prometheus: counters end in _total' grep -qx '# TYPE zmem_collect_errors_total counter' "$TMP/out"
expect_printable 'prometheus: printable' "$TMP/out"
# sum METRIC: the sum of all its series.
sum() {
	echo $(($(sed -n "s/^$1{.* //p" "$TMP/out" | paste -sd+)))
}
for key in user unit container cgroup; do
	zmem --replay "$guest" -F prometheus -g "$key"
	expect_rc "-g $key: exit code" 0
	check "-g $key: zmem_source has it" grep -q "group_by=\"$key\"" "$TMP/out"
	json -g "$key"
	equal "-g $key: each process in a group" "$(sum zmem_group_processes)" "$(jq .totals.processes "$TMP/json")"
done
zmem --replay "$guest" -F prometheus -g container
equal 'processes without a container' "$(labels)" none
zmem --replay "$guest" -F prometheus -g user --numeric
equal 'users by number' "$(labels)" 0
check 'edited' "$EDIT" edit "$guest" "$edited" pss=none
zmem --replay "$edited" -F prometheus
refuse_out 'no PSS: no PSS, no USS' 'zmem_group_memory_(proportional|unique)'
equal 'no PSS: no proportional swap' "$(value 'zmem_group_swap_proportional_bytes{group="mkmem"}')" ''
json -g name --replay "$edited"
equal 'no PSS: missing processes' "$(value 'zmem_group_proportional_missing_processes{group="mkmem"}')" \
	"$(jq '.groups[] | select(.group == "mkmem") | .pss_missing_processes' "$TMP/json")"
zmem --replay "$guest" -F prometheus
refuse_out 'no command line, no pid' 'cmdline|pid'

# ---- how many ----

zmem --replay "$guest" -F prometheus -n 2 -s swap
equal '-n 2 -s swap: two groups and other' "$(labels | sed -n '1p;3p' | paste -sd ' ')" 'mkmem other'
json -g name
equal '-n 2: the sum is complete' "$(sum zmem_group_memory_proportional_bytes)" \
	"$(jq .totals.pss_bytes "$TMP/json")"
zmem --replay "$guest" -F prometheus -f '^mkmem'
equal '-f: matching names' "$(labels | head -n 1) $(labels | grep -c busybox)" 'mkmem 0'
zmem --replay "$guest" -F openmetrics -f '^no-such-name'
equal '-f: no match' "$rc $(labels | wc -l) $(tail -n 1 "$TMP/out")" '0 0 # EOF'

# A program for each of 120 names.
for i in $(seq 120); do
	cp /bin/sleep "$TMP/many$i"
	"$TMP/many$i" 600 &
	many[i]=$!
done
wait_for eval '[ "$(cat /proc/[0-9]*/comm 2>/dev/null | grep -c "^many")" = 120 ]'
for options in '' -a '-n 110'; do
	# shellcheck disable=SC2086
	zmem -q -F prometheus -f '^many' $options
	labels >"$TMP/labels$options"
done
kill "${many[@]}"
wait "${many[@]}" 2>/dev/null
equal 'the default is 100 groups' "$(wc -l <"$TMP/labels") $(tail -n 1 "$TMP/labels")" '101 other'
equal '-a: all' "$(grep -c '^many' "$TMP/labels-a") $(grep -c other "$TMP/labels-a")" '120 0'
equal '-n 110: 110' "$(grep -c '^many' "$TMP/labels-n 110")" 110

# ---- a program with the name other ----

cp /bin/sleep "$TMP/other"
"$TMP/other" 60 &
other=$!
wait_for grep -qx other "/proc/$other/comm"
zmem -q -F prometheus -p "$other,$$" -n 1 -r -s rss
equal 'a program with the name other' "$(labels | paste -sd ' ')" 'other_ other'
kill "$other"
wait "$other" 2>/dev/null

# ---- hostile names ----

check 'edited' "$EDIT" edit "$guest" "$edited" $'user="} 1\nzmem_lie 1\\\x1b[2J\xff'
zmem --replay "$edited" -F openmetrics -g user
equal 'hostile names' "$(labels)" '\"} 1\nzmem_lie 1\\'$'\xef\xbf\xbd''[2J'$'\xef\xbf\xbd'
expect_printable 'hostile names: printable' "$TMP/out"

# ---- files ----

zmem --replay "$guest" -F prometheus --output "$TMP/zmem.prom"
expect_rc '--output: exit code' 0
zmem --replay "$guest" -F prometheus
check '--output: the same' diff <(grep -v duration "$TMP/out") <(grep -v duration "$TMP/zmem.prom")

# ---- refused ----

refused '-g cmdline' 2 'command lines' -F openmetrics -g cmdline
refused '-n 1001' 2 'at most 1000' -F prometheus -n 1001
refused '--total' 2 '--total' -F prometheus --total
refused '--tree' 2 '--tree' -F prometheus --tree
for command in compare system 'maps 1' doctor "record $TMP/recording"; do
	# shellcheck disable=SC2086
	refused "$command has no metrics" 2 'format' $command -F openmetrics
done
zmem --replay "$guest" -F prometheus -n 1000
expect_rc '-n 1000' 0
