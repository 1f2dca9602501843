#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""receiving.py FUNCTIONS: each call of functions.txt that receives says into which buffer; without that, pages of a
buffer that was never touched would be taken for memory of the MPI.
"""
import re
import sys

# A receive buffer is a parameter of one of these names that is not const.
BUFFERS = ("recvbuf", "result_addr", "origin_addr", "buffer", "buf")
# What is received is named elsewhere: by the call that began it, or by the call that used the buffer.
ELSEWHERE = {"Buffer_attach", "Buffer_detach"}


def rows():
    for line in open(sys.argv[1]):
        found = re.match(r"\w+ (\w+)\((.*)\)((?: \[\w+\])*)$", line)
        if found and not line.startswith("#"):
            name, parameters, told = found.group(1), found.group(2).split(", "), {}
            yield name, parameters, told
        elif line.startswith("    "):
            key, _, value = line.strip().partition("=")
            told[key] = value


def receives_into(name, parameters):
    written = dict(text.rsplit(" ", 1)[::-1] for text in parameters if " " in text)
    for buffer in BUFFERS:
        if written.get(buffer) == "void*" and name not in ELSEWHERE and not name.endswith("_end"):
            return buffer
    return None


wrong = []
number = 0
for name, parameters, told in list(rows()):
    buffer = receives_into(name, parameters)
    if buffer is None and "in" not in told:
        continue
    number += 1
    if buffer is None or "in" not in told or told.get("into", "").split(",")[0] != buffer:
        wrong.append(f"{name} receives into {buffer}: in={told.get('in')} into={told.get('into')}")
print(f"{number} receiving calls, {len(wrong)} wrong", *wrong, sep="\n")
sys.exit(1 if wrong or number < 90 else 0)
