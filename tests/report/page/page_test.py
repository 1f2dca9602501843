#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The report's page as a reader sees it, in headless Chromium: page_test.py SLUICE MAKE_FOLDER [SCREENSHOTS]

Loads pages of an ended, a killed, a large and two compared jobs at 1280 px and on a phone, light and dark. There must
be no error on the console, no access to the network and nothing wider than the screen; charts must be drawn and tables
must sort. Prints "skipped: …" if there is no browser.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

import browser as headless  # in tests/support; CMakeLists.txt gives the path

SIZES = {"wide": (1280, 900), "phone": (390, 844)}
READY = "return document.documentElement.dataset.ready === 'yes'"
CHARTS = """
const drawn = (id) => { const e = document.getElementById(id); return e && e.querySelectorAll('svg path[d], svg rect[height]').length; };
const canvas = document.querySelector('#matrix canvas');
const pixels = canvas ? new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size : 0;
const empty = [...document.querySelectorAll('path[d]')].filter((p) => /NaN|undefined/.test(p.getAttribute('d'))).length;
return {memory: drawn('rank-chart'), pinned: drawn('pinned-chart'), sizes: drawn('sizes'), quantiles: drawn('quantiles'), colors: pixels, broken: empty};
"""
SORT = """
const table = document.getElementById('calls');
const column = (i) => [...table.tBodies[0].rows].map((r) => r.cells[i].textContent);
const heads = [...table.tHead.rows[0].cells];
const at = heads.findIndex((h) => h.textContent === 'Call');
heads[at].firstChild.click();
const rising = column(at);
heads[at].firstChild.click();
return {rising, falling: column(at), sort: heads[at].getAttribute('aria-sort')};
"""
WIDTH = """
const wide = document.documentElement.clientWidth;
const outside = [...document.querySelectorAll('#page *')].filter((e) => {
  if (e.closest('.scroll') && !e.matches('.scroll')) return false;
  if (e.closest('.tip')) return false;
  const box = e.getBoundingClientRect();
  return box.width > 0 && box.right > wide + 1;
});
return {wide, scroll: document.documentElement.scrollWidth, outside: outside.slice(0, 5).map((e) => e.tagName + '.' + e.getAttribute('class'))};
"""
TIME = """
const count = (query) => document.querySelectorAll(query).length;
const text = (id) => { const e = document.getElementById(id); return e ? e.innerText : ''; };
return {rows: count('#timeline g.row'), spans: count('#timeline g.row rect'), bars: count('#rank-bars .share'),
        parts: count('#rank-bars .share i'), functions: text('function-bars'), crowded: text('crowded')};
"""
HIDDEN = """
const heads = [...document.querySelectorAll('#calls thead th')].map((h) => h.textContent), at = heads.indexOf('Hidden');
const rows = [...document.querySelectorAll('#calls tbody tr')].map((r) => at < 0 ? '' : r.cells[at].textContent.replace(/\\u00a0/g, ' '));
const note = document.getElementById('hidden');
return {column: at, cells: rows.filter((cell) => cell && cell !== '–'), note: note ? note.innerText : ''};
"""
OBJECTS = """
const rows = (id) => { const t = document.getElementById(id); return t ? [...t.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.textContent.replace(/\\u00a0/g, ' '))) : null; };
return [rows('objects'), rows('places-of-objects')];
"""
COMMUNICATORS = ["communicator", "2rank 0", "2"]
FAILURES = []


def check(truth, what):
    if not truth:
        FAILURES.append(what)
        print("FAILED:", what)


