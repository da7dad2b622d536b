# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the parts of an mpgsim report that arrays.test checks."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
for part in report["arrays"] + report["loops"]:
    page = part["pages"][-1]
    print(part["name"], part["accesses"], page["cacheMisses"]["L1D"][0],
          part["kind"], part.get("bytes", ""))
least, most = report["pages"][-1]["linesRead"]
print(f"lines read {least} to {most}")
