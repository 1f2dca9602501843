# SPDX-License-Identifier: BSD-3-Clause
"""What a shared library exports."""
import subprocess


def exported(library, demangled=False, weak=True):
    """The names of the symbols that a shared library defines for others; without `weak`, none that others may define, too."""
    lines = subprocess.run(["nm", "-D", "--defined-only"] + (["-C"] if demangled else []) + [library],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    # Address, kind, name; a demangled name holds blanks.
    symbols = [line.split(maxsplit=2)[1:] for line in lines]
    return {name.split("@")[0] for kind, name in symbols if weak or kind not in "uVWvw"}
