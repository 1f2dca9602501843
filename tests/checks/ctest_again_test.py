#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of a project of this test's own that fail never, once, twice or always: ctest_again_test.py CTEST_AGAIN.SH"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = str(pathlib.Path(sys.argv.pop(1)).resolve())
# Fails as long as the file "runs" has fewer lines than the number given.
FAILS = """#!/bin/sh
echo run >>"$0.runs"
echo "this is run $(wc -l <"$0.runs")"
[ "$(wc -l <"$0.runs")" -gt "$1" ]
"""


class CtestAgain(unittest.TestCase):
    def run_tests(self, failures):
        """Runs a test for each number of failures. Returns (exit code, summary, runs of each test, files kept)."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            lines = []
            for i, count in enumerate(failures):
                script = folder / f"t{i}"
                script.write_text(FAILS)
                script.chmod(0o755)
                lines.append(f'add_test(room/t{i} "{script}" {count})\n')
            (folder / "CTestTestfile.cmake").write_text("".join(lines))
            ended = subprocess.run([SCRIPT, "-j2", "--output-on-failure"], cwd=folder, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
            kept = {file.name: file.read_text() for file in folder.glob("failed_first/*.txt")}
            runs = [len((folder / f"t{i}.runs").read_text().split()) for i in range(len(failures))]
            return ended.returncode, (folder / "ctest.summary").read_text().splitlines(), runs, kept

    def test_what_passes_is_run_once(self):
        code, summary, runs, kept = self.run_tests([0, 0])
        self.assertEqual((code, runs, kept), (0, [1, 1], {}))
        self.assertEqual(summary[0], "100% tests passed, 0 tests failed out of 2")

    def test_what_fails_once_or_twice_is_named_and_passes(self):
        code, summary, runs, kept = self.run_tests([0, 1, 2])
        self.assertEqual((code, runs), (0, [1, 2, 3]))
        self.assertEqual(summary[0], "In the first run: 33% tests passed, 2 tests failed out of 3")
        self.assertTrue(summary[1].startswith("passed only when run again: room/t1 (first output: "), summary)
        self.assertTrue(summary[2].startswith("passed only when run again: room/t2 (first output: "), summary)
        self.assertIn("100% tests passed, 0 tests failed out of 2", summary[4])
        self.assertEqual(sorted(kept), ["room-t1.txt", "room-t2.txt"])
        self.assertIn("this is run 1", kept["room-t2.txt"])

    def test_what_fails_again_is_an_error(self):
        code, summary, runs, _ = self.run_tests([0, 9, 1])
        self.assertNotEqual(code, 0)
        self.assertEqual(runs, [1, 3, 2])
        self.assertFalse([line for line in summary if line.startswith("passed only")])
        self.assertIn("50% tests passed, 1 tests failed out of 2", summary)
        self.assertIn("room/t1 (Failed)", " ".join(summary))

    def test_more_than_three_are_not_run_again(self):
        code, summary, runs, kept = self.run_tests([1, 1, 1, 1, 0])
        self.assertNotEqual(code, 0)
        self.assertEqual(runs, [1, 1, 1, 1, 1])
        self.assertEqual(len(kept), 4)
        self.assertEqual(summary[0], "20% tests passed, 4 tests failed out of 5")


unittest.main()
