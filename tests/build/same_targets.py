#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is built does not depend on what else is installed.

    same_targets.py SOURCE FOLDER CMAKE_ARGUMENT…

Configures the default build twice: once where every library is installed that a project of this field may have (a folder
full of headers, empty archives and package files stands in), and once where those, and what only tests use, are not to be
found. The targets, their sources, definitions, include folders and libraries must be the same, but for paths of the build
folder. The same is done with tests, where what they use is to be found both times. Then it takes away each package that the
build needs, which must be an error that names the option to do without it."""
import json
import os
import pathlib
import re
import subprocess
import sys

# Headers and libraries that CMake files look for or have looked for, and what a machine of this field often has.
HEADERS = ["zoltan.h", "petscsf.h", "petsc.h", "p4est_communication.h", "p4est.h", "sc.h", "hwloc.h", "numa.h", "papi.h",
           "ucp/api/ucp.h", "infiniband/verbs.h", "liburing.h", "rapidcheck.h", "elfutils/libdwfl.h", "fftw3-mpi.h", "hdf5.h"]
LIBRARIES = ["trilinos_zoltan", "zoltan", "petsc_real", "petsc", "p4est", "sc", "hwloc", "numa", "papi", "ucp", "ucs",
             "ibverbs", "uring", "rapidcheck", "dw", "fftw3_mpi", "hdf5"]
PROGRAMS = ["spin", "hpcc", "doxygen", "valgrind", "gdb"]
PACKAGES = ["Zoltan", "Trilinos", "PETSc", "p4est", "hwloc", "PAPI", "ucx", "liburing", "rapidcheck", "HDF5", "FFTW3", "FFTW3MPI"]
# The libraries are what a static MPICH is linked with.
USED_BY_TESTS = {"rapidcheck.h", "rapidcheck", "spin", "hpcc", "hwloc", "ucp", "ucs"}
NEEDED = {"fmt": "SLUICE_COMMAND", "nlohmann_json": "SLUICE_COMMAND", "CLI11": "SLUICE_COMMAND"}


def configure(source, folder, arguments):
    """Returns (exit code, output); the file API's answer is below `folder` then."""
    query = folder / ".cmake/api/v1/query"
    query.mkdir(parents=True)
    (query / "codemodel-v2").touch()
    ended = subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *arguments], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return ended.returncode, ended.stdout


def targets_in(source, folder):
    """Returns {target: its sources, definitions, includes, options and link line}."""
    relative = os.path.relpath(folder, source)
    reply = folder / ".cmake/api/v1/reply"
    model = json.loads(next(reply.glob("codemodel-v2-*.json")).read_text())
    found = {}
    for entry in model["configurations"][0]["targets"]:
        target = json.loads((reply / entry["jsonFile"]).read_text())
        described = {"type": target["type"], "sources": sorted(source["path"] for source in target.get("sources", []))}
        for group in target.get("compileGroups", []):
            described["compiled " + group["language"]] = {
                "defines": sorted(define["define"] for define in group.get("defines", [])),
                "includes": [include["path"] for include in group.get("includes", [])],
                "options": [part["fragment"] for part in group.get("compileCommandFragments", [])],
            }
        described["link"] = [part["fragment"] for part in target.get("link", {}).get("commandFragments", [])]
        found[target["name"]] = json.loads(json.dumps(described).replace(str(folder), "BUILD").replace(relative, "BUILD"))
    return found


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def make_stand_ins(prefix, but=()):
    """Below `prefix`, of all names that are not in `but`."""
    for header in set(HEADERS).difference(but):
        write(prefix / "include" / header, "#error a stand-in: this header must not be used\n")
    for library in set(LIBRARIES).difference(but):
        write(prefix / "lib" / f"lib{library}.a", "!<arch>\n")
    for package in set(PACKAGES).difference(but):
        write(prefix / f"lib/cmake/{package}/{package}Config.cmake",
              f'message(FATAL_ERROR "{package} is a stand-in: this package must not be used")\n')
    for package in set(LIBRARIES + PACKAGES).difference(but):
        write(prefix / f"lib/pkgconfig/{package}.pc",
              f"Name: {package}\nDescription: a stand-in\nVersion: 99\nLibs: -l{package}-stand-in\n")
    for program in set(PROGRAMS).difference(but):
        write(prefix / "bin" / program, "#!/bin/sh\nexit 1\n")
        (prefix / "bin" / program).chmod(0o755)


def compare(source, folder, kinds, prefix):
    """Configures a build of each kind (options by name). Returns what differs between the two, or uses a stand-in."""
    found = {}
    for kind, options in kinds.items():
        code, output = configure(source, folder / kind, options)
        if code:
            print(output)
            return [f"with {kind} installed, cmake ended with {code}"]
        found[kind] = targets_in(source, folder / kind)
    one, other = found.values()
    # The commands of target docs, which is not built by default, say what is missing.
    wrong = [f"{name}: with {' and '.join(kinds)} {one.get(name)}\n  and {other.get(name)}"
             for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name) and name != "docs"]
    wrong += [f"{name} uses a stand-in: {target}" for name, target in one.items() if str(prefix) in json.dumps(target)]
    if len(one) < 10:
        wrong.append(f"only {sorted(one)} are built: is this all?")
    print(f"{' and '.join(kinds)}: {len(one)} targets compared, {len(wrong)} wrong")
    return wrong


def main():
    source, folder, arguments = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    subprocess.run(["rm", "-rf", folder], check=True)
    prefix, strangers = folder / "prefix", folder / "strangers"
    make_stand_ins(prefix)
    make_stand_ins(strangers, USED_BY_TESTS)
    without_tests, with_tests = [*arguments, "-DSLUICE_TESTS=OFF"], [*arguments, "-DSLUICE_TESTS=ON"]

    wrong = compare(source, folder, {
        "everything": [*without_tests, f"-DCMAKE_PREFIX_PATH={prefix}"],
        "nothing": [*without_tests, "-DCMAKE_DISABLE_FIND_PACKAGE_rapidcheck=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON",
                    "-DSLUICE_DOXYGEN=SLUICE_DOXYGEN-NOTFOUND"],
    }, prefix)
    wrong += compare(source, folder, {
        "tests_and_everything": [*with_tests, f"-DCMAKE_PREFIX_PATH={strangers}"],
        "tests_alone": with_tests,
    }, strangers)
    for line in wrong:
        print(line)

    untold = []
    for package, option in NEEDED.items():
        code, output = configure(source, folder / package, without_tests + [f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON"])
        told = re.sub(r"\s+", " ", output)
        if code == 0 or f"{package} (Debian: " not in told or f"-D{option}=OFF" not in told:
            untold.append(package)
            print(f"without {package} cmake ended with {code}:\n{output}")
    print(f"{len(NEEDED)} packages taken away, {len(untold)} without an answer")
    return 1 if wrong or untold else 0


if __name__ == "__main__":
    sys.exit(main())
