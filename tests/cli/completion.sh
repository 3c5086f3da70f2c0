#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completions in bash and zsh: these shells offer the right words at each position.
. "$(dirname "$0")/../support/cli.sh"

made=$O/completion
mkdir "$TMP/here" "$TMP/here/some_dir"
touch "$TMP/here/some file" "$TMP/here/records"
zmem --help
sed -n '/^usage/,/^$/ s/^[ a-z:]*zmem-bpf \[\{0,1\}\([a-z]*\).*/\1/p' "$TMP/out" | sort >"$TMP/commands"
# taken COMMAND: the options that its --help lists; of doctor also those with --compare.
taken() {
	zmem "$1" --help
	cp "$TMP/out" "$TMP/taken"
	[ "$1" != doctor ] || "$ZMEM" doctor --compare --help >>"$TMP/taken"
	sed -nE 's/^ +((-.), )?(--[a-z-]+).*/\2 \3/p' "$TMP/taken"
}
while read -r command; do
	taken "$command"
done <"$TMP/commands" | tr -s ' ' '\n' | grep . | sort -u >"$TMP/options"
zmem -o help
cut -d' ' -f1 "$TMP/out" | sort >"$TMP/columns"
zmem watch -o help
cut -d' ' -f1 "$TMP/out" | sort >"$TMP/changes"
check 'there are words' [ "$(cat "$TMP/options" "$TMP/commands" "$TMP/columns" | wc -l)" -gt 80 ]

# offers SHELL NAME WORDS: the words that the last completion offered, sorted.
offers() {
	equal "$1: $2" "$(sort -u "$TMP/offered" | tr '\n' ' ')" "$(tr -s ' ' '\n' <<<"$3" | grep . | sort -u | tr '\n' ' ')"
}

# ---- bash ----

