#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""advice.py SLUICE LAUNCHER PROGRAM [MODE…]: the advice of reports of programs whose faults are known (known_advice.c)."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import watched
from checks import check, conclude

sluice, launcher, program = sys.argv[1:4]

EARLIER = "post receives earlier"
IN_PLACE = "with MPI_IN_PLACE"
HALF = "half as much"
WAITING = "wait for each other"
UNRELATED = {"earlier": EARLIER, "in place": IN_PLACE, "half": HALF, "waiting": WAITING, "larger": "more than the others",
             "requests": "never completed", "communicators": "communicators", "types": "datatypes"}
# MPICH keeps a flood in memory that both ranks share, whose pages the sender is the first to touch.
MPICH = "mpich" in launcher
SENT = r"6001 messages of 3\.91 KiB"
ESTIMATE = r"run it with `sluice run --flood on`, with which about 384 KiB would wait \(an estimate\)"
FLOODED = (rf"MPI_Send at flood.* on rank 0.*It sent rank 1 {SENT}\. .*about \d+ at once \(an estimate\): {ESTIMATE}" if MPICH else
           rf"MPI_Recv at flood.* on rank 1.*Rank 0 sent it {SENT}, most by MPI_Send at flood.*"
           rf"about \d+ at once \(an estimate\): {EARLIER}, or {ESTIMATE}")
# ROMIO has a buffer of its own for each file; Open MPI gives it back before a sample sees it.
GATHERED = [r"MPI_File_write_at_all at collective_file.*cb_buffer_size"] if MPICH else []


def left(number, kind, call, remedy, made=None):
    return rf"Rank \d made {made or number} {kind}s, and {number} were never freed, most of {call}\S* .* \({number}\)\..*{remedy}"


# Of each mode: options, patterns that the advice has, and which of UNRELATED it may have besides.
MODES = {
    "late_sender": ([], [r"wait for each other during \d+ % of all time, most in MPI_Recv at late_sender.*Rank 0 waits least"], ["waiting"]),
    "late_receiver": ([], [r"most in MPI_Ssend at late_receiver.*, which returns when its receiver has begun to take the message.*Rank 1 waits least"], ["waiting"]),
    "imbalance": ([], [r"most in MPI_Allreduce at imbalance.*Rank 1 waits least.*share of the work"], ["waiting"]),
    "polling": ([], [r"most in MPI_Iprobe at polling.*Rank 0 waits least"], ["waiting"]),
    "flood": ([], [rf"MPI's memory grew by (about )?\S+ MiB in {FLOODED}"], ["waiting", "larger"] + ([] if MPICH else ["earlier"])),
    "rooted": ([], [rf"MPI's memory grew by (about )?\S+ MiB in MPI_Reduce at reduce_ahead.*The others do not wait for the root.*, or {ESTIMATE}"],
               ["waiting", "larger"]),
    "burst": (["--flood", "on"], [r"Flood control (let \d+ messages go|holds the calls that complete nonblocking sends)"],
              ["waiting", "larger", "earlier"]),
    "larger": ([], [r"Rank 1 holds \S+ MiB.* more than the others.*application"], ["larger", "waiting"]),
    "requests": ([], [r"200 requests of MPI_Irecv at requests.* on rank 1 were never completed"], ["requests", "waiting"]),
    "communicators": ([], [r"120 communicators, and 120 were never freed, most of MPI_Comm_dup at communicators.*MPI_Comm_free"], ["communicators", "waiting"]),
    "freed": ([], [], ["waiting"]),
    "types": ([], [r"made 3000 datatypes, and 3000 were never freed.*MPI_Type_free"], ["types", "waiting"]),
    "windows": ([], [left(12, "window", "MPI_Win_create_dynamic at windows", "MPI_Win_free")], ["waiting"]),
    "groups": ([], [left(130, "group", "MPI_Group_incl at groups", "MPI_Group_free", made=131)], ["waiting"]),
    "operations": ([], [left(110, "operation", "MPI_Op_create at operations", "MPI_Op_free")], ["waiting"]),
    "infos": ([], [left(140, "info object", "MPI_Info_create at infos", "MPI_Info_free")], ["waiting"]),
    "handlers": ([], [left(150, "error handler", "MPI_Comm_create_errhandler at handlers", "MPI_Errhandler_free")], ["waiting"]),
    "files": ([], [left(11, "file", "MPI_File_open at files", "Close them with MPI_File_close")], ["waiting"]),
    "nothing": ([], [r"Nothing in the communication stands out"], []),
    "kept": ([], [r"(one buffer, the same|at one address) in all \d+ calls"], ["waiting"]),
    "again": ([], [r"MPI_Recv at again.*in new memory for each call, \S+ MiB of pages in all. One buffer for all"], ["waiting"]),
    "copies": ([], [r"MPI's memory grew by (about )?\S+ MiB in MPI_Comm_dup at copies.*a function of the program"], ["waiting"]),
    "operators": ([], [r"MPI's memory grew by (about )?\S+ MiB in MPI_Allreduce at operators.*The program's own operators \(MPI_Op_create\) may run"],
                  ["waiting"]),
    "fresh": ([], [r"MPI_Irecv at fresh.*new memory.*" + HALF], ["half", "waiting"]),
    "once": ([], [r"in flight in MPI_I(recv|send) at once.*If they are the data themselves, nothing is to be saved"], ["waiting"]),
    "file": ([], [*GATHERED, r"in flight in MPI_File_write_at_all.*at one address in all"], ["waiting"]),
    "passing": ([], [r"MPI's memory was \S+ MiB more at the peak of rank \d, in MPI_Allreduce at reduce_into_another.*gave it back"], ["waiting"]),
    "alltoall": ([], [r"MPI_Alltoall at exchange.*" + IN_PLACE], ["in place", "waiting"]),
    "inplace_off": (["--inplace", "off"], [r"MPI_Alltoall at exchange.*in place.*--inplace on"], ["waiting"]),
    "allreduce": ([], [r"MPI_Allreduce at reduce_in_place.*one buffer"], ["waiting"]),
}


