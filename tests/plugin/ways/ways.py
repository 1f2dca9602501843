#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that reach MPI in another way than by the loader's binding, or never: ways.py CASE SLUICE LAUNCHER PROGRAM
[LIBRARY]

Each job runs plain, under `sluice run`, with --report DIR and with --quiet on. Its output and exit code are those of the plain
run, and the lines of Sluice are exactly those that are expected here. See the functions below for the cases.
"""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import watched
from checks import check, conclude

case, sluice, launcher, program, *rest = sys.argv[1:]
library = rest[0] if rest else ""
MPICH = "mpich" in launcher or "mpich" in library
NEVER = ["no report: no call of MPI_Init was seen (calls through a handle of dlopen pass the plugin by)"]
STATIC = ["not watched: MPI is linked statically into the program, where no library can stand between"]
SESSION = ["no report: the program starts MPI by MPI_Session_init, and only programs that call MPI_Init are watched"]


def handle_line(name=library):
    return [f"not watched: the program calls {name} through a handle (dlopen, dlsym), which passes the plugin by"]


class Bed:
    """A folder that serves as TMPDIR, with the folder of a report."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.report = self.folder / "made" / "report"
        # Open MPI puts the names of its sockets below TMPDIR, which is too long for them.
        self.environment = {**os.environ, "TMPDIR": folder, "OMPI_MCA_orte_tmpdir_base": "/tmp"}

    def start(self, command, options, ranks=2, layer=True, **changes):
        """Runs a job; returns its exit code, the bytes of standard output in order, the lines of Sluice, and standard error."""
        words = [sluice, "run", *options] if layer else []
        before = [*shlex.split(launcher), "-n", str(ranks)] if ranks else []
        done = watched.run([*before, *words, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           errors="backslashreplace", cwd=self.folder, env={**self.environment, **changes})
        lines = [line.removeprefix("sluice: ") for line in done.stderr.splitlines() if line.startswith("sluice")]
        # Ranks write between each other's lines.
        return done.returncode, "".join(sorted(done.stdout)), lines, done.stderr

    def compare(self, what, command, expected, reported=None, ranks=2, **changes):
        """`expected`: the lines of Sluice, `reported`: those with --report. "summary" stands for the summary of one job."""
        code, out, none, _ = self.start(command, [], ranks, layer=False, **changes)
        check(code == 0 and none == [], f"{what}, plain: {code}, {none}")
        reported = expected if reported is None else reported
        with_report = ["--report", str(self.report)]
        for options, wanted in (([], expected), (with_report, reported), (["--quiet", "on"], []), (["--quiet", *with_report], [])):
            got = self.start(command, options, ranks, **changes)
            name = f"{what}, {ranks} ranks, {options}"
            check(got[:2] == (code, out), f"{name}: {got} in place of {(code, out)}")
            check(self.short(got[2]) == wanted, f"{name}: {self.short(got[2])} in place of {wanted}")
            nodes = list(self.report.glob("node-*.sluice"))
            written = "report written" in reported and str(self.report) in options
            check(len(nodes) == written, f"{name}: records of {len(nodes)} jobs in the report")
            check(self.report.parent.exists() == written, f"{name}: no empty folder is left")
            shutil.rmtree(self.report.parent, ignore_errors=True)
        left = [str(path) for path in self.folder.glob("sluice-*/*")]
        check(not left, f"{what}: nothing is left: {left}")

    def short(self, lines):
        """The lines with "summary" in the place of each summary."""
        short = []
        for line in lines:
            if line.startswith("Sluice report · "):
                short.append("summary")
            elif line.startswith("report written to "):
                check(line == f"report written to {self.report}", line)
                short.append("report written")
            elif not line.startswith((" ", "memory ", "consumers ", "time ", "objects ", "Sluice ", "advice ")):
                short.append(line)
        return short


def handle(bed):
    """A program that opens the library of MPI and looks its functions up in it."""
    for ranks in (2, 1, 0):
        bed.compare("a handle", [program, "symbols", library], handle_line(), ranks=ranks)
    # The shell is what `sluice run` became; its child has the preload by inheritance alone.
    bed.compare("a handle in a child", ["bash", "-c", f"{program} symbols {library}; true"], [], NEVER)


CTYPES = """
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL if len(sys.argv) > 2 else ctypes.RTLD_LOCAL)
if len(sys.argv) > 2: mpi = ctypes.CDLL(None)
if "mpich" in sys.argv[1]: world = ctypes.c_int(0x44000000)
else: world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")))
assert mpi.MPI_Init(None, None) == 0
assert mpi.MPI_Barrier(world) == 0
assert mpi.MPI_Finalize() == 0
print("done")
"""


def handle_in_python(bed):
    """The same by Python's ctypes. A Python that does not do so is silent."""
    bed.compare("ctypes", ["python3", "-c", CTYPES, library], handle_line())
    # Nothing of it is left at the end.
    closed = CTYPES + "import _ctypes; _ctypes.dlclose(mpi._handle)\n"
    bed.compare("ctypes, closed", ["python3", "-c", closed, library], [], NEVER)
    bed.compare("plain Python", ["python3", "-c", "print(1)"], [], NEVER)


def finalized(bed):
    """MPI_Finalize passes by on all ranks or on one: the report is made all the same."""
    for rank in ([], ["0"], ["1"]):
        code, out, lines, text = bed.start([program, "finalize", library, *rank], [])
        check((code, out) == (0, "") and lines and lines[0].startswith("Sluice report · 2 ranks") and lines[0].endswith("ended"), f"{rank}: {text}")
    code, out, lines, text = bed.start([program, "finalize", library], ["--report", str(bed.report)], 1)
    check((code, out) == (0, "") and (bed.report / "report.json").exists(), text)
    check(bed.start([program, "finalize", library], ["--quiet", "on"])[:3] == (0, "", []), "quiet")


def global_in_python(bed):
    """What is looked up in the whole process is watched."""
    bed.compare("ctypes, all", ["python3", "-c", CTYPES, library, "all"], ["summary"], ["summary", "report written"])


def private(bed):
    """Packages of Python bring an MPI of their own under a name of their own."""
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    true = next(line.split()[2] for line in needed.splitlines() if line.split()[0] == library)
    name = library.replace(".so", "-deadbeef.so")
    link = bed.folder / "libs" / name
    link.parent.mkdir()
    link.symlink_to(true)
    bed.compare("private", ["python3", "-c", CTYPES, str(link)], handle_line(name))
    bed.compare("private, all", ["python3", "-c", CTYPES, str(link), "all"], ["summary"], ["summary", "report written"])


def never(bed):
    """A program that never calls MPI. No folder is made for its report, and one that was there stays."""
    for ranks in (2, 0):
        bed.compare("true", ["python3", "-c", "pass"], [], NEVER, ranks=ranks)
    # This one closes its standard error before it ends.
    bed.compare("ls", ["ls", "-d", "/"], [], [], ranks=0)
    there = bed.folder / "there"
    there.mkdir()
    bed.start(["python3", "-c", "pass"], ["--report", str(there)])
    check(there.is_dir(), "a folder of the user stays")
    settings = bed.folder / "settings"
    settings.write_text("quiet = on\n")
    got = bed.start(["python3", "-c", "pass"], ["--report", str(bed.report)], SLUICE_CONFIG=str(settings))
    check(got[2] == [], f"quiet by the settings file: {got[2]}")


def child(bed):
    """The MPI program may be a child of what `sluice run` became."""
    words = ["bash", "-c", f"{program} hello; true"]
    bed.compare("a child", words, ["summary"], ["summary", "report written"])
    if not MPICH:  # without a launcher a shell gets the plugin for Open MPI, if there is one
        bed.compare("a child", words, ["summary"], ["summary", "report written"], ranks=0)


def inner(words):
    """A command that starts another job, as programs do: Open MPI's launcher refuses to be started by a rank that it knows."""
    unset = "for name in $(env | grep -oE '^(OMPI|PMIX)_[A-Za-z0-9_]*'); do unset $name; done; "
    again = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_orte_tmpdir_base=/tmp; "
    return f"{unset}{again}{launcher} -n 2 {words}"


def nested(bed):
    """A job that a rank starts takes neither folder nor records of the outer one, and is as without Sluice."""
    for what, words in (("a job", f"{program} hello"), ("a shell", f"bash -c '{program} hello; true'")):
        bed.compare(what, [program, "start", inner(words)], ["summary"], ["summary", "report written"])
    # A program without a launcher that a rank starts is another job, too.
    alone = "for name in $(env | grep -oE '^(OMPI|PMIX?)_[A-Za-z0-9_]*'); do unset $name; done; " + f"{program} hello"
    bed.compare("alone", [program, "start", alone], ["summary"], ["summary", "report written"])


def nested_early(bed):
    bed.compare("before MPI_Init", [program, "early", inner(f"{program} hello")], ["summary"], ["summary", "report written"])


def nested_under_sluice(bed):
    """The inner job is started under Sluice: it has a summary of its own, and a report only if it asks for one."""
    words = [program, "start", inner(f"{sluice} run {program} hello")]
    got = bed.start(words, ["--report", str(bed.report)])
    check(bed.short(got[2]) == ["summary", "summary", "report written"], f"two summaries: {got[2]}")
    check(len(list(bed.report.glob("node-*.sluice"))) == 1, "the records are those of the outer job")
    other = bed.folder / "other"
    words = [program, "start", inner(f"{sluice} run --report {other} {program} hello")]
    got = bed.start(words, [])
    lines = [line for line in got[2] if line.startswith(("Sluice report", "report written"))]
    check(len(lines) == 3 and lines[1] == f"report written to {other}", f"the inner one reports: {got[2]}")


def several_threads(bed):
    """With MPI_THREAD_MULTIPLE the calls that would have been served are counted, and without one nothing is said."""
    for mode, expected in (("none", None), ("inplace", "           all-to-alls in place: 6 calls left to MPI (MPI_THREAD_MULTIPLE)")):
        code, _, lines, text = bed.start([program, "threads", mode], [])
        check(code == 0 and bed.short(lines) == ["summary"], f"{mode}: {text}")
        said = [line for line in lines if "MULTIPLE" in line or "left to MPI" in line]
        check(said == ([expected] if expected else []), f"{mode}: {said}")
    _, _, lines, _ = bed.start([program, "threads", "inplace"], ["--watch", "off"])
    check(lines == [expected.strip()], f"without watching: {lines}")
    _, _, lines, _ = bed.start([program, "threads", "inplace"], ["--inplace", "off"])
    check("MULTIPLE" not in str(lines), f"what is turned off is left to nothing: {lines}")


NONE = ["stands aside: MPI was called, but no MPI library is loaded: the call returns an error"]


def absent(bed):
    """A program without MPI finds the functions of the plugin. They say that there is no MPI, and end nothing."""
    error = ["MPI_Comm_rank", "MPI_Comm_rank", "MPI_Init", "MPI_Sendrecv", "MPI_Abort"]
    told = [f"{name}: an error" for name in error] + ["MPI_Initialized: success", "initialized 0", "MPI_Finalized: success",
                                                      "finalized 0", "time goes on, tick seconds"]
    found = ["PMPI_Initialized: 0, 0", "MPI_Comm_rank: an error", "done"]
    # Whether MPI runs is asked of no MPI in silence.
    for words, plain, wanted, line in (([], ["no MPI"], told, NONE), (["find"], ["done"], found, NONE), (["ask"], ["0"], ["0"], [])):
        for ranks in (2, 0):
            each = lambda lines: "".join(sorted("".join(f"{line}\n" for line in lines) * max(ranks, 1)))
            got = bed.start([program, *words], [], ranks, layer=False)
            check(got[:3] == (0, each(plain), []), f"plain {words}: {got}")
            got = bed.start([program, *words], [], ranks)
            check(got[:2] == (0, each(wanted)) and set(got[2]) == set(line), f"{words}, {ranks} ranks: {got}")
            check(bed.start([program, *words], ["--quiet", "on"], ranks)[:3] == (0, each(wanted), []), f"{words}, quiet")


def static(bed):
    bed.compare("static", [program], STATIC, TRANSCRIPT=str(bed.folder))


def session(bed):
    bed.compare("a session", [program], SESSION)


def no_room(bed):
    """Without room or without a TMPDIR the records are elsewhere, the reason is said once, and there is a summary."""
    gone = bed.folder / "gone"
    code, _, lines, text = bed.start([program], [], TMPDIR=str(gone))
    said = [line for line in bed.short(lines) if line != "summary"]
    check(code == 0 and "summary" in bed.short(lines), f"no TMPDIR: {text}")
    check(len(said) == 1 and said[0].startswith("the records of the ranks are in /") and
          said[0].endswith(f", because {gone}/sluice-{os.getuid()}: No such file or directory"), f"no TMPDIR: {said}")
    check(bed.start([program], ["--quiet", "on"], TMPDIR=str(gone))[2] == [], "no TMPDIR, quiet")
    disk = bed.folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True).returncode != 0:
        print("skipped: no file system of 64 KiB can be mounted here (needs root)")
        return
    try:
        lacks = f"if this job is killed, its report will lack ranks: {disk}/sluice-"
        full = f"because {disk}/sluice-"
        for begin, what in ((lacks, "room for no record"), (full, "room for nothing")):
            if what == "room for nothing":
                with open(disk / "fill", "wb", buffering=0) as file:
                    try:
                        while True:
                            file.write(bytes(4096))
                    except OSError:
                        pass
            code, _, lines, text = bed.start([program], [], TMPDIR=str(disk))
            said = [line for line in bed.short(lines) if line != "summary"]
            check(code == 0 and bed.short(lines).count("summary") == 1, f"{what}: {text}")
            check(len(said) == 1 and begin in said[0] and "No space left on device" in said[0], f"{what}: {said}")
            check(bed.start([program], ["--quiet", "on"], TMPDIR=str(disk))[2] == [], f"{what}, quiet")
            left = [str(path) for path in disk.rglob("*") if path.name != "fill" and path.parent != disk]
            check(not left, f"{what}: nothing is left: {left}")
    finally:
        subprocess.run(["umount", disk], check=True)


