#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cmake/check_line_lengths.py finds each line of prose that is too long, and no line that cannot be broken."""

import subprocess
import sys
import tempfile
from pathlib import Path

LONG = "word " * 27  # 135 columns
PAGE = f"""# Title

{"ä " * 66}
{LONG}
- {LONG}

| {LONG} |

```
{LONG}
```

    {LONG}

![{LONG}](images/a.png)
[paper]: https://example.org/{"x" * 130}
{LONG}
"""
EXPECTED = {f"docs/page.md:{line}: {columns} columns; a line of prose has at most 132"
            for line, columns in ((4, 135), (5, 137), (17, 135))}


def check(script: str, root: Path) -> tuple[int, set[str]]:
    run = subprocess.run([sys.executable, script, root], capture_output=True, text=True, check=False)
    return run.returncode, set(run.stderr.splitlines())


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "docs").mkdir()
        (root / "docs/page.md").write_text(PAGE, encoding="utf-8")
        code, found = check(sys.argv[1], root)
        for line in sorted(found ^ EXPECTED):
            print(("missing: " if line in EXPECTED else "too much: ") + line)
        if code != 1 or found != EXPECTED:
            return 1
        (root / "docs/page.md").write_text(PAGE.replace(LONG, "word"), encoding="utf-8")
        code, found = check(sys.argv[1], root)
        print(*found, sep="\n")
        return 0 if code == 0 and not found else 1


if __name__ == "__main__":
    sys.exit(main())
