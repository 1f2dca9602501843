#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Relative links of the Markdown pages: each must lead to a file of the repository and to a heading in it.

    check_links.py [ROOT]

Pages are README.md, CONTRIBUTING.md, CHANGELOG.md and docs/**/*.md below ROOT. A page that names a file or folder of the
repository in code, as `src/engine`, must name one that exists, and so must a source that names a page of docs/. Not so the
change log and the decisions: they tell of the past. Prints file:line for each broken link; exit code 1 if there is one.
"""

import re
import sys
from pathlib import Path

PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
FOLDERS = ["include", "src", "tests", "bench", "examples", "cmake"]
OF_THE_PAST = ["CHANGELOG.md", "docs/decisions"]
MADE_UP = "tests/checks"  # its pages exist only while it runs
SOURCES = (".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".cmake", ".txt", ".def", ".pml")

FENCE = re.compile(r"^[ ]*(```|~~~).*?^[ ]*\1[ ]*$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", re.DOTALL)
INLINE = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^[ ]{0,3}\[[^\]]+\]:\s*<?(\S+?)>?\s*$", re.MULTILINE)
HTML = re.compile(r"<(?:a|img)\s[^>]*?(?:href|src)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6}[ ]+(.*?)[ ]*#*$", re.MULTILINE)
LABEL = re.compile(r"[ ]*\{#([\w-]+)\}$")
NAMED_ANCHOR = re.compile(r"<a\s[^>]*?(?:id|name)=\"([^\"]+)\"|^\\anchor[ ]+(\S+)|@anchor[ ]+(\S+)", re.MULTILINE)
PATH_IN_CODE = re.compile(rf"(?<!`)`((?:{'|'.join(FOLDERS)})/[\w./-]*)`(?!`)")
PAGE_IN_SOURCE = re.compile(r"\bdocs/[\w./-]+\.md\b")


def without(pattern: re.Pattern, text: str) -> str:
    """Blanks what `pattern` finds; the numbers of lines stay."""
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def slug(heading: str) -> str:
    """The anchor that GitHub and GitLab make of a heading."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)  # a link counts by its text
    text = re.sub(r"[^\w\- ]", "", text.replace("`", "").lower())
    return text.strip().replace(" ", "-")


def anchors_of(text: str) -> set[str]:
    anchors: set[str] = set()
    times: dict[str, int] = {}
    for found in HEADING.finditer(without(FENCE, text)):
        heading = found.group(1)
        label = LABEL.search(heading)
        if label:
            anchors.add(label.group(1))
            heading = heading[: label.start()]
        name = slug(heading)
        anchors.add(name if name not in times else f"{name}-{times[name]}")
        times[name] = times.get(name, 0) + 1
    for found in NAMED_ANCHOR.finditer(text):
        anchors.update(name for name in found.groups() if name)
    return anchors


def links_of(text: str):
    """Each link as (line, target). Code is no link."""
    text = without(SPAN, without(FENCE, text))
    for pattern in (INLINE, REFERENCE, HTML):
        for found in pattern.finditer(text):
            yield text.count("\n", 0, found.start(1)) + 1, found.group(1)


def fault_of(target: str, page: Path, root: Path) -> str | None:
    """Why a link of `page` leads nowhere; None if it does not, or leads out of the repository."""
    if re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE):
        return None
    name, _, anchor = target.partition("#")
    if name.startswith("/"):
        return "is not relative"
    to = (page.parent / name).resolve() if name else page.resolve()
    if root.resolve() not in (to, *to.parents):
        return "leads out of the repository"
    if not to.exists():
        return "no such file"
    if anchor and to.suffix == ".md" and anchor not in anchors_of(to.read_text(encoding="utf-8")):
        return "no such heading"
    return None


def pages_of(root: Path) -> list[Path]:
    return [root / name for name in PAGES if (root / name).exists()] + sorted((root / "docs").rglob("*.md"))


def broken_links(root: Path):
    for page in pages_of(root):
        for line, target in sorted(links_of(page.read_text(encoding="utf-8"))):
            fault = fault_of(target, page, root)
            if fault:
                yield f"{page.relative_to(root)}:{line}: {target}: {fault}"


def paths_that_pages_miss(root: Path):
    past = [root / name for name in OF_THE_PAST]
    for page in pages_of(root):
        if any(old in (page, *page.parents) for old in past):
            continue
        text = without(FENCE, page.read_text(encoding="utf-8"))
        for found in PATH_IN_CODE.finditer(text):
            if not (root / found.group(1)).exists():
                line = text.count("\n", 0, found.start()) + 1
                yield f"{page.relative_to(root)}:{line}: {found.group(1)}: no such file"


def sources_of(root: Path) -> list[Path]:
    found = [file for folder in FOLDERS for file in (root / folder).rglob("*") if file.suffix in SOURCES]
    return sorted(file for file in found if file.is_file() and root / MADE_UP not in file.parents)


def pages_that_sources_miss(root: Path):
    for file in sources_of(root):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for name in PAGE_IN_SOURCE.findall(line):
                if not (root / name).exists():
                    yield f"{file.relative_to(root)}:{number}: {name}: no such page"


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    broken = [*broken_links(root), *paths_that_pages_miss(root), *pages_that_sources_miss(root)]
    print(*broken, sep="\n", end="\n" if broken else "", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
