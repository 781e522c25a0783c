"""Prints the ten slowest tests of a JUnit file, and the total time: `slowest_tests.py FILE`."""

import sys
from xml.etree import ElementTree

cases = [
    (float(case.get("time")), f"{suite.get('name')} {case.get('name')}")
    for suite in ElementTree.parse(sys.argv[1]).getroot()
    for case in suite
]
print(f"== slowest of {len(cases)} tests (together {sum(seconds for seconds, _ in cases):.0f} s)")
for seconds, name in sorted(cases, reverse=True)[:10]:
    print(f"{seconds:7.1f} s  {name}")
