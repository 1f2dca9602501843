#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Doxygen's filter of the pages: pages.py PAGE prints PAGE as Doxygen 1.9 understands it.

Pages are written for a reader of the repository. Doxygen reads another Markdown: a link or a piece of code may not go
over the end of a line, code is not seen inside links and bold words, a link cannot lead to a heading, and a page is
named by its absolute path. So paragraphs become one line, links and bold words become HTML, and headings get names.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^()\s]+)\)")
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
STRONG = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?![\w*])")
HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*$")
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
FENCE = re.compile(r"\s*(```|~~~)")
# A line of these is not joined with its neighbours: a table's row, HTML, a quotation, a rule.
APART = re.compile(r"\s*(?:\||<|>|-{3,}\s*$)")


def label_of(page):
    """The name of a page's HTML file and of its anchors: docs/rooms/index.md is rooms-index, README.md is readme."""
    inside = page.relative_to(ROOT / "docs") if page.is_relative_to(ROOT / "docs") else page.relative_to(ROOT)
    return "-".join(inside.with_suffix("").parts).lower()


def slug_of(heading):
    """The anchor that a heading has on the pages of repositories, in ASCII."""
    return re.sub(r"[^a-z0-9 _-]", "", plain(heading).lower()).replace(" ", "-")


def plain(text):
    text = LINK.sub(r"\1", text)
    return re.sub(r"[`*]", "", text)


def address_of(target, page):
    """Where a link of `page` leads in the HTML: an address, or None for a file that is not among the pages."""
    if re.match(r"[a-z]+:", target):
        return target
    path, _, slug = target.partition("#")
    to = (page.parent / path).resolve() if path else page
    if to.is_dir() and (to / "index.md").is_file():
        to = to / "index.md"
    if to.suffix == ".md" and to.is_file() and (to.is_relative_to(ROOT / "docs") or to.parent == ROOT):
        return f"{label_of(to)}.html" + (f"#{label_of(to)}-{slug}" if slug else "")
    if to == ROOT / "include/sluice/settings.def":
        return "settings.html"
    if to.is_file() and to.is_relative_to(ROOT / "include"):
        return to.name.replace("_", "__").replace(".", "_8") + ".html"
    if to.is_file() and to.parent == ROOT and to.name in ("LICENSE", "CITATION.cff"):
        return to.name
    return None if to.exists() and to.is_relative_to(ROOT) else target  # the test of the HTML finds a dead link


def is_below(to, page):
    """Whether `to` is one of the pages that `page` opens: those of its folder (index.md), or of the folder of its name."""
    folder = page.parent if page.name == "index.md" else page.with_suffix("")
    return to.suffix == ".md" and to.parent == folder and to != page and page != ROOT / "docs/index.md"


def link(text, target, page, opened):
    address = address_of(target, page)
    to = (page.parent / target).resolve()
    if address and is_below(to, page) and to not in opened and '"' not in text:
        opened.add(to)  # its first link puts the page below this one in the list of pages
        return f'@subpage {label_of(to)} "{plain(text)}"'
    if address:
        return f'<a href="{address}">{text}</a>'
    path = to.relative_to(ROOT).as_posix()
    return text if path in text else f"{text} (`{path}`)"


def inline(text, page, opened):
    """Links, images, bold and slanted words as HTML; what stands in code stays as it is."""
    code = []

    def put_aside(found):
        code.append(found[0])
        return f"\0{len(code) - 1}\0"

    text = CODE.sub(put_aside, text)
    text = IMAGE.sub(lambda m: f'<img src="{pathlib.PurePath(m[2]).name}" alt="{m[1]}" style="max-width: 100%"/>', text)
    text = LINK.sub(lambda m: link(re.sub(r"\0(\d+)\0", lambda c: code[int(c[1])], m[1]), m[2], page, opened), text)
    text = CODE.sub(put_aside, text)
    text = STRONG.sub(r"<b>\1</b>", text)
    text = EMPHASIS.sub(r"<em>\1</em>", text)
    while "\0" in text:
        text = re.sub(r"\0(\d+)\0", lambda m: code[int(m[1])], text)
    return text


class Page:
    def __init__(self, path):
        self.path = path
        self.made = []
        self.open = ""  # the paragraph or list item that is being joined
        self.slugs = {}
        self.opened = set()  # pages below this one

    def close(self):
        if self.open:
            self.made.append(inline(self.open, self.path, self.opened))
        self.open = ""

    def heading(self, level, text):
        text = re.sub(r"\s*\{#[\w-]+\}$", "", text)
        label = label_of(self.path)
        if not self.slugs:
            self.slugs[""] = 0
            if label == "readme":
                text = "Readme"  # the front page has the name of the project
            return f"{level} {plain(text)}" + ("" if label == "index" else f" {{#{label}}}")  # Doxygen names the front page
        slug = slug_of(text)
        again = self.slugs[slug] = self.slugs.get(slug, -1) + 1
        return f"{level} {plain(text)} {{#{label}-{slug}{f'-{again}' if again else ''}}}"

    def add(self, line, is_code):
        heading = HEADING.match(line)
        if is_code or not line.strip() or heading or APART.match(line):
            self.close()
            if heading:
                line = self.heading(heading[1], heading[2])
            elif not is_code:
                line = inline(line, self.path, self.opened)
            self.made.append(line)
        elif not self.open or ITEM.match(line):
            self.close()
            self.open = line.rstrip()
        else:
            self.open += " " + line.strip()

    def text(self, lines):
        fence = None
        in_list = False
        for line in lines:
            mark = FENCE.match(line)
            if fence:
                self.add(line, True)
                if mark and mark[1] == fence:
                    fence = None
                continue
            if mark:
                fence = mark[1]
                self.add(line, True)
                continue
            in_list = bool(ITEM.match(line)) or in_list and (not line.strip() or line.startswith(" ") or bool(self.open))
            self.add(line, not in_list and not self.open and line.startswith("    "))
        self.close()
        return "\n".join(self.made) + "\n"


if __name__ == "__main__":
    source = pathlib.Path(sys.argv[1]).resolve()
    lines = source.read_text(encoding="utf-8").splitlines()
    is_page = source.parent == ROOT or source.is_relative_to(ROOT / "docs")  # not the page of the settings
    print(Page(source).text(lines) if is_page else source.read_text(encoding="utf-8"), end="")
