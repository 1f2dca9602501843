#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the wrappers of MPI functions from functions.txt.

generate.py FUNCTIONS FOLDER [MPI_H...] writes into FOLDER:
  functions.hpp   the names and kinds of all functions, and an enum to tell them apart: the same for every MPI
and, for the functions that the headers declare:
  libmpi.hpp      pointers to every function of the MPI that is loaded, in both spellings
  chains.hpp      one typed chain for each function, where services put their links
  straight.h      included ahead of our own sources: their MPI_X calls go straight to libmpi, past every wrapper
  wrappers.cpp    MPI_X and PMPI_X
  unlisted.cpp    the same for the functions that functions.txt does not list
"""
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the folder is one of sources
import listed
import told
import unlisted


class Parameter:
    def __init__(self, text):
        match = re.fullmatch(r"(.*?)\s*(\w+)((?:\[\d*\])*)", text.strip())
        self.type, self.name, self.array = match.groups()

    def written(self, large):
        swap = {"COUNT": "MPI_Count" if large else "int", "DISPL": "MPI_Aint" if large else "int",
                "SIZE": "MPI_Count" if large else "MPI_Aint"}
        return re.sub(r"\b(COUNT|DISPL|SIZE)\b", lambda found: swap[found.group()], self.type)

    def declaration(self, large):
        return f"{self.written(large)} {self.name}{self.array}"

    def as_passed(self, large):
        return f"Passed<{self.written(large)}{self.array}> {self.name}"


class Function:
    """One row of functions.txt; `large`: its form with MPI_Count."""

    def __init__(self, kind, name, parameters, watches, large):
        self.kind, self.base, self.large = kind, name, large
        self.name = name + ("_c" if large else "")
        self.parameters = parameters
        self.watches = watches

    def declarations(self):
        return ", ".join(parameter.declaration(self.large) for parameter in self.parameters) or "void"

    def passed(self):
        """The parameters of the exported function, each as wide as a register."""
        return ", ".join(parameter.as_passed(self.large) for parameter in self.parameters) or ""

    def arguments(self):
        """Led by commas, as they came."""
        return "".join(f", {parameter.name}" for parameter in self.parameters)

    def typed(self, text=None):
        """The same as what the MPI of the plugin takes; or what `text` has of them."""
        if text is None:
            return "".join(f", Argument{{{parameter.name}}}" for parameter in self.parameters)
        return re.sub(r"\w+", lambda found: f"Argument{{{found.group()}}}" if self.has(found.group()) else found.group(), text)

    def cast(self, name):
        """A parameter in its own type."""
        parameter = next(parameter for parameter in self.parameters if parameter.name == name)
        return f"static_cast<std::decay_t<{parameter.written(self.large)}{parameter.array}>>(Argument{{{name}}})"

    def has(self, name):
        return any(parameter.name == name for parameter in self.parameters)


def read_table(path):
    """functions.txt: a row begins at the margin, what is asked of it is indented below."""
    rows = []
    for line in Path(path).read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            key, _, value = line.strip().partition("=")
            rows[-1][3][key] = value
            continue
        kind, name, parameters, flags = re.fullmatch(r"(\w+) (\w+)\((.*)\)((?: \[\w+\])*)", line.strip()).groups()
        parameters = [] if not parameters else [Parameter(text) for text in parameters.split(",")]
        rows.append((kind, name, parameters, {}, "[c]" in flags))
    return rows


def functions_of(rows, declared):
    found = []
    for kind, name, parameters, watches, has_large in rows:
        for large in (False, True) if has_large else (False,):
            function = Function(kind, name, parameters, watches, large)
            if declared is None or "MPI_" + function.name in declared:
                found.append(function)
    return found


def declarations_in(headers):
    """The text of the MPI's headers without comments and macros."""
    text = "\n".join(Path(header).read_text(errors="replace") for header in headers)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", "", text)  # macros have parentheses too


def declared_in(text):
    """All functions that the MPI's headers declare."""
    return set(re.findall(r"\b(MPI_\w+)\s*\([^;{]*?\)[^;{]*;", text))


