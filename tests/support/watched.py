#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command and ends it if it hangs; there is no limit on elapsed time.

    watched.py COMMAND…     ends as the command, or with 124 after saying which process hung
    watched.run(command, …) as subprocess.run; raises watched.Hung
    watched.lines_of(command)
    watched.preload(library, …)   LD_PRELOAD of a process that is to have these before what each process of a test has

A command hangs if one of its processes has used SLUICE_TEST_SECONDS (200) of processor time, or if all have slept for
SLUICE_TEST_ASLEEP_SECONDS (60). The rules are those of hang_judge.hpp; a step is here a process that was started and
works. Every process that has inherited the command's environment counts, so also those that a launcher or a daemon
starts for it.
"""

import os
import secrets
import signal
import subprocess
import sys
import threading
import time

BUSY_PART = 20
WORKS = 0.1  # seconds of processor time; a shell that waits in a loop starts processes that use less
MOST_BETWEEN_LOOKS = 2
BETWEEN_LOOKS = 0.5
TICKS = os.sysconf("SC_CLK_TCK")


class HangJudge:
    """Decides whether processes hang, from what they have done so far."""

    def __init__(self, processor, asleep):
        self.processor, self.most_asleep = processor, asleep
        self.first, self.last, self.asleep = None, None, 0

    def look(self, now, uses):
        """`uses` has (processor seconds, busy seconds) of each process. Returns "spins", "sleeps", or None if there is
        no hang.
        """
        if any(processor >= self.processor for processor, _ in uses.values()):
            return "spins"
        if self.first is None or any(self.was_awake(process, busy) for process, (_, busy) in uses.items()):
            self.first, self.asleep = {process: busy for process, (_, busy) in uses.items()}, 0
        else:
            self.asleep += min(now - self.last, MOST_BETWEEN_LOOKS)
        self.last = now
        return "sleeps" if self.asleep >= self.most_asleep else None

    def was_awake(self, process, busy):
        return busy > WORKS if process not in self.first else busy - self.first[process] > self.most_asleep / BUSY_PART


def stat_of(path):
    """Returns (name, state, processor seconds, start) of a process or a thread."""
    with open(f"{path}/stat", encoding="utf-8", errors="replace") as file:
        text = file.read()
    name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
    return name, rest[0], (int(rest[11]) + int(rest[12])) / TICKS, rest[19]


class Processes:
    """The processes with a mark in their environment, and what they have used."""

    def __init__(self, mark):
        self.mark = mark.encode()
        self.theirs = {}  # (process, start): whether it has the mark
        self.uses = {}
        self.names = {}
        self.last = time.monotonic()

    def look(self):
        now = time.monotonic()
        gap, self.last = min(now - self.last, MOST_BETWEEN_LOOKS), now
        uses, theirs = {}, {}
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                name, state, used, start = stat_of(f"/proc/{number}")
                key = (int(number), start)
                theirs[key] = self.theirs.get(key) or self.has_mark(number)
                if not theirs[key] or state == "Z":
                    continue
                waits = any(stat_of(f"/proc/{number}/task/{thread}")[1] in "RD"
                            for thread in os.listdir(f"/proc/{number}/task"))
            except OSError:
                continue  # the process has ended
            before, busy = self.uses.get(key, (0, 0))
            uses[key] = (used, busy + max(used - before, gap if waits else 0))
            self.names[key] = name
        self.uses, self.theirs = uses, theirs
        return now, uses

    def has_mark(self, number):
        with open(f"/proc/{number}/environ", "rb") as file:
            return self.mark in file.read()

    def describe(self):
        return "; ".join(f"{self.names[key]} ({key[0]}) has used {used:.1f} s of processor time"
                         for key, (used, _) in sorted(self.uses.items())) or "no process is left"

    def kill(self):
        self.look()
        for process, _ in self.uses:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass


class Hung(Exception):
    """The message says why, and what each process has used; `results` holds what the waiting function returned."""

    results = None


class Watch:
    """Looks at a process and all processes that it starts, which have `environment`."""

    def __init__(self, environment=None):
        mark = f"SLUICE_TEST_MARK={secrets.token_hex(8)}"
        self.environment = dict(os.environ if environment is None else environment)
        self.environment.update([mark.split("=")])
        self.processes = Processes(mark)
        limits = [float(os.environ.get(f"SLUICE_TEST_{name}", default))
                  for name, default in (("SECONDS", 200), ("ASLEEP_SECONDS", 60))]
        self.judge = HangJudge(*limits)

    def wait(self, process, function):
        """Returns the result of `function`, which waits for the process in some way."""
        results = []
        thread = threading.Thread(target=lambda: results.append(function()), daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(BETWEEN_LOOKS)
            hang = self.judge.look(*self.processes.look())
            if hang and thread.is_alive():
                limit = (f"a process may use {self.judge.processor:.0f} s" if hang == "spins"
                         else f"all slept for {self.judge.most_asleep:.0f} s")
                hung = Hung(f"{process.args[0]}: {self.processes.describe()}; {limit}")
                process.terminate()  # a launcher ends its processes
                thread.join(5)
                self.processes.kill()
                thread.join()
                hung.results = results[0]
                raise hung
        return results[0]

    def end(self, process):
        """Waits for a launcher whose job ends, and kills all that is left. Open MPI's launcher, told to end while a rank is
        in MPI_Finalize, slept for ever in 5 of 30 jobs (and crashed in 2 of 20 without Sluice).
        """
        try:
            self.wait(process, process.wait)
        except Hung as hung:
            print(f"ended what slept: {hung}")
        self.processes.kill()


def repeat_faults(outputs):
    """A test whose output has this line fails (SLUICE_TEST_FAILED), also if the test itself does not look for it."""
    for output in outputs:
        text = output.decode(errors="replace") if isinstance(output, bytes) else output or ""
        for line in text.splitlines():
            if "a fault of Sluice, please report it" in line:
                print(line)


def run(command, env=None, input=None, capture_output=False, **options):
    if capture_output:
        options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    watch = Watch(env)
    process = subprocess.Popen(command, env=watch.environment, **options)
    results = watch.wait(process, lambda: process.communicate(input))
    repeat_faults(results)
    return subprocess.CompletedProcess(command, process.returncode, *results)


def preload(*libraries):
    return ":".join(library for library in [*libraries, os.environ.get("LD_PRELOAD", "")] if library)


def lines_of(command):
    """What a command prints that must end well."""
    ended = run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{command} ended with {ended.returncode}\n{ended.stdout}{ended.stderr}")
    return ended.stdout.splitlines()


def main():
    try:
        sys.exit(run(sys.argv[1:]).returncode)
    except Hung as hung:
        print(f"watched: {hung}", file=sys.stderr)
        sys.exit(124)


if __name__ == "__main__":
    main()
