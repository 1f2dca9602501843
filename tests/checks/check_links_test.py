#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cmake/check_links.py finds each kind of broken link, with its line, and no other."""

import subprocess
import sys
import tempfile
from pathlib import Path

README = """# A title

[a page](docs/guide.md), [its heading](docs/guide.md#the-first-part-of-it), [the second
of that name](docs/guide.md#same-1), [the label](docs/guide.md#own-label), [a folder](docs/), [here](#a-title),
![a picture](docs/images/a.png), [elsewhere](https://example.org/none.md#none)

`[code](none.md)` and ``[code `in` code](none.md)``

```
[code](none.md)
```

[gone](docs/gone.md)
[no heading](docs/guide.md#none), [a label in the
next line](docs/guide.md#labelled)
![gone](docs/images/b.png)
[not relative](/docs/guide.md)
[out](../out.md)
<a href="docs/none.md">gone</a>

[reference]: docs/gone_too.md
"""
GUIDE = """# Guide

## The *first* part (of it)
## Same
## Same
## Labelled once {#own-label}

[up](../README.md#a-title) [gone](README.md)

```
# not a heading
```
[no heading](#not-a-heading)
`src/a.hpp`, `src`, `src/gone.hpp`
"""
DECISION = "`src/gone.hpp` was here, and [the guide](../gone.md), too\n"
SOURCE = """/// docs/guide.md explains it
/// docs/gone.md does not
"""
EXPECTED = {
    "README.md:13: docs/gone.md: no such file",
    "README.md:14: docs/guide.md#none: no such heading",
    "README.md:15: docs/guide.md#labelled: no such heading",
    "README.md:16: docs/images/b.png: no such file",
    "README.md:17: /docs/guide.md: is not relative",
    "README.md:18: ../out.md: leads out of the repository",
    "README.md:19: docs/none.md: no such file",
    "README.md:21: docs/gone_too.md: no such file",
    "docs/guide.md:8: README.md: no such file",
    "docs/guide.md:13: #not-a-heading: no such heading",
    "docs/guide.md:14: src/gone.hpp: no such file",
    "docs/decisions/0001.md:1: ../gone.md: no such file",
    "src/a.hpp:2: docs/gone.md: no such page",
}


def check(script: str, root: Path) -> tuple[int, set[str]]:
    run = subprocess.run([sys.executable, script, root], capture_output=True, text=True, check=False)
    return run.returncode, set(run.stderr.splitlines())


def write(root: Path, readme: str, guide: str, decision: str, source: str) -> None:
    files = {"README.md": readme, "docs/guide.md": guide, "docs/decisions/0001.md": decision, "docs/images/a.png": "",
             "src/a.hpp": source}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def main() -> int:
    script = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, README, GUIDE, DECISION, SOURCE)
        code, found = check(script, root)
        for line in sorted(found ^ EXPECTED):
            print(("missing: " if line in EXPECTED else "too much: ") + line)
        if code != 1 or found != EXPECTED:
            return 1
        write(root, README[: README.index("[gone]")], GUIDE[: GUIDE.index("[gone]")], DECISION[: DECISION.index(",")],
              SOURCE.splitlines()[0])
        code, found = check(script, root)
        print(*found, sep="\n")
        return 0 if code == 0 and not found else 1


if __name__ == "__main__":
    sys.exit(main())
