#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a file of schema mpgbench-1 with one experiment.

`make_run.py NS...` has a point for each number, with seven samples within 1 %
around it; a number with a `b` behind it stands for a busy point. MACHINE in the
environment is the name of the processor.
"""

import json
import os
import sys


def sample(number: int, value: float) -> dict:
    backing = {"hugetlb_bytes": 0, "thp_bytes": 0, "normal_bytes": 4096}
    return {"round": number, "value": value, "backing": backing,
            "involuntary_switches": 0, "counters": [], "figures": {}}


def point(index: int, word: str) -> dict:
    middle = float(word.rstrip("b"))
    values = [middle * (1 + step / 600) for step in range(-3, 4)]
    parameters = [{"name": "pages", "value": f"{index}M"}]
    summary = {"count": 7, "median": middle, "min": values[0],
               "max": values[-1], "interval": [values[0], values[-1]]}
    return {"name": f"chase/pages={index}M", "parameters": parameters,
            "missing": None, "busy": word.endswith("b"), "summary": summary,
            "samples": [sample(round + 1, value)
                        for round, value in enumerate(values)]}


machine = [{"name": "processor", "value": os.environ.get("MACHINE", "A64FX")}]
experiment = {
    "name": "chase", "title": "dependent loads", "unit": "ns",
    "higher_is_better": False, "accounting": "one load", "x_parameter": "pages",
    "series_parameter": "pages", "x_is_number": False,
    "points": [point(index, word) for index, word in enumerate(sys.argv[1:], 1)],
    "guide": [], "conclusions": []}
json.dump({
    "schema": "mpgbench-1", "version": "1.0", "date": "2026-01-01T00:00:00Z",
    "quick": False, "repetitions": 7, "seed": 1, "machine": machine,
    "load": {"seconds": 1, "others_cpus": 0, "steal_cpus": 0,
             "load_average": 0, "busy": False},
    "experiments": [experiment]}, sys.stdout)
