#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""exports.py LIST MPI LIBRARY: the library exports what the list says and nothing else. The list names MPI's types as
MPI does; each MPI has its own types for them.
"""
import re
import sys

from exported import exported

TYPES = {
    "openmpi": {"MPI_Comm": "ompi_communicator_t*", "MPI_Datatype": "ompi_datatype_t*", "MPI_Request": "ompi_request_t*",
                "MPI_Status": "ompi_status_public_t"},
    "mpich": {"MPI_Comm": "int", "MPI_Datatype": "int", "MPI_Request": "int", "MPI_Status": "MPI_Status"},
}

path, mpi, library = sys.argv[1:]
with open(path) as lines:
    listed = [line.rstrip("\n") for line in lines if not line.startswith("#")]


def in_this_mpi(symbol):
    # With one MPI the handles are pointers: "MPI_Comm const*" is "ompi_communicator_t* const*".
    return re.sub(r"\bMPI_\w+", lambda name: TYPES[mpi].get(name[0], name[0]), symbol)


expected = {in_this_mpi(symbol): symbol for symbol in listed}
# Each compiler decides which inline symbols it leaves in the library, so these are ignored, except the types of
# exceptions.
found = exported(library, demangled=True, weak=False)
found |= {symbol for symbol in exported(library, demangled=True) if symbol.startswith("typeinfo for ")}
missing = sorted(expected[symbol] for symbol in expected if symbol not in found)
strange = sorted(found - set(expected))
print(f"{len(found)} symbols, {len(listed)} listed")
for symbol in missing:
    print("listed, not exported:", symbol)
for symbol in strange:
    print("exported, not listed:", symbol)
sys.exit(1 if missing or strange else 0)
