#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""findings.py TABLE: prints zmem-bpf-findings.7, with the findings of TABLE (src/model/finding.def)."""
