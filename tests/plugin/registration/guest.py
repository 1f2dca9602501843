#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs in the guest of the RDMA bed, with real pinning: guest.py CASES MPI BED SLUICE COUNTS PROGRAMS

The jobs of all CASES, joined by "+", run one after the other in one guest, whose start takes as long as a job. COUNTS is
the preload library that counts registrations; the programs of the folder PROGRAMS are periodic, reuse and forks.
  periodic  after two rounds most messages find their buffer registered ahead, by another thread; less is pinned than all
            buffers; nothing is wrong, and nothing stays pinned after MPI_Finalize
  persistent  the first with requests that are made once: MPI_Start uses their buffers
  reuse     memory is replaced between messages in each way that there is: no byte is wrong
  forks     children write, unmap and end between messages, also while receives are overlapped: they have all memory
  starved   messages follow each other without a pause, and other processes want the processors: nothing is wrong
  together  the first with all other services: registration serves the large sends, overlap their receives, flood control
            small messages, and an all-to-all is in place; no byte is wrong
  aside     overlap alone: pages aside that come to one address one after the other, and sends from the pages that were
            given back: no byte is wrong, by each way back
  endless   10,000 messages: the process grows no more after the first of them
  capped    buffers may take what two of them do: those that are registered ahead are found, and no more is pinned
  limited   a normal user may lock less than the buffers take: the job ends as it should, and without Sluice it fails
