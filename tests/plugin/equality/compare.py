#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs an MPI program without and with the layer and compares everything that can be observed of the two runs: the
transcript of each rank (transcript.h), standard output, exit code, standard error. The layer's own lines on standard
error, which begin with "sluice", are not compared. The exit code is 0 if the runs are alike; otherwise it is 1, with
the differences on standard output. If this machine does not let the layer do what is to be counted, the test is skipped, unless
the runs differ.

The layer must be found in every process of the second run that keeps a transcript and in none of the first.
"""

import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile

import watched

MAX_LINES = 200  # lines of a difference that are printed
# What the layer says where this machine does not let it do what a test counts.
UNABLE = re.compile(r"sluice: (overlap: off, because (?:no privilege to guard|userfaultfd is refused|this kernel has no userfaultfd).*)")


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--launcher", required=True, help="for example 'mpiexec --oversubscribe'")
    parser.add_argument("--ranks", type=int, required=True)
    layer = parser.add_mutually_exclusive_group(required=True)
    layer.add_argument("--run", help="what stands between launcher and program, for example 'sluice run'")
    layer.add_argument("--preload", help="the layer is preloaded plainly: libraries, in the order of LD_PRELOAD")
    layer.add_argument("--itself", action="store_true", help="no layer: does the program repeat itself?")
    parser.add_argument("--plugin", help="without this file the test is skipped")
    parser.add_argument("--truth", action="store_true",
                        help="the program knows what is right and says 'N wrong': only the layered run is judged, "
                             "for plain MPI is known to be wrong there")
    parser.add_argument("--both", action="append", default=[], metavar="NAME=VALUE", help="environment of both runs")
    parser.add_argument("--both-preload", default="", help="libraries that are preloaded in both runs, after the layer")
    parser.add_argument("--both-preload-first", default="", help="the same, before the layer")
    parser.add_argument("--stderr", choices=["same", "ignore"], default="same")
    parser.add_argument("--code", default="0", help="exit code that both runs must have, or any: the same in both")
    parser.add_argument("--mpmd", action="store_true", help="the layer stands before rank 0 alone")
    parser.add_argument("--first", default="", help="what stands before rank 0 in place of what --run says")
    parser.add_argument("--layer", choices=["loaded", "any"], default="loaded",
                        help="any: that the layer is in the processes of the second run is not asked for")
    parser.add_argument("--says", default="", help="text that a line of the layer must contain")
    parser.add_argument("--counts", action="append", default=[], metavar="COUNTER",
                        help="a line of the layer must say this with a number that is not 0")
    parser.add_argument("--counts-none", action="append", default=[], metavar="COUNTER", help="no line may say so")
    parser.add_argument("--silent", action="store_true", help="the layer must not say anything")
    parser.add_argument("--no-transcript", action="store_true", help="the program writes on standard output only")
    parser.add_argument("--pairs", type=int, default=1,
                        help="most pairs of runs, until one is alike: for ends of which the launcher itself tells "
                             "now this, now that")
    parser.add_argument("program", nargs="+")
    return parser.parse_args()


def normal(line):
    """Process numbers, addresses and times differ between runs."""
    line = re.sub(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8,}\b", "ADDRESS", line)
    return re.sub(r"\d{3,}", "NUMBER", line)


class Run:
    def __init__(self, arguments, layered):
        self.layered = layered
        preload = [arguments.both_preload_first, arguments.preload if layered else None, arguments.both_preload]
        preload = [library for library in preload if library]
        between = ["env", f"LD_PRELOAD={watched.preload(*preload)}"] if preload else []
        if layered and arguments.run:
            between = shlex.split(arguments.run) + between if preload else shlex.split(arguments.run)
        command = shlex.split(arguments.launcher)
        if arguments.mpmd or arguments.first:  # in both runs, because MPI_APPNUM shows it
            first = shlex.split(arguments.first) if arguments.first and layered else between
            others = between if arguments.first else []
            command += ["-n", "1"] + first + arguments.program
            command += [":", "-n", str(arguments.ranks - 1)] + others + arguments.program
        else:
            command += ["-n", str(arguments.ranks)] + between + arguments.program
        with tempfile.TemporaryDirectory(prefix="equality-") as folder, \
                tempfile.TemporaryDirectory(prefix="equality-scratch-") as scratch:
            environment = dict(os.environ, TRANSCRIPT=folder, SCRATCH=scratch)
            environment.update(pair.split("=", 1) for pair in arguments.both)
            try:
                done = watched.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                   errors="backslashreplace")
                self.code, out, err, self.ended = done.returncode, done.stdout, done.stderr, True
            except watched.Hung as hung:
                (out, err), self.code, self.ended = hung.results, f"none, for it hung: {hung}", False
            self.transcripts, self.layer = {}, {}
            for name in sorted(os.listdir(folder)):
                with open(os.path.join(folder, name), errors="backslashreplace") as file:
                    text = file.read()
                stem, ending = os.path.splitext(name)
                if ending == ".layer":
                    self.layer[stem] = text.strip()
                else:
                    self.transcripts[stem] = text.splitlines()
        self.command = shlex.join(command)
        # MPICH's launcher reports on standard output the first process that it saw die, in a frame of =.
        self.out = sorted(line for line in out.splitlines() if not line.startswith("="))
        lines = [line for line in err.splitlines() if not line.startswith("sluice")]
        self.err = sorted(normal(line) for line in lines if line.strip())
        self.own = [line for line in err.splitlines() if line.startswith("sluice")]

    def counts(self, counter):
        """A counter that is 0 is not told, or with a 0. A long line of the report is broken into several."""
        text = " ".join(" ".join(line.removeprefix("sluice: ").split()) for line in self.own)
        return re.search(rf"\b[1-9][\d.,]*[^\s\d]* {re.escape(counter)}\b", text) is not None

    def unable(self):
        """Returns why the layer cannot do here what is counted; None if it can."""
        return next((match[1] for line in self.own if (match := UNABLE.match(line))), None)

    def complaints(self, arguments):
        """Returns what is wrong with this run by itself."""
        name = "with the layer" if self.layered else "without the layer"
        if arguments.code not in ("any", str(self.code)):
            yield f"{name}: exit code {self.code}, expected {arguments.code}\n" + "\n".join(self.err[:40])
        plainly = [line for line in self.own if "plainly" in line]
        if self.layered and plainly and arguments.layer != "any":  # otherwise a run without the layer would be found
                                                                   # alike
            yield f"{name}: {plainly[0]}"
        if self.layered and arguments.says and not any(arguments.says in line for line in self.own):
            yield f"{name}: no line of the layer says '{arguments.says}'"
        for counter in arguments.counts if self.layered and not self.unable() else []:
            if not self.counts(counter):
                yield f"{name}: no line of the layer has counted '{counter}'"
        for counter in arguments.counts_none if self.layered else []:
            if self.counts(counter):
                yield f"{name}: the layer has counted '{counter}'"
        if self.layered and arguments.silent and self.own:
            yield f"{name}: the layer says: {self.own[0]}"
        if arguments.no_transcript:
            return
        if not self.transcripts:
            yield f"{name}: no transcript"
        expected = "loaded" if self.layered and not arguments.itself else "absent"
        if arguments.code == "0" and not (self.layered and (arguments.mpmd or arguments.layer == "any")):
            for rank in self.transcripts:
                state = self.layer.get(rank) or "not said"
                if state != expected:
                    yield f"{name}: rank {rank}: the layer is {state}, not {expected}"


def difference(what, plain, layered):
    lines = list(difflib.unified_diff(plain, layered, f"{what}, without", f"{what}, with the layer", lineterm="", n=2))
    if len(lines) > MAX_LINES:
        lines[MAX_LINES:] = [f"… and {len(lines) - MAX_LINES} more lines"]
    return ["\n".join(lines)] if lines else []


def wrong_lines(run):
    for rank, lines in run.transcripts.items():
        for line in lines:
            if re.search(r"\b[1-9]\d* (wrong|gaps written)", line) or "error class" in line:
                yield f"rank {rank}: {line}"


def compare(arguments, plain, layered):
    complaints = []
    if arguments.truth:
        complaints += list(layered.complaints(arguments)) + list(wrong_lines(layered))
        if not any("truth" in line for lines in layered.transcripts.values() for line in lines):
            complaints.append("with the layer: nothing was compared with the truth")
        known = list(wrong_lines(plain))
        print(f"without the layer: exit code {plain.code}, {len(known)} lines are wrong" + "".join(f"\n  {x}" for x in known[:8]))
        return complaints
    for run in (plain, layered):
        complaints += run.complaints(arguments)
    if plain.code != layered.code:
        complaints.append(f"exit code: {plain.code} without, {layered.code} with the layer")
    if set(plain.transcripts) != set(layered.transcripts):
        complaints.append(f"transcripts: {sorted(plain.transcripts)} without, {sorted(layered.transcripts)} with")
    for rank in plain.transcripts:
        complaints += difference(f"rank {rank}", plain.transcripts[rank], layered.transcripts.get(rank, []))
    complaints += difference("standard output", plain.out, layered.out)
    if arguments.stderr == "same":
        complaints += difference("standard error", plain.err, layered.err)
    return complaints


def main():
    arguments = options()
    if arguments.plugin and not os.path.exists(arguments.plugin) and not arguments.itself:
        print(f"skipped: there is no plugin {os.path.basename(arguments.plugin)}")
        return 0
    for pair in range(1, arguments.pairs + 1):
        plain = Run(arguments, layered=False)
        layered = Run(arguments, layered=True)
        complaints = compare(arguments, plain, layered)
        if not complaints or not (plain.ended and layered.ended) or pair == arguments.pairs:
            break
        print(f"pair {pair} is not alike: {complaints[0].splitlines()[0]}")
    for text in complaints:
        print(text)
    if complaints:
        print(f"\nwithout: {plain.command}\nwith:    {layered.command}")
    else:
        lines = sum(map(len, layered.transcripts.values()))
        if arguments.counts and layered.unable():
            print(f"skipped: alike, but {layered.unable()}")
        print(f"alike: {lines} lines of {len(layered.transcripts)} ranks, {len(layered.out)} of standard output, "
              f"exit code {layered.code}")
    for line in layered.own[:40]:
        print(f"  its own: {line}")
    return 1 if complaints else 0


sys.exit(main())
