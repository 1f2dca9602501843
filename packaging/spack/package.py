# SPDX-License-Identifier: BSD-3-Clause
# A Spack recipe: copy it to packages/sluice/package.py of a Spack repository and set SLUICE_GIT to where the source is.
import os

from spack.package import *


class Sluice(CMakePackage):
    """Runs MPI programs in the memory they have: watches unmodified programs (mpirun sluice run PROGRAM) and serves their
    all-to-alls in place; as a library, moves distributed arrays in place with bounded memory."""

    git = os.environ.get("SLUICE_GIT", "")
    license("BSD-3-Clause")

    version("main", branch="main")

    variant("command", default=True, description="Build the command sluice")
    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("python@3:", type="build")
    depends_on("mpi@3:")
    depends_on("cli11", when="+command")
    depends_on("fmt", when="+command")
    depends_on("nlohmann-json", when="+command")
    depends_on("googletest", when="+tests")

    conflicts("%gcc@:10", msg="Sluice is written in C++20")
    conflicts("%clang@:13", msg="Sluice is written in C++20")

    def cmake_args(self):
        return [
            self.define("MPI_CXX_COMPILER", self.spec["mpi"].mpicxx),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define_from_variant("SLUICE_COMMAND", "command"),
            self.define_from_variant("SLUICE_TESTS", "tests"),
            self.define("SLUICE_EXAMPLES", False),
            self.define("SLUICE_BENCH", False),
        ]
