#!/usr/bin/env zsh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# complete.zsh DIRECTORY OUT LINE…: types each line and a Tab into a zsh that has the functions of
# DIRECTORY. OUT gets "match WORD" lines and then "line LINE", what the line is then.
emulate -R zsh
zmodload zsh/zpty || exit 1
directory=$1 out=$2
shift 2
rc=$out.rc
: >$out
cat >$rc <<END
fpath=($directory \$fpath)
autoload -Uz compinit && compinit -D -u
unsetopt beep
LISTMAX=10000
compadd() {
	# What only asks which match, or stores them, offers nothing.
	if [[ "\${@[1,(i)(-|--)]}" == *-(O|A|D)\ * ]]; then
		builtin compadd "\$@"
		return
	fi
	local -a offered
	builtin compadd -A offered "\$@"
	[[ -z \$offered ]] || print -rl -- "match "\${^offered} >>$out
	builtin compadd "\$@"
}
told() { print -r -- "line \$BUFFER" >>$out; BUFFER= }
ready() { print ready >>$out; zle -D zle-line-init }
zle -N told
zle -N zle-line-init ready
bindkey '^I' complete-word
bindkey '^T' told
END

# wait_for COUNT WORD: of lines that begin so; 20 s at most.
wait_for() {
	local i
	for i in {1..400}; do
		[[ $(grep -c "^$2" $out) -lt $1 ]] || return 0
		zpty -r -t shell noise '*' >/dev/null 2>&1
		sleep 0.05
	done
	print -u 2 "no answer"
	return 1
}

export TERM=dumb
zpty -b shell zsh -f -i || exit 1
zpty -w shell ". $rc"
wait_for 1 ready || exit 1
count=0
for line; do
	zpty -w -n shell "$line"$'\t\024'
	wait_for $((++count)) 'line ' || exit 1
done
zpty -d shell
