#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""findings.py TABLE: prints zmem-bpf-findings.7, with the findings of TABLE (src/model/finding.def)."""

import re
import sys
import textwrap

LEVELS = {"C": "critical", "W": "warning", "H": "hint"}

# Values for the example of each sentence; a part without its values is left out.
EXAMPLES = {
    "cgroup_limit": {"kind": "container", "name": "web", "of": "300M", "in": "14.0M", "waited": "42.10"},
    "cgroup_high": {"kind": "unit", "name": "batch.service", "of": "2.00G", "waited": "97.30"},
    "thrashing": {"in": "61.4M", "waited": "38.20"},
    "ram_full": {"left": "310M", "of": "16.0G", "out": "1.20G"},
    "oom_kills": {"count": "3", "last_ms": "14:02", "name": "worker", "cgroup": "/batch.service", "recorded": "yes"},
    "swapping": {"in": "12.0M", "out": "9.10M", "name": "java", "pid": "812", "count": "2950"},
    "cgroup_full": {"kind": "pod", "name": "shop-7f9", "of": "512M", "bytes": "490M"},
    "swap_full": {"left": "96.0M", "of": "2.00G"},
    "zram_full": {"name": "zram0", "bytes": "1.96G", "of": "2.00G"},
    "zram_poor": {"name": "zram0", "bytes": "819M", "of": "1.00G"},
    "grows": {"name": "firefox", "pid": "812", "span_ms": "12 min", "bytes": "840M", "left": "3.10G"},
    "shmem_unmapped": {"bytes": "2.10G", "file": "/dev/shm"},
    "kernel_memory": {"kind": "slab", "bytes": "3.40G", "name": "kmalloc-512"},
    "cgroups_deleted": {"count": "214", "bytes": "1.30G"},
    "node_full": {"full.node": "0", "full.free": "96.0M", "full.total": "8.00G", "roomy.node": "1",
                  "roomy.free": "5.20G", "bytes": "740M"},
    "node_away": {"name": "postgres", "pid": "812", "runs_on_count": "1", "runs_on": "0", "bytes": "3.00G", "of": "4.00G"},
    "maps_limit": {"name": "java", "pid": "812", "count": "61304", "others": "65530"},
    "commit_limit": {"bytes": "15.1G", "of": "15.8G"},
    "hugetlb_unused": {"bytes": "4.00G"},
    "thp_partly": {"bytes": "1.10G"},
    "locked": {"bytes": "5.00G"},
}

HEAD = r""".\" SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
.\" Made by src/man/findings.py.
.Dd November 30, 2026
.Dt ZMEM-BPF-FINDINGS 7
.Os Linux
.Sh NAME
.Nm zmem-bpf-findings
.Nd what zmem-bpf finds wrong with the memory of a machine
.Sh DESCRIPTION
A finding is something that is wrong with the memory of the machine now, such as
a cgroup that reads back what the kernel takes from it.
This page has a section for each: what is wrong, the sentence that
.Nm zmem-bpf
prints, how it is measured and from which value on it is said, and what to do.
.Pp
On a healthy machine there is none.
What is normal is no finding: swap in use, page cache that fills RAM or a
cgroup, and hits of a limit.
Totals since boot are none, either: they do not fall when all is well again.
A finding is gone when its cause is gone.
OOM kills are told for an hour.
.Ss Levels
.Bl -tag -width critical
.It Li critical
Something is lost, or stands still.
.It Li warning
It may soon be so, or programs are slower than they need to be.
.It Li hint
It is normal for many machines.
It is worth a look if something else is wrong.
.El
.Ss Where findings are shown
.Bl -tag -width Ds
.It Ic zmem-bpf , Ic zmem-bpf system , Ic zmem-bpf top
Up to three critical findings and warnings, in the first lines of a terminal.
The last line names the commands that show more.
.Ic zmem-bpf system
also has hints, and with
.Fl v
all findings.
.It Li findings No in JSON
All findings of
.Ic zmem-bpf system Fl J .
A snapshot
.Pq Ic zmem-bpf Fl J
has hints only with
.Fl v .
See
.Xr zmem-bpf-json 5 .
.It The page
.Fl F Li html
and the page of
.Xr zmem-bpf-serve 8
show all findings.
.It Li zmem_finding No in metrics
How many cgroups, processes or devices each is about, by its key and level; see
.Xr zmem-bpf-serve 8 .
The rules in
.Pa /usr/local/share/zmem-bpf/prometheus
have alerts for them.
.El
.Ss What is measured
What a snapshot did not measure is not looked for.
In metrics it has no sample; what was looked for in vain is 0.
.Pp
Some findings are about what happens in a second.
In a series of snapshots
.Pq Ic zmem-bpf top , zmem-bpf serve
that is what happened since the snapshot before.
A single snapshot takes 0.2 s longer if there may be something to see, and reads
again:
.Bl -bullet -compact
.It
the cgroups that are near a limit of their own that they have reached before;
.It
.Pa /proc/vmstat ,
if tasks waited for memory in 1 % of the last 10 s.
.El
.Pp
A recording has what was recorded: cgroups, for example, only if the recorder
read them.
.Pp
A cgroup has the name of its container, pod or unit, if there is one.
In the sentences, K, M and G are KiB, MiB and GiB.
"""

