#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program of a Debian package, unmodified, under the layer to the verdict of its own verification. strangers.py
hpcc|scalapack LAUNCHER RANKS LAYER PLUGIN PROGRAM [INPUT…]

All parts of hpcc pass. Every test of scalapack passes, and there are as many as without the layer.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

import watched


def prepare(kind, folder, inputs):
    for source in inputs:
        with open(source, encoding="latin-1") as file:
            text = file.read()
        if kind == "scalapack":  # grids for two processes
            text = re.sub(r"(?m)^\d+(\s+number of process grids)", r"3\1", text)
            text = re.sub(r"(?m)^[\d ]+(\s+values of P\b)", r"1 2 1\1", text)
            text = re.sub(r"(?m)^[\d ]+(\s+values of Q\b)", r"1 1 2\1", text)
        with open(os.path.join(folder, os.path.basename(source)), "w", encoding="latin-1") as file:
            file.write(text)


def run(kind, launcher, ranks, layer, program, inputs):
    with tempfile.TemporaryDirectory(prefix="stranger-") as folder:
        prepare(kind, folder, inputs)
        command = shlex.split(launcher) + ["-n", ranks] + shlex.split(layer) + [program]
        done = watched.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           errors="backslashreplace")
        text = done.stdout
        for name in sorted(os.listdir(folder)):
            if name in ("hpccoutf.txt", "HPL.out") or name.endswith(".out"):
                with open(os.path.join(folder, name), encoding="latin-1") as file:
                    text += file.read()
        return done.returncode, text, done.stderr


def verdict_of_hpcc(text):
    """Returns (parts that passed, parts that failed)."""
    text = re.sub(r"(?m)^CPU .*", "", text)  # printed only if the processor's clock has advanced
    passed = len(re.findall(r"\bPASSED\b|\(passed\)|Solution Validates", text))
    failed = len(re.findall(r"\bFAILED\b|\(failed\)|does not validate", text))
    errors = re.findall(r"^(\w*Errors)=(\d+)$|^(Node\(s\) with error) ([1-9]\d*)$", text, re.M)
    failed += sum(1 for name, count, other, _ in errors if other or int(count) > 0)
    if "Success=1" not in text:
        failed += 1
    return passed, failed


def verdict_of_scalapack(text):
    passed = [int(n) for n in re.findall(r"(\d+) tests completed and passed", text)]
    failed = [int(n) for n in re.findall(r"(\d+) tests completed (?:and|without) fail", text)]
    if not passed or not re.search(r"end of tests", text, re.I):
        return sum(passed), sum(failed) + 1
    return sum(passed), sum(failed)


def main():
    kind, launcher, ranks, layer, plugin, program, *inputs = sys.argv[1:]
    if not os.path.exists(program) or not all(map(os.path.exists, inputs)):
        print(f"skipped: {os.path.basename(program)} is not installed (packages.txt)")
        return 0
    if not os.path.exists(plugin):
        print(f"skipped: there is no plugin {os.path.basename(plugin)}")
        return 0
    judge = verdict_of_hpcc if kind == "hpcc" else verdict_of_scalapack
    plain_code, plain_text, plain_err = run(kind, launcher, ranks, "", program, inputs)
    code, text, err = run(kind, launcher, ranks, layer, program, inputs)
    plain, layered = judge(plain_text), judge(text)
    print(f"without: exit code {plain_code}, {plain[0]} passed, {plain[1]} failed")
    print(f"with:    exit code {code}, {layered[0]} passed, {layered[1]} failed")
    reported = [line for line in err.splitlines() if line.startswith("sluice")]
    print("\n".join(reported[:40]))
    if any("plainly" in line for line in reported):
        print("the layer was not there: nothing is shown by this run")
        return 1
    said = " ".join(line.removeprefix("sluice:").strip() for line in reported)
    if "--flood" in layer and "synchronous sends" not in said:
        print("no send was synchronous: nothing is shown by this run")
        return 1
    if code == plain_code == 0 and layered == plain and layered[0] > 0 and layered[1] == 0:
        return 0
    print(text[-3000:], err[-2000:], plain_err[-500:], sep="\n")
    return 1


sys.exit(main())
