# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Where the programs of this directory find the modules of tests/support."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
