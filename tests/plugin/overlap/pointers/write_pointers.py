#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the functions of pointers.h from an MPI's headers: write_pointers.py OUTPUT MPI_H..."""
import re
import sys
from pathlib import Path

DECLARATION = re.compile(r"\bint\s+MPI_([A-Z][a-z]\w*)\s*\(([^;{()]*)\)")
# They begin or end what pointers.c does, are no calls of the standard's, or have arguments that are handed on.
LEFT_OUT = re.compile(r"T_\w+|Pcontrol|Init|Init_thread|Finalize|Initialized|Finalized|Abort|DUP_FN|\w+_(c2f|f2c|c2f08|f082c)|"
                      r"File_\w+_(begin|end)|\w*_(dup|null_copy|null_delete|conversion)_fn|Session_\w+|Comm_spawn\w*")
# The address itself is what they are given.
KEEPS_ADDRESS = re.compile(r"\w*_set_attr|Attr_put|\w*create_keyval|Keyval_create|Grequest_start|Register_datarep|Buffer_attach|"
                           r"Win_create|Win_attach|Win_detach|Free_mem|Get_address|Address")
# What they are given must stay until something else is complete.
BEGINS = re.compile(r"I(?!nit|nter|nfo|s_|probe|mprobe)[a-z]\w*|File_i\w+|Comm_idup\w*|\w+_init|R?(put|get|accumulate|get_accumulate)|"
                    r"(Put|Get|Accumulate|Get_accumulate|Raccumulate|Rget_accumulate|Rget|Rput|Fetch_and_op|Compare_and_swap)")


class Parameter:
    def __init__(self, number, text):
        text = " ".join(text.split())
        before, name, self.array = re.fullmatch(r"(.*?)(\w+)?\s*((?:\[\w*\])*)", text).groups()
        self.type = (before if before.strip() else name).strip()
        self.name = f"a{number}"
        self.is_count = self.type == "int" and not self.array and bool(re.search(r"count|size", name or ""))
        self.is_function = bool(re.search(r"(_function|_fn)\s*\*$", self.type))
        self.is_pointer = ("*" in self.type or bool(self.array)) and not self.is_function
        self.is_void = re.fullmatch(r"(const )?void ?\*", self.type) is not None
        self.is_const = "const" in self.type
        self.is_request = "MPI_Request" in self.type

    def declaration(self):
        return f"{self.type} {self.name}{self.array}"

    def handed_on(self):
        """Open MPI's and MPICH's headers write pointers as arrays, too."""
        rest = "".join(re.findall(r"\[\w+\]", self.array[2:])) if self.array else ""
        return f"({self.type} (*){rest})" if rest else f"({self.type}{'*' if self.array else ''})"


def given_anew(function, parameter, counts):
    """Returns how the pointer is given, or None for as it is."""
    if not parameter.is_pointer:
        return None
    begins = BEGINS.fullmatch(function)
    if parameter.is_void and (KEEPS_ADDRESS.fullmatch(function) or function.endswith("_init")):
        return None
    if begins and not parameter.is_const and not parameter.is_request:
        return None
    few = f", {counts} <= k_most_elements" if parameter.is_void else ""
    lasting = "k_for_ever" if begins and not parameter.is_request else "k_for_the_call"
    return f"give_{'data' if parameter.is_void else 'small'}({parameter.name}, {lasting}{few})"


def wrapper(function, text):
    parameters = [Parameter(number, part) for number, part in enumerate(text.split(",")) if part.strip() not in ("", "void")]
    counts = " + ".join(["0"] + [parameter.name for parameter in parameters if parameter.is_count])
    given = [(parameter, given_anew(function, parameter, counts)) for parameter in parameters]
    anew = [how for _, how in given if how]
    if not anew:
        return ""
    index = 0
    arguments = []
    for parameter, how in given:
        arguments.append(f"{parameter.handed_on()}places[{index}].at" if how else parameter.name)
        index += 1 if how else 0
    plain = ", ".join(parameter.name for parameter in parameters)
    return f"""
int MPI_{function}({", ".join(parameter.declaration() for parameter in parameters)}) {{
    __typeof__(MPI_{function})* const next = next_of("MPI_{function}");
    if (!enter()) return next({plain});
    struct place places[] = {{{", ".join(anew)}}};
    begin_call("MPI_{function}", places, {len(anew)});
    int const code = next({", ".join(arguments)});
    end_call(places, {len(anew)});
    leave();
    return code;
}}
"""


def main():
    output, headers = sys.argv[1], sys.argv[2:]
    text = "\n".join(Path(header).read_text(errors="replace") for header in headers)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", "", text)  # macros have parentheses too
    text = re.sub(r"MPICH_ATTR_\w+\([^()]*\)", "", text)
    found = {}
    for name, parameters in DECLARATION.findall(text):
        if not LEFT_OUT.fullmatch(name) and "..." not in parameters and not name.endswith("_c"):
            found.setdefault(name, parameters)
    body = "".join(wrapper(name, parameters) for name, parameters in found.items())
    Path(output).write_text("/* Written by write_pointers.py. */\n"
                            "#define OMPI_OMIT_MPI1_COMPAT_DECLS 0\n#include <mpi.h>\n\n#include \"pointers.h\"\n" + body)


main()