"""
import json
import os
import re
import sys

import watched
from checks import check, conclude

cases, mpi, bed, sluice, counts, programs = sys.argv[1:]
PERIODIC, REUSE, FORKS = (os.path.join(programs, f"registration-{name}") for name in ("periodic", "reuse", "forks"))
# One job each: the end of the heap has no room for two.
WAYS = ("munmap raw_munmap raw_map_over mremap raw_mremap dontneed raw_dontneed raw_half", "brk", "raw_brk")
BUFFERS, BYTES, ROUNDS = 8, 4 << 20, 12
# UCX's own rings and connections take about 31 MiB a rank.
LOCKED = 40 << 20


class Ended:
    """One of the jobs of a guest."""

    def __init__(self, stdout, code):
        self.stdout, self.returncode = stdout, int(code)  # with what it wrote on standard error


def run_jobs(options, jobs):
    """Runs the jobs, lines of the shell, in one guest."""
    lines = [line for job in jobs for line in (f"({job}) 2>&1", "echo == ended $?")]
    settings = {"SLUICE_WATCH": "off", **os.environ, "SLUICE_REGISTRATION": "ucx"}
    done = watched.run([bed, "--mpi", mpi, *options, "--", "bash", "-c", "\n".join(lines)], capture_output=True,
                       text=True, env=settings)
    if done.returncode == 3 and "rdma bed: " in done.stderr:
        print("skipped:", next(line for line in done.stderr.splitlines() if "rdma bed: " in line))
        sys.exit(0)
    said = done.stdout + done.stderr
    print(said)
    check("registration: off" not in said and "plainly" not in said, "the service runs")
    parts = re.split(r"^== ended (\d+)\n", done.stdout, flags=re.MULTILINE)
    check(len(parts) == 2 * len(jobs) + 1, f"all jobs have ended: {parts}")
    return [Ended(*parts[at:at + 2]) for at in range(0, len(parts) - 1, 2)]


def job(command, settings=""):
    """A job of two ranks; `settings` are those of its environment."""
    return f"{settings} $RDMA_BED_LAUNCHER -n 2 {command}"


def reported(command, settings=""):
    """The same, whose report is its last line."""
    settings += " SLUICE_WATCH=on SLUICE_REPORT=/tmp/report"
    return f"{job(command, settings)}; code=$?; tr -d '\\n' </tmp/report/report.json; echo; exit $code"


def periodic_command(rounds=ROUNDS, buffers=BUFFERS, pause=50, more=()):
    return " ".join(["env", f"LD_PRELOAD={counts}", sluice, "run", PERIODIC, str(rounds), str(buffers), str(BYTES),
                     str(pause), *more])


def ranks_of(done):
    """What the program has printed of each rank: names and numbers."""
    lines = re.findall(r"^rank \d (wrong .*)$", done.stdout, re.MULTILINE)
    check(len(lines) == 2, f"both ranks have ended: {done.stdout}")
    return [{name: int(number) for name, number in re.findall(r"(\w+) (\d+)", line)} for line in lines]


def counters_of(done):
    """Those in the report, which is the last line that the job has printed."""
    report = json.loads(done.stdout.strip().splitlines()[-1])
    return {(row["service"], row["what"]): row["count"]["sum"] for row in report["counters"]}


# Each case gives its jobs, is sent what they did, and checks it.


def periodic(more=()):
    done, = yield [job(periodic_command(more=more))]
    check(done.returncode == 0, f"the program ends with {done.returncode}")
    check(done.stdout.count("after MPI_Finalize 0 KiB pinned") == 2, "nothing stays pinned")
    left_pinned = BUFFERS * BYTES // 1024  # by the MPI alone, from the end of the first round on
    for rank in ranks_of(done):
        found = 1 - rank["main"] / rank["messages"]
        print(f"{found:.0%} of {rank['messages']} messages found their buffer registered; pinned on average "
              f"{rank['average_kib']} KiB of {left_pinned} KiB")
        check(rank["wrong"] == 0, "no byte is wrong")
        check(rank["others"] > 0, "another thread registers")
        # Predictions are of time, and the emulated processors share the machine with other work.
        check(found >= 0.5, "most messages find their buffer registered")
        check(rank["removed_main"] <= rank["messages"] / 10, "another thread gives back")
        check(rank["average_kib"] < 0.75 * left_pinned, "less is pinned")


def persistent():
    return periodic(("persistent",))


def reuse():
    for ways, done in zip(WAYS, (yield [job(f"{sluice} run {REUSE} 40 1048576 {ways}") for ways in WAYS])):
        check(done.returncode == 0, f"{ways}: ended with {done.returncode}")
        for way in ways.split():
            wrong = re.findall(rf"^rank \d way {way} rounds 40 wrong (\d+)$", done.stdout, re.MULTILINE)
            check(wrong == ["0", "0"], f"{way}: wrong bytes of both ranks are {wrong}")


def forks():
    overlap = "SLUICE_OVERLAP=on SLUICE_OVERLAP_FROM=64KiB"
    services = ("", overlap, overlap + " SLUICE_REGISTRATION=off")
    dones = yield [job(f"{sluice} run {FORKS} 24 1048576", others) for others in services]
    for others, done in zip(services, dones):
        wrong = re.findall(r"^rank \d rounds 24 wrong (\d+)$", done.stdout, re.MULTILINE)
        check(done.returncode == 0 and wrong == ["0", "0"], f"{others}: ended with {done.returncode}, wrong {wrong}")


def starved():
    burners = "for i in 1 2; do while :; do :; done & done"
    command = job(f"{sluice} run {PERIODIC} 5 {BUFFERS} {BYTES} 0")
    done, = yield [f"{burners}; {command}; code=$?; kill $(jobs -p); exit $code"]
    check(done.returncode == 0, f"ended with {done.returncode}")
    check(all(rank["wrong"] == 0 for rank in ranks_of(done)), "no byte is wrong")
    check(done.stdout.count("after MPI_Finalize 0 KiB pinned") == 2, "nothing stays pinned")


def together():
    others = "SLUICE_OVERLAP=on SLUICE_OVERLAP_FROM=64KiB SLUICE_CHECK=collectives SLUICE_FLOOD=on"
    dones = yield [reported(periodic_command(rounds=6, more=way), others) for way in (("beside",), ("nonblocking", "beside"))]
    for done in dones:
        check(done.returncode == 0, f"ended with {done.returncode}")
        ranks = ranks_of(done)
        check(all(rank["wrong"] == 0 for rank in ranks), "no byte is wrong")
        check(any(rank["others"] > 0 for rank in ranks), "another thread registers for the sends")
        seen = counters_of(done)
        check(seen["overlap", "receives that returned early"] > 0, f"overlap serves receives: {seen}")
        check(seen["flood control", "synchronous sends"] >= 6, f"flood control marks small messages: {seen}")
        check(seen["all-to-alls in place", "calls served"] >= 2 * 6, f"all-to-alls are in place: {seen}")
        check(seen["registration", "receives left to overlap"] >= 6 * BUFFERS, f"registration leaves them alone: {seen}")


def aside():
    # The addresses of blocks of the second size are 4 MiB apart: all of them have the same place aside.
    resends = f"{REUSE} 24 {BYTES} same"
    ways = [("remap", f"{PERIODIC} 3 {BUFFERS} {BYTES} 20"), ("remap", f"{PERIODIC} 3 {BUFFERS} {BYTES - 8192} 20"),
            ("remap", resends), ("copy", resends)]
    dones = yield [reported(f"{sluice} run --overlap on {command}", f"SLUICE_REGISTRATION=off SLUICE_OVERLAP_PAGES={way}")
                   for way, command in ways]
    for (way, command), done in zip(ways, dones):
        check(done.returncode == 0, f"{way}: {command}: ended with {done.returncode}")
        wrong = re.findall(r"^rank \d .*wrong (\d+)", done.stdout, re.MULTILINE)
        check(wrong == ["0", "0"], f"{way}: {command}: wrong bytes of both ranks are {wrong}")
        early = counters_of(done)["overlap", "receives that returned early"]
        check(early >= 20, f"{way}: {command}: {early} receives returned early")


def endless():
    done, = yield [job(f"{sluice} run {PERIODIC} 1250 {BUFFERS} 16384 0 unseen")]
    check(done.returncode == 0, f"ended with {done.returncode}")
    for rank in ranks_of(done):
        check(rank["wrong"] == 0 and rank["messages"] >= 9_900, f"all messages are right: {rank}")
        check(rank["grown_kib"] <= 128, f"nothing grows: {rank}")


def capped():
    room = 2 * BYTES + (1 << 20)
    done, = yield [job(periodic_command(), f"SLUICE_REGISTRATION_MEMORY={room}")]
    check(done.returncode == 0, f"ended with {done.returncode}")
    for rank in ranks_of(done):
        check(rank["wrong"] == 0, "no byte is wrong")
        check(rank["peak_kib"] <= room / 1024, f"the limit holds: {rank}")
        check(rank["removed_main"] <= rank["messages"] / 10, f"UCX keeps what was registered ahead: {rank}")


def limited():
    command = periodic_command(4, 16, 10, ("nonblocking", "one"))
    plain, served = yield [job(command, "SLUICE_REGISTRATION=off"), job(command)]
    check(plain.returncode != 0, "without Sluice the buffers do not fit")
    check(served.returncode == 0, f"ended with {served.returncode}")
    for rank in ranks_of(served):
        check(rank["wrong"] == 0, "no byte is wrong")
        check(rank["start_kib"] + rank["peak_kib"] <= LOCKED / 1024, f"the limit holds: {rank}")


CASES = {case.__name__: case for case in (periodic, persistent, reuse, forks, starved, together, aside, endless, capped, limited)}
running = [CASES[name]() for name in cases.split("+")]
wanted = [next(case) for case in running]
ended = run_jobs(["--locked", str(LOCKED)] if cases == "limited" else [], [each for jobs in wanted for each in jobs])
for case, jobs in zip(running, wanted):
    own, ended = ended[:len(jobs)], ended[len(jobs):]
    try:
        case.send(own)
    except StopIteration:
        pass
conclude()
