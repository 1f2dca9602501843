#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""late_mpi_calls.py FOLDER: makes the calls of mpi4py_calls.py by the extension module late_mpi.so in FOLDER, so that
they are tested if there is no mpi4py. Python loads MPI late, from that module, and keeps its symbols local. Writes
one line for each observation to $TRANSCRIPT/<rank>.txt, for compare.py.
"""
import atexit
import os
import pickle
import sys
from array import array

sys.path.insert(0, sys.argv[1])
import late_mpi as mpi  # noqa: E402

lines = []


def say(*words):
    lines.append(" ".join(str(word) for word in words))


level = mpi.init()
atexit.register(mpi.finalize)
world = mpi.world()
me, ranks = mpi.place(world)
say("thread level", level, "size", ranks)

# Objects and buffers, point to point.
right, left = (me + 1) % ranks, (me - 1) % ranks
text = bytearray(pickle.dumps({"from": me, "list": list(range(me))}))
sent = mpi.isend(text, right, 4)
came = bytearray(mpi.probe(left, 4)[2])
mpi.recv(came, left, 4)
say("object", mpi.wait_for(sent), pickle.loads(came))
out, into = bytearray(range(256)) * 64, bytearray(16384)
say("bytes", mpi.wait_for(mpi.irecv(into, left, 5), mpi.isend(out, right, 5)), into == out)
small, text = bytearray(3), bytearray(b"abc")
sent = mpi.isend(text, me, 7)
source, *rest = mpi.probe(me, 7)
say("probe", source == me, *rest)
mpi.recv(small, me, 7)
say("received", bytes(small), mpi.wait_for(sent))

# Collectives, also in place.
text = bytearray(b"text" if me == 0 else b"    ")
mpi.bcast(text)
squares = array("i", [0] * ranks)
mpi.gather(me * me, squares)
say("bcast", bytes(text), "gather", squares.tolist() if me == 0 else None, "allreduce", mpi.allreduce(world, me + 1))
for count in (4, 20000):
    block = array("i", [me * 1000 + to for to in range(ranks) for _ in range(count)])
    mpi.alltoall_in_place(block, count)
    say("alltoall in place", count, list(block) == [source * 1000 + me for source in range(ranks) for _ in range(count)])
counts = array("i", [(me + other) % 3 for other in range(ranks)])
places = array("i", [sum(counts[:other]) for other in range(ranks)])
block = array("d", [me + other / 10 for other in range(ranks) for _ in range(counts[other])] or [0.0])
mpi.alltoallv_in_place(block, counts, places)
say("alltoallv in place", list(block)[:sum(counts)] == [other + me / 10 for other in range(ranks) for _ in range(counts[other])])

# Communicators, windows, errors.
half = mpi.split(me % 2, -me)
say("split", *mpi.place(half), mpi.allreduce(half, me), mpi.free(half))
twin = mpi.dup()
say("dup", mpi.place(twin)[0], mpi.congruent(twin), mpi.free(twin))
memory = bytearray(8)
mpi.put(memory, bytearray([me] * 8), right)
say("window", bytes(memory) == bytes([left] * 8))
say("error class", mpi.send_to_no_rank())

folder = os.environ.get("TRANSCRIPT")
if folder is None:
    print("\n".join(lines))
else:
    with open(f"{folder}/{me}.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    loaded = "libsluice-preload-" in open("/proc/self/maps", encoding="utf-8").read()
    with open(f"{folder}/{me}.layer", "w", encoding="utf-8") as file:
        file.write("loaded\n" if loaded else "absent\n")