# bash_words WORD…: the words of the line as split by bash; the last one is completed.
bash_words() {
	(cd "$TMP/here" && bash --norc -c '
		. "$0" || exit
		COMP_WORDS=(zmem-bpf "$@") COMP_CWORD=$#
		_zmem_bpf
		[ ${#COMPREPLY[@]} = 0 ] || printf "%s\n" "${COMPREPLY[@]}"' "$made/zmem-bpf.bash" "$@") \
		>"$TMP/offered" 2>"$TMP/err"
	[ ! -s "$TMP/err" ] || not_ok "bash: $*" "$(cat "$TMP/err")"
}

equal 'bash: it completes zmem-bpf' "$(bash --norc -c ". '$made/zmem-bpf.bash'; complete -p zmem-bpf")" \
	'complete -F _zmem_bpf zmem-bpf'
bash_words ''
offers bash 'commands' "$(cat "$TMP/commands")"
bash_words -b s
offers bash 'commands behind an option' 'snapshot system serve'
bash_words -F json s
offers bash 'commands behind an option and its argument' 'snapshot system serve'
bash_words -
offers bash 'options' "$(cat "$TMP/options")"
bash_words watch --n
offers bash 'long options' '--no-header --numeric --no-lock --nice'
while read -r command; do
	bash_words "$command" -
	offers bash "options of $command" "$(taken "$command")"
done <"$TMP/commands"
bash_words nonsense -
offers bash 'options of an unknown command' "$(cat "$TMP/options")"
bash_words doctor --comp
offers bash 'doctor --compare' --compare
bash_words watch ''
offers bash 'nothing behind a command' ''
for option in group-by format color pss source delta; do
	zmem $([ $option != delta ] || echo watch) "--$option" '?'
	words=$(sed -n 's/.* must be one of \(.*\) (.*/\1/p' "$TMP/err" | tr -d ,)
	check "bash: there are words of --$option" [ "$(wc -w <<<"$words")" -gt 1 ]
	bash_words "--$option" ''
	offers bash "--$option" "$words"
	bash_words "--$option" =
	offers bash "--$option=" "$words"
done
bash_words files -g ''
offers bash 'groups of files' 'fs mount kind dir'
bash_words -g user,con
offers bash 'several groups' user,container
bash_words --format = nd
offers bash '--format=nd' ndjson
for command in compare 'doctor --compare' maps record system watch; do
	# cli/options.sh: these are the formats that it takes.
	zmem $command -F '?'
	words=$(sed -n 's/.* must be one of \(.*\) (.*/\1/p' "$TMP/err" | tr -d ,)
	bash_words $command -F ''
	offers bash "formats of $command" "$words"
done
bash_words serve -F ''
offers bash 'formats of serve' ''
bash_words -Fnd
offers bash '-Fnd' -Fndjson
bash_words -o ''
offers bash 'columns' "$(cat "$TMP/columns") help"
bash_words -s ''
offers bash 'sort keys' "$(cat "$TMP/columns")"
bash_words watch -s ''
offers bash 'sort keys of watch' "$(cat "$TMP/changes")"
bash_words -o pid,rss_a
offers bash 'columns behind a comma' pid,rss_anon
bash_words -o +vsize,+pgt
offers bash 'appended columns' +vsize,+pgtables
bash_words -o +%p
offers bash 'percentages' +%pss
bash_words maps --by-file -s sw
offers bash 'keys of maps' 'swap swap_pss'
bash_words files -s si
offers bash 'keys of files' size
bash_words files -o +ho
offers bash 'columns of files' +holders
bash_words grow -o +li
offers bash 'columns of grow' +line
bash_words maps $$
check 'bash: pids of maps' grep -qx $$ "$TMP/offered"
bash_words -p "1,$$"
check 'bash: pids in a list' grep -qx "1,$$" "$TMP/offered"
bash_words -u root,nob
offers bash 'users' root,nobody
bash_words pin dae
offers bash 'groups' daemon
for line in 'record' '--output' '--replay' '--token-file'; do
	bash_words "$line" some
	equal "bash: files of $line" "$(sort "$TMP/offered" | tr '\n' /)" 'some file/some_dir/'
done
bash_words --output = rec
offers bash '--output=' records
bash_words serve --listen 127.0.0.1 : 80 --listen ''
offers bash 'nothing behind --listen' ''
bash_words --listen 127.0.0.1 : 80 se
offers bash 'a command behind an address' serve

# ---- zsh ----

need zsh 'completion of zsh' || exit 0
mkdir "$TMP/functions"
cp "$made/zmem-bpf.zsh" "$TMP/functions/_zmem-bpf"

# zsh_line TEXT: types it and a Tab.
zsh_line() {
	(cd "$TMP/here" && HOME=$TMP zsh -f "$SUPPORT/complete.zsh" "$TMP/functions" "$TMP/typed" "$1") \
		>"$TMP/err" 2>&1 || not_ok "zsh: $1" "$(cat "$TMP/err")"
	sed -n 's/^match //p' "$TMP/typed" >"$TMP/offered"
	line=$(sed -n 's/^line //p' "$TMP/typed")
}

zsh_line 'zmem-bpf '
offers zsh 'commands' "$(cat "$TMP/commands")"
zsh_line 'zmem-bpf -'
offers zsh 'options' "$(cat "$TMP/options")"
for command in maps watch pin; do
	zsh_line "zmem-bpf $command -"
	offers zsh "options of $command" "$(taken $command)"
done
zsh_line 'zmem-bpf -F '
offers zsh 'formats' 'table json ndjson csv tsv folded openmetrics prometheus html'
zsh_line 'zmem-bpf files -g '
offers zsh 'groups of files' 'fs mount kind dir'
zsh_line 'zmem-bpf watch --group-by=cmd'
equal 'zsh: --group-by=' "$line" 'zmem-bpf watch --group-by=cmdline,'
zsh_line 'zmem-bpf -g user,con'
equal 'zsh: several groups' "${line%%[, ]}" 'zmem-bpf -g user,container'
zsh_line 'zmem-bpf -s '
offers zsh 'sort keys' "$(cat "$TMP/columns")"
zsh_line 'zmem-bpf watch -s '
offers zsh 'sort keys of watch' "$(cat "$TMP/changes")"
zsh_line 'zmem-bpf -o pid,rss_a'
equal 'zsh: columns behind a comma' "$line" 'zmem-bpf -o pid,rss_anon,'
zsh_line 'zmem-bpf -o +vsize,+pgt'
equal 'zsh: appended columns' "$line" 'zmem-bpf -o +vsize,+pgtables,'
zsh_line 'zmem-bpf --output rec'
equal 'zsh: files' "${line%% }" 'zmem-bpf --output records'
zsh_line 'zmem-bpf record rec'
equal 'zsh: files of record' "${line%% }" 'zmem-bpf record records'
zsh_line 'zmem-bpf pin dae'
equal 'zsh: groups' "${line%% }" 'zmem-bpf pin daemon'
zsh_line 'zmem-bpf maps '
check 'zsh: pids of maps' grep -qx $$ "$TMP/offered"
