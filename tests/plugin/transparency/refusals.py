#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""refusals.py PROGRAM PLUGIN [--fatal N | --all-fatal]: runs refusals.c without and with the plugin and compares what
each call with one wrong argument gives: its code and how often an error handler was called, under MPI_ERRORS_RETURN, with
a handler that counts and with one that jumps. Under MPI_ERRORS_ARE_FATAL each call has a job of its own, so only N of
the calls are run, one a function, chosen by a hash of their text: how the job ends is compared.

A call that plain MPI ends by a signal, by its own exit or not at all is listed and not compared."""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile

import watched


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("plugin")
    parser.add_argument("--fatal", type=int, default=6, metavar="N")
    parser.add_argument("--all-fatal", action="store_true")
    return parser.parse_args()


def start(arguments, words, layered, folder):
    environment = dict(os.environ, SCRATCH=folder, SLUICE_QUIET="on")
    if layered:
        environment["LD_PRELOAD"] = watched.preload(arguments.plugin)
    done = subprocess.run([arguments.program] + words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors="replace")
    return done.returncode, done.stdout.splitlines()


def in_turn(arguments, way, numbers, layered, folder):
    """Lines of the calls by number, and the calls in which the process ended: what follows them goes on in a new one."""
    lines, ended, left = {}, [], list(numbers)
    while left:
        name = os.path.join(folder, "list")
        with open(name, "w") as file:
            file.write("\n".join(map(str, left)))
        _, out = start(arguments, [way, name], layered, folder)
        for line in out:
            if line[:1].isdigit():
                lines[int(line.split(" ", 1)[0])] = line
        rest = [number for number in left if number not in lines]
        if not rest or rest == left and not out:
            break
        ended.append(rest[0])
        left = rest[1:]
    return lines, ended


def main():
    arguments = options()
    complaints, listed = [], []
    with tempfile.TemporaryDirectory(prefix="refusals-") as folder:
        _, found = start(arguments, ["probe"], False, folder)
        numbers = [int(line.split()[1]) for line in found if line.startswith("returns")]
        listed += [line for line in found if line.startswith("ends")]
        if not numbers:
            return "nothing was compared: " + " ".join(found[-3:])
        for way in ("return", "count", "jump"):
            plain, ended = in_turn(arguments, way, numbers, False, folder)
            again, ended_again = in_turn(arguments, way, numbers, False, folder)
            layered, ends = in_turn(arguments, way, numbers, True, folder)
            listed += [f"ends {number} in turn, {way}" for number in sorted({*ended, *ended_again})]
            same = [number for number in numbers if number in plain and number in again]
            complaints += [f"{way}: with the plugin the process ends in: {plain[number]}" for number in same
                           if number in ends]
            for number in same:
                if again.get(number) != plain[number]:
                    listed.append(f"differs between two runs, {way}: {plain[number]}")
                elif number in layered and layered[number] != plain[number]:
                    complaints.append(f"{way}: without {plain[number]}\n{way}: with    {layered[number]}")
            print(f"{way}: {len(same)} calls compared")
        texts = {number: plain[number].split(" ", 1)[1] for number in same if "class 0" not in plain[number]}
        one = {}
        for number in sorted(texts, key=lambda number: hashlib.sha256(texts[number].encode()).digest()):
            one.setdefault(texts[number].split("(")[0], number)
        chosen = list(one.values()) if arguments.all_fatal else list(one.values())[:arguments.fatal]
        for number in chosen:
            plain_end, _ = start(arguments, ["fatal", str(number)], False, folder)
            layered_end, _ = start(arguments, ["fatal", str(number)], True, folder)
            if plain_end != layered_end:
                complaints.append(f"fatal: ends with {plain_end} without, {layered_end} with: {texts[number]}")
        print(f"fatal: {len(chosen)} calls compared")
    for text in listed:
        print("not compared: " + text)
    for text in complaints:
        print(text)
    return 1 if complaints else 0


sys.exit(main())
