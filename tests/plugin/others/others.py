#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What other users and readers can do to a job: others.py CASE SLUICE LAUNCHER PROGRAM [IN_PLACE]

Another user puts links, pipes and files where a job writes its own; the reader of standard error goes away or stops.
The program (reported.c) ends as without Sluice, and no file of this user changes. See the functions below for the cases.
"""
import fcntl
import os
import pathlib
import subprocess
import sys
import tempfile

import watched
from checks import check, conclude

case, sluice, launcher, program, *in_place = sys.argv[1:]
OTHER_USER = 65534


class Bed:
    """A folder that serves as TMPDIR, with a folder of reports, into which any user may write, and a private file."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {**os.environ, "TMPDIR": folder}
        self.taken = self.folder / f"sluice-{os.getuid()}"
        self.reports = self.folder / "reports"
        self.reports.mkdir()
        self.reports.chmod(0o777)
        self.private = self.folder / "private"
        self.words = b"private\n" * 2000
        self.private.write_bytes(self.words)
        self.private.chmod(0o600)

    def run(self, command, **options):
        """Runs a command; returns what it says on standard error."""
        done = watched.run(command, capture_output=True, text=True, errors="backslashreplace", env=self.environment,
                           cwd=self.folder, **options)
        if done.returncode != 0:
            sys.exit(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stderr

    def job(self, *options, ranks=2, words=(program, "quick")):
        return self.run([*launcher.split(), "-n", str(ranks), sluice, "run", *options, *words])

    def alone(self, before="true"):
        """A job of one rank, which knows the number of its process before it starts: so does another user in time."""
        words = f"set -e; {before}; exec {sluice} run --report {self.reports} {program} quick"
        return self.run(["sh", "-c", words])

    def check_private(self, what):
        check(self.private.read_bytes() == self.words, f"{what}: the private file is unchanged")


def report_links(bed):
    """The files of a report are written to new files, whatever stands under their names."""
    for name in ("report.json", "trace.json", "report.html"):
        (bed.reports / name).symlink_to(bed.private)
    bed.alone("; ".join(f"ln -s {bed.private} {bed.reports}/{name}.part-$$"
                        for name in ("report.json", "trace.json", "report.html")))
    bed.check_private("links under the names of a report")
    report = bed.reports / "report.json"
    check(not report.is_symlink() and report.stat().st_size > 1000, "the report is a file of its own")
    check(report.stat().st_mode & 0o777 == 0o666 & ~umask(), "its mode is that of the umask")


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def node_file(bed):
    """The node's file is one of this user alone; a taken name is left as it is."""
    bed.alone()
    node = next(bed.reports.glob("node-*")).name.rsplit("-", 1)[1]
    name = f"{bed.reports}/node-$$.$(cut -d' ' -f22 /proc/$$/stat)-{node}"
    foreign = f"dd if=/dev/zero of={name} bs=4096 count=100 status=none"
    ways = {"a link": f"ln -s {bed.private} {name}", "a second name": f"ln {bed.private} {name}",
            "a pipe": f"mkfifo {name}", "rights of others": f"{foreign}; chmod 666 {name}",
            "a broken file": foreign + f"; chmod 600 {name}"}
    if os.getuid() == 0:
        ways["another user's file"] = f"{foreign}; chmod 666 {name}; chown {OTHER_USER} {name}"
    for what, plant in ways.items():
        for file in bed.reports.iterdir():
            file.unlink()
        said = bed.alone(plant)
        bed.check_private(what)
        planted = next(file for file in bed.reports.glob("node-*") if not file.stem.endswith("-2"))
        check(planted.is_fifo() or planted.read_bytes()[:4096] in (bytes(4096), bed.words[:4096]),
              f"{what}: nothing was written to it")
        used = list(bed.reports.glob("node-*-2.sluice"))
        check(len(used) == 1 and used[0].stat().st_mode & 0o777 == 0o600, f"{what}: the next name is used: {said}")
        bed.run([sluice, "report", str(bed.reports)])


def taken(bed):
    """A folder below TMPDIR that another user has taken costs nothing but a line."""
    elsewhere = bed.folder / "elsewhere"
    elsewhere.mkdir()
    ways = {"it is a file": lambda: bed.taken.write_text("x"),
            "it is a symbolic link": lambda: bed.taken.symlink_to(elsewhere),
            "other users may write into it": lambda: (bed.taken.mkdir(), bed.taken.chmod(0o777))}
    if os.getuid() == 0:
        ways[f"it belongs to user {OTHER_USER}"] = lambda: (bed.taken.mkdir(), os.chown(bed.taken, OTHER_USER, OTHER_USER))
    for why, take in ways.items():
        take()
        said = bed.job()
        check("sluice: memory" in said, f"{why}: there is a summary")
        check(said.count(why) == 1, f"{why}: it is said once:\n{said}")
        check("in-place all-to-alls" in bed.job(words=in_place), f"{why}: all-to-alls in place are served")
        check(not list(elsewhere.iterdir()), f"{why}: nothing is written through it")
        other = pathlib.Path(f"{bed.taken}-2")
        check(other.is_dir() and not list(other.iterdir()), f"{why}: the other folder is empty after the job")
        if bed.taken.is_dir() and not bed.taken.is_symlink():
            check(not list(bed.taken.iterdir()), f"{why}: it stays empty")
            bed.taken.rmdir()
        else:
            bed.taken.unlink()


def pipes(bed):
    """Neither the next job nor the reader of a report waits at a pipe."""
    for number in range(3):
        os.mkfifo(bed.reports / f"node-{number}-1.sluice")
    said = bed.job("--report", str(bed.reports))
    check("report written" in said, f"a job with pipes in its folder: {said}")
    said = bed.run([sluice, "report", str(bed.reports)])
    (bed.reports / "report.json").unlink()
    os.mkfifo(bed.reports / "report.json")
    bed.run([sluice, "report", str(bed.reports)])


def small(bed):
    """Where there is no room for records, the ranks still find each other, and the node says once what is lost."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", bed.reports], capture_output=True)
    if mounted.returncode != 0:
        print("skipped: no file system of 64 KiB can be mounted here (needs root)")
        return
    try:
        words = f"exec env TMPDIR={bed.reports} {sluice} run {program} quick"
        said = bed.run([*launcher.split(), "-n", "2", "sh", "-c", words])
        check("sluice: memory" in said, f"there is a summary:\n{said}")
        check(said.count("will lack ranks") == 1, f"it is said once:\n{said}")
        left = [str(path) for path in bed.reports.rglob("*.sluice")]
        check(not left, f"nothing is left: {left}")
    finally:
        subprocess.run(["umount", bed.reports], check=True)


def closed(bed):
    """Standard error without a reader ends no program."""
    reader, writer = os.pipe()
    os.close(reader)
    done = watched.run([sluice, "run", program, "quick"], stderr=writer, stdout=subprocess.DEVNULL,
                       env=bed.environment, cwd=bed.folder)
    os.close(writer)
    check(done.returncode == 0, f"the program ends with 0, not {done.returncode}")


def piped(bed):
    """The launcher's output goes to a reader that has gone: each rank writes its results all the same, as without Sluice."""
    for before in ([], [sluice, "run"]):
        results = bed.folder / ("layered" if before else "plain")
        reader, writer = os.pipe()
        watch = watched.Watch()
        job = subprocess.Popen([*launcher.split(), "-n", "2", *before, program, str(results)], stdin=subprocess.DEVNULL,
                               stdout=writer, stderr=writer, env={**bed.environment, **watch.environment}, cwd=bed.folder)
        os.close(writer)

        def read_one_line():
            seen = b""
            while b"one line\n" not in seen and (byte := os.read(reader, 1)):
                seen += byte
            os.close(reader)
            (bed.folder / (results.name + ".go")).touch()
            job.wait()

        watch.wait(job, read_one_line)
        for rank in range(2):
            file = pathlib.Path(f"{results}.{rank}")
            held = file.read_text() if file.exists() else None
            check(held == "result\n", f"{results.name}: rank {rank} has written its results: {held}")


def full(bed):
    """Standard error that no process reads blocks no program."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    try:
        while True:
            os.write(writer, bytes(4096))
    except BlockingIOError:
        fcntl.fcntl(writer, fcntl.F_SETFL, 0)
    done = watched.run([sluice, "run", program, "quick"], stderr=writer, stdout=subprocess.DEVNULL,
                       env=bed.environment, cwd=bed.folder)
    check(done.returncode == 0, f"the program ends with 0, not {done.returncode}")
    check(fcntl.fcntl(writer, fcntl.F_GETFL) & os.O_NONBLOCK == 0, "the shared flags of standard error are unchanged")
    os.close(reader)
    os.close(writer)


def descriptor_2(bed):
    """A data file that has got the number of standard error holds the data alone: the program looks."""
    for way in ("before", "after", "all", "freopen"):
        for watching in ("on", "off"):
            said = bed.run([*launcher.split(), "-n", "2", sluice, "run", "--watch", watching, program, str(bed.folder / way), way])
            check("Sluice report" not in said, f"{way}: no line is printed elsewhere")


with tempfile.TemporaryDirectory(prefix="sluice-others-") as temporary:
    {"report_links": report_links, "node_file": node_file, "taken": taken, "pipes": pipes, "small": small,
     "closed": closed, "full": full, "piped": piped, "descriptor_2": descriptor_2}[case](Bed(temporary))
conclude()
