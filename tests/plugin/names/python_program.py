#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls MPI through mpi4py from several places, and prints their lines: "PLACE LINE"."""
import inspect

from mpi4py import MPI

world = MPI.COMM_WORLD


def tell(place, line):
    if world.rank == 0:
        print(place, line, flush=True)


class Löser:
    def schritt(self):
        world.Barrier()
        tell("Löser.schritt", inspect.currentframe().f_lineno - 1)


def deep(frames):
    if frames > 0:
        return deep(frames - 1)
    world.Barrier()
    tell("deep", inspect.currentframe().f_lineno - 1)


for i in range(10):
    Löser().schritt()
    deep(i)
list(map(lambda i: world.Barrier(), range(3)))
tell("<lambda>", inspect.currentframe().f_lineno - 1)
