#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests examples.py on pages of its own: examples_test.py EXAMPLES"""
import pathlib
import subprocess
import sys
import tempfile

PATH = "docs/" + "page.md"  # no file of the project
PAGE = "# A page\n\n```cpp\nint a = 1;\n\nint b = 2;\n```\n\n```text\nthe message\n```\n\n```cpp\nint main() {}\n```\n"
FRAME = f"//= block {PATH}: int a = 1;\n//= paragraphs 1 2\n//= message\n"
IN_C = "```c\nint c;\n```\n"
FILES = ["frames-page.cpp", "page-1.cpp", "frames-c.cpp"]


def run(page, frames, names):
    """Returns (exit code, what it printed, the files that it made)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "frames").mkdir()
        (root / "README.md").write_text("# Readme\n")
        (root / "docs" / "page.md").write_text(page)
        for name, text in frames.items():
            (root / "frames" / name).write_text(text)
        ended = subprocess.run([sys.executable, sys.argv[1], root, root / "frames", root / "out"] + names, stderr=subprocess.PIPE,
                               text=True)
        made = {file.name: file.read_text() for file in (root / "out").glob("*")}
        return ended.returncode, ended.stderr, made


def expect(truth, what):
    if not truth:
        print("FAILED:", what)
        sys.exit(1)


def refused(words, page, frames, names=FILES):
    code, text, made = run(page, frames, names)
    expect(code == 1 and words in text and not made, f"{words!r} in {text!r}")


code, text, made = run(PAGE, {"page.cpp": FRAME}, FILES)
expect(code == 0 and set(made) == set(FILES), f"{code} {text} {set(made)}")
framed = made["frames-page.cpp"]
expect(f'#line 4 "{PATH}"\nint a = 1;\n#line 6 "{PATH}"\nint b = 2;\n' in framed, framed)
expect('R"text(the message)text"' in framed and "namespace sluice::tests::frame_page {" in framed, framed)
expect(made["page-1.cpp"] == f'#line 14 "{PATH}"\nint main() {{}}\n', made["page-1.cpp"])
code, text, made = run(PAGE + IN_C, {"page.cpp": FRAME, "c.c": f"//= block {PATH}: int c;\n//= paragraphs 1\n"}, FILES + ["c.c"])
expect(code == 0 and "int c(void);" in made["frames-c.cpp"] and f'"{PATH}"\nint c;\n' in made["c.c"], text)

refused(f"{PATH}:3: this block is no whole program", PAGE, {})
refused(f"{PATH}:16: this block is no whole program", PAGE + IN_C, {"page.cpp": FRAME})
refused("leaves out paragraph 2", PAGE, {"page.cpp": FRAME.replace("1 2", "1")})
refused("has no paragraph 3", PAGE, {"page.cpp": FRAME.replace("1 2", "1 2 3")})
refused(f"0 blocks of {PATH} contain", PAGE, {"page.cpp": FRAME, "other.cpp": FRAME.replace("a = 1", "a = 3")})
refused(f"2 blocks of {PATH} contain", PAGE + PAGE, {"page.cpp": FRAME})
refused("has another frame", PAGE, {"page.cpp": FRAME, "same.cpp": FRAME})
refused("the block is cpp", PAGE, {"page.c": FRAME})
refused("no line //= block", PAGE, {"page.cpp": "//= paragraphs 1 2\n"})
refused("what is paragraph?", PAGE, {"page.cpp": FRAME.replace("paragraphs", "paragraph")})
refused("lists ['page-2.cpp'], which no page has", PAGE, {"page.cpp": FRAME}, FILES + ["page-2.cpp"])
print("blocks with and without frames are told apart")
