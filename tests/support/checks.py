# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a test by a script: each that fails is printed and counted, and the script goes on.

    needs_shared_memory(256)          skips the test where /dev/shm has less MiB, as in containers
    check(truth, "what should be true")
    conclude()                        ends the script; the exit code is 1 if a check has failed
"""
import os
import sys

FAILURES = []


def needs_shared_memory(mib):
    room = os.statvfs("/dev/shm")
    has = room.f_blocks * room.f_frsize >> 20
    if has < mib:
        print(f"skipped: /dev/shm has {has} MiB, and this test needs {mib}")
        sys.exit(0)


def check(truth, what):
    if not truth:
        FAILURES.append(what)
        print("FAILED:", what)


def conclude():
    print("failed:" if FAILURES else "all well:", len(FAILURES), "failures")
    sys.exit(1 if FAILURES else 0)
