#compdef zmem-bpf
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion of zmem-bpf for zsh. The lists are made from the program's tables.

typeset -ga _zmem_bpf_commands _zmem_bpf_column_names _zmem_bpf_change_names _zmem_bpf_map_keys _zmem_bpf_growth_keys _zmem_bpf_options
typeset -gA _zmem_bpf_taken _zmem_bpf_formats_of _zmem_bpf_groups_of
#tables#

# The first word that is a command, in $command.
_zmem_bpf_command()
{
	local word
	local -a names=("${(@)_zmem_bpf_commands%%:*}")

	for word in ${words[2,CURRENT - 1]}; do
		if (( names[(Ie)$word] )); then
			command=$word
			return
		fi
	done
}

_zmem_bpf_keys()
{
	local command=
	local -a names

	_zmem_bpf_command
	names=($_zmem_bpf_column_names)
	case $command in
	watch | top) names+=($_zmem_bpf_change_names) ;;
	maps) names=($_zmem_bpf_map_keys) ;;
	grow) names=($_zmem_bpf_growth_keys) ;;
	files)
		names=($_zmem_bpf_file_keys)
		[[ $1 != columns ]] || names+=(cgroup holders)
		;;
	esac
	compset -P '*,'
	[[ $1 != columns ]] || compset -P '+'
	_describe -t columns column names -q -S ,
}

_zmem_bpf_columns()
{
	if [[ -n $PREFIX && help == $PREFIX* ]]; then
		compadd help
	fi
	_zmem_bpf_keys columns
}

_zmem_bpf_pids()
{
	local -a pids
	pids=(/proc/<->(N:t))
	compset -P '*,'
	compadd -q -S , -a pids
}

_zmem_bpf_users()
{
	compset -P '*,'
	_users -q -S ,
}

_zmem_bpf_files()
{
	_files
}

_zmem_bpf_other()
{
	_message -e argument
}

_zmem_bpf_first()
{
	_describe -t commands command _zmem_bpf_commands
}

_zmem_bpf_rest()
{
	local command=

	_zmem_bpf_command
	case $command in
	maps) _zmem_bpf_pids ;;
	record) _files ;;
	pin) _groups ;;
	*) _message 'no more arguments' ;;
	esac
}

# The options and the formats that the command takes.
_zmem_bpf_of_command()
{
	local command= spec groups
	local -a taken kept

	_zmem_bpf_command
	groups="${_zmem_bpf_groups_of[${command:-snapshot}]}"
	# Files have one key, processes several.
	if [[ $command == files ]]; then
		groups="($groups)"
	else
		groups=" _values -s , key $groups"
	fi
	if [[ -z $command ]]; then
		kept=("${(@)_zmem_bpf_options}")
	else
		taken=(${=_zmem_bpf_taken[$command]})
		for spec in $_zmem_bpf_options; do
			(( ! taken[(Ie)${${${spec#\(*\)}#\*}%%[+=[]*}] )) || kept+=("$spec")
		done
	fi
	kept=("${(@)kept/\(table json *\)/(${_zmem_bpf_formats_of[${command:-snapshot}]})}")
	kept=("${(@)kept/\(none name *\)/$groups}")
	_zmem_bpf_options=("${(@)kept}")
}

_zmem_bpf_of_command
_arguments -s $_zmem_bpf_options '1: :_zmem_bpf_first' '*: :_zmem_bpf_rest'
