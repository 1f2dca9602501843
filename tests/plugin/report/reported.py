#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The files that jobs leave behind, and the reports that `sluice report` makes of them: reported.py CASE SLUICE
LAUNCHER PROGRAM AGER

Runs the program (reported.c) in two or three ranks in a temporary folder of its own; see the functions below for the
cases. The ager (age_records.cpp) makes records older.
"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import watched
from checks import check, conclude

case, sluice, launcher, program, ager = sys.argv[1:]


class Bed:
    """A folder that serves as TMPDIR, with jobs and reports in it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {**os.environ, "TMPDIR": folder}
        self.jobs = self.folder / f"sluice-{os.getuid()}"

    def command(self, mode, options=(), ranks=2, words=()):
        return [*launcher.split(), "-n", str(ranks), sluice, "run", *options, program, mode, *words]

    def run(self, mode, options=(), ranks=2, words=(), **changes):
        done = watched.run(self.command(mode, options, ranks, words), capture_output=True, text=True,
                           env={**self.environment, **changes}, cwd=self.folder)
        if done.returncode != 0:
            sys.exit(f"{mode} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stderr

    def start_until_it_holds(self, command):
        watch = watched.Watch(self.environment)
        job = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                               env=watch.environment, cwd=self.folder)
        watch.wait(job, lambda: next((line for line in job.stderr if "holding" in line), None))
        job.watch = watch
        return job

    def start_and_hold(self, options=()):
        """Starts a job whose ranks hold memory and wait; returns the launcher and the process numbers of the ranks."""
        job = self.start_until_it_holds(self.command("hold", options))
        time.sleep(0.6)  # for samples of this state
        ranks = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
                folder = (process / "cwd").resolve()
            except OSError:
                continue
            if words[0].decode() == program and words[1] == b"hold" and folder == self.folder.resolve():
                ranks.append(int(process.name))
        check(len(ranks) == 2, f"two ranks run: {ranks}")
        return job, ranks

    def kill(self, job, ranks):
        for rank in ranks:
            try:
                os.kill(rank, signal.SIGKILL)
            except ProcessLookupError:
                pass  # the launcher has killed it already
        def end():
            job.wait()
            job.stderr.close()
            while any(pathlib.Path(f"/proc/{rank}").exists() for rank in ranks):
                time.sleep(0.05)  # a rank that the launcher ends may need a moment

        job.watch.wait(job, end)

    def report(self, *arguments, status=0):
        done = watched.run([sluice, "report", *map(str, arguments)], capture_output=True, text=True, env=self.environment)
        check(done.returncode == status, f"sluice report {arguments} ends with {status}: {done.returncode} {done.stderr}")
        return done.stdout, done.stderr

    def text(self, *arguments):
        out, _ = self.report(*arguments)
        check(all(len(line) <= 92 for line in out.splitlines()), f"no line is longer than 92 columns:\n{out}")
        return re.sub(r"\n {11}", " ", out)

    def json(self, *arguments):
        return json.loads(self.report(*arguments, "--json")[0])


def state_of(report, rank):
    found = [state for i, state in enumerate(("running", "finalizing", "ended", "exited", "aborted", "gone", "unknown"))
             if any(first <= rank <= last for first, last in report["states"][i]["ranges"])]
    check(len(found) == 1, f"rank {rank} is in one state: {found}")
    return found[0] if found else None


def killed_one(bed):
    """One rank is killed and the launcher ends the others: all are gone, and the report names the one that held most."""
    folder = bed.folder / "report"
    job, ranks = bed.start_and_hold(["--report", str(folder)])
    text = bed.text(folder)
    check("still running" in text.splitlines()[0], f"while it runs it is said to run:\n{text}")
    check("gone" not in text and "did not end" not in text, f"no rank is gone yet:\n{text}")
    running = bed.json(folder)
    check([state_of(running, r) for r in (0, 1)] == ["running"] * 2, f"both ranks run: {running['states']}")
    check(not (folder / "report.json").exists(), "of a job that runs no report is written into its folder")
    bed.kill(job, ranks[-1:])
    text = bed.text(folder)
    check("did not end" in text.splitlines()[0], f"the job did not end:\n{text}")
    check("state both ranks gone" in re.sub(" +", " ", text), f"the state is named:\n{text}")
    known = re.search(r"why +Rank \d ended first, at [\d.]+ s: signal 9 \(kill\), in MPI_Recv at ", text)
    unknown = "gone: killed, or ended without MPI_Finalize; how they ended is not known here" in text
    # MPICH's launcher kills the other rank at once.
    check(known or ("mpich" in launcher and unknown), f"and how the first one ended:\n{text}")
    check("running" not in text, f"no rank runs any more:\n{text}")
    check(re.search(r"last seen +(both ranks|rank \d) at [\d.]+ m?s.* in MPI_Recv at .* for [\d.]+ m?s, held", text),
          f"when, where, for how long and with how much each was seen last:\n{text}")
    report = bed.json(folder)
    check([state_of(report, r) for r in (0, 1)] == ["gone"] * 2, f"JSON says gone: {report['states']}")
    check(all(r["state"] == "gone" for r in report["ranks"]), "so does each rank")
    rows = report["whereabouts"]
    check(rows and all(row["function"] == "MPI_Recv" and row["state"] == "gone" and row["last_us"]["min"] > 500_000 and
                       row["for_us"]["min"] > 400_000 for row in rows), f"whereabouts: {rows}")
    check(report["last_kib"]["max_rank"] == 1 and report["last_kib"]["max"] > 40 * 1024, f"the rank that held most: {report['last_kib']}")
    grown = {s["function"]: s["grown_bytes"]["max"] >> 20 for s in report["sites"]}
    check(grown["MPI_Init_thread"] > 1 and grown["MPI_Recv"] <= 1, f"what MPI_Init took is on no other call's account: {grown}")
    page = folder / "page.html"
    bed.report(folder, "--html", page)
    check('"outcome":"did not end"' in page.read_text(), "the page says so")


def cleaned(bed):
    """Of the records of jobs that did not end, those of the last 4 jobs and of living jobs stay, and old ones are
    removed.
    """
    job, ranks = bed.start_and_hold()
    alive = next(bed.jobs.iterdir())
    dead = []
    for _ in range(6):
        other, theirs = bed.start_and_hold_one()
        bed.kill(other, theirs)
        dead.append(max(bed.jobs.iterdir(), key=lambda folder: folder.stat().st_ctime))
    bed.run("quick")
    left = set(bed.jobs.iterdir())
    check(alive in left, "a job that runs keeps its records")
    check(left - {alive} == set(dead[-4:]), f"the last 4 that did not end stay: {sorted(left)} of {dead}")
    out, said = bed.report()
    check(str(dead[-1]) in said, f"without a folder the last one is shown: {said}")
    check("did not end" in out, out)
    # A week later no process is queried, because the machine was restarted in between.
    (bed.jobs / "notes").mkdir()
    (bed.jobs / "notes" / "text").write_text("a user's own")
    for folder in dead[-4:-1]:
        for file in folder.glob("node-*.sluice"):
            age(file)
    bed.run("quick")
    left = set(bed.jobs.iterdir())
    check(left == {alive, dead[-1], bed.jobs / "notes"}, f"what is older than 7 days goes: {sorted(left)}")
    bed.kill(job, ranks)


def age(path):
    """Makes the records of a file eight days older."""
    done = watched.run([ager, str(path), str(8 * 24 * 3600)], capture_output=True, text=True)
    check(done.returncode == 0, f"the records become older: {done.stderr}")


def same_folder(bed):
    """A job that reports to the folder of a killed job makes its own report, with nothing of the other job."""
    folder = bed.folder / "report"
    options = ["--report", str(folder)]
    bed.kill(*bed.start_and_hold(options))
    first = bed.json(folder)
    job, ranks = bed.start_and_hold(options)
    out, said = bed.report(folder)
    check("still running" in out.splitlines()[0], f"the job that runs is shown:\n{out}")
    check("another job" in said, f"of the other one it is said that it is not: {said}")
    bed.kill(job, ranks)
    second = bed.json(folder)
    check(second["start_unix_us"] > first["start_unix_us"], "the second job is shown, not the first")
    check(second["ranks_seen"] == 2, f"and all of its ranks: {second['ranks_seen']}")
    check(len(list(folder.glob("node-*.sluice"))) == 2, f"the earlier record is still there: {os.listdir(folder)}")
    bed.run("quick", options)
    third = json.loads((folder / "report.json").read_text())
    check(state_of(third, 0) == "ended" and third["start_unix_us"] > second["start_unix_us"], "the third has its own")
    out = bed.text(folder)
    check("ended" in out.splitlines()[0] and "did not end" not in out, f"and is what is shown:\n{out}")
    check(len(list(folder.glob("node-*.sluice"))) == 2, f"records of one earlier job stay: {os.listdir(folder)}")


def matrix(bed):
    """Each cell has the bytes that the calls are defined to move; bytes without a defined pair are reported apart."""
    folder = bed.folder / "report"
    bed.run("collectives", ["--report", str(folder)], ranks=3)
    report = json.loads((folder / "report.json").read_text())
    cells = {(f, t): (b, n) for f, t, b, n in zip(*(report["matrix"][k] for k in ("from", "to", "bytes", "messages")))}
    for sender in range(3):
        for target in range(3):
            bytes_known = messages = 0
            if sender != target:
                # Bytes of allgather, alltoall, alltoallv and alltoallw.
                bytes_known, messages = 16 + 32 + 64 * (1 + target + sender) + 4096, 4
                if sender == 2:  # this is the root: bcast, scatter
                    bytes_known, messages = bytes_known + 1 + 4, messages + 2
                if target == 2:  # to the root: gather, reduce
                    bytes_known, messages = bytes_known + 2 + 8, messages + 2
                if sender == 0:  # ibcast
                    bytes_known, messages = bytes_known + 65536, messages + 1
            found = cells.get((sender, target), (0, 0))
            check(found == (bytes_known, messages), f"{sender} to {target}: {found}, known {(bytes_known, messages)}")
    unplaced = {s["function"]: s["unplaced_bytes"] for s in report["sites"] if s["unplaced_bytes"] > 0}
    check(unplaced == {"MPI_Allreduce": 3000}, f"what is not in it: {unplaced}")


def communicators(bed):
    """Ids have no gap: MPI_COMM_WORLD is 0, then come communicators of several ranks, then those of one rank."""
    for mode in ("communicators", "threads"):
        folder = bed.folder / mode
        bed.run(mode, ["--report", str(folder)], ranks=3)
        report = json.loads((folder / "report.json").read_text())
        comms = report["communicators"]
        # Of all ranks: WORLD and two copies. Of ranks 0 and 2: two. Of one rank: three SELF, three copies, rank 1's
        # half and its copy, rank 0's.
        sizes = sorted(c["size"] for c in comms)
        check(sizes == [1] * 9 + [2] * 2 + [3] * 3, f"{mode}: all are listed: {sizes}")
        ids = sorted(-1 if c["id"] is None else c["id"] for c in comms)
        check(ids == list(range(14)) and report["comms_total"] == 14, f"{mode}: ids without gaps: {ids}")
        check(sorted(c["id"] for c in comms if c["size"] > 1) == list(range(5)), f"{mode}: those of several come first")
        world = [c["id"] for c in comms if c["size"] == 3 and c["made_us"] == 0]
        check(world == [0], f"{mode}: MPI_COMM_WORLD is 0: {world}")


def identity(bed):
    """The user, the program and the host are not named unless the user asks for it."""
    words = {"user": "Zz9userzZ", "argument": "Zz9argumentzZ", "variable": "Zz9variablezZ", "host": socket.gethostname()}
    changes = {"LOGNAME": words["user"], "USER": words["user"], "ZZ_VARIABLE": words["variable"]}
    inner = Bed(bed.folder / "Zz9folderzZ")
    inner.folder.mkdir()
    # A short host name occurs in any text, so the programs then run with a long name, in a namespace of their own.
    if len(words["host"]) < 8:
        words["host"] = "Zz9hostzZ"
        changes["SLUICE_TEST_HOST"] = words["host"]
    plain = "SLUICE_TEST_HOST" not in changes

    def run(mode, report, options=()):
        options = ["--report", str(report), *options]
        command = inner.command(mode, options, words=[words["argument"]])
        if not plain:
            command = ["unshare", "--uts", "sh", "-c", 'hostname "$SLUICE_TEST_HOST" && exec "$@"', "sh", *command]
        done = watched.run(command, capture_output=True, text=True, cwd=inner.folder,
                           env={**os.environ, "TMPDIR": str(bed.folder), **changes})
        return done

    if not plain and subprocess.run(["unshare", "--uts", "true"], capture_output=True).returncode != 0:
        print("skipped: the host's name is too short to be looked for, and another cannot be given (unshare --uts)")
        sys.exit(0)
    for asked in (False, True):
        report = bed.folder / f"report-{asked}"
        done = run("quick", report, ["--identify"] if asked else [])
        if done.returncode != 0 and not plain:
            print(f"skipped: no job runs under another host name here: {done.stderr[-300:]}")
            sys.exit(0)
        check(done.returncode == 0, f"the job runs: {done.stderr}")
        shown = {"screen": done.stderr.encode(), "json": bed.report(report, "--json")[0].encode(),
                 "text": bed.report(report)[0].encode(), "names": "\n".join(os.listdir(report)).encode()}
        files = {file.name: file.read_bytes() for file in report.iterdir()}
        check(any(name.endswith(".sluice") for name in files) and "report.html" in files, f"all files are there: {list(files)}")
        for name, content in {**files, **shown}.items():
            for what, word in {**words, "folder": inner.folder.name}.items():
                there = word.encode() in content
                # The working folder and the environment are never stored.
                expected = asked and name not in ("trace.json", "names") and what not in ("variable", "folder")
                check(there == expected, f"identify {'on' if asked else 'off'}: {what} in {name}: {there}")


def phases(bed):
    """MPI_Init counts like other calls; no line at the end of a job has more than 100 columns, and none says 0 B."""
    folder = bed.folder / "report"
    said = bed.run("quick", ["--report", str(folder)])
    report = json.loads((folder / "report.json").read_text())
    for rank in report["ranks"]:
        names = [next(s["function"] for s in report["sites"] if s["id"] == rank["sites"][i]) for i in rank["events"]["site"]]
        check("MPI_Init_thread" in names, f"rank {rank['rank']}: MPI_Init is among the long calls: {names}")
        first = names.index("MPI_Init_thread")
        took = next(s["time_ns"]["max"] for s in report["sites"] if s["function"] == "MPI_Init_thread") / 1000
        check(0.3 * took <= rank["events"]["duration_us"][first] <= 1.1 * took + 1, f"for as long as it took: {took}")
        times, held = rank["curve"]["time_us"], rank["curve"]["resident_kib"]
        begin = rank["events"]["start_us"][first]
        check(times[0] <= begin and times == sorted(times) and held[0] < held[1], f"the curve begins before it: {begin} {times[:3]} {held[:3]}")
    ours = [line for line in said.splitlines() if line.startswith("sluice: ") and "report written" not in line]
    check(len(ours) > 5 and max(map(len, ours)) <= 100, f"columns: {max(map(len, ours))}\n{said}")
    check(not any(line.startswith("sluice: objects") for line in ours), f"communicators that cost nothing: {said}")


def start_and_hold_one(self):
    """The same with one rank, which ends without a launcher's help."""
    job = self.start_until_it_holds([sluice, "run", program, "hold"])
    time.sleep(0.1)
    return job, [job.pid]


Bed.start_and_hold_one = start_and_hold_one
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
    {"killed_one": killed_one, "cleaned": cleaned, "same_folder": same_folder, "matrix": matrix,
     "communicators": communicators, "identity": identity, "phases": phases}[case](Bed(scratch))
conclude()
