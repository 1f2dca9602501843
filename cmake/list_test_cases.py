#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is tested, so that two trees can be compared. Nothing needs to be built.

    list_test_cases.py BUILD_FOLDER…          each ctest test, and each GoogleTest case that it runs, one a line
    list_test_cases.py --compare OLD NEW [BEFORE=AFTER…]
                                              what the list OLD has and NEW has not; exit code 1 if there is anything

A line is the test's name, or the name and Suite.case; a parameterized case also has the text of its parameters. In a
comparison a test may have moved to another folder: the first part of its name (the MPI), the last word and the number of
ranks must be the same. BEFORE=AFTER says that a test has another name.
"""
import fnmatch
import json
import os
import re
import sys
from collections import Counter

CASE = re.compile(r"^\s*(TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+)\s*,\s*(\w+)", re.M)
INSTANCE = re.compile(r"^\s*INSTANTIATE_(?:TYPED_)?TEST_SUITE_P\((.*?)\);", re.M | re.S)


def tests_below(folder):
    """(name, command) of each test of a configured build folder."""
    with open(f"{folder}/CTestTestfile.cmake", encoding="utf-8") as file:
        text = file.read()
    for name, quoted, command in re.findall(r'^add_test\((?:\[=*\[(.*?)\]=*\]|"?([^\s"]+)"?) (.*)\)$', text, re.M):
        yield name or quoted, [word.replace("\\\\", "\\") for word in re.findall(r'"((?:[^"\\]|\\.)*)"', command)]
    for below in re.findall(r'^subdirs\("?(.*?)"?\)', text, re.M):
        if os.path.exists(f"{folder}/{below}/CTestTestfile.cmake"):
            yield from tests_below(f"{folder}/{below}")


def sources_of_targets(folder):
    sources = {}
    with open(f"{folder}/compile_commands.json", encoding="utf-8") as file:
        for entry in json.load(file):
            target = re.search(r" -o \S*CMakeFiles/([^/]+)\.dir/", entry["command"])
            sources.setdefault(target[1], set()).add(entry["file"])
    return sources


def cases_of(source):
    """Suite.case, with the parameters of its suite behind it."""
    with open(source, encoding="utf-8") as file:
        text = file.read()
    parameters = {}
    for instance in INSTANCE.findall(text):
        words = [re.sub(r"\s+", " ", word).strip() for word in instance.split(",", 2)]
        parameters.setdefault(words[1], []).append(f"{words[0]}: {words[2]}")
    for kind, suite, case in CASE.findall(text):
        behind = f" [{'; '.join(parameters.get(suite, []))}]" if kind in ("TEST_P", "TYPED_TEST_P") else ""
        yield f"{suite}.{case}", behind


def is_chosen(case, command):
    """By --gtest_filter and --files of the command."""
    if "DISABLED_" in case and "--gtest_also_run_disabled_tests" not in command:
        return False
    chosen = next((word.split("=", 1)[1] for word in command if word.startswith("--gtest_filter=")), "*")
    positive, _, negative = chosen.partition("-")
    matches = lambda patterns: any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split(":") if pattern
                                   for name in (case, f"Some/{case}/0"))
    return matches(positive or "*") and not matches(negative)


def list_folder(folder):
    sources = sources_of_targets(folder)
    for name, command in tests_below(folder):
        yield name
        program = next((os.path.basename(word) for word in command if os.path.basename(word) in sources), None)
        for source in sorted(sources.get(program, ())):
            if source.endswith("_test.cpp"):
                for case, behind in cases_of(source):
                    if is_chosen(case, command):
                        yield f"{name} {case}{behind}"


def key(line):
    """What stays the same where a test moves to another folder."""
    name, _, case = line.partition(" ")
    parts = name.split("/")
    ranks = parts.pop() if parts[-1].isdigit() and len(parts) > 1 else ""
    return (parts[0], ranks, case) if case else (parts[0], ranks, parts[-1])


def lines_of(path, renamed=()):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for before, after in renamed:
        text = re.sub(rf"(?m)^(\S*?/)?{re.escape(before)}(?=[/ ]|$)", rf"\g<1>{after}", text)
    return text.splitlines()


def compare(old, new, *renamed):
    lines = [lines_of(old, [pair.split("=") for pair in renamed]), lines_of(new)]
    left = Counter(map(key, lines[1]))
    missing = []
    for line in lines[0]:
        if left[key(line)] > 0:
            left[key(line)] -= 1
        else:
            missing.append(line)
    print("\n".join(missing))
    print(f"{len(lines[0])} lines before, {len(lines[1])} after, {len(missing)} of before are missing", file=sys.stderr)
    return 1 if missing else 0


def main():
    if sys.argv[1:2] == ["--compare"]:
        sys.exit(compare(*sys.argv[2:]))
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for folder in sys.argv[1:]:
        print("\n".join(list_folder(folder)))


main()