def leaves(bed):
    """Records in a TMPDIR that is no absolute path are found by a program that goes to another folder."""
    (bed.folder / "relative").mkdir()
    code, _, lines, text = bed.start([program, "leave", "/"], [], TMPDIR="relative")
    check(code == 0 and bed.short(lines) == ["summary"], f"{code}\n{text}")
    left = [str(path) for path in bed.folder.glob("relative/sluice-*/*")]
    check(not left, f"nothing is left: {left}")


def reaper(bed):
    """A program to which orphans come has no child that it did not start, and the summary all the same."""
    bed.compare("reaper", [program, "reaper"], ["summary"], ["summary", "report written"])


def no_growth(bed):
    """Where files may not become as large as records and reports, the program runs, the reason is said once, and there is a
    summary."""
    reason = "File too large (RLIMIT_FSIZE)"
    lacks = f"if this job is killed, its report will lack ranks: {bed.folder}/sluice-"
    report = ["--report", str(bed.report)]
    for kib, ranks, options, begins in ((600, 2, [], [lacks]), (100, 2, [], [lacks]), (1, 2, [], ["no record is kept in a file: "]),
                                        (100, 1, report, [lacks[:40], f"no report: cannot write {bed.report}/report.html: "])):
        what = f"files of {kib} KiB, {ranks} ranks, {options}"
        limited = ["bash", "-c", f'ulimit -f {kib}; exec "$0" "$@"', sluice, "run", *options, program]
        # Open MPI's own files would be larger.
        code, _, lines, text = bed.start(limited, [], ranks, layer=False, OMPI_MCA_btl="self,tcp", PMIX_MCA_gds="hash")
        said = [line for line in bed.short(lines) if line != "summary"]
        check(code == 0 and bed.short(lines).count("summary") == 1, f"{what}: {code}\n{text}")
        check(len(said) == len(begins) and all(line.startswith(begin) and reason in line for line, begin in zip(said, begins)),
              f"{what}: {said}")
        left = [str(path) for path in bed.folder.glob("sluice-*/*")]
        check(not left, f"{what}: nothing is left: {left}")


with tempfile.TemporaryDirectory(prefix="sluice-ways-") as temporary:
    {name: value for name, value in globals().items() if callable(value)}[case](Bed(temporary))
conclude()