def command(mode, folder, options=()):
    return [*launcher.split(), "-n", "3" if mode == "rooted" else "2", sluice, "run", *options, "--report", folder + "/report", program, mode, folder]


def report(folder):
    done = watched.run([sluice, "report", folder + "/report"], capture_output=True, text=True)
    return re.sub(r"\s+", " ", done.stdout), done.stdout + done.stderr


def advised(mode):
    options, patterns, may = MODES[mode]
    with tempfile.TemporaryDirectory() as folder:
        done = watched.run(command(mode, folder, options), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{mode} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        text, shown = report(folder)
        summary = json.load(open(folder + "/report/report.json"))
    advice = text.partition(" advice ")[2]
    for pattern in patterns:
        check(re.search(pattern, advice), f"{mode}: the advice has “{pattern}”:\n{shown}")
    for name, words in UNRELATED.items():
        if name not in may:
            check(words not in advice, f"{mode}: no advice on {name}:\n{shown}")
    lived = summary["lived_us"]["max"] * 1000
    if mode in ("late_sender", "late_receiver", "imbalance", "polling"):
        check(summary["waiting_ns"]["max"] > 0.25 * lived, f"{mode}: a rank waits for much of its time: {summary['waiting_ns']}")


def hangs(modes):
    """Rank 1 waits for rank 0, which is in MPI_Finalize; then the job is killed."""
    for mode in modes:
        with tempfile.TemporaryDirectory() as folder:
            watch = watched.Watch(dict(os.environ))
            job = subprocess.Popen(command(mode, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=watch.environment)
            want = (r"Rank 1 waits in MPI_Recv at hang\S* \S+ for rank 0, which is in MPI_Finalize: .* can come"
                    if mode == "hang" else r"Rank 1 waits in MPI_Recv at hang\S* \S+ for rank 0, which is outside MPI")
            found = {}

            def said():
                while not re.search(want, found.get("text", "")) and job.poll() is None:
                    time.sleep(0.1)
                    if pathlib.Path(folder + "/report").exists():
                        found["text"], found["shown"] = report(folder)

            watch.wait(job, said)
            check(re.search(want, found.get("text", "")), f"{mode}: “{want}”:\n{found.get('shown')}")
            long = lambda: any(row["for_us"]["max"] > 1_200_000 for row in json.loads(watched.run(
                [sluice, "report", folder + "/report", "--json"], capture_output=True, text=True).stdout)["whereabouts"])

            def has_waited():
                while job.poll() is None and not long():
                    time.sleep(0.1)

            watch.wait(job, has_waited)
            ranks = [int(path.name.split("-")[2]) for path in pathlib.Path(folder).glob("rank-*")]
            for rank in ranks:
                try:
                    os.kill(rank, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # the launcher has killed it already
            watch.end(job)
            text, shown = report(folder)
            check(re.search(r"Rank 1 waited in MPI_Recv at hang\S* \S+ for rank 0", text), f"{mode}, killed: of whom it waited:\n{shown}")
            check("gone" in text and "share of the work" not in text, f"{mode}, killed: the rank is gone:\n{shown}")


HANGING = ("hang", "hang_alive")
for chosen in sys.argv[4:] or MODES:
    if chosen in MODES:
        advised(chosen)
hangs([mode for mode in HANGING if mode in sys.argv[4:] or not sys.argv[4:]])
conclude()
