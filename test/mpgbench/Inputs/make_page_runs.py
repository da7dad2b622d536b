#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make_page_runs.py FOLDER: writes result files that are hard to draw into FOLDER, one a case."""

import json
import os
import sys

from make_run import experiment, point, run

NO_COUNTERS = [{"name": "page-faults", "value": 1000, "missing": None},
               {"name": "cycles", "value": None, "missing": "no counters are visible"}]
BAD = "</svg><script>alert(1)</script>&\"'<!--\x01\x1b[31m\n> ]]>"


def figure(value: float, at: str = None) -> dict:
    return {"label": f"A64FX {at}", "value": value, "source": "guide 7.1", "at": at}


def triad(one_thread: float = 33) -> dict:
    """By pages with two numbers of threads, and by policy; 1G with two is missing."""
    points = []
    for kind in ("4K", "THP", "2M", "1G"):
        points.append(point("triad", {"pages": kind, "threads": "1"}, one_thread))
        is_missing = kind == "1G"
        points.append(point("triad", {"pages": kind, "threads": "2"}, 44,
                            count=0 if is_missing else 7, busy=kind == "THP",
                            missing="0 of 2 pages of 1 GiB are free" if is_missing else None))
    for policy in ("demand", "prepage"):
        points.append(point("triad", {"pages": "2M", "threads": "2", "policy": policy}, 45))
    return experiment("triad", points, unit="GB/s", higher_is_better=True, series_parameter="",
                      guide=[figure(46.3, "4K"), figure(58, "2M"), figure(603, "demand")],
                      conclusions=[{"kind": kind, "text": f"it is {kind}", "ratio": 1,
                                    "interval": None}
                                   for kind in ("yes", "no", "undecided", "not-measured")])


def sizes(words: list, **more) -> dict:
    points = [point("wss", {"size": word, "pages": pages}, 1 + 3 * index ** 2)
              for index, word in enumerate(words) for pages in ("4K", "2M")]
    return experiment("wss", points, x_parameter="size", x_is_number=True, **more)


def chase(values: list, **more) -> dict:
    points = [point("chase", {"pages": pages, "size": "1G"}, value)
              for pages, value in zip(("4K", "THP", "2M"), values)]
    return experiment("chase", points, series_parameter="", **more)


def thresh() -> dict:
    heaps = ["glibc", "libmpg, COLORING=0", "libmpg, COLORING=1", "MALLOC_MMAP_THRESHOLD_=204800"]
    return experiment("thresh", [
        point("thresh", {"heap": heap}, 0.2, figures={"conflicting_a64fx_sets": 64},
              counters=NO_COUNTERS) for heap in heaps], x_parameter="heap", series_parameter="")


def realistic() -> list:
    words = [f"{1 << i}K" for i in range(4, 10)] + [f"{1 << i}M" for i in range(10)] + ["1G"]
    return [triad(), sizes(words, guide=[figure(23), figure(140)]), chase([286, 169, 173]),
            thresh()]


def many(name: str) -> dict:
    """200 values of `name`, which makes one of categories, series and plots large."""
    def parameters(index: int) -> dict:
        return {key: key + (str(index) if key == name else "") for key in ("x", "series", "other")}
    return experiment("many", [point("many", parameters(index), 10 + index)
                               for index in range(200)], x_parameter="x",
                      series_parameter="series")


def spoil(value):
    """All texts but those that say which kind of thing it is."""
    if isinstance(value, dict):
        return {name: part if name in ("kind", "at", "schema") else spoil(part)
                for name, part in value.items()}
    if isinstance(value, list):
        return [spoil(part) for part in value]
    return value + BAD if isinstance(value, str) else value


def unmeasured() -> list:
    experiments = realistic()
    for one in experiments:
        for each in one["points"]:
            each.update(samples=[], missing="no free 2 MiB pages")
    return experiments


def one_point(parameters: dict, **more) -> list:
    return [experiment("fault", [point("fault", parameters, 12, count=1)], **more)]


EXTREMES = {f"extreme{index}": [chase(
    [low, 1e29, 7], higher_is_better=index % 2 == 0, guide=[figure(1e-200), figure(1e300, "2M")])]
            for index, low in enumerate((1e-29, 1e-29, 1e-3, 1e28))}
CASES = {
    "realistic": realistic(), "hostile": spoil(realistic()), "unmeasured": unmeasured(),
    "empty": [], "bare": [experiment("bare", [])],
    "category": one_point({"pages": "2M"}), "number": one_point({"pages": "2M"}, x_is_number=True),
    "plain": one_point({}), "small": [triad(one_thread=5)],
    "close": [chase([286, 169, 173], guide=[figure(value, at) for value in (170, 171, 172, 0.001)
                                            for at in (None, "2M")])],
    "many-x": [many("x")], "many-series": [many("series")], "many-other": [many("other")],
    **EXTREMES}

for case, experiments in CASES.items():
    with open(os.path.join(sys.argv[1], case + ".json"), "w", encoding="utf-8") as file:
        json.dump(run(experiments, quick=True), file)
