# SPDX-License-Identifier: BSD-3-Clause
"""What a wrapper tells of its call, from the call's row of functions.txt: statements of C++."""
import re

# What the expressions of functions.txt ask of MessageBytes.
ASKS = re.compile(r"\b(bytes|bytes_to_targets|bytes_from_sources|real_sources|real_targets|mine|my_count|span_of|room|size|all_of|each_of|sources|targets|root_in)\(")


def asked(expression):
    return ASKS.sub(r"sizes.\1(", expression)


def sizes(function):
    """Statements that tell the bytes of a call: before it, and again after it if they were not known. Nothing goes to or
    comes from MPI_PROC_NULL."""
    watches, found = function.watches, []
    for key, partners in (("out", ("dest", "target_rank")), ("in", ("source", "target_rank"))):
        if key not in watches:
            continue
        bytes_ = asked(watches[key])
        partner = next((name for name in partners if function.has(name)), None)
        found.append(f"call.{key}({partner} == MPI_PROC_NULL ? 0 : {bytes_});" if partner else f"call.{key}({bytes_});")
    return found


def measuring(function):
    """Statements that begin the questions for sizes, if the call has any."""
    told, into = sizes(function), function.watches.get("into", "")
    if not told and (not into or "memory(" in into):
        return []
    lines = ["MessageBytes sizes(job.watch.communicators(), job.watch.datatypes());"]
    if told:
        lines += ["auto const tell = [&]() noexcept {"] + [f"    {line}" for line in told] + ["};", "tell();"]
    return lines


def object_of(text):
    """KIND HANDLE of creates= and destroys= as arguments."""
    kind, _, handle = text.partition(" ")
    return f"record::Object::{kind}, {handle}"


def reads_memory(function):
    """When the memory is read around a call: a name of Reads."""
    if "persistent" in function.watches or "counted" in function.watches:
        return "some"
    return "always" if function.kind in ("setup", "communicator", "window") or "creates" in function.watches else "when_due"


# Requests of these kinds have one message, whose buffer is told in few instructions.
MESSAGES = {"send": ("buf", "count", "datatype"), "receive": ("sendbuf", "sendcount", "sendtype")}


def busy_later(function):
    """The buffers that a request keeps busy."""
    if "to" not in function.watches:
        return [("if (call.is_long()) " if function.kind == "receive" else "") + "call.busy(TouchedBy(touched));"]
    named = [name for names in MESSAGES.values() for name in names if function.has(name)]
    count = f"partitions * {named[1]}" if function.has("partitions") else named[1]
    return [f"call.leaves(sizes, {named[0]}, {count}, {named[2]});"]


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
        if room := re.fullmatch(r"memory\((\w+)\)", rest):
            span = f"static_cast<std::uint64_t>({room[1]} > 0 ? {room[1]} : 0)"
        else:
            span = asked(rest if rest.startswith("room(") else f"span_of({rest})")
        lines.append(f"{'if (call.receives()) ' if 'in' in watches else ''}call.into({buffer}, {span});")
        if (function.kind == "one_sided" and "starts" not in watches) or function.base.endswith("_begin"):
            lines.append("call.comes_later();")
    if "out" in watches or "in" in watches:
        lines += [f"call.buffer({name});" for name in BUFFERS if function.has(name)][:1]
    partner = next((name for name in ("source", "dest") if function.has(name)), None)
    if partner and ("waits" in watches or "starts" in watches or "persistent" in watches):
        lines.append(f"call.awaits({partner}, comm);")
    if "waits" in watches and "completes" in watches:
        requests, _, _ = watches["completes"].partition(";")
        lines.append(f"call.awaits_one_of({requests.partition(' ')[2]});")
    if "waits" in watches:
        if "out" in watches or "in" in watches:
            lines.append("if (call.is_long()) call.busy(TouchedBy(touched));")
        lines.append("call.waits();")
    if "destroys" in watches:
        handle = watches["destroys"].partition(" ")[2]
        lines.append(f"std::uint64_t const freed = {handle} != nullptr ? mpi::handle_key(*{handle}) : 0;")
        if "frees_window" in watches:
            lines.append("call.releases(freed);")
    if "frees" in watches:
        lines.append(f"Freeing freeing(job.watch, {watches['frees']});")
    return lines


def completing(watches):
    """The object that keeps the handles that a call will overwrite."""
    if "frees_request" in watches:
        return f"Completing completing(call.watch().requests(), {watches['frees_request']}, 1);"
    if "completes" in watches:
        requests, _, _ = watches["completes"].partition(";")
        return f"Completing completing(call.watch().requests(), {requests.partition(' ')[2]});"
    return None


def made_by(function):
    """Where MPI writes the handle of a new communicator."""
    return next(parameter.name for parameter in function.parameters if parameter.type == "MPI_Comm*")


def after(function):
    """Statements behind a call that succeeded: where its bytes went, what it made, started, completed and freed."""
    watches, kind, lines = function.watches, function.kind, []
    if sizes(function):
        lines += ["if (sizes.left_out()) [[unlikely]] {", "    sizes.ask_mpi();", "    tell();", "}"]
    placed = [key for key in ("to", "to_root", "from_root", "to_each", "to_members") if key in watches]
    for key in placed:
        first = "sizes, " if key == "to_members" else ""
        lines.append(f"call.{key}({first}{asked(watches[key])}, comm);")
    if not placed and kind == "collective" and "out" in watches:
        lines.append("call.to_no_named_rank();")
    if not placed and kind == "one_sided" and ("out" in watches or "in" in watches):
        lines.append("call.target(target_rank, win);")
    if "passes_on" in watches:
        lines.append("call.passes_on();")
    if "makes_window" in watches:
        lines.append("call.makes_window(*win, comm);")
    if "lends" in watches:
        lines.append(f"call.lends({watches['lends']});")
    if "owns" in watches:
        lines.append(f"call.owns({watches['owns']});")
    if "gives_back" in watches:
        lines.append(f"call.gives_back({watches['gives_back']});")
    if "frees_window" in watches:
        lines.append("call.frees_window(freed);")
    for key in ("starts", "persistent"):
        if key in watches:
            if sizes(function):
                lines += busy_later(function)
            lines.append(f"call.{key}(*request);")
    if "creates" in watches:
        made, _, handle = watches["creates"].partition(" ")
        lines.append(f"call.creates(record::Object::{made}, mpi::handle_key(*{handle}));")
    if "destroys" in watches:
        lines.append(f"call.destroys(record::Object::{watches['destroys'].partition(' ')[0]}, freed);")
    if "makes" in watches:
        lines.append(f"call.makes({watches['makes']});")
    elif "frees" in watches:
        lines.append("freeing.done();")
    elif kind == "communicator":
        lines.append(f"call.makes_unknown(*{made_by(function)});")
    if "asks" in watches:
        lines.append(f"call.asked({watches['asks']});")
    if "begins" in watches:
        lines.append(f"call.begins({watches['begins']});")
    if "completes" in watches:
        requests, _, finished = watches["completes"].partition(";")
        lines.append(f"completing.{requests.partition(' ')[0]}({finished.strip()});")
        lines.append("call.brought(completing.bytes());")
    if "frees_request" in watches:
        lines.append("completing.freed();")
    return lines
