#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""preload_test.py LIBRARY ALLOCATOR PROGRAM PROGRAM_WITH_ALLOCATOR: programs of all kinds run under libsluice-pages.so, which
stands aside where a program has an allocator of its own."""

import os
import subprocess
import sys


def run(preload, *command):
    """The output of a command that runs with these libraries; nothing may be said on standard error."""
    ran = subprocess.run(command, env=dict(os.environ, LD_PRELOAD=":".join(preload)), capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stderr == "", (command, ran)
    return ran.stdout


def main():
    library, allocator, program, program_with_allocator = sys.argv[1:]
    assert run([library], program) == "whole pages\n"
    stands_aside = "as the allocator makes them\n"
    assert run([library, allocator], program) == stands_aside
    assert run([allocator, library], program) == stands_aside
    assert run([library], program_with_allocator) == stands_aside
    assert run([library], "bash", "-c", "x=$(printf %0300000d 7); echo ${#x}; (exit 0) && ls / | wc -l") != ""
    squares = "import ctypes; b = [bytearray(400000 + i) for i in range(50)]; b.clear(); print(sum(i * i for i in range(9)))"
    assert run([library], sys.executable, "-c", squares) == "204\n"
    start_another = f"import subprocess, sys; print(subprocess.check_output([sys.executable, '-c', {squares!r}]).decode(), end='')"
    assert run([library], sys.executable, "-c", start_another) == "204\n"
    perturbed = dict(os.environ, LD_PRELOAD=library, MALLOC_PERTURB_="85")
    assert subprocess.run([program], env=perturbed).returncode == 0


main()
