# SPDX-License-Identifier: BSD-3-Clause
"""Wrappers of the functions that an MPI's headers declare and functions.txt does not list: services that act before calls
act before these, too, and nothing else is done."""
import re

# They touch nothing of the program but their arguments, and wait for nothing (some are in ANYTIME); or they are no functions of
# MPI's interface.
LEFT_OUT = re.compile(r"MPI_(T_\w+|Pcontrol|Wtime|Wtick|Aint_\w+|Initialized|Finalized|\w+_(c2f|f2c|c2f08|f082c|f082f|f2f08))")


def noted(what):
    return f"    g_plugin.{what}.store(true, std::memory_order_relaxed);\n"


# What is known of the program from calls of these on: functions of its own that MPI calls when a request is completed.
NOTED = {"Grequest_start": noted("has_generalized_requests")}
DECLARATION = re.compile(r"\bint\s+MPI_([A-Z][a-z]\w*)\s*\(([^;{()]*)\)")


def types_of(text):
    """The type of each parameter, as a pair of what is before its name and what is behind."""
    found = []
    for part in text.split(","):
        part = " ".join(part.split())
        if part in ("", "void"):
            continue
        before, name, behind = re.fullmatch(r"(.*?)(\w+)?\s*((?:\[\w*\])*)", part).groups()
        if not before.strip():
            before, name = name, None  # a type without a name
        found.append((before.strip(), behind))
    return found


def functions(text, listed):
    """Name and parameters of each, in the order of the headers."""
    found = {}
    for name, parameters in DECLARATION.findall(text):
        if name not in listed and not LEFT_OUT.fullmatch("MPI_" + name) and "..." not in parameters:
            found.setdefault(name, types_of(parameters))
    return found


def exported(symbol, parameters, body, answer="int"):
    """A function of the name `symbol` for the linker. In a namespace, because mpi.h declares it with other parameters."""
    return f"""namespace sluice::plugin::entries {{
__attribute__((visibility("default"))) {answer} {symbol}({parameters}) __asm__("{symbol}");
{answer} {symbol}({parameters}) {{
{body}}}
}}
"""


def wrapper(name, types):
    parameters = ", ".join(f"Passed<{before}{behind}> a{i}" for i, (before, behind) in enumerate(types))
    arguments = "".join(f", a{i}" for i in range(len(types)))
    text = ""
    for prefix in ("", "P"):
        text += f"#undef {prefix}MPI_{name}\n" + exported(f"{prefix}MPI_{name}", parameters, f"""{NOTED.get(name, "")}    if (acts_before()) [[unlikely]] {{
        ActingBefore const acting("MPI_{name}");
        return pass_on(below().{prefix}MPI_{name}{arguments});
    }}
    return pass_on(below().{prefix}MPI_{name}{arguments});
""")
    return text


# Function of anytime.hpp and what it returns.
ANYTIME = {"Initialized": ("tell_no", "int"), "Finalized": ("tell_no", "int"), "Wtime": ("tell_time", "double"),
           "Wtick": ("tell_tick", "double")}


def anytime(name):
    otherwise, answer = ANYTIME[name]
    parameters, argument = ("Passed<int*> flag", ", flag") if otherwise == "tell_no" else ("", "")
    return "".join(f"#undef {prefix}MPI_{name}\n" + exported(f"{prefix}MPI_{name}", parameters, f"""    static constinit Anytime below("{prefix}MPI_{name}");
    return below.call_or(&{otherwise}{argument});
""", answer) for prefix in ("", "P"))


def unlisted_cpp(note, found):
    return note + """// Functions that MPI has removed are wrapped for programs that were built when MPI had them.
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#include <mpi.h>

#include "plugin/wrappers/anytime.hpp"
#include "plugin/wrappers/entry.hpp"
#include "plugin/wrappers/unlisted.hpp"

using namespace sluice::plugin;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

""" + "".join(wrapper(name, types) for name, types in found.items()) + "".join(map(anytime, ANYTIME))
