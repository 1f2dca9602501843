# SPDX-License-Identifier: BSD-3-Clause
"""A stand-in for the library of another MPI, whose functions examine all 64 bits of each argument, and a program that calls all
of them, as MPI_X and as PMPI_X. Both are written from the declarations in the headers of an MPI, of which only the numbers of
arguments are taken."""
import pathlib
import subprocess
import sys

HEAD = """/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef uint64_t word;
/* No word is that of another argument, and each has bits in both halves and the sign of both. */
static word expected(int number) { return 0x8765432180000000u + 0x0101010101010101u * (unsigned)(number + 1); }
"""


def counts(wrappers, includes):
    """The number of arguments of each function that an MPI's headers declare."""
    sys.path.insert(0, wrappers)
    import generate
    import unlisted
    names = [pathlib.Path(folder) / name for folder in includes for name in ("mpi.h", "mpi_proto.h", "mpio.h")]
    text = generate.declarations_in([path for path in names if path.exists()])
    return {name: len(types) for name, types in unlisted.functions(text, set()).items() if name != "Get_library_version"}


def make(folder, compiler, wrappers, includes):
    """Returns the path of the program."""
    numbers = counts(wrappers, includes)
    called = [prefix + name for name in numbers for prefix in ("MPI_", "PMPI_")]
    library, program = HEAD, HEAD
    for function in called:
        number = numbers[function.partition("MPI_")[2]]
        parameters = ", ".join(f"word a{i}" for i in range(number)) or "void"
        right = " && ".join(f"a{i} == expected({i})" for i in range(number)) or "1"
        library += f"int {function}({parameters}) {{ return {right} ? 4711 : 1; }}\n"
        program += f"int {function}({parameters});\n"
    version = "(char* text, int* length) { strcpy(text, \"a stand-in\"); *length = 10; return 0; }\n"
    library += f"int MPI_Get_library_version{version}int PMPI_Get_library_version{version}"
    program += "int main(void) {\n    int called = 0, wrong = 0;\n"
    for function in called:
        number = numbers[function.partition("MPI_")[2]]
        arguments = ", ".join(f"expected({i})" for i in range(number))
        program += f"    ++called;\n    if ({function}({arguments}) != 4711) ++wrong, puts(\"{function}\");\n"
    program += "    printf(\"%d functions, %d wrong\\n\", called, wrong);\n    return wrong != 0;\n}\n"
    (folder / "library.c").write_text(library)
    (folder / "program.c").write_text(program)
    # Its name is that of an MPI, so that the plugin examines it.
    stand_in = folder / "libmpi.so.40"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wl,-soname,libmpi.so.40", "-o", stand_in, folder / "library.c"], check=True)
    subprocess.run([compiler, "-O1", "-o", folder / "program", folder / "program.c", stand_in, f"-Wl,-rpath,{folder}"], check=True)
    return str(folder / "program")
