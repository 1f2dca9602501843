#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A job whose report contradicts itself, in a test that does not look for it: the test fails, as its CMakeLists.txt expects.
"""

import sys

import watched

LINE = "a fault of Sluice, please report it: figures of the job contradict each other: more was left than made"

done = watched.run([sys.executable, "-c", f"import sys; print({LINE!r}, file=sys.stderr)"], capture_output=True, text=True)
assert done.returncode == 0 and LINE in done.stderr
