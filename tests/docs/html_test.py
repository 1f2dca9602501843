#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The HTML documentation as a reader sees it, in headless Chromium: html_test.py ROOT HTML BUILD

Reads every page, opens each that has pictures, and checks that no markup is shown as text, no title names a path of the
build, each link inside the documentation has a target, and pictures are shown. In the reference each function of the C
interface is described with all its parameters, and each public header has its introduction. All examples and all pages of
the guide are there.
"""
import json
import pathlib
import re
import sys
import tempfile
import urllib.parse

import browser as headless  # in tests/support; CMakeLists.txt gives the path

READY = "return document.readyState === 'complete'"
# Of the page that is open, or of the text of one, which takes a hundredth of the time.
PAGE = r"""
const page = arguments.length ? new DOMParser().parseFromString(arguments[0], 'text/html') : document;
const shown = page.querySelector('div.contents') || page.body;
const copy = shown.cloneNode(true);
for (const e of copy.querySelectorAll('pre, code, tt, div.fragment, script, .memname, .memItemLeft, .memItemRight, .paramname, .paramtype'))
  e.replaceWith(' ');
// Doxygen's list of a page's sections names a section of private classes, too, which is not shown.
const links = [...page.querySelectorAll('a[href]')].filter((a) => !a.closest('div.summary')).map((a) => a.getAttribute('href'));
const anchors = [...page.querySelectorAll('[id], a[name]')].map((e) => e.id || e.name);
const pictures = [...page.querySelectorAll('img')].filter((i) => i.closest('div.contents') && !i.naturalWidth);
const titles = [page.title, ...[...page.querySelectorAll('.title, h1, h2, h3, h4')].map((e) => e.textContent)];
return {titles, text: copy.textContent, code: [...shown.querySelectorAll('code, tt')].map((e) => e.textContent),
        links, anchors, empty: pictures.map((i) => i.getAttribute('src'))};
