#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plain English: a sentence names the rank, process or request that it speaks of.

    check_english.py [ROOT]

Refuses the pronouns of PRONOUNS in comments, messages (text in quotes) and pages below the folders of CLEAN; "who" is right in
a question. Code (`code`, fenced blocks), names in programs and texts of one word, such as keys, are free. Prints file:line for each; exit code 1 if
there is one.
"""

import io
import re
import sys
import tokenize
from pathlib import Path

# Folders and pages without such pronouns; one that is cleaned is added here.
CLEAN = [
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench", "cmake", "docs", "examples", "include", "packaging", "tests",
    "src/base", "src/budget", "src/c", "src/cli", "src/collectives", "src/engine", "src/fetch", "src/groups", "src/kernel",
    "src/main.cpp", "src/memory", "src/mpi", "src/node", "src/paged", "src/plugin", "src/probes", "src/record", "src/redistribution",
    "src/report", "src/tasks", "src/types",
]
PRONOUNS = re.compile(r"\b(who|nobody|somebody|his|him)\b", re.IGNORECASE)
NOT_PROSE = ("check_english.py", "check_english_test.py")  # they name the words

C_LIKE = (".c", ".cpp", ".h", ".hpp", ".def", ".pml")
WITH_HASHES = (".cmake", ".sh", "CMakeLists.txt")
C_COMMENT = r"//[^\n]*|/\*.*?\*/"
HASH_COMMENT = r"(?<![^\s])#[^\n]*"
STRING = r"\"(?:\\.|[^\"\\])*\""
RAW_STRING = r"R\"([^(\s]*)\(.*?\)\1\""
CHARACTER = r"'(?:\\.|[^'\\\n])'"
C_PROSE = re.compile(rf"{RAW_STRING}|{C_COMMENT}|{STRING}|{CHARACTER}", re.DOTALL)
HASH_PROSE = re.compile(rf"{HASH_COMMENT}|{STRING}", re.DOTALL)
FENCE = re.compile(r"^[ ]*(```|~~~).*?^[ ]*\1[ ]*$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", re.DOTALL)
END = re.compile(r"([.?!])(?=[\s\"')*]|$)|\n[ \t/*#]*\n|\0", re.MULTILINE)  # of a sentence


def blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def prose_of_page(text: str) -> str:
    for code in (FENCE, SPAN):
        text = code.sub(lambda found: blank(found.group()), text)
    return text


def joined(text: str, places: list[tuple[int, int]]) -> str:
    """The text of these places; lines of comment that follow each other stay one text, all others are kept apart."""
    prose, last = [], 0
    for begin, end in places:
        between = text[last:begin]
        prose.append(blank(between) if not between.strip() else "\0" + blank(between))
        piece = text[begin:end]
        prose.append(blank(piece) if piece[0] in "\"'" and not re.search(r"\s", piece) else piece)
        last = end
    return SPAN.sub(lambda found: blank(found.group()), "".join(prose))


def places_in_python(text: str) -> list[tuple[int, int]]:
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    kinds = [tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)]
    return [(lines[token.start[0] - 1] + token.start[1], lines[token.end[0] - 1] + token.end[1])
            for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type in kinds]


def prose_of(name: str, text: str) -> str:
    if name.endswith(".md"):
        return prose_of_page(text)
    if name.endswith(".py"):
        return joined(text, places_in_python(text))
    pattern = C_PROSE if name.endswith(C_LIKE) else HASH_PROSE
    return joined(text, [found.span() for found in pattern.finditer(text)])


def is_question(prose: str, place: int) -> bool:
    end = END.search(prose, place)
    return end is not None and end.group(1) == "?"


def found_in(name: str, text: str) -> list[tuple[int, str]]:
    prose = prose_of(name, text)
    return [(prose.count("\n", 0, word.start()) + 1, word.group())
            for word in PRONOUNS.finditer(prose)
            if word.group().lower() != "who" or not is_question(prose, word.end())]


def files(root: Path) -> list[Path]:
    known = (".md", ".py", *C_LIKE, *WITH_HASHES)
    below = [place for name in CLEAN for place in ([root / name] if (root / name).is_file() else (root / name).rglob("*"))]
    return sorted(file for file in below if file.is_file() and file.name.endswith(known) and file.name not in NOT_PROSE)


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    failed = False
    for file in files(root):
        for line, word in found_in(file.name, file.read_text(encoding="utf-8")):
            failed = True
            print(f"{file.relative_to(root)}:{line}: {word}: name the rank, process, request, ...", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
