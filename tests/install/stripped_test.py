#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The installed tree is small and contains no paths of the machine that built it: stripped_test.py PREFIX SOURCE BUILD

All files of PREFIX together have at most 21 MB, and the pages and examples beside them 2.1 MB. No program or library holds debug
information; each names the file that holds it, which the component `debug` installs. No file, not even of that component, names a folder of the build.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

MOST_BYTES = 21_000_000  # of the command and the libraries for two MPIs, with probes and benchmarks. Each plugin wraps all
                         # functions of its MPI since overlap; flood control, registration, transposes, exchanges and two
                         # benchmarks came since, and all-to-alls with their benchmark (1.2 MB);
                         # shared arrays, packed blocks, inverses, exchange plans and packing by `auto` (0.4 MB); growth of places and the last
                         # words of a job (0.1 MB).
MOST_BYTES_OF_PAGES = 2_100_000  # the tables of results of registration, floods, FT, transposes and all-to-alls are 57 kB
FAILURES = []


def check(truth, what):
    if not truth:
        FAILURES.append(what)
        print("FAILED:", what)


def files_of(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def sections_of(path):
    listed = subprocess.run(["readelf", "--wide", "--section-headers", path], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^\s*\[ *\d+\] (\.\S+)", listed, re.MULTILINE))


def link_of(path):
    """Returns the name and the checksum of the file that holds the debug information of `path`."""
    with tempfile.NamedTemporaryFile() as section:
        subprocess.run(["objcopy", "--output-target=binary", "--only-section=.gnu_debuglink",
                        "--set-section-flags=.gnu_debuglink=alloc", path, section.name], check=True)
        content = pathlib.Path(section.name).read_bytes()
    return content.split(b"\0")[0].decode(), int.from_bytes(content[-4:], "little")


def check_paths(path, shown, folders):
    content = path.read_bytes()
    for folder in folders:
        at = content.find(folder)
        check(at < 0, f"{shown} does not name the build: {content[max(0, at - 20):at + 80]!r}")


def check_debug_information(build, prefix, programs, folders):
    """Checks that the debug information of the installed programs that this build folder made is in its component."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["cmake", "--install", build, "--component", "debug", "--prefix", scratch], check=True, capture_output=True)
        found = files_of(pathlib.Path(scratch))
        check(found, "the component debug holds files")
        for file in found:
            shown = file.relative_to(scratch)
            check(".debug_info" in sections_of(file), f"{shown} holds debug information")
            check_paths(file, shown, folders)
            program = prefix / shown.parent.parent / file.name.removesuffix(".debug")
            check(program in programs, f"{shown} belongs to an installed program")
            if program in programs:
                check(link_of(program) == (file.name, zlib.crc32(file.read_bytes())), f"{program.name} names {shown}")
    return len(found)


def main():
    prefix, source, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    folders = [str(folder).encode() + b"/" for folder in (source, build, prefix)]
    files = files_of(prefix)
    programs = [file for file in files if is_elf(file)]
    check(len(programs) >= 1, f"{prefix} holds programs: {programs}")
    for program in programs:
        sections = sections_of(program)
        check(not any(name.startswith(".debug") for name in sections), f"{program.name} holds no debug information")
        check(".symtab" not in sections, f"{program.name} is stripped")
        check(".gnu_debuglink" in sections, f"{program.name} names its debug information")
    for file in files:
        check_paths(file, file.relative_to(prefix), folders)
    pages = sum(file.stat().st_size for file in files if file.is_relative_to(prefix / "share" / "doc"))
    check(pages <= MOST_BYTES_OF_PAGES, f"the pages have {pages} bytes, at most {MOST_BYTES_OF_PAGES}")
    size = sum(file.stat().st_size for file in files) - pages
    check(size <= MOST_BYTES, f"the installed tree has {size} bytes, at most {MOST_BYTES}")
    debug = check_debug_information(build, prefix, programs, folders)
    print(f"{len(files)} files, {len(programs)} programs and libraries, {size} bytes and {pages} of pages; {debug} files of debug information")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