"""
# Returns the functions of a header's page, each with its description and the names of the parameters that it describes.
FUNCTIONS = """
return [...document.querySelectorAll('.memitem')].map((item) => ({
  name: item.querySelector('td.memname')?.textContent.trim() || '',
  text: item.querySelector('.memdoc')?.innerText.trim() || '',
  wanted: [...item.querySelectorAll('.memproto .paramname')].map((e) => e.textContent.replace(/\\W/g, '')).filter((n) => n),
  told: [...item.querySelectorAll('table.params td.paramname')].map((e) => e.textContent.trim()),
}));
"""
INTRODUCTION = "return document.querySelector('div.contents > p')?.innerText + document.querySelector('a#details ~ .textblock')?.innerText"
RAW = [
    ("a table", r"\|\s*:?-{3,}|^\s*\|.*\|\s*$"),
    ("a command", r"(?:^|[\s(])[\\@](?:param|ref|return|brief|file|section|subpage|page|anchor|code|endcode|c|p|n|note|see)\b"),
    ("a fence of code", r"```|~~~"),
    ("a backquote", r"`"),
    ("bold or slanted words", r"\*\*|(?<![\w*/])\*[A-Za-z][^*\n]*[A-Za-z]\*(?!\w)"),
    ("a tag", r"</?(?:em|b|i|strong|code|tt|a|p|li|ul|br|img|sub|sup|div|span)(?: [^<>\n]*)?/?>"),
    ("an entity", r"&(?:lt|gt|amp|quot|nbsp|ndash|mdash|hellip|#\d+);"),
    ("a link", r"\]\(|\{#"),
    ("a heading", r"^\s*#{1,6}\s+\w"),
]
OPENED = ("index.html", "pages.html", "annotated.html", "examples.html")  # scripts write the menu, the same on every page
PICTURE = "<img src="  # the one in the footer of every page begins with its class
FAILURES = []


def check(truth, what):
    if not truth:
        FAILURES.append(what)
        print("FAILED:", what)


def read(browser, file):
    """What PAGE returns of the file."""
    text = file.read_text()
    if file.name in OPENED or PICTURE in text.partition('<div class="contents">')[2]:
        browser.open(file)
        return browser.run(PAGE)
    return browser.run(PAGE, text)


def check_text(name, page):
    page["text"] = page["text"].replace("operator[]", "")
    for kind, pattern in RAW:
        found = re.search(pattern, page["text"], re.MULTILINE)
        near = found and page["text"][max(0, found.start() - 60):found.end() + 60]
        check(not found, f"{name} shows {kind} as text: {near!r}")
    for code in page["code"]:
        check(not re.search(r"</?(?:em|b|tt|code|a)[ >]|\*\*\w", code) and "@ref" not in code, f"{name} shows markup in code: {code!r}")
    check(page["text"].strip() or name.startswith("dir_"), f"{name} shows something")
    check(not page["empty"], f"{name} shows all its pictures: {page['empty']}")


def check_titles(name, page, paths):
    for title in page["titles"]:
        check(not any(path in title for path in paths), f"{name} has no path of the build in a title: {title!r}")
        check(not re.search(r"[<>]\w+[<>]|`", title), f"{name} has no markup in a title: {title!r}")


def check_links(html, pages):
    for name, page in pages.items():
        for link in set(page["links"]):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or link == "#":
                check(parts.scheme in ("", "http", "https", "mailto", "javascript"), f"{name} links to {link}")
                continue
            path = urllib.parse.unquote(parts.path) or name
            check((html / path).is_file(), f"{name} links to {link}, which is not there")
            if parts.fragment and path in pages:
                check(urllib.parse.unquote(parts.fragment) in pages[path]["anchors"], f"{name} links to {link}: that page has no such place")


def without_comments(source):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", source, flags=re.DOTALL)


def check_header(browser, root, html, header):
    page = html / (header.name.replace("_", "__").replace(".", "_8") + ".html")
    check(page.is_file(), f"{header.name} has a page")
    if not page.is_file():
        return 0
    browser.open(page)
    check(len(browser.run(INTRODUCTION)) > 60, f"the page of {header.name} shows its introduction")
    if header.suffix != ".h":
        return 0
    told = {item["name"].split()[-1].strip("*"): item for item in browser.run(FUNCTIONS) if item["name"]}
    declared = re.findall(r"\b((?:sluice|MADRE)_\w+)\(", re.sub(r"^\s*#.*$", "", without_comments(header.read_text()), flags=re.MULTILINE))
    for function in declared:
        item = told.get(function)
        check(item and len(item["text"]) > 20, f"the reference describes {function} of {header.name}")
        missing = set(item["wanted"]) - set(item["told"]) if item else set()
        check(not missing, f"the reference describes the parameters {sorted(missing)} of {function}")
    return len(declared)


def check_examples(root, pages):
    links = pages["examples.html"]["links"]
    for source in sorted((root / "examples").rglob("*.c*")):
        if source.suffix in (".c", ".cpp") and re.search(r"^int main\(", source.read_text(), re.MULTILINE):
            name = source.relative_to(root / "examples").as_posix()
            escaped = name.replace("/", "_2").replace(".", "_8") + "-example.html"
            check(escaped in links and escaped in pages, f"the example {name} is among the examples")


def main():
    root, html, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    if headless.programs() is None:
        print("needs chromium and chromedriver (packages chromium, chromium-driver)")
        return 1
    paths = [str(root), str(build), str(html)]
    pages = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = headless.Browser((1280, 900), False, profile, READY)
        try:
            browser.open(html / "index.html")  # Chromium's own first page may not parse texts
            for file in sorted(html.glob("*.html")):
                page = pages[file.name] = read(browser, file)
                check_titles(file.name, page, paths)
                if not file.name.endswith(("_source.html", "-example.html")):
                    check_text(file.name, page)
            functions_of_c = sum(check_header(browser, root, html, header)
                                 for header in sorted((root / "include").rglob("*.h*")))
        finally:
            browser.close()
    check(len(pages) > 50, f"there are pages: {len(pages)}")
    check(functions_of_c > 50, f"the reference of C has functions: {functions_of_c}")
    check_links(html, pages)
    check_examples(root, pages)
    guide = [page for page in (root / "docs").rglob("*.md")]
    listed = " ".join(pages["pages.html"]["links"] + ["index.html"]).split()
    for page in guide:
        name = "-".join(page.relative_to(root / "docs").with_suffix("").parts).lower() + ".html"
        check(name in listed and name in pages, f"the page docs/{page.relative_to(root / 'docs')} is {name}")
    print(json.dumps({"pages": len(pages), "links": sum(len(page["links"]) for page in pages.values()), "failures": len(FAILURES)}))
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
