#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""As wire.c, with mpi4py; every other message is received by Irecv and Wait. By itself mpi4py asks for MPI_THREAD_MULTIPLE and
makes errors return, and then no receive returns early; this program needs neither, as most do.
"""
import array
import time

import mpi4py

mpi4py.rc.thread_level, mpi4py.rc.errors = "funneled", "fatal"
from mpi4py import MPI  # noqa: E402

BYTES, ROUNDS = 8 << 20, 8
world = MPI.COMM_WORLD


def compute(seconds):
    """Independent of MPI, and of the interpreter's speed."""
    end, x = time.process_time() + seconds, 1.0
    while time.process_time() < end:
        for _ in range(1000):
            x = x * 1.0000001 + 0.0000001
    return x


data = bytearray(BYTES)
total, waited, x = 0, 0.0, 0.0
for turn in range(ROUNDS):
    if world.rank == 1:
        data[:] = array.array("B", [turn + 1]) * BYTES
        world.Send(data, dest=0, tag=turn)
    elif world.rank == 0:
        begin = time.perf_counter()
        if turn % 2 == 0:
            world.Irecv(data, source=1, tag=turn).Wait()
        else:
            world.Recv(data, source=1, tag=turn)
        waited += time.perf_counter() - begin
        x += compute(BYTES * 8 / 1e9)
        begin = time.perf_counter()
        total += data[0]
        waited += time.perf_counter() - begin
        total += BYTES - data.count(turn + 1)
if world.rank == 0:
    print(f"sum {total}, computed {int(x > 0)}, waited {waited:.6f} s")
