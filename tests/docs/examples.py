#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Takes the examples out of the pages: examples.py ROOT FRAMES OUT NAME…

Every block of C or C++ of README.md and of the pages in docs/ is either a whole program or stands in a frame. A whole
program becomes OUT/NAME, where NAME is the page and the number of the program on it: tutorial-2.cpp. A frame is a file in
FRAMES. It names its block by words that only this block contains, and holds what a reader imagines around it:

    //= block docs/fetch.md: sluice::Store store(context);
    //= paragraphs 1 2      these paragraphs of the block, which blank lines separate
    //= message             std::string_view message: the first block of text below the block

The frames in C++ of one page become OUT/frames-PAGE.cpp, each in a namespace of its own. A frame in C becomes OUT/FRAME, and
OUT/frames-c.cpp has a test that calls its function int FRAME(void), which returns 0 if all is right.

It is an error if a block has neither frame nor main function, if a frame leaves a paragraph out or has no block, and if the
files are not those that NAME… lists.
"""
import pathlib
import re
import sys

LANGUAGES = {"c": ".c", "cpp": ".cpp", "c++": ".cpp"}


class Wrong(Exception):
    pass


class Block:
    def __init__(self, page, line, language, lines):
        self.page, self.line, self.language, self.lines = page, line, language, lines
        self.text = "\n".join(lines)
        self.message = ""

    def where(self):
        return f"{self.page}:{self.line}"

    def paragraphs(self):
        """Lists of (number of the line in the page, line)."""
        found = [[]]
        for number, line in enumerate(self.lines, self.line + 1):
            if line.strip():
                found[-1].append((number, line))
            elif found[-1]:
                found.append([])
        return [paragraph for paragraph in found if paragraph]


def blocks_of(root, page):
    blocks = []
    lines = iter(enumerate((root / page).read_text().splitlines(), 1))
    for number, line in lines:
        if not line.startswith("```"):
            continue
        content = []
        for _, inner in lines:
            if inner.startswith("```"):
                break
            content.append(inner)
        language = line[3:].strip()
        if language in LANGUAGES:
            blocks.append(Block(page, number, language, content))
        elif language == "text" and blocks and not blocks[-1].message:
            blocks[-1].message = "\n".join(content)
    return blocks


def page_name(page):
    return re.sub(r"\W+", "-", re.sub(r"^docs/", "", page).removesuffix(".md")).lower()


def framed(frame, block):
    """The text of a frame with its block in it."""
    paragraphs = block.paragraphs()
    left = set(range(1, len(paragraphs) + 1))
    out = [f'#line 1 "{frame.name}"']
    for number, line in enumerate(frame.read_text().splitlines(), 1):
        order = re.match(r"\s*//= (\w+) ?(.*)", line)
        if not order:
            out.append(line)
        elif order[1] == "block":
            out.append("")
        elif order[1] == "message":
            out += [f'static constexpr std::string_view message = R"text({block.message})text";', f'#line {number + 1} "{frame.name}"']
        elif order[1] == "paragraphs":
            for which in map(int, order[2].split()):
                if which not in left:
                    raise Wrong(f"{frame.name}:{number}: {block.where()} has no paragraph {which}, or it stands above already")
                left.remove(which)
                out += [f'#line {paragraphs[which - 1][0][0]} "{block.page}"'] + [text for _, text in paragraphs[which - 1]]
            out.append(f'#line {number + 1} "{frame.name}"')
        else:
            raise Wrong(f"{frame.name}:{number}: what is {order[1]}?")
    if left:
        raise Wrong(f"{frame.name}: it leaves out paragraph {min(left)} of {block.where()}: {paragraphs[min(left) - 1][0][1]}")
    return "\n".join(out) + "\n"


def block_of(frame, blocks):
    named = re.search(r"^//= block (\S+): (.+)$", frame.read_text(), re.MULTILINE)
    if not named:
        raise Wrong(f"{frame.name}: no line //= block PAGE: WORDS")
    found = [block for block in blocks if block.page == named[1] and named[2] in block.text]
    if len(found) != 1:
        raise Wrong(f"{frame.name}: {len(found)} blocks of {named[1]} contain: {named[2]}")
    return found[0]


def outputs(root, frames):
    pages = ["README.md"] + sorted(path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md"))
    blocks = [block for page in pages for block in blocks_of(root, page)]
    made, programs = {}, {}
    for block in blocks:
        if re.search(r"^int main\(", block.text, re.MULTILINE):
            name = page_name(block.page)
            programs[name] = programs.get(name, 0) + 1
            made[f"{name}-{programs[name]}{LANGUAGES[block.language]}"] = f'#line {block.line + 1} "{block.page}"\n{block.text}\n'
            block.frame = True
    in_c = []
    for frame in sorted(path for path in frames.rglob("*") if path.suffix in (".c", ".cpp")):
        block = block_of(frame, blocks)
        if hasattr(block, "frame"):
            raise Wrong(f"{frame.name}: {block.where()} has another frame, or is a whole program")
        block.frame = True
        if LANGUAGES[block.language] != frame.suffix:
            raise Wrong(f"{frame.name}: the block is {block.language}")
        if frame.suffix == ".c":
            in_c.append(frame.stem)
            made[frame.name] = framed(frame, block)
        else:
            name = f"frames-{page_name(block.page)}.cpp"
            start = made.get(name, '#include "docs/frame.hpp"\n')
            made[name] = f"{start}\nnamespace sluice::tests::frame_{frame.stem} {{\n{framed(frame, block)}}}\n"
    made["frames-c.cpp"] = '#include "docs/frame.hpp"\n' + "".join(
        f'extern "C" int {name}(void);\nTEST(PagesOfC, {name}) {{\n    EXPECT_EQ({name}(), 0);\n}}\n' for name in in_c)
    for block in blocks:
        if not hasattr(block, "frame"):
            raise Wrong(f"{block.where()}: this block is no whole program, and tests/docs/frames has no frame for it")
    return made


def main():
    root, frames, out = map(pathlib.Path, sys.argv[1:4])
    wanted = set(sys.argv[4:])
    try:
        made = outputs(root, frames)
        if set(made) != wanted:
            raise Wrong(f"tests/docs/CMakeLists.txt lists {sorted(wanted - set(made))}, which no page has, "
                        f"and not {sorted(set(made) - wanted)}")
    except Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 1
    out.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        file = out / name
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
