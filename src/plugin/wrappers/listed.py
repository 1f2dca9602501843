# SPDX-License-Identifier: BSD-3-Clause
"""Wrappers of the functions that functions.txt lists. Each has an exported function for MPI_X and one for PMPI_X, whose
arguments are those of any MPI (entry.hpp); what is behind them has the types of the plugin's MPI."""
import told
import touches
import unlisted

HEAD = """#include <type_traits>

#include "plugin/binding/callers/callers.hpp"
#include "plugin/services/job.hpp"
#include "plugin/services/requests/translated.hpp"
#include "plugin/services/type_calls.hpp"
#include "plugin/tables/message_bytes.hpp"
#include "plugin/watch/call.hpp"
#include "plugin/watch/objects/freeing.hpp"
#include "plugin/watch/requests.hpp"
#include "plugin/watch/touching.hpp"
#include "plugin/wrappers/around.hpp"
#include "plugin/wrappers/counted.hpp"
#include "plugin/wrappers/entry.hpp"
#include "plugin/wrappers/unlisted.hpp"

using namespace sluice::plugin;
namespace mpi = sluice::mpi;
namespace record = sluice::record;

#define SLUICE_CALLER caller_of_program(__builtin_return_address(0), __builtin_dwarf_cfa())
"""


def exported(prefix, function, body):
    return unlisted.exported(f"{prefix}MPI_{function.name}", function.passed(), body)


def passing(prefix, function):
    return f"pass_on(below().{prefix}MPI_{function.name}{function.arguments()})"


def object_of(function, text):
    """KIND HANDLE of creates= and destroys= as arguments in their own types."""
    kind, _, handle = text.partition(" ")
    return f"record::Object::{kind}, {function.cast(handle)}"


def counted(function, prefix):
    """A wrapper that counts an object that is made or freed, at every entry."""
    name, watches = function.name, function.watches
    call = passing(prefix, function)
    if "through" in watches:
        call = f"{watches['through']}(below().{prefix}MPI_{name}{function.typed()})"
    if "destroys" in watches:
        counts = f"frees({object_of(function, watches['destroys'])}, next)"
    elif "contents" in watches:
        counts = f"gives_contents(Function::{name}, SLUICE_CALLER, {function.typed(watches['contents'])}, next)"
    else:
        counts = f"makes(Function::{name}, SLUICE_CALLER, {object_of(function, watches['creates'])}, next)"
    return exported(prefix, function, f"""    if (!acts()) return {passing(prefix, function)};
{unlisted.NOTED.get(name, "")}    act_before("MPI_{name}");
    return {counts.replace("next", f"[&] {{ return {call}; }}")};
""")


def beside(function, prefix):
    """A wrapper in whose place another function runs at every entry."""
    return exported(prefix, function, f"""    if (!acts()) return {passing(prefix, function)};
    act_before("MPI_{function.name}");
    return {function.watches['beside']}(below().{prefix}MPI_{function.name}{function.typed()});
""")


def body_around(function):
    return (f"    act_before(\"MPI_{function.name}\");\n"
            f"    return {function.watches['around']}(below, caller{function.arguments()});\n")


def is_of_many(function):
    """Several ranks call it together: it acts also inside another call."""
    return function.kind in ("collective", "communicator")


def body_watched(function):
    name, watches = function.name, function.watches
    indented = lambda lines, by: "".join(f"{by}{line}\n" for line in lines)
    after = told.after(function)
    run = f"job.chains.{name}.run(call, below{function.arguments()})"
    if "takes_requests" in watches:
        run = (f"job.owned.empty() ? {run}\n"
               f"        : job.chains.{name}.run_translated(call, Translated<false>::{name}, below{function.arguments()})")
    outer, outermost = (", outer", "outer == nullptr && ") if is_of_many(function) else ("", "")
    poll = "if (outer == nullptr) job.poll();" if outer else "job.poll();"
    before = touches.before(function, outermost)
    before += told.measuring(function) + told.before(function)
    if kept := told.completing(watches):
        # The list of requests may be memory of Sluice: it must be gone when call.end() reads the memory again.
        middle = (f"    int code = MPI_SUCCESS;\n    {{\n        {kept}\n        code = {run};\n"
                  f"        if (code == MPI_SUCCESS) {{\n{indented(after, ' ' * 12)}        }}\n    }}\n")
    else:
        middle = (f"    int const code = {run};\n"
                  + (f"    if (code == MPI_SUCCESS) {{\n{indented(after, '        ')}    }}\n" if after else ""))
    return (f"    Call call(job, job.watch, Function::{name}, caller{outer});\n    {poll}\n"
            + indented(before, "    ")
            + middle + "    return call.end(code);\n")


def aside(function, prefix):
    """What a wrapper does that does not act."""
    name, watches = function.name, function.watches
    text = passing(prefix, function)
    if "takes_requests" in watches:
        typed = "".join(f", {function.cast(parameter.name)}" for parameter in function.parameters)
        text = (f"!owns_some(g_plugin.job) ? {text}\n"
                f"        : Translated<true>::{name}(below().{prefix}MPI_{name}{typed})")
    if "destroys" in watches:
        text = f"frees({object_of(function, watches['destroys'])}, [&] {{ return {text}; }})"
    return text


def wrapper(function):
    name, watches = function.name, function.watches
    for kind, write in (("beside", beside), ("counted", counted)):
        if kind in watches:
            return "".join(write(function, prefix) for prefix in ("", "P"))
    job_parameter, job_argument = "Job& job, ", "*job, "
    if "around" in watches:
        enter, body = "    if (stands_below())", body_around(function)
        job_parameter = job_argument = ""
    elif is_of_many(function):
        enter = ("    auto const [job, outer] = acting_of_many(__builtin_return_address(0));\n"
                 "    if (job == nullptr)")
        body, job_parameter, job_argument = body_watched(function), "Job& job, Inside* outer, ", "*job, outer, "
    else:
        for_requests = "_for_requests" if "takes_requests" in watches else ""
        enter, body = f"    Job* const job = acting_job{for_requests}();\n    if (job == nullptr)", body_watched(function)
    declarations = "".join(f", {parameter.declaration(function.large)}" for parameter in function.parameters)
    text = f"""
static int watched_{name}({job_parameter}decltype(&::MPI_{name}) below, void* caller{declarations}) {{
{body}}}
"""
    find = ""
    if name in ("Init", "Init_thread"):
        find = "    find_wrapping_code();  // a module of Python was opened after the plugin\n"
    for prefix in ("", "P"):
        text += exported(prefix, function, f"""{enter} return {aside(function, prefix)};
{find}    return watched_{name}({job_argument}below().{prefix}MPI_{name}, SLUICE_CALLER{function.typed()});
""")
    return text


def wrappers_cpp(note, functions):
    return note + HEAD + "".join(wrapper(function) for function in functions)
