#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_line_lengths.py [ROOT]: no line of prose in a page (*.md) has more than 132 columns. Tables, code and a line that
is one picture or one address may be longer, because they cannot be broken.
"""
import re
import subprocess
import sys
from pathlib import Path

MOST_COLUMNS = 132
CANNOT_BREAK = re.compile(r"\s*\||    |!\[|\s*([-*] )?(\[[^]]*\]:? ?)?\S*$")


def pages(root: Path) -> list[Path]:
    if not (root / ".git").exists():
        return sorted(root.rglob("*.md"))
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], check=True,
                            capture_output=True, text=True, cwd=root).stdout.splitlines()
    return [root / name for name in listed if (root / name).exists()]


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    faults = 0
    for page in pages(root):
        in_code = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            if line.lstrip().startswith("```"):
                in_code = not in_code
            elif not in_code and len(line) > MOST_COLUMNS and not CANNOT_BREAK.match(line):
                print(f"{page.relative_to(root)}:{number}: {len(line)} columns; a line of prose has at most "
                      f"{MOST_COLUMNS}", file=sys.stderr)
                faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
