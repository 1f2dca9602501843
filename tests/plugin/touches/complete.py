#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""complete.py FOLDER: generate.py of that folder refuses a table in which a pointer of any function is not told, and takes
the table as it is."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

folder = Path(sys.argv[1])
table = (folder / "functions.txt").read_text()
rows = re.split(r"\n(?=\w)", table)


def generated(text):
    """None, or what generate.py says."""
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "functions.txt").write_text(text)
        # A header that declares all functions.
        names = re.findall(r"(?m)^\w+ (\w+)\(", text)
        (Path(work) / "mpi.h").write_text("".join(f"int MPI_{name}(void);\nint MPI_{name}_c(void);\n" for name in names))
        run = subprocess.run([sys.executable, folder / "generate.py", Path(work) / "functions.txt", work,
                              Path(work) / "mpi.h"], capture_output=True, text=True)
        return None if run.returncode == 0 else run.stderr


wrong = []
if (says := generated(table)) is not None:
    wrong.append(f"the table: {says}")
head = rows[0]
refused = 0
for row in rows[1:]:
    found = re.search(r"\n    touches=.*", row)
    if not found:
        continue
    pointers = re.search(r"void\*|\[|\* \*", re.search(r"\((.*)\)", row)[1])
    says = generated(head + "\n" + row.replace(found[0], "") + "\n")
    if pointers and (says is None or "touches= does not name" not in says):
        wrong.append(f"accepted without touches=: {row.splitlines()[0]}")
    refused += says is not None
print(f"{refused} rows refused without their touches=, {len(wrong)} wrong", *wrong, sep="\n")
sys.exit(1 if wrong or refused < 100 else 0)
