#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cmake/check_rooms.py finds each kind of wrong include, a room without a floor, a second door to a peer's memory and a
full folder, and nothing else."""

import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = {
    "base/text.hpp": "",
    "base/text.cpp": '#include "base/text.hpp"\n#include "sluice/error.hpp"\n',
    "kernel/thread.hpp": '#include <mutex>\n#include "base/text.hpp"\n',
    "groups/agree.hpp": '#include "mpi/mpi.hpp"\n#include "types/map.hpp"\n',
    "mpi/mpi.hpp": "",
    "types/map.hpp": "",
    "base/up.cpp": '#include "base/text.hpp"\n#include "kernel/thread.hpp"\n',
    "fetch/store.hpp": '#include "paged/file.hpp"\n',
    "paged/file.hpp": "",
    "types/back.hpp": '#include "groups/agree.hpp"\n',
    "plugin/watch/call.cpp": '#include "plugin/tables/sites.hpp"\n  #  include "plugin/services/list.hpp"\n',
    "plugin/tables/sites.hpp": "",
    "plugin/services/list.hpp": "",
    "attic/old.cpp": "",
    "node/remote_memory.cpp": "process_vm_readv(pid, &here, 1, &there, 1, 0);\n",
    "cli/doctor/single_copy.cpp": "return process_vm_writev(owner, &local, 1, &remote, 1, 0);\n",
    "cli/words.cpp": '// Such as process_vm_readv (of Linux).\nauto name = "process_vm_readv";\n',
    "node/other.cpp": "int one;\nreturn ::process_vm_readv(pid, &here, 1, &there, 1, 0);\n",
    "engine/read.hpp": "auto read = &process_vm_writev;\n",
    "fetch/read.cpp": "syscall(SYS_process_vm_readv, pid);\n",
    "cli/a.hpp": '#include "cli/b.hpp"\n',
    "cli/b.hpp": '#include "cli/c.hpp"\n',
    "cli/c.hpp": '#include "cli/a.hpp"\n',
}
EXPECTED = [
    "src/attic/old.cpp: the room attic stands on no floor",
    "src/base/up.cpp:2: base includes kernel/thread.hpp",
    "src/node/other.cpp:2: touches another process's memory",
    "src/engine/read.hpp:1: touches another process's memory",
    "src/fetch/read.cpp:1: touches another process's memory",
    "src/fetch/store.hpp:1: fetch includes paged/file.hpp",
    "src/plugin/watch/call.cpp:2: plugin/watch includes plugin/services/list.hpp",
    "src/types/back.hpp:1: types includes groups/agree.hpp",
    "a circle of includes: cli/a.hpp -> cli/b.hpp -> cli/c.hpp -> cli/a.hpp",
    "tests/full: 21 files",
]


def main():
    check, project = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for path, text in SOURCES.items():
            (root / "src" / path).parent.mkdir(parents=True, exist_ok=True)
            (root / "src" / path).write_text(text)
        for number in range(21):
            for folder, most in (("full", 21), ("not_yet_full", 20)):
                (root / "tests" / folder).mkdir(parents=True, exist_ok=True)
                if number < most:
                    (root / "tests" / folder / f"{number}.cpp").write_text("")
        ran = subprocess.run([sys.executable, check, name], capture_output=True, text=True)
        found = ran.stderr.replace(f"{name}/", "").splitlines()
    wrong = [line for line in found if not any(line.startswith(start) for start in EXPECTED)]
    missing = [start for start in EXPECTED if not any(line.startswith(start) for line in found)]
    assert ran.returncode == 1 and not wrong and not missing, (ran.returncode, wrong, missing)
    ran = subprocess.run([sys.executable, check, project], capture_output=True, text=True)
    assert ran.returncode == 0, f"the rooms as they are:\n{ran.stderr}"


main()