def check_page(browser, page, kind, size):
    name = f"{page.stem} at {size}"
    browser.open(page)
    time.sleep(0.3)  # the charts settle
    charts = browser.run(CHARTS)
    check(charts["memory"] and charts["memory"] >= 5, f"{name}: memory over time is drawn: {charts}")
    check(charts["pinned"] == 3, f"{name}: registered memory is drawn: {charts}")
    check(charts["sizes"], f"{name}: message sizes are drawn: {charts}")
    check(charts["colors"] >= 3, f"{name}: the matrix has colours: {charts}")
    check(charts["broken"] == 0, f"{name}: no path has a figure that is none: {charts}")
    check(bool(charts["quantiles"]) == (kind == "large"), f"{name}: quantiles where there are many ranks: {charts}")
    rows = browser.run(SORT)
    check(len(rows["rising"]) > 3 and rows["rising"] == sorted(rows["rising"]), f"{name}: a click sorts: {rows}")
    check(rows["falling"] == rows["rising"][::-1], f"{name}: a second click sorts the other way: {rows}")
    check(any("setup</script><b>&(app)" in row for row in rows["rising"]), f"{name}: names stay text: {rows}")
    width = browser.run(WIDTH)
    check(width["wide"] == SIZES[size][0], f"{name}: the screen is as wide as wished: {width}")
    check(width["scroll"] <= width["wide"] and not width["outside"], f"{name}: nothing is wider than the screen: {width}")
    for story, wanted in (("killed", True), ("ended", False)):
        if kind == story:
            table = browser.run("const t = document.getElementById('whereabouts'); return t ? t.innerText : ''")
            check(("gone" in table) == wanted, f"{name}: the table names the ranks that are gone: {table}")
            beside = browser.run("const e = document.getElementById('beside-matrix'); return e ? e.innerText : ''")
            check("of MPI_" in beside, f"{name}: what is not in the matrix stands beside it: {beside}")
    reached = browser.run("return document.body.innerText.replace(/\\u00a0/g, ' ').match(/The highest peak was reached [^.]*[.]/g) || []")
    check(len(reached) > 0 and all(("before MPI_Init." in line) == (kind == "early") for line in reached),
          f"{name}: when the highest peak was: {reached}")
    lead = browser.run("return document.body.innerText.replace(/\\u00a0/g, ' ').match(/.*reserved huge pages.*/g) || []")
    check(len(lead) == (kind == "early") and all("up to 64 MiB were in reserved huge pages, on rank 1" in line for line in lead),
          f"{name}: reserved huge pages, where there are some: {lead}")
    check_time(browser, name, kind)
    check_hidden(browser, name, kind)
    check_objects(browser, name, kind)
    services = browser.run("const t = document.getElementById('services'); return t ? t.innerText : ''")
    did = kind in ("ended", "early", "large")
    check(("calls compared" in services) == did, f"{name}: figures of services that did something: {services}")
    check("a service that did nothing" not in services, f"{name}: no figures of services that were idle: {services}")
    alarm = browser.run("return !!document.getElementById('what-happened')")
    check(alarm == (kind in ("killed", "compared")), f"{name}: says what happened to a killed job")
    if kind != "compared" and kind != "large":
        browser.run("document.querySelectorAll('.ranks button')[1].click()")
        time.sleep(0.1)
        title = browser.run("return document.querySelector('#rank-chart').parentNode.querySelector('h3').textContent")
        check(title == "Rank 1", f"{name}: a click shows that rank: {title}")
        browser.run("document.querySelectorAll('.ranks button')[0].click()")
    bars = browser.run("return [...document.querySelectorAll('.bars .bar')].map((e) => e.getBoundingClientRect().width)")
    check(len(bars) >= 3 and bars[0] > 40 and bars == sorted(bars, reverse=True), f"{name}: bars of what holds most: {bars}")
    wrong = browser.run(r"return document.body.innerText.match(/.*(\[object|undefined|NaN|Infinity|null).*/g)")
    check(not wrong, f"{name}: no figure is missing: {wrong}")
    loaded = browser.run("return performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith('data:'))")
    check(loaded == [], f"{name}: nothing is loaded: {loaded}")
    said = browser.messages()
    check(said == [], f"{name}: the console is silent: {said}")


def check_time(browser, name, kind):
    """All ranks on one timeline, a bar for each and their mean, MPI functions, and a note on ranks without a processor."""
    time_of = browser.run(TIME)
    ranks = {"ended": 8, "early": 4, "killed": 4, "large": 32, "compared": 4}[kind]
    check(ranks - 3 <= time_of["rows"] <= ranks and time_of["spans"] > 5 * time_of["rows"], f"{name}: a timeline of all ranks: {time_of}")
    check(time_of["bars"] == time_of["rows"] + 1 and time_of["parts"] >= 3 * time_of["rows"], f"{name}: bars of each rank: {time_of}")
    check(time_of["functions"].count("MPI_") >= 4, f"{name}: time by MPI function: {time_of}")
    check(("8 ranks share the 4 processors" in time_of["crowded"]) == (kind in ("ended", "large")), f"{name}: ranks that share processors: {time_of}")


