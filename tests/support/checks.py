# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a test by a script: each that fails is printed and counted, and the script goes on.

    check(truth, "what should be true")
    conclude()                        ends the script; the exit code is 1 if a check has failed
"""
import sys

FAILURES = []


def check(truth, what):
    if not truth:
        FAILURES.append(what)
        print("FAILED:", what)


def conclude():
    print("failed:" if FAILURES else "all well:", len(FAILURES), "failures")
    sys.exit(1 if FAILURES else 0)
