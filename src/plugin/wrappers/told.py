# SPDX-License-Identifier: BSD-3-Clause
"""What a wrapper tells of its call, from the call's row of functions.txt: statements of C++."""
import re

# What the expressions of functions.txt ask of MessageBytes.
ASKS = re.compile(r"\b(bytes|mine|my_count|span_of|room|size|all_of|each_of|sources|targets|root_in)\(")


def asked(expression):
    return ASKS.sub(r"sizes.\1(", expression)


def sizes(watches):
    """Statements that tell the bytes of a call: before it, and again after it if they were not known."""
    return [f"call.{key}({asked(watches[key])});" for key in ("out", "in") if key in watches]


# Where the bytes of a call come into, or else leave from.
BUFFERS = ("recvbuf", "buf", "buffer", "sendbuf", "origin_addr", "result_addr")


def before(function):
    """Statements ahead of the call, beside its bytes. MPI has not accepted the arguments yet: MPI is asked nothing about
    them, and no pointer is followed that may be null."""
    watches = function.watches
    lines = []
    if "same" in watches:
        lines.append(f"call.same({watches['same']});")
    if "into" in watches:
        buffer, _, rest = watches["into"].partition(", ")
        span = asked(rest if rest.startswith("room(") else f"span_of({rest})")
        lines.append(f"if (call.receives()) call.into({buffer}, {span});")
    if "out" in watches or "in" in watches:
        lines += [f"call.buffer({name});" for name in BUFFERS if function.has(name)][:1]
    partner = next((name for name in ("source", "dest") if function.has(name)), None)
    if partner and ("waits" in watches or "starts" in watches or "persistent" in watches):
        lines.append(f"call.awaits({partner}, comm);")
    if "waits" in watches and "completes" in watches:
        requests, _, _ = watches["completes"].partition(";")
        lines.append(f"call.awaits_one_of({requests.partition(' ')[2]});")
    if "waits" in watches:
        lines.append("call.waits();")
    if "frees" in watches:
        lines.append(f"Freeing freeing(call, {watches['frees']});")
    return lines


def completing(watches):
    """The object that keeps the handles that a call will overwrite."""
    if "frees_request" in watches:
        return f"Completing completing(call.watch().requests(), {watches['frees_request']}, 1);"
    if "completes" in watches:
        requests, _, _ = watches["completes"].partition(";")
        return f"Completing completing(call.watch().requests(), {requests.partition(' ')[2]});"
    return None


def after(watches, kind):
    """Statements behind a call that succeeded: where its bytes went, what it made, started, completed and freed."""
    lines = []
    if sizes(watches):
        lines += ["if (sizes.left_out()) [[unlikely]] {", "    sizes.ask_mpi();", "    tell();", "}"]
    placed = [key for key in ("to", "to_root", "from_root", "to_each", "to_members") if key in watches]
    for key in placed:
        first = "sizes, " if key == "to_members" else ""
        lines.append(f"call.{key}({first}{asked(watches[key])}, comm);")
    if not placed and kind == "collective" and "out" in watches:
        lines.append("call.to_no_named_rank();")
    if not placed and kind == "one_sided" and ("out" in watches or "in" in watches):
        lines.append("call.from_or_to_no_named_rank();")
    for key in ("passes_on", "makes_window", "frees_window"):
        if key in watches:
            lines.append(f"call.{key}();")
    for key in ("starts", "persistent"):
        if key in watches:
            lines.append(f"call.{key}(*request);")
    if "makes" in watches:
        lines.append(f"call.makes({watches['makes']});")
    if "frees" in watches:
        lines.append("freeing.done();")
    if "asks" in watches:
        lines.append(f"call.asked({watches['asks']});")
    if "begins" in watches:
        lines.append(f"call.watch().requests().begin({watches['begins']});")
    if "completes" in watches:
        requests, _, finished = watches["completes"].partition(";")
        lines.append(f"completing.{requests.partition(' ')[0]}({finished.strip()});")
        lines.append("call.brought(completing.bytes());")
    if "frees_request" in watches:
        lines.append("completing.freed();")
    return lines