def globals_in(headers):
    """The data symbols behind the handles of an MPI whose handles are addresses (Open MPI)."""
    text = "\n".join(Path(header).read_text(errors="replace") for header in headers)
    return sorted(set(re.findall(r"OMPI_PREDEFINED_GLOBAL\(\s*\w+\s*,\s*(\w+)\s*\)", text)) - {"global"})


NOTE = "// Written by generate.py from functions.txt.\n"


def functions_hpp(functions):
    functions = [function for function in functions if "beside" not in function.watches]
    names = "".join(f'    "MPI_{function.name}",\n' for function in functions)
    kinds = "".join(f"    record::Kind::{function.kind},\n" for function in functions)
    reads = "".join(f"    Reads::{told.reads_memory(function)},\n" for function in functions)
    enum = "".join(f"    {function.name},\n" for function in functions)
    return f"""{NOTE}#pragma once

#include <array>
#include <cstdint>

#include "record/record.hpp"

namespace sluice::plugin {{

enum class Function : std::uint32_t {{
{enum}}};

// The lengths are written out: Clang deduces none of more than 256.
inline constexpr std::array<char const*, {len(functions)}> k_function_names{{
{names}}};

inline constexpr std::array<record::Kind, {len(functions)}> k_function_kinds{{
{kinds}}};

/// When the memory is read at both ends of a call: always if such calls are rare and may take much; at some if they
/// make an object and are short; else when a reading is due.
enum class Reads {{ when_due, some, always }};
inline constexpr std::array<Reads, {len(functions)}> k_reads_memory{{
{reads}}};

}}  // namespace sluice::plugin
"""


# Functions that our own sources call besides those in the table.
STRAIGHT_ONLY = """Comm_rank Comm_size Comm_group Comm_remote_size Comm_test_inter Comm_compare Comm_get_attr Comm_set_attr
Comm_delete_attr Comm_create_keyval Comm_free_keyval Comm_set_errhandler Comm_get_errhandler Comm_call_errhandler
Comm_set_name Comm_get_parent Errhandler_free Error_class Error_string Group_free Group_rank Group_size
Group_translate_ranks Group_incl Group_compare Initialized Finalized Get_count Get_address Get_library_version
Get_processor_name Is_thread_main Info_create Info_set Info_free Op_create Op_free Pack Pack_size Unpack
Type_size Type_size_x Type_get_extent Type_get_extent_x Type_get_true_extent Type_get_true_extent_x
Type_get_envelope Type_get_envelope_c Type_get_contents Type_get_contents_c
Type_contiguous Type_vector Type_create_hvector Type_create_hindexed Type_create_resized
Type_create_struct Type_commit Type_free Type_dup Win_shared_query Win_set_errhandler Win_get_attr Wtime
Cart_shift Win_get_group Grequest_start Grequest_complete Status_set_elements Status_set_elements_x Status_set_cancelled
Dist_graph_neighbors_count Graphdims_get Graph_neighbors_count Cartdim_get Topo_test Win_set_name
Get_elements Get_elements_x Type_match_size Get_version Query_thread Test_cancelled""".split()


def straight_names(functions, declared):
    names = [function.name for function in functions]
    return names + [name for name in STRAIGHT_ONLY if name not in names and "MPI_" + name in declared]


