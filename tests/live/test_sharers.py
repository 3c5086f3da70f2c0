#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Processes that map the same large memory, by mmap and by fork: each is counted once for all (bpf/memo.bpf.h). At rest the
PSS of each must be that of smaps_rollup; while others come and go, no PSS may be wrong."""
# needs: counters
import os
import sys

sys.dont_write_bytecode = True  # the tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import peers  # noqa: E402
from outcome import exit_code, result, run_checks  # noqa: E402

STAY, ROUNDS = 13, 6


def snapshot(*options):
    return peers.document_of("-a", "--verify", "all", *options)


def same(process):
    """Without files: others map their pages, too, and come and go. smaps_rollup cuts to whole KiB."""
    values, _ = peers.rollup(process["pid"])
    return all(abs(process["pss_%s_bytes" % kind] - values["Pss_" + kind.capitalize()] * 1024) <= 1024
               for kind in ("anon", "shmem"))


def check_at_rest():
    with peers.mkmem("sharers", uid=None) as (roles, _):
        result(len(roles) == STAY, "all sharers are there", roles)
        for options in ((), ("--readers", "1"), ("--readers", "8")):
            found = {p["pid"]: p for p in snapshot(*options)["processes"]}
            differ = [found[pid] for pid in roles.values()
                      if found[pid]["pss_source"] != "kernel" or not same(found[pid])]
            result(not differ, "%s at rest PSS comes from the kernel and is that of smaps_rollup" % " ".join(options), differ)


def check_come_and_go():
    checked = different = 0
    with peers.mkmem("sharers_come", uid=None):
        for _ in range(ROUNDS):
            cross = snapshot()["collection"]["cross_check"]
            checked += cross["checked"]
            different += cross["different"]
    result(different == 0 and checked >= ROUNDS, "while sharers come and go, no PSS is wrong", (checked, different))


if __name__ == "__main__":
    run_checks((check_at_rest, check_come_and_go))
    sys.exit(exit_code())
