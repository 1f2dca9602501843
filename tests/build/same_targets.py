#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is built does not depend on what else is installed.

    same_targets.py SOURCE FOLDER CMAKE_ARGUMENT…

Configures the default build twice: once where every library is installed that a project of this field may have (a folder
full of headers and empty archives stands in), and once where those, and what only tests use, are not to be found. The
targets, their sources, definitions, include folders and libraries must be the same, but for paths of the build folder. Then
it takes away each package that the build needs, which must be an error that names the option to do without it."""
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


def make_stand_ins(prefix):
    for header in HEADERS:
        file = prefix / "include" / header
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#error a stand-in: this header must not be used\n")
    (prefix / "lib").mkdir()
    for library in LIBRARIES:
        (prefix / "lib" / f"lib{library}.a").write_bytes(b"!<arch>\n")
    (prefix / "bin").mkdir()
    for program in PROGRAMS:
        (prefix / "bin" / program).write_text("#!/bin/sh\nexit 1\n")
        (prefix / "bin" / program).chmod(0o755)


def main():
    source, folder, arguments = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    subprocess.run(["rm", "-rf", folder], check=True)
    prefix = folder / "prefix"
    prefix.mkdir(parents=True)
    make_stand_ins(prefix)
    arguments += ["-DSLUICE_TESTS=OFF"]

    kinds = {
        "everything": [f"-DCMAKE_PREFIX_PATH={prefix}"],
        "nothing": ["-DCMAKE_DISABLE_FIND_PACKAGE_rapidcheck=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON",
                    "-DSLUICE_DOXYGEN=SLUICE_DOXYGEN-NOTFOUND"],
    }
    found = {}
    for kind, more in kinds.items():
        code, output = configure(source, folder / kind, arguments + more)
        if code:
            print(output)
            print(f"FAILED: with {kind} installed, cmake ended with {code}")
            return 1
        found[kind] = targets_in(source, folder / kind)
    everything, nothing = found["everything"], found["nothing"]
    # The commands of target docs, which is not built by default, say what is missing.
    different = [name for name in sorted(everything.keys() | nothing.keys())
                 if everything.get(name) != nothing.get(name) and name != "docs"]
    for name in different:
        print(f"{name}: with everything {everything.get(name)}\n  with nothing {nothing.get(name)}")
    stand_ins = [name for name, target in everything.items() if str(prefix) in json.dumps(target)]
    for name in stand_ins:
        print(f"{name} uses a stand-in: {everything[name]}")
    if len(everything) < 10:
        print(f"only {sorted(everything)} are built: is this the default build?")

    untold = []
    for package, option in NEEDED.items():
        code, output = configure(source, folder / package, arguments + [f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON"])
        told = re.sub(r"\s+", " ", output)
        if code == 0 or f"{package} (Debian: " not in told or f"-D{option}=OFF" not in told:
            untold.append(package)
            print(f"without {package} cmake ended with {code}:\n{output}")
    print(f"{len(everything)} targets compared, {len(different)} different, {len(stand_ins)} with a stand-in, "
          f"{len(NEEDED)} packages taken away, {len(untold)} without an answer")
    return 1 if different or stand_ins or untold or len(everything) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
