#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""refusal_cases.py FUNCTIONS OUTPUT MPI_H...: writes a C array of calls, from functions.txt: each function that the
headers declare with each of its arguments wrong, one at a time."""
import re
import sys
from pathlib import Path

# They begin or end MPI, or need another job.
LEFT_OUT = {"Init", "Init_thread", "Finalize", "Abort", "Session_init", "Comm_spawn", "Comm_spawn_multiple", "Comm_accept",
            "Comm_connect", "Comm_join", "Comm_create_from_group", "Intercomm_create_from_groups", "Buffer_attach",
            "Buffer_detach", "Group_from_session_pset", "Info_create_env"}

FREES = {"Win_free", "File_close", "Group_free", "Info_free", "Errhandler_free", "Op_free"}

# By the beginning of the parameter's text: an argument that is right, and those that are wrong.
KINDS = [
    (r"MPI_Datatype\* (datatype|newtype)", "fresh_type()", ["NULL", "pointer_to_no_type()"]),
    (r"(const )?MPI_Datatype \w+\[", "types", ["NULL", "wrong_types"]),
    (r"MPI_Datatype ", "MPI_INT", ["wrong_type"]),
    (r"MPI_Comm\* comm$", "fresh_comm()", ["NULL", "pointer_to_no_comm()"]),
    (r"MPI_Comm\* ", "&made_comm", ["NULL"]),
    (r"MPI_Comm ", "COMM", ["wrong_comm"]),
    (r"MPI_Group\* ", "GROUP_POINTER", ["NULL", "pointer_to_no_group()"]),
    (r"MPI_Group ", "group", ["MPI_GROUP_NULL"]),
    (r"MPI_Info\* ", "INFO_POINTER", ["NULL", "pointer_to_no_info()"]),
    (r"MPI_Info ", "MPI_INFO_NULL", ["wrong_info"]),
    (r"MPI_Errhandler\* ", "ERRHANDLER_POINTER", ["NULL", "pointer_to_no_errhandler()"]),
    (r"MPI_Errhandler ", "MPI_ERRORS_RETURN", ["MPI_ERRHANDLER_NULL"]),
    (r"MPI_Op\* ", "OP_POINTER", ["NULL", "pointer_to_no_op()"]),
    (r"MPI_Op ", "MPI_SUM", ["MPI_OP_NULL"]),
    (r"MPI_User_function\* ", "sums", ["NULL"]),
    (r"MPI_User_function_c\* ", "sums_c", ["NULL"]),
    (r"MPI_(Comm|Win|File)_errhandler_function\* ", r"on_\1", ["NULL"]),
    (r"MPI_Win\* win$", "WIN_POINTER", ["NULL", "pointer_to_no_win()"]),
    (r"MPI_Win ", "window", ["MPI_WIN_NULL"]),
    (r"MPI_File\* ", "FILE_POINTER", ["NULL", "pointer_to_no_file()"]),
    (r"MPI_File ", "file", ["MPI_FILE_NULL"]),
    (r"MPIO?_Request\* request$", "no_request()", ["NULL"]),
    (r"MPI_Request \w+\[", "requests()", ["NULL", "wrong_requests()"]),
    (r"MPI_Request ", "MPI_REQUEST_NULL", []),
    (r"MPI_Message\* ", "no_message()", ["NULL"]),
    (r"MPI_Status\* ", "&status", ["NULL"]),
    (r"MPI_Status \w+\[", "statuses", ["NULL"]),
    (r"MPI_Count \w+\[|const MPI_Count \w+\[", "large_ones", ["NULL", "large_wrong_ones"]),
    (r"MPI_Aint \w+\[|const MPI_Aint \w+\[", "addresses", ["NULL"]),
    (r"(const )?int \w+\[", "ones", ["NULL", "wrong_ones"]),
    (r"const char datarep\[", "external", ["NULL", "unknown"]),
    (r"const char\* ", "path", ["NULL"]),
    (r"(const )?void\* ", "data", ["NULL", "MPI_IN_PLACE"]),
    (r"int\* |MPI_Count\* ", "&number", ["NULL"]),
    (r"MPI_Aint\* ", "&place", ["NULL"]),
    (r"int (dest|source)$", "MPI_PROC_NULL", ["1234", "-77"]),
    (r"int (root|target_rank|rank|local_leader|remote_leader)$", "0", ["1234", "-77"]),
    (r"int \w*tag$", "5", ["-77"]),
    (r"int assert$", "0", ["-77"]),
    (r"int lock_type$", "MPI_LOCK_SHARED", ["-77"]),
    (r"int (amode)$", "MPI_MODE_CREATE | MPI_MODE_RDWR", ["0"]),
    (r"int whence$", "MPI_SEEK_SET", ["-77"]),
    (r"int ", "1", ["-77"]),
    (r"MPI_Count ", "1", ["-77"]),
    (r"MPI_Aint |MPI_Offset ", "0", ["-77"]),
]


def parameters_of(text, large):
    swap = {"COUNT": "MPI_Count" if large else "int", "DISPL": "MPI_Aint" if large else "int",
            "SIZE": "MPI_Count" if large else "MPI_Aint"}
    text = re.sub(r"\b(COUNT|DISPL|SIZE)\b", lambda found: swap[found.group()], text)
    return [part.strip() for part in text.split(",")] if text else []


def values_of(name, parameter):
    for beginning, right, wrong in KINDS:
        if found := re.match(beginning, parameter):
            if r"\1" in right:
                right = found.expand(right).lower()
            if right == "COMM":
                right = "cart" if "eighbor" in name or name == "Cart_sub" else "comm"
            if right == "&made_comm" and name.startswith("Comm_free"):
                right = "fresh_comm()"
            if right.endswith("_POINTER"):
                kind = right.removesuffix("_POINTER").lower()
                right = f"{'fresh' if name in FREES else 'made'}_{kind}()"
            return right, wrong
    raise SystemExit(f"{name}: what is right for {parameter}, and what is wrong?")


def main():
    table, output, headers = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    declared = "\n".join(Path(header).read_text(errors="replace") for header in headers)
    functions, cases = [], []
    for line in Path(table).read_text().splitlines():
        found = re.fullmatch(r"(\w+) (\w+)\((.*)\)((?: \[\w+\])*)", line)
        if not found or found[2] in LEFT_OUT:
            continue
        for large in (False, True) if "[c]" in found[4] else (False,):
            name = found[2] + ("_c" if large else "")
            if not re.search(rf"\bMPI_{name}\s*\(", declared):
                continue
            values = [values_of(name, parameter) for parameter in parameters_of(found[3], large)]
            for at, (_, wrong) in enumerate(values):
                for value in wrong:
                    arguments = [value if i == at else right for i, (right, _) in enumerate(values)]
                    text = f"MPI_{name}({', '.join(arguments)})"
                    functions.append(f"static int case_{len(cases)}(void) {{\n    return {text};\n}}\n")
                    cases.append(f'    {{case_{len(cases)}, "{text}"}},\n')
    output.write_text("// Written by refusal_cases.py from functions.txt.\n" + "".join(functions)
                      + "static struct Case const cases[] = {\n" + "".join(cases) + "};\n")


main()
