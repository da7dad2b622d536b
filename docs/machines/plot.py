#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""plot.py [--check] FILE...: the pictures of docs/machines, made from bundles.

For each FILE.json of `mpgbench kit`, FILE.svg beside it: load latency by size of the
array, one line for each size of pages, and bandwidth by share of reads. Bars are
intervals, hollow points were busy. FILE.json itself is written again, the same values
with a line for each point: half as long. --check writes nothing and ends with 1 if a
picture is not what its bundle says.
"""

import json
import math
import re
import sys
from pathlib import Path
from typing import Dict, List, Tuple

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 360, 260, 48, 28, 40
COLOURS = {"4K": "#0067a5", "64K": "#8a6d00", "2M": "#c44f00", "THP": "#00805e"}
OTHERS = ["#ad4d86", "#0067a5", "#c44f00", "#00805e"]
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

Point = Tuple[float, str, float, List[float], bool]


def size(text: str) -> float:
    text = text.rstrip("%")
    return float(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else float(text)


def get_points(experiment: dict, x: str, series: str) -> List[Point]:
    found = []
    for point in experiment["points"]:
        parameters = {pair["name"]: pair["value"] for pair in point["parameters"]}
        summary = point["summary"]
        if summary["count"]:
            median = summary["median"]
            ends = summary["interval"] or [median, median]
            name = parameters.get(series, "")
            found.append((size(parameters[x]), name, median, ends, point["busy"]))
    return sorted(found)


def places(values: List[float], low: float, high: float, log: bool) -> Dict[float, float]:
    scale = math.log if log else float
    first, last = scale(min(values)), scale(max(values))
    span = (last - first) or 1
    return {v: low + (scale(v) - first) / span * (high - low) for v in values}


def text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def short(value: float) -> str:
    for unit in "GMK":
        if value >= UNITS[unit]:
            return f"{value / UNITS[unit]:g}{unit}"
    return f"{value:g}"


def panel(
    points: List[Point], title: str, unit: str, label: str, log: bool
) -> List[str]:
    """One plot; `log`: both axes are logarithmic."""
    bottom = HEIGHT - BOTTOM
    ends = [end for point in points for end in point[3]]
    ys = places(ends + [point[2] for point in points], bottom, TOP + 10, log)
    xs = places([point[0] for point in points], LEFT + 10, WIDTH - 20, log)
    out = [text(WIDTH / 2, 16, title), text(4, TOP, unit, "start")]
    out.append(f'<path d="M{LEFT} {TOP}V{bottom + 6}H{WIDTH}" class="axis"/>')
    for value in (min(ys), max(ys)):
        out.append(text(LEFT - 4, ys[value] + 4, f"{value:.0f}" if value >= 100 else f"{value:.3g}", "end"))
    labels = sorted(xs)
    for value in labels[:: max(1, len(labels) // 5)]:
        out.append(text(xs[value], bottom + 22, short(value)))
    for number, name in enumerate(sorted({point[1] for point in points})):
        colour = COLOURS.get(name, OTHERS[number % len(OTHERS)])
        mine = [point for point in points if point[1] == name]
        line = " ".join(f"{xs[p[0]]:.1f},{ys[p[2]]:.1f}" for p in mine)
        out.append(f'<g stroke="{colour}" fill="none"><polyline points="{line}"/>')
        for x, _, median, interval, busy in mine:
            low, high = (ys[end] for end in interval)
            out.append(f'<path d="M{xs[x]:.1f} {low:.1f}V{high:.1f}"/>')
            fill = "#fff" if busy else colour
            out.append(f'<circle cx="{xs[x]:.1f}" cy="{ys[median]:.1f}" r="3" fill="{fill}"/>')
        out.append("</g>")
        if name:
            name += label
            key = text(LEFT + 14, TOP + 14 + 14 * number, name, "start")
            out.append(key.replace("<text", f'<text fill="{colour}"'))
    return out


def picture(bundle: dict) -> str:
    experiments = {one["name"]: one for one in bundle["experiments"]}
    panels = []
    if points := get_points(experiments["latency"], "size", "pages"):
        panels.append(panel(points, "Load latency by size of the array", "ns", " pages", True))
    if points := get_points(experiments["mix"], "reads", "pages"):
        panels.append(panel(points, "Bandwidth by share of reads (%)", "GB/s", " pages", False))
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif"'
        f' font-size="11" viewBox="0 0 {WIDTH * len(panels)} {HEIGHT}">',
        "<style>.axis{fill:none;stroke:#777}</style>",
        f'<rect width="{WIDTH * len(panels)}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for number, lines in enumerate(panels):
        out += [f'<g transform="translate({WIDTH * number} 0)">', *lines, "</g>"]
    return "\n".join(out + ["</svg>", ""])


def short_form(bundle: dict) -> str:
    """The same values without indentation, a line for each point."""
    line = json.dumps(bundle, ensure_ascii=False, separators=(",", ":"))
    return re.sub(r'(\{"name":"[^"]*","parameters":)', r"\n\1", line) + "\n"


def main() -> int:
    words = sys.argv[1:]
    check = "--check" in words
    status = 0
    for name in words:
        if name == "--check":
            continue
        path = Path(name)
        bundle = json.loads(path.read_text(encoding="utf-8"))
        made = picture(bundle)
        target = path.with_suffix(".svg")
        if not check:
            target.write_text(made, encoding="utf-8")
            path.write_text(short_form(bundle), encoding="utf-8")
        elif not target.exists() or target.read_text(encoding="utf-8") != made:
            print(f"{target} is not what {path} says: docs/machines/plot.py {path}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