TAIL = r""".Sh SEE ALSO
.Xr zmem-bpf 1 ,
.Xr zmem-bpf-cgroups 1 ,
.Xr zmem-bpf-incidents 1 ,
.Xr zmem-bpf-system 1 ,
.Xr zmem-bpf-top 1 ,
.Xr zmem-bpf-json 5 ,
.Xr zmem-bpf-serve 8
"""


def read_table(path):
    """The arguments of each ZMEM_FINDING: id and levels as they stand, and texts."""
    with open(path, encoding="utf-8") as file:
        source = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for row in re.findall(r'ZMEM_FINDING\(((?:[^"()]|"(?:[^"\\]|\\.)*")*)\)', source):
        arguments = [""]
        for text, other in re.findall(r'"((?:[^"\\]|\\.)*)"|([^"\s])', row):
            if other == ",":
                arguments.append("")
            else:
                arguments[-1] += text or other
        if len(arguments) != 9:
            raise ValueError("not nine arguments: %s" % arguments)
        yield arguments


def split_parts(text):
    """Text, and parts in brackets as lists of alternatives."""
    depth, items, alternatives, piece = 0, [], [], ""
    at = 0
    while at < len(text):
        if text[at] == "[":
            if depth == 0:
                items.append(piece)
                piece, alternatives = "", []
            else:
                piece += "["
            depth += 1
        elif text[at] == "]":
            depth -= 1
            if depth == 0:
                items.append([*alternatives, piece])
                piece = ""
            else:
                piece += "]"
        elif depth == 1 and text.startswith("||", at):
            alternatives.append(piece)
            piece = ""
            at += 1
        else:
            piece += text[at]
        at += 1
    return [*items, piece]


def say(text, values):
    """The sentence, as write/say.h writes it. Raises KeyError without a value."""
    said, number = "", ""
    for item in split_parts(text):
        if isinstance(item, list):
            for part in item:
                try:
                    part = say(part, values)
                except KeyError:
                    continue
                said += part.lstrip(",;") if said.endswith((":", "(")) else part
                break
            continue
        for plain, braced in re.findall(r"([^{]+)|\{([^}]*)\}", item):
            key = re.fullmatch(r"[?]?([a-z_.]+)(?:[+~]|\|\d+)?", braced)
            if plain:
                said += plain
            elif braced[0] == "?":
                number = values[key[1]]
            elif key and (key[1] in values or not re.search(r"[\w]\{%s\}" % re.escape(braced), item)):
                number = values[key[1]]
                said += number
            else:  # of the number before it: one / several, or what is added to several
                one, _, several = braced.rpartition("/")
                said += one if number == "1" else several
    return said


def mdoc(text):
    """Text as lines of mdoc: a sentence begins a line, and pages are references."""
    lines = []
    for sentence in re.split(r"(?<=[.]) (?=[A-Za-z0-9])", text):
        sentence = re.sub(r"(?<![\w-])-(?=[-\w])", r"\\-", sentence.replace("\\", "\\e"))
        sentence = re.sub(r" ?\b([a-z-]+)\((\d)\)([.,]?) ?", r"\n.Xr \1 \2 \3\n", sentence)
        for piece in filter(None, sentence.split("\n")):
            lines += [piece.rstrip()] if piece.startswith(".Xr") else textwrap.wrap(
                piece, 78, break_on_hyphens=False, break_long_words=False)
    return lines


def section(id_, key, levels, title, sentence, run, means, measured, remedy):
    words = [LEVELS[letter] for letter in levels.split("|")]
    example = "%s: %s" % (title, say(sentence, EXAMPLES[key]))
    command = say(run, EXAMPLES[key])
    lines = [".Ss \\&" + title, *mdoc(means)]
    lines += [".Bd -literal -offset indent", *textwrap.wrap(example, 69, subsequent_indent="    "), ".Ed"]
    lines += [".Bl -tag -width measured", ".It Key", ".Li " + key, "(" + ", ".join(words) + ")"]
    lines += [".It Measured", *mdoc(measured)]
    lines += [".It To do", *mdoc(remedy)]
    if command:
        lines += [".It Shown by", ".Ic zmem-bpf " + command.replace("-", "\\-")]
    return [*lines, ".El"]


def main():
    lines = [".Sh FINDINGS", "The most urgent come first."]
    rows = list(read_table(sys.argv[1]))
    if {row[1] for row in rows} != set(EXAMPLES):
        sys.exit("findings.py: EXAMPLES has other keys than the table: %s" % ({row[1] for row in rows} ^ set(EXAMPLES)))
    for row in rows:
        lines += section(*row)
    sys.stdout.write(HEAD + "\n".join(lines) + "\n" + TAIL)


main()
