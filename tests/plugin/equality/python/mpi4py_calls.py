# SPDX-License-Identifier: BSD-3-Clause
"""What a Python program observes of MPI: mpi4py loads libmpi late, from an extension module. Writes one line for each
observation to $TRANSCRIPT/<rank>.txt, for compare.py. The thread level is MPI_THREAD_SERIALIZED, so that all-to-alls
in place may be served.
"""
import os

import mpi4py

mpi4py.rc.thread_level = "serialized"
from mpi4py import MPI  # noqa: E402  (initialises MPI)

world = MPI.COMM_WORLD
me, ranks = world.rank, world.size
lines = []


def say(*words):
    lines.append(" ".join(str(word) for word in words))


say("thread level", MPI.Query_thread() == MPI.THREAD_SERIALIZED, "size", ranks)

# Objects and buffers, point to point.
right, left = (me + 1) % ranks, (me - 1) % ranks
say("object", world.sendrecv({"from": me, "list": list(range(me))}, right, source=left))
out, into = bytearray(range(256)) * 64, bytearray(16384)
status = MPI.Status()
requests = [world.Irecv(into, left, 5), world.Isend(out, right, 5)]
MPI.Request.Waitall(requests)
say("bytes", into == out, [request == MPI.REQUEST_NULL for request in requests])
world.Isend(bytearray(b"abc"), me, 7)
world.Probe(me, 7, status)
say("probe", status.Get_source() == me, status.Get_tag(), status.Get_count(MPI.BYTE))
small = bytearray(3)
world.Recv(small, me, 7)
say("received", bytes(small))

# Collectives, of objects and of buffers, also in place.
say("bcast", world.bcast("text" if me == 0 else None), "gather", world.gather(me * me), "allreduce", world.allreduce(me + 1))
from array import array  # noqa: E402

for count in (4, 20000):
    block = array("i", [me * 1000 + to for to in range(ranks) for _ in range(count)])
    world.Alltoall(MPI.IN_PLACE, [block, count, MPI.INT])
    expected = [source * 1000 + me for source in range(ranks) for _ in range(count)]
    say("alltoall in place", count, list(block) == expected)
counts = [(me + other) % 3 for other in range(ranks)]
places = [sum(counts[:other]) for other in range(ranks)]
block = array("d", [me + other / 10 for other in range(ranks) for _ in range(counts[other])])
world.Alltoallv(MPI.IN_PLACE, [block, counts, places, MPI.DOUBLE])
say("alltoallv in place", list(block) == [other + me / 10 for other in range(ranks) for _ in range(counts[other])])

# Communicators, windows, errors.
half = world.Split(me % 2, -me)
say("split", half.rank, half.size, half.allreduce(me))
half.Free()
twin = world.Dup()
say("dup", twin.rank, MPI.Comm.Compare(world, twin) == MPI.CONGRUENT)
twin.Free()
memory = bytearray(8)
window = MPI.Win.Create(memory, comm=world)
window.Fence()
window.Put(bytearray([me] * 8), right)
window.Fence()
say("window", bytes(memory) == bytes([left] * 8))
window.Free()
world.Set_errhandler(MPI.ERRORS_RETURN)
try:
    world.Send(bytearray(1), ranks + 5)
    say("no error")
except MPI.Exception as error:
    say("error class", error.Get_error_class() == MPI.ERR_RANK)

folder = os.environ.get("TRANSCRIPT")
if folder is None:
    print("\n".join(lines))
else:
    with open(f"{folder}/{me}.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    loaded = "libsluice-preload-" in open("/proc/self/maps", encoding="utf-8").read()
    with open(f"{folder}/{me}.layer", "w", encoding="utf-8") as file:
        file.write("loaded\n" if loaded else "absent\n")
