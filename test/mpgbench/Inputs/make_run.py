#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a file of schema mpgbench-1 with one experiment.

`make_run.py NS...` makes a point for each number, with seven samples within 1 % around it; a number
followed by `b` is a busy point. `make_run.py --nodes NS...` makes them for numa, from two nodes to
two and interleaved memory, each read at 10000 / NS. MACHINE in the environment is the name of the
processor.
"""

import json
import os
import sys


IS_MAP = sys.argv[1:2] == ["--nodes"]
NAME = "numa" if IS_MAP else "chase"


def sample(number: int, value: float) -> dict:
    backing = {"hugetlb_bytes": 0, "thp_bytes": 0, "normal_bytes": 4096}
    figures = {"read_gbs": 10000 / value} if IS_MAP else {}
    return {"round": number, "value": value, "backing": backing,
            "involuntary_switches": 0, "counters": [], "figures": figures}


def make_parameters(index: int) -> dict:
    if IS_MAP:
        return {"cpus": str(index // 3), "memory": ["0", "1", "interleave"][index % 3]}
    return {"pages": f"{index + 1}M"}


def point(index: int, word: str) -> dict:
    middle = float(word.rstrip("b"))
    values = [middle * (1 + step / 600) for step in range(-3, 4)]
    parameters = make_parameters(index)
    summary = {"count": 7, "median": middle, "min": values[0],
               "max": values[-1], "interval": [values[0], values[-1]]}
    return {"name": "/".join([NAME] + [f"{name}={value}" for name, value
                                       in parameters.items()]),
            "parameters": [{"name": name, "value": value}
                           for name, value in parameters.items()],
            "missing": None, "busy": word.endswith("b"), "summary": summary,
            "samples": [sample(round + 1, value)
                        for round, value in enumerate(values)]}


machine = [{"name": "processor", "value": os.environ.get("MACHINE", "A64FX")}]
experiment = {
    "name": NAME, "title": "dependent loads", "unit": "ns",
    "higher_is_better": False, "accounting": "one load", "x_parameter": "memory" if IS_MAP else "pages",
    "series_parameter": "cpus" if IS_MAP else "pages", "x_is_number": False,
    "points": [point(index, word)
               for index, word in enumerate(sys.argv[1 + IS_MAP:])],
    "guide": [], "conclusions": []}
json.dump({
    "schema": "mpgbench-1", "version": "1.0", "date": "2026-01-01T00:00:00Z",
    "quick": False, "repetitions": 7, "seed": 1, "machine": machine,
    "load": {"seconds": 1, "others_cpus": 0, "steal_cpus": 0,
             "load_average": 0, "busy": False},
    "experiments": [experiment]}, sys.stdout)
