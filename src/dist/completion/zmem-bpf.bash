# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# Completion of zmem-bpf for bash, without any package. The lists are made from the program's tables.

#tables#

# _zmem_bpf_offer WORD…: those that begin as $cur does, behind $prefix.
_zmem_bpf_offer()
{
	mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$*" -- "$cur")
}

# The last one of a list.
_zmem_bpf_last()
{
	local last=${cur##*["$1"]}

	prefix+=${cur%"$last"}
	cur=$last
	compopt -o nospace 2>/dev/null
}

_zmem_bpf_columns()
{
	local names=("${_zmem_bpf_column_names[@]}")

	[[ $kind != columns || -n $cur$prefix && help != "$cur"* ]] || names+=(help)
	case $command in
	watch | top) names+=("${_zmem_bpf_change_names[@]}") ;;
	maps) names=("${_zmem_bpf_map_keys[@]}") ;;
	grow) names=("${_zmem_bpf_growth_keys[@]}") ;;
	files)
		names=("${_zmem_bpf_file_keys[@]}")
		[ "$kind" != columns ] || names+=(cgroup holders)
		;;
	esac
	if [ "$kind" = columns ]; then _zmem_bpf_last ,+; else _zmem_bpf_last ,; fi
	_zmem_bpf_offer "${names[@]}"
}

_zmem_bpf_options_of_command()
{
	local list=_zmem_bpf_options

	[[ " ${_zmem_bpf_commands[*]} " != *" $command "* ]] || list+=_$command
	list+=[@]
	_zmem_bpf_offer "${!list}"
}

_zmem_bpf_pids()
{
	_zmem_bpf_offer "$(cd /proc && echo [0-9]*)"
}

_zmem_bpf_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

# $command, and in $kind what the word under the cursor is an argument of, if it is. --format=json
# is three words here, HOST:PORT as well.
_zmem_bpf_before()
{
	local i word

	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == [:=] || ${COMP_WORDS[i - 1]} == : ]]; then
			continue
		elif [ -n "$kind" ]; then
			kind=
		elif [[ $word == -?* ]]; then
			_zmem_bpf_argument "$word"
		else
			command=${command:-$word}
		fi
	done
}

_zmem_bpf()
{
	local cur=${COMP_WORDS[COMP_CWORD]} command='' kind='' prefix=''

	COMPREPLY=()
	_zmem_bpf_before
	[ "$cur" != = ] || cur=
	if [[ -z $kind && $cur == -[a-zA-Z]?* ]]; then
		_zmem_bpf_argument "${cur:0:2}"
		[ -z "$kind" ] || prefix=${cur:0:2} cur=${cur:2}
	fi
	case $kind in
	'words table '*) _zmem_bpf_offer "${_zmem_bpf_formats_of[${command:-snapshot}]}" ;;
	'words none '*)
		[ "$command" = files ] || _zmem_bpf_last ,
		_zmem_bpf_offer "${_zmem_bpf_groups_of[${command:-snapshot}]}"
		;;
	'words '*) _zmem_bpf_offer "${kind#words }" ;;
	columns | keys) _zmem_bpf_columns ;;
	pids)
		_zmem_bpf_last ,
		_zmem_bpf_pids
		;;
	users)
		_zmem_bpf_last ,
		mapfile -t COMPREPLY < <(compgen -P "$prefix" -u -- "$cur")
		;;
	files) _zmem_bpf_files ;;
	other) ;;
	*)
		case $command/$cur in
		*/-*) _zmem_bpf_options_of_command ;;
		/*) _zmem_bpf_offer "${_zmem_bpf_commands[@]}" ;;
		maps/*) _zmem_bpf_pids ;;
		record/*) _zmem_bpf_files ;;
		pin/*) mapfile -t COMPREPLY < <(compgen -g -- "$cur") ;;
		esac
		;;
	esac
}

complete -F _zmem_bpf zmem-bpf
