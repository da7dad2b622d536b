# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a report of mpgsim as CSV with the same one as JSON."""

import collections
import csv
import json
import sys

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file))
with open(sys.argv[2], encoding="utf-8") as file:
    report = json.load(file)


def find(what, name, line, page, ways="0"):
    for row in rows:
        if (row["what"], row["name"], row["line"], row["page_bytes"],
                row["sector1_ways"]) == (what, name, line, page, ways):
            return row
    raise SystemExit(f"there is no {what} {name} {line} {page} {ways}")


def compare(row, page):
    for name, misses in page["tlbMisses"].items():
        assert int(row[f"{name} misses"]) == misses, (row, name)
    for name, (least, most) in [
            *((f"{name} misses", value)
              for name, value in page["cacheMisses"].items()),
            ("lines read", page["linesRead"]),
            ("lines written", page["linesWritten"])]:
        assert int(row[f"{name} min"]) == least, (row, name)
        assert int(row[f"{name} max"]) == most, (row, name)


program = report["command"][0]
for page in report["pages"]:
    compare(find("all", program, "", str(page["pageBytes"])), page)
for part in report["arrays"] + report["loops"]:
    for page in part["pages"]:
        row = find(part["kind"], part["name"], str(part.get("line", "")), str(page["pageBytes"]))
        assert int(row["accesses"]) == part["accesses"], row
        compare(row, page)
divided = [quota for quota in report["sectors"]["quotas"] if quota["sector1Ways"]]
for quota in divided:
    for page in quota["pages"]:
        compare(find("all", program, "", str(page["pageBytes"]), str(quota["sector1Ways"])), page)
kinds = collections.Counter(row["what"] for row in rows if row["sector1_ways"] == "0")
print(*(f"{kind} {count}" for kind, count in sorted(kinds.items())))
print(f"quotas {len(divided)}: same")
