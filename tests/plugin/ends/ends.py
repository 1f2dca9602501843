#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How a rank ended stands in the report, and the job ends as without Sluice: ends.py WAY SLUICE LAUNCHER PROGRAM

Runs ends.cpp with 2 and 3 ranks. Its head has the ways.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import watched
from checks import check, conclude

way, sluice, launcher, program = sys.argv[1:]
MPICH = "mpich" in launcher
AT = r"ended first, at [\d.]+ m?s: "
PLACE = r" at [^;]*"
EXPECTED = {
    "handler": r"MPI_Abort\(42\), called inside MPI_Send" + PLACE + r"\.",
    "signal": r"MPI_Abort\(42\), called inside MPI_Recv" + PLACE + r"\.",
    "op": r"MPI_Abort\(42\), called inside MPI_Reduce" + PLACE + r"\.",
    "copy": r"MPI_Abort\(42\), called inside MPI_Comm_dup" + PLACE + r"\.",
    "finalize": r"MPI_Abort\(42\)\.",
    "large": r"MPI_Abort\(300\)\.",
    "negative": r"MPI_Abort\(-1\)\.",
    "fatal": r"a fatal error of MPI \(code 6\), inside MPI_Send" + PLACE + r"\.",
    "abort": r"signal 6 \(abort\), outside MPI\.",
    "assert": r"signal 6 \(abort\), outside MPI\.",
    "together": r"signal 6 \(abort\), outside MPI\.",
    "terminate": r"signal 6 \(abort\), outside MPI\.",
    "segv": r"signal 11 \(segmentation fault\), outside MPI\.",
    "kill": r"signal 9 \(kill\), outside MPI\.",
    "first": r"signal 9 \(kill\), outside MPI\.",
    "limit": r"exit code 3 without MPI_Finalize\.",
    "exit": r"exit code 3 without MPI_Finalize\.",
    "main": r"exit code 3 without MPI_Finalize\.",
    "exit_twice": r"exit code 6 without MPI_Finalize\.",
    "_exit": r"exit code 4 without MPI_Finalize\.",
    "abort_exit": r"exit code 7 without MPI_Finalize\.",
}
# The processes of the job have a limit of their own.
LIMIT_KIB = 8 << 20
LIMITED = ["sh", "-c", f'ulimit -v {LIMIT_KIB}; exec "$0" "$@"'] if way == "limit" else []
# What only another rank sees. MPICH's launcher kills that one, too, often before it has run.
SEEN = ("segv", "kill", "first")
# Which rank ends in the unusual way.
RANK = r"\d" if way == "together" else "1"


def run(folder, ranks, *before):
    """Returns how the job ended with what it said, and its standard error. Of 200 jobs without Sluice whose rank aborts in
    MPI_Finalize, Open MPI's launcher has slept for ever in 4 after all ranks had ended: then the end is "launcher hung".
    """
    try:
        done = watched.run([*launcher.split(), "-n", str(ranks), *LIMITED, *before, program, way], capture_output=True, text=True,
                           stdin=subprocess.DEVNULL, cwd=folder)
    except watched.Hung as hung:
        if way != "finalize" or MPICH or os.path.basename(program) in str(hung):
            raise
        return "launcher hung", ""
    # What a launcher adds to the standard output is not the program's.
    said = sorted(line for line in done.stdout.splitlines() if re.match(r"rank \d|first|last|the child", line))
    return (done.returncode, said), done.stderr


def report_of(folder, *options):
    done = watched.run([sluice, "report", folder, *options], capture_output=True, text=True)
    check(done.returncode == 0, f"sluice report ends with {done.returncode}: {done.stderr}")
    return done.stdout


