#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""keep_failures.py CTEST.XML FAILED FOLDER: writes the output of each test that FAILED, ctest's list ("12:name"), names to
FOLDER/<name, with - for />.txt."""

import pathlib
import sys
import xml.etree.ElementTree

outputs = {case.get("name"): case.findtext("system-out") or "it wrote nothing\n"
           for case in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase")}
folder = pathlib.Path(sys.argv[3])
folder.mkdir()
for line in pathlib.Path(sys.argv[2]).read_text().splitlines():
    name = line.split(":", 1)[1]
    (folder / (name.replace("/", "-") + ".txt")).write_text(outputs.get(name, "it did not start\n"))
