#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""say_skipped.py CTEST.XML: the tests that did not run, each with the reason that it gave, for ctest's own summary has the
names alone."""

import sys
import xml.etree.ElementTree

lines = []
for case in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    if case.find("skipped") is None:
        continue
    output = case.findtext("system-out") or ""
    reasons = [line.removeprefix("skipped: ") for line in output.splitlines() if line.startswith("skipped: ")]
    lines.append(f"  {case.get('name')}: {'; '.join(reasons) or 'no reason given'}")
if lines:
    print(f"\n{len(lines)} tests are skipped:")
    print("\n".join(lines) + "\n")