def see_the_end(folder, ranks):
    """Runs the job in sessions of their own, where its launcher does not reach the ranks; ends the others when one of them
    has seen the end.
    """
    watch = watched.Watch()
    job = subprocess.Popen([*launcher.split(), "-n", str(ranks), "setsid", "--fork", "--wait", sluice, "run", "--report", folder,
                            program, way], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, env=watch.environment)

    def is_over():
        done = watched.run([sluice, "report", folder, "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            return job.poll() is not None  # it has just begun
        summary = json.loads(done.stdout)
        lives = any(summary["states"][i]["count"] > 0 for i in (0, 1))
        return not lives or any(end["how"] != "unknown" for end in summary["ends"])

    def end():
        while not is_over():
            time.sleep(0.1)
        watch.processes.kill()
        job.wait()

    watch.wait(job, end)


def compare(folder, ranks):
    """The exit code that a launcher gives, and how much of the output it passes on, depend on which rank it sees end
    first. Without Sluice, MPICH's gave 9 instead of 4 in 15 of 30 jobs of _exit with 3 ranks, and 15 instead of 6 in 11
    of 40 of terminate (with Sluice in 16 of 40); beside busy processes six jobs in a row differed. Open MPI's may crash if a
    rank aborts in MPI_Finalize. So of some jobs of each kind one must have ended as one of the others.
    """
    report = str(folder / "report")
    all_plain, all_layered = [], []
    for _ in range(20):
        shutil.rmtree(report, ignore_errors=True)
        plain, _ = run(folder, ranks)
        layered, said = run(folder, ranks, sluice, "run", "--report", report)
        if "launcher hung" in (plain, layered):
            continue
        all_plain.append(plain)
        all_layered.append(layered)
        if any(plain in all_layered for plain in all_plain):
            break
    else:
        check(False, f"{ranks} ranks: the job ends as without Sluice: {all_plain}, {all_layered}")
    if way in EXPECTED:
        expected = EXPECTED[way].removesuffix(r"\.").split(",")[0].removesuffix(PLACE)
        aborts = expected.startswith("MPI_Abort")
        line = expected + " by rank 1" if aborts else f"rank {RANK} ended " + ("with " if "exit" in expected else "by ") + expected
        lines = re.findall(r"sluice: no report: .*$", said, re.M)
        # MPICH's launcher may end the rank that would say it, or not pass on what it has said.
        check(len(lines) == 1 or (MPICH and not lines), f"one line says it: {said}")
        if lines and not (MPICH and way in SEEN):
            check(re.fullmatch(r"sluice: no report: " + line + r"\. What the ranks wrote down: sluice report " + report, lines[0]),
                  f"it names the rank and how it ended: {lines}")
    return report


def in_order(folder, ranks):
    report = compare(folder, ranks)
    summary = json.loads(report_of(report, "--json"))
    check(summary["ends"] == [], f"{ranks} ranks: no rank ended otherwise: {summary['ends']}")
    check("· ended" in report_of(report), "the job ended")


def ended(folder, ranks):
    report = compare(folder, ranks)
    if MPICH and way in SEEN:
        report = str(folder / "seen")
        see_the_end(report, ranks)
    text = re.sub(r"\n {11}", " ", report_of(report))
    first = re.search(r"^why +(.*)$", text, re.M)
    check(first is not None and re.match(f"Rank {RANK} " + AT + EXPECTED[way], first[1]), f"{ranks} ranks: what is said first:\n{text}")
    if LIMITED:
        why = (r"Its own limit of address space is 8 GiB \(ulimit -v\), and it had taken [78](\.\d+)? GiB of that: most likely an "
               "allocation failed")
        check(re.search(why, text), f"{ranks} ranks: the limit is named:\n{text}")
    ends = json.loads(report_of(report, "--json"))["ends"]
    if LIMITED:
        own = next(end["own_limit"] for end in ends if end["how"] == "exit")
        check(own["is_address_space"] == 1 and own["limit_bytes"] == LIMIT_KIB << 10 and
              own["limit_bytes"] * 0.9 < own["used_bytes"] <= own["limit_bytes"], f"{ranks} ranks: JSON: {own}")
    known = [end for end in ends if end["how"] != "unknown"]
    earliest = min(known, key=lambda end: end["at_us"]["min"], default=None)
    check(earliest is not None and re.fullmatch(RANK, str(earliest["at_us"]["min_rank"])), f"{ranks} ranks: JSON: {ends}")


for ranks in (2, 3):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        os.environ["TMPDIR"] = scratch
        (in_order if way in ("child", "escapes") else ended)(pathlib.Path(scratch), ranks)
conclude()
