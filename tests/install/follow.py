#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Follows a page literally: follow.py PAGE FOLDER [WORD=OTHER]…

Saves each block of C++ below a line "Save this as `NAME`:" as NAME in the empty FOLDER, and runs the commands of each block
without a language there, in the order of the page. Ends with 1 at the first command that fails.
WORD=OTHER replaces a word in the commands first.
"""
import pathlib
import re
import subprocess
import sys


def blocks_of(page):
    """Yields (language, text before the block, content of the block)."""
    before = ""
    lines = iter(page.splitlines())
    for line in lines:
        if not line.startswith("```"):
            before += line + "\n"
            continue
        content = []
        for inner in lines:
            if inner == "```":
                break
            content.append(inner)
        yield line[3:], before, "\n".join(content) + "\n"
        before = ""


def main():
    page = pathlib.Path(sys.argv[1]).read_text()
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True)
    ran = 0
    for language, before, content in blocks_of(page):
        name = re.search(r"[Ss]ave this as `([^`]+)`:\s*$", before)
        if name:
            (folder / name[1]).write_text(content)
        if language:
            continue
        for word in sys.argv[3:]:
            content = re.sub(rf"\b{word.split('=')[0]}\b", word.split("=")[1], content)
        for command in content.splitlines():
            print("$ " + command, flush=True)
            ended = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, stdout=subprocess.PIPE, text=True)
            print(ended.stdout, end="", flush=True)
            if ended.returncode or (command.startswith("diff ") and ended.stdout):
                print(f"FAILED: it ended with {ended.returncode}")
                return 1
            ran += 1
    print(f"{ran} commands of the page ran")
    return 0 if ran else 1


if __name__ == "__main__":
    sys.exit(main())
