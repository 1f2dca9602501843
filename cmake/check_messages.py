#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each message that docs/troubleshooting.md explains is one that the sources can print: all its words between `…`, with numbers
and names left out, occur in the string literals of one source file."""
import pathlib
import re
import sys

LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def text_of(source):
    """The literals of a source, with the values between them as spaces."""
    return re.sub(r"%[-.0-9]*[lz]*[sdu]|\{[^}]*\}", " ", "".join(LITERAL.findall(source.read_text().replace("'\"'", ""))))


def main():
    root = pathlib.Path(__file__).parent.parent
    page = root / "docs" / "troubleshooting.md"
    texts = [text_of(source) for source in sorted((root / "src").rglob("*.cpp"))]
    wrong = 0
    messages = re.findall(r"^### `(.+)`$", page.read_text(), re.MULTILINE)
    for message in messages:
        parts = [part.strip(" '") for part in message.split("…") if len(part.strip(" ',;:")) > 2]
        if not any(all(part in text for part in parts) for text in texts):
            print(f"{page.relative_to(root)}: no source prints {parts}")
            wrong += 1
    if not messages:
        print(f"{page.relative_to(root)}: no message found")
    return 1 if wrong or not messages else 0


if __name__ == "__main__":
    sys.exit(main())
