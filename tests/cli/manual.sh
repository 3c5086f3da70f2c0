#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The man page: mandoc has nothing to say about it, it has the commands, options and exit codes of
# --help and no others, and its examples run.
. "$(dirname "$0")/../support/cli.sh"

if ! command -v mandoc >/dev/null; then
	skip 'man page' 'no mandoc (make deps)'
	exit 0
fi
page=$SUPPORT/../../src/dist/zmem-bpf.8

# section NAME: of the page as it is read, its own lines alone.
section() {
	awk -v name="$1" '/^[A-Z]/ { inside = $0 == name; next } inside' "$TMP/page"
}

equal 'lint' "$(mandoc -T lint -W warning "$page" 2>&1)" ''
mandoc -T ascii -O width=200 "$page" | sed 's/.\x08//g' >"$TMP/page"
zmem --help
cp "$TMP/out" "$TMP/help"

# An option's line: what stands before the text, without spaces before it.
sed -n 's/^  \( *-[^ ]*.*\)/\1/p' "$TMP/help" | sed 's/^ *//; s/   *.*//' |
	sed -E 's/^((-., )?--[^ ]+( [A-Z][^ a-z]*)?).*/\1/' >"$TMP/of_help"
section OPTIONS | grep -E '^ {5}-' | sed -E 's/^ +//; s/  .*//' >"$TMP/of_page"
check 'options, their letters and arguments' diff "$TMP/of_help" "$TMP/of_page"
check 'there are options' [ "$(wc -l <"$TMP/of_page")" -gt 30 ]

sed -n '/^usage/,/^$/ s/^[ a-z:]*zmem-bpf \[\{0,1\}\([a-z]*\).*/\1/p' "$TMP/help" | sort >"$TMP/of_help"
sed -n '/^The commands/,/^\.El/ s/^\.It Cm //p' "$page" | sort >"$TMP/of_page"
check 'commands' diff "$TMP/of_help" "$TMP/of_page"
check 'there are commands' [ "$(wc -l <"$TMP/of_page")" -gt 8 ]
grep -A 1 '^Exit codes' "$TMP/help" | grep -oE '\b[0-9] [a-z]' | cut -c 1 >"$TMP/of_help"
section 'EXIT STATUS' | sed -nE 's/^ {5}([0-9]) .*/\1/p' >"$TMP/of_page"
check 'exit codes' diff "$TMP/of_help" "$TMP/of_page"

# Words of choices: as those who refuse another one say.
for option in group-by format color pss source delta; do
	zmem "--$option" '?'
	for word in $(sed -n 's/.* it is one of \(.*\) (.*/\1/p' "$TMP/err" | tr -d ,); do
		check "--$option $word is there" grep -qE "(Li|[ ,(]) ?$word\\b" \
			<(sed -n "/^\.It .*Fl -$option/,/^\.It/p" "$page")
	done
done

# Keys of maps.
keys=$(sed -n 's/^has its own keys: \(.*\),$/\1/p' "$page" | sed 's/,\| and / /g')
check 'maps has keys' [ "$(wc -w <<<"$keys")" -gt 10 ]
for key in $keys; do
	zmem maps $$ -s "$key"
	expect_rc "maps -s $key" 0
done
for key in procs maps; do
	zmem maps --by-file -p $$ -s "$key"
	expect_rc "maps --by-file -s $key" 0
done

mkdir "$TMP/here"
section EXAMPLES | sed -n 's/^ *\(zmem-bpf .*\)/\1/p' >"$TMP/examples"
equal 'examples' "$(wc -l <"$TMP/examples")" "$(grep -c '^\.Dl' "$page")"
while read -r -u 3 line; do
	(cd "$TMP/here" && PATH=$TMP:$PATH timeout -s KILL "$PATIENCE" bash -o pipefail -c "$line") \
		>"$TMP/out" 2>"$TMP/err"
	rc=$? err=$(cat "$TMP/err")
	expect_rc "$line" 0
	case $line in
	*--output* | *record*) check "$line: the file" [ -s "$TMP/here/${line##* }" ] ;;
	*) check "$line: says something" [ -s "$TMP/out" ] ;;
	esac
done 3<"$TMP/examples"