def libmpi_hpp(functions, declared, handles, others):
    names = straight_names(functions, declared)
    spelled = lambda prefix, listed: "".join(f"    decltype(&::MPI_{name}) {prefix}MPI_{name};\n" for name in listed)
    below = [function.name for function in functions]
    untyped = lambda prefix: "".join(f"    void* {prefix}MPI_{name};\n" for name in others)
    fields = "".join(f"    void* {handle};\n" for handle in handles)
    strings = lambda prefix, listed: "".join(f'    "{prefix}MPI_{name}",\n' for name in listed)
    handle_strings = "".join(f'    "{handle}",\n' for handle in handles)
    return f"""{NOTE}#pragma once

#include <mpi.h>

#include <array>

namespace sluice::plugin {{

/// What follows below us: the next tool, or libmpi. In the order of k_below_names.
struct Below {{
{spelled("", below)}{spelled("P", below)}{untyped("")}{untyped("P")}}};

/// libmpi itself, for our own traffic. In the order of k_straight_names.
struct Libmpi {{
{spelled("P", names)}{fields}}};

inline constexpr std::array<char const*, {2 * (len(below) + len(others))}> k_below_names{{
{strings("", below)}{strings("P", below)}{strings("", others)}{strings("P", others)}}};

inline constexpr std::array<char const*, {len(names) + len(handles)}> k_straight_names{{
{strings("P", names)}{handle_strings}}};

static_assert(sizeof(Below) == sizeof(void*) * k_below_names.size());
static_assert(sizeof(Libmpi) == sizeof(void*) * k_straight_names.size());

}}  // namespace sluice::plugin
"""


def straight_h(functions, declared, handles, others):
    named = straight_names(functions, declared)
    # Our own call of another function would enter by its wrapper.
    refused = "".join(f"#undef MPI_{name}\n#define MPI_{name} MPI_{name}_is_missing_in_STRAIGHT_ONLY\n"
                      for name in others if name not in named)
    macros = "".join(f"#define MPI_{name} (::sluice::plugin::g_plugin.libmpi.PMPI_{name})\n"
                     for name in named)
    global_macro = """#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (reinterpret_cast<type>(::sluice::plugin::g_plugin.libmpi.global))
""" if handles else ""
    return f"""{NOTE}#pragma once

#include <mpi.h>

#include "plugin/binding/plugin.hpp"

{macros}{refused}{global_macro}"""


def chains_hpp(functions):
    functions = [function for function in functions if not {"around", "beside", "counted"} & set(function.watches)]
    fields = "".join(f"    Chain<decltype(Libmpi::PMPI_{function.name})> {function.name};\n" for function in functions)
    # A generic lambda serves both forms of a function, with int and with MPI_Count.
    visits = "".join(f"        if constexpr (requires {{ Links::{function.base}; }}) visit({function.name}, Links::{function.base});\n"
                     for function in functions)
    return f"""{NOTE}#pragma once

#include "libmpi.hpp"
#include "plugin/services/chain.hpp"

namespace sluice::plugin {{

/// The chain of each function. A service names its links in a struct of static generic lambdas,
///     static constexpr auto Alltoall = [](Owner& owner, Call& call, auto next, auto... arguments) {{ return …; }};
/// and adds or removes all of them at once; what is named Alltoall is the link of MPI_Alltoall_c as well. Each link gets
/// the owner that it was added with.
struct Chains {{
{fields}
    template <class Links, class Owner>
    void add(Owner& owner) noexcept {{
        each<Links>([&owner](auto& chain, auto link) {{ chain.add(owner, link); }});
    }}
    template <class Links, class Owner>
    void remove(Owner& owner) noexcept {{
        each<Links>([&owner](auto& chain, auto) {{ chain.remove(&owner); }});
    }}

  private:
    template <class Links, class Visit>
    void each(Visit const& visit) noexcept {{
{visits}    }}
}};

}}  // namespace sluice::plugin
"""


def main():
    table, folder, headers = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    rows = read_table(table)
    folder.mkdir(parents=True, exist_ok=True)
    files = {"functions.hpp": functions_hpp(functions_of(rows, None))}
    if headers:
        text = declarations_in(headers)
        declared = declared_in(text)
        functions = functions_of(rows, declared)
        handles = globals_in(headers)
        others = unlisted.functions(text, {function.name for function in functions})
        files |= {
            "libmpi.hpp": libmpi_hpp(functions, declared, handles, others),
            "chains.hpp": chains_hpp(functions),
            "straight.h": straight_h(functions, declared, handles, others),
            "wrappers.cpp": listed.wrappers_cpp(NOTE, functions),
            "unlisted.cpp": unlisted.unlisted_cpp(NOTE, others),
        }
    for name, text in files.items():
        if not (folder / name).exists() or (folder / name).read_text() != text:
            (folder / name).write_text(text)


if __name__ == "__main__":
    main()
