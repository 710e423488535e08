#!/usr/bin/env python3
# junit.py - reads a JUnit file as CI servers do and counts what is in it.
# SPDX-License-Identifier: Apache-2.0
"""usage: junit.py FILE: prints "tests failures errors"."""
import sys
import xml.etree.ElementTree as ET

root = ET.parse(sys.argv[1]).getroot()
assert root.tag == "testsuites", root.tag
total = [0, 0, 0]
for suite in root:
    assert suite.tag == "testsuite" and suite.get("name")
    cases = suite.findall("testcase")
    found = [len(cases), len(suite.findall("testcase/failure")),
             len(suite.findall("testcase/error"))]
    said = [int(suite.get(k)) for k in ("tests", "failures", "errors")]
    assert found == said, (found, said)
    for case in cases:
        assert case.get("classname") and case.get("name")
        float(case.get("time"))
    total = [a + b for a, b in zip(total, found)]
print(*total)
