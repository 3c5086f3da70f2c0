#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# columns.sh PROGRAM: prints zmem-bpf-columns.7, with the columns that PROGRAM lists.
set -eu
program=$1

# Turns lines of `-o help`, "KEY   TEXT", into items of a list. Each pipe has one command that can fail: the last.
items() {
	text=$(printf '%s\n' "$1" | sed -E -e 's/\\/\\e/g' -e 's/^([^ ]+) +(.*)$/.It Li \1\n\2/')
	text=$(printf '%s\n' "$text" | fold -s -w 78)
	printf '%s\n' "$text" | sed 's/ *$//'
}

columns=$("$program" -o help)
changes=$("$program" watch -o help)
changes=$(printf '%s\n' "$changes" | grep -E '^([a-z_]+_change|grew) ')
maps=$("$program" maps -s help)
[ -n "$columns" ] && [ -n "$changes" ] && [ -n "$maps" ]

cat <<'END'
.\" SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
.\" Made by src/man/columns.sh.
.Dd November 22, 2026
.Dt ZMEM-BPF-COLUMNS 7
.Os Linux
.Sh NAME
.Nm zmem-bpf-columns
.Nd columns of the tables of zmem-bpf
.Sh DESCRIPTION
The options
.Fl o
and
.Fl s
of
.Xr zmem-bpf 1 ,
.Xr zmem-bpf-watch 1
and
.Xr zmem-bpf-top 1
take these columns.
Small and capital letters are the same.
The header of a table has the same name in capital letters, or a short form such
as PSI_SOME or %RAM, which the options take as well.
In JSON and CSV the keys are the same; sizes end with
.Li _bytes
.Pq Xr zmem-bpf-json 5 .
.Ss Columns
.Bl -tag -width counters_source
END
items "$columns"
cat <<'END'
.El
.Pp
The columns
.Li %limit , %nearest , nearest_limit , limit_up , under_oom , oom_kills
and those that begin with
.Li mem_
or
.Li psi_
exist only with
.Fl g Li unit , container , pod
or
.Li cgroup .
.Ss Changes
.Xr zmem-bpf-watch 1
and
.Xr zmem-bpf-top 1
also have these columns.
A table shows them per second, unless
.Fl -delta Li start
is given.
The header is
.Ql +
and the name of the counter.
.Li grew
is a count: 7/10 means that the row grew in seven of ten snapshots.
.Bl -tag -width counters_source
END
items "$changes"
cat <<'END'
.El
.Ss Columns of maps
.Xr zmem-bpf-maps 1
has columns of its own.
Option
.Fl s
takes them.
With
.Fl -by-file
and
.Fl -group-by
it has
.Li procs
and
.Li maps
in place of
.Li pid , address
and
.Li perm ;
with
.Fl -group-by
it has
.Li kind .
.Bl -tag -width counters_source
END
items "$maps"
cat <<'END'
.El
.Sh SEE ALSO
.Xr zmem-bpf 1 ,
.Xr zmem-bpf-maps 1 ,
.Xr zmem-bpf-top 1 ,
.Xr zmem-bpf-watch 1 ,
.Xr zmem-bpf-json 5
END
