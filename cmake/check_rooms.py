#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_rooms.py [SRC]: the includes between the rooms of src/ go down only, and one door leads to a peer's memory.

A room is a folder of src/, or of src/plugin/. Refused are an include of a room on a higher floor, an include between two
rooms of one floor (capabilities stay apart), a circle of headers, a call that touches another process's memory outside
DOORS, and a folder of src, tests, examples or bench with more than MOST_FILES files. Each fault is one line, and the exit code is 1 where there is any.
"""
import re
import sys
from pathlib import Path

MOST_FILES = 20

# The files that may call process_vm_readv and process_vm_writev: the door, and the probe that asks whether the kernel allows
# them.
DOORS = {"node/remote_memory.cpp", "cli/doctor/single_copy.cpp"}
TOUCH = re.compile(r"\bprocess_vm_(?:read|write)v\s*[(,;]|\b(?:SYS_|__NR_)process_vm_")

# From the ground up. Rooms on one floor do not include each other, but for those written with ">", which include the
# rooms that are named before them on their floor.
FLOORS = """
base pages
kernel mpi >types >groups
>memory >node >budget >record
engine
redistribution collectives tasks
fetch paged transposes
exchanges
c
report command_line
plugin/binding
plugin/tables
plugin/watch
plugin/services
plugin/wrappers
plugin/job
probes
cli
"""


def read_floors(text):
    """For each room the rooms that it may include."""
    allowed, below = {}, set()
    for line in text.split("\n"):
        here = []
        for word in line.split():
            room = word.lstrip(">")
            allowed[room] = below | {room} | (set(here) if word.startswith(">") else set())
            here.append(room)
        below |= set(here)
    return allowed


def room_of(path):
    parts = path.parts
    if parts[0] == "plugin" and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0] if len(parts) > 1 else None


def includes_of(source, src):
    """The files below src that a file includes, with their lines."""
    for number, line in enumerate(source.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if found and (src / found.group(1)).is_file():
            yield number, Path(found.group(1))


def wrong_arrows(src, allowed):
    for source in sorted(src.rglob("*.[ch]pp")):
        room = room_of(source.relative_to(src))
        if room is None:
            continue
        if room not in allowed:
            yield f"{source}: the room {room} stands on no floor of {Path(__file__).name}"
            continue
        for number, included in includes_of(source, src):
            if room_of(included) not in allowed[room]:
                yield f"{source}:{number}: {room} includes {included}, which is not below it"


def circles(src):
    """Circles of headers, each told once."""
    arrows = {header.relative_to(src): [included for _, included in includes_of(header, src)]
              for header in sorted(src.rglob("*.hpp"))}
    finished, path = set(), []

    def follow(header):
        if header in finished:
            return
        if header in path:
            yield "a circle of includes: " + " -> ".join(str(part) for part in path[path.index(header):] + [header])
            return
        path.append(header)
        for included in arrows.get(header, []):
            yield from follow(included)
        path.pop()
        finished.add(header)

    for header in arrows:
        yield from follow(header)


def other_doors(src):
    for source in sorted(path for path in src.rglob("*") if path.suffix in (".c", ".h", ".cpp", ".hpp")):
        if str(source.relative_to(src)) in DOORS:
            continue
        for number, line in enumerate(source.read_text().splitlines(), 1):
            if TOUCH.search(line.split("//")[0]):
                yield f"{source}:{number}: touches another process's memory; node/remote_memory.hpp is the door to it"


def full_folders(root):
    for top in ("src", "tests", "examples", "bench"):
        for folder in [root / top, *(path for path in sorted((root / top).rglob("*")) if path.is_dir())]:
            if folder.is_dir() and "__pycache__" not in folder.parts:
                files = sum(path.is_file() for path in folder.iterdir())
                if files > MOST_FILES:
                    yield f"{folder}: {files} files; which rooms are they? A folder has at most {MOST_FILES}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    faults = [*wrong_arrows(root / "src", read_floors(FLOORS)), *circles(root / "src"), *other_doors(root / "src"),
              *full_folders(root)]
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
