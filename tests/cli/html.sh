#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# -F html: the data of the page equal JSON, and names never become markup. tests/browser tests the looks
# and clicks.
. "$(dirname "$0")/../support/cli.sh"

guest=$(realpath "$(dirname "$0")/..")/fixtures/recordings/guest-6.12.zmem
edited=$TMP/edited

# page FILE ARG…: writes a page to FILE; stderr must be empty.
page() {
	local file=$1
	shift
	zmem -q -F html "$@"
	cp "$TMP/out" "$file"
	[ "$rc" = 0 ] || not_ok "-F html $*" "exit code $rc; stderr: $err"
	[ ! -s "$TMP/err" ] || not_ok "-F html $*" "says: $err"
}

# same_as_json NAME ARG…
same_as_json() {
	local name=$1
	shift
	# JSON always has all columns; command lines must be added.
	zmem -q -J "${@/#pid,rss,cmdline/+cmdline}"
	cp "$TMP/out" "$TMP/json"
	page "$TMP/page" "$@"
	check "$name: the page equals JSON" "$PYTHON" -B "$SUPPORT/check_html.py" "$TMP/page" "$TMP/json"
}

# data JQ: applies a filter to the data of the last page.
data() {
	sed -n '/id="data">/,/<\/script>/p' "$TMP/page" | sed '1s/.*id="data">//; $s/<\/script>//' | jq -r "$1"
}

for options in '-a' '-n 5' '-n 1 -s swap_pss' '-r -s pid' '-f mkmem' '-u 0' '-p 1' '-f no-such-name'; do
	# shellcheck disable=SC2086
	same_as_json "a guest $options" --replay "$guest" $options
done
for some in none half; do
	check 'edited' "$EDIT" edit "$guest" "$edited" "pss=$some"
	same_as_json "a guest, PSS of $some" --replay "$edited"
	same_as_json "a guest, PSS of $some, -n 5" --replay "$edited" -n 5
done
same_as_json 'a guest' --replay "$guest" -o pid,rss,cmdline
equal '-o: the columns' "$(data '.shown | join(",")')" pid,rss,cmdline
check '-o cmdline: command lines' test "$(data '[.columns[].key | select(. == "cmdline")] | length')" = 1

# Rows are processes for every grouping.
zmem -q -J --replay "$guest"
cp "$TMP/out" "$TMP/json"
for key in name user unit container cgroup; do
	page "$TMP/page" --replay "$guest" -g "$key"
	check "-g $key: the processes" "$PYTHON" -B "$SUPPORT/check_html.py" "$TMP/page" "$TMP/json"
	equal "-g $key: the initial grouping" "$(data .group)" "$key"
done
page "$TMP/page" --replay "$guest" -g cmdline
equal '-g cmdline: the initial grouping' "$(data .group)" cmdline
check '-g cmdline: command lines' test "$(data '[.columns[].key | select(. == "cmdline")] | length')" = 1
page "$TMP/page" --replay "$guest" -f mkmem
equal 'no command lines without an option' "$(data '[.columns[].key | select(. == "cmdline")] | length')" 0

page "$TMP/page" --replay "$guest" --total
equal '--total: no rows' "$(data .rows)" 0
check '--total: the sums' test "$(data '.others == .totals')" = true

check 'edited' "$EDIT" edit "$guest" "$edited" \
	$'host=</title><script>\xff' $'user=</script><img src=x onerror=y>\x1b&\n'
same_as_json 'hostile names' --replay "$edited"
equal 'hostile names: the first user' "$(data '.strings[(.columns[] | select(.key == "user").values)]' | head -n 1 |
	tr -d '\033')" '</script><img src=x onerror=y>&'
page "$TMP/page" --replay "$edited" --numeric
check 'hostile names: users by number' test "$(data '.columns[] | select(.key == "user").values')" = null

page "$TMP/first" --replay "$guest"
zmem --replay "$guest" -F html --output "$TMP/file"
expect_rc '--output: exit code' 0
check '--output: the same bytes' cmp "$TMP/first" "$TMP/file"
for command in compare system doctor "maps 1"; do
	# shellcheck disable=SC2086
	refused "$command has no html" 2 "${command%% *}.*--format" $command -F html
done
refused '--tree has no html' 2 '--tree' --tree -F html

if mkmem_begin anon shmem fork; then
	run_expect 0 'recorded' "$ZMEM" -q record "$TMP/recording"
	same_as_json 'this machine' --replay "$TMP/recording"
else
	not_ok mkmem 'did not start'
fi
