# SPDX-License-Identifier: BSD-3-Clause
"""The symbols that a shared library exports."""
import subprocess


def exported(library, demangled=False, weak=True):
    """Returns the names of the symbols that a shared library defines for others; with `weak` false, without the weak
    ones.
    """
    lines = subprocess.run(["nm", "-D", "--defined-only"] + (["-C"] if demangled else []) + [library],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    # Each line holds address, kind and name; a demangled name contains blanks.
    symbols = [line.split(maxsplit=2)[1:] for line in lines]
    return {name.split("@")[0] for kind, name in symbols if weak or kind not in "uVWvw"}
