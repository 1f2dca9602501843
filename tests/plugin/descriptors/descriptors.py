#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Descriptors of a program with and without Sluice: descriptors.py CASE SLUICE LAUNCHER PROGRAM [NO_TABLE]

PROGRAM is counted.c, or closes.c for the case `closed`. It ends alike and prints the same both ways. See the functions
below for the cases.
"""
import os
import re
import sys
import tempfile

import watched
from checks import check, conclude

case, sluice, launcher, program = sys.argv[1:5]
MOST_KEPT = 1   # descriptors that Sluice keeps inside MPI
MORE_KEPT = {"--overlap": 2, "--registration": 1}  # and those of services
FROM_NEED = 40  # limits above what the program needs without Sluice


class Run:
    """One run of the program with 2 ranks; `limit`: of each rank, hard and soft."""

    def __init__(self, folder, *arguments, layer=(), limit=None, last=None):
        shell = f"ulimit -n {limit}; " if limit else ""

        def rank(given):
            return ["sh", "-c", shell + 'exec "$@"', "rank", *layer, program, *given]

        command = [*launcher.split(), "-n", "2", *rank(arguments)]
        if last is not None:
            command = [*launcher.split(), "-n", "1", *rank(arguments), ":", "-n", "1", *rank(last)]
        done = watched.run(command, capture_output=True, text=True, errors="backslashreplace",
                           env={**os.environ, "TMPDIR": folder})
        self.code = done.returncode
        self.lines = sorted(done.stdout.splitlines())
        self.said = [line for line in done.stderr.splitlines() if line.startswith("sluice: ")]
        self.errors = done.stderr

    def inside(self):
        return [int(re.search(r"inside (\d+)", line).group(1)) for line in self.lines]

    def but_inside(self):
        return [re.sub(r" inside \d+", "", line) for line in self.lines]


def under_sluice(folder, *arguments, options=(), **options_of_run):
    return Run(folder, *arguments, layer=[sluice, "run", *options], **options_of_run)


def compare(plain, other, what, most_kept=0):
    """True if the program ran at all."""
    if plain.code != 0:
        check(other.code != 0, f"{what}: fails as without Sluice")
        return False
    check(other.code == 0, f"{what}: ends with {other.code}, not 0:\n{other.errors[-500:]}")
    check(other.but_inside() == plain.but_inside(), f"{what}: {other.lines}, not {plain.lines}")
    if other.code == 0:
        kept = [with_it - without for with_it, without in zip(other.inside(), plain.inside())]
        check(all(0 <= number <= most_kept for number in kept), f"{what}: {kept} kept inside")
    return True


def numbers(folder):
    """Outside MPI, in children and in other programs a rank has as many as without Sluice, inside one more, and those of
    services."""
    plain = Run(folder)
    check(plain.code == 0, f"the program runs: {plain.errors}")
    for options in ((), ("--watch", "off"), ("--report", f"{folder}/report"), ("--overlap", "on"),
                    ("--registration", "auto"), ("--flood", "on"),
                    ("--overlap", "on", "--registration", "auto", "--flood", "on")):
        kept = MOST_KEPT + sum(MORE_KEPT.get(option, 0) for option in options)
        compare(plain, under_sluice(folder, options=options), " ".join(options) or "by default", kept)
    print("\n".join(plain.lines))


def none_free(folder):
    """A program that has used up its descriptors goes on, and one line says what is missing."""
    plain = Run(folder, "lower")
    other = under_sluice(folder, "lower", limit=200)
    check(plain.code == 0, f"the program runs: {plain.errors}")
    compare(plain, other, "none free")
    lines = [line for line in other.said if "samples:" in line]
    check(len(lines) == 1, f"it is said once: {other.said}")


def no_table(folder):
    """Where the kernel gives the helper thread no descriptors of its own it is not there, and one line says so."""
    plain = Run(folder, layer=["env", f"LD_PRELOAD={watched.preload(sys.argv[5])}"])
    other = Run(folder, layer=["env", f"LD_PRELOAD={watched.preload(sys.argv[5])}", sluice, "run"])
    check(plain.code == 0, f"the program runs: {plain.errors}")
    compare(plain, other, "no table", MOST_KEPT + 1)  # that of the line
    lines = [line for line in other.said if "no samples are taken: " in line]
    check(len(lines) == 1 and "no descriptors of its own" in lines[0], f"it is said once: {other.said}")
    check(any("Sluice report" in line for line in other.said), "there is a summary")


def need(folder):
    """The least limit with which the program runs without Sluice."""
    limit = max(Run(folder).inside())
    while Run(folder, limit=limit - 1).code == 0:
        limit -= 1
    while Run(folder, limit=limit).code != 0:
        limit += 1
    return limit


def each_limit(folder):
    """With each limit that the program may have it runs, or fails, as without Sluice."""
    least = need(folder)
    most = least + FROM_NEED
    first, last = Run(folder, limit=least), Run(folder, limit=most)
    # A program that does the same with the least and the most does so with each limit between them.
    alike = (first.code, first.lines) == (last.code, last.lines)
    ran = 0
    for limit in range(least, most + 1):
        plain = first if alike else Run(folder, limit=limit)
        ran += compare(plain, under_sluice(folder, limit=limit), f"limit {limit}")
    print(f"ran with {ran} limits from {least} to {least + FROM_NEED}")
    check(ran > FROM_NEED // 2, "the program ran with most of them")


def one_rank_has_few(folder):
    """One rank has no descriptor to spare, the other many."""
    least = need(folder)
    for limit in (least, least + 1, least + 4):
        few = [str(limit)]
        for arguments, last in ((few, []), ([], few)):
            plain = Run(folder, *arguments, last=last)
            compare(plain, under_sluice(folder, *arguments, last=last), f"{arguments or 'many'}, then {last or 'many'}",
                    MOST_KEPT)


def closed(folder):
    """What a program puts on the numbers of descriptors that it has closed stays as it was."""
    data = f"{folder}/data"
    os.mkdir(data)
    told = Run(folder, data, "tell")
    highest = max(int(line.split()[1]) for line in told.lines if line.startswith("highest"))
    for which in ("files", str(highest + 1)):
        plain = Run(folder, data, which)
        for options in ((), ("--watch", "off"), ("--report", f"{folder}/report")):
            other = under_sluice(folder, data, which, options=options)
            what = f"closes {which} {options}"
            check(other.code == plain.code, f"{what}: {other.code}, not {plain.code}")
            check(other.lines == plain.lines, f"{what}: {other.lines}, not {plain.lines}")
        print("\n".join(plain.lines))


with tempfile.TemporaryDirectory(prefix="sluice-descriptors-") as temporary:
    {"numbers": numbers, "none_free": none_free, "each_limit": each_limit, "one_rank_has_few": one_rank_has_few,
     "no_table": no_table, "closed": closed}[case](temporary)
conclude()
