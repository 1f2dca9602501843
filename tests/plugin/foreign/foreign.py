#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of another MPI than the one that the plugin is for: foreign.py CASE SLUICE LAUNCHER PLUGIN PROGRAM COMPILER
WRAPPERS INCLUDES...

They run as without the plugin. See the functions below for the cases. PROGRAM is tests/plugin/ways/ways.c, WRAPPERS the folder of
generate.py, INCLUDES the folders of the headers of the plugin's MPI. Programs of the other MPI are compiled here, by its own
compiler command.
"""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import foreign_words
import watched
from checks import check, conclude

case, sluice, launcher, plugin, program, compiler, wrappers, *includes = sys.argv[1:]
HERE = pathlib.Path(__file__).parent
OURS, OTHERS = ("MPICH", "openmpi") if "mpich" in plugin else ("Open MPI", "mpich")
OTHERS_NAME = {"openmpi": "Open MPI", "mpich": "MPICH"}[OTHERS]
STARTS_OTHER = "mpirun.openmpi --oversubscribe" if OTHERS == "openmpi" else "mpirun.mpich"
# The launchers number their ranks by variables, which the launcher of an inner job must not see.
WITHOUT_LAUNCHER = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI", "PMIX_", "MPI_LOCAL"))}
# Open MPI puts the names of its sockets below TMPDIR, which may be too long for them.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_orte_tmpdir_base": "/tmp"}
ENVIRONMENT = {**WITHOUT_LAUNCHER, **AS_ROOT}


def compiled(folder, command, source, *words):
    """The path of the program; ends the test as skipped if there is no such compiler."""
    tool = f"{command}.{OTHERS}"
    if shutil.which(tool) is None:
        print(f"skipped: {tool} is not installed ({OTHERS_NAME})")
        sys.exit(0)
    result = folder / source.replace(".", "-")
    subprocess.run([tool, "-o", result, HERE / source, *words], check=True)
    return str(result)


def run(command, **changes):
    """Exit code, the lines of standard output in order, the lines of Sluice, and standard error."""
    done = watched.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="backslashreplace",
                       env={**ENVIRONMENT, **changes})
    lines = [line for line in done.stderr.splitlines() if line.startswith("sluice")]
    return done.returncode, sorted(done.stdout.splitlines()), lines, done.stderr


def differing(got, plain):
    return {"lost": [line for line in plain if line not in got], "new": [line for line in got if line not in plain]}


def compare(calls):
    """A job of the other MPI, plain and with the plugin, says the same."""
    for ranks in (1, 2):
        before = [*shlex.split(STARTS_OTHER), "-n", str(ranks)]
        code, out, _, text = run([*before, calls])
        check(code == 0 and len(out) > 20 * ranks, f"plain, {ranks} ranks: {code}, {out}\n{text}")
        got = run([*before, "env", f"LD_PRELOAD={plugin}", calls])
        check(got[:2] == (code, out), f"{ranks} ranks: {got[0]}, {differing(got[1], out)}\n{got[3]}")
        aside = f"sluice: stands aside: this plugin is for {OURS}, the program uses {OTHERS_NAME}"
        check(len(got[2]) == 1 and got[2][0].startswith(aside), f"{ranks} ranks: {got[2]}")


def words(folder):
    """All bits of all arguments of each function come through, in registers and on the stack: a stand-in for another MPI's
    library examines them."""
    made = foreign_words.make(folder, compiler, wrappers, includes)
    code, out, lines, text = run([made, "all"])
    check(code == 0 and lines == [], f"plain: {code}, {out}\n{text}")
    check(len(out) == 1 and int(out[0].split()[0]) > 700, f"few functions: {out}")
    got = run([made, "all"], LD_PRELOAD=plugin)
    check(got[:2] == (code, out), f"with the plugin: {got[0]}, {differing(got[1], out)}")
    aside = f"sluice: stands aside: this plugin is for {OURS}, the program uses a stand-in"
    check(got[2] == [aside], f"{got[2]} in place of {aside}")
    check(run([made, "all"], LD_PRELOAD=plugin, SLUICE_QUIET="on")[:3] == (code, out, []), "quiet")


def program_(folder):
    compare(compiled(folder, "mpicc", "calls.c"))


def fortran(folder):
    for command in ("mpif90", "mpifort"):
        if shutil.which(f"{command}.{OTHERS}"):
            compare(compiled(folder, command, "calls.f90", "-fallow-argument-mismatch"))
            return
    print(f"skipped: no Fortran compiler of {OTHERS_NAME} is installed")


def nested(folder):
    """A rank starts a job of the other MPI, which inherits the plugin: it runs as without, and the outer report is its own."""
    calls = compiled(folder, "mpicc", "calls.c")
    forget = "for name in $(env | grep -oE '^(OMPI|PMIX|PMI|MPI_LOCAL)[A-Za-z0-9_]*'); do unset $name; done; "
    inner = forget + "export " + " ".join(f"{name}={value}" for name, value in AS_ROOT.items()) + f"; {STARTS_OTHER} -n 2 {calls}"
    for mode in ("start", "early"):
        ranks = 2 if mode == "start" else 1
        before = [*shlex.split(launcher), "-n", str(ranks)]
        code, out, _, text = run([*before, program, mode, inner])
        check(code == 0 and "inner status 0" in out, f"{mode}, plain: {code}, {out}\n{text}")
        got = run([*before, sluice, "run", program, mode, inner])
        check(got[:2] == (code, out), f"{mode}: {got[0]}, {differing(got[1], out)}\n{got[3]}")
        heads = [line for line in got[2] if "Sluice report" in line]
        check(len(heads) == 1 and f"{ranks} rank" in heads[0], f"{mode}: one summary: {got[2]}")
        check(not any("aside" in line for line in got[2]), f"{mode}: the inner job is silent: {got[2]}")


with tempfile.TemporaryDirectory(prefix="sluice-foreign-") as temporary:
    {"words": words, "program": program_, "fortran": fortran, "nested": nested}[case](pathlib.Path(temporary))
conclude()
