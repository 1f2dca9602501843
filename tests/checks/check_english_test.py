#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cmake/check_english.py finds each refused pronoun in comments, messages and pages, with its line, and no other."""

import subprocess
import sys
import tempfile
from pathlib import Path

FILES = {
    "src/budget/a.cpp": """/// Who asks? The rank that needs memory.
/// The rank who asks gets it.
int nobody = 0;  // as nobody waits
/* somebody
   and him */
char const* text = "a rank " + who + " lost his lease" + "is that who I think?" + R"(nobody
at all)";
char quote = '"'; int his = 1;  // 'history', whose, whom
// A sentence who spans
// two lines? It is a question.
// This one does not, for who
// spans ends here. Does it?
// `who` is a name
""",
    "elsewhere/left_out.cpp": "// nobody looks here yet\n",
    "cmake/a.py": '''"""Nobody knows."""
who = {"who": "who is it?", "whom": f"{who} is who"}  # somebody
''',
    "cmake/a.sh": 'echo "his lease" ${#nobody} $who # him\n',
    "cmake/check_english.py": "# who\n",
    "tests/a/CMakeLists.txt": "# his\nset(who \"to him\" nobody)\n",
    "docs/a.md": """# Who needs it?

`nobody` needs

```
who
```
- the one who reads this

Who is that? A rank.
""",
}
EXPECTED = {
    "src/budget/a.cpp:2: who", "src/budget/a.cpp:3: nobody", "src/budget/a.cpp:4: somebody", "src/budget/a.cpp:5: him",
    "src/budget/a.cpp:6: his", "src/budget/a.cpp:6: nobody", "src/budget/a.cpp:11: who", "cmake/a.py:1: Nobody",
    "cmake/a.py:2: who", "cmake/a.py:2: somebody", "cmake/a.sh:1: his", "cmake/a.sh:1: him", "docs/a.md:8: who",
    "tests/a/CMakeLists.txt:1: his", "tests/a/CMakeLists.txt:2: him",
}


def check(script: str, root: Path) -> tuple[int, set[str]]:
    run = subprocess.run([sys.executable, script, root], capture_output=True, text=True, check=False)
    return run.returncode, {line.rsplit(": ", 1)[0] for line in run.stderr.splitlines()}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        code, found = check(sys.argv[1], root)
        for line in sorted(found ^ EXPECTED):
            print(("missing: " if line in EXPECTED else "too much: ") + line)
        if code != 1 or found != EXPECTED:
            return 1
        for name in {line.split(":")[0] for line in EXPECTED}:
            (root / name).unlink()
        code, found = check(sys.argv[1], root)
        print(*found, sep="\n")
        return 0 if code == 0 and not found else 1


if __name__ == "__main__":
    sys.exit(main())
