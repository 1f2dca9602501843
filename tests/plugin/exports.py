#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""exports.py FUNCTIONS PLUGIN PROGRAM: the plugin exports every function of functions.txt that the program's MPI
exports, as MPI_ and as PMPI_, and all other functions of MPI before which a service may act.
"""
import re
import subprocess
import sys

from exported import exported

functions, plugin, program = sys.argv[1:]
needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
libmpi = re.search(r"libmpi(?:ch)?\.so\S* => (\S+)", needed).group(1)
names = []
for line in open(functions):
    row = re.match(r"\w+ (\w+)\(.*\)((?: \[\w+\])*)$", line)
    if row:
        names += [row.group(1)] + ([row.group(1) + "_c"] if "[c]" in row.group(2) else [])
# They convert handles or take any number of arguments: nothing acts before them.
passed_by = re.compile(r"P?MPI_(Pcontrol|Aint_\w+|\w+_(c2f|f2c|c2f08|f082c|f082f|f2f08))")
there, ours = exported(libmpi), exported(plugin)
expected = [prefix + name for name in names for prefix in ("MPI_", "PMPI_") if prefix + name in there]
others = [name for name in there if re.match(r"P?MPI_[A-Z][a-z]", name) and not passed_by.fullmatch(name)]
expected = sorted({*expected, *others})
missing = [name for name in expected if name not in ours]
print(f"{len(expected)} functions of {libmpi.rsplit('/', 1)[-1]}, {len(missing)} missing: {' '.join(missing)}")
# Beside MPI's functions the plugin exports two of UCX, two of PMIx and four of the C library: another preloaded symbol of Sluice
# could replace one of the program's.
known = re.compile(r"P?MPI_|(PMIx_(Commit|Abort)|ucp_(init_version|cleanup)|abort|__assert_fail|_exit|_Exit)$")
strange = sorted(name for name in ours if not known.match(name))
print("also exported:", " ".join(strange))
sys.exit(1 if missing or len(expected) < 300 or strange else 0)
