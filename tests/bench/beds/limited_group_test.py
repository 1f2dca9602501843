#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The limited bed against made-up control groups of both versions: what it writes and what it reads. Argument: the bed."""

import importlib.util
import os
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from unittest import mock

sys.dont_write_bytecode = True
loader = SourceFileLoader("limited", sys.argv.pop(1))
limited = importlib.util.module_from_spec(importlib.util.spec_from_loader("limited", loader))
loader.exec_module(limited)

FILES = {
    1: {"memory.limit_in_bytes": "9223372036854771712", "memory.memsw.limit_in_bytes": "9223372036854771712",
        "memory.kmem.usage_in_bytes": "7", "memory.max_usage_in_bytes": "5000",
        "memory.stat": "cache 900\nrss 1000\nshmem 200\npgmajfault 3\n",
        "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"},
    2: {"memory.max": "max", "memory.swap.max": "max", "memory.peak": "5000",
        "memory.stat": "anon 1000\nfile 900\nkernel 7\nshmem 200\npgmajfault 3\n",
        "memory.events": "low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\noom_group_kill 0\n"},
}


class ControlGroupTest(unittest.TestCase):
    def group(self, version, limit, swap, nodes=1):
        root = tempfile.TemporaryDirectory()
        self.addCleanup(root.cleanup)
        folder = os.path.join(root.name, "limited-made-up")
        os.mkdir(folder)
        limited.write(os.path.join(root.name, "cgroup.subtree_control"), "cpu")
        for name, text in FILES[version].items():
            limited.write(os.path.join(folder, name), text)
        with mock.patch.object(limited.ControlGroup, "find_hierarchy", return_value=(version, root.name)), \
                mock.patch.object(limited.tempfile, "mkdtemp", return_value=folder):
            return limited.ControlGroup(limit, swap, nodes)

    def test_held_is_private_shared_and_kernel_memory_without_cached_files(self):
        for version in FILES:
            self.assertEqual(self.group(version, None, 0).held(), 1207)

    def test_figures_are_kills_faults_and_peak(self):
        for version in FILES:
            self.assertEqual(self.group(version, None, 0).figures(),
                             {"oom_kills": 2, "major_faults": 3, "peak_usage_bytes": 5000})

    def test_version_1_limits_memory_and_memory_with_swap(self):
        group = self.group(1, 4096, 100)
        self.assertEqual(limited.read(f"{group.folder}/memory.limit_in_bytes"), "4096")
        self.assertEqual(limited.read(f"{group.folder}/memory.memsw.limit_in_bytes"), "4196")

    def test_version_2_limits_memory_and_swap_and_asks_for_the_controller(self):
        group = self.group(2, 4096, 100)
        self.assertEqual(limited.read(f"{group.folder}/memory.max"), "4096")
        self.assertEqual(limited.read(f"{group.folder}/memory.swap.max"), "100")
        self.assertEqual(limited.read(f"{os.path.dirname(group.folder)}/cgroup.subtree_control"), "+memory")

    def test_nodes_have_groups_of_their_own_beside_the_launcher(self):
        make = os.mkdir

        def made(folder, *mode):
            make(folder, *mode)
            for name, text in FILES[1].items():
                limited.write(os.path.join(folder, name), text)

        with mock.patch.object(limited.os, "mkdir", side_effect=made):
            group = self.group(1, 4096, 100, nodes=2)
        limited.write(f"{group.folder}/node1/memory.stat", "rss 5000\nshmem 0\npgmajfault 4\n")
        self.assertEqual([limited.read(f"{group.folder}/node{i}/memory.limit_in_bytes") for i in (0, 1)], ["4096", "4096"])
        self.assertNotEqual(limited.read(f"{group.folder}/launcher/memory.limit_in_bytes"), "4096")
        self.assertEqual(group.own, f"{group.folder}/launcher")
        self.assertEqual(group.held(), 5007)
        self.assertEqual(group.figures(), {"oom_kills": 4, "major_faults": 7, "peak_usage_bytes": 5000})

    def test_no_limit_writes_nothing(self):
        self.assertEqual(limited.read(f"{self.group(2, None, 0).folder}/memory.max"), "max")

    def test_sizes(self):
        self.assertEqual([limited.size(text) for text in ("5", "2KiB", "3MiB", "1GiB")], [5, 2048, 3 << 20, 1 << 30])
        for text in ("", "2MB", "-1", "1.5GiB"):
            with self.assertRaises(limited.argparse.ArgumentTypeError):
                limited.size(text)


if __name__ == "__main__":
    unittest.main()
