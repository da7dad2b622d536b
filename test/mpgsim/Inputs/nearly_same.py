# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nearly_same.py A.json B.json: whether no count of the whole program differs by
more than 0.1 % and 100 between two reports."""

import json
import sys


def counts(value):
    """The numbers in value, in order."""
    if isinstance(value, dict):
        return [n for part in value.values() for n in counts(part)]
    if isinstance(value, list):
        return [n for part in value for n in counts(part)]
    return [value]


first, second = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
for report in first, second:
    assert report["complete"], report["notSeen"]
    assert report["notSeen"]["threadWaits"] == 0, report["notSeen"]
assert first["cores"] == second["cores"]
a, b = first["accesses"], second["accesses"]
assert abs(a - b) <= 100 + a // 1000, (a, b)
for a, b in zip(counts(first["pages"]), counts(second["pages"])):
    assert abs(a - b) <= 100 + a // 1000, (a, b)
print("nearly the same")