def check_hidden(browser, name, kind):
    """A column of the table of calls and a note, only if receives returned before their data had come."""
    hidden = browser.run(HIDDEN)
    if kind != "early":
        check(hidden == {"column": -1, "cells": [], "note": ""}, f"{name}: nothing on hidden waiting, there is none: {hidden}")
        return
    check(hidden["cells"] == ["1.80 s166 receives, 80.0 ms left"], f"{name}: what was hidden, at the place that hid it: {hidden}")
    check("1.80 s of waiting in 166 receives, 80.0 ms left" in hidden["note"], f"{name}: a note on it: {hidden}")


def check_objects(browser, name, kind):
    """What was never freed, by kind and by the place that made it, most first."""
    found = browser.run(OBJECTS)
    if kind == "ended":
        check(found == [[[*COMMUNICATORS, "16", "192 KiB"]], []], f"{name}: kinds of objects: {found}")
    if kind == "early":
        kinds = [["datatype", "40rank 0", "60", "160", "about 3 MiB"], [*COMMUNICATORS, "8", "192 KiB"]]
        places = [row[1:] for row in found[1] if row[0].endswith("setup</script><b>&(app)")]
        check(found[0] == kinds and len(found[1]) == 1 and places == [["communicator", "2rank 0", "8", "192 KiB"]], f"{name}: objects by kind and by place: {found}")


def check_alone(browser, page):
    """One rank sends nothing: there is no matrix."""
    browser.open(page)
    time.sleep(0.3)
    found = browser.run("return [!!document.getElementById('matrix'), !!document.getElementById('no-matrix'), !!document.getElementById('sizes')]")
    check(found == [False, True, True], f"{page.stem}: no empty matrix: {found}")
    long = "app::(anonymous namespace)::Field<double, 3, std::allocator<double> >::exchange_all_of_the_halos_of_this_step+0x1f (app)"
    short = browser.run(f"return shortPlace({long!r})")
    check(len(short) <= 72 and "…" in short and "allocator" not in short and short.endswith("(app)"), f"a long name is shortened in its middle: {short}")
    titled = browser.run("return [...document.querySelectorAll('#calls small')].map((e) => e.title)")
    check(titled and "transpose+0x244 (libfield.so)" in titled, f"the full name stands in the hint: {titled}")


def make_pages(sluice, make_folder, scratch):
    pages = {}
    for kind, ranks, story in (("ended", 8, "healthy"), ("early", 4, "early"), ("killed", 4, "flooded"), ("large", 300, "healthy"), ("alone", 1, "healthy")):
        subprocess.run([make_folder, scratch / kind, str(ranks), story], check=True)
        pages[kind] = scratch / f"{kind}.html"
        subprocess.run([sluice, "report", scratch / kind, "--html", pages[kind]], check=True, capture_output=True)
    pages["compared"] = scratch / "compared.html"
    subprocess.run([sluice, "report", scratch / "ended", scratch / "killed", "--html", pages["compared"]], check=True, capture_output=True)
    return pages


def main():
    sluice, make_folder = sys.argv[1:3]
    shots = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    if headless.programs() is None:
        print("skipped: needs chromium and chromedriver (packages chromium, chromium-driver)")
        return 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        scratch = pathlib.Path(scratch)
        pages = make_pages(sluice, make_folder, scratch)
        for size, dark in (("wide", False), ("phone", False), ("wide", True)):
            browser = headless.Browser(SIZES[size], dark, scratch / f"profile-{size}-{dark}", READY)
            try:
                for kind, page in pages.items():
                    if kind == "alone":
                        check_alone(browser, page)
                        continue
                    check_page(browser, page, kind, size)
                    if shots:
                        shots.mkdir(parents=True, exist_ok=True)
                        browser.picture(shots / f"{kind}-{size}{'-dark' if dark else ''}.png", True)
            finally:
                browser.close()
    print("failed:" if FAILURES else "all well:", len(FAILURES), "failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
