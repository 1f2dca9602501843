# SPDX-License-Identifier: BSD-3-Clause
"""What a function may touch, from its row of functions.txt: the statements of `touches=`, and what every pointer to one
object touches. A row that leaves out a pointer is refused."""
import re

# The words of touching.hpp.
WORDS = re.compile(r"\b(anything|reads|writes|reads_blocks|writes_blocks|reads_list|changes|memory|pointer|text|calls|"
                   r"completes|real|root_in|size|sources|targets|all_of|each_of|my_count|total_of|last_of)\(")


def statement(text):
    return WORDS.sub(r"touching.\1(", text) + ";"


def by_itself(parameter):
    """The statement of a pointer that needs no word in the row; None if it is no pointer, or needs one."""
    if parameter.array or is_function(parameter) or parameter.type.count("*") != 1:
        return None
    pointed_to = parameter.type.replace("const", "").replace("*", "").strip()
    if pointed_to == "char":
        return f"touching.text({parameter.name});"
    return None if pointed_to == "void" else f"touching.one({parameter.name});"


def is_function(parameter):
    return bool(re.search(r"_(function|fn)(_c)?\b", parameter.type))


def is_pointer(parameter):
    return not is_function(parameter) and "*" in parameter.type or bool(parameter.array)


def statements(function):
    """All statements of a function that is watched."""
    told = [text.strip() for text in function.watches.get("touches", "").split(";") if text.strip()]
    named = set(re.findall(r"\w+", " ".join(told)))
    lines = []
    for parameter in function.parameters:
        if not is_pointer(parameter) or parameter.name in named:
            continue
        line = by_itself(parameter)
        if line:
            lines.append(line)
        elif "anything()" not in told:
            raise SystemExit(f"functions.txt: MPI_{function.name}: touches= does not name {parameter.name}")
    if function.kind == "collective" and any("buf" in name for name in named):
        lines.insert(0, "touching.collective(comm);")
    return lines + [statement(text) for text in told]


def before(function, condition):
    """The lines of a wrapper that let services act before the call, under `condition`."""
    lines = statements(function)
    run = f"if ({condition}!job.before.empty()) [[unlikely]] job.before.run(call, TouchedBy(touched));"
    if not lines:
        return ["auto const touched = [](TouchedMemory&) noexcept {};", run]
    return (["auto const touched = [&](TouchedMemory& touched_memory) noexcept {",
             "    Touching touching(touched_memory, job.watch);"] + [f"    {line}" for line in lines] + ["};", run])
