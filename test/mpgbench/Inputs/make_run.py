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


def pairs(values: dict) -> list:
    return [{"name": name, "value": value} for name, value in values.items()]


def sample(number: int, value: float, **more) -> dict:
    backing = {"hugetlb_bytes": 0, "thp_bytes": 0, "normal_bytes": 4096}
    return {"round": number, "value": value, "backing": backing,
            "involuntary_switches": 0, "counters": [], "figures": {}, **more}


def point(name: str, parameters: dict, middle: float, count: int = 7, busy: bool = False,
          missing: str = None, **more) -> dict:
    """`more` is for each sample."""
    values = [middle * (1 + (step - count // 2) / 600) for step in range(count)]
    interval = [values[0], values[-1]] if count >= 6 else None
    summary = {"count": count, "median": middle, "min": values[0] if values else None,
               "max": values[-1] if values else None, "interval": interval}
    return {"name": "/".join([name] + [f"{key}={value}" for key, value in parameters.items()]),
            "parameters": pairs(parameters), "missing": missing, "busy": busy,
            "summary": summary,
            "samples": [sample(round + 1, value, **more) for round, value in enumerate(values)]}


def experiment(name: str, points: list, **more) -> dict:
    return {"name": name, "title": "dependent loads", "unit": "ns", "higher_is_better": False,
            "accounting": "one load", "x_parameter": "pages", "series_parameter": "pages",
            "x_is_number": False, "points": points, "guide": [], "conclusions": [], **more}


def run(experiments: list, **more) -> dict:
    machine = {"processor": os.environ.get("MACHINE", "A64FX")}
    return {"schema": "mpgbench-1", "version": "1.0", "date": "2026-01-01T00:00:00Z",
            "quick": False, "repetitions": 7, "seed": 1, "machine": pairs(machine),
            "load": {"seconds": 1, "others_cpus": 0, "steal_cpus": 0, "load_average": 0,
                     "busy": False},
            "experiments": experiments, **more}


def between_nodes(index: int, word: str) -> dict:
    middle = float(word.rstrip("b"))
    parameters = {"cpus": str(index // 3), "memory": ["0", "1", "interleave"][index % 3]}
    made = point("numa", parameters, middle, busy=word.endswith("b"))
    for one in made["samples"]:
        one["figures"] = {"read_gbs": 10000 / one["value"]}
    return made


def main(words: list) -> None:
    if words[:1] == ["--nodes"]:
        made = experiment("numa", [between_nodes(*pair) for pair in enumerate(words[1:])],
                          x_parameter="memory", series_parameter="cpus")
    else:
        made = experiment("chase", [
            point("chase", {"pages": f"{index + 1}M"}, float(word.rstrip("b")),
                  busy=word.endswith("b")) for index, word in enumerate(words)])
    json.dump(run([made]), sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
