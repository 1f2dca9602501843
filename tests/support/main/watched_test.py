#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The watch over commands: what counts as a hang and what does not, and that programs that hang are ended."""

import os
import subprocess
import sys
import time
import unittest

import watched


def seconds(judge, number, *busy, begin=0):
    """Makes this number of looks, one in each second, at processes that are busy for these parts of it."""
    hang = None
    for i in range(number):
        hang = hang or judge.look(begin + i, {process: (0, part * (begin + i)) for process, part in enumerate(busy)})
    return hang


class Judge(unittest.TestCase):
    def setUp(self):
        self.judge = watched.HangJudge(processor=100, asleep=60)

    def test_processes_that_all_sleep(self):
        self.assertIsNone(seconds(self.judge, 60, 0, 0.01))
        self.assertEqual(seconds(self.judge, 1, 0, 0.01, begin=60), "sleeps")

    def test_processes_that_wait_for_one_that_is_busy(self):
        self.assertIsNone(seconds(self.judge, 1000, 0, 0.1))

    def test_a_process_more_that_works_is_a_step(self):
        self.assertIsNone(seconds(self.judge, 60, 0))
        self.assertIsNone(self.judge.look(60, {0: (0, 0), 1: (1, 1)}))
        self.assertIsNone(self.judge.look(61, {0: (0, 0)}))

    def test_processes_more_that_sleep_are_none(self):
        self.assertIsNone(seconds(self.judge, 60, 0))
        self.assertEqual(self.judge.look(60, {0: (0, 0), 1: (0.01, 0.01)}), "sleeps")

    def test_processor_time(self):
        self.assertIsNone(self.judge.look(0, {1: (99, 0)}))
        self.assertEqual(self.judge.look(1, {1: (100, 0)}), "spins")

    def test_a_machine_that_stood_still(self):
        self.assertIsNone(self.judge.look(0, {1: (0, 0)}))
        self.assertIsNone(self.judge.look(3600, {1: (0, 0)}))


class Command(unittest.TestCase):
    def run_with(self, script, **limits):
        variables = {f"SLUICE_TEST_{name}": str(value) for name, value in limits.items()}
        return subprocess.run([watched.__file__, "sh", "-c", script], env={**os.environ, **variables}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def ended_as_hung(self, done, words):
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assertRegex(done.stderr, words)

    def test_ends_as_the_command(self):
        done = self.run_with("echo said; exit 7")
        self.assertEqual((done.returncode, done.stdout), (7, "said\n"))

    def test_one_that_sleeps(self):
        done = self.run_with("sleep 3600", ASLEEP_SECONDS=1)
        self.ended_as_hung(done, r"sleep \(\d+\) has used \d\.\d s of processor time; all slept for 1 s")

    def test_one_that_waits_in_turns(self):
        self.ended_as_hung(self.run_with("while :; do sleep 0.1; done", ASLEEP_SECONDS=2), "all slept")

    def test_one_that_spins(self):
        done = self.run_with("while :; do :; done", SECONDS=1)
        self.ended_as_hung(done, r"sh \(\d+\) has used [1-9]\d*\.\d s of processor time; a process may use 1 s")

    def test_one_whose_child_has_left_it_and_spins(self):
        done = self.run_with("setsid sh -c 'while :; do :; done' >/dev/null 2>&1 & sleep 3600", SECONDS=1, ASLEEP_SECONDS=2)
        self.ended_as_hung(done, "a process may use 1 s")

    def test_leaves_none_behind(self):
        done = self.run_with("setsid sleep 3600 >/dev/null 2>&1 & echo $!; sleep 3600", ASLEEP_SECONDS=1)
        self.ended_as_hung(done, "all slept")
        left = int(done.stdout)
        while os.path.exists(f"/proc/{left}") and watched.stat_of(f"/proc/{left}")[1] != "Z":
            time.sleep(0.01)

    def test_output_of_one_that_hangs_is_kept(self):
        os.environ["SLUICE_TEST_ASLEEP_SECONDS"] = "1"
        try:
            with self.assertRaises(watched.Hung) as hung:
                watched.run(["sh", "-c", "echo said; echo wrong >&2; sleep 3600"], capture_output=True, text=True)
        finally:
            del os.environ["SLUICE_TEST_ASLEEP_SECONDS"]
        self.assertEqual(hung.exception.results, ("said\n", "wrong\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
